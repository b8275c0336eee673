"""Owns how one observation comes into the journal's table: stored once, and told anew while it is open.

It is not the journal (that is `graphmem.journal`), only the one way in that its writers share. An
observation keeps its number (`seq`) for life; each telling of it gets a number of its own (`told`), by which
others follow.
"""

from __future__ import annotations

import sqlite3
from enum import StrEnum

from graphmem.model import Observation
from graphmem.record import decode, encode


class Stored(StrEnum):
    """What became of one write."""

    INSERTED = "inserted"
    KNOWN = "known"
    REVISED = "revised"


class Entries:
    """The table of observations behind one open transaction.

    Args:
        connection: inside a writing transaction, which must not outlive this.
        received_at: epoch seconds.
    """

    def __init__(self, connection: sqlite3.Connection, received_at: float) -> None:
        self._connection = connection
        self._received_at = received_at
        self._told = int(connection.execute("SELECT COALESCE(MAX(told), 0) FROM observation").fetchone()[0])

    def add(self, observation: Observation) -> Stored:
        """Store an observation whose id is new; one that is known, or was forgotten, stays as it is."""
        row = (observation.id, observation.at, self._received_at, encode(observation), self._told + 1)
        added = self._connection.execute(
            "INSERT INTO observation (id, at, received_at, body, told) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (id) DO NOTHING",
            row,
        ).rowcount
        self._told += added
        return Stored.INSERTED if added else Stored.KNOWN

    def tell(self, observation: Observation) -> Stored:
        """Store an observation, or put it in the place of what was told under its id before.

        What is stored gives way if it is provisional, or if the new one is a part of a turn. One that was
        forgotten never comes back, and the same content again is no revision.
        """
        known = self._connection.execute(
            "SELECT seq, at, body FROM observation WHERE id = ?", (observation.id,)
        ).fetchone()
        if known is None:
            return self.add(observation)
        seq, at, body = known
        fresh = encode(observation)
        if body is None or (at, body) == (observation.at, fresh):
            return Stored.KNOWN
        if not observation.turn and not decode(observation.id, at, body).provisional:
            return Stored.KNOWN
        self._told += 1
        self._connection.execute(
            "UPDATE observation SET at = ?, received_at = ?, body = ?, told = ? WHERE seq = ?",
            (observation.at, self._received_at, fresh, self._told, seq),
        )
        return Stored.REVISED


def put_sightings(
    connection: sqlite3.Connection, received_at: float, sighted: list[str], unsighted: list[str]
) -> None:
    """Note which paths were seen on the disk now, the first time stays, and which don't count any more."""
    connection.executemany(
        "INSERT INTO sighting VALUES (?, ?) ON CONFLICT (path) DO NOTHING",
        [(path, received_at) for path in sighted],
    )
    connection.executemany("DELETE FROM sighting WHERE path = ?", [(path,) for path in unsighted])
