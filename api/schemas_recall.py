"""Owns the JSON shapes of a question's answer: what was found, by observation and by node, and the context.

It is not how it was found (`graphmem.recall.inquiry`) and not the shapes that come in (`api.bodies`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, Self

from pydantic import Field

from api.schemas import Instant, Score, Shape
from graphmem.instant import to_iso
from graphmem.question import Answer, FoundNode, Piece, PieceKind

_OBSERVATION = "observation"


class HopOut(Shape):
    """One step of the path that brought something in; references as in questions."""

    source: str = Field(serialization_alias="from", validation_alias="source")
    target: str = Field(serialization_alias="to", validation_alias="target")
    kind: str
    edge_id: str | None = None


class FoundPieceOut(Shape):
    """A further statement of the same observation that answers too."""

    text: str
    kind: str
    score: Score
    status: Literal["current", "superseded", "tentative"]
    superseded_by: str | None = None


class SearchResultOut(Shape):
    """What was found: an observation with its best line, or a node.

    `kind` is that of the line (`observation` for its title and narrative), of a node its type.
    `superseded_by` is the id of the observation, or the name of the contract, that took its place. `via` is
    the path that brought it in, empty for what matched by itself. `flags` say what to know besides, in a few
    words.
    """

    type: Literal["observation", "file", "concept", "contract", "feature", "module"] = "observation"
    id: str
    title: str
    text: str
    kind: str
    score: Score
    at: Instant | None
    source: str | None
    status: Literal["current", "superseded", "tentative"] = "current"
    superseded_by: str | None = None
    layer: Literal["working", "durable"] | None = None
    flags: list[str] = Field(default_factory=list)
    via: list[HopOut] = Field(default_factory=list)
    pieces: list[FoundPieceOut] = Field(default_factory=list)
    explain: dict[str, float] | None = None

    @classmethod
    def of_pieces(cls, pieces: list[Piece], explain: bool) -> Self:
        """Return the result of one observation, its best piece first."""
        best, *others = pieces
        return cls(
            id=best.id,
            title=best.title,
            text=best.text,
            kind=_kind(best),
            score=best.score,
            at=to_iso(best.at),
            source=best.source,
            status=best.standing.value,
            superseded_by=_successor(best),
            layer=None if best.layer is None else best.layer.value,
            flags=list(best.flags),
            via=[HopOut.of(hop) for hop in best.via],
            pieces=[
                FoundPieceOut(
                    text=other.text,
                    kind=_kind(other),
                    score=other.score,
                    status=other.standing.value,
                    superseded_by=_successor(other),
                )
                for other in others
            ],
            explain=_rounded(best.parts) if explain else None,
        )

    @classmethod
    def of_node(cls, node: FoundNode, explain: bool) -> Self:
        """Return the result of a file, concept, contract or module."""
        return cls(
            type=node.type.value,
            id=node.ref,
            title=node.name,
            text=node.text,
            kind=node.type.value,
            score=node.score,
            at=None if node.at is None else to_iso(node.at),
            source=None,
            status="superseded" if node.superseded_by else "current",
            superseded_by=node.superseded_by,
            via=[HopOut.of(hop) for hop in node.via],
            explain=_rounded(node.parts) if explain else None,
        )


class SearchOut(Shape):
    """A question's answer: `results` in full, `context` packed into the budget, `tokens` its size."""

    results: list[SearchResultOut]
    context: str
    tokens: int
    degraded: str | None

    @classmethod
    def of_answer(cls, answer: Answer, *, explain: bool = False) -> Self:
        """Return the shape of an answer; the pieces of one observation are one result."""
        results = [SearchResultOut.of_pieces(pieces, explain) for pieces in _by_observation(answer.pieces)]
        nodes = [SearchResultOut.of_node(node, explain) for node in answer.nodes]
        ordered = [*nodes, *results] if answer.nodes_first else [*results, *nodes]
        return cls(results=ordered, context=answer.context, tokens=answer.tokens, degraded=answer.degraded)


def _by_observation(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    grouped: dict[int, list[Piece]] = {}
    for piece in pieces:
        grouped.setdefault(piece.seq, []).append(piece)
    yield from grouped.values()


def _kind(piece: Piece) -> str:
    return _OBSERVATION if piece.kind is PieceKind.HISTORY else piece.kind.value


def _successor(piece: Piece) -> str | None:
    return None if piece.successor is None else piece.successor.id


def _rounded(parts: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in parts.items()}
