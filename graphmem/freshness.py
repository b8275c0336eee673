"""Owns what a projecting transaction leaves behind for promotion and for the graph: what may have changed.

It is not promotion: it only names nodes whose offers may be others now, in the table `dirty`, too many rather
than too few. While `meta.whole` is 1 everything counts as dirty and nothing is named.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from graphmem.genealogy import Disturbance
from graphmem.instant import DAY
from graphmem.nodes import NodeTable, number_of
from inference.chronicle import LATER

WHOLE = 1
"""`meta.whole`: everything is dirty, nothing needs to be named."""
WHOLE_UNDER_WAY = 2
"""`meta.whole`: everything is dirty, a full run has begun; what changes from now on is named."""

_ALWAYS = -1.0e18

# CROSS JOIN keeps the order: `around` is small, which the planner doesn't know.
_PARTS = (
    "INSERT OR IGNORE INTO around SELECT part.seq FROM around CROSS JOIN observation AS one USING (seq)"
    " CROSS JOIN observation AS part ON part.occasion = one.occasion"
)
_FILES = (
    "INSERT OR REPLACE INTO dirty SELECT DISTINCT touch.file * 4, ? FROM around CROSS JOIN touch USING (seq)"
)
_WORDS = (
    "INSERT OR REPLACE INTO dirty SELECT DISTINCT {0} * 4 + ?, ? FROM around CROSS JOIN {0}_use USING (seq)"
)
# Whatever comes before an observation in its session has it among its followers, up to LATER changes away.
_SESSION = f"""
    INSERT OR REPLACE INTO dirty
    WITH span AS (
        SELECT session, MIN(at) AS first, MAX(at) AS last FROM around CROSS JOIN observation USING (seq)
        WHERE size > 0 GROUP BY session
    ), reach AS (
        SELECT session, last, COALESCE((
            SELECT at FROM observation AS before WHERE before.session = span.session
            AND before.at < span.first AND size > 0 ORDER BY at DESC, seq DESC LIMIT 1 OFFSET {LATER - 1}
        ), {_ALWAYS}) AS first FROM span
    )
    SELECT DISTINCT touch.file * 4, ? FROM reach CROSS JOIN observation AS before
    ON before.session = reach.session AND before.at BETWEEN reach.first AND reach.last
    CROSS JOIN observation AS part ON part.occasion = before.occasion
    CROSS JOIN touch ON touch.seq = part.seq
"""
# The actor's work before it, within a day, has it as its follower where its own session went no further.
_ACTOR = f"""
    INSERT OR REPLACE INTO dirty
    WITH earlier (seq) AS (
        SELECT DISTINCT (
            SELECT seq FROM observation AS before WHERE before.actor = this.actor
            AND (before.at, before.seq) < (this.at, this.seq) AND before.at >= this.at - {DAY} AND size > 0
            ORDER BY at DESC, seq DESC LIMIT 1
        ) FROM around CROSS JOIN observation AS this USING (seq) WHERE this.size > 0
    )
    SELECT DISTINCT touch.file * 4, ? FROM earlier
    CROSS JOIN observation AS part ON part.occasion = earlier.seq CROSS JOIN touch ON touch.seq = part.seq
"""


class Freshness:
    """The marks of one open transaction, all with one new stamp."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'stamp'")
        values = dict(connection.execute("SELECT key, value FROM meta WHERE key IN ('stamp', 'whole')"))
        self._stamp = int(values["stamp"])
        self._names_all = values["whole"] == WHOLE

    def around(self, numbers: Iterable[int]) -> None:
        """Mark what these observations say something of, and what they followed; before they are deleted."""
        if self._names_all:
            return
        self._gather("SELECT ?", ((seq,) for seq in numbers))
        self._mark_around()
        for table in (NodeTable.CONCEPT, NodeTable.CONTRACT):
            self._connection.execute(_WORDS.format(table.name.lower()), (table, self._stamp))
        self._scatter()

    def disturbed(self, disturbance: Disturbance) -> None:
        """Mark what a change of names, lives or lineage means for others, and tell the graph."""
        self._log(number_of(NodeTable.FILE, file) for file in sorted(disturbance.altered))
        if disturbance.shifted:
            self.reload()
        self.vanished(number_of(NodeTable.FILE, file) for file in disturbance.vanished)
        if self._names_all or not (disturbance.altered or disturbance.shifted):
            return
        self._mark(number_of(NodeTable.FILE, file) for file in disturbance.altered)
        self._gather("SELECT ?", ((seq,) for seq in disturbance.shifted))
        self._gather(
            "SELECT touch.seq FROM touch JOIN observation ON observation.seq = touch.occasion"
            " WHERE file = ? AND pairs = 1",
            ((file,) for file in disturbance.altered),
        )
        self._mark_around()
        self._scatter()

    def vanished(self, nodes: Iterable[int]) -> None:
        """Drop what is stored of nodes whose rows are gone; their numbers may mean something else soon."""
        gone = list(nodes)
        if not gone:
            return
        self.reload()
        self._mark(gone)
        keys = [(node,) for node in gone]
        for table in ("offer", "edge"):
            self._connection.executemany(f"DELETE FROM {table} WHERE source = ?", keys)
            self._connection.executemany(f"DELETE FROM {table} WHERE target = ?", keys)
        self._connection.executemany("DELETE FROM member WHERE node = ?", keys)
        self._connection.executemany("DELETE FROM member WHERE node = ?", keys)

    def reload(self) -> None:
        """Say that the graph can't be told the difference and has to be loaded whole."""
        number = self._connection.execute("INSERT INTO graph_log (edge, node) VALUES (NULL, NULL)").lastrowid
        self._connection.execute("UPDATE meta SET value = ? WHERE key = 'reload'", (number,))

    def _gather(self, query: str, keys: Iterable[tuple[int]]) -> None:
        self._connection.execute("CREATE TEMP TABLE IF NOT EXISTS around (seq INTEGER PRIMARY KEY)")
        self._connection.executemany(f"INSERT OR IGNORE INTO around {query}", keys)

    def _scatter(self) -> None:
        self._connection.execute("DELETE FROM around")

    def _mark_around(self) -> None:
        """Mark the files of the gathered observations, whole turns of them, and of those they followed."""
        self._connection.execute(_PARTS)
        for query in (_FILES, _SESSION, _ACTOR):
            self._connection.execute(query, (self._stamp,))

    def _mark(self, nodes: Iterable[int]) -> None:
        """Mark nodes and whatever offers them or is offered by them."""
        rows = [(node, self._stamp) for node in nodes]
        execute = self._connection.executemany
        execute("INSERT OR REPLACE INTO dirty VALUES (?, ?)", rows)
        swapped = [(stamp, node) for node, stamp in rows]
        execute("INSERT OR REPLACE INTO dirty SELECT source, ? FROM offer WHERE target = ?", swapped)
        execute("INSERT OR REPLACE INTO dirty SELECT target, ? FROM offer WHERE source = ?", swapped)

    def _log(self, nodes: Iterable[int]) -> None:
        self._connection.executemany("INSERT INTO graph_log (node) VALUES (?)", [(node,) for node in nodes])
