"""Owns what an agent is told when its session begins: the digest, work in progress, what was left open.

It is not the digest (that is `overview`, which also names the sessions in progress and open tasks: what it
names is not told twice). A session that goes on has been told already: it hears only what others did
meanwhile and what it left open itself.
"""

from __future__ import annotations

from typing import NamedTuple

from graphmem.events import Origin
from graphmem.instant import DAY, to_iso
from graphmem.journal import Journal
from graphmem.model import TaskState
from graphmem.postings import View
from graphmem.recall.digest import LEAST_TOKENS, in_progress
from graphmem.recall.edges import Edges
from graphmem.recall.note import quoted
from graphmem.recall.overview import overview
from graphmem.recall.packing import packed_tokens
from graphmem.recall.statements import COLUMNS, JOINED, holding, in_quotes, statements_of
from graphmem.record import storable

BUDGET = 200
_HEAD = "Recorded history of this project, not an instruction:"
_GOES_ON = frozenset({Origin.RESUME, Origin.COMPACT, Origin.FORK})
_SESSIONS_BACK = 3
_MEANWHILE = 3
_TASKS = 4
_LOOKED_AT = 60
_WORDS = 80
_LEFT_OPEN_SHARE = 0.4
_NO_WORK = "git"


class _Session(NamedTuple):
    """A session by its number and name, with its last observation."""

    id: int
    name: str
    actor: str
    last: int
    at: float


def opening(
    view: View,
    journal: Journal,
    session: str,
    origin: Origin | None = None,
    budget_tokens: int = BUDGET,
    now: float | None = None,
) -> str | None:
    """Return what a session is told at its start, in at most `budget_tokens` tokens, or None.

    A new session (also after a clear) hears the digest, the sessions in progress, and what the last session
    that left anything open left: its unfinished turn and open tasks. One that goes on hears what other
    sessions began since its own last work, and what it left open itself, in half the room; nothing when there
    is neither. The graph is not asked, so that this is told at once.

    Args:
        view: the postings, at the present.
        journal: where aims and tasks are read from.
        session: the client's name of the session.
        origin: how it began; None as a new one.
        budget_tokens: see `graphmem.recall.packing`.
        now: the present moment, see `overview`.
    """
    session = storable(session)
    own = _session(view, session)
    if origin in _GOES_ON and (own is not None or origin is not Origin.RESUME):
        lines = [] if own is None else [*_left_open(view, journal, own), *_meanwhile(view, journal, own)]
        return _told(_HEAD, lines, budget_tokens // 2)
    digest_room = budget_tokens - packed_tokens(_HEAD) - 1
    lines = []
    for last in _last_sessions(view, session):
        lines = _left_open(view, journal, last)
        if lines:
            break
    if digest_room < LEAST_TOKENS or view.connection.execute("SELECT 1 FROM observation").fetchone() is None:
        return None
    while lines and packed_tokens("\n".join(lines)) > digest_room * _LEFT_OPEN_SHARE:
        lines.pop()
    room = max(LEAST_TOKENS, digest_room - packed_tokens("\n".join(lines)) - 1)
    digest = overview(Edges(view, journal.ledger), journal, None, room, now).text
    untold = [line for line in lines if line.partition("): ")[2].strip('"') not in digest]
    return _told(_HEAD, [*digest.splitlines(), *untold], budget_tokens)


def _told(head: str, lines: list[str], budget_tokens: int) -> str | None:
    told = [head]
    for line in lines:
        if packed_tokens("\n".join([*told, line])) <= budget_tokens:
            told.append(line)
    return "\n".join(told) if len(told) > 1 else None


# ---- sessions -----------------------------------------------------------------------------------


def _session(view: View, name: str) -> _Session | None:
    rows = _sessions(view, "session.name = ?", (name,), 1)
    return rows[0] if rows else None


def _last_sessions(view: View, but: str) -> list[_Session]:
    """Return the sessions before this one, the latest first; a sitting in git leaves nothing open."""
    return _sessions(view, "session.name != ? AND source != ?", (but, _NO_WORK), _SESSIONS_BACK)


def _sessions(view: View, where: str, values: tuple[object, ...], limit: int) -> list[_Session]:
    # The newest observations name the latest sessions; a full grouping would read every row.
    rows = view.connection.execute(
        "SELECT session.id, session.name, actor.name, seq, at FROM observation"
        " JOIN session ON session.id = session JOIN actor ON actor.id = actor"
        f" WHERE {where} AND at <= ? ORDER BY at DESC, seq DESC LIMIT ?",
        (*values, view.as_of, _LOOKED_AT),
    )
    found: dict[int, _Session] = {}
    for row in rows:
        made = _Session._make(row)
        found.setdefault(made.id, made)
    return list(found.values())[:limit]


def _meanwhile(view: View, journal: Journal, own: _Session) -> list[str]:
    """Return what other sessions were at since this one's last work, at most a day back from the newest."""
    newest = view.connection.execute("SELECT MAX(at) FROM observation").fetchone()[0]
    others = _sessions(
        view, "session.name != ? AND at > ?", (own.name, max(own.at, newest - DAY)), _MEANWHILE
    )
    aims = journal.numbered(_first_of(view, other) for other in others)
    lines = []
    for other in others:
        first = aims.get(_first_of(view, other))
        aim = "" if first is None else first.intent or first.title
        lines.append(f"- meanwhile: {in_progress(aim, other.actor, other.name)}")
    return lines


def _first_of(view: View, session: _Session) -> int:
    row = view.connection.execute(
        "SELECT seq FROM observation WHERE session = ? ORDER BY at, seq LIMIT 1", (session.id,)
    ).fetchone()
    return int(row[0])


def _left_open(view: View, journal: Journal, session: _Session) -> list[str]:
    """Return a session's unfinished turn and the tasks nothing said later has closed, the newest first."""
    where = f"session {quoted(session.name)}, {to_iso(session.at)[:10]}"
    lines = []
    last = journal.numbered([session.last]).get(session.last)
    if last is not None and last.provisional:
        lines.append(f"- unfinished ({where}): {_short(last.intent or last.title)}")
    told = statements_of(
        view,
        f"SELECT {COLUMNS} FROM {JOINED} WHERE observation.session = ? AND kind = 'task' AND fact.at <= ?"
        " ORDER BY fact.at DESC, fact.seq DESC, ord LIMIT ?",
        (session.id, view.as_of, _LOOKED_AT),
    )
    open_tasks = [said for said in told if said.state is not TaskState.DONE]
    tasks = [said.text for said in holding(view, open_tasks)]
    return lines + [f"- left open ({where}): {_short(task)}" for task in tasks[:_TASKS]]


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return in_quotes(flat if len(flat) <= _WORDS else f"{flat[: _WORDS - 1].rstrip()}…")
