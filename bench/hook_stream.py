"""Owns made-up agent sessions as one client's hooks tell them, and the account of what must be recorded.

It is not a benchmark: `bench.hook_burst` sends these, and checks the memory against the account.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_TURN = 10
"""Events of a turn: a prompt, a read (two), two edits (four), a search (two), and the end."""

_AROUND = 2
"""A session's start and its end."""


@dataclass(frozen=True, slots=True)
class Call:
    """One hook call; `is_pre_edit` marks those whose answer an agent waits for before it edits."""

    event: dict[str, Any]
    is_pre_edit: bool = False


@dataclass(frozen=True, slots=True)
class Stream:
    """One session: its name, its calls in order, and by title the files each turn must have changed."""

    session: str
    calls: tuple[Call, ...]
    turns: dict[str, frozenset[str]]


def streams(root: str, sessions: int, events: int, shared: tuple[str, ...] = ()) -> list[Stream]:
    """Return `sessions` sessions of whole turns, at least `events` calls in all.

    Each turn changes a file of its own and, in turn, one of `shared` (files that the history knows).
    """
    turns = max(1, math.ceil((events / sessions - _AROUND) / _TURN))
    return [_stream(root, number, turns, shared) for number in range(sessions)]


def _stream(root: str, number: int, turns: int, shared: tuple[str, ...]) -> Stream:
    session = f"session-{number:04}"
    calls = [_call(session, root, "SessionStart", source="startup")]
    expected: dict[str, frozenset[str]] = {}
    for turn in range(turns):
        files = [f"made/{session}/turn_{turn}.py"]
        files += (
            [shared[(number * turns + turn) % len(shared)]] if shared else [f"made/{session}/also_{turn}.py"]
        )
        title = f"Work {turn} of {session}"
        expected[title] = frozenset(files)
        calls += list(_turn(session, root, turn, title, files))
    calls.append(_call(session, root, "SessionEnd", reason="other"))
    return Stream(session, tuple(calls), expected)


def _turn(session: str, root: str, turn: int, title: str, files: list[str]) -> Iterator[Call]:
    prompt = f"{session}-prompt-{turn}"

    def call(name: str, **fields: Any) -> Call:
        return _call(session, root, name, prompt_id=prompt, **fields)

    def tool(name: str, number: int, **given: Any) -> Iterator[Call]:
        told = {"tool_name": name, "tool_input": given, "tool_use_id": f"{prompt}-{number}"}
        before = call("PreToolUse", **told)
        yield Call(before.event, is_pre_edit=name == "Edit")
        yield call("PostToolUse", **told, tool_response={"filePath": given.get("file_path", "")})

    yield call("UserPromptSubmit", prompt=title)
    yield from tool("Grep", 0, pattern="def ", path=root)
    yield from tool("Read", 1, file_path=f"{root}/{files[-1]}")
    for number, path in enumerate(files, 2):
        yield from tool("Edit", number, file_path=f"{root}/{path}", old_string="a", new_string="b")
    yield call("Stop", stop_hook_active=False, last_assistant_message=f"Done: {title}.")


def _call(session: str, root: str, name: str, **fields: Any) -> Call:
    return Call({"session_id": session, "cwd": root, "hook_event_name": name, **fields})
