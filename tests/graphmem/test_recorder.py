"""The reader of the spool: what it does not get to before the end is there at the next start."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

from graphmem import Memory, hook_program
from graphmem.clients.roster import ADAPTERS
from graphmem.places import Places
from graphmem.recorder import Recorder
from graphmem.spool import Spool

EVENTS = 600


def test_an_end_does_not_wait_for_all_that_is_in_the_spool_and_loses_nothing_of_it(
    memory: Memory,
    git_repository: Callable[..., Any],
    clock: Callable[[], float],
    eventually: Callable[..., Any],
) -> None:
    project, _ = memory.register(git_repository("app").path)
    spool = Spool(memory.home.spool_folder)
    for number in range(EVENTS):
        event: dict[str, object] = {
            "session_id": "s",
            "prompt_id": "p",
            "cwd": project.info.root,
            "hook_event_name": "PostToolUse",
            "tool_name": "Edit",
            "tool_use_id": str(number),
            "tool_input": {"file_path": f"{project.info.root}/f{number}.py"},
            "prompt": "x" * 4_000,
        }
        assert spool.put(hook_program.line("claude-code", event, f"{number:032x}", clock(), {}))
    held = spool.file.stat().st_size
    with ThreadPoolExecutor(1) as ending:
        with project.capture.forgetting("nothing"):  # it can't get on
            first = Recorder(memory, spool, Places(memory), ADAPTERS, clock)
            ended = ending.submit(first.close, 0.0)
            eventually(lambda: first._stopping)
        ended.result(20)
    assert spool.file.stat().st_size == held
    assert project.wait_visible()
    stored = project.observations(limit=200).items
    assert 0 < sum(len(item.files_modified) for item in stored) < EVENTS
    spool = Spool(memory.home.spool_folder)
    with closing(Recorder(memory, spool, Places(memory), ADAPTERS, clock)) as second:
        assert second.wait_drained(60)
    assert project.wait_visible()
    changed = [path for item in project.observations(limit=200).items for path in item.files_modified]
    assert sorted(changed) == sorted(f"f{number}.py" for number in range(EVENTS))
    assert spool.file.stat().st_size == 0
