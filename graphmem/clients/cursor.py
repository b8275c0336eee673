"""Owns what Cursor's hooks tell and how they are answered.

It is not its settings. Written after the vendor's documents: `conversation_id` is the session,
`generation_id` the turn, `workspace_roots` the folders.

Much is told twice there, by a hook for all tools (`postToolUse`) and by one for its kind (`afterFileEdit`,
`afterShellExecution`, `beforeReadFile`), depending on which are installed and on the version. Both are taken.
Those for all tools are known by the call's id. The others name no call, so they are known by the turn and the
path or command: each counts once a turn. As the files of a turn are a set, one told by both is once in it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from graphmem.clients.fields import (
    call_key,
    digest,
    has_created,
    has_failed,
    mapping,
    text,
    texts,
    turn_end_key,
)
from graphmem.commands.shell import read_command
from graphmem.events import Advice, Event, EventKind, FileChange, FileEdit, Origin, Phase

_PHASES = {"preToolUse": Phase.AHEAD, "postToolUse": Phase.DONE, "postToolUseFailure": Phase.FAILED}
_CARRIES_CONTEXT = frozenset(("sessionStart", "beforeSubmitPrompt", "preToolUse", "postToolUse"))
_LONGEST_CONTEXT = 10_000


class Cursor:
    """The adapter of Cursor."""

    @property
    def name(self) -> str:
        """The client's name."""
        return "cursor"

    def events(self, raw: Mapping[str, object], at: float) -> list[Event]:
        """Return what one hook call tells: one event or none.

        An agent's answer and the stop after it both end the turn; only the answer has a text.
        """
        event, session = text(raw, "hook_event_name"), text(raw, "conversation_id", "session_id")
        if not session:
            return []
        cwd = text(raw, "cwd") or next(iter(texts(raw, "workspace_roots")), None)
        turn = text(raw, "generation_id")
        told = Event(EventKind.SESSION_STARTED, self.name, session, at, cwd=cwd, turn=turn)
        found = _tool_call(raw, told, _PHASES[event]) if event in _PHASES else _step(event, raw, told)
        return [] if found is None else [found]

    def answer(self, raw: Mapping[str, object], advice: Advice | None) -> dict[str, object]:
        """Return context for the model or, for a call that is held, its refusal with the reason."""
        event = text(raw, "hook_event_name")
        if advice is None or not advice.text or event not in _CARRIES_CONTEXT:
            return {}
        said = advice.text[:_LONGEST_CONTEXT]
        if advice.hold and event == "preToolUse":
            return {"permission": "deny", "agent_message": said, "user_message": said}
        return {"additional_context": said}


def _step(event: str, raw: Mapping[str, object], told: Event) -> Event | None:
    match event:
        case "sessionStart":
            return replace(told, origin=Origin.STARTUP)
        case "sessionEnd":
            return replace(told, kind=EventKind.SESSION_ENDED)
        case "beforeSubmitPrompt":
            said = text(raw, "prompt").strip()
            return _known(replace(told, kind=EventKind.PROMPT, text=said), "prompt") if said else None
        case "afterAgentResponse":
            said = text(raw, "text")
            return replace(told, kind=EventKind.TURN_ENDED, text=said, key=turn_end_key(told.turn, said))
        case "stop":
            return replace(told, kind=EventKind.TURN_ENDED, key=turn_end_key(told.turn, "", is_again=True))
        case "beforeReadFile" | "afterFileEdit" | "beforeShellExecution" | "afterShellExecution":
            return _told_by_kind(event, raw, told)
        case _:
            return None


def _told_by_kind(event: str, raw: Mapping[str, object], told: Event) -> Event | None:
    """Return what a hook for one kind of work tells; a file is read right after `beforeReadFile`."""
    path, command = text(raw, "file_path"), text(raw, "command")
    match event:
        case "beforeReadFile" if path:
            return _known(replace(told, kind=EventKind.READ, reads=(path,)), "read", path)
        case "afterFileEdit" if path:
            return _known(replace(told, kind=EventKind.EDITED, edits=(FileEdit(path),)), "edited", path)
        case "beforeShellExecution" if command:
            return _known(_command(replace(told, phase=Phase.AHEAD), command), "command-ahead", command)
        case "afterShellExecution" if command:
            return _known(_command(told, command), "command", command)
        case _:
            return None


def _known(told: Event, what: str, subject: str = "") -> Event:
    """Return the event with a key of its turn and what it is about; with none where the turn has no name."""
    key = f"{what}:{told.turn}:{digest(subject)}" if subject else f"{what}:{told.turn}"
    return replace(told, key=key) if told.turn else told


def _tool_call(raw: Mapping[str, object], told: Event, phase: Phase) -> Event | None:
    if phase is Phase.DONE and has_failed(raw):
        phase = Phase.FAILED
    call, given = text(raw, "tool_use_id"), _input(raw)
    told = replace(told, call=call, phase=phase, key=call_key(call, phase))
    path = text(given, "file_path", "path", "target_file", "notebook_path")
    match text(raw, "tool_name"):
        case "Read" if path:
            return replace(told, kind=EventKind.READ, reads=(path,))
        case "Write" | "Edit" | "MultiEdit" | "StrReplace" | "EditNotebook" | "NotebookEdit" if path:
            change = FileChange.ADDED if has_created(raw) else FileChange.MODIFIED
            return replace(told, kind=EventKind.EDITED, edits=(FileEdit(path, change),))
        case "Delete" if path:
            return replace(told, kind=EventKind.EDITED, edits=(FileEdit(path, FileChange.DELETED),))
        case "Shell" | "Bash" if text(given, "command"):
            cwd = text(given, "working_directory") or told.cwd
            return _command(replace(told, cwd=cwd), text(given, "command"))
        case "Grep" | "Glob" | "LS" | "SemanticSearch":
            return replace(told, kind=EventKind.SEARCHED)
        case _:
            return None


def _input(raw: Mapping[str, object]) -> Mapping[str, object]:
    """Return a tool's input, which may also come as JSON in a text."""
    try:
        given = json.loads(text(raw, "tool_input"))
    except (ValueError, RecursionError):
        given = None
    return given if isinstance(given, dict) else mapping(raw, "tool_input")


def _command(told: Event, command: str) -> Event:
    files = read_command(command, told.cwd)
    return replace(told, kind=EventKind.COMMAND_RUN, command=command, reads=files.reads, edits=files.edits)
