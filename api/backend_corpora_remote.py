"""Owns the answers about corpora from the running service.

It is not the exchange itself (`api.service_client`), nor the files' twin (`api.backend_corpora_local`).
"""

from __future__ import annotations

from dataclasses import asdict

from api.backend_corpora import CorpusFilter, CorpusQuestion, Shape
from api.service_client import ServiceClient, project_route


class RemoteCorpora:
    """Asks through `client`, which its owner closes."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    def create(self, project: str, name: str, chosen: CorpusFilter) -> Shape:
        """Store a corpus and return it."""
        return self._client.post(project_route(project, "corpora"), {"name": name, "filter": asdict(chosen)})

    def listed(self, project: str, limit: int, cursor: str | None) -> Shape:
        """Return a page of corpora, by name."""
        return self._client.get(project_route(project, "corpora"), limit=limit, cursor=cursor)

    def text(self, project: str, name: str, budget_tokens: int) -> Shape:
        """Return what a corpus says."""
        return self._client.get(project_route(project, "corpora", name), budget_tokens=budget_tokens)

    def ask(self, project: str, question: CorpusQuestion) -> Shape:
        """Return the answer to a question within a corpus."""
        body = asdict(question)
        name = body.pop("name")
        return self._client.post(project_route(project, "corpora", name, "query"), body)

    def remove(self, project: str, name: str) -> None:
        """Take a corpus out."""
        self._client.delete(project_route(project, "corpora", name))
