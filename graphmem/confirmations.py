"""Owns what people and agents decided about observations: confirmed, or a confirmation taken back.

It is not the verdicts on edges (`graphmem.ledger`), and no evidence: it says that what was recorded holds, so
that it counts as durable and no pruning takes it. Verdicts are only ever added, in the order they came; with
an observation that is forgotten its verdicts go, as a note may say what it said.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from graphmem.database import Database, chunked
from graphmem.errors import ConflictError, NotFoundError
from graphmem.record import storable

MIGRATION = """
    CREATE TABLE observation_verdict (
        number INTEGER PRIMARY KEY AUTOINCREMENT, seq INTEGER NOT NULL REFERENCES observation (seq),
        verdict TEXT NOT NULL, note TEXT NOT NULL, by TEXT NOT NULL, at REAL NOT NULL
    );
    CREATE INDEX observation_verdict_seq ON observation_verdict (seq, number);
    """
MAX_BY = 200


class Judgement(StrEnum):
    """What may be decided about an observation; `undo` takes a confirmation back."""

    CONFIRM = "confirm"
    UNDO = "undo"


@dataclass(frozen=True, slots=True)
class Saying:
    """What somebody decides about the observation of that id, and why."""

    id: str
    verdict: Judgement
    note: str = ""
    by: str = ""


class Said(NamedTuple):
    """A verdict that was given, at that moment (epoch seconds)."""

    verdict: Judgement
    by: str
    at: float
    note: str


class Confirmations:
    """The verdicts on observations in one journal; get it from `Journal.confirmations`.

    Raises:
        StorageError: from every method, when the disk is full, damaged or not writable.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def judge(self, sayings: Sequence[Saying], at: float) -> None:
        """Store verdicts, all or none, in one transaction; a confirmation given twice is no change.

        Args:
            sayings: in order; notes and names without secrets, within their limits.
            at: epoch seconds.

        Raises:
            NotFoundError: there is no observation of an id, or it is forgotten.
            ConflictError: there is no confirmation to take back.
        """
        with self._database.write() as connection:
            for saying in sayings:
                seq = _number(connection, saying.id)
                stands = seq in _confirmed(connection, math.inf, seq)
                if saying.verdict is Judgement.CONFIRM and stands:
                    continue
                if saying.verdict is Judgement.UNDO and not stands:
                    raise ConflictError(
                        f"The observation {saying.id!r} is not confirmed, so there is nothing to take back."
                    )
                connection.execute(
                    "INSERT INTO observation_verdict (seq, verdict, note, by, at) VALUES (?, ?, ?, ?, ?)",
                    (seq, saying.verdict, storable(saying.note), storable(saying.by), at),
                )

    def confirmed(self, as_of: float | None = None) -> frozenset[int]:
        """Return the numbers (`seq`) of the observations that are confirmed, now or as of then."""
        with self._database.read() as connection:
            return _confirmed(connection, math.inf if as_of is None else as_of)

    def said(self, id: str) -> tuple[Said, ...]:
        """Return the verdicts on an observation, oldest first."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT verdict, by, observation_verdict.at, note FROM observation_verdict"
                " JOIN observation USING (seq) WHERE id = ? ORDER BY number",
                (storable(id),),
            ).fetchall()
        return tuple(Said(Judgement(verdict), by, at, note) for verdict, by, at, note in rows)

    def confirmed_ids(self, ids: Iterable[str], as_of: float | None = None) -> frozenset[str]:
        """Return those of these ids whose observations are confirmed, now or as of then."""
        with self._database.read() as connection:
            standing = _confirmed(connection, math.inf if as_of is None else as_of)
            if not standing:
                return frozenset()
            rows = chunked(connection, "SELECT id, seq FROM observation WHERE id IN ({})", ids)
        return frozenset(id for id, seq in rows if seq in standing)


def erase_verdicts(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Erase the verdicts on these observations, with what their notes say."""
    connection.executemany("DELETE FROM observation_verdict WHERE seq = ?", [(seq,) for seq in numbers])


def _number(connection: sqlite3.Connection, id: str) -> int:
    query = "SELECT seq FROM observation WHERE id = ? AND body IS NOT NULL"
    row = connection.execute(query, (storable(id),)).fetchone()
    if row is None:
        raise NotFoundError(f"There is no observation {id!r}; list them with `graphmem observations`.")
    return int(row[0])


def _confirmed(connection: sqlite3.Connection, until: float, seq: int | None = None) -> frozenset[int]:
    """Return the observations whose last verdict up to then is a confirmation, of all or of one."""
    # SQLite gives the other columns of the row that holds the maximum.
    rows = connection.execute(
        "SELECT seq, verdict, MAX(number) FROM observation_verdict"
        " WHERE at <= ?1 AND (?2 IS NULL OR seq = ?2) GROUP BY seq",
        (until, seq),
    )
    return frozenset(number for number, verdict, _ in rows if verdict == Judgement.CONFIRM)
