"""Owns the bodies about the graph: verdicts on edges and declared edges, one or many at once.

It is not what they come to: whether an edge exists, or may be judged, is decided below. How a body is read
within its limit is `api.bodies`. In a batch a fault is named by its place, such as `3.relation`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints, TypeAdapter

from api.bodies import Body, PathText, ShortText, parse_json, shaped
from api.problems import ProblemKind, RefusedError
from graphmem.graph import Decision, Declaration, Direction, Relation, VerdictKind
from graphmem.record import storable

MOST_EDGES = 5_000
MOST_NOTE = 65_536
MOST_BY = 200


def _stored(value: Any) -> Any:
    """Replace what can't be stored before the length is looked at, which needs whole characters."""
    return storable(value) if isinstance(value, str) else value


Note = Annotated[
    str, StringConstraints(strip_whitespace=True, max_length=MOST_NOTE), BeforeValidator(_stored)
]
By = Annotated[str, StringConstraints(strip_whitespace=True, max_length=MOST_BY), BeforeValidator(_stored)]


class VerdictIn(Body):
    """A verdict on the edge of the path; a `direction` belongs to a `relation`, forward if none is given."""

    verdict: Literal["confirm", "reject", "undo", "retire"]
    relation: Relation | None = None
    direction: Direction | None = Field(default=None, description="forward: `from` depends on `to`")
    note: Note = ""
    by: By = Field(default="", description="who decided")
    as_proposed: bool = Field(default=False, description="confirm with the proposed relation and direction")

    def decision(self, edge: str) -> Decision:
        """Return what was decided about `edge`."""
        kind = VerdictKind(self.verdict)
        return Decision(
            edge, kind, self.relation, self.direction, self.note, self.by, as_proposed=self.as_proposed
        )


class VerdictOnIn(VerdictIn):
    """A verdict in a batch, with the `id` of its edge."""

    id: ShortText


class DeclarationIn(Body):
    """An edge somebody declares, by node references: `from` depends on, tests, documents ... `to`."""

    source: PathText = Field(alias="from", description="a node reference such as file:src/a.ts")
    target: PathText = Field(alias="to", description="a node reference such as contract:POST /login")
    relation: Relation
    note: Note = ""
    by: By = Field(default="", description="who says so")

    def declaration(self) -> Declaration:
        """Return what was declared."""
        return Declaration(self.source, self.target, self.relation, self.note, self.by)


_VERDICTS = TypeAdapter(list[VerdictOnIn])
_DECLARATIONS = TypeAdapter(list[DeclarationIn])


def read_verdicts(raw: bytes) -> list[Decision]:
    """Return the verdicts of a batch; call it off the event loop.

    Raises:
        RefusedError: no JSON, no array, more than 5,000, or an item that can't be used.
    """
    value = parse_json(raw)
    if isinstance(value, list):
        _refuse_many(value)
    return [item.decision(item.id) for item in shaped(_VERDICTS, value)]


def read_declarations(raw: bytes) -> tuple[list[Declaration], bool]:
    """Return the declared edges, and whether they came as an array; call it off the event loop.

    Raises:
        RefusedError: no JSON, neither object nor array, more than 5,000, or an item that can't be used.
    """
    value = parse_json(raw)
    if isinstance(value, list):
        _refuse_many(value)
        return [item.declaration() for item in shaped(_DECLARATIONS, value)], True
    return [shaped(TypeAdapter(DeclarationIn), value).declaration()], False


def _refuse_many(items: Sequence[Any]) -> None:
    if len(items) > MOST_EDGES:
        raise RefusedError(
            ProblemKind.TOO_LARGE,
            f"{len(items)} edges are more than the {MOST_EDGES} a request may hold: "
            "send them in smaller batches.",
        )
