"""Owns what a confirmed edge says as arcs: who depends on whom.

It is not how arcs are stored or walked.
"""

from __future__ import annotations

from typing import NamedTuple

from graphmem.graph import Direction, EdgeStatus
from graphmem.store.port import GraphEdge


class Arc(NamedTuple):
    """A link that says `source` depends on `target`, and the edge it comes from."""

    source: int
    target: int
    edge: str


def arcs_of(edge: GraphEdge) -> tuple[Arc, ...]:
    """Return the arcs of an edge: none unless it is confirmed with a relation, two if it goes both ways.

    A relation without a direction is forward.
    """
    if edge.status is not EdgeStatus.CONFIRMED or edge.relation is None or edge.source == edge.target:
        return ()
    forward = Arc(edge.source, edge.target, edge.id)
    backward = Arc(edge.target, edge.source, edge.id)
    match edge.direction:
        case Direction.BOTH:
            return forward, backward
        case Direction.BACKWARD:
            return (backward,)
        case _:
            return (forward,)
