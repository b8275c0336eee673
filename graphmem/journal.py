"""Owns the truth of one project: every acknowledged observation, what was forgotten, and import cursors.

It is not an index: questions are answered from `derived`, which can be deleted and rebuilt from here.
A write that returned is on the disk. Rows are numbered in order of arrival (`seq`); one that is told anew
keeps its number and is followed by the number of its last telling (`told`).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from graphmem import confirmations, corpora
from graphmem.captured import MIGRATION, Captured, erase
from graphmem.confirmations import Confirmations, erase_verdicts
from graphmem.corpora import Corpora
from graphmem.database import Database, Durability, chunked
from graphmem.entries import Entries, Stored, put_sightings
from graphmem.errors import NotFoundError
from graphmem.ledger import Ledger
from graphmem.model import Observation
from graphmem.record import decode

__all__ = ["MIGRATIONS", "Entry", "Head", "Journal", "Removal", "Stored", "unknown_observation"]

MIGRATIONS = (
    """
    CREATE TABLE observation (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        at REAL NOT NULL,
        received_at REAL NOT NULL,
        body TEXT
    );
    CREATE TABLE removal (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        seq INTEGER NOT NULL REFERENCES observation (seq),
        at REAL NOT NULL
    );
    CREATE TABLE import_cursor (source TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE sighting (path TEXT PRIMARY KEY, at REAL NOT NULL) WITHOUT ROWID;
    CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    """,
    """
    CREATE TABLE edge (
        number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, source_type TEXT NOT NULL,
        source TEXT NOT NULL, target_type TEXT NOT NULL, target TEXT NOT NULL, at REAL NOT NULL
    );
    CREATE INDEX edge_source ON edge (source_type, source);
    CREATE INDEX edge_target ON edge (target_type, target);
    CREATE TABLE verdict (
        number INTEGER PRIMARY KEY AUTOINCREMENT, edge TEXT NOT NULL REFERENCES edge (id),
        verdict TEXT NOT NULL, relation TEXT, direction TEXT, note TEXT NOT NULL, by TEXT NOT NULL,
        at REAL NOT NULL, together INTEGER NOT NULL
    );
    CREATE INDEX verdict_edge ON verdict (edge, number);
    CREATE TABLE checkpoint (name TEXT PRIMARY KEY, at REAL NOT NULL, body TEXT NOT NULL) WITHOUT ROWID;
    """,
    MIGRATION,
    confirmations.MIGRATION,
    corpora.MIGRATION,
)
_CHUNK = 500


@dataclass(frozen=True, slots=True)
class Entry:
    """A journalled observation with its number, and that of its last telling."""

    seq: int
    observation: Observation
    told: int


@dataclass(frozen=True, slots=True)
class Removal:
    """A forgotten observation; `number` counts removals, `seq` names the observation's row."""

    number: int
    seq: int


class Head(NamedTuple):
    """The numbers of the last telling, removal, minted edge and verdict; 0 for none."""

    entries: int = 0
    removals: int = 0
    minted: int = 0
    verdicts: int = 0


class Journal:
    """The journal of one project; `ledger` is the graph's part of it, `captured` that of live capture.

    `confirmations` are verdicts on observations, `corpora` named filters.

    Raises:
        StorageError: newer version, damage, disk full, not writable.
    """

    def __init__(self, path: Path | None) -> None:
        self._database = Database(path, MIGRATIONS, Durability.FULL)
        self.ledger = Ledger(self._database)
        self.captured = Captured(self._database)
        self.confirmations = Confirmations(self._database)
        self.corpora = Corpora(self._database)

    def append(
        self,
        observations: Sequence[Observation],
        received_at: float,
        cursor: tuple[str, str] | None = None,
        sighted: Iterable[str] = (),
        unsighted: Iterable[str] = (),
    ) -> list[Stored]:
        """Store the new ones durably, in one transaction with what belongs to them.

        Args:
            observations: in order of arrival.
            received_at: epoch seconds.
            cursor: `(source, value)`, where an import stands once these are stored.
            sighted: paths seen on the disk now; the first sighting of a path stays.
            unsighted: paths whose sightings no longer count.
        """
        with self._database.write() as connection:
            entries = Entries(connection, received_at)
            outcome = [entries.add(observation) for observation in observations]
            if cursor is not None:
                connection.execute("INSERT OR REPLACE INTO import_cursor VALUES (?, ?)", cursor)
            put_sightings(connection, received_at, list(sighted), list(unsighted))
        return outcome

    def forget(self, id: str, at: float, unseen: Iterable[str] = ()) -> None:
        """Erase an observation and leave a tombstone; see `forget_all`."""
        self.forget_all((id,), at, unseen)

    def forget_all(self, ids: Sequence[str], at: float, unseen: Iterable[str] = ()) -> None:
        """Erase observations, all or none, and leave tombstones: their ids are duplicates from now on.

        Args:
            ids: the observations', each once.
            at: epoch seconds.
            unseen: paths that only these observations named; that they were seen on the disk, and notes about
                them, are erased too. With a provisional one goes what is kept of its session's open turn.

        Raises:
            NotFoundError: there is no such observation, or it is forgotten already.
        """
        with self._database.write() as connection:
            rows = chunked(
                connection,
                "SELECT id, seq, at, received_at, told, body FROM observation"
                " WHERE body IS NOT NULL AND id IN ({})",
                ids,
            )
            rows.sort(key=lambda row: int(row[1]))
            missing = set(ids) - {row[0] for row in rows}
            if missing:
                raise unknown_observation(min(missing))
            numbers = [row[1] for row in rows]
            gone, paths = [decode(row[0], row[2], row[-1]) for row in rows], list(unseen)
            # Only what is taken out gives its pages back; a row that shrinks leaves a gap in its own.
            connection.executemany("DELETE FROM observation WHERE seq = ?", [(seq,) for seq in numbers])
            connection.executemany(
                "INSERT INTO observation (id, seq, at, received_at, told) VALUES (?, ?, ?, ?, ?)",
                [row[:-1] for row in rows],
            )
            connection.executemany(
                "INSERT INTO removal (seq, at) VALUES (?, ?)", [(seq, at) for seq in numbers]
            )
            erase_verdicts(connection, numbers)
            put_sightings(connection, at, [], paths)
            erase(connection, {each.session for each in gone if each.provisional}, paths)
        self._database.empty_log()

    def get(self, id: str) -> Observation:
        """Return one observation.

        Raises:
            NotFoundError: there is no such observation, or it is forgotten.
        """
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT id, at, body FROM observation WHERE id = ? AND body IS NOT NULL", (id,)
            ).fetchone()
        if row is None:
            raise unknown_observation(id)
        return decode(*row)

    def body_sizes(self) -> dict[int, int]:
        """Return the bytes of each living observation by its number."""
        with self._database.read() as connection:
            return dict(
                connection.execute(
                    "SELECT seq, LENGTH(CAST(body AS BLOB)) FROM observation WHERE body IS NOT NULL"
                ).fetchall()
            )

    def holds(self, id: str) -> bool:
        """Return whether the id is taken, by a forgotten observation too."""
        with self._database.read() as connection:
            return connection.execute("SELECT 1 FROM observation WHERE id = ?", (id,)).fetchone() is not None

    def numbered(self, numbers: Iterable[int]) -> dict[int, Observation]:
        """Return the observations of these row numbers; forgotten ones are left out."""
        return dict(self.each(list(numbers)))

    def each(self, numbers: Sequence[int]) -> Iterator[tuple[int, Observation]]:
        """Yield number and observation of these rows in the order given, few of them in memory at a time."""
        for start in range(0, len(numbers), _CHUNK):
            chunk = numbers[start : start + _CHUNK]
            with self._database.read() as connection:
                rows = connection.execute(
                    "SELECT seq, id, at, body FROM observation WHERE body IS NOT NULL"
                    f" AND seq IN ({','.join('?' * len(chunk))})",
                    chunk,
                ).fetchall()
            found = {row[0]: row[1:] for row in rows}
            for seq in chunk:
                if seq in found:
                    yield seq, decode(*found[seq])

    def entries_after(self, told: int, limit: int) -> list[Entry]:
        """Return up to `limit` living entries told after `told`, in the order of their last telling."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT seq, id, at, body, told FROM observation WHERE told > ? AND body IS NOT NULL"
                " ORDER BY told LIMIT ?",
                (told, limit),
            ).fetchall()
        return [Entry(row[0], decode(row[1], row[2], row[3]), row[4]) for row in rows]

    def removals_after(self, number: int) -> list[Removal]:
        """Return the removals above `number`, oldest first."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT number, seq FROM removal WHERE number > ? ORDER BY number", (number,)
            ).fetchall()
        return [Removal(*row) for row in rows]

    def head(self) -> Head:
        """Return the numbers of the last living telling, and of the last of everything else that is left."""
        return self._last("FROM observation WHERE body IS NOT NULL", "SELECT MAX(number) FROM edge")

    def written(self) -> Head:
        """Return the last numbers ever given, to what was forgotten or taken back too."""
        return self._last("FROM observation", "SELECT seq FROM sqlite_sequence WHERE name = 'edge'")

    def _last(self, entries: str, minted: str) -> Head:
        numbers = (
            f"SELECT MAX(told) {entries}",
            "SELECT MAX(number) FROM removal",
            minted,
            "SELECT MAX(number) FROM verdict",
        )
        with self._database.read() as connection:
            rows = [connection.execute(f"SELECT COALESCE(({number}), 0)").fetchone() for number in numbers]
        return Head(*(int(number) for (number,) in rows))

    def count(self) -> int:
        """Return the number of living observations."""
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT (SELECT COUNT(*) FROM observation) - (SELECT COUNT(*) FROM removal)"
            ).fetchone()
        return int(row[0])

    def cursor(self, source: str) -> str | None:
        """Return where the import of `source` stands, or None."""
        with self._database.read() as connection:
            row = connection.execute("SELECT value FROM import_cursor WHERE source = ?", (source,)).fetchone()
        return None if row is None else str(row[0])

    def sighted(self, paths: Sequence[str]) -> set[str]:
        """Return those of `paths` that were once seen on the disk."""
        with self._database.read() as connection:
            rows = chunked(connection, "SELECT path FROM sighting WHERE path IN ({})", paths)
        return {path for (path,) in rows}

    def setting(self, key: str) -> str | None:
        """Return a stored setting or None."""
        with self._database.read() as connection:
            row = connection.execute("SELECT value FROM setting WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def set_setting(self, key: str, value: str) -> None:
        """Store a setting."""
        with self._database.write() as connection:
            connection.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (key, value))

    def checkpoint(self, name: str) -> tuple[float, str] | None:
        """Return when (epoch seconds) and as what `name` was last kept, or None."""
        with self._database.read() as connection:
            row = connection.execute("SELECT at, body FROM checkpoint WHERE name = ?", (name,)).fetchone()
        return None if row is None else (float(row[0]), str(row[1]))

    def set_checkpoint(self, name: str, at: float, body: str) -> None:
        """Keep what a rebuild could not find again, such as the ids of modules; the last one stays."""
        with self._database.write() as connection:
            connection.execute("INSERT OR REPLACE INTO checkpoint VALUES (?, ?, ?)", (name, at, body))

    def empty_log(self) -> None:
        """Leave nothing of what was replaced or erased in the write-ahead log."""
        self._database.empty_log()

    def give_back(self, goes_on: Callable[[], bool]) -> bool:
        """Give pages that hold nothing back to the disk; see `Database.give_back`."""
        return self._database.give_back(goes_on)

    def identity(self) -> int:
        """Return the number that tells this journal from every other, drawn at the first call."""
        with self._database.write() as connection:
            connection.execute(
                "INSERT INTO setting VALUES ('identity', ?) ON CONFLICT (key) DO NOTHING",
                (str(secrets.randbits(62)),),
            )
            row = connection.execute("SELECT value FROM setting WHERE key = 'identity'").fetchone()
        return int(row[0])

    def size_bytes(self) -> int:
        """Return the size of the file in bytes."""
        return self._database.size_bytes()

    def close(self) -> None:
        """Close the file."""
        self._database.close()


def unknown_observation(id: str) -> NotFoundError:
    """Return the error for an id that is not in the journal."""
    return NotFoundError(f"There is no observation {id!r}; list them with `graphmem observations`.")
