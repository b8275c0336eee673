"""Owns small changes of an open graph: a difference applied row by row, and the mark.

It is not a load (that is `kuzu_loading`), nor the modules (`kuzu_modules`). What a change meets is looked up
before its transaction begins, so that one which names a node nobody knows leaves the graph as it was.
Statements are prepared and run in a loop: 0.3 to 1 ms a row, where one over a list takes seconds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from zlib import crc32

from graphmem.graph import Direction, EdgeKind, EdgeStatus, Relation
from graphmem.store import kuzu_schema as cypher
from graphmem.store.arcs import arcs_of
from graphmem.store.bounds import changed_type, stranger
from graphmem.store.kuzu_engine import Speaker
from graphmem.store.port import (
    OPEN_STATUSES,
    GraphChange,
    GraphEdge,
    GraphNode,
    GraphObservation,
    Mark,
)

_TOGETHER = 200
_ONE_BY_ONE = 20
"""More edges than this are looked up by reading the keys of all edges once."""


class _Arc(NamedTuple):
    source: int
    target: int
    edge: str
    relation: str


@dataclass(frozen=True, slots=True)
class Plan:
    """A change and what it meets in the graph."""

    change: GraphChange
    labels: dict[int, str]
    known_nodes: frozenset[int]
    before: dict[str, GraphEdge]
    present: frozenset[int]


def key_of(id: str) -> int:
    """Return the number by which an edge is found without comparing strings; few share one."""
    return crc32(id.encode("utf-8", "replace"))


def plain(text: str) -> str:
    """Return a text that the engine takes: half a surrogate pair, as of a strange name, becomes a `?`."""
    return text.encode("utf-8", "replace").decode("utf-8")


def is_open(edge: GraphEdge) -> bool:
    """Return whether an edge links: candidate or confirmed, and not from a node to itself."""
    return edge.status in OPEN_STATUSES and edge.source != edge.target


def plan(speaker: Speaker, change: GraphChange) -> Plan:
    """Look up what a change meets.

    Raises:
        GraphFault: it names a node that is not there, or changes a node's type.
    """
    ids = {edge.id for edge in change.edges} | set(change.dropped_edges)
    before = _edges_before(speaker, change.edges, ids)
    numbers = {node.number for node in change.nodes}
    for edge in (*change.edges, *before.values()):
        numbers |= {edge.source, edge.target}
    for item in change.observations:
        numbers |= {*item.touched, *item.mentioned}
    labels = labels_of(speaker, numbers)
    known = frozenset(labels)
    for node in change.nodes:
        if labels.setdefault(node.number, cypher.LABELS[node.type]) != cypher.LABELS[node.type]:
            raise changed_type(node.number)
    for edge in change.edges:
        _check(f"Edge {edge.id}", (edge.source, edge.target), labels)
    for item in change.observations:
        _check(f"Observation {item.number}", item.touched + item.mentioned, labels)
    present = {
        row[0]
        for some in _batches({item.number for item in change.observations})
        for row in speaker.rows(cypher.PRESENT, numbers=some)
    }
    return Plan(change, labels, known, before, frozenset(present))


def labels_of(speaker: Speaker, numbers: Collection[int]) -> dict[int, str]:
    """Return the labels of the nodes that are there."""
    return {
        number: label
        for some in _batches(numbers)
        for number, label in speaker.rows(cypher.LABELS_OF, nodes=some)
    }


def carry_out(speaker: Speaker, planned: Plan, mark: Mark) -> None:
    """Apply a planned change and move the mark, inside a transaction of the caller's."""
    change, labels = planned.change, planned.labels
    nodes = {node.number: node for node in change.nodes}
    for node in nodes.values():
        _put_node(speaker, node, known=node.number in planned.known_nodes)
    after = {edge.id: edge for edge in change.edges}
    for id, old in planned.before.items():
        new = after.get(id)
        if new is None or (new.source, new.target) != (old.source, old.target):
            ends = {"one": labels[old.source], "other": labels[old.target]}
            run(speaker, cypher.DROP_EDGE, ends, source=old.source, target=old.target, id=id)
    for edge in after.values():
        _put_edge(speaker, edge, planned.before.get(edge.id), labels)
    gone, come = _arcs(planned.before.values()), _arcs(after.values())
    for arc in gone - come:
        ends = {"one": labels[arc.source], "other": labels[arc.target]}
        run(speaker, cypher.DROP_ARC, ends, source=arc.source, target=arc.target, edge=arc.edge)
    for arc in come - gone:
        ends = {"one": labels[arc.source], "other": labels[arc.target]}
        run(speaker, cypher.NEW_ARC, ends, **arc._asdict())
    for item in {item.number: item for item in change.observations}.values():
        _put_observation(speaker, item, labels, known=item.number in planned.present)
    put_mark(speaker, mark)


def put_mark(speaker: Speaker, mark: Mark) -> None:
    """Write the mark."""
    if not speaker.rows(cypher.SET_MARK, **mark._asdict()):
        speaker.rows(cypher.NEW_MARK, **mark._asdict())


def _edges_before(speaker: Speaker, edges: Sequence[GraphEdge], ids: Collection[str]) -> dict[str, GraphEdge]:
    found: dict[str, GraphEdge] = {}
    missing = set(ids)
    if len(missing) <= _ONE_BY_ONE:
        for edge in edges:
            rows = speaker.rows(cypher.EDGES_AT, source=edge.source, target=edge.target)
            found |= {row[0]: _edge(row) for row in rows if row[0] in missing}
        missing -= found.keys()
    for some in _batches({key_of(id) for id in missing}):
        rows = speaker.rows(cypher.EDGES_BY_KEY, keys=some)
        found |= {row[0]: _edge(row) for row in rows if row[0] in missing}
    return found


def _edge(row: Sequence[Any]) -> GraphEdge:
    id, source, target, kind, status, probability, relation, direction = row
    return GraphEdge(
        id,
        source,
        target,
        EdgeKind(kind),
        EdgeStatus(status),
        probability,
        Relation(relation) if relation else None,
        Direction(direction) if direction else None,
    )


def _arcs(edges: Iterable[GraphEdge]) -> set[_Arc]:
    return {
        _Arc(arc.source, arc.target, arc.edge, edge.relation)
        for edge in edges
        if edge.relation is not None
        for arc in arcs_of(edge)
    }


def _put_node(speaker: Speaker, node: GraphNode, *, known: bool) -> None:
    statement = cypher.SET_NODE if known else cypher.NEW_NODE
    label = {"label": cypher.LABELS[node.type]}
    run(speaker, statement, label, number=node.number, name=plain(node.name), alive=node.alive)


def _put_edge(speaker: Speaker, edge: GraphEdge, old: GraphEdge | None, labels: dict[int, str]) -> None:
    stays = old is not None and (old.source, old.target) == (edge.source, edge.target)
    told = {
        "open": is_open(edge),
        "kind": str(edge.kind),
        "status": str(edge.status),
        "probability": float(edge.probability),
        "relation": str(edge.relation or ""),
        "direction": str(edge.direction or ""),
    }
    if not stays:
        told["key"] = key_of(edge.id)
    ends = {"one": labels[edge.source], "other": labels[edge.target]}
    statement = cypher.SET_EDGE if stays else cypher.NEW_EDGE
    run(speaker, statement, ends, id=edge.id, source=edge.source, target=edge.target, **told)


def _put_observation(
    speaker: Speaker, item: GraphObservation, labels: dict[int, str], *, known: bool
) -> None:
    if known:
        for statement in cypher.DROP_OBSERVATION:
            speaker.rows(statement, number=item.number)
    speaker.rows(cypher.NEW_OBSERVATION, number=item.number, at=float(item.at), title=plain(item.title))
    session = plain(item.session)
    if not speaker.rows(cypher.KNOWN_SESSION, name=session):
        speaker.rows(cypher.NEW_SESSION, name=session)
    speaker.rows(cypher.IN_SESSION, number=item.number, name=session)
    for table, nodes in (("TOUCHED", item.touched), ("MENTIONS", item.mentioned)):
        for node in dict.fromkeys(nodes):
            names = {"label": labels[node], "table": table}
            run(speaker, cypher.SEEN, names, number=item.number, at=float(item.at), node=node)


def run(speaker: Speaker, statement: str, names: dict[str, str], **parameters: object) -> None:
    """Run a statement about nodes of these labels."""
    speaker.rows(statement.format(**names), **parameters)


def _check(thing: str, ends: Sequence[int], known: Collection[int]) -> None:
    for node in ends:
        if node not in known:
            raise stranger(thing, node)


def _batches(numbers: Collection[int]) -> Iterator[list[int]]:
    ordered = sorted(numbers)
    for begin in range(0, len(ordered), _TOGETHER):
        yield ordered[begin : begin + _TOGETHER]
