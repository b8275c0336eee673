"""Owns the answers about the graph from the running service.

It is not the exchange itself (`api.service_client`), nor the files' twin (`api.backend_graph_local`).
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from api.backend_graph import EdgeQuestion, Progress, Shape, WalkQuestion
from api.service_client import ServiceClient, project_route
from graphmem.graph import Decision, Declaration


class RemoteGraph:
    """Asks through `client`, which its owner closes."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    def edges(self, project: str, question: EdgeQuestion) -> Shape:
        """Return a page of edges."""
        return self._client.get(
            project_route(project, "edges"),
            status=question.statuses,
            kind=question.kinds,
            node=question.node,
            order=question.order,
            as_of=question.as_of,
            limit=question.limit,
            cursor=question.cursor,
        )

    def edge(self, project: str, id: str, as_of: str | None = None) -> Shape:
        """Return one edge with its verdicts."""
        return self._client.get(project_route(project, "edges", id), as_of=as_of)

    def judge(self, project: str, decisions: Sequence[Decision]) -> Shape:
        """Store verdicts, all or none, and return the edges as they are now."""
        body = [
            {
                "id": decision.edge,
                "verdict": decision.verdict,
                "relation": decision.relation,
                "direction": decision.direction,
                "note": decision.note,
                "by": decision.by,
                "as_proposed": decision.as_proposed,
            }
            for decision in decisions
        ]
        return self._client.post(project_route(project, "edges", "verdicts"), body)

    def declare(self, project: str, declarations: Sequence[Declaration]) -> Shape:
        """Store declared edges, all or none, and return them."""
        body = [
            {
                "from": declaration.source,
                "to": declaration.target,
                "relation": declaration.relation,
                "note": declaration.note,
                "by": declaration.by,
            }
            for declaration in declarations
        ]
        return self._client.post(project_route(project, "edges"), body)

    def depends(self, project: str, question: WalkQuestion) -> Shape:
        """Return dependents or dependencies."""
        return self._client.get(
            project_route(project, "dependencies" if question.reverse else "dependents"),
            node=question.node,
            depth=question.depth,
            limit=question.limit,
            as_of=question.as_of,
        )

    def path(self, project: str, source: str, target: str) -> Shape:
        """Return why two nodes are linked."""
        return self._client.get(project_route(project, "path"), **{"from": source, "to": target})

    def infer(self, project: str) -> Shape:
        """Suggest edges and form modules now; return what changed."""
        return self._client.post(project_route(project, "infer"), {}, patient=True)

    def modules(self, project: str, level: int, limit: int, cursor: str | None) -> Shape:
        """Return a page of modules, the largest first."""
        return self._client.get(project_route(project, "modules"), level=level, limit=limit, cursor=cursor)

    def module(self, project: str, id: str) -> Shape:
        """Return one module."""
        return self._client.get(project_route(project, "modules", id))

    def overview(self, project: str, budget_tokens: int) -> Shape:
        """Return the digest in at most that many tokens."""
        return self._client.get(project_route(project, "overview"), budget_tokens=budget_tokens)

    def corroboration(self, project: str, within: str | None, limit: int) -> Shape:
        """Return the edges beside the imports of the last reading."""
        return self._client.get(project_route(project, "corroboration"), path=within, limit=limit)

    def corroborate(self, project: str, within: str | None, limit: int, progress: Progress) -> Shape:
        """Read the imports in the project's code; leaving early stops the reading there."""
        asked = {"limit": str(limit)} | ({} if within is None else {"path": within})
        route = f"{project_route(project, 'corroboration')}?{urlencode(asked)}"
        return self._client.report(route, {}, progress)

    def health(self, project: str, limit: int) -> Shape:
        """Return what deserves a look."""
        return self._client.get(project_route(project, "health"), limit=limit)
