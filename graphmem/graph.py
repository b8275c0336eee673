"""Owns the vocabulary of the graph: nodes, edges with their evidence, verdicts, walks, modules.

It is not the general vocabulary (`graphmem.model`), nor how any of it is stored (`graphmem.derived`,
`graphmem.store`) or shown (`api`). Times are epoch seconds in UTC.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from graphmem.model import Evidence, FileStatus, SignalScores
from graphmem.model import ModuleName as ModuleName

if TYPE_CHECKING:
    from graphmem.drift import Drift


class NodeType(StrEnum):
    """What a node stands for."""

    FILE = "file"
    CONCEPT = "concept"
    CONTRACT = "contract"
    FEATURE = "feature"
    MODULE = "module"


class NodeName(NamedTuple):
    """A node as people name it; `str()` is the reference, such as `file:src/a.ts`."""

    type: NodeType
    name: str

    def __str__(self) -> str:
        return f"{self.type}:{self.name}"


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the graph; a file is gone once its deletion was seen."""

    type: NodeType
    name: str
    status: FileStatus = FileStatus.KNOWN

    @property
    def ref(self) -> str:
        """The reference, such as `file:src/a.ts`."""
        return f"{self.type}:{self.name}"


class EdgeKind(StrEnum):
    """The strongest signal behind an edge; `DECLARED` while only somebody's word stands behind it."""

    CO_CHANGES = "co_changes"
    READ_FOR = "read_for"
    FOLLOWED_BY = "followed_by"
    ABOUT = "about"
    RELATED = "related"
    DECLARED = "declared"


class EdgeStatus(StrEnum):
    """Where an edge stands; `STALE` was confirmed, but its evidence or an end is gone."""

    CANDIDATE = "candidate"
    CONFIRMED = "confirmed"
    REJECTED = "rejected"
    STALE = "stale"
    RETIRED = "retired"


class Origin(StrEnum):
    """Who brought an edge up: the evidence, or somebody's declaration."""

    INFERRED = "inferred"
    DECLARED = "declared"


class Relation(StrEnum):
    """What an edge means; it comes with a verdict or a declaration, never from a guess."""

    DEPENDS_ON = "depends_on"
    TESTS = "tests"
    DOCUMENTS = "documents"
    CONFIGURES = "configures"
    IMPLEMENTS = "implements"


class Direction(StrEnum):
    """Forward means that the edge's `from` depends on its `to`."""

    FORWARD = "forward"
    BACKWARD = "backward"
    BOTH = "both"


class VerdictKind(StrEnum):
    """What somebody decided about an edge; `UNDO` takes the last decision back that still counts."""

    CONFIRM = "confirm"
    REJECT = "reject"
    UNDO = "undo"
    RETIRE = "retire"
    DECLARE = "declare"


class EdgeOrder(StrEnum):
    """How the review queue is ordered, highest first."""

    VALUE = "value"
    PROBABILITY = "probability"
    SUPPORT = "support"
    RECENT = "recent"


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict as somebody gives it; a direction needs a relation, which is forward if none is given.

    With `as_proposed` a confirmation that names no relation takes the one proposed for the edge.
    """

    edge: str
    verdict: VerdictKind
    relation: Relation | None = None
    direction: Direction | None = None
    note: str = ""
    by: str = ""
    as_proposed: bool = False


@dataclass(frozen=True, slots=True)
class Declaration:
    """An edge as somebody declares it, by node references; `source` depends on `target`."""

    source: str
    target: str
    relation: Relation
    note: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A journalled verdict; `together` is how many observations held both ends when it was given."""

    number: int
    edge: str
    verdict: VerdictKind
    relation: Relation | None
    direction: Direction | None
    note: str
    by: str
    at: float
    together: int = 0


@dataclass(frozen=True, slots=True)
class Edge:
    """A pair of nodes with everything known of it.

    `probability` is the larger of both directions of P(one end is changed in the observation that changes
    the other); `value` is what a verdict on it is worth. `reason` says why it is stale, or back after a
    rejection. `similar` are edges that ask the same question and were folded into this one. What is proposed
    is a guess from the names of its files, with the cue in words, while nobody said what the edge means.
    `seen_in_code` says whether either file imports the other, None where nobody looked; no evidence.
    """

    id: str
    kind: EdgeKind
    source: Node
    target: Node
    status: EdgeStatus
    origin: Origin
    probability: float
    value: float
    evidence: Evidence
    score: SignalScores
    updated_at: float
    relation: Relation | None = None
    direction: Direction | None = None
    proposed_relation: Relation | None = None
    proposed_direction: Direction | None = None
    proposed_because: str | None = None
    verdicts: tuple[Verdict, ...] = ()
    reason: str | None = None
    similar: tuple[str, ...] = ()
    seen_in_code: bool | None = None


@dataclass(frozen=True, slots=True)
class EdgeFilter:
    """Which edges to list. Without `kinds` and `node`, edges with a concept at an end are left out."""

    statuses: tuple[EdgeStatus, ...] = (EdgeStatus.CANDIDATE,)
    kinds: tuple[EdgeKind, ...] = ()
    node: str | None = None
    order: EdgeOrder = EdgeOrder.VALUE
    as_of: float | None = None


@dataclass(frozen=True, slots=True)
class EdgePage:
    """A page of edges."""

    items: tuple[Edge, ...]
    next_cursor: str | None
    degraded: str | None = None


@dataclass(frozen=True, slots=True)
class Inferred:
    """What one run of the inference changed: edges created, updated, retired (demoted), and the modules."""

    created: int = 0
    updated: int = 0
    retired: int = 0
    modules: int = 0
    took_ms: float = 0.0
    degraded: str | None = None


@dataclass(frozen=True, slots=True)
class Dependent:
    """A node reached over confirmed relations: in how many hops, over which edges, nearest first."""

    node: Node
    hops: int
    via: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A direct neighbour over one edge."""

    node: Node
    probability: float
    edge_id: str
    evidence: Evidence
    kind: EdgeKind = EdgeKind.CO_CHANGES
    status: EdgeStatus = EdgeStatus.CANDIDATE
    relation: Relation | None = None


@dataclass(frozen=True, slots=True)
class Dependents:
    """What depends on a node, or what it depends on.

    `linked` are direct neighbours over confirmed edges without a relation to walk.
    `complete` is false, with the reason, whenever something may be missing.
    """

    node: Node
    complete: bool
    reason: str | None
    confirmed: tuple[Dependent, ...] = ()
    linked: tuple[Neighbour, ...] = ()
    likely: tuple[Neighbour, ...] = ()
    possible: tuple[Neighbour, ...] = ()
    degraded: str | None = None


@dataclass(frozen=True, slots=True)
class LinkPath:
    """One way from a node to another over `steps`.

    `strength` is the product of their probabilities; a confirmed step counts 1.
    """

    strength: float
    steps: tuple[Edge, ...]
    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class LinkPaths:
    """Why two nodes are linked: up to three paths, shortest and strongest first."""

    source: Node
    target: Node
    paths: tuple[LinkPath, ...]
    complete: bool
    reason: str | None
    degraded: str | None = None


@dataclass(frozen=True, slots=True)
class Module:
    """A community of files and concepts.

    `cohesion` is the share of its members' edge weight that stays inside; `drift` the share of its members
    that changed since it was last summed up; `lineage` the ids of modules it came from.
    """

    id: str
    label: str
    level: int
    parent: str | None
    size: int
    members: tuple[Node, ...]
    summary: str
    key_files: tuple[str, ...]
    contracts: tuple[str, ...]
    recent: tuple[str, ...]
    cohesion: float
    built_at: float
    drift: float = 0.0
    lineage: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModulePage:
    """A page of modules, the largest first; `unattached` files belong to none."""

    items: tuple[Module, ...]
    next_cursor: str | None
    unattached: int = 0
    degraded: str | None = None


@dataclass(frozen=True, slots=True)
class ModuleState:
    """A module in the digest: how large, when last changed, what is open in it."""

    id: str
    label: str
    size: int
    last_change: float | None
    state: str
    open_tasks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HealthCounts:
    """How many of each kind of trouble there are."""

    dead_files: int = 0
    cycles: int = 0
    orphans: int = 0
    oversized_modules: int = 0
    stale_edges: int = 0


@dataclass(frozen=True, slots=True)
class Overview:
    """The digest: text of at most the asked tokens, and what it was made from."""

    text: str
    tokens: int
    modules: tuple[ModuleState, ...] = ()
    in_progress: tuple[str, ...] = ()
    health: HealthCounts = field(default_factory=HealthCounts)
    degraded: str | None = None


@dataclass(frozen=True, slots=True)
class Health:
    """What deserves a look; the lists are cut, the counts are not, but that of cycles at a hundred.

    Dead files are those that edges still name, cycles those of confirmed `depends_on`, orphans files
    without any edge, oversized modules those that grew too large to tell anything.
    """

    counts: HealthCounts
    dead_files: tuple[Node, ...] = ()
    cycles: tuple[tuple[Node, ...], ...] = ()
    orphans: tuple[Node, ...] = ()
    oversized_modules: tuple[ModuleName, ...] = ()
    stale_edges: tuple[Edge, ...] = ()
    drift: Drift | None = None
    degraded: str | None = None
