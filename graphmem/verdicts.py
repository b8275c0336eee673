"""Owns the rules of verdicts: where an edge stands after a history of them, and what may follow.

It is not their storage (`graphmem.ledger`) nor the checks on what comes from outside (`graphmem.decisions`).
Decisions form a stack: confirm, reject, retire and declare put one on top, undo takes the top one off, to any
depth.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from graphmem.errors import ConflictError, InvalidInputError
from graphmem.graph import Decision, Direction, EdgeStatus, Origin, Relation, Verdict, VerdictKind

_STATUS = {
    VerdictKind.CONFIRM: EdgeStatus.CONFIRMED,
    VerdictKind.DECLARE: EdgeStatus.CONFIRMED,
    VerdictKind.REJECT: EdgeStatus.REJECTED,
    VerdictKind.RETIRE: EdgeStatus.RETIRED,
}
RETURN_FACTOR = 2
"""A rejected edge is a candidate again once so many times the observations of then hold both ends."""
RETURN_LEAST = 2
_WITH_RELATION = (VerdictKind.CONFIRM, VerdictKind.DECLARE)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where an edge stands by what was decided; `status` is None once every decision is undone.

    A retired edge keeps the relation it had. `together` is how many observations held both ends when the
    deciding verdict was given, `at` when the last verdict was given (an undo counts), `number` that of the
    first verdict, by which edges of the same pair are told apart.
    """

    status: EdgeStatus | None = None
    origin: Origin = Origin.INFERRED
    relation: Relation | None = None
    direction: Direction | None = None
    together: int = 0
    at: float = 0.0
    number: int = 0


def counting(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Return those of an edge's verdicts (oldest first) that were not taken back, in the same order."""
    stack: list[Verdict] = []
    for verdict in verdicts:
        if verdict.verdict is not VerdictKind.UNDO:
            stack.append(verdict)
        elif stack:
            stack.pop()
    return stack


def standing(verdicts: Sequence[Verdict]) -> Standing:
    """Return where an edge stands after its verdicts, oldest first."""
    if not verdicts:
        return Standing()
    stack = counting(verdicts)
    found = Standing(at=verdicts[-1].at, number=verdicts[0].number)
    if not stack:
        return found
    top = stack[-1]
    meant = top
    if top.verdict is VerdictKind.RETIRE and len(stack) > 1:
        meant = stack[-2]
    declared = any(entry.verdict is VerdictKind.DECLARE for entry in stack)
    return replace(
        found,
        status=_STATUS[top.verdict],
        origin=Origin.DECLARED if declared else Origin.INFERRED,
        relation=meant.relation,
        direction=meant.direction,
        together=top.together,
    )


def completed(decision: Decision, field: str = "") -> Decision:
    """Return the decision with its direction filled in: forward where only a relation is given.

    Args:
        decision: as it came.
        field: what refusals put before the name of the field, such as `3.`.

    Raises:
        InvalidInputError: a direction without a relation, or a relation where none can stand.
    """
    if decision.relation is None:
        if decision.direction is not None:
            raise InvalidInputError(
                f"The direction {decision.direction} stands without a relation; give the relation it is of.",
                f"{field}direction",
            )
        if decision.verdict is VerdictKind.DECLARE:
            raise InvalidInputError(
                "An edge can't be declared without a relation; say what the edge means.", f"{field}relation"
            )
        return decision
    if decision.verdict not in _WITH_RELATION:
        raise InvalidInputError(
            f"The verdict {decision.verdict} takes no relation; leave {decision.relation} out.",
            f"{field}relation",
        )
    return replace(decision, direction=decision.direction or Direction.FORWARD)


def has_outgrown(rejected: Standing, together: int) -> bool:
    """Return whether a rejected edge may be suggested again: the evidence has at least doubled since.

    `together` is how many observations hold both ends now.
    """
    return together >= max(RETURN_LEAST, RETURN_FACTOR * rejected.together)


def is_change(history: Sequence[Verdict], decision: Decision, place: str = "", together: int = 0) -> bool:
    """Return whether a completed decision changes anything after this history, oldest first.

    The same verdict twice is no change, nor is a confirmation that names no relation where the edge is
    confirmed already. A rejection counts anew once the evidence has outgrown the last one.

    Args:
        history: the edge's verdicts so far.
        decision: see `completed`.
        place: put before the sentence of a refusal, such as `Item 3: `.
        together: how many observations hold both ends now.

    Raises:
        ConflictError: the edge is retired, or there is nothing to undo.
    """
    now = standing(history)
    name = f"{place}The edge {decision.edge}"
    match decision.verdict:
        case VerdictKind.UNDO:
            if now.status is None:
                raise ConflictError(f"{name} has no verdict left to undo; see its history.")
            return True
        case VerdictKind.RETIRE:
            return now.status is not EdgeStatus.RETIRED
        case _ if now.status is EdgeStatus.RETIRED:
            raise ConflictError(f"{name} is retired; undo that first.")
        case VerdictKind.REJECT:
            return now.status is not EdgeStatus.REJECTED or has_outgrown(now, together)
        case VerdictKind.CONFIRM:
            return now.status is not EdgeStatus.CONFIRMED or (
                decision.relation is not None and not _means(now, decision)
            )
        case VerdictKind.DECLARE:
            same = now.origin is Origin.DECLARED and _means(now, decision)
            return now.status is not EdgeStatus.CONFIRMED or not same


def _means(now: Standing, decision: Decision) -> bool:
    return (now.relation, now.direction) == (decision.relation, decision.direction)
