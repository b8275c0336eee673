"""Owns the answers about the graph from the files themselves, for as long as no service runs on the home.

It is not the service's client (`api.backend_graph_remote`), nor the rest of the seam (`api.backend_local`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from api import schemas_graph as schemas
from api.backend_graph import EdgeQuestion, Progress, Shape, WalkQuestion
from api.schemas import Shape as OutShape
from api.schemas_code import CorroborationOut
from graphmem import Memory
from graphmem.graph import Decision, Declaration, EdgeFilter
from graphmem.instant import from_iso

if TYPE_CHECKING:
    from graphmem.project_graph import ProjectGraph


class LocalGraph:
    """Answers from `memory`, which its owner closes."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def edges(self, project: str, question: EdgeQuestion) -> Shape:
        """Return a page of edges."""
        where = EdgeFilter(
            statuses=question.statuses,
            kinds=question.kinds,
            node=question.node,
            order=question.order,
            as_of=_at(question.as_of),
        )
        page = self._graph(project).edges(where, question.limit, question.cursor)
        return _plain(schemas.EdgePageOut.of(page))

    def edge(self, project: str, id: str, as_of: str | None = None) -> Shape:
        """Return one edge with its verdicts."""
        return _plain(schemas.EdgeOut.of(self._graph(project).edge(id, _at(as_of))))

    def judge(self, project: str, decisions: Sequence[Decision]) -> Shape:
        """Store verdicts, all or none, and return the edges as they are now."""
        return _plain(schemas.EdgeListOut.of_edges(self._graph(project).judge(decisions)))

    def declare(self, project: str, declarations: Sequence[Declaration]) -> Shape:
        """Store declared edges, all or none, and return them."""
        return _plain(schemas.EdgeListOut.of_edges(self._graph(project).declare(declarations)))

    def depends(self, project: str, question: WalkQuestion) -> Shape:
        """Return dependents or dependencies."""
        graph = self._graph(project)
        walk = graph.dependencies if question.reverse else graph.dependents
        found = walk(question.node, question.depth, question.limit, _at(question.as_of))
        return _plain(schemas.DependentsOut.of(found))

    def path(self, project: str, source: str, target: str) -> Shape:
        """Return why two nodes are linked."""
        return _plain(schemas.LinkPathsOut.of(self._graph(project).path(source, target)))

    def infer(self, project: str) -> Shape:
        """Suggest edges and form modules now; return what changed."""
        return _plain(schemas.InferOut.of_run(self._graph(project).infer()))

    def modules(self, project: str, level: int, limit: int, cursor: str | None) -> Shape:
        """Return a page of modules, the largest first."""
        return _plain(schemas.ModulePageOut.of(self._graph(project).modules(level, limit, cursor)))

    def module(self, project: str, id: str) -> Shape:
        """Return one module."""
        return _plain(schemas.ModuleOut.of(self._graph(project).module(id)))

    def overview(self, project: str, budget_tokens: int) -> Shape:
        """Return the digest in at most that many tokens."""
        return _plain(schemas.OverviewOut.of(self._graph(project).overview(budget_tokens)))

    def corroboration(self, project: str, within: str | None, limit: int) -> Shape:
        """Return the edges beside the imports of the last reading."""
        return _plain(CorroborationOut.of(self._memory.project(project).code.corroboration(within, limit)))

    def corroborate(self, project: str, within: str | None, limit: int, progress: Progress) -> Shape:
        """Read the imports in the project's code; nothing is kept of a reading that is interrupted."""
        code = self._memory.project(project).code
        return _plain(CorroborationOut.of(code.read(within, limit, progress=progress)))

    def health(self, project: str, limit: int) -> Shape:
        """Return what deserves a look."""
        return _plain(schemas.HealthOut.of(self._graph(project).health(limit)))

    def _graph(self, project: str) -> ProjectGraph:
        return self._memory.project(project).graph


def _at(instant: str | None) -> float | None:
    return None if instant is None else from_iso(instant)


def _plain(shape: OutShape) -> Shape:
    return shape.model_dump(mode="json")
