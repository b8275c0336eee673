"""One SQLite file: its version, transactions, readers beside the writer, closing, and faults as sentences."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path

import pytest

from graphmem.database import DamageError, Database, Durability, NewerFormatError, storage_error
from graphmem.errors import StorageError

NOTES = "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL)"
WAIT = 10.0
ROOT = Path(__file__).resolve().parents[2]


def opened(path: Path | None, *migrations: str) -> Database:
    return Database(path, migrations or (NOTES,), Durability.FULL)


def add(database: Database, text: str) -> None:
    with database.write() as connection:
        connection.execute("INSERT INTO note (text) VALUES (?)", (text,))


def notes(database: Database) -> list[str]:
    with database.read() as connection:
        return [row[0] for row in connection.execute("SELECT text FROM note ORDER BY id")]


@pytest.fixture(params=["file", "memory"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    made = opened(tmp_path / "notes.db" if request.param == "file" else None)
    yield made
    made.close()


# ---- versions ----------------------------------------------------------------------------------


def test_an_older_file_is_lifted_step_by_step(tmp_path: Path) -> None:
    old = opened(tmp_path / "notes.db")
    add(old, "kept")
    old.close()
    new = opened(tmp_path / "notes.db", NOTES, "ALTER TABLE note ADD COLUMN extra TEXT DEFAULT 'new'")
    with new.read() as connection:
        assert connection.execute("SELECT text, extra FROM note").fetchall() == [("kept", "new")]
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)
    new.close()


def test_a_file_of_a_newer_version_is_refused_untouched(tmp_path: Path) -> None:
    opened(tmp_path / "notes.db", NOTES, "SELECT 1").close()
    before = (tmp_path / "notes.db").read_bytes()
    with pytest.raises(
        NewerFormatError, match=r"newer GraphMem \(format 2, this one reads up to 1\); install"
    ):
        opened(tmp_path / "notes.db")
    assert (tmp_path / "notes.db").read_bytes() == before


def test_a_migration_that_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    opened(tmp_path / "notes.db").close()
    with pytest.raises(StorageError):
        opened(tmp_path / "notes.db", NOTES, "CREATE TABLE other (id INTEGER); SELECT * FROM nowhere")
    again = opened(tmp_path / "notes.db")
    with again.read() as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("note",)]
    again.close()


# ---- transactions ------------------------------------------------------------------------------


def test_what_fails_in_the_middle_leaves_nothing(database: Database) -> None:
    with pytest.raises(ZeroDivisionError), database.write() as connection:
        connection.execute("INSERT INTO note (text) VALUES ('half')")
        raise ZeroDivisionError
    add(database, "whole")
    assert notes(database) == ["whole"]


def test_a_reader_sees_one_state_while_others_write(tmp_path: Path) -> None:
    database = opened(tmp_path / "notes.db")
    add(database, "one")
    with database.read() as connection:
        count = "SELECT COUNT(*) FROM note"
        assert connection.execute(count).fetchone() == (1,)
        add(database, "two")
        assert connection.execute(count).fetchone() == (1,)
    assert notes(database) == ["one", "two"]
    database.close()


def test_threads_write_and_read_at_once(database: Database) -> None:
    def work(number: int) -> int:
        add(database, f"note {number}")
        return len(notes(database))

    with ThreadPoolExecutor(8) as pool:
        seen = list(pool.map(work, range(80)))
    assert sorted(notes(database)) == sorted(f"note {number}" for number in range(80))
    assert max(seen) == 80


def test_a_file_in_use_by_another_program_is_said(tmp_path: Path) -> None:
    database = opened(tmp_path / "notes.db")
    with database.write() as connection:
        connection.execute("PRAGMA busy_timeout=20")
    other = sqlite3.connect(tmp_path / "notes.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageError, match="in use by another program; end it"):
        add(database, "never")
    other.execute("ROLLBACK")
    other.close()
    add(database, "now")
    assert notes(database) == ["now"]
    database.close()


# ---- closing -----------------------------------------------------------------------------------


def test_closing_waits_for_the_questions_under_way(tmp_path: Path) -> None:
    database = opened(tmp_path / "notes.db")
    add(database, "one")
    reading, ends = threading.Event(), threading.Event()
    answers: list[object] = []

    def ask() -> None:
        with database.read() as connection:
            reading.set()
            ends.wait(20)
            answers.append(connection.execute("SELECT text FROM note").fetchone())

    asking = threading.Thread(target=ask)
    asking.start()
    assert reading.wait(20)
    closing = threading.Thread(target=database.close)
    closing.start()
    closing.join(0.2)
    assert closing.is_alive()
    ends.set()
    closing.join(20)
    asking.join(20)
    assert answers == [("one",)]
    assert not closing.is_alive()
    assert os.listdir(tmp_path) == ["notes.db"], "the last connection took the log along"


def test_a_closed_file_says_so(database: Database) -> None:
    database.close()
    database.close()
    with pytest.raises(StorageError, match="is closed; open"):
        notes(database)
    with pytest.raises(StorageError, match="is closed; open"):
        add(database, "late")


def test_nothing_stays_open(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for _ in range(5):
        database = opened(tmp_path / "notes.db")
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(add, repeat(database, 12), map(str, range(12))))
            list(pool.map(notes, repeat(database, 12)))
        database.close()
    (tmp_path / "broken.db").write_bytes(b"no database" * 1_000)
    for _ in range(5):
        with pytest.raises(DamageError):
            opened(tmp_path / "broken.db")
    if before:
        assert len(os.listdir("/proc/self/fd")) <= before


def test_the_log_can_be_emptied(tmp_path: Path) -> None:
    database = opened(tmp_path / "notes.db")
    add(database, "x" * 5_000)
    assert (tmp_path / "notes.db-wal").stat().st_size > 5_000
    size = database.size_bytes()
    database.empty_log()
    assert (tmp_path / "notes.db-wal").stat().st_size == 0
    assert 5_000 < database.size_bytes() < size
    database.close()
    database.empty_log()


def test_a_log_that_is_being_read_is_emptied_by_whoever_leaves_last(tmp_path: Path) -> None:
    database = opened(tmp_path / "notes.db")
    log = tmp_path / "notes.db-wal"
    with database.read() as outer:
        outer.execute("SELECT COUNT(*) FROM note").fetchone()
        add(database, "zebrafish")
        with database.read() as inner:
            inner.execute("SELECT COUNT(*) FROM note").fetchone()
            database.empty_log()
            assert b"zebrafish" in log.read_bytes()
        assert b"zebrafish" in log.read_bytes()
    assert log.stat().st_size == 0
    database.close()


def test_a_log_that_is_being_written_meanwhile_is_emptied_by_the_writer(tmp_path: Path) -> None:
    database = opened(tmp_path / "notes.db")
    log = tmp_path / "notes.db-wal"
    leaves, written = threading.Event(), threading.Event()

    def read() -> None:
        with database.read() as connection:
            connection.execute("SELECT COUNT(*) FROM note").fetchone()
            written.set()
            assert leaves.wait(WAIT)

    reader = threading.Thread(target=read)
    reader.start()
    assert written.wait(WAIT)
    add(database, "zebrafish")
    database.empty_log()
    with database.write() as connection:
        connection.execute("SELECT COUNT(*) FROM note").fetchone()
        leaves.set()
        reader.join(WAIT)
        assert b"zebrafish" in log.read_bytes()
    assert log.stat().st_size == 0
    database.close()


# ---- faults ------------------------------------------------------------------------------------


def test_a_full_disk_is_said_and_loses_nothing(tmp_path: Path) -> None:
    database = opened(tmp_path / "notes.db")
    add(database, "before")
    with database.write() as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count={pages + 1}")
    with pytest.raises(StorageError, match=r"disk that holds .*notes\.db is full; free some space"):
        add(database, "x" * 100_000)
    assert notes(database) == ["before"]
    with database.write() as connection:
        connection.execute("PRAGMA max_page_count=100000")
    add(database, "after")
    assert notes(database) == ["before", "after"]
    database.close()


LIMITED = """
import resource, signal, sys
from pathlib import Path
from graphmem.database import Database, Durability
from graphmem.errors import StorageError

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
database = Database(Path(sys.argv[1]), (sys.argv[2],), Durability.FULL)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
stored = 0
try:
    while True:
        with database.write() as connection:
            connection.execute("INSERT INTO note (text) VALUES (?)", (str(stored) * 4_000,))
        stored += 1
except StorageError as fault:
    print(stored, fault)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
with database.write() as connection:
    connection.execute("INSERT INTO note (text) VALUES ('there is room again')")
database.close()
"""


def test_a_file_that_may_not_grow_keeps_what_was_acknowledged(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path / "notes.db"), NOTES],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    stored, _, sentence = done.stdout.strip().partition(" ")
    assert "notes.db" in sentence and ("is full" in sentence or "reports a fault" in sentence)
    database = opened(tmp_path / "notes.db")
    assert notes(database) == [*(str(n) * 4_000 for n in range(int(stored))), "there is room again"]
    database.close()


def test_a_folder_in_the_way_is_said(tmp_path: Path) -> None:
    (tmp_path / "notes.db").mkdir()
    with pytest.raises(StorageError, match="can't be written; check the folder's permissions"):
        opened(tmp_path / "notes.db")


@pytest.mark.skipif(os.geteuid() == 0, reason="platform: root may write everywhere")
def test_a_file_that_may_not_be_written_is_said(tmp_path: Path) -> None:
    opened(tmp_path / "notes.db").close()
    (tmp_path / "notes.db").chmod(0o400)
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(StorageError, match="can't be written"):
            add(opened(tmp_path / "notes.db"), "never")
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize(("start", "end"), [(0, 100), (4096, 12_288)])
def test_damage_is_told_from_other_faults(tmp_path: Path, start: int, end: int) -> None:
    path = tmp_path / "notes.db"
    database = opened(path)
    with database.write() as connection:
        connection.executemany("INSERT INTO note (text) VALUES (?)", [(f"{n}" * 500,) for n in range(50)])
    assert database.sound()
    database.close()
    content = bytearray(path.read_bytes())
    content[start:end] = random.Random(1).randbytes(end - start)
    path.write_bytes(content)
    try:
        broken = opened(path)
    except DamageError as fault:
        assert "notes.db is damaged" in str(fault)
        return
    assert not broken.sound()
    with pytest.raises(DamageError):
        notes(broken)
    broken.close()


def test_every_fault_is_one_sentence_with_a_remedy(tmp_path: Path) -> None:
    for code in range(1, 27):
        fault = sqlite3.OperationalError("as SQLite says it")
        fault.sqlite_errorcode = code
        sentence = str(storage_error(tmp_path / "notes.db", fault))
        assert "notes.db" in sentence
        assert "; " in sentence and sentence.endswith(".")
        assert "\n" not in sentence
