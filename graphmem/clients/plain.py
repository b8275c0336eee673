"""Owns the neutral JSON: events and advice in GraphMem's own words, in memory.

It is not a client's dialect: it is the twin that other adapters are held against, for tests and for what
replays sessions within a process. It is not reached from outside: what comes in there keeps the fields of
known clients only, and a program of one's own observes. Fields, all but the first two optional:

    event    "session started", "prompt", "read", "searched", "edited", "command run", "turn ended",
             "session ended"
    session  the session's name
    turn, call, agent, key, cwd, text, command    texts, see `graphmem.events.Event`
    phase    "ahead", "done" (if missing) or "failed"
    origin   "startup", "resume", "clear", "compact" or "fork"
    reads    paths
    edits    paths, or {"path", "change": "modified" | "added" | "deleted" | "moved", "former"}

The files of a command without `reads` and `edits` are read from it. The answer is {}, or
{"moment", "text", "hold"}.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from graphmem.clients.fields import call_key, text, texts
from graphmem.commands.shell import read_command
from graphmem.events import Advice, Event, EventKind, FileChange, FileEdit, Origin, Phase

_KINDS = {kind.value: kind for kind in EventKind}
_PHASES = {phase.value: phase for phase in Phase}
_ORIGINS = {origin.value: origin for origin in Origin}
_CHANGES = {change.value: change for change in FileChange}


class Plain:
    """The adapter of what speaks GraphMem's own words."""

    @property
    def name(self) -> str:
        """The client's name."""
        return "plain"

    def events(self, raw: Mapping[str, object], at: float) -> list[Event]:
        """Return the event that is told, or none where its kind, phase or session is not to be understood."""
        kind, session = _KINDS.get(text(raw, "event")), text(raw, "session")
        phase = _PHASES.get(text(raw, "phase") or Phase.DONE)
        if kind is None or phase is None or not session:
            return []
        call = text(raw, "call")
        event = Event(
            kind,
            self.name,
            session,
            at,
            cwd=text(raw, "cwd") or None,
            key=text(raw, "key") or call_key(call, phase),
            turn=text(raw, "turn"),
            agent=text(raw, "agent"),
            call=call,
            phase=phase,
            reads=tuple(path for path in texts(raw, "reads") if path),
            edits=_edits(raw),
            text=text(raw, "text"),
            command=text(raw, "command"),
            origin=_ORIGINS.get(text(raw, "origin")),
        )
        if event.command and "reads" not in raw and "edits" not in raw:
            files = read_command(event.command, event.cwd)
            event = replace(event, reads=files.reads, edits=files.edits)
        return [event]

    def answer(self, raw: Mapping[str, object], advice: Advice | None) -> dict[str, object]:
        """Return the advice as it is; {} where there is none."""
        if advice is None or not advice.text:
            return {}
        return {"moment": advice.moment.value, "text": advice.text, "hold": advice.hold}


def _edits(raw: Mapping[str, object]) -> tuple[FileEdit, ...]:
    told = raw.get("edits")
    found = (_edit(item) for item in told) if isinstance(told, list) else ()
    return tuple(edit for edit in found if edit is not None)


def _edit(item: object) -> FileEdit | None:
    if isinstance(item, str) and item:
        return FileEdit(item)
    if not isinstance(item, dict) or not text(item, "path"):
        return None
    change = _CHANGES.get(text(item, "change") or FileChange.MODIFIED)
    former = text(item, "former") or None
    if change is None or (change is FileChange.MOVED) != (former is not None):
        return None
    return FileEdit(text(item, "path"), change, former)
