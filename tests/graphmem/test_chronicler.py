"""Promise: the work held in memory says what the derived file says, at every moment, whatever happened."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem import chronicler
from graphmem.captured import Batch
from graphmem.chronicler import Chronicler
from graphmem.database import Database
from graphmem.derived import adopt, open_derived
from graphmem.journal import Entry, Journal
from graphmem.model import Observation, Rename
from graphmem.postings import Postings, View
from graphmem.projection import catch_up, project
from inference.candidates import candidates
from inference.chronicle import Chronicle, Trail
from inference.evidence import FileHistory
from inference.signals import signals
from inference.table import Hearing, Question

PATHS = ["src/a.py", "src/b.py", "lib/c.py", "lib/d.py"]
HOUR = 3_600.0
path = st.sampled_from(PATHS)
several = st.lists(path, max_size=3, unique=True).map(tuple)
OPENED: list[Journal | Database] = []


@pytest.fixture(autouse=True)
def closed_afterwards() -> Iterator[None]:
    """Close what a test opened, however many examples it tried."""
    yield
    while OPENED:
        OPENED.pop().close()


@st.composite
def observation(draw: st.DrawFn, number: int) -> Observation:
    pairs = draw(st.lists(st.tuples(path, path).filter(lambda pair: pair[0] != pair[1]), max_size=1))
    renames = tuple(Rename(old, new) for old, new in pairs) if draw(st.integers(0, 3)) == 0 else ()
    moved = {name for rename in renames for name in (rename.old, rename.new)}
    deleted = tuple(p for p in draw(several) if p not in moved)[:1] if draw(st.integers(0, 3)) == 0 else ()
    modified = tuple(p for p in draw(several) if p not in moved and p not in deleted)
    turn = draw(st.sampled_from(["", "", "t1", "t2"]))
    return Observation(
        id=f"o{number}",
        session=draw(st.sampled_from(["s1", "s2"])),
        at=HOUR / 8 * draw(st.integers(1, 60)),
        actor=draw(st.sampled_from(["ann", "bo"])),
        title=draw(st.sampled_from(["Fix login", "支付 timeout", "Cart total"])),
        type=draw(st.sampled_from(["change", "change", "change", "snapshot"])),
        concepts=draw(st.sampled_from([(), ("auth",), ("auth", "payment")])),
        branch=draw(st.sampled_from([None, "main", "login"])),
        files_read=draw(several),
        files_modified=modified,
        files_added=modified[:1] if draw(st.integers(0, 3)) == 0 else (),
        files_deleted=deleted,
        renames=renames,
        turn=turn,
        reference=draw(st.sampled_from([None, "sha"])) if turn == "" else None,
        provisional=draw(st.booleans()),
    )


class Told:
    """A journal and its derived file, told things in any order, and the work in memory beside it."""

    def __init__(self) -> None:
        self.journal, self.database = Journal(None), open_derived(None)
        OPENED.extend((self.journal, self.database))
        self.postings = Postings(self.database, Chronicler().at)
        self.ids: list[str] = []
        self.count = 0

    def happen(self, data: st.DataObject) -> None:
        """Let one thing happen that is possible now."""
        match data.draw(st.sampled_from(["arrive", "arrive", "told anew", "forgotten"])):
            case "told anew" if self.ids:
                anew = data.draw(observation(0))
                id = data.draw(st.sampled_from(self.ids))
                self.journal.captured.settle(
                    Batch(observations=[replace(anew, id=id, provisional=True)]), 0.0
                )
            case "forgotten" if self.ids:
                id = data.draw(st.sampled_from(self.ids))
                self.ids.remove(id)
                self.journal.forget(id, 0.0)
            case _:
                many = data.draw(st.integers(1, 4))
                made = [data.draw(observation(self.count + number)) for number in range(many)]
                self.count += many
                self.ids += [one.id for one in made]
                self.journal.append(made, 0.0)
        catch_up(self.journal, self.database)


def held(view: View) -> Chronicle:
    with view.chronicle() as chronicle:
        assert chronicle is not None
        return chronicle


def content(chronicle: Chronicle) -> dict[str, Any]:
    """All that a chronicle holds; what stayed empty after something was taken out is left out."""

    def plain(value: Any) -> Any:
        if isinstance(value, Trail):
            return {name: getattr(value, name) for name in Trail.__slots__ if name not in ("heat", "words")}
        if isinstance(value, dict):
            items = ((key, plain(each)) for key, each in value.items())
            return {key: each for key, each in items if each not in ({}, [], 0)}
        return value

    own = {
        name: plain(value)
        for name, value in vars(chronicle).items()
        if name not in ("_path_words", "_words_by_path", "words")
    }
    return own | {"words": plain(vars(chronicle.words))}


def assert_same(view: View) -> None:
    """Hold every answer of the chronicle against the view's, and the chronicle against one made afresh."""
    chronicle = held(view)
    ids = [id for (id,) in view.connection.execute("SELECT id FROM file")]
    files = view.files(ids)
    assert {file: (trail.path, trail.alive) for file, trail in chronicle.files.items()} == {
        file: (found.path, found.alive) for file, found in files.items()
    }
    now = 100 * HOUR if view.as_of == math.inf else view.as_of
    for file in files:
        assert replace(chronicle.history(file), path="") == view.history(file)
    assert chronicle.heat(files, now) == view.heat(files, now)
    profiles = view.profiles(files)
    assert chronicle.profiles(files) == profiles
    concepts = {concept for profile in profiles.values() for concept in profile}
    assert chronicle.frequencies(concepts) == view.frequencies(concepts)
    for id, name in view.connection.execute("SELECT id, name FROM actor").fetchall():
        assert chronicle.recent_of(id) == view.recent_of(name)
    assert chronicle.total() == view.total()
    numbers = [occasion.key for occasion in chronicle.occasions]
    committed = {key for place, key in enumerate(numbers) if chronicle.is_committed(place)}
    assert committed == view.committed(numbers)
    afresh = View(view.connection, view.as_of, Chronicler().at)
    assert content(chronicle) == content(held(afresh))


@pytest.mark.slow
@settings(max_examples=20)
@given(st.data())
def test_whatever_happened_the_work_in_memory_says_what_the_file_says(data: st.DataObject) -> None:
    told = Told()
    for _ in range(data.draw(st.integers(1, 8))):
        told.happen(data)
        if data.draw(st.booleans()):
            with told.postings.view() as view:
                assert_same(view)
        if data.draw(st.booleans()):
            with told.postings.view(HOUR / 8 * data.draw(st.integers(0, 61))) as view:
                assert_same(view)
    with told.postings.view() as view:
        assert_same(view)
    assert told.count >= len(told.ids)


def made(number: int, **more: Any) -> Observation:
    fields: dict[str, Any] = {
        "id": f"o{number}",
        "session": f"s{number}",
        "at": HOUR * number,
        "actor": "ann",
    }
    return Observation(**fields | {"title": "Login", "files_modified": ("a.py", "b.py")} | more)


def entries(observations: Sequence[Observation]) -> list[Entry]:
    return [Entry(number, one, number) for number, one in enumerate(observations, start=1)]


def test_a_commit_told_before_its_turn_adds_its_word_to_the_turn() -> None:
    told = Told()
    turn = made(2, turn="t", actor="agent", files_modified=("a.py",), concepts=("auth",))
    commit = made(1, reference="sha", at=turn.at - 60.0, files_modified=("a.py",), concepts=("payment",))
    told.journal.append([commit, turn], 0.0)
    catch_up(told.journal, told.database)
    for moment in (commit.at, turn.at, None):
        with told.postings.view(moment) as view:
            assert_same(view)
            assert held(view).total() == (0 if moment == commit.at else 1)


@pytest.fixture
def on_disk(tmp_path: Path) -> Database:
    database = open_derived(tmp_path / "derived.db")
    OPENED.append(database)
    return database


def test_a_question_of_an_older_state_is_answered_from_that_state(on_disk: Database) -> None:
    postings = Postings(on_disk, Chronicler().at)
    told = entries([made(1), made(3), made(2, files_modified=("a.py", "c.py"))])
    project(on_disk, told[:2])
    with postings.view() as before:
        assert_same(before)
        project(on_disk, told[2:])
        with postings.view() as after:
            for view in (after, before, after, before):
                assert_same(view)
                assert held(view).total() == (3 if view is after else 2)


def test_another_file_is_read_afresh(tmp_path: Path) -> None:
    followed = Chronicler()
    totals = []
    for number in (1, 2):
        database = open_derived(tmp_path / f"{number}.db")
        OPENED.append(database)
        adopt(database, 7)
        project(database, entries([made(each) for each in range(1, 2 + number)]))
        with Postings(database, followed.at).view() as view:
            assert_same(view)
            totals.append(held(view).total())
    assert totals == [2, 3]


def test_what_is_forgotten_of_the_marks_is_read_afresh(
    on_disk: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphmem.tide._KEPT", 2)
    postings = Postings(on_disk, Chronicler().at)
    for entry in entries([made(number) for number in (5, 4, 3, 2, 1)]):
        project(on_disk, [entry])
        if entry.seq in (1, 5):
            with postings.view() as view:
                assert_same(view)
                assert held(view).total() == entry.seq


@pytest.mark.parametrize("moment", [None, 6.5 * HOUR, 2.5 * HOUR])
def test_only_the_latest_work_is_held(
    moment: float | None, on_disk: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chronicler, "WINDOW", 4)
    postings = Postings(on_disk, Chronicler().at)
    renamed = made(1, files_modified=("a.py",), renames=(Rename("old.py", "new.py"),))
    project(on_disk, entries([renamed, *(made(number) for number in range(2, 9))]))
    with postings.view() as view:
        held(view)
    with postings.view(moment) as view:
        chronicle = held(view)
        named = view.file("new.py")
        assert named is not None and chronicle.files[named.id].path == "new.py"
        assert chronicle.total() == min(4, view.total())
        assert [step.at for step in (chronicle.last(),) if step] == [max(view_times(view))]


def view_times(view: View) -> list[float]:
    return [
        at for (at,) in view.connection.execute("SELECT at FROM observation WHERE at <= ?", (view.as_of,))
    ]


@pytest.fixture
def slow_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chronicler, "AT_ONCE", 2)
    monkeypatch.setattr(chronicler, "_LONGEST_WAIT", 60.0)


class Reading:
    """A chronicler that reads in the background once the gate is open."""

    def __init__(self, database: Database) -> None:
        self.gate = threading.Event()
        self.database = database
        self.chronicler = Chronicler(self.views)

    @contextmanager
    def views(self) -> Iterator[View]:
        self.gate.wait()
        with Postings(self.database).view() as view:
            yield view

    def view(self, patience: float) -> AbstractContextManager[View]:
        return Postings(self.database, partial(self.chronicler.at, patience=patience)).view()


@pytest.mark.usefixtures("slow_start")
def test_much_work_is_read_in_the_background(on_disk: Database) -> None:
    project(on_disk, entries([made(number) for number in range(1, 9)]))
    reading = Reading(on_disk)
    with reading.view(0.0) as view, view.chronicle() as chronicle:
        assert chronicle is None
    reading.gate.set()
    with reading.view(60.0) as view:
        assert_same(view)
    project(on_disk, [Entry(9, made(9), 9)])
    with reading.view(0.0) as view:
        assert held(view).total() == 9
    reading.chronicler.close()


@pytest.mark.usefixtures("slow_start")
def test_closing_ends_the_reading_and_nothing_is_read_after(on_disk: Database) -> None:
    project(on_disk, entries([made(number) for number in range(1, 400)]))
    reading = Reading(on_disk)
    with reading.view(0.0) as view, view.chronicle() as chronicle:
        assert chronicle is None
    reading.gate.set()
    reading.chronicler.close()
    with reading.view(60.0) as view, view.chronicle() as chronicle:
        assert chronicle is None
    assert all(thread.name != "chronicle" for thread in threading.enumerate())


def test_parts_of_one_moment_are_counted_under_the_one_that_arrived_first() -> None:
    told = Told()
    parts = [made(1, id=id, at=HOUR, turn="t", files_modified=(f"{id}.py",)) for id in ("z", "a")]
    told.journal.append([parts[0], made(2, at=HOUR), parts[1]], 0.0)
    catch_up(told.journal, told.database)
    with told.postings.view() as view:
        assert_same(view)
        assert [len(occasion.edited) for occasion in held(view).occasions] == [2, 2]


def test_equals_do_not_change_places_when_steps_were_taken_out(on_disk: Database) -> None:
    postings = Postings(on_disk, Chronicler().at)
    every = [
        made(number, files_modified=(f"x/{number % 40}.py", f"x/{number % 7}.py")) for number in range(1, 90)
    ]
    every[49] = made(50, renames=(Rename("x/3.py", "y/3.py"),))
    project(on_disk, entries(every))
    for moment in (89.5 * HOUR, 20.5 * HOUR, 3.5 * HOUR, 60.5 * HOUR):
        with postings.view(moment) as view:
            wound = candidates_of(held(view))
            assert wound == candidates_of(held(View(view.connection, moment, Chronicler().at)))
            assert wound


def candidates_of(chronicle: Chronicle) -> list[int]:
    question = Question(None, "x/new.py", 90 * HOUR, words=("login",))
    hearing = Hearing(FileHistory(-1), signals(()), ())
    return candidates(chronicle, question, hearing)


def test_many_may_ask_while_more_arrives(on_disk: Database) -> None:
    postings = Postings(on_disk, Chronicler().at)
    told = entries([made(number, files_modified=(f"{number % 5}.py", "a.py")) for number in range(1, 60)])
    project(on_disk, told[:20])
    wrong: list[tuple[int, int]] = []

    def ask() -> None:
        for _ in range(30):
            with postings.view() as view, view.chronicle() as chronicle:
                assert chronicle is not None
                if (found := chronicle.total()) != view.total():
                    wrong.append((found, view.total()))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for entry in reversed(told[20:]):
        project(on_disk, [entry])
    for thread in threads:
        thread.join()
    with postings.view() as view:
        assert_same(view)
    assert wrong == []
