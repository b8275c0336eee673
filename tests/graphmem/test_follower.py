"""derived.db follows the journal whatever becomes of it: lost, damaged, foreign, newer, killed, asked."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from graphmem.database import DamageError
from graphmem.errors import StorageError
from graphmem.follower import Follower
from graphmem.journal import Journal
from graphmem.model import Observation

ROOT = Path(__file__).resolve().parents[2]
WAIT = 20.0


def work(first: int, last: int) -> list[Observation]:
    return [
        Observation(id=f"o{n}", session=f"s{n % 7}", at=float(n), files_modified=(f"{n % 5}.py", "hub.py"))
        for n in range(first, last)
    ]


@contextmanager
def following(folder: Path) -> Iterator[tuple[Journal, Follower]]:
    journal = Journal(folder / "journal.db")
    try:
        follower = Follower(journal, folder / "derived.db")
        try:
            yield journal, follower
        finally:
            follower.close()
    finally:
        journal.close()


def store(journal: Journal, follower: Follower, first: int, last: int) -> None:
    journal.append(work(first, last), 1.0)
    follower.notify()
    assert follower.wait(WAIT)


def content(follower: Follower) -> list[object]:
    """What is in the derived file, by content."""
    queries = (
        "SELECT observation.id, at, session.name FROM observation JOIN session ON session.id = session",
        "SELECT path.name, seq, change FROM touch JOIN path ON path.id = touch.path",
        "SELECT rowid, paths FROM text",
    )
    with follower.view() as view:
        return [sorted(view.connection.execute(query).fetchall()) for query in queries]


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    """A folder with a journal of forty entries and its derived file, closed as it should be."""
    (tmp_path / "closed").mkdir()
    with following(tmp_path / "closed") as (journal, follower):
        store(journal, follower, 0, 40)
    return tmp_path / "closed"


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """The same folder as a process leaves it that is killed: both logs are there, no seal."""
    (tmp_path / "living").mkdir()
    with following(tmp_path / "living") as (journal, follower):
        store(journal, follower, 0, 40)
        shutil.copytree(tmp_path / "living", tmp_path / "killed")
    assert (tmp_path / "killed" / "derived.db-wal").stat().st_size
    return tmp_path / "killed"


def expected(folder: Path) -> list[object]:
    """What a rebuild of that journal gives."""
    fresh = folder.with_name(folder.name + "-fresh")
    shutil.copytree(folder, fresh, ignore=lambda _, names: [name for name in names if "derived" in name])
    with following(fresh) as (_, follower):
        assert follower.wait(WAIT)
        return content(follower)


def reopened(folder: Path) -> tuple[list[object], int]:
    """Open what lies there; return its content, and how many entries it took in since it was made."""
    with following(folder) as (_, follower):
        assert follower.wait(WAIT)
        return content(follower), follower.applied()


# ---- opening -----------------------------------------------------------------------------------


def test_a_start_after_a_good_end_carries_nothing_over(closed: Path) -> None:
    before = expected(closed)
    for _ in range(3):
        assert reopened(closed) == (before, 40)
    assert not list(closed.glob("*.damaged"))


def test_a_start_after_a_kill_loses_nothing_and_carries_nothing_over(killed: Path) -> None:
    assert reopened(killed) == (expected(killed), 40)
    assert not list(killed.glob("*.damaged"))


def test_a_start_after_a_kill_carries_over_what_was_not_seen_yet(killed: Path) -> None:
    journal = Journal(killed / "journal.db")
    journal.append(work(40, 55), 2.0)
    journal.close()
    assert reopened(killed) == (expected(killed), 55)


def lose(path: Path) -> None:
    path.unlink()


def lose_the_log(path: Path) -> None:
    path.with_name("derived.db-wal").unlink()


def lose_all(path: Path) -> None:
    for part in path.parent.glob("derived.db*"):
        part.unlink()


def cut_the_log(path: Path) -> None:
    log = path.with_name("derived.db-wal")
    os.truncate(log, log.stat().st_size // 2)


def scramble_the_log(path: Path) -> None:
    log = path.with_name("derived.db-wal")
    log.write_bytes(random.Random(3).randbytes(log.stat().st_size))


def scramble_the_head(path: Path) -> None:
    content = bytearray(path.read_bytes().ljust(4096, b"x"))
    content[:512] = random.Random(3).randbytes(512)
    path.write_bytes(content)


def scramble_the_middle(path: Path) -> None:
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 4096] = random.Random(3).randbytes(4096)
    path.write_bytes(content)


def make_empty(path: Path) -> None:
    os.truncate(path, 0)


def make_newer(path: Path) -> None:
    raw = sqlite3.connect(path)
    raw.execute("PRAGMA user_version = 77")
    raw.close()


def make_of_another_form(path: Path) -> None:
    raw = sqlite3.connect(path)
    raw.execute("UPDATE meta SET value = value + 1 WHERE key = 'schema'")
    raw.commit()
    raw.close()


def make_another_database(path: Path) -> None:
    lose_all(path)
    raw = sqlite3.connect(path)
    raw.execute("CREATE TABLE other (id INTEGER)")
    raw.execute("PRAGMA user_version = 1")
    raw.close()


def take_the_journals_place(path: Path) -> None:
    lose_all(path)
    shutil.copy(path.with_name("journal.db"), path)


def take_another_projects(path: Path) -> None:
    """One that follows another journal, not as far as this one."""
    other = path.parent.with_name("other")
    other.mkdir()
    with following(other) as (journal, follower):
        journal.append([Observation(id="theirs", session="s", at=1.0, files_modified=("theirs.py",))], 1.0)
        follower.notify()
        assert follower.wait(WAIT)
    lose_all(path)
    shutil.copy(other / "derived.db", path)


def run_ahead(path: Path) -> None:
    """One that followed this journal further than it now reaches, as when an old copy was put back."""
    further = path.parent.with_name("further")
    shutil.copytree(path.parent, further)
    with following(further) as (journal, follower):
        store(journal, follower, 40, 50)
    lose_all(path)
    shutil.copy(further / "derived.db", path)


HARMS = [
    lose,
    lose_all,
    scramble_the_head,
    make_empty,
    make_newer,
    make_of_another_form,
    make_another_database,
    take_the_journals_place,
    take_another_projects,
    run_ahead,
]


@pytest.mark.parametrize("harm", [*HARMS, scramble_the_middle])
def test_whatever_became_of_a_closed_file_the_answers_are_the_same(
    closed: Path, harm: Callable[[Path], None]
) -> None:
    harm(closed / "derived.db")
    assert reopened(closed) == (expected(closed), 40)
    assert reopened(closed) == (expected(closed.rename(closed.with_name("again"))), 40)


@pytest.mark.parametrize("harm", [*HARMS, lose_the_log, cut_the_log, scramble_the_log])
def test_whatever_became_of_a_killed_ones_file_the_answers_are_the_same(
    killed: Path, harm: Callable[[Path], None]
) -> None:
    harm(killed / "derived.db")
    found, _ = reopened(killed)
    assert found == expected(killed)


def test_one_damaged_copy_is_kept(closed: Path) -> None:
    for _ in range(3):
        scramble_the_head(closed / "derived.db")
        reopened(closed)
    assert [path.name for path in closed.glob("*.damaged")] == ["derived.db.damaged"]


def test_a_folder_in_the_way_is_said(closed: Path) -> None:
    lose_all(closed / "derived.db")
    (closed / "derived.db").mkdir()
    (closed / "derived.db" / "file").write_text("x")
    try:
        assert reopened(closed) == (expected(closed), 40)
    except StorageError as fault:
        assert "derived.db" in str(fault)


# ---- following ---------------------------------------------------------------------------------


def test_what_is_stored_is_seen_without_being_asked_for(
    tmp_path: Path, eventually: Callable[..., Any]
) -> None:
    with following(tmp_path) as (journal, follower):
        journal.append(work(0, 3), 1.0)
        follower.notify()

        def seen() -> bool:
            with follower.view() as view:
                return view.total() == 3

        assert eventually(seen)
        assert eventually(lambda: follower.lag() == 0)


def test_an_end_in_the_middle_is_taken_up_again(tmp_path: Path) -> None:
    with following(tmp_path) as (journal, follower):
        journal.append(work(0, 3_000), 1.0)
        follower.notify()
    with following(tmp_path) as (_, follower):
        assert follower.wait(WAIT)
        assert follower.applied() == 3_000, "no entry twice, none left out"


def test_a_closed_follower_answers_no_more_and_closes_twice(tmp_path: Path) -> None:
    with following(tmp_path) as (journal, follower):
        store(journal, follower, 0, 3)
        follower.close()
        with pytest.raises(StorageError, match="is closed"), follower.view():
            pass
        assert not follower.wait(0.1) or follower.lag() == 0


def test_while_it_is_rebuilt_it_says_how_far_it_is(closed: Path) -> None:
    journal = Journal(closed / "journal.db")
    journal.append(work(40, 3_000), 1.0)
    journal.close()
    lose_all(closed / "derived.db")
    with following(closed) as (_, follower):
        behind = follower.behind()
        assert behind is None or (behind[0] < 3_000 and behind[1] == 3_000)
        with follower.view() as view:
            assert view.total() == 3_000, "a question waits for the rebuild"
        assert follower.behind() is None


def test_questions_during_rebuilds_get_whole_answers(tmp_path: Path) -> None:
    with following(tmp_path) as (journal, follower):
        store(journal, follower, 0, 300)
        ended = threading.Event()

        def ask() -> set[int]:
            totals = set()
            while not ended.is_set():
                with follower.view() as view:
                    totals.add(view.total())
            return totals

        with ThreadPoolExecutor(4) as pool:
            asking = [pool.submit(ask) for _ in range(4)]
            for _ in range(6):
                follower.rebuild()
                assert follower.wait(WAIT)
            ended.set()
            assert [found.result() for found in asking] == [{300}] * 4
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "derived.db",
        "derived.db.damaged",
        "journal.db",
    ]


def test_damage_met_by_many_questions_is_rebuilt_once(tmp_path: Path) -> None:
    with following(tmp_path) as (journal, follower):
        store(journal, follower, 0, 300)
        before = content(follower)
        follower.wipe()
        raw = bytearray((tmp_path / "derived.db").read_bytes())
        raw[4096:] = random.Random(5).randbytes(len(raw) - 4096)
        (tmp_path / "derived.db").write_bytes(raw)

        def ask(_: int) -> bool:
            try:
                with follower.view() as view:
                    view.connection.execute("SELECT COUNT(*), SUM(at) FROM touch").fetchone()
            except DamageError:
                return True
            return False

        with ThreadPoolExecutor(6) as pool:
            assert any(pool.map(ask, range(12)))
        assert follower.wait(WAIT)
        assert content(follower) == before
        assert follower.applied() == 300


def test_a_damaged_journal_costs_no_answer_that_is_there_already(closed: Path) -> None:
    with following(closed) as (journal, follower):
        store(journal, follower, 40, 600)
    before = reopened(closed)
    raw = bytearray((closed / "journal.db").read_bytes())
    page = raw.index(b'"files_modified"') // 4096 * 4096
    raw[page : page + 4096] = b"\x5a" * 4096
    (closed / "journal.db").write_bytes(raw)
    with following(closed) as (journal, follower):
        for _ in range(3):
            with pytest.raises(DamageError, match=r"journal\.db is damaged"), follower.view():
                journal.entries_after(0, 1_000)
        assert (content(follower), follower.applied()) == before
    assert not list(closed.glob("derived.db.damaged"))


def test_forgotten_words_are_in_no_copy_and_no_log(tmp_path: Path) -> None:
    with following(tmp_path) as (journal, follower):
        store(journal, follower, 0, 5)
        journal.append([Observation(id="x", session="s", at=9.0, title="zebrafish", actor="quagga")], 1.0)
        follower.notify()
        assert follower.wait(WAIT)
        follower.rebuild()
        assert follower.wait(WAIT)
        assert b"zebrafish" in (tmp_path / "derived.db.damaged").read_bytes()
        journal.forget("x", 2.0)
        follower.notify()
        assert follower.wait(WAIT)
        follower.wipe()
        for path in tmp_path.iterdir():
            for word in (b"zebrafish", b"quagga"):
                assert word not in path.read_bytes(), path.name


FULL = """
import resource, signal, sys
from pathlib import Path
import graphmem.follower
from graphmem.errors import StorageError
from graphmem.follower import Follower
from graphmem.journal import Journal
from graphmem.model import Observation

graphmem.follower._PAUSES = (0.01, 0.02, 0.03)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
journal = Journal(Path(sys.argv[1]) / "journal.db")
follower = Follower(journal, Path(sys.argv[1]) / "derived.db")
NONE = resource.RLIM_INFINITY
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, NONE))
# Many names are little in the journal and much in the tables and indexes of the derived file.
files = [tuple(f"{n}/{part}.py" for part in range(60)) for n in range(40)]
made = [Observation(id=f"o{n}", session="s", at=float(n), files_modified=f) for n, f in enumerate(files)]
journal.append(made, 1.0)
follower.notify()
assert not follower.wait(20.0), "it can't be seen: the disk is full"
print(follower.lag() > 0)
resource.setrlimit(resource.RLIMIT_FSIZE, (NONE, NONE))
journal.append([Observation(id="last", session="s", at=99.0, files_modified=("last.py",))], 1.0)
follower.notify()
for _ in range(100):
    if follower.wait(20.0):
        break
print(follower.applied(), journal.count())
follower.close()
journal.close()
"""


@pytest.mark.slow
def test_a_full_disk_is_no_damage_and_following_goes_on_when_there_is_room(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "41", "41"]
    assert not list(tmp_path.glob("*.damaged")), "a full disk never triggers a rebuild"
