"""Owns the part of the seam that is about the graph: what the command line asks of edges, walks and modules.

It is not the rest of the seam (`api.backend`). Every answer is the HTTP shape as plain data
(`api.schemas_graph`); the twins are `api.backend_graph_local` and `api.backend_graph_remote`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from graphmem.errors import NotFoundError
from graphmem.graph import Decision, Declaration, EdgeKind, EdgeOrder, EdgeStatus

Shape = dict[str, Any]
Progress = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True)
class EdgeQuestion:
    """Which edges to list; `node` is a reference, `as_of` ISO 8601."""

    statuses: tuple[EdgeStatus, ...] = (EdgeStatus.CANDIDATE,)
    kinds: tuple[EdgeKind, ...] = ()
    node: str | None = None
    order: EdgeOrder = EdgeOrder.VALUE
    as_of: str | None = None
    limit: int = 20
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class WalkQuestion:
    """What depends on `node`, or with `reverse` what it depends on; `depth` in hops, `as_of` ISO 8601."""

    node: str
    reverse: bool = False
    depth: int = 3
    limit: int = 20
    as_of: str | None = None


class GraphBackend(Protocol):
    """Answers in HTTP's shapes; faults are `graphmem.errors`. `project` is a slug."""

    def edges(self, project: str, question: EdgeQuestion) -> Shape:
        """Return a page of edges, an `EdgePageOut`."""

    def edge(self, project: str, id: str, as_of: str | None = None) -> Shape:
        """Return one edge with its verdicts, an `EdgeOut`; NotFoundError."""

    def judge(self, project: str, decisions: Sequence[Decision]) -> Shape:
        """Store verdicts, all or none, and return the edges as they are now."""

    def declare(self, project: str, declarations: Sequence[Declaration]) -> Shape:
        """Store declared edges, all or none, and return them."""

    def depends(self, project: str, question: WalkQuestion) -> Shape:
        """Return dependents or dependencies, a `DependentsOut`."""

    def path(self, project: str, source: str, target: str) -> Shape:
        """Return why two nodes are linked."""

    def infer(self, project: str) -> Shape:
        """Suggest edges and form modules now; return what changed."""

    def modules(self, project: str, level: int, limit: int, cursor: str | None) -> Shape:
        """Return a page of modules, the largest first."""

    def module(self, project: str, id: str) -> Shape:
        """Return one module; NotFoundError."""

    def overview(self, project: str, budget_tokens: int) -> Shape:
        """Return the digest in at most that many tokens."""

    def corroboration(self, project: str, within: str | None, limit: int) -> Shape:
        """Return the edges beside the imports of the last reading, a `CorroborationOut`."""

    def corroborate(self, project: str, within: str | None, limit: int, progress: Progress) -> Shape:
        """Read the imports in the project's code, and return a `CorroborationOut`."""

    def health(self, project: str, limit: int) -> Shape:
        """Return what deserves a look; `limit` cuts the lists, not the counts."""


def edges_by_id(
    graph: GraphBackend, project: str, ids: Iterable[str], as_of: str | None = None
) -> dict[str, Shape]:
    """Return these edges by id; one that went away meanwhile is left out."""
    found: dict[str, Shape] = {}
    for id in dict.fromkeys(ids):
        try:
            found[id] = graph.edge(project, id, as_of)
        except NotFoundError:
            continue
    return found
