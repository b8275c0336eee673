"""Owns the answer to "what depends on X" and "what does X depend on": exact where confirmed, labelled else.

It is not the walk itself (that is the graph's, `graphmem.store`) nor the list of edges (`queue`). What may be
missing is said, however much was found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from graphmem.graph import Dependent, Dependents, Edge, EdgeStatus, Neighbour, Node
from graphmem.model import FileStatus
from graphmem.recall.edges import Edges
from graphmem.recall.rows import graph_edge
from graphmem.store.arcs import arcs_of
from graphmem.store.bounds import checked_depth
from graphmem.store.port import MAX_DEPTH, Beside, GraphStore, Reached, Towards, Walk
from inference.ranking import WARNING_THRESHOLD

_LOOKED_AT = 200
_JUDGED = (EdgeStatus.CONFIRMED, EdgeStatus.STALE)


@dataclass(frozen=True, slots=True)
class Reach:
    """How far to look: which way, how many hops (1 to 3), at most how many entries in a list."""

    towards: Towards = Towards.DEPENDENTS
    depth: int = MAX_DEPTH
    limit: int = 20


@dataclass(frozen=True, slots=True)
class _Heard:
    """What the graph said, with names: the walk, and the edges right at the node by status."""

    node: Node
    walk: Walk
    confirmed: tuple[Dependent, ...]
    beside: Mapping[EdgeStatus, Sequence[Neighbour]]
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
    linked = [near for near in heard.beside[EdgeStatus.CONFIRMED] if near.relation is None]
    open_ones = heard.beside[EdgeStatus.CANDIDATE]
    likely = [near for near in open_ones if near.probability >= WARNING_THRESHOLD]
    possible = [near for near in open_ones if near.probability < WARNING_THRESHOLD]
    reasons = [*_gaps(heard, reach, len(linked)), *_beyond(edges, node, reach, heard.walk)]
    if open_ones:
        reasons.append(_unreviewed(len(likely), len(possible)))
    if behind is not None:
        reasons.append(behind)
    return Dependents(
        node=heard.node,
        complete=not reasons,
        reason="; ".join(reasons) or None,
        confirmed=heard.confirmed[: reach.limit],
        linked=tuple(linked[: reach.limit]),
        likely=tuple(likely[: reach.limit]),
        possible=tuple(possible[: reach.limit]),
    )


def _hear(edges: Edges, store: GraphStore, node: int, reach: Reach) -> _Heard:
    walk = store.walk(node, reach.towards, reach.depth, max(reach.limit, _LOOKED_AT))
    judged = store.beside(node, _JUDGED, _LOOKED_AT)
    open_ones = store.beside(node, (EdgeStatus.CANDIDATE,), _LOOKED_AT)
    beside = (*judged.beside, *open_ones.beside)
    numbers = (node, *(reached.node for reached in walk.reached), *(near.node for near in beside))
    nodes = edges.references.nodes(numbers)
    known = edges.by_ids(near.edge for near in beside)
    found: dict[EdgeStatus, list[Neighbour]] = {status: [] for status in EdgeStatus}
    for near in _neighbours(beside, nodes, known):
        if near.status is not EdgeStatus.CANDIDATE or near.node.status is not FileStatus.GONE:
            found[near.status].append(near)
    cuts = dict.fromkeys(cut for cut in (walk.cut, judged.cut, open_ones.cut) if cut is not None)
    return _Heard(nodes[node], walk, tuple(_confirmed(walk.reached, nodes)), found, tuple(cuts))


def _confirmed(reached: Sequence[Reached], nodes: Mapping[int, Node]) -> list[Dependent]:
    """Return what a walk reached with its names, nearest first, then by name."""
    found = [Dependent(nodes[item.node], item.hops, item.via) for item in reached if item.node in nodes]
    return sorted(found, key=lambda item: (item.hops, item.node.name, item.node.type))


def _neighbours(
    beside: Sequence[Beside], nodes: Mapping[int, Node], edges: Mapping[str, Edge]
) -> Iterator[Neighbour]:
    """Yield the neighbours with evidence, as the table knows their edges by now."""
    for near in sorted(beside, key=lambda item: (-item.probability, item.edge)):
        edge = edges.get(near.edge)
        if edge is None or near.node not in nodes:
            continue
        yield Neighbour(
            node=nodes[near.node],
            probability=edge.probability,
            edge_id=edge.id,
            evidence=edge.evidence,
            kind=edge.kind,
            status=edge.status,
            relation=edge.relation,
        )


# ---- what may be missing ------------------------------------------------------------------------


def _gaps(heard: _Heard, reach: Reach, linked: int) -> Iterator[str]:
    """Yield why the node itself, a cut or a stale edge may hide something."""
    if heard.node.status is FileStatus.GONE:
        yield f"{heard.node.ref} is gone"
    if not heard.walk.reached and not any(heard.beside.values()):
        yield f"nothing is recorded that links {heard.node.ref}"
    for total, what in ((len(heard.confirmed), "confirmed"), (linked, "linked")):
        if total > reach.limit:
            yield f"only the first {reach.limit} of {total} {what} ones are shown"
    yield from heard.cuts
    if stale := len(heard.beside[EdgeStatus.STALE]):
        yield f"{_counted(stale, 'confirmed link')} {'is' if stale == 1 else 'are'} stale"


def _beyond(edges: Edges, node: int, reach: Reach, walk: Walk) -> Iterator[str]:
    """Yield a reason if relations lead further from the nodes at the last hop."""
    last = [item.node for item in walk.reached if item.hops == reach.depth]
    met = {node, *(item.node for item in walk.reached)}
    for row in edges.rows.at(last, (EdgeStatus.CONFIRMED,)):
        for arc in arcs_of(graph_edge(row)):
            outwards = reach.towards is Towards.DEPENDENCIES
            here, there = (arc.source, arc.target) if outwards else (arc.target, arc.source)
            if here in last and there not in met:
                hops = f"{reach.depth} hop{'' if reach.depth == 1 else 's'}"
                yield f"looked {hops} far, and confirmed relations lead further"
                return


def _unreviewed(likely: int, possible: int) -> str:
    """Return how many links nobody has judged yet."""
    parts = [f"{count} {tier}" for count, tier in ((likely, "likely"), (possible, "possible")) if count]
    total = likely + possible
    return (
        f"{' and '.join(parts)} link{'' if total == 1 else 's'} {'is' if total == 1 else 'are'} not reviewed"
    )


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
