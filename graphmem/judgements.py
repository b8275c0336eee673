"""Owns the way of minted edges and verdicts into `derived.db`: the tables `minted`, `judgement` and `named`.

It is not promotion: what it changes it only lists in `unsettled`, with every other id of the same pair. Any
order of arrival ends in the state a rebuild gives: when names come to mean other files, the edges minted
under them are resolved anew. An edge nobody judged goes with the last observation that names one of its ends.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping

from graphmem.database import Database, chunked
from graphmem.graph import NodeType
from graphmem.journal import Journal
from graphmem.ledger import Ledger, Minted
from graphmem.minting import observed, resolve
from graphmem.nodes import NodeTable, number_of, row_of, table_of
from graphmem.verdicts import Standing, standing

_BATCH = 5_000
_KNOWN_NOW = " UNION ALL ".join(
    f"SELECT named.id FROM named JOIN {table} AS known ON known.name = named.name WHERE type = '{type}'"
    for type, table in (("file", "path"), ("concept", "concept"), ("contract", "contract"))
)


def carry(journal: Journal, database: Database) -> bool:
    """Carry new ids and verdicts over, once every observation is in; return whether there were any."""
    ledger, did = journal.ledger, False
    while True:
        with database.read() as connection:
            mark = dict(connection.execute("SELECT key, value FROM meta WHERE key IN ('minted', 'verdicts')"))
        # In this order: of every verdict that is seen the edge is seen too.
        last, judged = ledger.judged_after(mark["verdicts"])
        edges = ledger.edges_after(mark["minted"], _BATCH)
        if not edges and not judged:
            return did
        with database.write() as connection:
            placing = _Placing(connection, ledger)
            if edges:
                placing.place(edges)
                _mark(connection, "minted", edges[-1].number)
            placing.judge(judged)
            _mark(connection, "verdicts", last)
        did = True


def follow_names(
    connection: sqlite3.Connection, ledger: Ledger, paths: Collection[str], gone: Collection[int]
) -> None:
    """Resolve anew the edges that were minted under names which mean something else now.

    Args:
        connection: the transaction that changed what names mean.
        ledger: the names.
        paths: paths that mean another file than before, now or at some past moment.
        gone: concepts and contracts whose names nothing uses any more.
    """
    if connection.execute("SELECT 1 FROM minted LIMIT 1").fetchone() is None:
        return
    known_now = [number_of(NodeTable.NAMED, id) for (id,) in connection.execute(_KNOWN_NOW)]
    ids = _naming_nodes(connection, (*gone, *known_now))
    edges = {edge.id: edge for edge in ledger.naming_files(paths)} | ledger.edges(ids)
    placed = _rows(connection, edges)
    if placed:
        _Placing(connection, ledger).place([edges[id] for id in placed])


def drop_unknown(connection: sqlite3.Connection, ledger: Ledger) -> None:
    """Drop the edges that the journal took back in a transaction which did not last here.

    The journal's part of a removal is written first; were its part here lost, the edge would stay, and stand
    for whatever gets the number of its end next.
    """
    ids = [row[0] for row in connection.execute("SELECT id FROM minted")]
    unknown = ledger.unknown(ids)
    if unknown:
        _Placing(connection, ledger).drop(unknown)


def standings_until(ledger: Ledger, moment: float) -> dict[str, Standing]:
    """Return where every edge stood that was judged by that moment (epoch seconds)."""
    return {edge: standing(verdicts) for edge, verdicts in ledger.verdicts_until(moment).items()}


class _Placing:
    """What one open transaction changes, all with one new stamp."""

    def __init__(self, connection: sqlite3.Connection, ledger: Ledger) -> None:
        self._connection = connection
        self._ledger = ledger
        connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'stamp'")
        self._stamp = connection.execute("SELECT value FROM meta WHERE key = 'stamp'").fetchone()[0]

    def place(self, edges: Collection[Minted]) -> None:
        """Resolve these edges; those that lost an end and were never judged are taken back."""
        connection = self._connection
        before = _rows(connection, (edge.id for edge in edges))
        known = {edge.id: [observed(connection, name, edge.at) for name in edge.names] for edge in edges}
        lost = (edge.id for edge in edges if _has_lost_end(edge, known[edge.id]))
        pruned = self._ledger.prune(lost)
        after: dict[str, tuple[int, int]] = {}
        for edge in edges:
            if edge.id not in pruned:
                source, target = (
                    resolve(connection, name, edge.at) if node is None else node
                    for name, node in zip(edge.names, known[edge.id], strict=True)
                )
                after[edge.id] = source, target
        changed = {edge.id: edge for edge in edges if before.get(edge.id) != after.get(edge.id)}
        self._unsettle_pairs(before[id] for id in changed if id in before)
        connection.executemany("DELETE FROM minted WHERE id = ?", [(id,) for id in changed])
        connection.executemany(
            "INSERT INTO minted (id, source, target, number) VALUES (?, ?, ?, ?)",
            [(id, *after[id], edge.number) for id, edge in changed.items() if id in after],
        )
        self._unsettle_pairs(after[id] for id in changed if id in after)
        self._drop_unused_names({node for id in changed for node in before.get(id, ())})

    def drop(self, ids: Collection[str]) -> None:
        """Take these edges out."""
        before = _rows(self._connection, ids)
        self._unsettle_pairs(before.values())
        self._connection.executemany("DELETE FROM minted WHERE id = ?", [(id,) for id in before])
        self._drop_unused_names({node for pair in before.values() for node in pair})

    def judge(self, edges: Collection[str]) -> None:
        """Fold the verdicts on these edges anew."""
        found = {edge: standing(verdicts) for edge, verdicts in self._ledger.history(edges).items()}
        self._connection.executemany(
            "INSERT OR REPLACE INTO judgement"
            " (edge, status, origin, relation, direction, together, at, number)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (id, now.status, now.origin, now.relation, now.direction, now.together, now.at, now.number)
                for id, now in found.items()
            ],
        )
        self._unsettle_pairs(_rows(self._connection, found).values())

    def _unsettle_pairs(self, pairs: Iterable[tuple[int, int]]) -> None:
        """List every id that means one of these pairs: which of them speaks for it may have changed."""
        self._connection.executemany(
            "INSERT OR REPLACE INTO unsettled SELECT id, ? FROM minted"
            " WHERE (source = ? AND target = ?) OR (source = ? AND target = ?)",
            [(self._stamp, one, other, other, one) for one, other in dict.fromkeys(pairs)],
        )

    def _drop_unused_names(self, nodes: Iterable[int]) -> None:
        self._connection.executemany(
            "DELETE FROM named WHERE id = ? AND NOT EXISTS (SELECT 1 FROM minted WHERE source = ?)"
            " AND NOT EXISTS (SELECT 1 FROM minted WHERE target = ?)",
            [(row_of(node), node, node) for node in nodes if table_of(node) is NodeTable.NAMED],
        )


def _has_lost_end(edge: Minted, nodes: Iterable[int | None]) -> bool:
    """Return whether an end is no feature and yet named by no observation."""
    ends = zip(edge.names, nodes, strict=True)
    return any(node is None and name.type is not NodeType.FEATURE for name, node in ends)


def _rows(connection: sqlite3.Connection, ids: Iterable[str]) -> Mapping[str, tuple[int, int]]:
    """Return the nodes of those of these ids that are in, in the order given."""
    found: dict[str, tuple[int, int]] = {}
    for id in ids:
        row = connection.execute("SELECT source, target FROM minted WHERE id = ?", (id,)).fetchone()
        if row is not None:
            found[id] = (row[0], row[1])
    return found


def _naming_nodes(connection: sqlite3.Connection, nodes: Iterable[int]) -> list[str]:
    """Return the ids of the edges of these nodes."""
    wanted = list(nodes)
    ends = ("source", "target")
    rows = (chunked(connection, f"SELECT id FROM minted WHERE {end} IN ({{}})", wanted) for end in ends)
    return list(dict.fromkeys(id for found in rows for (id,) in found))


def _mark(connection: sqlite3.Connection, key: str, value: int) -> None:
    connection.execute("UPDATE meta SET value = MAX(value, ?) WHERE key = ?", (value, key))
