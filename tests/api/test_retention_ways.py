"""Keeping, forgetting and pruning over HTTP and from the command line: shapes, refusals, dry runs first."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from api.cli import program
from api.settings import Settings
from graphmem import Memory
from graphmem.errors import InvalidInputError
from graphmem.question import PieceKind

OLD = {"id": "old", "title": "Old work", "at": "2020-01-01T00:00:00Z", "files_modified": ["a.py"]}
NEW = {"id": "new/1", "title": "New work", "facts": ["the port is 8001"]}


@pytest.fixture
def project(service: Any, tmp_path: Path) -> str:
    path: str = service.project(tmp_path / tmp_path.name.replace("_", "-"))
    assert service.client.post(f"{path}/observations?wait=visible", json=[OLD, NEW]).status_code == 201
    return path


def test_an_observation_is_confirmed_and_taken_back(service: Any, project: str) -> None:
    route = f"{project}/observations/new%2F1"
    body = {"verdict": "confirm", "note": "agreed", "by": "ada"}
    found = service.client.post(f"{route}/verdict", json=body).json()
    assert found["confirmed"]
    assert [said["by"] for said in found["verdicts"]] == ["ada"]
    assert service.client.get(route).json() == found
    assert [item["confirmed"] for item in service.client.get(f"{project}/observations").json()["items"]] == [
        True,
        False,
    ]
    assert not service.client.post(f"{route}/verdict", json={"verdict": "undo"}).json()["confirmed"]
    assert service.client.post(f"{route}/verdict", json={"verdict": "undo"}).status_code == 409


@pytest.mark.parametrize(
    ("route", "body", "status"),
    [
        ("observations/none/verdict", {"verdict": "confirm"}, 404),
        ("observations/old/verdict", {"verdict": "reject"}, 422),
        ("observations/old/verdict", {}, 422),
        ("observations/old/verdict?as_of=2026-01-01", {"verdict": "confirm"}, 400),
        ("retention", {"days": {"decision": 10}}, 422),
        ("retention", {"days": {"history": 0}}, 422),
        ("retention", {"days": {"none": 10}}, 422),
        ("retention", {"days": {"history": "'; DROP TABLE observation"}}, 422),
        ("retention", {"max_bytes": 0}, 422),
        ("retention", {"max_bytes": True}, 422),
        ("retention", {"dry_run": "no"}, 422),
        ("retention?as_of=2026-01-01", {}, 400),
        ("retention", [], 422),
    ],
)
def test_what_can_not_be_used_is_refused(
    service: Any, project: str, route: str, body: object, status: int
) -> None:
    answer = service.client.post(f"{project}/{route}", json=body)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert len(service.client.get(f"{project}/observations").json()["items"]) == 2


def test_a_pruning_is_a_dry_run_unless_told_otherwise(service: Any, project: str) -> None:
    nothing = service.client.post(f"{project}/retention", json={}).json()
    assert (nothing["observations"], nothing["days"], nothing["max_bytes"]) == (0, {}, None)
    asked = {"days": {"history": 365}}
    found = service.client.post(f"{project}/retention", json=asked).json()
    assert found["dry_run"]
    assert [(going["kind"], going["observations"]) for going in found["kinds"]] == [("history", 1)]
    assert service.client.get(f"{project}/observations/old").status_code == 200
    done = service.client.post(f"{project}/retention", json=asked | {"dry_run": False}).json()
    assert (done["observations"], done["remark"]) == (1, None)
    assert service.client.get(f"{project}/observations/old").status_code == 404


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Result]:
    (tmp_path / "shop").mkdir()
    with Memory(tmp_path / "home") as memory:
        memory.register(tmp_path / "shop")[0].observe([OLD, NEW])

    def graphmem(*arguments: str) -> Result:
        place = ["--home", str(tmp_path / "home"), "--project", str(tmp_path / "shop")]
        return CliRunner().invoke(program, [*arguments, *place])

    return graphmem


def test_the_command_line_shows_first_and_prunes_when_told(run: Callable[..., Result]) -> None:
    assert "No rule is set" in run("prune").output
    shown = run("prune", "--days", "history=365")
    assert "1 observation would go" in " ".join(shown.output.split())
    assert "2020-01-01" in shown.output
    done = run("prune", "--days", "history=365", "--yes")
    assert "Forgotten: 1 observation" in done.output
    assert [item["id"] for item in json.loads(run("observations", "--json").output)["items"]] == ["new/1"]


def test_the_command_line_keeps_and_forgets(run: Callable[..., Result]) -> None:
    assert "kept" in run("keep", "old", "--note", "agreed").output
    assert json.loads(run("prune", "--max-bytes", "1", "--json").output)["observations"] == 0
    assert "agreed" in run("observations", "old").output
    assert not json.loads(run("keep", "old", "--undo", "--json").output)["items"][0]["confirmed"]
    assert "Forgotten: 1 observation" in run("forget", "old").output
    assert run("forget", "old").exit_code != 0


@pytest.mark.parametrize("limit", ["history", "history=", "history=0", "decision=5", "x=5", "history=-1"])
def test_a_limit_that_makes_no_sense_is_wrong_use(run: Callable[..., Result], limit: str) -> None:
    assert run("prune", "--days", limit).exit_code == 2


def test_rules_come_from_the_configuration(tmp_path: Path) -> None:
    assert Settings.load(tmp_path).retention.rules().days == {}
    (tmp_path / "config.toml").write_text(
        "[retention]\nmax_bytes = 500_000_000\n[retention.days]\nhistory = 730\n"
    )
    rules = Settings.load(tmp_path).retention.rules()
    assert (rules.max_bytes, dict(rules.days)) == (500_000_000, {PieceKind.HISTORY: 730.0})


@pytest.mark.parametrize(
    "text", ["[retention]\nmax_byte = 5", "[retention.days]\nhistory = 0", "[retention.days]\ndecision = 5"]
)
def test_a_rule_that_is_misspelt_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(InvalidInputError, match="retention"):
        Settings.load(tmp_path)
