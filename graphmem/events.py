"""Owns the vocabulary of live capture: what an agent did, told alike for every client, and what it is told.

It is not how a client says it (that is `graphmem.clients`) nor what becomes of it (`assembly`, `recorder`).
Times are epoch seconds in UTC; paths are as the client gave them, absolute or relative to `cwd`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

DRILL = "graphmem-doctor"
"""The session of a drill: it is answered and never recorded."""


class EventKind(StrEnum):
    """What happened in a session."""

    SESSION_STARTED = "session started"
    PROMPT = "prompt"
    READ = "read"
    SEARCHED = "searched"
    EDITED = "edited"
    COMMAND_RUN = "command run"
    TURN_ENDED = "turn ended"
    SESSION_ENDED = "session ended"


class Phase(StrEnum):
    """When of a tool call an event tells; only `DONE` counts as work, `AHEAD` is the moment to speak."""

    AHEAD = "ahead"
    DONE = "done"
    FAILED = "failed"


class Origin(StrEnum):
    """How a session began; of one that goes on, earlier calls may come in again."""

    STARTUP = "startup"
    RESUME = "resume"
    CLEAR = "clear"
    COMPACT = "compact"
    FORK = "fork"


class FileChange(StrEnum):
    """What was done to a file."""

    MODIFIED = "modified"
    ADDED = "added"
    DELETED = "deleted"
    MOVED = "moved"


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A change of one file; of a moved one `path` is the new name and `former` the old one."""

    path: str
    change: FileChange = FileChange.MODIFIED
    former: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened in a session.

    `key` is the same wherever the client tells of the same thing again, also under another session's name;
    empty where it gives nothing to know it by. `turn` is the client's name of the prompt being worked on,
    `agent` that of a sub-agent, `call` that of a tool call; `branch` is that of git, where it is known.
    `text` is the prompt, or a turn's last answer;
    `command` what was run. A command that reads, writes, moves or removes files has these in `reads` and
    `edits`, whatever its kind.
    """

    kind: EventKind
    client: str
    session: str
    at: float
    cwd: str | None = None
    key: str = ""
    turn: str = ""
    agent: str = ""
    call: str = ""
    phase: Phase = Phase.DONE
    reads: tuple[str, ...] = ()
    edits: tuple[FileEdit, ...] = ()
    branch: str = ""
    text: str = ""
    command: str = ""
    origin: Origin | None = None


AGENTS_SINCE = 1_577_836_800.0
"""No agent's hook was called before 2020: a clock that says so was never set."""


def sane(at: float, now: float) -> float:
    """Return the moment of a call as it can be: neither later than now nor before there were any."""
    return at if AGENTS_SINCE <= at <= now else now


class Moment(StrEnum):
    """When an agent is told something."""

    SESSION_START = "session start"
    PROMPT = "prompt"
    READ = "read"
    EDIT = "edit"


@dataclass(frozen=True, slots=True)
class Advice:
    """What the agent is told in answer to one event; `hold` asks the client to refuse this call once."""

    moment: Moment
    text: str
    hold: bool = False
