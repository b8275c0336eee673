"""The parts of one turn count as one: in ranking, support and evidence, in whatever order they arrive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.captured import Batch
from graphmem.database import Database
from graphmem.derived import open_derived
from graphmem.instant import HOUR
from graphmem.journal import Journal
from graphmem.model import Observation, Rename
from graphmem.postings import Postings, View
from graphmem.projection import catch_up
from graphmem.promotion import promote
from graphmem.recall import survey
from graphmem.recall.activity import active
from graphmem.recall.predictor import Asker, predict
from inference.evidence import Occasion

Made = Callable[..., Any]
PATHS = ["a.py", "b.py", "c.py", "d.py"]
path = st.sampled_from(PATHS)
several = st.lists(path, max_size=3, unique=True).map(tuple)


def part(number: int, *files: str, turn: str = "t", session: str = "s", **more: Any) -> Observation:
    more = {"at": 100.0 + number, "title": "Work"} | more
    return Observation(
        id=f"{turn}-{number}", session=session, actor="agent", turn=turn, files_modified=files, **more
    )


def names(view: View, files: Sequence[int]) -> list[str]:
    views = view.files(files)
    return sorted(views[file].path for file in files)


def occasions(view: View, path: str) -> list[Occasion]:
    file = view.file(path)
    assert file is not None
    history = view.history(file.id)
    return [*history.edits, *history.reads]


def test_the_parts_of_a_turn_are_one_occasion_under_the_first(recorded: Made) -> None:
    made = recorded(part(0, "a.py", "b.py"), part(1, "b.py", "c.py", files_read=("d.py",)))
    with made.view() as view:
        for name in ("a.py", "b.py", "c.py", "d.py"):
            (occasion,) = occasions(view, name)
            assert names(view, occasion.edited) == ["a.py", "b.py", "c.py"]
            assert names(view, occasion.read) == ["d.py"]
            assert (occasion.size, occasion.at) == (3, 100.0)
            assert [head.id for head in view.heads([occasion.key])] == ["t-0"]
        assert view.total() == 1


def test_a_file_read_first_and_changed_in_a_later_part_counts_as_changed(recorded: Made) -> None:
    made = recorded(part(0, "a.py", files_read=("b.py",)), part(1, "b.py"), part(2, files_read=("a.py",)))
    with made.view() as view:
        (occasion,) = occasions(view, "b.py")
        assert names(view, occasion.edited) == ["a.py", "b.py"]
        assert occasion.read == ()


def test_turns_of_the_same_name_in_other_sessions_are_others(recorded: Made) -> None:
    other = replace(part(1, "a.py"), id="other", session="other")
    made = recorded(part(0, "a.py"), other, part(2, "a.py", turn="u"))
    with made.view() as view:
        assert len(occasions(view, "a.py")) == view.total() == 3


def test_observations_without_a_turn_stay_by_themselves(recorded: Made) -> None:
    made = recorded(*(part(number, "a.py", turn="") for number in range(3)))
    with made.view() as view:
        assert len(occasions(view, "a.py")) == 3


def test_what_follows_a_turn_is_the_next_turn_not_its_own_part(recorded: Made) -> None:
    made = recorded(part(0, "a.py"), part(1, "b.py"), part(9, "c.py", turn="u"))
    with made.view() as view:
        file = view.file("a.py")
        ((follower,),) = view.history(file.id).followers
        assert names(view, follower.edited) == ["c.py"]


def test_parts_that_are_bulk_together_link_nothing(recorded: Made) -> None:
    halves = [tuple(f"{half}/{n}.py" for n in range(60)) for half in "xy"]
    made = recorded(part(0, *halves[0]))
    with made.view() as view:
        assert occasions(view, "x/1.py")[0].size == 60
    made.tell(part(1, *halves[1]))
    with made.view() as view:
        (occasion,) = occasions(view, "x/1.py")
        assert (occasion.edited, occasion.size > 100) == ((), True)
        assert survey.stats(view, survey.Sizes(0, 0, 0), made.journal.captured).bulk_observations == 1


def turns(count: int, parts: int) -> list[Observation]:
    """Sessions of one turn each that change the same files, cut into so many parts."""
    files = ("a.py", "b.py", "c.py")
    return [
        Observation(
            id=f"o{number}-{place}",
            session=f"s{number}",
            at=number * HOUR,
            actor="agent",
            title="Fix the login token",
            concepts=("login",),
            turn=f"t{number}",
            files_modified=files[place::parts],
            files_read=("read.py",),
        )
        for number in range(count)
        for place in range(parts)
    ]


def test_cut_into_parts_or_whole_the_prediction_is_the_same(recorded: Made) -> None:
    answers = []
    for parts in (1, 2, 3):
        made = recorded(*turns(4, parts))
        with made.view() as view:
            found = predict(view, [view.file("a.py")], Asker(5 * HOUR, "agent"), 10).ranked
            answers.append(
                [
                    (one.file.path, one.ranked.probability, one.ranked.together, one.ranked.of)
                    for one in sorted(found, key=lambda one: one.file.path)
                ]
            )
    assert answers[0] == answers[1] == answers[2]
    assert {(name, together) for name, _, together, _ in answers[0]} >= {("b.py", 4), ("c.py", 4)}


@pytest.mark.parametrize("sessions", [1, 2])
def test_a_turn_of_many_parts_is_no_more_support_than_one(recorded: Made, sessions: int) -> None:
    made = recorded(*turns(sessions, 3))
    promote(made.journal, made.database, "p")
    with made.view() as view:
        edges = view.connection.execute(
            "SELECT together, of, sessions, keys FROM edge WHERE kind = 'co_changes'"
        ).fetchall()
        keys = [head.id for head in view.heads(int(key) for key in edges[0][3].split())] if edges else []
    assert [edge[:3] for edge in edges] == [(2, 2, 2)] * (3 if sessions == 2 else 0)
    assert keys == (["o1-0", "o0-0"] if sessions == 2 else [])


def test_a_concept_counts_once_in_a_turn(recorded: Made) -> None:
    made = recorded(*(part(number, "a.py", concepts=("auth",)) for number in range(3)))
    query = "SELECT id FROM concept WHERE name = 'auth'"
    with made.view() as view:
        (auth,) = view.connection.execute(query).fetchone()
        assert view.frequencies([auth]) == {auth: 1}
    with made.view(as_of=101.5) as view:
        assert view.frequencies([auth]) == {auth: 1}
        assert view.total() == 1


def test_contracts_of_all_parts_are_the_turns(recorded: Made) -> None:
    made = recorded(part(0, "a.py", title="Use POST /api/pay"), part(1, "b.py", title="Use GET /api/bill"))
    with made.view() as view:
        (occasion,) = occasions(view, "a.py")
        assert len(view.contracts([occasion.key])) == 2


def test_activity_tells_of_the_part_that_touched_the_file_last(recorded: Made) -> None:
    made = recorded(part(0, "a.py"), part(50, "b.py", "a.py"))
    with made.view() as view:
        file = view.file("a.py").id
        assert [entry.at for entry in active(view, {file: "a.py"}, 200.0, None)] == [150.0]


def test_a_moment_between_two_parts_knows_only_the_first(recorded: Made) -> None:
    made = recorded(part(0, "a.py", "b.py"), part(1, "c.py", concepts=("auth",)))
    with made.view(as_of=100.5) as view:
        (occasion,) = occasions(view, "a.py")
        assert names(view, occasion.edited) == ["a.py", "b.py"]
        spoken = view.concept_names(view.concepts([occasion.key])[occasion.key]).values()
        assert "auth" not in spoken


# ---- any order -----------------------------------------------------------------------------------


def state(database: Database) -> dict[str, Any]:
    """Every occasion by names, with what counts in it."""
    with Postings(database).view() as view:
        rows = view.connection.execute(
            "SELECT own.name, first.name, file.id FROM file JOIN path AS own ON own.id = file.path"
            " JOIN path AS first ON first.id = file.first_path"
        ).fetchall()
        called = {id: f"{name} born {first}" for name, first, id in rows}
        ids = dict(view.connection.execute("SELECT seq, id FROM observation"))
        found: dict[str, Any] = {"total": view.total()}
        for id, name in called.items():
            history = view.history(id)
            found[name] = [
                (
                    ids[one.key],
                    one.size,
                    sorted(called[file] for file in one.edited),
                    sorted(called[file] for file in one.read),
                )
                for one in (*history.edits, *history.reads)
            ]
        uses = view.connection.execute("SELECT name, uses FROM concept ORDER BY name")
        found["uses"] = uses.fetchall()
        return found


@st.composite
def parts(draw: st.DrawFn) -> list[Observation]:
    made = []
    for number in range(draw(st.integers(2, 5))):
        pair = draw(st.lists(st.tuples(path, path).filter(lambda pair: pair[0] != pair[1]), max_size=1))
        renames = tuple(Rename(old, new) for old, new in pair)
        moved = {name for rename in renames for name in (rename.old, rename.new)}
        files = tuple(name for name in draw(several) if name not in moved)
        made.append(
            part(
                number,
                *files,
                turn=draw(st.sampled_from(["t", "t", "u"])),
                concepts=draw(st.sampled_from([(), ("auth",), ("auth", "cart")])),
                renames=renames,
                files_read=draw(several),
            )
        )
    return made


@settings(max_examples=25, deadline=None)
@given(parts(), st.data())
def test_parts_in_any_order_end_as_in_their_own(made: list[Observation], data: st.DataObject) -> None:
    ordered = sorted(made, key=lambda one: one.at)
    shuffled = data.draw(st.permutations(made))
    states = []
    for arriving in (ordered, shuffled):
        journal, database = Journal(None), open_derived(None)
        for observation in arriving:
            journal.append([observation], 0.0)
            catch_up(journal, database)
        states.append(state(database))
        database.close()
        journal.close()
    assert states[0] == states[1]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_rename_between_parts_is_one_file(recorded: Made, order: tuple[int, ...]) -> None:
    three = [
        part(0, "old.py"),
        part(1, renames=(Rename("old.py", "new.py"),)),
        part(2, "new.py", "other.py"),
    ]
    made = recorded()
    for place in order:
        made.tell(three[place])
    with made.view() as view:
        (occasion,) = occasions(view, "new.py")
        assert names(view, occasion.edited) == ["new.py", "other.py"]
        assert (occasion.size, view.file("old.py")) == (2, view.file("new.py"))


def test_without_its_first_part_a_turn_counts_under_the_next(recorded: Made) -> None:
    made = recorded(part(0, "a.py", "b.py"), part(1, "b.py", "c.py"))
    made.journal.forget("t-0", 0.0)
    catch_up(made.journal, made.database)
    with made.view() as view:
        (occasion,) = occasions(view, "b.py")
        assert [head.id for head in view.heads([occasion.key])] == ["t-1"]
        assert (names(view, occasion.edited), occasion.size) == (["b.py", "c.py"], 2)


def test_a_part_told_anew_changes_the_whole_turn(recorded: Made) -> None:
    made = recorded(part(0, "a.py", provisional=True), part(1, "b.py"))
    made.journal.captured.settle(Batch(observations=[part(0, "a.py", "c.py", at=99.0)]), 0.0)
    catch_up(made.journal, made.database)
    with made.view() as view:
        (occasion,) = occasions(view, "b.py")
        assert names(view, occasion.edited) == ["a.py", "b.py", "c.py"]
        assert (occasion.size, occasion.at) == (3, 99.0)
