"""Owns the answers about keeping and letting go from the running service.

It is not the exchange itself (`api.service_client`), nor the files' twin (`api.backend_keeping_local`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from api.backend_keeping import PruneQuestion, Shape
from api.service_client import ServiceClient, project_route

if TYPE_CHECKING:
    from graphmem.confirmations import Saying


class RemoteKeeping:
    """Asks through `client`, which its owner closes."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    def observation(self, project: str, id: str) -> Shape:
        """Return one observation with the verdicts on it."""
        return self._client.get(project_route(project, "observations", id))

    def judge(self, project: str, saying: Saying) -> Shape:
        """Store a verdict on an observation and return it."""
        body = {"verdict": saying.verdict, "note": saying.note, "by": saying.by}
        return self._client.post(project_route(project, "observations", saying.id, "verdict"), body)

    def forget(self, project: str, id: str) -> None:
        """Forget an observation everywhere."""
        self._client.delete(project_route(project, "observations", id))

    def prune(self, project: str, question: PruneQuestion) -> Shape:
        """Return what the rules let go, and let it go where it is no dry run."""
        body = {"dry_run": question.dry_run, "days": question.days, "max_bytes": question.max_bytes}
        return self._client.post(project_route(project, "retention"), body, patient=True)
