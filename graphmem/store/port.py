"""Owns the seam to the graph: what is kept in it and what it is asked, in domain words.

It is not the truth: everything in a store is a projection of the journal and of `derived.db`, and may be
deleted. Nodes are integers here (see `graphmem.nodes`); names are only carried along so that the graph can be
looked at by itself. No engine's shape may leak through this seam.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

from graphmem.errors import GraphMemError
from graphmem.graph import Direction, EdgeKind, EdgeStatus, NodeType, Relation

MAX_DEPTH = 3
TIMEOUT_MS = 250
OPEN_STATUSES: tuple[EdgeStatus, ...] = (EdgeStatus.CANDIDATE, EdgeStatus.CONFIRMED)


class GraphFault(GraphMemError):
    """The graph can't be read or written; it can be set aside and rebuilt."""


class GraphFull(GraphFault):
    """The disk is full or the file not writable: building it anew would not help."""


class GraphSlow(GraphFault):
    """A question met its limit and has no place to say so: building it anew would not help."""


NOT_CURED = (GraphFull, GraphSlow)
"""Faults that are no reason to set a graph aside."""


class Towards(StrEnum):
    """Which way confirmed relations are walked: to what depends on a node, or to what it depends on."""

    DEPENDENTS = "dependents"
    DEPENDENCIES = "dependencies"


class Mark(NamedTuple):
    """What a store holds: of which derived file (`generation`), up to which change and observation."""

    generation: int
    change: int
    entries: int


class GraphNode(NamedTuple):
    """A file, concept, contract or feature."""

    number: int
    type: NodeType
    name: str
    alive: bool = True


class GraphEdge(NamedTuple):
    """A promoted or judged edge from node `source` to node `target`, as the pair was first seen."""

    id: str
    source: int
    target: int
    kind: EdgeKind
    status: EdgeStatus
    probability: float
    relation: Relation | None = None
    direction: Direction | None = None


class GraphObservation(NamedTuple):
    """An observation in short: the files it touched, the concepts and contracts it mentions."""

    number: int
    at: float
    title: str
    session: str
    touched: tuple[int, ...] = ()
    mentioned: tuple[int, ...] = ()


class GraphModule(NamedTuple):
    """A module with its members; `parent` is the id of the module it is part of."""

    id: str
    label: str
    level: int
    parent: str | None
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GraphContent:
    """Everything a store holds, for a load; edges and observations may be iterables read once.

    Each edge and observation comes once. Members of modules that are not among the nodes are left out.
    """

    nodes: Iterable[GraphNode] = ()
    edges: Iterable[GraphEdge] = ()
    observations: Iterable[GraphObservation] = ()
    modules: Sequence[GraphModule] = ()


@dataclass(frozen=True, slots=True)
class GraphChange:
    """A difference: nodes and edges are inserted or replaced by number and id.

    Nodes that edges or observations refer to are in the store already or in `nodes`; a node keeps its type.
    A change that does not keep to this is a GraphFault and leaves the store as it was. An edge that is both
    dropped and given is there afterwards.
    """

    nodes: Sequence[GraphNode] = ()
    edges: Sequence[GraphEdge] = ()
    dropped_edges: Sequence[str] = ()
    observations: Sequence[GraphObservation] = ()


class Reached(NamedTuple):
    """A node that a walk reached; `via` are the edges of one shortest way, from the start outwards."""

    node: int
    hops: int
    via: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Walk:
    """What a walk found, nearest first, then by node; `cut` says why something may be missing, else None."""

    reached: tuple[Reached, ...] = ()
    cut: str | None = None


class Beside(NamedTuple):
    """A direct neighbour and the edge to it."""

    node: int
    edge: str
    status: EdgeStatus
    probability: float


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Direct neighbours, most probable first, then by edge id; `cut` as in `Walk`."""

    beside: tuple[Beside, ...] = ()
    cut: str | None = None


class Through(NamedTuple):
    """Which edges a step may take, and what it may come to.

    Edges of these `statuses` and of at least this `probability`, to living nodes of these `types`. With
    `towards` a confirmed relation is taken in that direction only; edges without one go both ways.
    """

    types: tuple[NodeType, ...] = (NodeType.FILE, NodeType.CONCEPT, NodeType.CONTRACT)
    statuses: tuple[EdgeStatus, ...] = OPEN_STATUSES
    probability: float = 0.0
    towards: Towards | None = None


class Step(NamedTuple):
    """A node that a step came to, from `source` over an edge."""

    node: int
    source: int
    edge: str
    kind: EdgeKind
    status: EdgeStatus
    probability: float
    relation: Relation | None = None


@dataclass(frozen=True, slots=True)
class Level:
    """What a step came to, the most probable first, then by edge id; `cut` as in `Walk`.

    That there is more than was asked for is no cut.
    """

    steps: tuple[Step, ...] = ()
    cut: str | None = None


@dataclass(frozen=True, slots=True)
class Ways:
    """Ways from one node to another, shortest first, then strongest: each the ids of its edges in order."""

    ways: tuple[tuple[str, ...], ...] = ()
    cut: str | None = None


@dataclass(frozen=True, slots=True)
class GraphCounts:
    """How much a store holds."""

    nodes: int = 0
    edges: int = 0
    observations: int = 0
    modules: int = 0


class GraphStore(Protocol):
    """One project's graph. Writes come from one thread at a time, questions from many.

    Every method raises GraphFault when the engine fails; a question that takes longer than its time limit
    returns what it may with `cut` set.
    """

    def mark(self) -> Mark | None:
        """Return what the store holds, None when nothing was ever loaded."""

    def load(self, content: GraphContent, mark: Mark) -> None:
        """Replace everything by `content`, in bulk; one that fails leaves the store as it was.

        Questions are answered from the old content until the new one is whole.
        """

    def apply(self, change: GraphChange, mark: Mark) -> None:
        """Apply a difference and move the mark, both or neither."""

    def set_modules(self, modules: Sequence[GraphModule]) -> None:
        """Replace all modules; the mark stays. Members the store does not hold are left out."""

    def walk(self, node: int, towards: Towards, depth: int = MAX_DEPTH, limit: int = 200) -> Walk:
        """Walk confirmed edges with a relation in their direction, up to `depth` (1 to 3) hops.

        An edge `source -> target` that is `forward` says that source depends on target, `backward` the
        reverse, `both` both. The start itself is not among the reached; each node is reached once, by the
        way of the smallest edge ids among its shortest.

        Raises:
            InvalidInputError: `depth` is not 1 to 3.
        """

    def beside(
        self, node: int, statuses: Sequence[EdgeStatus] = OPEN_STATUSES, limit: int = 200
    ) -> Surroundings:
        """Return direct neighbours over edges of these statuses, both directions."""

    def onwards(self, level: Sequence[int], seen: Collection[int], through: Through, width: int = 5) -> Level:
        """Go one step further from these nodes, to at most `width` that are neither among them nor `seen`.

        Each node is come to once: over its most probable edge, of equal ones that of the smallest id.
        """

    def ways(self, start: int, end: int, at_most: int = 3) -> Ways:
        """Return the shortest and strongest ways of up to three candidate or confirmed edges.

        No node comes twice in one. Of equal length and strength are those of smaller edge ids.
        """

    def cycles(self, at_most: int = 20) -> Ways:
        """Return cycles of confirmed `depends_on` edges, each once, as edge ids.

        They are the shortest through each edge, not every way round a knot; longer ones than eight hops only
        where a knot has no other. An edge that goes both ways is a
        cycle of two hops, its id twice. Shortest first, then by ids; `cut` says when there are more.
        """

    def orphans(self, limit: int = 200) -> tuple[int, ...]:
        """Return living files that no candidate or confirmed edge touches, by number."""

    def members(self, module: str, limit: int = 10_000) -> tuple[int, ...]:
        """Return the nodes of a module, by number; empty for an unknown one."""

    def module_of(self, nodes: Sequence[int], level: int = 0) -> dict[int, str]:
        """Return the module of each of these nodes that is in one."""

    def observations_of(self, nodes: Sequence[int], limit: int = 20) -> tuple[int, ...]:
        """Return observations that touched or mention all of these nodes, newest first."""

    def counts(self) -> GraphCounts:
        """Return how much there is."""

    def close(self) -> None:
        """Let go of the files; a second call does nothing."""
