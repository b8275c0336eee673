"""Owns the table `tide`: how far back in time each projecting transaction reached.

Whoever holds observations in memory, in order of time, is in step again when everything from the earliest of
the new marks on is read anew. It is not what changed (that is the rows themselves), nor what promotion has to
look at again (`freshness`).
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

from graphmem.database import chunked

_KEPT = 1_000


class Tide(NamedTuple):
    """A state of the derived file: `generation` names the file, `number` its last mark."""

    generation: int
    number: int


class Reach:
    """How far back one open transaction reaches: what is noted as it was, and as it is then."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._earliest = math.inf

    def note(self, numbers: Iterable[int]) -> None:
        """Note observations whose rows, or rows of what they say and touch, change in any way."""
        query = "SELECT MIN(at) FROM observation WHERE seq IN ({})"
        times = chunked(self._connection, query, numbers)
        self._earliest = min(self._earliest, *(at for (at,) in times if at is not None), math.inf)

    def mark(self) -> None:
        """Write the mark; the oldest are forgotten."""
        if self._earliest < math.inf:
            number = self._connection.execute("INSERT INTO tide (at) VALUES (?)", (self._earliest,)).lastrowid
            self._connection.execute("DELETE FROM tide WHERE number <= ?", ((number or 0) - _KEPT,))


def tide_of(connection: sqlite3.Connection) -> Tide:
    """Return which state this is."""
    generation = connection.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()
    number = connection.execute("SELECT MAX(number) FROM tide").fetchone()[0]
    return Tide(0 if generation is None else generation[0], number or 0)


def marks_after(connection: sqlite3.Connection, number: int) -> dict[int, float] | None:
    """Return the marks after that one, epoch seconds by number; None when some are forgotten."""
    rows = dict(connection.execute("SELECT number, at FROM tide WHERE number > ? ORDER BY number", (number,)))
    return rows if not rows or number + 1 in rows else None
