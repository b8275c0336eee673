"""Owns what live capture keeps in the journal: events taken, open turns, notes and how they turned out.

It is not what becomes of events (`assembly`, `recorder`) nor what a note says (`recall.note`). All of a batch
is stored in one transaction with the observations it led to, so that an event counts once whatever dies.

What counts as what: a note **helped** when a file it named was opened or changed after it in its turn. A turn
is **missed** when a note was given in it and, later in it, a file was changed that no note had named.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, NamedTuple

from graphmem.database import Database, chunked
from graphmem.entries import Entries, Stored, put_sightings
from graphmem.events import Moment
from graphmem.model import Observation
from graphmem.record import storable

MIGRATION = """
    ALTER TABLE observation ADD COLUMN told INTEGER;
    UPDATE observation SET told = seq;
    CREATE UNIQUE INDEX observation_told ON observation (told);
    CREATE TABLE event_key (hash INTEGER PRIMARY KEY);
    CREATE TABLE open_turn (session TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE begun (session TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE ended (session TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE note (
        number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, at REAL NOT NULL, session TEXT NOT NULL,
        turn TEXT NOT NULL, moment TEXT NOT NULL, path TEXT NOT NULL, size INTEGER NOT NULL,
        missed INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX note_session ON note (session, number);
    CREATE INDEX note_path ON note (path, at);
    CREATE TABLE note_named (
        note INTEGER NOT NULL REFERENCES note (number), place INTEGER NOT NULL, path TEXT NOT NULL,
        opened REAL, changed REAL, PRIMARY KEY (note, place)
    ) WITHOUT ROWID;
    CREATE INDEX note_named_path ON note_named (path);
    CREATE TABLE redaction (kind TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
    """
_OFF = "off"
_CAPTURE = "capture"
_LISTED = 100


@dataclass(frozen=True, slots=True)
class NoteRow:
    """A note that was given: when (epoch seconds), in which session and turn, of which file, in bytes.

    What is told at a start or a prompt is of no file: its `path` is empty, and only its size counts.
    """

    id: str
    at: float
    session: str
    turn: str
    moment: Moment
    path: str
    named: tuple[str, ...]
    size: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done after a note in its turn; what is told of one note adds up.

    `opened` and `changed` count where the note named them. `unnamed` are files changed that no note had
    named. `at` is when (epoch seconds), None for when it is stored.
    """

    note: str
    opened: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()
    at: float | None = None


@dataclass(frozen=True, slots=True)
class NoteState:
    """A note and what became of it; `missed` says that a file was changed later that no note had named."""

    note: NoteRow
    opened: tuple[str, ...]
    changed: tuple[str, ...]
    missed: bool


class Shown(NamedTuple):
    """How often a file was named in notes, and in how many of these it was opened or changed then."""

    shown: int
    taken: int


class HelpCounts(NamedTuple):
    """Notes given, their bytes, and how they turned out.

    `given` counts notes on files, `bytes` all that was told. `opened`, `changed` and `helped` count notes: a
    file they named was opened, changed, either of both.
    `missed` counts turns, see the module.
    """

    given: int = 0
    bytes: int = 0
    opened: int = 0
    changed: int = 0
    helped: int = 0
    missed: int = 0


@dataclass(frozen=True, slots=True)
class Batch:
    """What a stretch of events leads to.

    `turns` are encoded open turns by session, None for one that is over. `begun` are sessions that began
    afresh, `ended` says of sessions whether they have ended or go on again. `redacted` are counts by kind.
    """

    keys: Sequence[str] = ()
    observations: Sequence[Observation] = ()
    turns: Mapping[str, str | None] = field(default_factory=dict)
    notes: Sequence[NoteRow] = ()
    outcomes: Sequence[Outcome] = ()
    redacted: Mapping[str, int] = field(default_factory=dict)
    begun: Sequence[str] = ()
    ended: Mapping[str, bool] = field(default_factory=dict)


class Captured:
    """Live capture's part of one journal; get it from `Journal.captured`.

    Raises:
        StorageError: from every method, when the disk is full, damaged or not writable.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    # ---- what was taken -------------------------------------------------------------------------

    def settle(
        self,
        batch: Batch,
        received_at: float,
        sighted: Iterable[str] = (),
        unsighted: Iterable[str] = (),
    ) -> list[Stored]:
        """Store all of a batch durably in one transaction; return what became of its observations, in order.

        An observation known as provisional is replaced, and so is a final one by a differing part of a turn;
        a forgotten one never comes back. `received_at` is in epoch seconds; for `sighted` and `unsighted`
        see `Journal.append`.
        """
        with self._database.write() as connection:
            entries = Entries(connection, received_at)
            stored = [entries.tell(observation) for observation in batch.observations]
            connection.executemany(
                "INSERT OR IGNORE INTO event_key VALUES (?)", [(_hash(key),) for key in batch.keys]
            )
            over = [(storable(session),) for session, body in batch.turns.items() if body is None]
            connection.executemany("DELETE FROM open_turn WHERE session = ?", over)
            connection.executemany(
                "INSERT OR REPLACE INTO open_turn VALUES (?, ?)",
                [
                    (storable(session), storable(body))
                    for session, body in batch.turns.items()
                    if body is not None
                ],
            )
            connection.executemany(
                "INSERT OR IGNORE INTO begun VALUES (?)", [(storable(session),) for session in batch.begun]
            )
            for session, is_over in batch.ended.items():
                change = (
                    "INSERT OR IGNORE INTO ended VALUES (?)"
                    if is_over
                    else "DELETE FROM ended WHERE session = ?"
                )
                connection.execute(change, (storable(session),))
            _put_notes(connection, batch.notes)
            _put_outcomes(connection, batch.outcomes, received_at)
            _put_redactions(connection, batch.redacted)
            put_sightings(connection, received_at, list(sighted), list(unsighted))
        return stored

    def known(self, keys: Iterable[str]) -> set[str]:
        """Return those of these keys that were stored once."""
        by_hash: dict[int, list[str]] = {}
        for key in keys:
            by_hash.setdefault(_hash(key), []).append(key)
        with self._database.read() as connection:
            rows = chunked(connection, "SELECT hash FROM event_key WHERE hash IN ({})", by_hash)
        return {key for (found,) in rows for key in by_hash[found]}

    def turns(self) -> dict[str, str]:
        """Return the encoded open turns by session."""
        with self._database.read() as connection:
            return dict(connection.execute("SELECT session, body FROM open_turn ORDER BY session"))

    def began_afresh(self, session: str) -> bool:
        """Return whether a session was seen to begin, with nothing from another before it."""
        with self._database.read() as connection:
            query = "SELECT 1 FROM begun WHERE session = ?"
            return connection.execute(query, (storable(session),)).fetchone() is not None

    def ended(self, sessions: Iterable[str]) -> set[str]:
        """Return those of these sessions that were told to have ended and did not go on."""
        with self._database.read() as connection:
            rows = chunked(connection, "SELECT session FROM ended WHERE session IN ({})", sessions)
        return {session for (session,) in rows}

    def add_redactions(self, counts: Mapping[str, int]) -> None:
        """Count what was redacted, by kind."""
        if counts:
            with self._database.write() as connection:
                _put_redactions(connection, counts)

    def redactions(self) -> dict[str, int]:
        """Return how much was redacted so far, by kind."""
        with self._database.read() as connection:
            return dict(connection.execute("SELECT kind, count FROM redaction ORDER BY kind"))

    # ---- switches -------------------------------------------------------------------------------

    def captures(self, session: str) -> bool:
        """Return whether work of this session is captured: neither it nor the project is switched off."""
        keys = (_CAPTURE, f"{_CAPTURE}:{storable(session)}")
        with self._database.read() as connection:
            query = "SELECT 1 FROM setting WHERE key IN (?, ?) AND value = ?"
            return connection.execute(query, (*keys, _OFF)).fetchone() is None

    def set_capturing(self, on: bool, session: str | None = None) -> None:
        """Switch capture on or off, for one session or for the project."""
        key = _CAPTURE if session is None else f"{_CAPTURE}:{storable(session)}"
        with self._database.write() as connection:
            if on:
                connection.execute("DELETE FROM setting WHERE key = ?", (key,))
            else:
                connection.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (key, _OFF))

    # ---- notes ----------------------------------------------------------------------------------

    def notes(self, session: str | None = None, limit: int = _LISTED) -> list[NoteState]:
        """Return the last notes given, newest first, of one session or of all."""
        where, values = ("", ()) if session is None else ("WHERE session = ?", (storable(session),))
        with self._database.read() as connection:
            rows = connection.execute(
                f"SELECT number, id, at, session, turn, moment, path, size, missed FROM note {where}"
                " ORDER BY number DESC LIMIT ?",
                (*values, limit),
            ).fetchall()
            named: dict[int, list[tuple[Any, ...]]] = {row[0]: [] for row in rows}
            query = (
                "SELECT note, path, opened, changed FROM note_named WHERE note IN ({}) ORDER BY note, place"
            )
            for number, *rest in chunked(connection, query, named):
                named[number].append(tuple(rest))
        return [_state(row, named[row[0]]) for row in rows]

    def shown(self, path: str, as_of: float | None = None) -> dict[str, Shown]:
        """Return for each file that notes about `path` named how often, and how often it was taken up.

        `as_of` (epoch seconds) counts only what was known then.
        """
        until = math.inf if as_of is None else as_of
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT named.path, COUNT(*), SUM(COALESCE(opened <= ?1, 0) OR COALESCE(changed <= ?1, 0))"
                " FROM note JOIN note_named AS named ON named.note = note.number"
                " WHERE note.path = ?2 AND note.at <= ?1 GROUP BY named.path ORDER BY named.path",
                (until, storable(path)),
            ).fetchall()
        return {name: Shown(shown, taken) for name, shown, taken in rows}

    def help_counts(self) -> HelpCounts:
        """Return how many notes were given and how they turned out."""
        turned_out = (
            "SELECT MAX(opened IS NOT NULL) AS opened, MAX(changed IS NOT NULL) AS changed FROM note_named"
            " GROUP BY note"
        )
        with self._database.read() as connection:
            given, size = connection.execute(
                "SELECT COALESCE(SUM(path != ''), 0), COALESCE(SUM(size), 0) FROM note"
            ).fetchone()
            opened, changed, helped = connection.execute(
                "SELECT COALESCE(SUM(opened), 0), COALESCE(SUM(changed), 0),"
                f" COALESCE(SUM(opened OR changed), 0) FROM ({turned_out})"
            ).fetchone()
            missed = connection.execute(
                "SELECT COUNT(*) FROM (SELECT DISTINCT session, turn FROM note WHERE missed = 1)"
            ).fetchone()[0]
        return HelpCounts(given, size, opened, changed, helped, missed)


def erase(connection: sqlite3.Connection, sessions: Iterable[str], paths: Iterable[str]) -> None:
    """Forget the open turns of these sessions, and all notes about or naming these paths."""
    connection.executemany("DELETE FROM open_turn WHERE session = ?", [(session,) for session in sessions])
    names = [(path,) for path in paths]
    connection.executemany("DELETE FROM note_named WHERE path = ?", names)
    about = "SELECT number FROM note WHERE path = ?"
    connection.executemany(f"DELETE FROM note_named WHERE note IN ({about})", names)
    connection.executemany("DELETE FROM note WHERE path = ?", names)


def _hash(key: str) -> int:
    digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _put_notes(connection: sqlite3.Connection, notes: Iterable[NoteRow]) -> None:
    for note in notes:
        row = (storable(note.id), note.at, storable(note.session), storable(note.turn), note.moment.value)
        added = connection.execute(
            "INSERT INTO note (id, at, session, turn, moment, path, size) VALUES (?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (id) DO NOTHING RETURNING number",
            (*row, storable(note.path), note.size),
        ).fetchone()
        if added is not None:
            connection.executemany(
                "INSERT INTO note_named VALUES (?, ?, ?, NULL, NULL)",
                [(added[0], place, storable(path)) for place, path in enumerate(dict.fromkeys(note.named))],
            )


def _put_outcomes(connection: sqlite3.Connection, outcomes: Iterable[Outcome], received_at: float) -> None:
    for outcome in outcomes:
        found = connection.execute(
            "SELECT number FROM note WHERE id = ?", (storable(outcome.note),)
        ).fetchone()
        if found is None:
            continue
        at = received_at if outcome.at is None else outcome.at
        for column, paths in (("opened", outcome.opened), ("changed", outcome.changed)):
            connection.executemany(
                f"UPDATE note_named SET {column} = MIN(COALESCE({column}, ?1), ?1)"
                " WHERE note = ?2 AND path = ?3",
                [(at, found[0], storable(path)) for path in paths],
            )
        if outcome.unnamed:
            connection.execute("UPDATE note SET missed = 1 WHERE number = ?", found)


def _put_redactions(connection: sqlite3.Connection, counts: Mapping[str, int]) -> None:
    connection.executemany(
        "INSERT INTO redaction VALUES (?, ?) ON CONFLICT (kind) DO UPDATE SET count = count + excluded.count",
        [(storable(kind), count) for kind, count in counts.items()],
    )


def _state(row: Sequence[Any], named: Sequence[tuple[Any, ...]]) -> NoteState:
    _, id, at, session, turn, moment, path, size, missed = row
    note = NoteRow(id, at, session, turn, Moment(moment), path, tuple(name for name, _, _ in named), size)
    return NoteState(
        note,
        opened=tuple(name for name, opened, _ in named if opened is not None),
        changed=tuple(name for name, _, changed in named if changed is not None),
        missed=bool(missed),
    )
