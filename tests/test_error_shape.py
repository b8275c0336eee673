"""Every error of the service is a problem document, on every route: generated from the OpenAPI document."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from api.problems import ProblemKind, problem_of
from api.service import create_app
from api.settings import Settings
from graphmem import Memory, errors

METHODS = {"get", "post", "put", "patch", "delete", "head", "options"}
OPEN_ROUTES = {"/healthz", "/readyz", "/open"}
PORT = 7832
# What each route needs before it looks for what was named.
BODIES: dict[str, Any] = {
    "/capture": {"enabled": True},
    "/impact": {"paths": ["a"]},
    "/query": {"text": "x"},
    "/observations": {"title": "x"},
    "/imports": {"source": "git", "location": "/x"},
    "/edges": {"from": "a", "to": "b", "relation": "tests"},
    "/edges/verdicts": [{"id": "none", "verdict": "confirm"}],
    "/edges/{id}/verdict": {"verdict": "confirm"},
    "/observations/{id}/verdict": {"verdict": "confirm"},
    "/retention": {},
    "/corpora": {"name": "x", "filter": {}},
    "/corpora/{name}/query": {"text": "x"},
}
NAMES = {"path": "a", "node": "a", "from": "a", "to": "b"}


@pytest.fixture(scope="module")
def document(service: Any) -> dict[str, Any]:
    found: dict[str, Any] = service.client.get("/openapi.json").json()
    return found


@pytest.fixture(scope="module")
def project(service: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(service.project(tmp_path_factory.mktemp("errors"))).rpartition("/")[2]


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation


def filled(path: str, project: str, id: str = "none") -> str:
    return re.sub(r"\{(?:id|client|name)\}", id, path.replace("{project}", project))


def body_for(method: str, path: str) -> Any:
    return BODIES.get(path.partition("{project}")[2]) if method in {"post", "put"} else None


def methods_on(document: dict[str, Any], path: str) -> set[str]:
    """Return the methods of every route that takes this path: `/edges/verdicts` is also an edge's address.

    The id of an observation may hold slashes.
    """
    return {
        method
        for template, methods in document["paths"].items()
        if re.fullmatch(
            re.sub(r"\{\w+\}", "[^/]+", template.replace("observations/{id}", "observations/.+")), path
        )
        for method in methods
    }


def check(answer: httpx.Response, status: int, operation: dict[str, Any] | None = None) -> None:
    where = f"{answer.request.method} {answer.request.url}: {answer.status_code} {answer.text[:300]}"
    assert answer.status_code == status, where
    assert answer.headers["content-type"] == "application/problem+json", where
    document = answer.json()
    assert document["status"] == status, where
    assert document["type"].startswith("urn:graphmem:problem:"), where
    assert document["title"], where
    assert document["detail"].endswith((".", "?")), where
    assert "Traceback" not in answer.text, where
    for error in document["errors"]:
        assert error["field"], where
        assert error["message"], where
    if operation is not None:
        assert str(status) in operation["responses"], f"not in the OpenAPI document: {where}"


def test_without_the_token(service: Any, document: dict[str, Any], project: str) -> None:
    with service.stranger() as stranger:
        for method, path, operation in operations(document):
            if path not in OPEN_ROUTES:
                check(stranger.request(method, filled(path, project)), 401, operation)


def test_under_a_foreign_host_or_from_a_foreign_page(
    service: Any, document: dict[str, Any], project: str
) -> None:
    for method, path, operation in operations(document):
        for header in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
            check(service.client.request(method, filled(path, project), headers=header), 403, operation)


def test_with_a_method_the_route_does_not_have(service: Any, document: dict[str, Any], project: str) -> None:
    for path in document["paths"]:
        methods = methods_on(document, filled(path, project))
        for method in METHODS - methods:
            answer = service.client.request(method, filled(path, project))
            if method == "head":
                assert answer.status_code == 405
                continue
            check(answer, 405)
            assert methods == {name.strip().lower() for name in answer.headers["allow"].split(",")}
            assert answer.json()["detail"].endswith(
                f"use {' or '.join(sorted(name.upper() for name in methods))}."
            )


def test_on_a_project_there_is_not(service: Any, document: dict[str, Any]) -> None:
    for method, path, operation in operations(document):
        if "{project}" in path:
            route, body = filled(path, "no-such-project"), body_for(method, path)
            check(service.client.request(method, route, json=body, params=NAMES), 404, operation)


def test_of_something_there_is_not(service: Any, document: dict[str, Any], project: str) -> None:
    for method, path, operation in operations(document):
        if re.search(r"\{(?:id|client|name)\}", path):
            body = body_for(method, path)
            check(service.client.request(method, filled(path, project), json=body), 404, operation)


@pytest.mark.parametrize(
    "path", ["/v1", "/v1/", "/v1/projects/", "/v2/projects", "/api", "/docs/", "/%00", "/ü"]
)
def test_on_a_route_there_is_not(service: Any, path: str) -> None:
    check(service.client.get(path), 404)


def test_with_a_body_that_cannot_be_read(service: Any, document: dict[str, Any], project: str) -> None:
    seen = 0
    for method, path, operation in operations(document):
        # A hook must never disturb the agent: what it sends is answered, see `test_live_capture`.
        if "requestBody" in operation and not path.startswith("/hooks/"):
            seen += 1
            route = filled(path, project)
            check(service.client.request(method, route, content=b"{"), 400, operation)
            check(service.client.request(method, route, json=7), 422, operation)
            if not path.endswith("/retention"):  # it needs no field: an empty one is a dry run
                check(service.client.request(method, route, json={}), 422, operation)
            check(
                service.client.request(method, route, json=[{}] * 1_001),
                413 if path.endswith("/observations") else 422,
                operation,
            )
            big = b'"' + b"x" * 8 * 1024 * 1024 + b'"'
            check(service.client.request(method, route, content=big), 413, operation)
            kind = {"Content-Type": "application/x-www-form-urlencoded"}
            check(service.client.request(method, route, content=b"a=b", headers=kind), 415, operation)
    assert seen == 13


def test_with_a_parameter_that_cannot_be_used(service: Any, document: dict[str, Any], project: str) -> None:
    seen = set()
    for method, path, operation in operations(document):
        for parameter in operation.get("parameters", []):
            schema, name = parameter["schema"], parameter["name"]
            choices = [schema, *schema.get("anyOf", [])]
            odd = None
            if any(
                choice.get("type") == "integer" or choice.get("format") == "date-time" for choice in choices
            ):
                odd = "never"
            elif any("enum" in choice for choice in choices):
                odd = "none-of-these"
            elif parameter["in"] == "query" and any("maxLength" in choice for choice in choices):
                odd = "x" * 70_000 if name == "intent" else "x" * 9_000
            if odd is None or (name == "intent"):
                continue
            query = NAMES | {name: odd}
            if parameter["in"] == "query":
                seen.add(name)
                answer = service.client.request(method, filled(path, project), params=query)
                check(answer, 422, operation)
                assert answer.json()["errors"][0]["field"] == name
    assert seen >= {"limit", "cursor", "since", "until", "as_of", "wait", "path", "nonce", "code"}
    assert seen >= {"node", "from", "to", "depth", "level", "budget_tokens"}


def test_every_class_of_our_errors_has_its_own_kind() -> None:
    kinds = {}
    for name, cls in vars(errors).items():
        if (
            isinstance(cls, type)
            and issubclass(cls, errors.GraphMemError)
            and cls is not errors.GraphMemError
        ):
            kinds[name] = problem_of(cls("A sentence.")).kind
    assert len(set(kinds.values())) == len(kinds) >= 7
    assert ProblemKind.FAULT not in kinds.values()
    assert problem_of(errors.GraphMemError("A sentence.")).status == 500
    refused = problem_of(errors.InvalidInputError("The root is no folder.", "root"))
    assert [(error.field, error.message) for error in refused.errors] == [("root", "The root is no folder.")]


def test_a_fault_of_our_own_is_a_500_that_shows_nothing_and_is_logged_whole(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Memory(tmp_path / "home") as memory:
        app = create_app(memory, Settings.load(tmp_path / "home", PORT))

        @app.get("/broken")
        def broken() -> None:
            raise RuntimeError("secret-internals")

        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(app)
            headers = {"Authorization": f"Bearer {memory.home.token()}"}
            url = f"http://127.0.0.1:{PORT}"
            async with httpx.AsyncClient(transport=transport, base_url=url, headers=headers) as client:
                return await client.get("/broken")

        with caplog.at_level(logging.ERROR, "graphmem.service"):
            answer = asyncio.run(ask())
    check(answer, 500)
    assert "secret-internals" not in answer.text
    assert "RuntimeError" not in answer.text
    assert "secret-internals" in caplog.text


@pytest.mark.parametrize(
    "request_line",
    ["GET /v1/projects?limit=\u00ff HTTP/1.1", "GET /v1/projects?%zz=%f HTTP/1.1", "GET ?x HTTP/1.1"],
)
def test_an_odd_request_line_is_answered(service: Any, request_line: str) -> None:
    raw = (
        f"{request_line}\r\nHost: 127.0.0.1:{service.port}\r\n"
        f"Authorization: Bearer {service.token}\r\nConnection: close\r\n\r\n"
    ).encode("latin-1")
    with socket.create_connection(("127.0.0.1", service.port), timeout=10) as connection:
        connection.sendall(raw)
        with connection.makefile("rb") as stream:
            status = int(stream.readline().split()[1])
    assert status in {200, 400, 404, 422}


def test_the_problem_in_the_documentation_is_one_that_is_sent(service: Any, project: str) -> None:
    text = (Path(__file__).resolve().parents[1] / "docs" / "http.md").read_text(encoding="utf-8")
    example = json.loads(text.partition("```json\n")[2].partition("```")[0])
    answer = service.client.post(
        f"/v1/projects/{project}/observations", json={"title": "x", "files_read": "no list"}
    )
    assert answer.json() == example


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    ["root", "slug", "paths", "intent", "session", "actor", "branch", "as_of", "limit", "text",
     "budget_tokens", "kinds", "types", "since", "until", "explain", "source", "location", "ref", "include",
     "from", "to", "relation", "direction", "verdict", "note", "by", "id"]
)  # fmt: skip
LIKELY = st.sampled_from(["git", "jsonl", "a.py", ["a.py"], 10, "2026-05-01", "auth", "/no/such/place", True,
                          "depends_on", "forward", "confirm", "concept:auth"])  # fmt: skip


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(FIELDS, VALUES | LIKELY, max_size=6) | VALUES)
def test_no_body_makes_a_route_fail_in_a_way_it_does_not_tell_of(
    service: Any, document: dict[str, Any], project: str, body: Any
) -> None:
    for method, path, operation in operations(document):
        if "requestBody" in operation and not path.endswith("observations"):
            answer = service.client.request(method, filled(path, project), content=json.dumps(body).encode())
            assert answer.status_code < 500, (path, body, answer.text)
            assert str(answer.status_code) in operation["responses"]
