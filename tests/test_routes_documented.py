"""Every route is in docs/http.md with parameters and an example, and in the OpenAPI document with errors."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

DOCUMENTATION = Path(__file__).resolve().parents[1] / "docs" / "http.md"
HEADING = re.compile(r"^### `([A-Z]+) (\S+)`$", re.MULTILINE)
SHARED = {"limit", "cursor", "as_of"}
INCOMING = {
    "/v1/projects": "ProjectIn",
    "/v1/projects/{project}/capture": "CaptureIn",
    "/v1/projects/{project}/observations": "ObservationIn",
    "/v1/projects/{project}/observations/{id}/verdict": "ObservationVerdictIn",
    "/v1/projects/{project}/retention": "RetentionIn",
    "/v1/projects/{project}/impact": "ImpactIn",
    "/v1/projects/{project}/query": "QueryIn",
    "/v1/projects/{project}/corpora": "CorpusIn",
    "/v1/projects/{project}/corpora/{name}/query": "QueryIn",
    "/v1/projects/{project}/imports": "ImportIn",
    "/v1/projects/{project}/edges": "DeclarationIn",
    "/v1/projects/{project}/edges/verdicts": "VerdictOnIn",
    "/v1/projects/{project}/edges/{id}/verdict": "VerdictIn",
}


@pytest.fixture(scope="module")
def document(service: Any) -> dict[str, Any]:
    found: dict[str, Any] = service.client.get("/openapi.json").json()
    return found


@pytest.fixture(scope="module")
def sections() -> dict[str, str]:
    parts = HEADING.split(DOCUMENTATION.read_text(encoding="utf-8"))[1:]
    return {f"{method} {path}": text for method, path, text in zip(*[iter(parts)] * 3, strict=True)}


def named(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        f"{method.upper()} {path.replace('{id:path}', '{id}')}": operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


def test_the_documentation_has_every_route_and_no_other(
    document: dict[str, Any], sections: dict[str, str]
) -> None:
    assert set(sections) == set(named(document))


def test_every_route_has_an_example_that_asks_it(document: dict[str, Any], sections: dict[str, str]) -> None:
    for name, text in sections.items():
        example = text.partition("```sh\n")[2].partition("```")[0]
        last = re.sub(r"\{\w+\}", "", name.rpartition("/")[2])
        assert "$URL" in example, name
        assert last in example, name


def test_every_parameter_and_field_is_named(document: dict[str, Any], sections: dict[str, str]) -> None:
    schemas = document["components"]["schemas"]
    for name, operation in named(document).items():
        method, path = name.split(" ")
        wanted = {item["name"] for item in operation.get("parameters", []) if item["in"] == "query"} - SHARED
        if method in {"POST", "PUT"} and path in INCOMING:
            wanted |= schemas[INCOMING[path]]["properties"].keys() - SHARED - {"reference"}
        both = sections[name] + (sections.get(f"GET {path}", "") if method == "POST" else "")
        missing = {field for field in wanted if not re.search(rf"\b{field}\b", both)}
        assert not missing, f"{name} does not tell of {missing}"


def test_the_shapes_in_the_examples_are_the_shapes_sent(
    document: dict[str, Any], sections: dict[str, str]
) -> None:
    schemas = document["components"]["schemas"]
    compared = 0
    for name, operation in named(document).items():
        answers = operation["responses"]
        good = answers.get("200", answers.get("201", {}))
        reference = good.get("content", {}).get("application/json", {}).get("schema", {}).get("$ref")
        example = sections[name].partition("```json\n")[2].partition("```")[0]
        if reference and example:
            compared += 1
            assert same_shape(json.loads(example), {"$ref": reference}, schemas) is None, name
    assert compared >= 5


def same_shape(value: Any, schema: dict[str, Any], schemas: dict[str, Any], place: str = "") -> str | None:
    """Return where `value` and `schema` differ in their fields, or None."""
    if "$ref" in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    for choice in schema.get("anyOf", []):
        if "$ref" in choice and value is not None:
            return same_shape(value, choice, schemas, place)
    if isinstance(value, dict) and "properties" in schema:
        if value.keys() != schema["properties"].keys():
            return f"{place}: {sorted(value.keys() ^ schema['properties'].keys())}"
        parts = [(item, schema["properties"][name], f"{place}.{name}") for name, item in value.items()]
    elif isinstance(value, list) and "items" in schema:
        parts = [(item, schema["items"], place) for item in value]
    else:
        return None
    return next((found for part in parts if (found := same_shape(part[0], part[1], schemas, part[2]))), None)


def test_every_route_has_a_summary_a_text_and_its_errors(document: dict[str, Any]) -> None:
    for name, operation in named(document).items():
        assert operation["summary"], name
        assert operation["description"], name
        failures = {status: answer for status, answer in operation["responses"].items() if status >= "400"}
        assert {"403", "500"} <= failures.keys(), name
        for status, answer in failures.items():
            content = answer["content"]
            assert list(content) == ["application/problem+json"], (name, status)
            schema = content["application/problem+json"]["schema"]
            assert schema == {"$ref": "#/components/schemas/ProblemOut"}, (name, status)


def test_routes_that_need_no_token_are_the_three_that_say_so(document: dict[str, Any]) -> None:
    assert document["security"]
    unguarded = {name for name, operation in named(document).items() if operation.get("security") == []}
    assert unguarded == {"GET /healthz", "GET /readyz", "GET /open"}
    for name, operation in named(document).items():
        assert ("401" in operation["responses"]) or name in {"GET /healthz", "GET /readyz"}


def test_every_reference_in_the_document_leads_somewhere(document: dict[str, Any]) -> None:
    references = set(re.findall(r'"\$ref": "#/components/schemas/([^"]+)"', json.dumps(document)))
    assert references <= document["components"]["schemas"].keys()
    assert "ProblemOut" in references


def test_the_page_shows_every_route_and_shape(service: Any, document: dict[str, Any]) -> None:
    page = unescape(service.client.get("/docs").text)
    for name, operation in named(document).items():
        method, path = name.split(" ")
        assert f"<b>{method}</b> <code>{path}</code> {operation['summary']}" in page
    for shape in document["components"]["schemas"]:
        assert f'id="{shape}"' in page


def test_all_statuses_of_problems_are_explained() -> None:
    from api.problems import ProblemKind

    text = DOCUMENTATION.read_text(encoding="utf-8")
    for kind in ProblemKind:
        if kind is not ProblemKind.OTHER:
            row = next((line for line in text.splitlines() if line.startswith(f"| {kind.status} ")), "")
            assert f"`{kind.value}`" in row, kind


def test_metrics_are_read_by_the_rules_of_their_format(service: Any) -> None:
    service.client.get("/nowhere")
    answer = service.client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    sample = re.compile(r'^[a-z_]+(\{[a-z]+="[^"\n]*"(,[a-z]+="[^"\n]*")*\})? [0-9.e+-]+$')
    families = set()
    for line in answer.text.splitlines():
        if line.startswith("# TYPE "):
            families.add(line.split()[2])
        elif not line.startswith("# HELP "):
            assert sample.match(line), line
            assert any(line.startswith(family) for family in families), line
    assert 'graphmem_requests_total{method="GET",route="none",status="404"}' in answer.text
