"""What a projecting transaction leaves behind: nodes whose offers may be others, and word for the graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from graphmem.derived import open_derived
from graphmem.freshness import WHOLE, WHOLE_UNDER_WAY
from graphmem.instant import DAY
from graphmem.journal import Journal
from graphmem.model import Observation, Rename
from graphmem.nodes import NodeTable
from graphmem.postings import Postings
from graphmem.projection import catch_up
from graphmem.promotion import promote

HOUR = 3_600.0


class Told:
    """A journal and its derived file that are promoted, so that marks are made from now on."""

    def __init__(self) -> None:
        self.journal, self.database = Journal(None), open_derived(None)

    def tell(self, *observations: Observation) -> None:
        self.journal.append(observations, 0.0)
        catch_up(self.journal, self.database)

    def settle(self) -> None:
        promote(self.journal, self.database, "p")

    def rows(self, query: str) -> list[int]:
        with self.database.read() as connection:
            return [row[0] for row in connection.execute(query)]

    def dirty(self) -> set[str]:
        """Present names of the files that are marked."""
        with Postings(self.database).view() as view:
            marked = [
                row[0] // 4 for row in view.connection.execute("SELECT node FROM dirty WHERE node % 4 = 0")
            ]
            return {file.path for file in view.files(marked).values()}

    def meta(self, key: str) -> int:
        (value,) = self.rows(f"SELECT value FROM meta WHERE key = '{key}'")
        return value

    def reloads(self) -> bool:
        """Whether a graph of before the last change has to be loaded whole."""
        return self.meta("reload") == max(self.rows("SELECT number FROM graph_log"), default=0) > 0


@pytest.fixture
def told() -> Iterator[Told]:
    made = Told()
    yield made
    made.journal.close()
    made.database.close()


def work(
    id: str,
    at: float,
    *modified: str,
    session: str = "s",
    actor: str = "ann",
    read: Iterable[str] = (),
    deleted: Iterable[str] = (),
    renames: Iterable[Rename] = (),
    added: Iterable[str] = (),
    title: str | None = None,
    concepts: Iterable[str] = (),
) -> Observation:
    return Observation(
        id=id,
        session=session,
        at=at,
        actor=actor,
        title=id if title is None else title,
        concepts=tuple(concepts),
        files_read=tuple(read),
        files_modified=modified,
        files_added=tuple(added),
        files_deleted=tuple(deleted),
        renames=tuple(renames),
    )


def test_a_first_import_marks_nothing_as_all_is_to_be_looked_at(told: Told) -> None:
    told.tell(work("o1", HOUR, "a", "b"))
    assert told.meta("whole") == WHOLE
    assert told.dirty() == set()


def test_what_arrives_while_a_full_run_is_under_way_is_marked(told: Told) -> None:
    told.tell(work("o1", HOUR, "a"))
    with told.database.write() as connection:
        connection.execute("UPDATE meta SET value = ? WHERE key = 'whole'", (WHOLE_UNDER_WAY,))
    told.tell(work("o2", 2 * HOUR, "b", session="t", actor="bo"))
    assert told.dirty() == {"b"}


def test_each_transaction_has_a_stamp_of_its_own(told: Told) -> None:
    told.settle()
    told.tell(work("o1", HOUR, "a"))
    first = told.meta("stamp")
    told.tell(work("o2", 2 * HOUR, "a", session="t", actor="bo"))
    assert told.meta("stamp") > first
    assert told.rows("SELECT stamp FROM dirty WHERE node % 4 = 0") == [told.meta("stamp")]


@pytest.mark.parametrize("late", [False, True], ids=["new", "late"])
def test_the_files_of_an_observation_are_marked_and_others_are_not(told: Told, late: bool) -> None:
    told.tell(work("o1", 10 * DAY, "a", "b"), work("o2", 20 * DAY, "c", "d", session="t", actor="bo"))
    told.settle()
    told.tell(work("o3", 5 * DAY if late else 30 * DAY, "a", "e", session="u", actor="cy", read=["d"]))
    assert told.dirty() == {"a", "e", "d"}


def test_what_came_before_in_the_session_is_marked(told: Told) -> None:
    told.tell(
        work("o1", HOUR, "edited"),
        work("o2", 2 * HOUR, session="s", read=["read"]),
        work("o3", 2 * HOUR, "elsewhere", session="t", actor="bo"),
    )
    told.settle()
    told.tell(work("o4", 3 * HOUR, "new", actor="cy"))
    assert told.dirty() == {"edited", "read", "new"}


def test_reading_alone_follows_nothing(told: Told) -> None:
    told.tell(work("o1", HOUR, "edited"))
    told.settle()
    told.tell(work("o2", 2 * HOUR, read=["read"]))
    assert told.dirty() == {"read"}


def test_a_read_far_back_is_marked_while_few_changes_came_since(told: Told) -> None:
    told.tell(work("o1", HOUR, read=["long ago"]))
    told.tell(*(work(f"r{n}", HOUR + n, read=[f"r{n}"]) for n in range(1, 80)))
    told.settle()
    told.tell(work("o2", 2 * HOUR, "new"))
    assert "long ago" in told.dirty()


@pytest.mark.parametrize(("hours", "marked"), [(23, True), (25, False)])
def test_the_actors_last_work_is_marked_within_a_day(told: Told, hours: int, marked: bool) -> None:
    told.tell(work("o0", HOUR, "earlier", session="r"), work("o1", 2 * HOUR, "last", session="s"))
    told.settle()
    told.tell(work("o2", (2 + hours) * HOUR, "new", session="t"))
    assert told.dirty() == ({"last", "new"} if marked else {"new"})


@pytest.mark.parametrize(
    "change",
    [
        work("o3", 30 * DAY, session="u", actor="cy", renames=[Rename("a", "z")]),
        work("o3", 30 * DAY, session="u", actor="cy", deleted=["a"]),
    ],
    ids=["renamed", "deleted"],
)
def test_whoever_changed_along_is_marked_when_a_file_changes_name_or_life(
    told: Told, change: Observation
) -> None:
    told.tell(
        work("o1", 10 * DAY, "a", "b"),
        work("o2", 20 * DAY, "c", "d", session="t", actor="bo"),
    )
    told.settle()
    before = told.meta("reload")
    told.tell(change)
    assert told.dirty() == {"z" if change.renames else "a", "b"}
    assert told.meta("reload") == before, "the graph can be told of a name"
    logged = told.rows("SELECT node FROM graph_log WHERE node IS NOT NULL")
    (file,) = told.rows("SELECT file FROM path WHERE name = 'a'")
    assert logged[-1] == file * 4


def test_a_revived_file_marks_its_old_company(told: Told) -> None:
    told.tell(work("o1", 10 * DAY, "a", "b"), work("o2", 11 * DAY, session="t", deleted=["a"]))
    told.settle()
    told.tell(work("o3", 30 * DAY, "a", session="u", actor="cy", added=["a"]))
    assert told.dirty() == {"a", "b"}


def test_a_late_deletion_marks_the_company_too(told: Told) -> None:
    told.tell(work("o1", 10 * DAY, "a", "b"), work("o2", 20 * DAY, session="t", actor="bo", read=["a"]))
    told.settle()
    told.tell(work("late", 15 * DAY, session="u", actor="cy", deleted=["a"]))
    assert told.rows("SELECT alive FROM file ORDER BY id") == [0, 1]
    assert told.dirty() == {"a", "b"}


def test_a_forgotten_observation_marks_its_neighbourhood_and_reloads_the_graph(told: Told) -> None:
    told.tell(
        work("o1", HOUR, "before"),
        work("o2", 2 * HOUR, "a", "b"),
        work("o3", 20 * DAY, "other", session="t", actor="bo"),
        work("o4", 21 * DAY, "a", "b", session="u", actor="cy"),
    )
    told.settle()
    told.journal.forget("o2", 0.0)
    catch_up(told.journal, told.database)
    assert told.dirty() == {"before", "a", "b"}
    assert told.reloads()


def test_a_late_word_on_related_names_keeps_the_numbers_of_files(told: Told) -> None:
    told.tell(
        work("o1", DAY, "a", "b"),
        work("o2", 2 * DAY, session="t", renames=[Rename("a", "z")]),
        work("o3", 9 * DAY, "z", "b", session="u"),
    )
    told.settle()
    before = told.rows("SELECT id FROM file ORDER BY id")
    reload = told.meta("reload")
    told.tell(work("late", 3 * DAY, "z", "c", session="v", actor="bo"))
    assert set(before) < set(told.rows("SELECT id FROM file"))
    assert told.dirty() == {"z", "c"}
    assert told.meta("reload") == reload


def test_a_late_rename_that_moves_old_mentions_reloads_the_graph(told: Told) -> None:
    told.tell(
        work("o1", DAY, "a", "x"),
        work("o2", 3 * DAY, "b", "y", session="t", actor="bo"),
        work("o3", 4 * DAY, "a", session="u", actor="cy", added=["a"]),
    )
    told.settle()
    told.tell(work("late", 2 * DAY, session="v", actor="dee", renames=[Rename("a", "b")]))
    assert told.reloads()
    assert told.dirty() == {"a", "b", "x"}, "b keeps its number, a's first mention is one of b now"


def test_what_is_stored_of_a_vanished_file_goes_with_it(told: Told) -> None:
    for number in range(3):
        told.tell(work(f"o{number}", number * DAY, "a", "b", session=f"s{number}"))
    told.settle()
    assert told.rows("SELECT COUNT(*) FROM offer") == [2]
    for number in range(3):
        told.journal.forget(f"o{number}", 0.0)
    catch_up(told.journal, told.database)
    for table in ("file", "offer", "edge"):
        assert told.rows(f"SELECT COUNT(*) FROM {table}") == [0], table
    told.settle()
    assert told.rows("SELECT COUNT(*) FROM dirty") == [0]


def test_what_an_observation_speaks_of_is_marked_with_its_files_and_so_when_it_is_forgotten(
    told: Told,
) -> None:
    told.tell(*(work(f"rest{number}", HOUR, f"rest/{number}") for number in range(9)))
    told.settle()
    spoken = "SELECT node % 4 FROM dirty WHERE node % 4 != 0 ORDER BY node"
    told.tell(work("o1", 2 * HOUR, "a", title="Move POST /pay", concepts=("auth",)))
    assert {NodeTable.CONCEPT, NodeTable.CONTRACT} == set(told.rows(spoken))
    told.settle()
    assert told.rows(spoken) == []
    told.tell(work("o2", 3 * HOUR, "b", title="Call POST /pay"))
    told.settle()
    told.journal.forget("o2", 0.0)
    catch_up(told.journal, told.database)
    assert NodeTable.CONTRACT in told.rows(spoken)
