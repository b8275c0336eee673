"""Modules, the digest and the list of what deserves a look, through HTTP."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

TOKEN, SESSION, LOGIN = "src/auth/token.ts", "src/checkout/session.ts", "src/auth/login.ts"
NODE_FIELDS = {"ref", "type", "name", "status"}
MODULE_FIELDS = {
    "id", "label", "level", "parent", "size", "members", "summary", "key_files", "contracts", "recent",
    "cohesion", "built_at", "drift", "lineage",
}  # fmt: skip


@pytest.fixture(scope="module")
def shop(make_suggestions: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_suggestions(tmp_path_factory.mktemp("modules"))


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


def files(module: dict[str, Any]) -> set[str]:
    return {member["name"] for member in module["members"] if member["type"] == "file"}


def test_files_that_change_together_are_a_module(service: Any, shop: str) -> None:
    page = ask(service, f"{shop}/modules")
    assert set(page) >= {"items", "next_cursor", "unattached"}
    found = [files(module) for module in page["items"]]
    assert {TOKEN, SESSION, LOGIN} in found
    assert {"src/mail/send.ts", "src/mail/queue.ts", "src/mail/template.ts"} in found
    assert page["unattached"] == 2
    for module in page["items"]:
        assert set(module) >= MODULE_FIELDS
        assert all(set(member) == NODE_FIELDS for member in module["members"])
        assert (module["level"], module["parent"]) == (0, None) or module["parent"]
        assert set(module["key_files"]) <= files(module)
        assert module["label"]
        assert 0 <= module["cohesion"] <= 1
    sizes = [module["size"] for module in page["items"]]
    assert sizes == sorted(sizes, reverse=True)


def test_one_module_is_shown_and_named_by_the_impact_of_its_file(service: Any, shop: str) -> None:
    (module,) = [item for item in ask(service, f"{shop}/modules")["items"] if TOKEN in files(item)]
    assert ask(service, f"{shop}/modules/{module['id']}") == module
    impact = ask(service, f"{shop}/impact", path=TOKEN)
    assert impact["module"] == {"id": module["id"], "label": module["label"]}
    observations = ask(service, f"{shop}/observations", limit=200)["items"]
    assert module["recent"]
    assert set(module["recent"]) <= {f"{item['title']} ({item['id']})" for item in observations}


def test_pages_of_modules_hold_each_once(service: Any, shop: str) -> None:
    whole = [module["id"] for module in ask(service, f"{shop}/modules")["items"]]
    first = ask(service, f"{shop}/modules", limit=1)
    rest = ask(service, f"{shop}/modules", limit=200, cursor=first["next_cursor"])
    assert [module["id"] for module in (*first["items"], *rest["items"])] == whole
    assert rest["next_cursor"] is None


def test_a_level_nobody_reached_is_empty(service: Any, shop: str) -> None:
    assert ask(service, f"{shop}/modules", level=9)["items"] == []


@pytest.mark.parametrize("id", ["none", "%00", "用户", "<script>", "a b", "x" * 900, "') RETURN 1 //"])
def test_an_unknown_module_is_a_404(service: Any, shop: str, id: str) -> None:
    problem = refused(service.client.get(f"{shop}/modules/{id}"), 404)
    assert problem["detail"].endswith(".")
    assert isinstance(problem["candidates"], list)


def test_a_module_whose_name_is_nearly_right_is_offered(service: Any, shop: str) -> None:
    id = ask(service, f"{shop}/modules")["items"][0]["id"]
    near = id[:-1] + ("0" if id[-1] != "0" else "1")
    problem = refused(service.client.get(f"{shop}/modules/{near}"), 404)
    assert any(id in candidate for candidate in problem["candidates"])


@pytest.mark.parametrize(
    ("route", "parameters", "field", "named"),
    [
        ("modules", {"level": "-1"}, "level", "0 to 10"),
        ("modules", {"level": "99"}, "level", "0 to 10"),
        ("modules", {"level": "top"}, "level", "integer"),
        ("modules", {"limit": "0"}, "limit", "1"),
        ("modules", {"cursor": "not-one-of-ours"}, "cursor", ""),
        ("overview", {"budget_tokens": "49"}, "budget_tokens", "50 to 4000"),
        ("overview", {"budget_tokens": "4001"}, "budget_tokens", "50 to 4000"),
        ("overview", {"budget_tokens": "many"}, "budget_tokens", "integer"),
        ("health", {"limit": "201"}, "limit", "200"),
    ],
)
def test_a_wrong_parameter_is_refused_with_its_range(
    service: Any, shop: str, route: str, parameters: dict[str, str], field: str, named: str
) -> None:
    (error,) = refused(service.client.get(f"{shop}/{route}", params=parameters), 422)["errors"]
    assert error["field"] == field
    assert named in error["message"]


@pytest.mark.parametrize("route", ["modules", "modules/none", "overview", "health"])
def test_the_past_is_not_answered_from_the_present(service: Any, shop: str, route: str) -> None:
    problem = refused(service.client.get(f"{shop}/{route}", params={"as_of": "2026-05-04"}), 400)
    assert problem["type"].endswith("parameter-not-honoured")


@pytest.mark.parametrize("budget", [50, 200, 4_000])
def test_the_digest_keeps_to_its_budget(service: Any, shop: str, budget: int) -> None:
    found = ask(service, f"{shop}/overview", budget_tokens=budget)
    assert set(found) >= {"text", "tokens", "modules", "in_progress", "health"}
    assert 0 < found["tokens"] <= budget
    assert found["text"]
    labels = {module["label"] for module in ask(service, f"{shop}/modules")["items"]}
    assert {module["label"] for module in found["modules"]} <= labels
    assert set(found["health"]) == {"dead_files", "cycles", "orphans", "oversized_modules", "stale_edges"}


def test_the_digest_of_a_new_project_is_not_empty(service: Any, tmp_path: Path) -> None:
    project = service.project(tmp_path / "empty")
    found = ask(service, f"{project}/overview")
    assert found["text"]
    assert (found["modules"], found["in_progress"]) == ([], [])
    assert ask(service, f"{project}/modules")["items"] == []
    assert set(ask(service, f"{project}/health")["counts"].values()) == {0}


def test_what_deserves_a_look_is_listed_and_counted(
    service: Any, make_suggestions: Callable[..., str], tmp_path: Path
) -> None:
    project = make_suggestions(tmp_path / "ill")
    pairs = [(TOKEN, SESSION), (SESSION, TOKEN), (LOGIN, "contract:GET /keys")]
    body = [{"from": source, "to": target, "relation": "depends_on"} for source, target in pairs]
    assert service.client.post(f"{project}/edges", json=body).status_code == 201
    gone = {"session": "late", "files_deleted": ["src/cart/style.css", LOGIN], "at": "2026-06-20T12:00:00Z"}
    alone = {"session": "late", "files_modified": ["README.md"], "at": "2026-06-20T13:00:00Z"}
    answer = service.client.post(f"{project}/observations?wait=visible", json=[gone, alone])
    assert answer.json()["accepted"] == 2
    assert service.client.post(f"{project}/infer").status_code == 200
    found = ask(service, f"{project}/health")
    assert LOGIN in [node["name"] for node in found["dead_files"]]
    assert {node["status"] for node in found["dead_files"]} == {"gone"}
    assert "README.md" in [node["name"] for node in found["orphans"]]
    (stale,) = found["stale_edges"]
    assert {stale["from"]["name"], stale["to"]["name"]} == {LOGIN, "GET /keys"}
    assert (stale["status"], bool(stale["reason"])) == ("stale", True)
    for kind in ("dead_files", "orphans", "stale_edges", "cycles", "oversized_modules"):
        assert found["counts"][kind] == len(found[kind])
    cut = ask(service, f"{project}/health", limit=1)
    assert cut["counts"] == found["counts"]
    assert all(len(cut[kind]) <= 1 for kind in ("dead_files", "orphans", "stale_edges"))
    assert ask(service, f"{project}/overview")["health"] == found["counts"]
