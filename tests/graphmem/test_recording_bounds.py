"""What is recorded however odd the clock or the place: moments that can be, files of the project only."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from graphmem import Memory, hook_program
from graphmem.clients.roster import ADAPTERS
from graphmem.events import sane
from graphmem.instant import from_iso
from graphmem.live import Live
from graphmem.spool import Spool

NOW = from_iso("2026-05-01T12:00:00Z")
EARLIER = NOW - 90 * 86_400


@pytest.mark.parametrize(
    ("at", "found"),
    [(EARLIER, EARLIER), (NOW, NOW), (0.0, NOW), (-5.0, NOW), (NOW + 1, NOW), (1e18, NOW), (math.inf, NOW)],
)
def test_a_moment_that_cannot_be_is_the_present_one(at: float, found: float) -> None:
    assert sane(at, NOW) == found


def test_what_lies_below_the_repositorys_own_folder_is_no_file_of_the_project(
    memory: Memory, git_repository: Callable[..., Any], clock: Callable[[], float]
) -> None:
    root = git_repository("app").path
    project, _ = memory.register(root)
    with closing(Live(memory, ADAPTERS, clock=clock)) as live:
        for number, path in enumerate((".git/config", ".gitignore", ".github/ci.yml")):
            given = {"tool_name": "Edit", "tool_input": {"file_path": f"{root}/{path}"}}
            event = {"session_id": "s", "cwd": str(root), "hook_event_name": "PostToolUse", "prompt_id": "p"}
            live.receive("claude-code", {**event, **given, "tool_use_id": f"c{number}"}, f"{number}", 0.0)
        end = {"session_id": "s", "cwd": str(root), "hook_event_name": "SessionEnd"}
        live.receive("claude-code", end, "end")
        assert live.wait_recorded(20)
    assert project.wait_visible()
    (found,) = project.observations().items
    assert (found.files_modified, found.at) == ((".gitignore", ".github/ci.yml"), clock())


def test_a_session_whose_start_nobody_answered_hears_at_its_first_prompt_what_it_missed(
    memory: Memory, git_repository: Callable[..., Any], clock: Callable[[], float], tell: Callable[..., Any]
) -> None:
    root = git_repository("app").path
    project, _ = memory.register(root)
    task = {"text": "Rotate the signing key", "kind": "task", "state": "open"}
    tell(
        project, {"title": "Tokens", "session": "old", "source": "codex", "facts": [task], "at": clock() - 9}
    )

    def event(name: str, session: str, **fields: Any) -> dict[str, Any]:
        return {"session_id": session, "cwd": str(root), "hook_event_name": name, **fields}

    spool = Spool(memory.home.spool_folder)
    start = hook_program.reduced(event("SessionStart", "s", source="startup"))
    spool.put(hook_program.line("claude-code", start, "0" * 32, clock(), {}))
    with closing(Live(memory, ADAPTERS, clock=clock)) as live:
        assert live.wait_recorded(20)
        told = live.receive("claude-code", event("UserPromptSubmit", "s", prompt="Hello there"), "1")
        assert "Rotate the signing key" in str(told)
        again = live.receive("claude-code", event("UserPromptSubmit", "s", prompt="Hello again"), "2")
        other = live.receive("claude-code", event("UserPromptSubmit", "t", prompt="Hello there"), "3")
        assert (again, other) == ({}, {})
