"""Owns the checks on verdicts and declarations from outside, and handing what passes to the journal.

It is not the rules of what may follow a verdict (`graphmem.verdicts`), which the journal applies inside its
own transaction, nor the reading of node references (`graphmem.references`). A batch is stored whole or not.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace

from graphmem.capture.intake import bounded_text
from graphmem.edge_facts import EdgeFacts, StoredOffers
from graphmem.errors import InvalidInputError, NotFoundError
from graphmem.graph import Decision, NodeName, NodeType, Relation, VerdictKind
from graphmem.ledger import Ledger, Proposal, field_of, place_of
from graphmem.minting import canonical, edge_between, find, moment, named_request
from graphmem.postings import View
from graphmem.record import storable
from graphmem.redaction import without_secrets

MAX_DECLARATIONS = 5_000
MAX_BY = 200
_SHOWN_ID = 80


@dataclass(frozen=True, slots=True)
class NamedDeclaration:
    """A declaration with its references read: `source` depends on `target`."""

    source: NodeName
    target: NodeName
    relation: Relation
    note: str = ""
    by: str = ""


def decide(
    ledger: Ledger, connection: sqlite3.Connection, decisions: Sequence[Decision], at: float
) -> tuple[str, ...]:
    """Journal verdicts, all or none, and return for each the edge that speaks for its pair.

    Args:
        ledger: where they go.
        connection: reads the derived file.
        decisions: in order; of an edge that another one speaks for that other one is decided.
        at: epoch seconds.

    Raises:
        NotFoundError: an unknown edge; `candidates` are the ids most like it.
        ConflictError: the edge is retired, or there is nothing to undo.
        InvalidInputError: a direction or a relation where none can stand, or a declaration.
    """
    many = len(decisions) > 1
    whole: list[Decision] = []
    together: dict[str, int] = {}
    for index, decision in enumerate(decisions):
        if decision.verdict is VerdictKind.DECLARE:
            raise InvalidInputError(
                f"{place_of(index, many)}An edge is not declared by its id; name its two ends.",
                field_of(index, many, "verdict"),
            )
        edge = _known(ledger, connection, decision.edge, place_of(index, many))
        if edge not in together:
            pair = canonical(connection, edge)
            together[edge] = 0 if pair is None else joint_support(connection, pair.source, pair.target)
        whole.append(replace(decision, edge=edge, note=_note(decision.note), by=_by(decision.by)))
    if whole:
        ledger.judge(whole, at, together)
    return tuple(decision.edge for decision in whole)


def declare(
    ledger: Ledger,
    connection: sqlite3.Connection,
    declarations: Sequence[NamedDeclaration],
    project: str,
    at: float,
) -> tuple[str, ...]:
    """Journal declared edges, all or none, minting ids where there are none; return an edge for each.

    Args:
        ledger: where they go.
        connection: reads the derived file.
        declarations: up to 5,000, in order; of several on one pair all are kept and the last one counts.
        project: its id.
        at: epoch seconds.

    Raises:
        InvalidInputError: too many, a module, or both ends are the same node, by a former name too.
        ConflictError: an edge is retired.
    """
    if len(declarations) > MAX_DECLARATIONS:
        raise InvalidInputError(
            f"{len(declarations)} edges are too many to declare at once; send {MAX_DECLARATIONS} at a time."
        )
    proposals = [
        _proposal(connection, declaration, index, many=len(declarations) > 1)
        for index, declaration in enumerate(declarations)
    ]
    return tuple(ledger.declare(proposals, project, moment(connection), at)) if proposals else ()


def joint_support(connection: sqlite3.Connection, one: int, other: int) -> int:
    """Return how many observations, bulk ones aside, hold both nodes now; rejections are weighed by it."""
    facts = EdgeFacts(View(connection, math.inf), StoredOffers(connection), {})
    return facts.together(one, other)


def unknown_edge(ledger: Ledger, id: str, place: str = "") -> NotFoundError:
    """Return the error for an id that was never minted, with those that begin most like it."""
    near = ledger.nearest(id)
    shown = repr(storable(id) if len(id) <= _SHOWN_ID else storable(id)[: _SHOWN_ID - 1] + "…")
    if not near:
        return NotFoundError(f"{place}There is no edge {shown}; list them with `graphmem edges`.")
    named = ", ".join(f"{edge.id} ({edge.source} and {edge.target})" for edge in near)
    return NotFoundError(
        f"{place}There is no edge {shown}; the nearest ids are {named}.",
        candidates=tuple(edge.id for edge in near),
    )


def _known(ledger: Ledger, connection: sqlite3.Connection, id: str, place: str) -> str:
    edge = canonical(connection, id)
    if edge is not None:
        return edge.id
    # Minted, but not carried over yet.
    minted = ledger.edge(id)
    if minted is None:
        raise unknown_edge(ledger, id, place)
    return minted.id


def _proposal(
    connection: sqlite3.Connection, declaration: NamedDeclaration, index: int, *, many: bool
) -> Proposal:
    place = place_of(index, many)
    for end, name in (("from", declaration.source), ("to", declaration.target)):
        if name.type is NodeType.MODULE:
            raise InvalidInputError(
                f"{place}The module {name.name!r} can't be an end of an edge; name one of its members.",
                field_of(index, many, end),
            )
    request = named_request(connection, declaration.source, declaration.target)
    if request.source == request.target:
        raise InvalidInputError(
            f"{place}{declaration.source} and {declaration.target} are the same; name two different ends.",
            field_of(index, many, "to"),
        )
    ends = [find(connection, name, math.inf) for name in (request.source, request.target)]
    source, target = ends
    note, by = _note(declaration.note), _by(declaration.by)
    if source is None or target is None:
        return Proposal(request, declaration.relation, note, by)
    edge = edge_between(connection, source, target)
    return Proposal(
        request,
        declaration.relation,
        note,
        by,
        joint_support(connection, source, target),
        None if edge is None else edge.id,
        edge is None or edge.source == source,
    )


def _note(text: str) -> str:
    return without_secrets(bounded_text("note", text, []))


def _by(text: str) -> str:
    return storable(text)[:MAX_BY]
