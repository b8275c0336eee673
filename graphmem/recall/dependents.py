"""Owns the answer to "what depends on X" and "what does X depend on": exact where confirmed, labelled else.

It is not the walk itself (that is the graph's, `graphmem.store`) nor the list of edges (`queue`). What may be
missing is said, however much was found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from graphmem.edge_rows import EdgeRow
from graphmem.graph import Dependent, Dependents, EdgeStatus, Neighbour, Node
from graphmem.graph_content import graph_edge
from graphmem.model import FileStatus
from graphmem.nodes import NodeTable, table_of
from graphmem.recall.edges import Edges
from graphmem.store.arcs import arcs_of
from graphmem.store.bounds import checked_depth
from graphmem.store.port import MAX_DEPTH, GraphStore, Surroundings, Towards, Walk
from inference.ranking import WARNING_THRESHOLD

_LOOKED_AT = 200
_NEAREST = 20
_JUDGED = (EdgeStatus.CONFIRMED, EdgeStatus.STALE)
_SHOWN = (EdgeStatus.CANDIDATE, *_JUDGED)


@dataclass(frozen=True, slots=True)
class Reach:
    """How far to look: which way, how many hops (1 to 3), at most how many entries in a list."""

    towards: Towards = Towards.DEPENDENTS
    depth: int = MAX_DEPTH
    limit: int = 20


@dataclass(frozen=True, slots=True)
class _Heard:
    """What the graph said: the walk, and the rows of the edges right at the node by status, best first."""

    walk: Walk
    nodes: Mapping[int, Node]
    beside: Mapping[EdgeStatus, Sequence[EdgeRow]]
    cuts: tuple[str, ...]


def dependents(
    edges: Edges, store: GraphStore, node: int, reach: Reach, behind: str | None = None
) -> Dependents:
    """Return what depends on a node, or what it depends on.

    Args:
        edges: those of the moment asked about.
        store: the graph of that moment.
        node: a node that is known by then.
        reach: which way and how far.
        behind: what the graph lacks of the journal, as a clause.

    Raises:
        InvalidInputError: the depth is not 1, 2 or 3.
        GraphFault: the graph can't be asked.
    """
    checked_depth(reach.depth)
    heard = _hear(edges, store, node, reach)
    confirmed = _confirmed(heard)
    linked = [row for row in heard.beside[EdgeStatus.CONFIRMED] if row.relation is None]
    likely = [row for row in heard.beside[EdgeStatus.CANDIDATE] if row.probability >= WARNING_THRESHOLD]
    possible = [row for row in heard.beside[EdgeStatus.CANDIDATE] if row.probability < WARNING_THRESHOLD]
    reasons = [
        *_gaps(heard, heard.nodes[node]),
        *_stale(edges, node, reach, heard.walk),
        *_cuts(reach, len(confirmed), len(linked)),
        *_beyond(edges, node, reach, heard.walk),
        *_unreviewed(len(likely), len(possible)),
        *_unreviewed_beyond(edges, node, reach, heard.walk),
        *([] if behind is None else [behind]),
    ]
    shown = [rows[: reach.limit] for rows in (linked, likely, possible)]
    neighbours = _neighbours(edges, heard.nodes[node], [row for rows in shown for row in rows])
    listed = [tuple(neighbours[row.id] for row in rows if row.id in neighbours) for rows in shown]
    return Dependents(
        node=heard.nodes[node],
        complete=not reasons,
        reason="; ".join(reasons) or None,
        confirmed=tuple(confirmed[: reach.limit]),
        linked=listed[0],
        likely=listed[1],
        possible=listed[2],
    )


def _hear(edges: Edges, store: GraphStore, node: int, reach: Reach) -> _Heard:
    walk = store.walk(node, reach.towards, reach.depth, max(reach.limit, _LOOKED_AT))
    around = store.beside(node, _SHOWN, _LOOKED_AT)
    # Suggestions at a hub must not hide what is settled.
    judged = Surroundings() if around.cut is None else store.beside(node, _JUDGED, _LOOKED_AT)
    beside = {near.edge: near.node for near in (*around.beside, *judged.beside)}
    nodes = edges.references.nodes((node, *(item.node for item in walk.reached), *beside.values()))
    found: dict[EdgeStatus, list[EdgeRow]] = {status: [] for status in EdgeStatus}
    # As the table knows them by now: the graph may be a moment behind.
    rows = {row.id: (row, beside[id]) for id, row in edges.rows.by_ids(beside).items()}
    for row, other in rows.values():
        is_open = row.status == EdgeStatus.CANDIDATE
        if other in nodes and not (is_open and (_is_topic(node, other) or _is_gone(nodes[other]))):
            found[EdgeStatus(row.status)].append(row)
    for listed in found.values():
        listed.sort(key=lambda row: (-row.probability, row.id))
    cuts = dict.fromkeys(cut for cut in (walk.cut, around.cut, judged.cut) if cut is not None)
    return _Heard(walk, nodes, found, tuple(cuts))


def _confirmed(heard: _Heard) -> list[Dependent]:
    """Return what the walk reached with its names, nearest first, then by name."""
    found = [
        Dependent(heard.nodes[item.node], item.hops, item.via)
        for item in heard.walk.reached
        if item.node in heard.nodes
    ]
    return sorted(found, key=lambda item: (item.hops, item.node.name, item.node.type))


def _neighbours(edges: Edges, node: Node, rows: Sequence[EdgeRow]) -> dict[str, Neighbour]:
    """Return the other ends of these edges with their evidence, by edge."""
    return {
        edge.id: Neighbour(
            node=edge.target if edge.source == node else edge.source,
            probability=edge.probability,
            edge_id=edge.id,
            evidence=edge.evidence,
            kind=edge.kind,
            status=edge.status,
            relation=edge.relation,
        )
        for edge in edges.of(rows)
    }


# ---- what may be missing ------------------------------------------------------------------------


def _gaps(heard: _Heard, node: Node) -> Iterator[str]:
    """Yield why the node itself or a bound of the graph may hide something."""
    if node.status is FileStatus.GONE:
        yield f"{node.ref} is gone"
    if not heard.walk.reached and not any(heard.beside.values()):
        yield f"nothing is recorded that links {node.ref}"
    yield from heard.cuts


def _stale(edges: Edges, node: int, reach: Reach, walk: Walk) -> Iterator[str]:
    """Yield how many stale edges there are at the node, or would be walked from those reached."""
    inner = {node, *(item.node for item in walk.reached if item.hops < reach.depth)}
    found = sum(
        node in (row.source, row.target) or any(here in inner for here, _ in _steps(row, reach.towards))
        for row in edges.rows.at(inner, (EdgeStatus.STALE,))
    )
    if found:
        yield "1 confirmed link is stale" if found == 1 else f"{found} confirmed links are stale"


def _cuts(reach: Reach, confirmed: int, linked: int) -> Iterator[str]:
    """Yield which lists of settled ones are longer than shown."""
    for total, what in ((confirmed, "confirmed"), (linked, "linked")):
        if total > reach.limit:
            yield f"only the first {reach.limit} of {total} {what} ones are shown"


def _beyond(edges: Edges, node: int, reach: Reach, walk: Walk) -> Iterator[str]:
    """Yield a reason if relations lead further from the nodes at the last hop."""
    last = [item.node for item in walk.reached if item.hops == reach.depth]
    met = {node, *(item.node for item in walk.reached)}
    for row in edges.rows.at(last, (EdgeStatus.CONFIRMED,)):
        if any(here in last and there not in met for here, there in _steps(row, reach.towards)):
            hops = f"{reach.depth} hop{'' if reach.depth == 1 else 's'}"
            yield f"looked {hops} far, and confirmed relations lead further"
            return


def _steps(row: EdgeRow, towards: Towards) -> Iterator[tuple[int, int]]:
    """Yield from where to where an edge with a relation leads, whether it still stands or not."""
    for arc in arcs_of(graph_edge(row)._replace(status=EdgeStatus.CONFIRMED)):
        outwards = towards is Towards.DEPENDENCIES
        yield (arc.source, arc.target) if outwards else (arc.target, arc.source)


def _unreviewed(likely: int, possible: int) -> Iterator[str]:
    """Yield how many links nobody has judged yet."""
    parts = [f"{count} {tier}" for count, tier in ((likely, "likely"), (possible, "possible")) if count]
    if parts:
        ending = "link is" if likely + possible == 1 else "links are"
        yield f"{' and '.join(parts)} {ending} not reviewed"


def _unreviewed_beyond(edges: Edges, node: int, reach: Reach, walk: Walk) -> Iterator[str]:
    """Yield a reason if a link nobody has judged may lead further from what was reached.

    The nearest are looked at first, as one such link is enough.
    """
    met = {node, *(item.node for item in walk.reached)}
    inner = [item.node for item in walk.reached if item.hops < reach.depth]
    for start in range(0, len(inner), _NEAREST):
        near = set(inner[start : start + _NEAREST])
        open_ends = {
            there
            for row in edges.rows.at(near, (EdgeStatus.CANDIDATE,))
            for here, there in ((row.source, row.target), (row.target, row.source))
            if here in near and there not in met and not _is_topic(here, there)
        }
        if not all(map(_is_gone, edges.references.nodes(open_ends).values())):
            yield "links further on are not reviewed"
            return


def _is_topic(node: int, other: int) -> bool:
    """Return whether `other` is what a node is about, which does not depend on it; of a concept it may."""
    return table_of(other) is NodeTable.CONCEPT and table_of(node) is not NodeTable.CONCEPT


def _is_gone(node: Node) -> bool:
    return node.status is FileStatus.GONE
