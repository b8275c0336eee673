"""Owns the way from `derived.db` to the graph: all of it for a load, or what changed since a mark.

It is not a store (those are behind `graphmem.store.port`) and keeps nothing. What a graph must follow is
listed in `graph_log` by whoever changes it; where that does not reach, the graph is loaded whole.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from graphmem.database import chunked
from graphmem.edge_rows import SELECT_EDGE, EdgeRow, read_row
from graphmem.genealogy import REPEATED
from graphmem.graph import Direction, EdgeKind, EdgeStatus, NodeType, Relation
from graphmem.modules import graph_modules
from graphmem.nodes import NodeTable, number_of, row_of, table_of
from graphmem.store.port import (
    GraphChange,
    GraphContent,
    GraphEdge,
    GraphNode,
    GraphObservation,
    Mark,
)

MENTION_FLOOR = 0.5
"""An observation mentions the concepts of at least this weight."""
MOST_ROWS = 1_000
"""More edges, nodes and observations than this are not carried over one by one."""
MOST_LINKS = 5_000
"""Nor observations that touch or mention more nodes than this."""

_NODES = {
    NodeTable.FILE: "SELECT file.id, 'file', path.name, alive FROM file JOIN path ON path.id = file.path",
    NodeTable.CONCEPT: "SELECT concept.id, 'concept', name, 1 FROM concept",
    NodeTable.CONTRACT: "SELECT contract.id, 'contract', name, 1 FROM contract",
    NodeTable.NAMED: "SELECT named.id, type, name, type != 'file' FROM named",
}
_MENTIONED = (
    f"SELECT seq, concept * 4 + {NodeTable.CONCEPT:d} AS node FROM concept_use"
    f" WHERE weight >= {MENTION_FLOOR}"
    f" UNION ALL SELECT seq, contract * 4 + {NodeTable.CONTRACT:d} AS node FROM contract_use"
)


def mark(connection: sqlite3.Connection) -> Mark:
    """Return what a graph holds that was made from this state."""
    meta = dict(connection.execute("SELECT key, value FROM meta"))
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'graph_log'").fetchone()
    return Mark(meta.get("generation", 0), 0 if row is None else row[0], meta["entries"])


def numbering(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return what identifies the numbers of nodes: while it stays the same, each means what it meant."""
    meta = dict(connection.execute("SELECT key, value FROM meta WHERE key IN ('generation', 'reload')"))
    return meta.get("generation", 0), meta["reload"]


def content(connection: sqlite3.Connection) -> GraphContent:
    """Return everything; its parts are read as they are taken, while the connection's transaction lasts."""
    return GraphContent(
        nodes=_all_nodes(connection),
        edges=(graph_edge(read_row(row)) for row in connection.execute(f"{SELECT_EDGE} ORDER BY id")),
        observations=_observations(connection, 0),
        modules=graph_modules(connection),
    )


def change(connection: sqlite3.Connection, since: Mark) -> GraphChange | None:
    """Return what changed since a mark, or None when the graph has to be loaded whole."""
    now = mark(connection)
    if not _is_told(connection, since, now):
        return None
    log = connection.execute(
        "SELECT edge, node FROM graph_log WHERE number > ? LIMIT ?", (since.change, MOST_ROWS + 1)
    ).fetchall()
    fresh = connection.execute(
        "SELECT COUNT(*) FROM (SELECT 1 FROM observation WHERE told > ? LIMIT ?)",
        (since.entries, MOST_ROWS + 1),
    ).fetchone()[0]
    if len(log) + fresh > MOST_ROWS:
        return None
    observations = tuple(_observations(connection, since.entries))
    if sum(len(one.touched) + len(one.mentioned) for one in observations) > MOST_LINKS:
        return None
    ids = sorted({edge for edge, _ in log if edge is not None})
    rows = chunked(connection, f"{SELECT_EDGE} WHERE id IN ({{}})", ids)
    edges = sorted(graph_edge(read_row(row)) for row in rows)
    nodes = {node for _, node in log if node is not None}
    nodes.update(end for edge in edges for end in (edge.source, edge.target))
    nodes.update(node for one in observations for node in (*one.touched, *one.mentioned))
    present = {edge.id for edge in edges}
    return GraphChange(
        nodes=graph_nodes(connection, nodes),
        edges=edges,
        dropped_edges=tuple(id for id in ids if id not in present),
        observations=observations,
    )


def has_new_modules(connection: sqlite3.Connection, since: Mark) -> bool:
    """Return whether the modules changed since a mark."""
    row = connection.execute(
        "SELECT 1 FROM graph_log WHERE number > ? AND edge IS NULL AND node IS NULL LIMIT 1", (since.change,)
    ).fetchone()
    return row is not None


def _is_told(connection: sqlite3.Connection, since: Mark, now: Mark) -> bool:
    """Return whether the log tells everything between the two marks."""
    if since.generation != now.generation or since.change > now.change or since.entries > now.entries:
        return False
    reload, oldest = connection.execute(
        "SELECT (SELECT value FROM meta WHERE key = 'reload'), (SELECT MIN(number) FROM graph_log)"
    ).fetchone()
    if since.change < reload:
        return False
    return since.change == now.change or (oldest is not None and oldest <= since.change + 1)


def graph_edge(row: EdgeRow) -> GraphEdge:
    """Return a row as the graph holds it: what is confirmed is sure, however seldom it was seen."""
    sure = row.status == EdgeStatus.CONFIRMED
    return GraphEdge(
        row.id,
        row.source,
        row.target,
        EdgeKind(row.kind),
        EdgeStatus(row.status),
        1.0 if sure else row.probability,
        None if row.relation is None else Relation(row.relation),
        None if row.direction is None else Direction(row.direction),
    )


def graph_nodes(connection: sqlite3.Connection, nodes: Iterable[int]) -> list[GraphNode]:
    """Return these nodes as they are now, by number; those nobody knows any more are left out."""
    ids: dict[NodeTable, list[int]] = {}
    for node in nodes:
        ids.setdefault(table_of(node), []).append(row_of(node))
    found = [
        _node(table, row)
        for table, wanted in ids.items()
        for row in chunked(connection, f"{_NODES[table]} WHERE {table.name.lower()}.id IN ({{}})", wanted)
    ]
    return sorted(found)


def _all_nodes(connection: sqlite3.Connection) -> Iterator[GraphNode]:
    """Yield all files, and whatever else observations or edges refer to."""
    referred = f"SELECT node FROM ({_MENTIONED}) UNION SELECT source FROM edge UNION SELECT target FROM edge"
    for table, query in _NODES.items():
        name = table.name.lower()
        if table is not NodeTable.FILE:
            query = f"{query} WHERE {name}.id * 4 + {table:d} IN ({referred})"
        for row in connection.execute(f"{query} ORDER BY {name}.id"):
            yield _node(table, row)


def _node(table: NodeTable, row: Sequence[Any]) -> GraphNode:
    id, type, name, alive = row
    return GraphNode(number_of(table, id), NodeType(type), name, bool(alive))


def _observations(connection: sqlite3.Connection, after: int) -> Iterator[GraphObservation]:
    """Yield the observations told after a number in order of their own, few of them in memory at a time."""
    told = f"seq IN (SELECT seq FROM observation WHERE told > {after:d})" if after else "1"
    heads = connection.execute(
        "SELECT seq, at, title, session.name FROM observation JOIN session ON session.id = session"
        f" WHERE {told} ORDER BY seq"
    )
    # What counts in another part of the turn was touched in this one too.
    touched = _Beside(
        connection.execute(
            f"SELECT seq, file * 4 FROM touch WHERE {told} AND repeated != ? ORDER BY seq, ord", (REPEATED,)
        )
    )
    mentioned = _Beside(
        connection.execute(f"SELECT seq, node FROM ({_MENTIONED}) WHERE {told} ORDER BY seq, node")
    )
    for seq, at, title, session in heads:
        yield GraphObservation(seq, at, title, session, touched.of(seq), mentioned.of(seq))


class _Beside:
    """Rows (observation, node) in order of observations, handed out as observations come by."""

    def __init__(self, rows: Iterable[tuple[int, int]]) -> None:
        self._groups = groupby(rows, itemgetter(0))
        self._next: tuple[int, tuple[int, ...]] | None = None

    def of(self, seq: int) -> tuple[int, ...]:
        """Return the nodes of this observation; what belongs to earlier ones is passed over."""
        while self._next is None or self._next[0] < seq:
            group = next(self._groups, None)
            if group is None:
                return ()
            self._next = group[0], tuple(node for _, node in group[1])
        return self._next[1] if self._next[0] == seq else ()
