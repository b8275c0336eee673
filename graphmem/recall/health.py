"""Owns what deserves a look in a project: files that are gone but still linked, knots, loners, staleness.

It is not advice: everything here is counted, nothing is judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphmem.edge_rows import EdgeRow
from graphmem.graph import EdgeOrder, EdgeStatus, Health, HealthCounts, ModuleName, Node
from graphmem.graph_content import graph_edge
from graphmem.model import FileStatus
from graphmem.nodes import NodeTable, number_of, row_of, table_of
from graphmem.postings import View
from graphmem.recall.edges import Edges
from graphmem.recall.rows import RowFilter
from graphmem.store.arcs import arcs_of
from graphmem.store.port import GraphStore

_LINKED = (EdgeStatus.CANDIDATE, EdgeStatus.CONFIRMED, EdgeStatus.STALE)
_STALE = RowFilter((EdgeStatus.STALE,))
_CYCLES = 100
_ORPHANS = 1_000_000
_OVERSIZED_SHARE = 0.3
_OVERSIZED_MEMBERS = 40


@dataclass(frozen=True, slots=True)
class _Troubles:
    """What was found, by number; orphans are files that exist and are no noise."""

    dead: tuple[int, ...]
    cycles: tuple[tuple[int, ...], ...]
    orphans: tuple[int, ...]
    oversized: tuple[ModuleName, ...]
    stale: int

    def counts(self) -> HealthCounts:
        return HealthCounts(
            len(self.dead), len(self.cycles), len(self.orphans), len(self.oversized), self.stale
        )


def health(edges: Edges, store: GraphStore | None, limit: int) -> Health:
    """Return what deserves a look, at most `limit` of each kind; without a store no cycles and orphans.

    Raises:
        GraphFault: the graph can't be asked.
    """
    found = _troubles(edges, store)
    shown = [*found.dead[:limit], *(node for cycle in found.cycles[:limit] for node in cycle)]
    nodes = edges.references.nodes(shown)
    return Health(
        counts=found.counts(),
        dead_files=tuple(_by_name([nodes[node] for node in found.dead[:limit]])),
        cycles=tuple(tuple(nodes[node] for node in cycle) for cycle in found.cycles[:limit]),
        orphans=tuple(_orphans(edges, found.orphans, limit)),
        oversized_modules=found.oversized[:limit],
        stale_edges=tuple(edges.of(edges.rows.listed(_STALE, EdgeOrder.RECENT, limit))),
    )


def health_counts(edges: Edges, store: GraphStore | None) -> HealthCounts:
    """Return how many of each kind there are; see `health`."""
    return _troubles(edges, store).counts()


def _troubles(edges: Edges, store: GraphStore | None) -> _Troubles:
    view = edges.view
    return _Troubles(
        dead=_dead(edges),
        cycles=() if store is None else _cycles(edges, store),
        orphans=() if store is None else _living(view, store.orphans(_ORPHANS)),
        oversized=_oversized(view),
        stale=edges.rows.count(EdgeStatus.STALE),
    )


def _dead(edges: Edges) -> tuple[int, ...]:
    """Return the files that are gone but stand at an end of an edge that is not settled."""
    tables = (NodeTable.FILE, NodeTable.NAMED)
    nodes = edges.references.nodes(end for end in edges.rows.ends(_LINKED) if table_of(end) in tables)
    gone = [(node.name, end) for end, node in nodes.items() if node.status is FileStatus.GONE]
    return tuple(end for _, end in sorted(gone))


def _cycles(edges: Edges, store: GraphStore) -> tuple[tuple[int, ...], ...]:
    found = store.cycles(_CYCLES).ways
    rows = edges.rows.by_ids(dict.fromkeys(id for cycle in found for id in cycle))
    around = (_around([rows[id] for id in cycle if id in rows]) for cycle in found)
    return tuple(cycle for cycle in around if cycle)


def _around(cycle: Sequence[EdgeRow]) -> tuple[int, ...]:
    """Return the nodes of a cycle in order, each depending on the next; empty if it is none any more."""
    for start in (cycle[0].source, cycle[0].target) if cycle else ():
        nodes = [start]
        for row in cycle:
            arcs = (arc for arc in arcs_of(graph_edge(row)) if arc.source == nodes[-1])
            arc = next(arcs, None)
            if arc is None:
                break
            nodes.append(arc.target)
        else:
            if nodes[-1] == start:
                return tuple(nodes[:-1])
    return ()


def _living(view: View, orphans: Sequence[int]) -> tuple[int, ...]:
    """Return those that exist and are no noise, by name."""
    rows = view.connection.execute(
        "SELECT file.id FROM file JOIN path ON path.id = file.path WHERE alive = 1 AND noise IS NULL"
        " ORDER BY path.name"
    )
    wanted = {row_of(orphan) for orphan in orphans}
    return tuple(number_of(NodeTable.FILE, id) for (id,) in rows if id in wanted)


def _orphans(edges: Edges, orphans: Sequence[int], limit: int) -> list[Node]:
    """Return the first of these that are on the disk, as far as is known."""
    found: list[Node] = []
    for start in range(0, len(orphans), limit):
        chunk = orphans[start : start + limit]
        nodes = edges.references.nodes(chunk)
        found += [nodes[node] for node in chunk if nodes[node].status is FileStatus.KNOWN]
        if len(found) >= limit:
            break
    return found[:limit]


def _oversized(view: View) -> tuple[ModuleName, ...]:
    """Return the modules that hold over 30 % of the files in modules, and over 40 of them."""
    rows = view.connection.execute(
        "SELECT module.id, label, COUNT(*) FROM member JOIN module ON module.id = member.module"
        " WHERE member.level = 0 AND node % 4 = ? GROUP BY module.id ORDER BY COUNT(*) DESC, module.id",
        (NodeTable.FILE,),
    ).fetchall()
    attached = sum(size for *_, size in rows)
    return tuple(
        ModuleName(id, label)
        for id, label, size in rows
        if size > _OVERSIZED_MEMBERS and size > _OVERSIZED_SHARE * attached
    )


def _by_name(nodes: Sequence[Node]) -> list[Node]:
    return sorted(nodes, key=lambda node: node.name)
