"""Owns one SQLite file: a single writer behind a lock, a small pool of readers, and its schema version.

It is not a schema: `journal` and `derived` bring theirs as migrations. Faults of the disk become errors
with a remedy here, so that nobody above reads SQLite's own words.
"""

from __future__ import annotations

import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import Any

from graphmem.errors import StorageError

_READERS = 4
_BUSY_MS = 5_000
_CACHE_KIB = 16_384
_DRAIN = 30.0
_CHUNK = 500
_INCREMENTAL = 2
_STEP_PAGES = 1_000


class Durability(StrEnum):
    """When a commit counts as done: on the disk, or as soon as the system has it."""

    FULL = "FULL"
    NORMAL = "NORMAL"


class Database:
    """One SQLite file in WAL mode, safe to share between threads.

    Args:
        path: the file, or None for a private database in memory.
        migrations: scripts; the n-th lifts the schema from version n-1 to n.
        durability: how far a commit goes before it returns.

    Raises:
        StorageError: the file belongs to a newer version, can't be opened, or is damaged.
    """

    def __init__(self, path: Path | None, migrations: Sequence[str], durability: Durability) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._free: list[sqlite3.Connection] = []
        self._lent = 0
        self._pool = threading.Condition()
        self._closed = False
        self._is_log_due = False
        with self._faults():
            self._writer = self._connect(durability)
            try:
                self._migrate(migrations)
            except BaseException:
                self._writer.close()
                raise

    def _connect(self, durability: Durability) -> sqlite3.Connection:
        name = ":memory:" if self.path is None else str(self.path)
        connection = sqlite3.connect(
            name, check_same_thread=False, isolation_level=None, cached_statements=256
        )
        try:
            connection.execute(f"PRAGMA busy_timeout={_BUSY_MS}")
            if self.path is not None and not (self.path.exists() and self.path.stat().st_size):
                # An older file is turned round when it first gives something back.
                connection.execute(f"PRAGMA auto_vacuum={_INCREMENTAL}")
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(f"PRAGMA synchronous={durability}")
            connection.execute(f"PRAGMA cache_size=-{_CACHE_KIB}")
            connection.execute("PRAGMA temp_store=MEMORY")
            connection.execute("PRAGMA secure_delete=ON")
        except BaseException:
            connection.close()
            raise
        return connection

    def _migrate(self, migrations: Sequence[str]) -> None:
        version = int(self._writer.execute("PRAGMA user_version").fetchone()[0])
        if version > len(migrations):
            raise NewerFormatError(
                f"{self.path} was written by a newer GraphMem (format {version}, this one reads up to "
                f"{len(migrations)}); install the newer version to use it."
            )
        for number in range(version, len(migrations)):
            self._writer.executescript(f"BEGIN;{migrations[number]};PRAGMA user_version={number + 1};COMMIT;")

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Yield the writer inside one transaction; committed on leaving, rolled back on an error."""
        with self._lock, self._faults():
            if self._closed:
                raise self._shut()
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise
        self._empty_log_due()

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Yield a reader that sees one consistent state; in memory, the writer itself behind its lock."""
        if self.path is None:
            with self._lock, self._faults():
                if self._closed:
                    raise self._shut()
                yield self._writer
            return
        with self._faults(), self._reader() as connection:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("COMMIT")

    @contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        with self._pool:
            if self._closed:
                raise self._shut()
            connection = self._free.pop() if self._free else None
            self._lent += 1
        try:
            if connection is None:
                connection = self._connect(Durability.NORMAL)
            yield connection
        finally:
            with self._pool:
                kept = connection is not None and not self._closed and len(self._free) < _READERS
                if connection is not None and kept:
                    self._free.append(connection)
            if connection is not None and not kept:
                connection.close()
            with self._pool:
                self._lent -= 1
                self._pool.notify_all()
            self._empty_log_due()

    def _shut(self) -> StorageError:
        return StorageError(f"{self.path or 'The memory'} is closed; open the memory again.")

    def sound(self) -> bool:
        """Return whether SQLite's quick check finds the file whole; reads all of it."""
        try:
            with self._lock:
                return bool(self._writer.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
        except sqlite3.DatabaseError:
            return False

    def size_bytes(self) -> int:
        """Return the size of the file in bytes, its write-ahead log included; 0 in memory."""
        if self.path is None:
            return 0
        parts = (self.path, self.path.with_name(self.path.name + "-wal"))
        return sum(part.stat().st_size for part in parts if part.exists())

    def empty_log(self) -> None:
        """Carry the write-ahead log into the file and cut it to nothing.

        While somebody reads in it that has to wait: then whoever reads or writes next does it on leaving.
        """
        with self._lock, self._faults():
            self._is_log_due = not (self._closed or self._cut_log())

    def _cut_log(self) -> bool:
        # Asked for at once, the cut would wait for a reader, and everybody who writes for that.
        _, length, carried = self._writer.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if length != carried:
            return False
        return not self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]

    def _empty_log_due(self) -> None:
        """Empty the log if that is due and nobody writes, who would do it otherwise."""
        if self._is_log_due and self._lock.acquire(blocking=False):
            try:
                # Whoever only read has no part in a disk that is full: the next one tries again.
                with suppress(StorageError):
                    self.empty_log()
            finally:
                self._lock.release()

    def give_back(self, goes_on: Callable[[], bool] = lambda: True) -> bool:
        """Give pages that hold nothing back to the disk, a few MiB at a time, so that others write between.

        A file from before this was possible is written anew once, in one go. It ends early when `goes_on`,
        asked before each step, says so; then False is returned, and what was given back stays so.

        Raises:
            StorageError: the disk is full, which a step needs a little of; the file is whole all the same.
        """
        if self.path is None:
            return True
        with self._lock, self._faults():
            if not self._closed and self._pragma("auto_vacuum") != _INCREMENTAL:
                if shutil.disk_usage(self.path.parent).free < 3 * self.size_bytes():
                    raise StorageError(
                        f"{self.path} can't be made smaller: that takes three times its size for a moment; "
                        "free some space on its disk and try again."
                    )
                self._writer.execute(f"PRAGMA auto_vacuum={_INCREMENTAL}")
                self._writer.execute("VACUUM")
        while goes_on():
            with self._lock, self._faults():
                if self._closed or not self._pragma("freelist_count"):
                    break
                self._writer.execute(f"PRAGMA incremental_vacuum({_STEP_PAGES})").fetchall()
            self.empty_log()
        else:
            return False
        self.empty_log()
        return True

    def _pragma(self, name: str) -> int:
        return int(self._writer.execute(f"PRAGMA {name}").fetchone()[0])

    def close(self) -> None:
        """Close every connection, questions under way first; a second call does nothing.

        The last connection to close removes the write-ahead log by its name: were it a straggler's, the log
        of a file that has taken the place of this one would be lost.
        """
        with self._pool:
            if self._closed:
                return
            self._closed = True
            readers, self._free = self._free, []
        for reader in readers:
            reader.close()
        with self._pool:
            self._pool.wait_for(lambda: self._lent == 0, _DRAIN)
        with self._lock:
            self._writer.close()

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as fault:
            raise storage_error(self.path, fault) from fault


def chunked(
    connection: sqlite3.Connection, query: str, values: Iterable[Any], first: Sequence[Any] = ()
) -> list[tuple[Any, ...]]:
    """Run a query with `IN ({})` over any number of values, each once, after those that come first."""
    distinct: Sequence[Any] = list(dict.fromkeys(values))
    rows: list[tuple[Any, ...]] = []
    for start in range(0, len(distinct), _CHUNK):
        chunk = distinct[start : start + _CHUNK]
        rows += connection.execute(query.format(",".join("?" * len(chunk))), (*first, *chunk)).fetchall()
    return rows


class NewerFormatError(StorageError):
    """A later version wrote the file."""


class DamageError(StorageError):
    """The content of the file at `path` is not what was written; a derived file can be rebuilt."""

    def __init__(self, message: str, path: Path | None) -> None:
        super().__init__(message)
        self.path = path


def storage_error(path: Path | None, fault: sqlite3.DatabaseError) -> StorageError:
    """Translate SQLite's fault into one sentence with the remedy."""
    code = getattr(fault, "sqlite_errorcode", None)
    primary = code & 0xFF if code is not None else None
    match primary:
        case sqlite3.SQLITE_FULL:
            return StorageError(f"The disk that holds {path} is full; free some space and try again.")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return StorageError(f"{path} can't be written; check the folder's permissions.")
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StorageError(f"{path} is in use by another program; end it and try again.")
        case sqlite3.SQLITE_IOERR:
            return StorageError(
                f"The disk that holds {path} reports a fault ({fault}); check it, then try again."
            )
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CONSTRAINT:
            return DamageError(f"{path} is damaged ({fault}); restore it from a backup.", path)
        case sqlite3.SQLITE_ERROR if str(fault).startswith(("no such table", "no such column")):
            return DamageError(
                f"{path} is another file than expected ({fault}); restore it from a backup.", path
            )
        case _:
            return StorageError(f"{path} could not be used ({fault}); run `graphmem doctor`.")
