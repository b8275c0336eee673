"""Recordings of what real clients told their hooks, with the work in them written out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from graphmem.clients.roster import ADAPTERS
from graphmem.events import Event, EventKind, FileChange, FileEdit, Origin, Phase
from graphmem.hook_program import reduced

RECORDINGS = Path(__file__).parents[1] / "recordings"
SHOP = "/home/dev/shop/"
TOKEN, REFRESH, ROTATION = (f"{SHOP}src/auth/{name}.py" for name in ("token", "refresh", "rotation"))
SESSION, NOTEBOOK = f"{SHOP}src/checkout/session.py", f"{SHOP}notebooks/tour.ipynb"
ADDED, DELETED, MOVED = FileChange.ADDED, FileChange.DELETED, FileChange.MOVED
SET_TTL = "Set the token TTL to 900."
ANSWER = (
    "Access tokens now live 900 seconds; POST /api/v1/auth/refresh rotates the refresh token. "
    "Decision: keep JWT for now."
)


class Heard(NamedTuple):
    """What one recording tells: `work` is each tool call that was done, as its reads and edits, in order."""

    prompts: list[str]
    work: list[tuple[list[str], list[FileEdit]]]
    answers: list[str]
    origins: list[Origin]
    failed: int = 0


def read(path: str) -> tuple[list[str], list[FileEdit]]:
    return [path], []


def edit(*edits: FileEdit | str) -> tuple[list[str], list[FileEdit]]:
    return [], [FileEdit(item) if isinstance(item, str) else item for item in edits]


NOTHING: tuple[list[str], list[FileEdit]] = ([], [])
EXPECTED = {
    "claude_edit_without_read": Heard([SET_TTL], [edit(TOKEN)], [ANSWER], [Origin.STARTUP]),
    "claude_notebook": Heard(
        ["change the notebook"], [read(NOTEBOOK), edit(NOTEBOOK)], [ANSWER], [Origin.STARTUP]
    ),
    "claude_read_edit_write": Heard(
        [
            "Users are logged out after an hour. Always back up before a schema change. "
            "Shorten the access token and rotate refresh tokens."
        ],
        [read(TOKEN), NOTHING, edit(TOKEN), read(REFRESH), edit(FileEdit(ROTATION, ADDED)), edit(REFRESH)],
        [ANSWER],
        [Origin.STARTUP],
    ),
    "claude_resumed": Heard(
        [SET_TTL, SET_TTL], [read(TOKEN), edit(TOKEN)], ["read it", ANSWER], [Origin.STARTUP, Origin.RESUME]
    ),
    "claude_same_message": Heard([SET_TTL], [read(TOKEN), edit(TOKEN)], [ANSWER], [Origin.STARTUP]),
    "claude_shell_moves": Heard(
        ["Rename rotation helper and drop the old session file"],
        [
            edit(FileEdit("src/auth/renewal.py", MOVED, "src/auth/refresh.py")),
            edit("src/auth/token.py"),
            edit(FileEdit("src/checkout/session.py", DELETED)),
        ],
        [ANSWER],
        [Origin.STARTUP],
        failed=1,
    ),
    "claude_subagent": Heard(
        ["Look at checkout and fix the session path"],
        [read(SESSION), edit(SESSION), read(TOKEN)],
        [ANSWER],
        [Origin.STARTUP],
    ),
    "codex_patch": Heard(
        ["Shorten the access token"],
        [
            read("src/auth/token.py"),
            edit(
                "src/auth/token.py",
                FileEdit("src/auth/rotation.py", ADDED),
                FileEdit("src/checkout/session.py", DELETED),
            ),
            edit(FileEdit("src/auth/renewal.py", MOVED, "src/auth/refresh.py")),
        ],
        ["done"],
        [Origin.STARTUP],
    ),
    "codex_code_mode": Heard(
        ["Shorten the access token"],
        [read("src/auth/token.py"), edit("src/auth/token.py")],
        ["done"],
        [Origin.STARTUP],
    ),
}


def recorded(name: str) -> list[tuple[float, dict[str, Any]]]:
    lines = (RECORDINGS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [(line["t"], line["event"]) for line in map(json.loads, lines)]


def heard(name: str, *, is_reduced: bool = False) -> list[Event]:
    adapter = ADAPTERS["codex" if name.startswith("codex") else "claude-code"]
    return [
        event
        for at, raw in recorded(name)
        for event in adapter.events(reduced(raw) if is_reduced else raw, at)
    ]


def test_every_recording_has_its_expectation() -> None:
    assert sorted(path.stem for path in RECORDINGS.glob("*.jsonl")) == sorted(EXPECTED)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_recording_tells_the_work_that_was_done(name: str) -> None:
    events, expected = heard(name), EXPECTED[name]
    calls = [event for event in events if event.call]
    assert [event.text for event in events if event.kind is EventKind.PROMPT] == expected.prompts
    done = [event for event in calls if event.phase is Phase.DONE]
    assert [(list(event.reads), list(event.edits)) for event in done] == expected.work
    assert [event.text for event in events if event.kind is EventKind.TURN_ENDED] == expected.answers
    assert [event.origin for event in events if event.origin] == expected.origins
    assert sum(event.phase is Phase.FAILED for event in calls) == expected.failed
    assert sum(event.kind is EventKind.SESSION_ENDED for event in events) == len(expected.origins)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_before_each_call_its_files_are_known(name: str) -> None:
    ahead: dict[str, Event] = {}
    for event in heard(name):
        if event.phase is Phase.AHEAD:
            ahead[event.call] = event
        elif event.call:
            before = ahead[event.call]
            assert before.reads == event.reads
            assert [edit.path for edit in before.edits] == [edit.path for edit in event.edits]
            assert before.key != event.key


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_recording_tells_the_same_after_its_reduction(name: str) -> None:
    assert heard(name, is_reduced=True) == heard(name)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_every_event_of_a_prompt_names_its_turn(name: str) -> None:
    events = [event for event in heard(name) if event.call or event.text]
    assert all(event.turn for event in events)
    assert len({event.turn for event in events}) == len(EXPECTED[name].prompts)


def test_what_a_sub_agent_does_is_its_own_and_its_end_is_no_turns_end() -> None:
    events = heard("claude_subagent")
    assert {event.agent for event in events if SESSION in str(event)} == {"a32ab74ea63e66dee"}
    assert {event.agent for event in events if TOKEN in str(event)} == {""}
    assert sum(event.kind is EventKind.TURN_ENDED for event in events) == 1
    assert not any("SUBLANE" in event.text or "moved to v2" in event.text for event in events)


def test_two_runs_of_a_session_have_no_key_in_common_but_one_run_told_twice_has_them_all() -> None:
    keys = [event.key for event in heard("claude_resumed") if event.key]
    assert len(set(keys)) == len(keys)
    assert keys == [event.key for event in heard("claude_resumed") if event.key]
