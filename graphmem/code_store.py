"""Owns `code.db`: what the last reading of a project's code found, with its moment and commit.

It is not evidence, and no part of the truth: deleted, it is simply as if nobody had looked. It is not the
reading (`graphmem.imports`). Safe to share between threads.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection
from pathlib import Path

from graphmem.code_facts import Reading
from graphmem.database import DamageError, Database, Durability
from graphmem.errors import StorageError
from graphmem.imports import ImportGraph, Language, Unread

MIGRATIONS = (
    """
    CREATE TABLE reading (
        number INTEGER PRIMARY KEY CHECK (number = 1), at REAL NOT NULL, commit_id TEXT,
        took_ms REAL NOT NULL, elsewhere INTEGER NOT NULL
    );
    CREATE TABLE source (path TEXT PRIMARY KEY, language TEXT, unread TEXT) WITHOUT ROWID;
    CREATE TABLE import (importer TEXT NOT NULL, imported TEXT NOT NULL, PRIMARY KEY (importer, imported))
        WITHOUT ROWID;
    """,
)
NAME = "code.db"

log = logging.getLogger(__name__)


class CodeStore:
    """The last reading of one project; the file is made when there is one to keep."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self._lock = threading.RLock()
        self._database: Database | None = None
        self._reading: Reading | None = None
        self._loaded = False

    def reading(self) -> Reading | None:
        """Return the last reading, None where nobody has looked, or the file was damaged."""
        with self._lock:
            if not self._loaded:
                self._reading = self._load()
                self._loaded = True
            return self._reading

    def seen(self, one: str, other: str) -> bool | None:
        """Return whether either of two files imports the other, None where that is not known."""
        reading = self.reading()
        return None if reading is None else reading.graph.seen(one, other)

    def keep(self, reading: Reading) -> None:
        """Keep a reading in the place of the last one.

        Raises:
            StorageError: the file can't be written.
        """
        graph = reading.graph
        sources: list[tuple[str, str | None, str | None]]
        sources = [(path, language.value, None) for path, language in graph.read.items()]
        sources += [(path, None, reason.value) for path, reason in graph.unread.items()]
        with self._lock:
            with self._opened().write() as connection:
                for table in ("reading", "source", "import"):
                    connection.execute(f"DELETE FROM {table}")
                connection.execute(
                    "INSERT INTO reading VALUES (1, ?, ?, ?, ?)",
                    (reading.at, reading.commit, reading.took_ms, graph.elsewhere),
                )
                connection.executemany("INSERT INTO source VALUES (?, ?, ?)", sources)
                connection.executemany("INSERT INTO import VALUES (?, ?)", sorted(graph.pairs))
            self._reading, self._loaded = reading, True

    def forget(self, paths: Collection[str]) -> None:
        """Leave nothing of these paths in the file."""
        with self._lock:
            if not paths or self.reading() is None:
                return
            names = [(path,) for path in paths]
            with self._opened().write() as connection:
                connection.executemany("DELETE FROM source WHERE path = ?", names)
                connection.executemany("DELETE FROM import WHERE ?1 IN (importer, imported)", names)
            self._opened().empty_log()
            self._reading = self._load()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            database, self._database = self._database, None
            if database is not None:
                database.close()

    def _opened(self) -> Database:
        if self._database is None:
            try:
                self._database = Database(self._path, MIGRATIONS, Durability.NORMAL)
            except DamageError as fault:
                log.warning("%s It is made anew with the next reading of the code", fault)
                self._remove()
                self._database = Database(self._path, MIGRATIONS, Durability.NORMAL)
        return self._database

    def _remove(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)

    def _load(self) -> Reading | None:
        if not self._path.exists():
            return None
        try:
            with self._opened().read() as connection:
                row = connection.execute("SELECT at, commit_id, took_ms, elsewhere FROM reading").fetchone()
                sources = connection.execute("SELECT path, language, unread FROM source").fetchall()
                pairs = connection.execute("SELECT importer, imported FROM import").fetchall()
        except StorageError as fault:
            # Edges are answered all the same: what the code says of them is then unknown.
            log.warning("what was read of the code can't be told: %s", fault)
            if isinstance(fault, DamageError):
                self.close()
                self._remove()
            return None
        if row is None:
            return None
        at, commit, took_ms, elsewhere = row
        read = {path: Language(language) for path, language, _ in sources if language is not None}
        unread = {path: Unread(reason) for path, _, reason in sources if reason is not None}
        return Reading(ImportGraph(frozenset(pairs), read, unread, elsewhere), at, commit, took_ms)
