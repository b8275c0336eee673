"""Owns the JSON shapes of the graph that leave GraphMem: nodes, edges, walks, modules, digest, health.

It is not the other shapes (`api.schemas`), nor what comes in (`api.bodies_graph`). Each class is built from
its record of `graphmem.graph` by `of`, in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from pydantic import AliasChoices, Field

from api.schemas import EvidenceOut, Instant, ModuleRefOut, Probability, Score, Shape, SignalScoresOut
from graphmem import graph, model


class NodeOut(Shape):
    """A node; `ref` names it in questions, such as `file:src/a.ts`."""

    ref: str
    type: graph.NodeType
    name: str
    status: model.FileStatus


class VerdictOut(Shape):
    """What somebody decided about an edge, and when."""

    verdict: graph.VerdictKind
    by: str
    at: Instant
    note: str
    relation: graph.Relation | None
    direction: graph.Direction | None


class EdgeOut(Shape):
    """A pair of nodes with all that is known of it; direction `forward` means `from` depends on `to`.

    `probability` is P(one end is changed in the observation that changes the other), the larger of both
    ways; `value` is what an answer is worth, in the queue by value with that of the `similar` edges, which
    ask the same question and were folded into this one; `reason` says why it is stale, or back after a
    rejection. What is proposed is a guess from the names of the files, `proposed_because` its cue.
    `seen_in_code` says whether either file imports the other, null where that is not known; it is no
    evidence.
    """

    id: str
    kind: graph.EdgeKind
    source: NodeOut = Field(validation_alias=AliasChoices("source", "from"), serialization_alias="from")
    target: NodeOut = Field(validation_alias=AliasChoices("target", "to"), serialization_alias="to")
    status: graph.EdgeStatus
    origin: graph.Origin
    probability: Probability
    value: Score
    relation: graph.Relation | None
    direction: graph.Direction | None
    proposed_relation: graph.Relation | None
    proposed_direction: graph.Direction | None
    proposed_because: str | None
    evidence: EvidenceOut
    score: SignalScoresOut
    verdicts: list[VerdictOut]
    updated_at: Instant
    reason: str | None
    similar: list[str]
    seen_in_code: bool | None


class EdgePageOut(Shape):
    """A page of edges; `degraded` is what the list lacks just now."""

    items: list[EdgeOut]
    next_cursor: str | None
    degraded: str | None


class EdgeListOut(Shape):
    """The edges that a batch was about, in the order of the batch."""

    items: list[EdgeOut]

    @classmethod
    def of_edges(cls, edges: Iterable[graph.Edge]) -> Self:
        """Return the list of `edges`."""
        return cls(items=[EdgeOut.of(edge) for edge in edges])


class DependentOut(Shape):
    """A node reached over confirmed relations, in `hops` steps over the edges `via`, nearest first."""

    node: NodeOut
    hops: int
    via: list[str]


class NeighbourOut(Shape):
    """A direct neighbour over one edge."""

    node: NodeOut
    probability: Probability
    edge_id: str
    evidence: EvidenceOut
    kind: graph.EdgeKind
    status: graph.EdgeStatus
    relation: graph.Relation | None


class DependentsOut(Shape):
    """What depends on a node, or what it depends on; `complete` is false when something may be missing.

    `confirmed` was walked, `linked` are neighbours over confirmed edges without a relation to walk,
    `likely` and `possible` those over candidates.
    """

    node: NodeOut
    complete: bool
    reason: str | None
    degraded: str | None
    confirmed: list[DependentOut]
    linked: list[NeighbourOut]
    likely: list[NeighbourOut]
    possible: list[NeighbourOut]


class LinkPathOut(Shape):
    """One way over `steps` along `nodes`; `strength` is the product of the steps' probabilities."""

    strength: Probability
    nodes: list[NodeOut]
    steps: list[EdgeOut]


class LinkPathsOut(Shape):
    """Why two nodes are linked: up to three ways, shortest and strongest first."""

    source: NodeOut = Field(validation_alias=AliasChoices("source", "from"), serialization_alias="from")
    target: NodeOut = Field(validation_alias=AliasChoices("target", "to"), serialization_alias="to")
    complete: bool
    reason: str | None
    degraded: str | None
    paths: list[LinkPathOut]


class EdgeChangesOut(Shape):
    """How many edges one run of the inference created, changed, and let go."""

    created: int
    updated: int
    retired: int


class InferOut(Shape):
    """What one run of the inference changed; `modules` is how many there are now."""

    edges: EdgeChangesOut
    modules: int
    took_ms: Score
    degraded: str | None

    @classmethod
    def of_run(cls, run: graph.Inferred) -> Self:
        """Return the shape of a run."""
        return cls(
            edges=EdgeChangesOut.of(run), modules=run.modules, took_ms=run.took_ms, degraded=run.degraded
        )


class ModuleOut(Shape):
    """A community of files and concepts; `cohesion` and `drift` are shares in 0..1."""

    id: str
    label: str
    level: int
    parent: str | None
    size: int
    members: list[NodeOut]
    summary: str
    key_files: list[str]
    contracts: list[str]
    recent: list[str]
    cohesion: Score
    built_at: Instant
    drift: Score
    lineage: list[str]


class ModulePageOut(Shape):
    """A page of modules, the largest first; `unattached` files belong to none."""

    items: list[ModuleOut]
    next_cursor: str | None
    unattached: int
    degraded: str | None


class ModuleStateOut(Shape):
    """A module in the digest."""

    id: str
    label: str
    size: int
    last_change: Instant | None
    state: str
    open_tasks: list[str]


class HealthCountsOut(Shape):
    """How many of each kind of trouble there are."""

    dead_files: int
    cycles: int
    orphans: int
    oversized_modules: int
    stale_edges: int


class OverviewOut(Shape):
    """The digest: `text` of at most the asked tokens, and what it was made from."""

    text: str
    tokens: int
    modules: list[ModuleStateOut]
    in_progress: list[str]
    health: HealthCountsOut
    degraded: str | None


class ChangedFileOut(Shape):
    """A file that changed `changes` times since the last of the `statements` made in work on it."""

    node: NodeOut
    statements: int
    changes: int
    since: Instant


class LostContractOut(Shape):
    """A contract whose text no longer occurs in the working tree."""

    name: str
    last_seen: Instant


class OutdatedConsumerOut(Shape):
    """A file whose work last named a contract that another took the place of."""

    node: NodeOut
    contract: str
    superseded_by: str
    last_seen: Instant


class DriftOut(Shape):
    """Where memory and code moved apart; `counts` are whole, the lists are cut.

    `apart_edges` are confirmed ones whose ends change without each other, with the `reason`. `off_branch` are
    files that `branch`, the one checked out, does not hold. `complete` is false when the working tree was not
    looked through whole.
    """

    counts: dict[str, int]
    changed_files: list[ChangedFileOut]
    lost_contracts: list[LostContractOut]
    outdated_consumers: list[OutdatedConsumerOut]
    apart_edges: list[EdgeOut]
    off_branch: list[NodeOut]
    branch: str | None
    complete: bool


class HealthOut(Shape):
    """What deserves a look; the lists are cut at `limit`, the counts are not, but cycles at a hundred."""

    counts: HealthCountsOut
    dead_files: list[NodeOut]
    cycles: list[list[NodeOut]]
    orphans: list[NodeOut]
    oversized_modules: list[ModuleRefOut]
    stale_edges: list[EdgeOut]
    drift: DriftOut | None
    degraded: str | None
