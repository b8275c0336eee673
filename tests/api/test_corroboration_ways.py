"""Corroboration through HTTP and the command line: read, kept, told, refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

FILES = {
    "src/cart.py": "from src import money\n",
    "src/money.py": "rate = 1\n",
    "src/clock.py": "now = 0\n",
    "src/rare.py": "import src.clock\n",
}


def put(built: Any) -> Any:
    """Commit a small code base whose first three files change together on five days."""
    for day in range(5):
        together = {path: f"{text}# {day}\n" for path, text in FILES.items() if path != "src/rare.py"}
        built.write(together)
        built.commit(f"Change {day}", at=1_767_225_600 + day * 100_000)
    built.write({"src/rare.py": FILES["src/rare.py"]})
    built.commit("Rarely", at=1_767_225_600 + 900_000)
    return built


@pytest.fixture
def code(git_repository: Callable[..., Any]) -> Any:
    return put(git_repository("code"))


def read(service: Any, project: str, **parameters: Any) -> list[dict[str, Any]]:
    with service.client.stream("POST", f"{project}/corroboration", params=parameters) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/x-ndjson"
        return [json.loads(line) for line in answer.iter_lines() if line]


def names(edges: Any) -> set[tuple[str, ...]]:
    return {tuple(sorted((edge["from"]["name"], edge["to"]["name"]))) for edge in edges}


def test_the_code_is_read_and_told_over_http(service: Any, code: Any) -> None:
    project = service.project(code.path)
    with service.client.stream(
        "POST", f"{project}/imports", json={"source": "git", "location": str(code.path)}
    ) as answer:
        assert [json.loads(line) for line in answer.iter_lines()][-1]["report"]["accepted"] == 6
    service.client.post(f"{project}/infer")
    before = service.client.get(f"{project}/corroboration").json()
    assert before["reading"] is None
    assert before["counts"]["unknown"] == 3
    *news, last = read(service, project)
    assert all(set(line) == {"progress"} for line in news)
    assert service.client.get(f"{project}/corroboration").json() == last["report"]
    assert last["report"]["counts"] == {
        **{"seen": 1, "hidden": 2, "hidden_tests": 0, "noise": 0, "unknown": 0},
        "silent": 1,
    }
    assert last["report"]["reading"]["read"] == {"python": 4}
    edges = service.client.get(f"{project}/edges").json()["items"]
    assert {names([edge]).pop(): edge["seen_in_code"] for edge in edges} == {
        ("src/cart.py", "src/money.py"): True,
        ("src/cart.py", "src/clock.py"): False,
        ("src/clock.py", "src/money.py"): False,
    }
    narrowed = service.client.get(
        f"{project}/corroboration", params={"path": "src/cart.py", "limit": 1}
    ).json()
    assert names(narrowed["hidden"]) == {("src/cart.py", "src/clock.py")}


@pytest.mark.parametrize(
    ("method", "parameters", "status"),
    [
        ("GET", {"limit": 0}, 422),
        ("GET", {"path": "/elsewhere/x"}, 422),
        ("GET", {"as_of": "2026-01-01"}, 400),
        ("POST", {"limit": 201}, 422),
        ("POST", {"as_of": "2026-01-01"}, 400),
        ("POST", {"path": ""}, 422),
    ],
)
def test_a_question_that_cannot_be_honoured_is_a_problem(
    service: Any, tmp_path: Path, method: str, parameters: dict[str, Any], status: int
) -> None:
    project = service.project(tmp_path / "plain")
    answer = service.client.request(method, f"{project}/corroboration", params=parameters)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    nobody = service.client.request(method, "/v1/projects/nobody/corroboration")
    assert nobody.status_code == 404


def test_a_folder_that_is_away_is_a_problem_by_status_or_by_the_last_line(
    service: Any, tmp_path: Path
) -> None:
    project = service.project(tmp_path / "left")
    (tmp_path / "left").rmdir()
    with service.client.stream("POST", f"{project}/corroboration") as answer:
        lines = [json.loads(line) for line in answer.iter_lines() if line]
    problem = lines[-1]["problem"] if answer.status_code == 200 else lines[-1]
    assert problem["type"] == "urn:graphmem:problem:source-not-readable"
    assert "is not there" in problem["detail"]


def test_the_command_reads_and_shows_hidden_coupling(graphmem: Any, code: Any) -> None:
    graphmem.good("import", "git", ".", cwd=code.path)
    graphmem.good("infer", cwd=code.path)
    assert "Nobody has read the code yet" in graphmem.good("corroborate", "--last", cwd=code.path).out
    shown = graphmem.good("corroborate", cwd=code.path).out
    assert "2 imports in 4 Python files" in shown
    assert "Hidden" in shown
    assert "Silent imports" in shown
    assert "is no evidence" in shown
    assert max(map(len, shown.splitlines())) <= 80
    found = graphmem.good("corroborate", "src/clock.py", "--last", "--json", cwd=code.path).shape
    assert names(found["hidden"]) == {("src/cart.py", "src/clock.py"), ("src/clock.py", "src/money.py")}
    code.write({"src/cart.py": "x = 1\n"})
    code.commit("Take the import out", at=1_767_225_600 + 1_000_000)
    assert "Stale: it was read at" in graphmem.good("corroborate", "--last", cwd=code.path).out
    edge = found["hidden"][0]["id"]
    assert "neither file imports the other" in graphmem.good("why", edge, cwd=code.path).out
    assert graphmem("corroborate", "/elsewhere/x.py", cwd=code.path).status == 1
