"""Owns the exchange with the running service: requests with the token, problems as our errors again.

It is not the questions (`api.backend_remote`, `api.backend_graph_remote`), nor the service's side
(`api.service`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import httpx

from api.backend import Progress, Shape
from api.lifecycle import service_url
from graphmem.errors import (
    ConflictError,
    GraphMemError,
    HomeError,
    InvalidInputError,
    NotFoundError,
    SourceError,
    StorageError,
    UnavailableError,
    UnknownNameError,
)

_JSON = {"Content-Type": "application/json"}
_TIMEOUT = httpx.Timeout(60.0, connect=5.0)
_PATIENT = httpx.Timeout(None, connect=5.0)
_ERRORS: Mapping[str, type[GraphMemError]] = {
    "urn:graphmem:problem:not-found": NotFoundError,
    "urn:graphmem:problem:conflict": ConflictError,
    "urn:graphmem:problem:invalid-input": InvalidInputError,
    "urn:graphmem:problem:unknown-name": UnknownNameError,
    "urn:graphmem:problem:source-not-readable": SourceError,
    "urn:graphmem:problem:home-not-usable": HomeError,
    "urn:graphmem:problem:storage": StorageError,
}


class ServiceClient:
    """Asks the service on `port`, which knows us by `token`; every fault is one of `graphmem.errors`."""

    def __init__(self, port: int, token: str) -> None:
        self.url = service_url(port)
        # The service is on this machine: a proxy of the environment has no part in this.
        self._http = httpx.Client(
            base_url=self.url,
            headers={"Authorization": f"Bearer {token}"},
            timeout=_TIMEOUT,
            trust_env=False,
        )

    def close(self) -> None:
        """End the connections."""
        self._http.close()

    def get(self, route: str, **parameters: Any) -> Shape:
        """Return the answer to a GET; a parameter that is None is left out, a sequence is repeated."""
        given = {name: value for name, value in parameters.items() if value is not None}
        with _faults():
            return _answer(self._http.get(route, params=given))

    def post(self, route: str, body: object, *, patient: bool = False) -> Shape:
        """Return the answer to a POST of `body` as JSON; with `patient` however long it takes."""
        timeout = _PATIENT if patient else _TIMEOUT
        with _faults():
            return _answer(self._http.post(route, content=_json(body), headers=_JSON, timeout=timeout))

    def put(self, route: str, body: object) -> Shape:
        """Return the answer to a PUT of `body` as JSON."""
        with _faults():
            return _answer(self._http.put(route, content=_json(body), headers=_JSON))

    def delete(self, route: str) -> None:
        """Ask for a DELETE, however long it takes."""
        with _faults():
            answer = self._http.delete(route, timeout=_PATIENT)
            if answer.is_error:
                raise error_of(answer.status_code, _document(answer.content))

    def report(self, route: str, body: object, progress: Progress) -> Shape:
        """Return the report that ends an answer which comes bit by bit, `progress` told on the way."""
        with self.lines(route, body) as lines:
            for line in lines:
                match line:
                    case {"progress": {"done": done, "total": total}}:
                        progress(done, total)
                    case {"report": report}:
                        return dict(report)
                    case {"problem": problem}:
                        raise error_of(problem["status"], problem)
        raise UnavailableError(
            "The service ended before the work did: start it again with `graphmem serve --detach` and "
            "run the same command again to go on."
        )

    @contextmanager
    def lines(self, route: str, body: object) -> Iterator[Iterator[Shape]]:
        """Provide the lines of an answer that comes bit by bit; leaving early tells the service to stop."""
        with (
            _faults(),
            self._http.stream("POST", route, content=_json(body), headers=_JSON, timeout=_PATIENT) as answer,
        ):
            if answer.is_error:
                answer.read()
                raise error_of(answer.status_code, _document(answer.content))
            yield (json.loads(line) for line in answer.iter_lines())


def project_route(slug: str, *parts: str) -> str:
    """Return the route of a project, or of what lies below it: each part is quoted."""
    return "/".join(("/v1/projects", *(quote(part, safe="") for part in (slug, *parts))))


def _json(body: object) -> bytes:
    """Return a body in ASCII: a path that is not UTF-8 must reach the service, which says what it thinks."""
    return json.dumps(body).encode()


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
        raise error_of(response.status_code, _document(response.content))
    answer: Shape = response.json()
    return answer


def _document(content: bytes) -> Shape:
    try:
        document = json.loads(content)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def error_of(status: int, document: Shape) -> GraphMemError:
    """Return the error a problem document tells of."""
    detail = str(document.get("detail") or f"The service answered with status {status}: see its log.")
    fields = document.get("errors") or []
    if fields and detail.endswith("see `errors`."):
        reasons = "; ".join(f"{field['field']}: {field['message']}" for field in fields)
        detail = f"{detail.removesuffix('see `errors`.')}{reasons.rstrip('.')}."
    nearest = tuple(str(name) for name in document.get("candidates") or ())
    kind = _ERRORS.get(str(document.get("type")), UnavailableError)
    if issubclass(kind, InvalidInputError):
        return kind(detail, fields[0]["field"] if fields else None, candidates=nearest)
    return kind(detail, candidates=nearest) if issubclass(kind, NotFoundError) else kind(detail)
