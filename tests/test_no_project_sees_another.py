"""Two projects of the same name, files, sessions and ids: no route of one ever shows the other."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

MARKS = {"one": "wombat", "two": "quokka"}
EVERY_STATUS = "candidate,confirmed,rejected,stale,retired"
# What stands for the id of the first edge, or module, of the project that is asked.
FIRST = {"/edges/{id}": "/edges", "/modules/{id}": "/modules"}


def observations(mark: str) -> list[dict[str, Any]]:
    return [
        {
            "id": f"same-id-{n}",
            "session": f"same-session-{n % 2}",
            "actor": f"{mark}-agent",
            "title": f"Change the {mark} login",
            "intent": f"{mark} intent",
            "facts": [f"the {mark} token lives 900 s", f"uses POST /api/{mark}/login"],
            "concepts": [mark, "auth"],
            "files_modified": ["src/main.py", f"src/{mark}.py"],
            "files_read": [f"doc/{mark}.md"],
        }
        for n in range(6)
    ]


@pytest.fixture
def apps(service: Any, tmp_path: Path, git_repository: Callable[..., Any]) -> dict[str, str]:
    """Two repositories named `app`, each with what only it may show."""
    found = {}
    for name, mark in MARKS.items():
        (tmp_path / name).mkdir()
        repository = git_repository(f"{name}/app")
        for number in range(3):
            repository.touch(f"{mark} commit {number}", "src/main.py", f"src/{mark}.py")
        found[name] = service.project(repository.path)
        answer = service.client.post(f"{found[name]}/observations?wait=visible", json=observations(mark))
        assert answer.json()["accepted"] == 6
        imported = service.client.post(
            f"{found[name]}/imports", json={"source": "git", "location": str(repository.path)}
        )
        assert json.loads(imported.text.splitlines()[-1])["report"]["accepted"] == 3
        assert service.client.post(f"{found[name]}/infer").status_code == 200
        corpus = {"name": "all", "filter": {"concept": "auth"}}
        assert service.client.post(f"{found[name]}/corpora", json=corpus).status_code == 201
    assert found["one"] != found["two"]
    return found


def questions(mark: str, other: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Every way to read from a project, also asking by name for what only the other one has."""
    return [
        ("GET", "/stats", {}),
        ("GET", "/observations", {"limit": 200}),
        *(("GET", "/observations", {name: value}) for name, value in (
            ("file", "src/main.py"), ("file", f"src/{other}.py"), ("concept", "auth"), ("concept", other),
            ("session", "same-session-0"))),
        ("GET", "/observations/{id}", {"id": "same-id-0"}),
        ("GET", "/sessions", {"limit": 200}),
        ("GET", "/sessions/{id}", {"id": "same-session-0"}),
        *(("GET", "/impact", {"path": path}) for path in ("src/main.py", f"src/{mark}.py")),
        ("POST", "/impact", {"paths": ["src/main.py", f"src/{mark}.py"], "limit": 200}),
        *(("POST", "/query", {"text": text}) for text in ("login token", "same", other)),
        ("GET", "/edges", {"status": EVERY_STATUS, "limit": 200}),
        ("GET", "/edges", {"status": EVERY_STATUS, "node": "concept:auth"}),
        ("GET", "/edges/{id}", {}),
        *(("GET", route, {"node": node}) for route in ("/dependents", "/dependencies")
          for node in ("src/main.py", f"src/{mark}.py", "concept:auth")),
        ("GET", "/path", {"from": "src/main.py", "to": f"src/{mark}.py"}),
        ("GET", "/modules", {"limit": 200}),
        ("GET", "/modules/{id}", {}),
        ("GET", "/overview", {"budget_tokens": 4_000}),
        ("GET", "/health", {"limit": 200}),
        ("GET", "/corroboration", {"limit": 200}),
        ("GET", "/corpora", {"limit": 200}),
        ("GET", "/corpora/{name}", {"name": "all"}),
        *(("POST", "/corpora/{name}/query", {"name": "all", "text": text}) for text in ("login", other)),
    ]  # fmt: skip


def first(service: Any, project: str, route: str) -> dict[str, Any]:
    found: dict[str, Any] = service.client.get(project + route).json()["items"][0]
    return found


def ask(service: Any, project: str, method: str, route: str, what: dict[str, Any]) -> Any:
    if route in FIRST:
        what = {"id": first(service, project, FIRST[route])["id"]}
    if "{id}" in route:
        return service.client.request(method, project + route.replace("{id}", what["id"]))
    route = route.replace("{name}", what.get("name", ""))
    if method == "POST":
        return service.client.post(project + route, json=what)
    return service.client.get(project + route, params=what)


def test_no_answer_of_one_names_what_is_the_others(service: Any, apps: dict[str, str]) -> None:
    for name, other in (("one", "two"), ("two", "one")):
        for method, route, what in questions(MARKS[name], MARKS[other]):
            answer = ask(service, apps[name], method, route, what)
            assert answer.status_code == 200, (route, what, answer.text)
            assert MARKS[other] not in answer.text, (route, what)


def test_each_still_answers_with_its_own(service: Any, apps: dict[str, str]) -> None:
    for name, mark in MARKS.items():
        found = service.client.get(f"{apps[name]}/impact", params={"path": "src/main.py"}).json()
        assert found["affected"][0]["path"] == f"src/{mark}.py"
        assert found["affected"][0]["evidence"]["together"] == 9
        assert service.client.get(f"{apps[name]}/stats").json()["observations"] == 9


def test_the_others_file_is_unknown(service: Any, apps: dict[str, str]) -> None:
    found = service.client.get(f"{apps['one']}/impact", params={"path": "src/quokka.py"}).json()
    assert (found["status"], found["affected"]) == ("unknown", [])


def test_what_one_forgets_the_other_keeps(service: Any, apps: dict[str, str]) -> None:
    assert service.client.delete(f"{apps['one']}/observations/same-id-3").status_code == 204
    assert service.client.get(f"{apps['one']}/observations/same-id-3").status_code == 404
    kept = service.client.get(f"{apps['two']}/observations/same-id-3")
    assert kept.status_code == 200
    assert "quokka" in kept.text


def test_a_page_of_one_is_no_page_of_the_other(service: Any, apps: dict[str, str]) -> None:
    first = service.client.get(f"{apps['one']}/observations", params={"limit": 2}).json()
    answer = service.client.get(f"{apps['two']}/observations", params={"cursor": first["next_cursor"]})
    assert "wombat" not in answer.text


def test_a_verdict_in_one_is_none_in_the_other(service: Any, apps: dict[str, str]) -> None:
    edge = first(service, apps["one"], "/edges")["id"]
    body = {"verdict": "confirm", "relation": "tests", "note": "wombat note", "by": "wombat-agent"}
    for answer in (
        service.client.get(f"{apps['two']}/edges/{edge}"),
        service.client.post(f"{apps['two']}/edges/{edge}/verdict", json=body),
        service.client.post(f"{apps['two']}/edges/verdicts", json=[{"id": edge, "verdict": "confirm"}]),
    ):
        assert answer.status_code == 404
        assert "wombat" not in answer.text
    assert service.client.post(f"{apps['one']}/edges/{edge}/verdict", json=body).status_code == 200
    listed = service.client.get(f"{apps['two']}/edges", params={"status": EVERY_STATUS, "limit": 200})
    assert {item["status"] for item in listed.json()["items"]} == {"candidate"}
    assert "wombat" not in listed.text


def test_what_one_declares_the_other_does_not_know(service: Any, apps: dict[str, str]) -> None:
    body = {"from": "src/main.py", "to": "contract:GET /wombat", "relation": "implements"}
    assert service.client.post(f"{apps['one']}/edges", json=body).status_code == 201
    found = service.client.get(f"{apps['one']}/dependencies", params={"node": "src/main.py"})
    assert "GET /wombat" in found.text
    for node, status in (("contract:GET /wombat", 404), ("src/main.py", 200), ("src/wombat.py", 400)):
        answer = service.client.get(f"{apps['two']}/dependents", params={"node": node})
        assert answer.status_code == status
        assert "GET /wombat" not in json.dumps(answer.json() | {"detail": ""})
        assert not [name for name in answer.json().get("candidates", []) if "wombat" in name]


def test_a_module_of_one_is_none_of_the_other(service: Any, apps: dict[str, str]) -> None:
    module = first(service, apps["one"], "/modules")["id"]
    answer = service.client.get(f"{apps['two']}/modules/{module}")
    assert answer.status_code in {200, 404}
    assert "wombat" not in answer.text


def test_an_absolute_path_into_the_other_is_outside(
    service: Any, apps: dict[str, str], tmp_path: Path
) -> None:
    foreign = str(tmp_path / "two" / "app" / "src" / "main.py")
    answer = service.client.get(f"{apps['one']}/impact", params={"path": foreign})
    assert answer.status_code == 422
    body = {"title": "x", "files_modified": [foreign]}
    assert service.client.post(f"{apps['one']}/observations", json=body).status_code == 422


def test_the_two_are_told_apart_by_their_slugs(service: Any, apps: dict[str, str]) -> None:
    slugs = {path.rpartition("/")[2] for path in apps.values()}
    assert len(slugs) == 2
    assert all(slug.startswith("app") for slug in slugs)


def test_what_is_switched_off_in_one_is_on_in_the_other(service: Any, apps: dict[str, str]) -> None:
    for body in ({"enabled": False, "session": "same-session-0"}, {"enabled": False}):
        assert service.client.put(f"{apps['one']}/capture", json=body).json()["enabled"] is False
        for session in ("same-session-0", None):
            asked = {} if session is None else {"session": session}
            assert service.client.get(f"{apps['two']}/capture", params=asked).json()["enabled"] is True


def test_what_agents_do_in_one_is_told_in_the_other_by_its_own_files_only(
    service: Any, git_repository: Callable[..., Any], eventually: Callable[..., Any]
) -> None:
    roots = {mark: git_repository(mark).path for mark in MARKS.values()}
    routes = {mark: service.project(root) for mark, root in roots.items()}

    def hook(mark: str, name: str, **fields: Any) -> str:
        told = {"session_id": f"{mark}-session", "cwd": str(roots[mark]), "hook_event_name": name, **fields}
        answer = service.client.post("/hooks/claude-code", json=told)
        assert answer.status_code == 200
        return str(answer.text)

    def recorded(mark: str) -> str:
        return str(service.client.get(f"{routes[mark]}/observations").text)

    for mark, other in (("wombat", "quokka"), ("quokka", "wombat")):
        hook(mark, "UserPromptSubmit", prompt=f"Always use the {mark} login", prompt_id=mark)
        for number, root in enumerate((roots[mark], roots[other])):
            path = {"file_path": f"{root}/shared_{number}.py"}
            called = {"tool_name": "Edit", "tool_input": path, "tool_use_id": f"{mark}-{number}"}
            hook(mark, "PostToolUse", prompt_id=mark, tool_response={}, **called)
        hook(mark, "Stop", prompt_id=mark, last_assistant_message=f"The {mark} login is at /{mark}.")
    for mark, other in (("wombat", "quokka"), ("quokka", "wombat")):
        eventually(lambda mark=mark: all(f"shared_{n}.py" in recorded(mark) for n in (0, 1)))
        assert f"{other} login" not in recorded(mark)
        told = hook(mark, "SessionStart", source="startup", session_id="new")
        told += hook(mark, "UserPromptSubmit", prompt="always use which login?", session_id="new")
        told += hook(
            mark, "PreToolUse", tool_name="Edit", tool_input={"file_path": "shared_0.py"}, session_id="new"
        )
        assert mark in told
        assert f"{other} login" not in told


def test_every_route_of_a_project_is_asked_here(service: Any) -> None:
    document = service.client.get("/openapi.json").json()
    routes = {
        (method.upper(), path.partition("{project}")[2])
        for path, methods in document["paths"].items()
        if "{project}" in path
        for method in methods
    }
    asked = {(method, route) for method, route, _ in questions("a", "b")}
    written = {("POST", "/observations"), ("POST", "/imports"), ("DELETE", "/observations/{id}"),
               ("POST", "/infer"), ("POST", "/corroboration"), ("POST", "/edges"),
               ("POST", "/edges/verdicts"), ("POST", "/edges/{id}/verdict"),
               ("POST", "/observations/{id}/verdict"), ("POST", "/retention"),
               ("POST", "/corpora"), ("DELETE", "/corpora/{name}")}  # fmt: skip
    switched = {("GET", "/capture"), ("PUT", "/capture")}
    assert routes == asked | written | switched
