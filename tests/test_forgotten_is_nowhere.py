"""What is forgotten is nowhere: a word that stood in every text field is in no byte of the home any more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory
from graphmem.confirmations import Judgement, Saying
from graphmem.instant import from_iso
from graphmem.question import PieceKind
from graphmem.retention_rules import Rules

NOW = from_iso("2026-05-01T12:00:00Z")
WORD = "zebrafish"
OTHERS = [
    {
        "id": f"kept-{number}",
        "session": f"s{number}",
        "title": "Change the shop",
        "at": "2026-04-30T12:00:00Z",
        "files_modified": ["kept.py", "other.py", "third.py"],
    }
    for number in range(4)
]


def secret(id: str, **more: object) -> dict[str, Any]:
    """Return an observation that holds the word wherever a text may stand."""
    return {
        "id": id,
        "session": f"{WORD}-session",
        "source": f"{WORD}-source",
        "actor": f"{WORD}-actor",
        "branch": f"{WORD}-branch",
        "type": f"{WORD}-type",
        "title": f"Plan the {WORD}",
        "intent": f"the {WORD} shall swim",
        "narrative": f"the {WORD} calls POST /{WORD}/login and 斑马鱼 " * 300,
        "facts": [
            f"{WORD} TTL: 3600 -> 900",
            {"text": f"always feed the {WORD}", "kind": "preference"},
            {"text": f"feed the {WORD} again", "kind": "task", "state": "done"},
        ],
        "concepts": [WORD, f"{WORD}-pool"],
        "files_read": [f"src/{WORD}/read.py", "kept.py"],
        "files_modified": ["kept.py", f"src/{WORD}/plan.py", f"src/{WORD}/new.py"],
        "files_deleted": [f"src/{WORD}/old.py"],
        "renames": [{"from": f"src/{WORD}/a.py", "to": f"src/{WORD}/b.py"}],
        "at": "2020-01-01T12:00:00Z",
        **more,
    }


def holding(home: Path) -> list[str]:
    """Return the files under `home` that hold the word."""
    found = []
    for path in sorted(home.rglob("*")):
        if path.is_file():
            content = path.read_bytes().lower()
            if any(word in content for word in (WORD.encode(), "斑马鱼".encode(), WORD.encode("utf-16-le"))):
                found.append(str(path.relative_to(home)))
    return found


def forget_by_id(project: Any) -> None:
    project.forget("secret-1")
    project.keeping.forget(["secret-2", "secret-3"])


def forget_by_age(project: Any) -> None:
    days = {kind: 365.0 for kind in PieceKind if kind is not PieceKind.DECISION}
    pruned = project.keeping.prune(Rules(days), dry_run=False)
    assert len(pruned.plan.numbers) == 3
    assert pruned.remark is None


@pytest.fixture(params=[forget_by_id, forget_by_age])
def ways(request: pytest.FixtureRequest) -> Callable[[Any], None]:
    way: Callable[[Any], None] = request.param
    return way


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "shop" / "src").mkdir(parents=True)
    (tmp_path / "shop" / "kept.py").write_text("")
    yield tmp_path / "home"


def test_nothing_is_left_in_any_file_open_closed_or_rebuilt(
    home: Path, tmp_path: Path, ways: Callable[[Any], None], eventually: Callable[..., Any]
) -> None:
    (tmp_path / "shop" / "src" / WORD).mkdir()
    (tmp_path / "shop" / "src" / WORD / "plan.py").write_text(f"import {WORD}\n")
    with Memory(home, clock=lambda: NOW) as memory:
        project = memory.register(tmp_path / "shop")[0]
        told = [*OTHERS, *(secret(f"secret-{number}") for number in (1, 2, 3))]
        assert project.observe(told).rejected == ()
        project.keeping.judge([Saying("secret-1", Judgement.CONFIRM, f"true of the {WORD}", f"{WORD}-by")])
        project.keeping.judge([Saying("secret-1", Judgement.UNDO, WORD)])
        project.code.read()
        project.graph.infer()
        assert project.search(WORD)
        assert project.graph.overview().text
        assert project.impact([f"src/{WORD}/plan.py"], intent=f"feed the {WORD}").affected
        project.rebuild()
        assert len(holding(home)) >= 2
        ways(project)
        eventually(lambda: not holding(home))
        assert project.search(WORD) == []
        project.graph.infer()
        assert holding(home) == []
    assert holding(home) == []
    with Memory(home, clock=lambda: NOW) as memory:
        project = memory.project("shop")
        assert project.observe([secret("secret-1"), secret("secret-2")]).duplicates == 2
        project.rebuild()
        project.graph.infer()
        assert project.stats().observations == len(OTHERS)
    assert holding(home) == []


def test_nothing_is_left_while_a_service_runs_nor_after_its_restart(
    start_service: Callable[..., Any], tmp_path: Path, eventually: Callable[..., Any]
) -> None:
    home = tmp_path / "home"
    service = start_service(home)
    project = service.project(tmp_path / "shop")
    items = [*OTHERS, secret("secret-1"), secret("secret-2"), secret("secret-3")]
    assert service.client.post(f"{project}/observations?wait=visible", json=items).status_code == 201
    assert service.client.post(f"{project}/infer").status_code == 200
    assert service.client.post(f"{project}/query", json={"text": WORD}).json()["results"]
    assert service.client.delete(f"{project}/observations/secret-1").status_code == 204
    asked = {"dry_run": False, "days": dict.fromkeys(("preference", "fact", "task", "history"), 365)}
    pruned = service.client.post(f"{project}/retention", json=asked).json()
    assert (pruned["observations"], pruned["remark"]) == (2, None)
    eventually(lambda: not holding(home))
    assert service.client.post(f"{project}/query", json={"text": WORD}).json()["results"] == []
    assert service.end() == 0
    assert holding(home) == []
    again = start_service(home)
    assert again.client.get(f"{project}/observations/secret-2").status_code == 404
    assert again.client.post(f"{project}/infer").status_code == 200
    assert holding(home) == []


def test_nothing_is_left_of_an_agents_turn(
    start_service: Callable[..., Any], tmp_path: Path, eventually: Callable[..., Any]
) -> None:
    home, shop = tmp_path / "home", tmp_path / "shop"
    service = start_service(home)
    project = service.project(shop)
    common = {"session_id": "run-1", "cwd": str(shop)}
    tool = {"tool_name": "Edit", "tool_use_id": "t1", "tool_response": {"success": True}}
    path = str(shop / f"{WORD}.py")
    for event in (
        {"hook_event_name": "UserPromptSubmit", "prompt": f"Always feed the {WORD} at noon"},
        {"hook_event_name": "PostToolUse", "tool_input": {"file_path": path}, **tool},
    ):
        answer = service.client.post("/hooks/claude-code", json=event | common)
        assert answer.status_code == 200

    def told() -> list[str]:
        return [item["id"] for item in service.client.get(f"{project}/observations").json()["items"]]

    eventually(told)
    eventually(lambda: not (home / "spool" / "events.jsonl").read_bytes())
    for id in told():
        assert service.client.delete(f"{project}/observations/{id}").status_code == 204
    assert told() == []
    eventually(lambda: not [name for name in holding(home) if "derived" in name])
    left = holding(home)
    assert left == []
