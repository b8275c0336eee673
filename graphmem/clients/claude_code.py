"""Owns what Claude Code's hooks tell and how they are answered.

It is not its transcripts, nor its settings. Seen with 2.1: paths are absolute; `prompt_id` names the turn;
`agent_id` stands only in what a sub-agent does; a tool call that fails comes as `PostToolUseFailure`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from graphmem.clients import dialect
from graphmem.clients.fields import has_created, mapping, text
from graphmem.commands.shell import read_command
from graphmem.events import Advice, Event, EventKind, FileChange, FileEdit, Phase

_REMINDER = re.compile(r"<system-reminder>.*?(?:</system-reminder>|\Z)", re.DOTALL)
_SLASH_COMMAND = re.compile(r"/[A-Za-z][\w:-]*(?:\s|\Z)")
_NO_PROMPTS = (
    "<command-name>",
    "<command-message>",
    "<command-args>",
    "<local-command-",
    "<bash-input>",
    "<bash-stdout>",
    "<task-notification>",
    "[Request interrupted",
    "Caveat: The messages below were generated",
    "This session is being continued from a previous conversation",
)


class ClaudeCode:
    """The adapter of Claude Code."""

    @property
    def name(self) -> str:
        """The client's name."""
        return "claude-code"

    def events(self, raw: Mapping[str, object], at: float) -> list[Event]:
        """Return what one hook call tells; what a search found is not read, so a search tells no paths."""
        return dialect.events(raw, dialect.heading(raw, self.name, "prompt_id", at), _tool_call, _prompt)

    def answer(self, raw: Mapping[str, object], advice: Advice | None) -> dict[str, object]:
        """Return context for the model or, for a call that is held, its refusal."""
        return dialect.answer(raw, advice)


def _prompt(said: str) -> str:
    """Return the prompt as the user meant it; "" for a slash command, an interrupt, and the client's own."""
    said = _REMINDER.sub("", said).strip()
    return "" if said.startswith(_NO_PROMPTS) or _SLASH_COMMAND.match(said) else said


def _tool_call(raw: Mapping[str, object], told: Event) -> Event | None:
    given = mapping(raw, "tool_input")
    path = text(given, "file_path", "notebook_path")
    match text(raw, "tool_name"):
        case "Read" | "NotebookRead" if path:
            return replace(told, kind=EventKind.READ, reads=(path,))
        case "Edit" | "MultiEdit" | "NotebookEdit" if path:
            return replace(told, kind=EventKind.EDITED, edits=(FileEdit(path),))
        case "Write" if path:
            change = FileChange.ADDED if has_created(raw) else FileChange.MODIFIED
            return replace(told, kind=EventKind.EDITED, edits=(FileEdit(path, change),))
        case "Bash" if text(given, "command"):
            return _command(told, text(given, "command"))
        case "Grep" | "Glob" | "LS":
            return replace(told, kind=EventKind.SEARCHED)
        case _:
            return None


def _command(told: Event, command: str) -> Event:
    """Return what a shell command does.

    The shell stays where a `cd` led it, and then `cwd` is that place; a sub-agent's shell goes back.
    """
    is_over = told.phase is not Phase.AHEAD and not told.agent
    files = read_command(command, told.cwd, is_over=is_over)
    return replace(told, kind=EventKind.COMMAND_RUN, command=command, reads=files.reads, edits=files.edits)
