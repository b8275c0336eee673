"""Owns the answers of the running service: its client over HTTP, with problems turned back into our errors.

It is not the service's side (`api.service`), nor the files' twin (`api.backend_local`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, Self
from urllib.parse import quote

import httpx

from api.backend import (
    HistorySource,
    ImpactQuestion,
    ObservationQuestion,
    Progress,
    SearchQuestion,
    Shape,
)
from api.lifecycle import service_url
from api.option_types import text_argument
from graphmem.errors import (
    ConflictError,
    GraphMemError,
    HomeError,
    InvalidInputError,
    NotFoundError,
    SourceError,
    StorageError,
    UnavailableError,
)

_PAGE = 200
_JSON = {"Content-Type": "application/json"}
_TIMEOUT = httpx.Timeout(60.0, connect=5.0)
_ERRORS: Mapping[str, type[GraphMemError]] = {
    "urn:graphmem:problem:not-found": NotFoundError,
    "urn:graphmem:problem:conflict": ConflictError,
    "urn:graphmem:problem:invalid-input": InvalidInputError,
    "urn:graphmem:problem:source-not-readable": SourceError,
    "urn:graphmem:problem:home-not-usable": HomeError,
    "urn:graphmem:problem:storage": StorageError,
}


class RemoteBackend:
    """Answers from the service on `port`, which knows us by `token`."""

    def __init__(self, port: int, token: str) -> None:
        self.where = f"the service at {service_url(port)}"
        # The service is on this machine: a proxy of the environment has no part in this.
        self._client = httpx.Client(
            base_url=service_url(port),
            headers={"Authorization": f"Bearer {token}"},
            timeout=_TIMEOUT,
            trust_env=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._client.close()

    def projects(self) -> Shape:
        """Return the page of all projects, by slug."""
        items: list[Shape] = []
        cursor = None
        while True:
            page = self._get("/v1/projects", limit=_PAGE, cursor=cursor)
            items += page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return {"items": items, "next_cursor": None}

    def project(self, reference: str) -> Shape:
        """Return the project of that slug or around that absolute path."""
        if reference.startswith("/"):
            found = self._get("/v1/projects", path=text_argument(reference))["items"]
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
        return self._post("/v1/projects", {"root": root})

    def impact(self, project: str, question: ImpactQuestion) -> Shape:
        """Return what else changes."""
        answer = self._post(f"{_project(project)}/impact", asdict(question))
        if len(question.paths) == 1:
            # As GET answers, but an address has no room for a long intent.
            return answer | {"path": answer["paths"][0], "paths": []}
        return answer

    def observations(self, project: str, question: ObservationQuestion) -> Shape:
        """Return a page of observations, newest first."""
        return self._get(f"{_project(project)}/observations", **asdict(question))

    def observation(self, project: str, id: str) -> Shape:
        """Return one observation."""
        return self._get(f"{_project(project)}/observations/{quote(id, safe='')}")

    def sessions(self, project: str, limit: int, cursor: str | None) -> Shape:
        """Return a page of sessions, most recent first."""
        return self._get(f"{_project(project)}/sessions", limit=limit, cursor=cursor)

    def session(self, project: str, id: str) -> Shape:
        """Return one session."""
        return self._get(f"{_project(project)}/sessions/{quote(id, safe='')}")

    def search(self, project: str, question: SearchQuestion) -> Shape:
        """Return what was found in the texts."""
        return self._post(f"{_project(project)}/query", asdict(question))

    def stats(self, project: str) -> Shape:
        """Return counts and sizes."""
        return self._get(f"{_project(project)}/stats")

    def sign_in_link(self) -> Shape:
        """Return a one-time link that signs a browser in."""
        return self._post("/v1/links", {})

    def import_history(self, project: str, source: HistorySource, progress: Progress) -> Shape:
        """Import through the service and return the report; leaving early stops the import there."""
        body: Shape = {"source": source.kind, "location": source.location}
        if source.kind == "git":
            body |= {"include": source.include, "ref": source.ref}
        patient = httpx.Timeout(None, connect=5.0)
        with (
            _faults(),
            self._client.stream(
                "POST", f"{_project(project)}/imports", content=_json(body), headers=_JSON, timeout=patient
            ) as answer,
        ):
            if answer.is_error:
                answer.read()
                raise _error(answer.status_code, _document(answer.content))
            for line in answer.iter_lines():
                match json.loads(line):
                    case {"progress": {"done": done, "total": total}}:
                        progress(done, total)
                    case {"report": report}:
                        return dict(report)
                    case {"problem": problem}:
                        raise _error(problem["status"], problem)
        raise UnavailableError(
            "The service ended before the import did: start it again with `graphmem serve --detach` and "
            "run the same command again to go on."
        )

    def _get(self, route: str, **parameters: Any) -> Shape:
        given = {name: value for name, value in parameters.items() if value is not None}
        with _faults():
            return _answer(self._client.get(route, params=given))

    def _post(self, route: str, body: Shape) -> Shape:
        with _faults():
            return _answer(self._client.post(route, content=_json(body), headers=_JSON))


def _json(body: Shape) -> bytes:
    """Return a body in ASCII: a path that is not UTF-8 must reach the service, which says what it thinks."""
    return json.dumps(body).encode()


def _project(slug: str) -> str:
    return f"/v1/projects/{quote(slug, safe='')}"


@contextmanager
def _faults() -> Iterator[None]:
    """Turn what goes wrong on the way into one sentence."""
    try:
        yield
    except httpx.TimeoutException as error:
        raise UnavailableError(
            "The service did not answer in time: see `graphmem status`, or end it with `graphmem stop`."
        ) from error
    except httpx.HTTPError as error:
        raise UnavailableError(
            f"The connection to the service broke ({error}): see `graphmem status` and run the command again."
        ) from error


def _answer(response: httpx.Response) -> Shape:
    if response.is_error:
        raise _error(response.status_code, _document(response.content))
    answer: Shape = response.json()
    return answer


def _document(content: bytes) -> Shape:
    try:
        document = json.loads(content)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def _error(status: int, document: Shape) -> GraphMemError:
    """Return the error a problem document tells of."""
    detail = str(document.get("detail") or f"The service answered with status {status}: see its log.")
    fields = document.get("errors") or []
    if fields and detail.endswith("see `errors`."):
        reasons = "; ".join(f"{field['field']}: {field['message']}" for field in fields)
        detail = f"{detail.removesuffix('see `errors`.')}{reasons.rstrip('.')}."
    kind = _ERRORS.get(str(document.get("type")), UnavailableError)
    if kind is InvalidInputError:
        return InvalidInputError(detail, fields[0]["field"] if fields else None)
    return kind(detail)
