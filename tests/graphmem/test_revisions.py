"""An observation told anew: what was projected of it before gives way at once, and nobody sees a gap."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from graphmem import graph_content
from graphmem.captured import Batch
from graphmem.database import Database
from graphmem.derived import open_derived
from graphmem.journal import Journal
from graphmem.model import Fact, FactKind, Observation, ObservationFilter, Rename, TaskState
from graphmem.postings import Postings
from graphmem.projection import Watermark, applied, catch_up, watermark
from graphmem.promotion import promote
from graphmem.recall import listing

Made = Callable[..., Any]


def told(id: str, *files: str, at: float = 1.0, **more: Any) -> Observation:
    more = {"session": "s", "title": "Work", "provisional": True} | more
    return Observation(id=id, at=at, files_modified=files, **more)


class Project:
    """A journal and its derived file; every telling is carried over at once."""

    def __init__(self, folder: Path | None = None) -> None:
        self.journal = Journal(folder and folder / "journal.db")
        self.database: Database = open_derived(folder and folder / "derived.db")

    def tell(self, *observations: Observation) -> None:
        self.journal.captured.settle(Batch(observations=observations), 0.0)
        catch_up(self.journal, self.database)

    def rows(self, query: str, *values: object) -> list[Any]:
        with self.database.read() as connection:
            return [row[0] if len(row) == 1 else row for row in connection.execute(query, values)]

    def reload(self) -> int:
        return int(self.rows("SELECT value FROM meta WHERE key = 'reload'")[0])

    def close(self) -> None:
        self.database.close()
        self.journal.close()


@pytest.fixture
def project() -> Iterator[Project]:
    with closing(Project()) as made:
        yield made


def test_everything_that_was_told_before_is_replaced(project: Project) -> None:
    before = told(
        "a",
        "a.py",
        "gone.py",
        narrative="uses POST /api/old and the zebrafish cache",
        concepts=("zebra",),
        facts=(Fact("the old fact"),),
        session="first",
        actor="ann",
    )
    project.tell(before)
    project.tell(told("a", "a.py", "b.py", at=2.0, narrative="uses POST /api/new", concepts=("lion",)))
    assert project.rows("SELECT name FROM path ORDER BY name") == ["a.py", "b.py"]
    assert project.rows("SELECT name FROM contract") == ["POST /api/new"]
    assert project.rows("SELECT COUNT(*) FROM concept WHERE name IN ('zebra', 'lion') AND uses = 1") == [1]
    assert project.rows("SELECT COUNT(*) FROM text WHERE text MATCH 'zebrafish'") == [0]
    assert project.rows("SELECT COUNT(*) FROM fact") == [0]
    assert project.rows("SELECT name FROM session") == ["s"]
    assert project.rows("SELECT seq, at, size FROM observation") == [(1, 2.0, 2)]
    assert project.rows("SELECT value FROM meta WHERE key = 'observations'") == [1]


def test_the_watermark_follows_tellings(project: Project) -> None:
    project.tell(told("a", "a.py"), told("b", "b.py"))
    project.tell(told("a", "a.py", "c.py"))
    project.tell(told("a", "a.py", "c.py"))
    assert watermark(project.database) == Watermark(3, 0)
    with project.database.read() as connection:
        assert applied(connection) == 3
    assert not catch_up(project.journal, project.database)


def test_what_was_forgotten_in_a_later_telling_leaves_the_earlier_one_too(project: Project) -> None:
    project.tell(told("a", "a.py"), told("b", "b.py"))
    project.journal.captured.settle(Batch(observations=[told("a", "a.py", "c.py")]), 0.0)
    project.journal.forget("a", 1.0)
    catch_up(project.journal, project.database)
    assert project.rows("SELECT id FROM observation") == ["b"]
    assert project.rows("SELECT name FROM path") == ["b.py"]


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"files_read": ("other.py",)},
        {"files_added": ("new.py",)},
        {"files_deleted": ("other.py",)},
        {"renames": (Rename("other.py", "moved.py"),)},
    ],
)
def test_a_growing_turn_keeps_every_number_and_the_graph(project: Project, more: dict[str, Any]) -> None:
    for number in range(3):
        day = 86_400.0 * number
        project.tell(told(f"o{number}", "a.py", "other.py", at=day, session=f"s{number}", provisional=False))
    project.tell(told("turn", "a.py", "new.py", at=1e6))
    promote(project.journal, project.database, "p")
    with project.database.read() as connection:
        mark = graph_content.mark(connection)
    numbers = dict(project.rows("SELECT path.name, file.id FROM file JOIN path ON path.id = file.path"))
    edges = project.rows("SELECT id FROM minted ORDER BY id")
    reload = project.reload()
    for step in range(1, 4):
        files = ("a.py", "new.py", *(f"{n}.py" for n in range(step)))
        project.tell(told("turn", *files, at=1e6 + step, title=f"Work {step}", **more))
    assert project.reload() == reload, "the graph can be told the difference"
    after = dict(project.rows("SELECT path.name, path.file FROM path"))
    assert {name: after[name] for name in numbers} == numbers
    assert project.rows("SELECT id FROM minted ORDER BY id") == edges
    with project.database.read() as connection:
        change = graph_content.change(connection, mark)
    assert change is not None
    (again,) = change.observations
    assert (again.title, len(again.touched) >= 5) == ("Work 3", True)


def test_a_reader_never_sees_a_gap_nor_two_tellings(tmp_path: Path) -> None:
    # Each telling has one more file and a word of its own, so that a mixture would show.
    tellings = 60
    with closing(Project(tmp_path)) as project:
        project.tell(told("other", "0.py", "1.py"), told("a", "0.py", title="word0"))
        over = threading.Event()

        def revise() -> None:
            try:
                for number in range(1, tellings):
                    files = [f"{n}.py" for n in range(1 + number % 7)]
                    project.tell(told("a", *files, at=1.0 + number, title=f"word{number}"))
                    if number % 10 == 0:
                        project.journal.append([told(f"x{number}", "0.py")], 0.0)
                        project.journal.forget(f"x{number}", 0.0)
            finally:
                over.set()

        writer = threading.Thread(target=revise)
        writer.start()
        seen: set[int] = set()
        while not over.is_set() or not seen:
            with Postings(project.database).view() as view:
                ((seq, title),) = view.connection.execute(
                    "SELECT seq, title FROM observation WHERE id = 'a'"
                ).fetchall()
                number = int(title.removeprefix("word"))
                touched = view.connection.execute("SELECT COUNT(*) FROM touch WHERE seq = ?", (seq,))
                assert touched.fetchone()[0] == 1 + number % 7
                found = view.connection.execute("SELECT title FROM text WHERE text MATCH 'word*'")
                assert [words.split()[0] for (words,) in found] == [title]
                page = listing.observations(view, project.journal, ObservationFilter(file="0.py"), 10, None)
                assert [item.id for item in page.items] == ["a", "other"]
                seen.add(number)
        writer.join()
        assert project.rows("SELECT title FROM observation WHERE id = 'a'") == [f"word{tellings - 1}"]


def test_a_list_shows_what_is_under_way_as_it_stands(project: Project) -> None:
    project.tell(told("a", "a.py"))
    project.tell(told("a", "a.py", "b.py", at=2.0))
    for final in (False, True):
        project.tell(told("a", "a.py", "b.py", at=3.0, provisional=not final))
        with Postings(project.database).view() as view:
            where = ObservationFilter(file="b.py")
            (item,) = listing.observations(view, project.journal, where, 10, None).items
        assert (item.id, item.at, item.provisional) == ("a", 3.0, not final)
        assert project.journal.get("a") == item


def test_a_session_is_summed_up_as_it_was_last_told(project: Project) -> None:
    task = Fact("Write the migration", FactKind.TASK, TaskState.OPEN)
    done = Fact("Write the migration", FactKind.TASK, TaskState.DONE)
    project.tell(told("a", "wrong.py", intent="Build the login", facts=(task,)))
    project.tell(told("a", "a.py", intent="Build the login", title="Login", at=5.0, facts=(task,)))
    with Postings(project.database).view() as view:
        open_still = listing.session(view, project.journal, "s")
    project.tell(told("b", "b.py", title="Login", at=9.0, facts=(done,), provisional=False))
    with Postings(project.database).view() as view:
        summed = listing.session(view, project.journal, "s")
    assert open_still.left_open == ("Write the migration",)
    assert (summed.set_out, summed.observations) == ("Build the login", 2)
    assert (summed.started_at, summed.ended_at) == (5.0, 9.0)
    assert (summed.files, summed.done, summed.left_open) == (("b.py", "a.py"), ("Login",), ())


def test_a_revision_that_takes_back_a_deletion_revives_the_file(project: Project) -> None:
    project.tell(told("o", "a.py", provisional=False))
    project.tell(told("a", at=2.0, files_deleted=("a.py",)))
    assert project.rows("SELECT alive FROM file") == [0]
    project.tell(told("a", "a.py", at=2.0))
    assert project.rows("SELECT alive FROM file") == [1]
    assert project.rows("SELECT COUNT(*) FROM state") == [1]
