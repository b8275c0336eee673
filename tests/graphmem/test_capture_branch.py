"""Captured work carries the branch that is checked out where its files lie, in worktrees too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory
from graphmem.clients.roster import ADAPTERS
from graphmem.events import Event, EventKind, FileEdit
from graphmem.live import Live
from graphmem.turns.assembly import OpenTurn, fed
from graphmem.turns.open_turn import decode, encode


@pytest.fixture
def live(memory: Memory, clock: Callable[[], float]) -> Iterator[Live]:
    with closing(Live(memory, ADAPTERS, clock=clock)) as opened:
        yield opened


def edit(session: str, cwd: Path, path: Path) -> dict[str, Any]:
    call = {"tool_name": "Edit", "tool_use_id": f"t-{session}", "tool_input": {"file_path": str(path)}}
    return {"session_id": session, "cwd": str(cwd), "prompt_id": "p", "hook_event_name": "PostToolUse"} | call


def test_work_in_worktrees_is_one_project_with_three_branches(
    memory: Memory, live: Live, git_repository: Callable[..., Any]
) -> None:
    repository = git_repository("app")
    repository.touch("Begin", "src/a.py")
    main, beside, inside = repository.path, repository.path.parent / "beside", repository.path / ".trees/x"
    repository.git("worktree", "add", "-b", "feature/login", str(beside))
    repository.git("worktree", "add", "-b", "fix", str(inside))
    repository.git("worktree", "add", "--detach", str(main.parent / "loose"))
    project, _ = memory.register(main)
    places = {
        "main": (main, main),
        "feature/login": (beside, beside),
        "fix": (main, inside),  # the agent stays in the main checkout
        None: (main.parent / "loose", main.parent / "loose"),
    }
    for branch, (cwd, root) in places.items():
        live.receive("claude-code", edit(f"on {branch}", cwd, root / "src/a.py"), f"d-{branch}")
    assert live.wait_recorded(20)
    assert project.wait_visible()
    found = {item.session: (item.branch, item.files_modified) for item in project.observations().items}
    assert {f"on {branch}": (branch, ("src/a.py",)) for branch in places}.items() <= found.items()
    assert len(memory.projects()) == 1


def event(kind: EventKind, branch: str, turn: str, **more: Any) -> Event:
    return Event(kind, "c", "s", 100.0, cwd="/r", turn=turn, branch=branch, **more)


def test_a_turn_keeps_its_branch_when_the_next_prompt_comes_on_another() -> None:
    state: OpenTurn | None = None
    told = []
    for taken in (
        event(EventKind.PROMPT, "main", "p1", text="Fix the parser"),
        event(EventKind.EDITED, "main", "p1", edits=(FileEdit("a.py"),)),
        event(EventKind.PROMPT, "feature", "p2", text="Go on with the lexer"),
        event(EventKind.EDITED, "feature", "p2", edits=(FileEdit("b.py"),)),
        event(EventKind.TURN_ENDED, "", "p2", text="Finished."),
    ):
        state, drafts = fed(state, taken)
        assert state is not None
        state = decode(encode(state))
        told += drafts
    assert [draft.item["branch"] for draft in told] == ["main", "feature"]
