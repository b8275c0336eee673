"""Owns the answers of the running service to what the command line asks.

It is not the exchange itself (`api.service_client`), nor the files' twin (`api.backend_local`).
"""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Self

from api.backend import (
    HistorySource,
    ImpactQuestion,
    ObservationQuestion,
    Progress,
    SearchQuestion,
    Shape,
)
from api.backend_corpora_remote import RemoteCorpora
from api.backend_graph_remote import RemoteGraph
from api.backend_keeping_remote import RemoteKeeping
from api.option_types import text_argument
from api.service_client import ServiceClient, project_route
from graphmem.errors import NotFoundError

_PAGE = 200


class RemoteBackend:
    """Answers from the service on `port`, which knows us by `token`."""

    def __init__(self, port: int, token: str) -> None:
        self._client = ServiceClient(port, token)
        self.where = f"the service at {self._client.url}"
        self.graph = RemoteGraph(self._client)
        self.keeping = RemoteKeeping(self._client)
        self.corpora = RemoteCorpora(self._client)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._client.close()

    def projects(self) -> Shape:
        """Return the page of all projects, by slug."""
        items: list[Shape] = []
        cursor = None
        while True:
            page = self._client.get("/v1/projects", limit=_PAGE, cursor=cursor)
            items += page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return {"items": items, "next_cursor": None}

    def project(self, reference: str) -> Shape:
        """Return the project of that slug or around that absolute path."""
        if reference.startswith("/"):
            found = self._client.get("/v1/projects", path=text_argument(reference))["items"]
        else:
            known = self.projects()["items"]
            found = [item for item in known if item["slug"].casefold() == reference.casefold()]
            # As in the registry, a folder's own name will do where only one project has it.
            found = found or [item for item in known if os.path.basename(item["root"]) == reference]
        if len(found) != 1:
            raise NotFoundError(f"There is no project {reference!r}; see `graphmem projects`.")
        project: Shape = found[0]
        return project

    def register(self, root: str) -> Shape:
        """Return the project of that root, made known if it is new."""
        return self._client.post("/v1/projects", {"root": root})

    def impact(self, project: str, question: ImpactQuestion) -> Shape:
        """Return what else changes."""
        answer = self._client.post(project_route(project, "impact"), asdict(question))
        if len(question.paths) == 1:
            # As GET answers, but an address has no room for a long intent.
            return answer | {"path": answer["paths"][0], "paths": []}
        return answer

    def observations(self, project: str, question: ObservationQuestion) -> Shape:
        """Return a page of observations, newest first."""
        return self._client.get(project_route(project, "observations"), **asdict(question))

    def observation(self, project: str, id: str) -> Shape:
        """Return one observation."""
        return self.keeping.observation(project, id)

    def sessions(self, project: str, limit: int, cursor: str | None) -> Shape:
        """Return a page of sessions, most recent first."""
        return self._client.get(project_route(project, "sessions"), limit=limit, cursor=cursor)

    def session(self, project: str, id: str) -> Shape:
        """Return one session."""
        return self._client.get(project_route(project, "sessions", id))

    def search(self, project: str, question: SearchQuestion) -> Shape:
        """Return what answers a question in words."""
        return self._client.post(project_route(project, "query"), asdict(question))

    def stats(self, project: str) -> Shape:
        """Return counts and sizes."""
        return self._client.get(project_route(project, "stats"))

    def captures(self, project: str, session: str | None) -> Shape:
        """Return whether work is recorded."""
        return self._client.get(project_route(project, "capture"), session=session)

    def set_capturing(self, project: str, on: bool, session: str | None) -> Shape:
        """Switch recording for the project or for one session."""
        return self._client.put(project_route(project, "capture"), {"enabled": on, "session": session})

    def sign_in_link(self) -> Shape:
        """Return a one-time link that signs a browser in."""
        return self._client.post("/v1/links", {})

    def import_history(self, project: str, source: HistorySource, progress: Progress) -> Shape:
        """Import through the service and return the report; leaving early stops the import there."""
        body: Shape = {"source": source.kind, "location": source.location}
        if source.kind == "git":
            body |= {"include": source.include, "ref": source.ref}
        return self._client.report(project_route(project, "imports"), body, progress)
