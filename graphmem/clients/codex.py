"""Owns what the hooks of Codex CLI tell and how they are answered.

It is not its rollout files, nor its settings. Seen with 0.171: `turn_id` names the turn; edits are patches,
whose paths are relative to `cwd`; there is no tool to read with, so what shell commands name was read;
a call that failed says so in the exit code its response begins with.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace

from graphmem.clients import dialect
from graphmem.clients.fields import has_created, mapping, text, texts
from graphmem.commands.patches import read_patch
from graphmem.commands.shell import read_command
from graphmem.commands.shell_arguments import joined
from graphmem.events import Advice, Event, EventKind, FileChange, FileEdit


class Codex:
    """The adapter of Codex CLI."""

    @property
    def name(self) -> str:
        """The client's name."""
        return "codex"

    def events(self, raw: Mapping[str, object], at: float) -> list[Event]:
        """Return what one hook call tells; a patch is one edit of all its files."""
        return dialect.events(raw, dialect.heading(raw, self.name, "turn_id", at), _tool_call, str)

    def answer(self, raw: Mapping[str, object], advice: Advice | None) -> dict[str, object]:
        """Return context for the model or, for a call that is held, its refusal."""
        return dialect.answer(raw, advice)


def _tool_call(raw: Mapping[str, object], told: Event) -> Event | None:
    given = mapping(raw, "tool_input")
    path = text(given, "file_path", "path")
    match text(raw, "tool_name"):
        case "apply_patch" | "Edit" | "Write":
            patch = read_patch(text(given, "command", "input", "patch"))
            change = FileChange.ADDED if has_created(raw) else FileChange.MODIFIED
            edits = patch or ((FileEdit(path, change),) if path else ())
            return replace(told, kind=EventKind.EDITED, edits=edits) if edits else None
        case "Bash" | "shell" | "shell_command" | "local_shell" | "exec_command" | "unified_exec":
            return _command(told, given)
        case "read_file" if path:
            return replace(told, kind=EventKind.READ, reads=(path,))
        case "grep_files" | "list_dir":
            return replace(told, kind=EventKind.SEARCHED)
        case _:
            return None


def _command(told: Event, given: Mapping[str, object]) -> Event | None:
    """Return what a shell command does, given as one text or as its words; `workdir` is where it runs."""
    command = text(given, "command", "cmd") or shlex.join(texts(given, "command"))
    if not command:
        return None
    workdir = text(given, "workdir")
    cwd = joined(told.cwd or "", workdir) if workdir else told.cwd
    told = replace(told, kind=EventKind.COMMAND_RUN, cwd=cwd, command=command)
    if command.lstrip().startswith("*** Begin Patch"):
        return replace(told, edits=read_patch(command))
    files = read_command(command, cwd)
    return replace(told, reads=files.reads, edits=files.edits)
