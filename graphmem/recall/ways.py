"""Owns the answer to "why are these two linked": up to three ways over edges, each step with its evidence.

It is not the search for ways itself (that is the graph's, `graphmem.store`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from graphmem.graph import Edge, EdgeStatus, LinkPath, LinkPaths, Node
from graphmem.model import FileStatus
from graphmem.recall.edges import Edges
from graphmem.store.port import GraphStore

_MOST = 3
_BOTH = 20


def link_paths(
    edges: Edges, store: GraphStore, source: int, target: int, behind: str | None = None
) -> LinkPaths:
    """Return the ways from one node to another, shortest first, then strongest.

    Args:
        edges: those of the moment asked about.
        store: the graph of that moment.
        source: a node that is known by then.
        target: another one.
        behind: what the graph lacks of the journal, as a clause.

    Raises:
        GraphFault: the graph can't be asked.
    """
    nodes = edges.references.nodes((source, target))
    start, end = nodes[source], nodes[target]
    reasons = [
        f"{node.ref} is gone" for node in dict.fromkeys((start, end)) if node.status is FileStatus.GONE
    ]
    paths: list[LinkPath] = []
    if source == target:
        reasons.append(f"both names mean {start.ref}")
    else:
        found = store.ways(source, target, _MOST)
        steps = edges.by_ids(dict.fromkeys(id for way in found.ways for id in way))
        paths = [path for way in found.ways if (path := _path(way, steps, start)) is not None]
        if not paths:
            reasons.append(_unlinked(edges, store, source, target))
        if found.cut is not None:
            reasons.append(found.cut)
        elif len(paths) < len(found.ways):
            reasons.append("a way leads over an edge that has changed since the graph was brought up")
    if behind is not None:
        reasons.append(behind)
    return LinkPaths(start, end, tuple(paths), complete=not reasons, reason="; ".join(reasons) or None)


def _path(way: Sequence[str], steps: Mapping[str, Edge], start: Node) -> LinkPath | None:
    """Return a way with the nodes it leads over; None if an edge of it is no more, or no more leads there."""
    nodes = [start]
    edges: list[Edge] = []
    for id in way:
        edge = steps.get(id)
        ends = {} if edge is None else {edge.source.ref: edge.target, edge.target.ref: edge.source}
        if edge is None or nodes[-1].ref not in ends:
            return None
        edges.append(edge)
        nodes.append(ends[nodes[-1].ref])
    sure = (1.0 if edge.status is EdgeStatus.CONFIRMED else edge.probability for edge in edges)
    return LinkPath(prod(sure), tuple(edges), tuple(nodes))


def _unlinked(edges: Edges, store: GraphStore, source: int, target: int) -> str:
    """Return that no way is known, and the observations that speak of both all the same."""
    sentence = "nothing recorded links them within three steps"
    both = store.observations_of((source, target), _BOTH)
    heads = edges.view.heads(both[:1])
    if not heads:
        return sentence
    newest = heads[0]
    title = f" ({newest.title})" if newest.title else ""
    if len(both) == 1:
        return f"{sentence}, though one observation holds both: {newest.id}{title}"
    count = f"{_BOTH} or more" if len(both) == _BOTH else str(len(both))
    return f"{sentence}, though {count} observations hold both, last {newest.id}{title}"
