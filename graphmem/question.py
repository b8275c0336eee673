"""Owns the vocabulary of a question in words: what is asked, a piece that is found, and the whole answer.

It is not how pieces are found (`graphmem.recall`) and not their form for the outside (`api`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from graphmem.graph import NodeType
from graphmem.model import Tier

MOST_WIDTH = 20
"""A level of an expansion holds so many nodes at most."""


class PieceKind(StrEnum):
    """What a piece is, in the order in which a context prefers them."""

    PREFERENCE = "preference"
    CONVENTION = "convention"
    TASK = "task"
    DECISION = "decision"
    FACT = "fact"
    HISTORY = "history"
    """The title and narrative of an observation: what was done."""


class Standing(StrEnum):
    """Whether what a piece says still holds."""

    CURRENT = "current"
    SUPERSEDED = "superseded"
    TENTATIVE = "tentative"


class Layer(StrEnum):
    """How well a statement has settled: of the last seven days, or stated in two sessions or confirmed."""

    WORKING = "working"
    DURABLE = "durable"


@dataclass(frozen=True, slots=True)
class Filters:
    """What pieces must keep to; empty means everything. Times in epoch seconds, `until` is exclusive.

    `kinds` are result types (observation, file, concept, contract, module) or kinds of pieces. `file` is a
    path, `concept` a name, `session`, `source` and `types` as observations carry them.
    """

    since: float | None = None
    until: float | None = None
    types: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    file: str | None = None
    concept: str | None = None
    session: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question in words.

    `budget_tokens` bounds the context, `context_window` the asker's window in tokens (None unknown); `depth`
    (0 to 3) and `width` (nodes a level) bound the expansion, None leaves it to the question. `session` is the
    asker's, for its recent context. `as_of` is a past moment in epoch seconds, None for now.
    """

    text: str
    limit: int = 20
    budget_tokens: int = 1_000
    filters: Filters = Filters()
    depth: int | None = None
    width: int | None = None
    context_window: int | None = None
    session: str | None = None
    as_of: float | None = None


@dataclass(frozen=True, slots=True)
class Successor:
    """What took the place of a superseded statement."""

    id: str
    text: str
    at: float


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of the path that brought a piece in: `source` and `target` are references.

    `kind` is an edge's kind or relation, or `touched`, `mentions`, `uses`; `edge_id` where it is an edge.
    """

    source: str
    target: str
    kind: str
    edge_id: str | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of what was recorded: an observation's own text (`ord` -1) or one of its facts.

    `seq` is the observation's number in the derived file, `id` its id. `text` is the line worth reading.
    `parts` explain the score, by name. `via` is the path that brought it in, empty for what matched.
    """

    seq: int
    ord: int
    id: str
    kind: PieceKind
    title: str
    text: str
    at: float
    source: str
    score: float
    standing: Standing = Standing.CURRENT
    successor: Successor | None = None
    layer: Layer | None = None
    parts: Mapping[str, float] = field(default_factory=dict)
    via: tuple[Hop, ...] = ()
    flags: tuple[str, ...] = ()
    """What a reader should know of it besides, a few words each: its files changed since, ..."""


@dataclass(frozen=True, slots=True)
class FoundNode:
    """A file, concept, contract or module that answers; `text` is a line on it.

    `tier` is how sure the links are that brought it in, the weakest of them; None where none had to be
    inferred: who was seen to use a contract, which modules there are.
    """

    type: NodeType
    ref: str
    name: str
    text: str
    score: float
    at: float | None = None
    parts: Mapping[str, float] = field(default_factory=dict)
    via: tuple[Hop, ...] = ()
    superseded_by: str | None = None
    tier: Tier | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """Pieces and nodes, best first, the packed context, its estimated tokens, and what was missing.

    `nodes_first` says that the question was for nodes: what has to change, who uses a contract, which modules
    there are.
    """

    pieces: tuple[Piece, ...]
    nodes: tuple[FoundNode, ...]
    context: str
    tokens: int
    degraded: str | None = None
    nodes_first: bool = False
