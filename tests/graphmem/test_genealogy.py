"""Which file a mention meant: renames in every order of arrival, and what the tables then say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

import pytest

from graphmem.database import Database
from graphmem.derived import open_derived
from graphmem.journal import Journal
from graphmem.model import Observation, Rename
from graphmem.postings import Postings
from graphmem.projection import catch_up

OPENED: list[Database | Journal] = []


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    while OPENED:
        OPENED.pop().close()


def work(at: float, *modified: str, added: Sequence[str] = (), deleted: Sequence[str] = ()) -> Observation:
    return Observation(
        id=f"o{at}",
        session="s",
        at=at,
        files_modified=(*modified, *added),
        files_added=tuple(added),
        files_deleted=tuple(deleted),
    )


def move(at: float, *pairs: tuple[str, str], added: Sequence[str] = ()) -> Observation:
    renames = tuple(Rename(old, new) for old, new in pairs)
    return Observation(
        id=f"o{at}",
        session="s",
        at=at,
        renames=renames,
        files_modified=tuple(added),
        files_added=tuple(added),
    )


OPENED: list[Journal | Database] = []


@pytest.fixture(autouse=True)
def closed_afterwards() -> Iterator[None]:
    """Close what a test opened."""
    yield
    while OPENED:
        OPENED.pop().close()


def told(*observations: Observation, one_by_one: bool = True) -> Database:
    journal, database = Journal(None), open_derived(None)
    OPENED.extend((journal, database))
    for batch in [[item] for item in observations] if one_by_one else [observations]:
        journal.append(batch, 0.0)
        catch_up(journal, database)
    return database


def files(database: Database, *names: str) -> list[tuple[str, bool] | None]:
    """The present name and life of what each name means."""
    with Postings(database).view() as view:
        found = [view.file(name) for name in names]
        return [None if file is None else (file.path, file.alive) for file in found]


def same(database: Database, *names: str) -> bool:
    with Postings(database).view() as view:
        return len({getattr(view.file(name), "id", None) for name in names}) == 1


CHAIN = [
    work(1, added=["a", "x"]),
    work(2, "a", "x"),
    move(3, ("a", "b")),
    work(4, "b", "x"),
    move(5, ("b", "c")),
    work(6, "c", "y"),
]


@pytest.mark.parametrize("order", list(permutations(range(6)))[::37])
def test_a_chain_of_renames_is_one_file_in_any_order_of_arrival(order: tuple[int, ...]) -> None:
    database = told(*(CHAIN[place] for place in order))
    assert same(database, "a", "b", "c")
    assert files(database, "a", "x", "y") == [("c", True), ("x", True), ("y", True)]
    with Postings(database).view() as view:
        file = view.file("c")
        assert file is not None
        history = view.history(file.id)
        assert [occasion.at for occasion in history.edits] == [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]
        assert all(file.id in occasion.edited for occasion in history.edits)


def test_the_old_name_created_anew_is_a_new_file_and_not_its_own_neighbour() -> None:
    database = told(work(1, added=["a", "x"]), move(2, ("a", "b")), work(3, added=["a"]), work(4, "a", "y"))
    assert not same(database, "a", "b")
    assert files(database, "a", "b") == [("a", True), ("b", True)]
    with Postings(database).view() as view:
        new, moved = view.file("a"), view.file("b")
        assert new is not None and moved is not None
        assert [occasion.at for occasion in view.history(new.id).edits] == [4.0, 3.0]
        assert [occasion.at for occasion in view.history(moved.id).edits] == [2.0, 1.0]


def test_a_rename_that_arrives_late_joins_the_two_histories() -> None:
    database = told(work(1, "a", "x"), work(5, "b", "x"))
    assert not same(database, "a", "b")
    told_late = told(work(1, "a", "x"), work(5, "b", "x"), move(3, ("a", "b")))
    assert same(told_late, "a", "b")
    assert files(told_late, "a") == [("b", True)]


def test_moved_twice_in_one_observation_ends_at_the_last_name() -> None:
    database = told(work(1, added=["a"]), move(2, ("a", "b"), ("b", "c")))
    assert same(database, "a", "b", "c")
    assert files(database, "a") == [("c", True)]
    with Postings(database).view() as view:
        file = view.file("a")
        assert file is not None
        assert len(view.history(file.id).edits) == 2, "one observation is one change"


def test_two_that_swap_and_one_that_shifts_in_one_observation() -> None:
    swapped = told(work(1, added=["a"]), work(2, added=["b"]), move(3, ("a", "b"), ("b", "a")))
    assert not same(swapped, "a", "b")
    assert files(swapped, "a", "b") == [("a", True), ("b", True)]
    shifted = told(work(1, added=["a"]), work(2, added=["b"]), move(3, ("a", "b"), ("b", "c")))
    assert not same(shifted, "b", "c")
    assert files(shifted, "a", "b", "c") == [("b", True), ("b", True), ("c", True)]


def test_moved_away_and_begun_anew_in_one_observation() -> None:
    database = told(work(1, added=["a", "x"]), move(2, ("a", "b"), added=["a"]), work(3, "a", "y"))
    assert not same(database, "a", "b")
    assert files(database, "a", "b") == [("a", True), ("b", True)]


def test_a_file_that_a_rename_overwrote_is_gone_in_the_past_too() -> None:
    database = told(work(1, added=["a", "b", "x"]), move(5, ("a", "b")), work(7, "b"))
    with Postings(database).view(4.0) as then, Postings(database).view() as now:
        overwritten, moved = then.file("b"), now.file("b")
        assert overwritten is not None and moved is not None
        assert overwritten.id != moved.id
        assert overwritten.alive
        assert now.files([overwritten.id])[overwritten.id].alive is False
        assert now.gone_since(overwritten.id) == 5.0


def test_a_life_is_told_right_when_its_middle_arrives_late() -> None:
    database = told(
        work(1, "a"), work(9, "a"), work(3, deleted=["a"]), work(7, deleted=["a"]), work(5, added=["a"])
    )
    expected = {0.5: None, 2.0: True, 4.0: False, 6.0: True, 8.0: False, 9.0: True}
    for moment, alive in expected.items():
        with Postings(database).view(moment) as view:
            file = view.file("a")
            assert (None if file is None else file.alive) is alive, moment


def test_a_name_that_was_never_there_can_be_moved_from() -> None:
    database = told(move(1, ("a", "b")))
    assert same(database, "a", "b")
    assert files(database, "a", "b") == [("b", True), ("b", True)]
    with Postings(database).view(0.5) as view:
        assert view.file("a") is None and view.file("b") is None
