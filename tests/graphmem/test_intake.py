"""The door: what is taken, what is changed on the way in and noted, what is refused and by which name."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.capture.intake import Intake, RefusedError
from graphmem.identity import PathResolver
from graphmem.instant import DAY, from_iso
from graphmem.model import Fact, FactKind, Observation, Rename, Scope, TaskState
from graphmem.record import decode, encode

NOW = from_iso("2026-05-01T12:00:00Z")
KIB_64 = 64 * 1024


def accept(**item: Any) -> Observation:
    return Intake(lambda raw, cwd: raw, NOW).accept(item)


def refused(**item: Any) -> dict[str, str]:
    """The reasons by field; the item must be refused."""
    with pytest.raises(RefusedError) as refusal:
        accept(**item)
    return {problem.field: problem.message for problem in refusal.value.problems}


# ---- defaults ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "item",
    [
        {"title": "t"},
        {"narrative": "n"},
        {"facts": ["f"]},
        {"files_read": ["a"]},
        {"files_modified": ["a"]},
        {"files_added": ["a"]},
        {"files_deleted": ["a"]},
        {"renames": [{"from": "a", "to": "b"}]},
    ],
)
def test_one_of_title_narrative_facts_or_a_file_is_enough(item: dict[str, Any]) -> None:
    observation = accept(**item)
    assert (observation.at, observation.session) == (NOW, "unknown@2026-05-01T12")
    assert (observation.source, observation.actor, observation.type) == ("api", "", "change")
    assert observation.id.startswith("obs-")
    assert observation.notes == ()


@pytest.mark.parametrize(
    "item", [{}, {"intent": "i"}, {"concepts": ["c"]}, {"title": "  "}, {"facts": [" "]}, {"actor": "a"}]
)
def test_nothing_in_it_is_refused_and_says_what_is_needed(item: dict[str, Any]) -> None:
    assert refused(**item) == {"title": "one of title, narrative, facts or a file is required; give one"}


def test_each_gets_an_id_of_its_own() -> None:
    assert len({accept(title="t").id for _ in range(100)}) == 100


def test_the_default_session_is_one_an_hour_and_actor() -> None:
    def session(at: str, actor: str) -> str:
        return accept(title="t", at=at, actor=actor).session

    assert session("2026-04-30T10:00:00Z", "ann") == session("2026-04-30T10:59:59Z", "ann")
    assert session("2026-04-30T10:59:59Z", "ann") != session("2026-04-30T11:00:00Z", "ann")
    assert session("2026-04-30T10:00:00Z", "ann") != session("2026-04-30T10:00:00Z", "bo")
    assert session("2026-04-30T10:30:00+02:00", "ann") == session("2026-04-30T08:00:00Z", "ann")


def test_the_default_time_is_never_later_than_now() -> None:
    for now in (NOW + 0.0006, NOW + 0.9999, 0.0):
        at = Intake(lambda raw, cwd: raw, now).accept({"title": "t"}).at
        assert now - 0.0011 < at <= now


# ---- what is kept ------------------------------------------------------------------------------


def test_everything_said_is_kept() -> None:
    observation = accept(
        id="o-1",
        session="s-42",
        source="claude-code",
        actor="agent-1",
        branch="main",
        type="bugfix",
        title=" Fix JWT refresh ",
        intent="users are logged out",
        narrative="...",
        facts=["TTL: 3600 -> 900", {"text": "back up first", "kind": "preference", "scope": "actor"}],
        concepts=["auth", "jwt", "auth", " "],
        files_read=["src/auth/token.ts", "src/auth/token.ts"],
        files_modified=["src/auth/refresh.ts"],
        files_deleted=["old.ts"],
        renames=[{"from": "a.ts", "to": "b.ts"}],
        at="2026-05-01T11:00:00Z",
        reference="abc",
    )
    assert observation == Observation(
        id="o-1",
        session="s-42",
        at=NOW - 3600,
        source="claude-code",
        actor="agent-1",
        branch="main",
        type="bugfix",
        title="Fix JWT refresh",
        intent="users are logged out",
        narrative="...",
        facts=(Fact("TTL: 3600 -> 900"), Fact("back up first", FactKind.PREFERENCE, None, Scope.ACTOR)),
        concepts=("auth", "jwt"),
        files_read=("src/auth/token.ts",),
        files_modified=("src/auth/refresh.ts",),
        files_deleted=("old.ts",),
        renames=(Rename("a.ts", "b.ts"),),
        reference="abc",
    )


def test_a_task_has_a_state() -> None:
    facts = accept(facts=[{"text": "ship it", "kind": "task", "state": "open"}]).facts
    assert facts == (Fact("ship it", FactKind.TASK, TaskState.OPEN),)


def test_a_path_stands_in_one_list_only() -> None:
    observation = accept(
        files_modified=["a", "b", "new", "gone"],
        files_added=["c", "a"],
        files_deleted=["gone", "old"],
        renames=[{"from": "old", "to": "new"}, {"from": "same", "to": "same"}],
    )
    assert observation.files_modified == ("a", "b", "c")
    assert observation.files_added == ("c", "a")
    assert observation.files_deleted == ("gone",)
    assert observation.renames == (Rename("old", "new"),)


def test_an_old_name_that_was_begun_anew_is_kept_as_added() -> None:
    observation = accept(renames=[{"from": "a", "to": "b"}], files_added=["a"], files_deleted=["a"])
    assert (observation.files_modified, observation.files_added) == (("a",), ("a",))
    assert (observation.files_deleted, observation.renames) == ((), (Rename("a", "b"),))


def test_a_path_that_a_redactor_changed_is_dropped_and_noted() -> None:
    intake = Intake(lambda raw, cwd: None if "REDACTED" in raw else raw, NOW)
    observation = intake.accept({"files_modified": ["a.py", "x/REDACTED.md"]})
    assert observation.files_modified == ("a.py",)
    assert observation.notes == ("files_modified.1: a path that a redactor changed was dropped",)


def test_paths_are_read_in_their_working_folder() -> None:
    intake = Intake(lambda raw, cwd: f"{cwd}/{raw}", NOW)
    assert intake.accept({"files_read": ["a"], "cwd": "src"}).files_read == ("src/a",)


# ---- times -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "at",
    [
        "2026-05-01T10:00:00Z",
        "2026-05-01T10:00:00",
        "2026-05-01T12:00:00+02:00",
        " 2026-05-01 10:00:00 ",
        datetime(2026, 5, 1, 10, tzinfo=UTC),
        datetime(2026, 5, 1, 12, tzinfo=timezone(timedelta(hours=2))),
        datetime(2026, 5, 1, 10),
        NOW - 7200,
        int(NOW - 7200),
    ],
)
def test_a_moment_may_be_written_in_several_ways(at: object) -> None:
    assert accept(title="t", at=at).at == NOW - 7200


@pytest.mark.parametrize("at", [0, "1970-01-01T00:00:00Z", NOW + DAY, "2026-05-02T12:00:00Z"])
def test_the_range_of_times_includes_its_ends(at: object) -> None:
    assert accept(title="t", at=at).title == "t"


@pytest.mark.parametrize(
    "at",
    [
        *(-1, -0.001, "1969-12-31T23:59:59Z", NOW + DAY + 1, "2026-05-02T12:00:01Z", "9999-12-31T23:59:59Z"),
        *(float("nan"), float("inf"), float("-inf"), 1e300, 10**400, "0001-01-01T00:00:00+14:00"),
    ],
)
def test_a_time_out_of_range_is_refused_by_name(at: object) -> None:
    assert set(refused(title="t", at=at)) == {"at"}


@pytest.mark.parametrize("at", ["", "yesterday", "2026-13-01", "12:00", True, [], {}, b"2026-05-01"])
def test_what_is_no_time_is_refused_by_name(at: object) -> None:
    problems = refused(title="t", at=at)
    assert set(problems) == {"at"}
    assert "2026-05-01T12:00:00Z" in problems["at"]


# ---- limits and odd characters -----------------------------------------------------------------


@pytest.mark.parametrize("field", ["title", "intent", "narrative"])
@pytest.mark.parametrize("char", ["a", "模", "🧪"])
def test_a_long_text_is_cut_at_64_kib_between_characters_and_noted(field: str, char: str) -> None:
    whole, over = char * (KIB_64 // len(char.encode())), char * (KIB_64 + 1)
    kept = accept(files_read=["a"], **{field: whole})
    assert (getattr(kept, field), kept.notes) == (whole, ())
    cut = accept(files_read=["a"], **{field: over})
    assert getattr(cut, field) == whole
    assert cut.notes == (f"{field}: cut to 64 KiB",)


def test_a_long_fact_is_cut_and_noted_by_its_place() -> None:
    observation = accept(facts=["short", "x" * (KIB_64 + 1)])
    assert len(observation.facts[1].text) == KIB_64
    assert observation.notes == ("facts.1: cut to 64 KiB",)


@pytest.mark.parametrize(
    ("field", "most"),
    [("files_read", 2_000), ("files_modified", 2_000), ("files_deleted", 2_000), ("concepts", 200)],
)
def test_a_list_is_taken_up_to_its_limit_and_refused_by_name_above(field: str, most: int) -> None:
    names = [f"n{number}" for number in range(most + 1)]
    assert len(getattr(accept(title="t", **{field: names[:most]}), field)) == most
    assert set(refused(title="t", **{field: names})) == {field}


@pytest.mark.parametrize("field", ["id", "session", "source", "actor", "branch", "type"])
def test_a_name_is_taken_up_to_200_characters(field: str) -> None:
    assert getattr(accept(title="t", **{field: "模" * 200}), field) == "模" * 200
    assert set(refused(title="t", **{field: "x" * 201})) == {field}


@pytest.mark.parametrize(
    "field", ["id", "session", "source", "actor", "branch", "type", "title", "intent", "narrative"]
)
@pytest.mark.parametrize("odd", ["\x00", "\ud800", "\udfff"])
def test_nul_and_lone_surrogates_are_replaced_and_noted(field: str, odd: str) -> None:
    observation = accept(files_read=["a"], **{field: f"x{odd}y"})
    assert getattr(observation, field) == "x\ufffdy"
    assert observation.notes == (f"{field}: NUL or a lone surrogate was replaced",)


def test_odd_characters_in_facts_concepts_and_paths_are_replaced_and_noted() -> None:
    observation = accept(facts=["a\x00"], concepts=["b\ud800"], files_read=["c\x00.py"])
    assert observation.facts[0].text == "a\ufffd"
    assert observation.concepts == ("b\ufffd",)
    assert observation.files_read == ("c\ufffd.py",)
    assert {note.partition(":")[0] for note in observation.notes} == {"facts.0", "concepts", "files_read.0"}


# ---- refusals ----------------------------------------------------------------------------------

WRONG: list[tuple[str, object]] = [
    *((name, 7) for name in ("id", "session", "source", "actor", "branch", "type", "title", "intent")),
    *((name, ["x"]) for name in ("narrative", "cwd", "title")),
    *((name, None) for name in ("source", "actor", "title", "facts", "files_read", "renames")),
    *((name, "a.py") for name in ("files_read", "files_modified", "files_deleted", "renames", "concepts")),
    ("facts", {"text": "x"}),
    ("id", ""),
    ("id", True),
]


@pytest.mark.parametrize(("field", "value"), WRONG)
def test_a_wrong_type_is_refused_by_name(field: str, value: object) -> None:
    assert set(refused(**{"title": "t", field: value})) == {field}


@pytest.mark.parametrize(
    ("item", "field"),
    [
        ({"facts": ["ok", 7]}, "facts.1"),
        ({"facts": [{"kind": "task"}]}, "facts.0.text"),
        ({"facts": [{"text": "x", "kind": "rumour"}]}, "facts.0.kind"),
        ({"facts": [{"text": "x", "state": "maybe"}]}, "facts.0.state"),
        ({"facts": [{"text": "x", "scope": "world"}]}, "facts.0.scope"),
        ({"concepts": ["ok", None]}, "concepts.1"),
        ({"files_read": ["ok", 7]}, "files_read.1"),
        ({"files_modified": ["x" * 5_000]}, "files_modified.0"),
        ({"renames": [{"from": "a"}]}, "renames.0.to"),
        ({"renames": [{"from": 1, "to": "b"}]}, "renames.0.from"),
        ({"renames": ["a -> b"]}, "renames.0"),
    ],
)
def test_a_wrong_part_is_refused_by_its_place(item: dict[str, Any], field: str) -> None:
    problems = refused(title="t", **item)
    assert set(problems) == {field}
    assert problems[field].endswith("; correct it")


def test_all_wrong_fields_are_named_at_once() -> None:
    assert set(refused(title=1, at="x", facts="y", files_read=[2])) == {
        "title",
        "at",
        "facts",
        "files_read.0",
    }


@pytest.mark.parametrize("item", [None, 7, "text", [], [{"title": "t"}]])
def test_what_is_no_mapping_is_refused(item: Any) -> None:
    with pytest.raises(RefusedError) as refusal:
        Intake(lambda raw, cwd: raw, NOW).accept(item)
    assert refusal.value.problems[0].field == "observation"


def test_unknown_fields_are_taken_and_reported() -> None:
    observation = accept(title="t", tittle="x", **{"z\x00": 1})
    assert observation.notes == ("unknown field 'tittle' ignored", "unknown field 'z\ufffd' ignored")


@pytest.fixture
def at_root(tmp_path: Path) -> Intake:
    def learn(root: str) -> None:
        raise AssertionError(f"learned {root}")

    resolver = PathResolver([str(tmp_path)], lambda path: False, None, learn)
    return Intake(resolver.resolve, NOW)


@pytest.mark.parametrize(
    ("item", "field"),
    [
        ({"files_read": ["a", "/etc/passwd"]}, "files_read.1"),
        ({"files_modified": ["../x"]}, "files_modified.0"),
        ({"files_added": ["/outside/y"]}, "files_added.0"),
        ({"files_deleted": ["C:\\other\\z"]}, "files_deleted.0"),
        ({"renames": [{"from": "a", "to": "../../b"}]}, "renames.0.to"),
        ({"renames": [{"from": "/r/a", "to": "b"}]}, "renames.0.from"),
        ({"files_read": ["a.py", "b.py"], "cwd": "/somewhere/else\x00"}, "cwd"),
    ],
)
def test_a_path_outside_the_root_is_refused_by_name(
    at_root: Intake, item: dict[str, Any], field: str
) -> None:
    with pytest.raises(RefusedError) as refusal:
        at_root.accept(item)
    assert [problem.field for problem in refusal.value.problems] == [field]


def test_every_path_outside_is_named(at_root: Intake) -> None:
    with pytest.raises(RefusedError) as refusal:
        at_root.accept({"files_read": ["/a", "b", "/c"], "files_modified": ["../d"]})
    named = [problem.field for problem in refusal.value.problems]
    assert named == ["files_modified.0", "files_read.0", "files_read.2"]


# ---- batches -----------------------------------------------------------------------------------


def test_of_a_batch_the_good_ones_are_taken_and_the_bad_ones_listed_by_index() -> None:
    finished = Observation(id="done", session="s", at=1.0)
    seen: list[str] = []
    intake = Intake(lambda raw, cwd: raw, NOW, lambda observation: seen.append(observation.id))
    taken, rejected = intake.accept_all([{"id": "a", "title": "t"}, {"title": 7}, finished, {"id": "b"}])
    assert [observation.id for observation in taken] == ["a", "done"]
    assert [(rejection.index, rejection.errors[0].field) for rejection in rejected] == [
        (1, "title"),
        (3, "title"),
    ]
    assert seen == ["a"]


# ---- anything at all ---------------------------------------------------------------------------

any_text = st.text(alphabet=st.characters(exclude_categories=()), max_size=20)
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | any_text
    | st.sampled_from(
        ["../x", "/etc/passwd", "C:\\a", "~/b", "file:///c", "a\\b", "\\\\s\\t", "a/../..", "."]
    ),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
FIELDS = [*Observation.__dataclass_fields__, "cwd", "tittle"]
hostile = st.dictionaries(st.sampled_from(FIELDS), anything, max_size=6)
mostly_right = st.fixed_dictionaries(
    {},
    optional={
        "id": st.text(max_size=5),
        "title": any_text,
        "facts": st.lists(
            st.text(max_size=5) | st.fixed_dictionaries({"text": st.text(max_size=5)}), max_size=3
        ),
        "files_read": st.lists(any_text, max_size=3),
        "files_modified": st.lists(st.sampled_from(["a", "b", "./a", "src\\c", "ä"]), max_size=4),
        "files_added": st.lists(st.sampled_from(["a", "b", "c"]), max_size=2),
        "files_deleted": st.lists(st.sampled_from(["a", "b", "c"]), max_size=2),
        "renames": st.lists(
            st.fixed_dictionaries({"from": st.sampled_from("abc"), "to": st.sampled_from("abc")}), max_size=3
        ),
        "cwd": any_text,
        "at": st.floats(0, NOW + DAY) | st.just("2026-05-01T00:00:00Z"),
        "concepts": st.lists(any_text, max_size=3),
    },
)


@settings(max_examples=200)
@given(st.one_of(hostile, mostly_right))
def test_whatever_comes_is_taken_whole_or_refused_by_name(
    tmp_path_factory: pytest.TempPathFactory, item: dict[str, Any]
) -> None:
    resolver = PathResolver(["/no/such/root"], lambda path: False, None, lambda root: None)
    try:
        observation = Intake(resolver.resolve, NOW).accept(item)
    except RefusedError as refusal:
        assert refusal.problems
        for problem in refusal.problems:
            assert problem.field.partition(".")[0] in {*FIELDS, "observation"}
            assert problem.message
        return
    assert decode(observation.id, observation.at, encode(observation)) == observation
    encode(observation).encode()
    assert 0 <= observation.at <= NOW + DAY
    assert observation.id and observation.session
    for path in (*observation.files_read, *observation.files_modified, *observation.files_deleted):
        assert path and not path.startswith("/") and "\x00" not in path
        assert ".." not in path.split("/")
    assert set(observation.files_added) <= set(observation.files_modified)
    moved = {name for rename in observation.renames for name in (rename.old, rename.new)}
    assert not (set(observation.files_modified) - set(observation.files_added)) & moved
    assert not set(observation.files_deleted) & {*observation.files_modified, *moved}
