"""The reader of the spool: nothing holds up the events of others, and what it does not get to is not lost."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from typing import Any

from graphmem import Memory, Project, hook_program
from graphmem.clients.roster import ADAPTERS
from graphmem.errors import StorageError
from graphmem.live import Live
from graphmem.places import Places
from graphmem.recorder import Recorder
from graphmem.spool import Spool

CLIENT = "claude-code"
EVENTS = 600


def edited(root: str, path: str, session: str = "s") -> dict[str, object]:
    """Return what a hook tells of an edit."""
    return {
        "session_id": session,
        "prompt_id": "p",
        "cwd": root,
        "hook_event_name": "PostToolUse",
        "tool_name": "Edit",
        "tool_use_id": path,
        "tool_input": {"file_path": f"{root}/{path}"},
    }


def changed(project: Project) -> list[str]:
    assert project.wait_visible()
    return sorted(path for item in project.observations(limit=200).items for path in item.files_modified)


def test_an_end_does_not_wait_for_all_that_is_in_the_spool_and_loses_nothing_of_it(
    memory: Memory,
    git_repository: Callable[..., Any],
    clock: Callable[[], float],
    eventually: Callable[..., Any],
) -> None:
    project, _ = memory.register(git_repository("app").path)
    spool = Spool(memory.home.spool_folder)
    for number in range(EVENTS):
        event = edited(project.info.root, f"f{number}.py") | {"prompt": "x" * 4_000}
        assert spool.put(hook_program.line(CLIENT, event, f"{number:032x}", clock(), {}))
    with ThreadPoolExecutor(1) as ending:
        with project.capture.forgetting("nothing"):  # it can't get on
            first = Recorder(memory, spool, Places(memory), ADAPTERS, clock)
            ended = ending.submit(first.close, 0.0)
            eventually(lambda: first._stopping)
        ended.result(20)
    assert spool.file.stat().st_size > 0
    assert 0 < len(changed(project)) < EVENTS
    spool = Spool(memory.home.spool_folder)
    with closing(Recorder(memory, spool, Places(memory), ADAPTERS, clock)) as second:
        assert second.wait_drained(60)
        eventually(lambda: len(changed(project)) >= EVENTS)  # what is open is told once a second
    assert changed(project) == sorted(f"f{number}.py" for number in range(EVENTS))
    assert spool.file.stat().st_size == 0


def test_a_project_that_takes_nothing_does_not_hold_up_another(
    memory: Memory,
    git_repository: Callable[..., Any],
    clock: Callable[[], float],
    eventually: Callable[..., Any],
) -> None:
    roots = {name: str(git_repository(name).path) for name in ("damaged", "sound")}
    damaged, sound = (memory.register(root)[0] for root in roots.values())
    folder = memory.home.project_folder(damaged.id)
    folder.mkdir(parents=True)
    (folder / "journal.db").write_bytes(b"no database at all" * 1_000)
    with closing(Live(memory, ADAPTERS, clock=clock)) as live:
        with suppress(StorageError):
            live.receive(CLIENT, edited(roots["damaged"], "a.py", "s1"), "d1")
        live.receive(CLIENT, edited(roots["sound"], "b.py", "s2"), "d2")
        eventually(lambda: sound.observations().items, 30)
        # What can't be stored is neither lost nor in the way.
        aside = memory.home.spool_folder / "set-aside.jsonl"
        eventually(lambda: aside.exists() and roots["damaged"] in aside.read_text(), 30)
    assert [item.files_modified for item in sound.observations().items] == [("b.py",)]
