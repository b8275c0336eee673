"""A commit that lands a turn speaks for it and is no work of its own, whatever came first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.captured import Batch
from graphmem.database import Database
from graphmem.derived import open_derived
from graphmem.instant import DAY, HOUR
from graphmem.journal import Journal
from graphmem.landing import LEEWAY, WITHIN, Unit, landed
from graphmem.model import Observation, ObservationFilter, Rename
from graphmem.projection import catch_up
from graphmem.promotion import promote
from graphmem.recall import listing, survey
from graphmem.recall.predictor import ONE_SITTING, Asker, nameable, predict
from inference.evidence import Occasion

Made = Callable[..., Any]
NOON = 100 * DAY


def worked(id: str, *files: str, turn: str = "t", **more: Any) -> Observation:
    """A part of an agent's turn that ended at noon, if nothing else is said."""
    more = {"at": NOON, "session": "agent-1", "actor": "agent", "title": "Work"} | more
    return Observation(id=id, turn=turn, files_modified=files, **more)


def commit(id: str, *files: str, **more: Any) -> Observation:
    """A commit an hour later, if nothing else is said."""
    more = {"at": NOON + HOUR, "session": "ann-1", "actor": "ann", "title": "Commit"} | more
    return Observation(id=id, reference=id, source="git", files_modified=files, **more)


def landings(database: Database) -> dict[str, str | None]:
    """Each commit with the first part of the turn that it counts with."""
    query = (
        "SELECT own.id, CASE WHEN lead.seq != own.seq THEN lead.id END FROM observation AS own"
        " JOIN observation AS lead ON lead.seq = own.occasion WHERE own.committed = 1"
    )
    with database.read() as connection:
        return dict(connection.execute(query).fetchall())


def occasions(made: Any, path: str, as_of: float | None = None) -> list[Occasion]:
    with made.view(as_of) as view:
        file = view.file(path)
        return [] if file is None else list(view.history(file.id).edits)


def test_a_commit_of_the_same_files_is_no_occasion_of_its_own(recorded: Made) -> None:
    made = recorded(worked("w", "a.py", "b.py"), commit("c", "a.py", "b.py"))
    assert landings(made.database) == {"c": "w"}
    with made.view() as view:
        (occasion,) = view.history(view.file("a.py").id).edits
        assert [head.id for head in view.heads([occasion.key])] == ["w"]
        assert (occasion.at, occasion.size, len(occasion.edited), view.total()) == (NOON, 2, 2, 1)
        assert view.changes(view.file("b.py").id) == 1


@pytest.mark.parametrize(
    ("files", "at", "is_landed"),
    [
        (("a.py", "b.py"), NOON, True),
        (("a.py", "b.py"), NOON + WITHIN, True),
        (("a.py", "b.py"), NOON + WITHIN + 1, False),
        (("a.py", "b.py"), NOON - LEEWAY, True),
        (("a.py", "b.py"), NOON - LEEWAY - 1, False),
        (("a.py",), NOON + HOUR, False),
        (("a.py", "b.py", "c.py"), NOON + HOUR, False),
        (("c.py", "d.py"), NOON + HOUR, False),
        ((), NOON + HOUR, False),
    ],
)
def test_only_the_same_files_at_about_the_same_time_land(
    recorded: Made, files: Sequence[str], at: float, is_landed: bool
) -> None:
    made = recorded(worked("w", "a.py", "b.py"), commit("c", *files, at=at))
    assert landings(made.database) == {"c": "w" if is_landed else None}


@pytest.mark.parametrize(
    "other",
    [
        worked("w", "a.py", turn=""),
        worked("w", files_read=("a.py",)),
    ],
)
def test_what_is_no_turn_that_changed_the_file_is_not_landed(recorded: Made, other: Observation) -> None:
    made = recorded(other, commit("c", "a.py"))
    assert landings(made.database)["c"] is None


def test_a_snapshot_lands_nothing(recorded: Made) -> None:
    made = recorded(worked("w", "a.py"), commit("c", "a.py", type="snapshot"))
    assert landings(made.database) == {"c": None}


def test_the_files_of_a_turn_are_those_of_all_its_parts(recorded: Made) -> None:
    parts = [
        worked("w0", "a.py", "b.py"),
        worked("w1", "b.py", at=NOON + 60),
        worked("w2", "c.py", at=NOON + 90),
    ]
    made = recorded(*parts, commit("c", "a.py", "b.py", "c.py"), commit("d", "a.py", "b.py"))
    assert landings(made.database) == {"c": "w0", "d": None}
    assert [one.size for one in occasions(made, "c.py")] == [3]


def test_how_a_file_was_changed_makes_no_difference(recorded: Made) -> None:
    made = recorded(
        commit("begin", "old.py", "gone.py", at=NOON - DAY),
        worked(
            "w", "new.py", "moved.py", files_deleted=("gone.py",), renames=(Rename("old.py", "moved.py"),)
        ),
        commit(
            "c",
            "new.py",
            files_added=("new.py",),
            files_deleted=("gone.py",),
            renames=(Rename("old.py", "moved.py"),),
        ),
    )
    assert landings(made.database) == {"begin": None, "c": "w"}


def test_a_commit_lands_one_turn_and_a_turn_is_landed_once(recorded: Made) -> None:
    made = recorded(
        worked("w1", "a.py", turn="t1"),
        worked("w2", "a.py", turn="t2", at=NOON + 60),
        commit("c", "a.py"),
        commit("d", "a.py", at=NOON + 2 * HOUR),
    )
    assert landings(made.database) == {"c": "w2", "d": None}
    assert len(occasions(made, "a.py")) == 3


def test_an_agent_that_commits_as_it_goes_is_counted_once_a_turn(recorded: Made) -> None:
    made = recorded()
    for number in range(4):
        at = NOON + number * HOUR
        made.tell(commit(f"c{number}", "a.py", at=at - 30))
        made.tell(worked(f"w{number}", "a.py", turn=f"t{number}", at=at))
    made.tell(commit("later", "a.py", at=NOON + 5 * HOUR))
    # One after another they are ascribed to the turn before; each commit still counts with one turn at most.
    landed_by = landings(made.database)
    assert sum(turn is not None for turn in landed_by.values()) == 4
    assert len({turn for turn in landed_by.values() if turn is not None}) == 4


def test_a_landed_commit_is_no_support_and_no_session_more(recorded: Made) -> None:
    made = recorded(worked("w", "a.py", "b.py"), commit("c", "a.py", "b.py"))
    promote(made.journal, made.database, "p")
    with made.view() as view:
        assert view.connection.execute("SELECT COUNT(*) FROM edge WHERE kind = 'co_changes'").fetchone() == (
            0,
        )
        (found,) = predict(view, [view.file("a.py")], Asker(NOON + DAY), 10).ranked
        assert (found.ranked.together, found.ranked.of, found.ranked.sessions) == (1, 1, 1)
    made.tell(worked("w2", "a.py", "b.py", session="agent-2", at=NOON + 3 * DAY))
    promote(made.journal, made.database, "p")
    with made.view() as view:
        query = "SELECT together, of, sessions FROM edge WHERE kind = 'co_changes'"
        assert view.connection.execute(query).fetchall() == [(2, 2, 2)]


def test_what_was_committed_counts_as_recorded_by_a_history(recorded: Made) -> None:
    several = [worked(f"w{n}", "src/a.py", "src/b.py", turn=f"t{n}", at=NOON + n * HOUR) for n in range(9)]
    made = recorded(*several)
    asker = Asker(NOON + 8 * HOUR, "agent")
    with made.view() as view:
        ranked = predict(view, [view.file("src/a.py")], asker, 10).ranked
        assert ranked[0].ranked.sessions == 1
        assert ranked[0].ranked.probability > ONE_SITTING
        assert nameable(view, ranked, 0.7) == []
    made.tell(*(commit(f"c{n}", "src/a.py", "src/b.py", at=NOON + n * HOUR + 60) for n in range(9)))
    with made.view() as view:
        again = predict(view, [view.file("src/a.py")], asker, 10).ranked
        assert [one.ranked for one in again] == [one.ranked for one in ranked]
        assert [one.file.path for one in nameable(view, again, 0.7)] == ["src/b.py"]


def test_a_landed_commit_is_listed_and_counted_in_the_overview(recorded: Made) -> None:
    made = recorded(worked("w", "a.py"), commit("c", "a.py", title="Mend the parser"))
    with made.view() as view:
        page = listing.observations(view, made.journal, ObservationFilter(file="a.py"), 10, None)
        assert [item.id for item in page.items] == ["c", "w"]
        stats = survey.stats(view, survey.Sizes(0, 0, 0), made.journal.captured)
        assert (stats.observations, stats.bulk_observations) == (2, 0)


def test_what_a_commit_says_is_said_of_the_turn(recorded: Made) -> None:
    made = recorded(worked("w", "a.py", concepts=("auth",)), commit("c", "a.py", concepts=("auth", "cart")))
    with made.view() as view:
        (key,) = (one.key for one in view.history(view.file("a.py").id).edits)
        spoken = view.concept_names(view.concepts([key])[key])
        assert {"auth", "cart"} <= set(spoken.values())
        (auth,) = (id for id, name in spoken.items() if name == "auth")
        assert view.frequencies([auth]) == {auth: 1}


def test_a_moment_before_the_commit_knows_only_the_turn(recorded: Made) -> None:
    before = recorded(worked("w", "a.py", "b.py"))
    made = recorded(worked("w", "a.py", "b.py"), commit("c", "a.py", "b.py", concepts=("cart",)))
    moment = NOON + 60
    assert occasions(made, "a.py", moment) == occasions(before, "a.py", moment)
    with made.view(moment) as view:
        (occasion,) = view.history(view.file("a.py").id).edits
        assert "cart" not in view.concept_names(view.concepts([occasion.key])[occasion.key]).values()
        assert view.total() == 1
        assert view.committed([occasion.key]) == set()
    with made.view(NOON - 60) as view:
        assert (view.file("a.py"), view.total()) == (None, 0)


# ---- any order -----------------------------------------------------------------------------------


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_late_parts_and_late_commits_end_alike(recorded: Made, order: tuple[int, ...]) -> None:
    four = [
        worked("w0", "a.py"),
        worked("w1", "b.py", at=NOON + 60),
        commit("c", "a.py", "b.py"),
        commit("d", "a.py", at=NOON + 30),
    ]
    made = recorded()
    for place in order:
        made.tell(four[place])
    assert landings(made.database) == {"c": "w0", "d": None}
    assert [one.size for one in occasions(made, "a.py")] == [1, 2]


@pytest.mark.parametrize("gone", ["w", "c"])
def test_without_the_other_either_counts_by_itself(recorded: Made, gone: str) -> None:
    made = recorded(worked("w", "a.py", "b.py"), commit("c", "a.py", "b.py"))
    made.journal.forget(gone, 0.0)
    catch_up(made.journal, made.database)
    (occasion,) = occasions(made, "a.py")
    assert (len(occasion.edited), occasion.size) == (2, 2)
    with made.view() as view:
        assert [head.id for head in view.heads([occasion.key])] == [{"w": "c", "c": "w"}[gone]]
        assert view.total() == 1


def test_a_turn_told_anew_with_another_file_is_landed_no_more(recorded: Made) -> None:
    made = recorded(worked("w", "a.py", provisional=True), commit("c", "a.py"))
    assert landings(made.database) == {"c": "w"}
    made.journal.captured.settle(Batch(observations=[worked("w", "a.py", "b.py")]), 0.0)
    catch_up(made.journal, made.database)
    assert landings(made.database) == {"c": None}
    assert [one.size for one in occasions(made, "a.py")] == [1, 2]


def test_a_rename_that_comes_late_makes_the_same_files(recorded: Made) -> None:
    made = recorded(worked("w", "old.py"), commit("c", "new.py"))
    assert landings(made.database) == {"c": None}
    made.tell(commit("moved", at=NOON + 60, renames=(Rename("old.py", "new.py"),), type="snapshot"))
    assert landings(made.database) == {"c": "w", "moved": None}


def test_what_comes_late_is_felt_as_far_as_it_has_a_say(recorded: Made) -> None:
    made = recorded(
        commit("c", "a.py"),
        worked("w", "a.py", at=NOON + HOUR + LEEWAY / 2),
        commit("d", "a.py", at=NOON + HOUR + LEEWAY / 2 + WITHIN),
    )
    assert landings(made.database) == {"c": "w", "d": None}
    # A turn before all that, of which the part that changed the file is older still.
    before = NOON + HOUR - WITHIN
    made.tell(
        worked("v0", "a.py", turn="v", at=before - DAY + 1),
        worked("v1", turn="v", at=before, files_read=("b.py",)),
    )
    assert landings(made.database) == {"c": "v0", "d": "w"}


def test_a_turn_of_more_than_a_day_is_not_landed(recorded: Made) -> None:
    made = recorded(worked("w0", "a.py", at=NOON - DAY - 1), worked("w1"), commit("c", "a.py"))
    assert landings(made.database) == {"c": None}


PATHS = ["a.py", "b.py", "c.py"]
path = st.sampled_from(PATHS)


@st.composite
def happening(draw: st.DrawFn, id: str) -> Observation:
    """A commit or a part of a turn, at times at which some are just near enough to each other."""
    pair = draw(st.permutations(PATHS))
    renames = (Rename(pair[0], pair[1]),) if draw(st.integers(0, 7)) == 0 else ()
    files = draw(st.sampled_from([("a.py",), ("a.py",), ("a.py", "b.py"), ("b.py",), ("c.py",)]))
    kept = tuple(name for name in files if not renames or name not in pair[:2])
    at = NOON + 4 * HOUR * draw(st.integers(0, 25)) + 400.0 * draw(st.integers(0, 3))
    more: dict[str, Any] = {"at": at, "renames": renames, "concepts": draw(st.sampled_from([(), ("auth",)]))}
    if draw(st.booleans()):
        return commit(id, *kept, **more)
    session, turn = draw(st.sampled_from(["one", "other"])), draw(st.sampled_from(["t1", "t2", "t3"]))
    return worked(id, *kept, turn=turn, session=session, **more)


def content(database: Database) -> list[Any]:
    """Everything that counts, by names."""
    queries = (
        "SELECT own.id, own.size, own.pairs, lead.id FROM observation AS own"
        " JOIN observation AS lead ON lead.seq = own.occasion",
        "SELECT observation.id, ord, repeated, lead.id, path.name FROM touch JOIN observation USING (seq)"
        " JOIN observation AS lead ON lead.seq = touch.occasion"
        " JOIN file ON file.id = touch.file JOIN path ON path.id = file.first_path",
        "SELECT observation.id, name, repeated, lead.id FROM concept_use JOIN observation USING (seq)"
        " JOIN concept ON concept.id = concept JOIN observation AS lead ON lead.seq = concept_use.occasion",
        "SELECT name, uses FROM concept",
        "SELECT path.name, ROUND(heat, 9), heat_at FROM file JOIN path ON path.id = file.first_path",
        "SELECT observation.id, session.name, landing.turn FROM landing JOIN observation USING (seq)"
        " JOIN session ON session.id = landing.session",
        "SELECT key, value FROM meta WHERE key IN ('observations', 'parts')",
    )
    with database.read() as connection:
        return [sorted(map(repr, connection.execute(query))) for query in queries]


@pytest.fixture(scope="module")
def rebuilt() -> Iterator[Callable[[Journal], list[Any]]]:
    def build(journal: Journal) -> list[Any]:
        with closing(open_derived(None)) as database:
            catch_up(journal, database)
            return content(database)

    yield build


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_whatever_happens_ends_as_a_rebuild_makes_it(
    rebuilt: Callable[[Journal], list[Any]], data: st.DataObject
) -> None:
    with closing(Journal(None)) as journal, closing(open_derived(None)) as database:
        kept: list[str] = []
        for number in range(data.draw(st.integers(2, 14))):
            id = data.draw(st.sampled_from([f"o{number}", f"o{number}", *kept]))
            if id in kept and data.draw(st.booleans()):
                journal.forget(id, 0.0)
                kept.remove(id)
            else:
                told = replace(data.draw(happening(id)), provisional=True)
                journal.captured.settle(Batch(observations=[told]), 0.0)
                kept = [*(one for one in kept if one != id), id]
            if data.draw(st.integers(0, 2)):
                catch_up(journal, database)
        catch_up(journal, database)
        assert content(database) == rebuilt(journal)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 10**6), min_size=2, max_size=8, unique=True), st.data())
def test_any_order_of_arrival_ends_in_the_same_landings(times: list[int], data: st.DataObject) -> None:
    made = [replace(data.draw(happening(f"o{number}")), at=NOON + at / 4) for number, at in enumerate(times)]
    found = []
    for arriving in (sorted(made, key=lambda one: one.at), data.draw(st.permutations(made))):
        with closing(Journal(None)) as journal, closing(open_derived(None)) as database:
            for observation in arriving:
                journal.append([observation], 0.0)
                catch_up(journal, database)
            found.append(content(database))
    assert found[0] == found[1]


@given(st.lists(st.tuples(st.integers(0, 400), st.booleans()), min_size=1, max_size=12, unique=True))
def test_nothing_is_landed_twice(drawn: list[tuple[int, bool]]) -> None:
    alike = [
        Unit(LEEWAY * at, is_commit, f"u{at}", None if is_commit else (1, f"u{at}"))
        for at, is_commit in sorted(drawn)
    ]
    turns = [turn for unit in alike if unit.is_commit and (turn := landed(unit, alike)) is not None]
    assert len(turns) == len(set(turns))
    ends = {unit.turn: unit.at for unit in alike if unit.turn is not None}
    for unit in alike:
        turn = landed(unit, alike) if unit.is_commit else None
        assert turn is None or -LEEWAY <= unit.at - ends[turn] <= WITHIN


def test_a_history_without_turns_is_not_looked_through(recorded: Made) -> None:
    made = recorded()
    queries: list[str] = []
    with made.database.write() as connection:
        connection.set_trace_callback(queries.append)
    made.tell(*(commit(f"c{n}", "a.py", "b.py", at=NOON + n) for n in range(20)))
    with made.database.write() as connection:
        connection.set_trace_callback(None)
    about = [query for query in queries if "turn != ''" in query or "landing" in query]
    assert len(queries) > 100
    assert len(about) < 10
