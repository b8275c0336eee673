"""Owns what is proposed for an edge by the names of its ends, and taking a proposal over into a verdict.

It is not the cues (`inference.relations`) nor what was decided (`graphmem.verdicts`). A proposal is worked
out when an edge is read, from the names of that moment: it is stored nowhere and the same after a rebuild.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from graphmem.errors import InvalidInputError
from graphmem.graph import Decision, Direction, Edge, Node, NodeType, Relation, VerdictKind
from graphmem.ledger import field_of, place_of
from inference.relations import proposal


class Proposed(NamedTuple):
    """A relation to confirm, its direction, and the cue in words; all None where nothing is proposed."""

    relation: Relation | None = None
    direction: Direction | None = None
    because: str | None = None


NOTHING_PROPOSED = Proposed()


def proposed(source: Node, target: Node) -> Proposed:
    """Return what is proposed for an edge between two nodes; only names of files tell anything."""
    if not (source.type is target.type is NodeType.FILE):
        return NOTHING_PROPOSED
    found = proposal(source.name, target.name)
    if found is None:
        return NOTHING_PROPOSED
    return Proposed(Relation(found.relation), Direction(found.direction), found.because)


def adopted(
    decisions: Sequence[Decision], read: Callable[[Iterable[str]], Mapping[str, Edge]]
) -> list[Decision]:
    """Return the decisions with what is proposed filled in where somebody says so and names no relation.

    Args:
        decisions: as they came.
        read: returns edges by their ids; one that is unknown keeps its decision as it is.

    Raises:
        InvalidInputError: nothing is proposed, or the verdict is no confirmation.
    """
    many = len(decisions) > 1
    edges = read([decision.edge for decision in decisions if decision.as_proposed])
    whole: list[Decision] = []
    for index, decision in enumerate(decisions):
        if not decision.as_proposed:
            whole.append(decision)
            continue
        place, field = place_of(index, many), field_of(index, many, "as_proposed")
        if decision.verdict is not VerdictKind.CONFIRM:
            raise InvalidInputError(
                f"{place}Only a confirmation takes what is proposed; leave that out of {decision.verdict}.",
                field,
            )
        edge = edges.get(decision.edge)
        if decision.relation is None and edge is not None:
            whole.append(_adopted(decision, edge, place, field))
        else:
            whole.append(decision)
    return whole


def _adopted(decision: Decision, edge: Edge, place: str, field: str) -> Decision:
    found = proposed(edge.source, edge.target)
    if found.relation is None:
        raise InvalidInputError(
            f"{place}Nothing is proposed for the edge {edge.id}; name the relation yourself.", field
        )
    return replace(decision, relation=found.relation, direction=decision.direction or found.direction)
