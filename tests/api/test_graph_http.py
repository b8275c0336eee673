"""What depends on what, why two nodes are linked, and the inference on demand, through HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

TOKEN, SESSION, LOGIN = "src/auth/token.ts", "src/checkout/session.ts", "src/auth/login.ts"
PAGE = "src/cart/page.ts"
WALKS = ("dependents", "dependencies")


@pytest.fixture(scope="module")
def chain(
    service: Any, make_suggestions: Callable[..., str], tmp_path_factory: pytest.TempPathFactory
) -> str:
    """A project in which page depends on session, session on token, token on two contracts."""
    project = make_suggestions(tmp_path_factory.mktemp("chain"))
    declare(service, project, (PAGE, SESSION), (SESSION, TOKEN))
    declare(service, project, *((TOKEN, f"contract:GET /keys/{name}") for name in ("public", "private")))
    return project


@pytest.fixture
def shop(make_suggestions: Callable[..., str], tmp_path: Path) -> str:
    """A project of the test's own."""
    return make_suggestions(tmp_path / "shop")


def declare(service: Any, project: str, *pairs: tuple[str, str], relation: str = "depends_on") -> list[str]:
    body = [{"from": source, "to": target, "relation": relation} for source, target in pairs]
    answer = service.client.post(f"{project}/edges", json=body)
    assert answer.status_code == 201, answer.text
    return [edge["id"] for edge in answer.json()["items"]]


def ask(service: Any, route: str, **parameters: Any) -> dict[str, Any]:
    answer = service.client.get(route, params=parameters)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def refused(answer: httpx.Response, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    found: dict[str, Any] = answer.json()
    return found


def names(items: list[dict[str, Any]]) -> list[str]:
    return [item["node"]["name"] for item in items]


# ---- dependents and dependencies -----------------------------------------------------------------


def test_dependents_are_walked_against_the_relation_with_their_way(service: Any, chain: str) -> None:
    found = ask(service, f"{chain}/dependents", node=TOKEN)
    assert set(found) >= {"node", "complete", "reason", "degraded", "confirmed", "likely", "possible"}
    assert found["node"] == {"ref": f"file:{TOKEN}", "type": "file", "name": TOKEN, "status": "known"}
    assert [(item["node"]["name"], item["hops"]) for item in found["confirmed"]] == [(SESSION, 1), (PAGE, 2)]
    direct, farther = found["confirmed"]
    assert (len(direct["via"]), len(farther["via"])) == (1, 2)
    assert set(direct["via"]) < set(farther["via"])
    for id in farther["via"]:
        assert ask(service, f"{chain}/edges/{id}")["status"] == "confirmed"
    assert found["degraded"] is None


def test_dependencies_are_walked_the_other_way(service: Any, chain: str) -> None:
    found = ask(service, f"{chain}/dependencies", node=f"file:{PAGE}")["confirmed"]
    assert names(found[:2]) == [SESSION, TOKEN]
    assert set(names(found[2:])) == {"GET /keys/public", "GET /keys/private"}
    assert [item["hops"] for item in found] == [1, 2, 3, 3]
    assert ask(service, f"{chain}/dependents", node=PAGE)["confirmed"] == []


def test_depth_and_limit_bound_the_walk(service: Any, chain: str) -> None:
    for depth, wanted in ((1, 1), (2, 2), (3, 4)):
        found = ask(service, f"{chain}/dependencies", node=PAGE, depth=depth)
        assert len(found["confirmed"]) == wanted
    cut = ask(service, f"{chain}/dependencies", node=PAGE, limit=1)
    assert names(cut["confirmed"]) == [SESSION]
    assert (cut["complete"], bool(cut["reason"])) == (False, True)


def test_suggestions_are_neighbours_only_and_make_the_answer_incomplete(service: Any, shop: str) -> None:
    found = ask(service, f"{shop}/dependents", node=TOKEN)
    assert (found["confirmed"], found["linked"]) == ([], [])
    assert set(names([*found["likely"], *found["possible"]])) >= {SESSION, LOGIN}
    assert PAGE not in names([*found["likely"], *found["possible"]])
    for item in (*found["likely"], *found["possible"]):
        assert set(item) >= {"node", "probability", "edge_id", "evidence"}
        assert item["status"] == "candidate"
    assert found["complete"] is False
    assert found["reason"]


def test_a_confirmed_edge_without_a_relation_is_a_neighbour(service: Any, shop: str) -> None:
    listed = ask(service, f"{shop}/edges", node=TOKEN)["items"]
    (id,) = [edge["id"] for edge in listed if SESSION in (edge["from"]["name"], edge["to"]["name"])]
    assert service.client.post(f"{shop}/edges/{id}/verdict", json={"verdict": "confirm"}).status_code == 200
    for walk in WALKS:
        found = ask(service, f"{shop}/{walk}", node=TOKEN)
        assert (names(found["linked"]), found["confirmed"]) == ([SESSION], [])
        assert found["linked"][0]["edge_id"] == id


def test_both_directions_are_walked_when_both_were_confirmed(service: Any, shop: str) -> None:
    listed = ask(service, f"{shop}/edges", node=TOKEN)["items"]
    (id,) = [edge["id"] for edge in listed if SESSION in (edge["from"]["name"], edge["to"]["name"])]
    body = {"verdict": "confirm", "relation": "depends_on", "direction": "both"}
    assert service.client.post(f"{shop}/edges/{id}/verdict", json=body).status_code == 200
    for walk in WALKS:
        for node, other in ((TOKEN, SESSION), (SESSION, TOKEN)):
            assert names(ask(service, f"{shop}/{walk}", node=node)["confirmed"]) == [other]


def test_a_cycle_ends_and_names_each_node_once(service: Any, shop: str) -> None:
    declare(service, shop, (TOKEN, SESSION), (SESSION, LOGIN), (LOGIN, TOKEN))
    for walk in WALKS:
        found = ask(service, f"{shop}/{walk}", node=TOKEN)["confirmed"]
        assert sorted(names(found)) == sorted([SESSION, LOGIN])
        assert [item["hops"] for item in found] == [1, 2]
    cycles = ask(service, f"{shop}/health")["cycles"]
    assert [sorted(node["name"] for node in cycle) for cycle in cycles] == [sorted([TOKEN, SESSION, LOGIN])]


def test_a_walk_as_of_a_moment_knows_nothing_later(service: Any, chain: str) -> None:
    then = ask(service, f"{chain}/dependents", node=TOKEN, as_of="2026-05-04T00:00:00Z")
    assert then["confirmed"] == []
    near = [*then["likely"], *then["possible"]]
    (session,) = [item for item in near if item["node"]["name"] == SESSION]
    assert session["evidence"]["together"] == 3
    assert ask(service, f"{chain}/dependents", node=TOKEN)["confirmed"]
    early = service.client.get(f"{chain}/dependents", params={"node": TOKEN, "as_of": "2020-01-01"})
    assert early.status_code in {400, 404}


@pytest.mark.parametrize("walk", WALKS)
@pytest.mark.parametrize(
    ("parameters", "field", "named"),
    [
        ({}, "node", "required"),
        ({"node": ""}, "node", ""),
        ({"node": "x" * 9_000}, "node", "8192"),
        ({"node": TOKEN, "depth": "99"}, "depth", "1 to 3"),
        ({"node": TOKEN, "depth": "0"}, "depth", "1 to 3"),
        ({"node": TOKEN, "depth": "-1"}, "depth", "1 to 3"),
        ({"node": TOKEN, "depth": "two"}, "depth", "integer"),
        ({"node": TOKEN, "limit": "201"}, "limit", "200"),
        ({"node": TOKEN, "as_of": "soon"}, "as_of", "ISO 8601"),
    ],
)
def test_a_wrong_question_is_refused_with_the_range(
    service: Any, chain: str, walk: str, parameters: dict[str, str], field: str, named: str
) -> None:
    (error,) = refused(service.client.get(f"{chain}/{walk}", params=parameters), 422)["errors"]
    assert error["field"] == field
    assert named in error["message"]


@pytest.mark.parametrize("walk", WALKS)
@pytest.mark.parametrize(
    ("node", "status", "nearest"),
    [
        ("file:src/auth/tokens.ts", 404, f"file:{TOKEN}"),
        ("src/auth/tokens.ts", 400, f"file:{TOKEN}"),
        ("contract:GET /keys/publik", 404, "contract:GET /keys/public"),
        ("concept:logn", 404, "concept:login"),
        ("feature:f1", 404, None),
        ("module:none", 404, None),
        ("nobody", 400, None),
        ("MATCH (n) DETACH DELETE n", 400, None),
        ("file:<script>", 404, None),
        ("contract:'}) RETURN 1 //", 404, None),
    ],
)
def test_an_unknown_node_is_answered_with_the_nearest_names(
    service: Any, chain: str, walk: str, node: str, status: int, nearest: str | None
) -> None:
    problem = refused(service.client.get(f"{chain}/{walk}", params={"node": node}), status)
    assert problem["detail"].endswith(".")
    assert len(problem["candidates"]) <= 3
    if nearest is not None:
        assert problem["candidates"][0] == nearest


@pytest.mark.parametrize(
    ("node", "statuses"),
    [("/etc/passwd", {422}), ("../outside.ts", {422}), ("file:", {422}), ("concept: ", {422}), (" ", {422}),
     ("a\x00b", {400, 422}), ("contract:a\x00b", {404, 422})],
)  # fmt: skip
def test_a_node_that_names_nothing_here_is_refused(
    service: Any, chain: str, node: str, statuses: set[int]
) -> None:
    for route, parameters in (
        ("dependents", {"node": node}),
        ("edges", {"node": node}),
        ("path", {"from": node, "to": TOKEN}),
        ("path", {"from": TOKEN, "to": node}),
    ):
        assert service.client.get(f"{chain}/{route}", params=parameters).status_code in statuses


def test_nodes_of_other_types_are_walked_too(service: Any, chain: str) -> None:
    found = ask(service, f"{chain}/dependents", node="contract:GET /keys/public")
    assert names(found["confirmed"]) == [TOKEN, SESSION, PAGE]
    assert ask(service, f"{chain}/dependents", node="concept:login")["node"]["type"] == "concept"


# ---- why two are linked ----------------------------------------------------------------------------


def test_a_path_gives_each_step_with_its_evidence(service: Any, chain: str) -> None:
    found = ask(service, f"{chain}/path", **{"from": PAGE, "to": f"file:{TOKEN}"})
    assert (found["from"]["name"], found["to"]["name"]) == (PAGE, TOKEN)
    assert 1 <= len(found["paths"]) <= 3
    for way in found["paths"]:
        assert [node["name"] for node in (way["nodes"][0], way["nodes"][-1])] == [PAGE, TOKEN]
        assert len(way["nodes"]) == len(way["steps"]) + 1
        for step, (a, b) in zip(way["steps"], zip(way["nodes"], way["nodes"][1:], strict=False), strict=True):
            assert {step["from"]["ref"], step["to"]["ref"]} == {a["ref"], b["ref"]}
            assert set(step["evidence"]) == {"together", "of", "sessions", "last_seen", "observations"}
    lengths = [len(way["steps"]) for way in found["paths"]]
    assert lengths == sorted(lengths)


def test_a_suggested_edge_is_a_way_too(service: Any, shop: str) -> None:
    (first, *_) = ask(service, f"{shop}/path", **{"from": SESSION, "to": LOGIN})["paths"]
    assert [node["name"] for node in first["nodes"]] == [SESSION, TOKEN, LOGIN]
    assert {step["status"] for step in first["steps"]} == {"candidate"}
    assert 0 < first["strength"] <= 1


def test_two_that_nothing_links_have_no_path(service: Any, shop: str) -> None:
    for start, end in ((SESSION, PAGE), (TOKEN, TOKEN)):
        found = ask(service, f"{shop}/path", **{"from": start, "to": end})
        assert found["paths"] == []
        assert found["reason"]


@pytest.mark.parametrize(
    ("parameters", "status"),
    [
        ({}, 422),
        ({"from": TOKEN}, 422),
        ({"to": TOKEN}, 422),
        ({"from": "", "to": TOKEN}, 422),
        ({"from": TOKEN, "to": "src/auth/tokens.ts"}, 400),
        ({"from": "file:no/such.ts", "to": TOKEN}, 404),
        ({"from": TOKEN, "to": SESSION, "as_of": "2026-05-04"}, 400),
    ],
)
def test_a_wrong_question_for_a_path_is_refused(
    service: Any, chain: str, parameters: dict[str, str], status: int
) -> None:
    problem = refused(service.client.get(f"{chain}/path", params=parameters), status)
    assert problem["detail"]


# ---- the inference on demand -------------------------------------------------------------------------


def test_the_inference_says_what_it_changed_and_a_second_run_changes_nothing(
    service: Any, tmp_path: Path
) -> None:
    project = service.project(tmp_path / "fresh")
    batch = [
        {"session": f"s{n}", "files_modified": ["a.ts", "b.ts"], "at": f"2026-05-0{n + 1}T12:00:00Z"}
        for n in range(4)
    ]
    assert service.client.post(f"{project}/observations?wait=visible", json=batch).json()["accepted"] == 4
    first = service.client.post(f"{project}/infer").json()
    assert set(first) >= {"edges", "modules", "took_ms"}
    assert set(first["edges"]) == {"created", "updated", "retired"}
    second = service.client.post(f"{project}/infer").json()
    assert second["edges"] == {"created": 0, "updated": 0, "retired": 0}
    assert second["modules"] == first["modules"]
    assert len(ask(service, f"{project}/edges")["items"]) == 1
    refused(service.client.post(f"{project}/infer", params={"as_of": "2026-05-04"}), 400)


def test_a_project_without_observations_answers_everything(service: Any, tmp_path: Path) -> None:
    project = service.project(tmp_path / "empty")
    assert service.client.post(f"{project}/infer").json()["edges"]["created"] == 0
    assert ask(service, f"{project}/edges")["items"] == []
    assert (
        refused(service.client.get(f"{project}/dependents", params={"node": "a.ts"}), 400)["candidates"] == []
    )


# ---- whatever comes ----------------------------------------------------------------------------------

ODD = st.text(st.characters(exclude_categories=()), max_size=40)
TYPES = st.sampled_from(["file", "concept", "contract", "feature", "module"])
REFERENCE = st.builds("{}:{}".format, TYPES, ODD)


@pytest.fixture(scope="module")
def odd(make_suggestions: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> str:
    """A project that takes every name it is given."""
    return make_suggestions(tmp_path_factory.mktemp("odd"))


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ODD | REFERENCE, ODD)
def test_no_name_whatever_is_a_fault_of_ours(service: Any, odd: str, name: str, note: str) -> None:
    escaped = "".join(f"%{byte:02X}" for byte in name.encode("utf-8", "surrogatepass"))
    for route in (
        f"dependents?node={escaped}",
        f"edges?cursor={escaped}",
        f"edges?node={escaped}",
        f"edges/{escaped}",
        f"modules/{escaped}",
        f"path?from={TOKEN}&to={escaped}",
    ):
        answer = service.client.get(f"{odd}/{route}")
        assert answer.status_code in {200, 400, 404, 422}, (route, answer.text)
    body = {"from": TOKEN, "to": name, "relation": "tests", "note": note, "by": note}
    answer = service.client.post(f"{odd}/edges", content=json.dumps(body).encode())
    assert answer.status_code in {201, 400, 404, 409, 422}, answer.text
    verdicts = json.dumps([{"id": name, "verdict": "reject", "note": note}]).encode()
    assert service.client.post(f"{odd}/edges/verdicts", content=verdicts).status_code in {404, 422}
