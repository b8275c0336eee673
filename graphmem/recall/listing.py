"""Owns the lists of observations and sessions, newest first, in pages.

It is not questions in words (that is `inquiry`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from graphmem.errors import NotFoundError
from graphmem.journal import Journal
from graphmem.model import (
    SESSION_FILES,
    FactKind,
    Observation,
    ObservationFilter,
    ObservationPage,
    SessionPage,
    SessionSummary,
    TaskState,
)
from graphmem.postings import View
from graphmem.question import Filters
from graphmem.recall.filtering import conditions
from graphmem.recall.page import decode_cursor, encode_cursor
from graphmem.speech.facts import reading, task_subject

_SESSION_DONE = 10


def observations(
    view: View, journal: Journal, where: ObservationFilter, limit: int, cursor: str | None
) -> ObservationPage:
    """Return a page of observations, newest first; `where.file` follows renames."""
    wanted, values = conditions(view, _filters(where))
    if cursor is not None:
        at, key = decode_cursor(cursor, int)
        wanted.append("(observation.at < ? OR (observation.at = ? AND observation.seq < ?))")
        values += [at, at, key]
    rows = view.connection.execute(
        f"SELECT observation.seq, observation.at FROM observation WHERE {' AND '.join(wanted) or 'TRUE'}"
        " ORDER BY observation.at DESC, observation.seq DESC LIMIT ?",
        (*values, limit + 1),
    ).fetchall()
    shown = rows[:limit]
    found = journal.numbered(row[0] for row in shown)
    kept = journal.confirmations.confirmed(where.as_of)
    items = tuple(
        replace(found[seq], confirmed=True) if seq in kept else found[seq] for seq, _ in shown if seq in found
    )
    more = len(rows) > limit
    return ObservationPage(items, encode_cursor(shown[-1][1], shown[-1][0]) if more else None)


def _filters(where: ObservationFilter) -> Filters:
    return Filters(
        since=where.since,
        until=where.until,
        types=() if where.type is None else (where.type,),
        file=where.file,
        concept=where.concept,
        session=where.session,
    )


def sessions(view: View, journal: Journal, limit: int, cursor: str | None) -> SessionPage:
    """Return a page of sessions, the one with the latest work first."""
    having, values = "", []
    if cursor is not None:
        at, key = decode_cursor(cursor, str)
        having = "HAVING MAX(at) < ? OR (MAX(at) = ? AND session.name > ?)"
        values = [at, at, key]
    rows = view.connection.execute(
        "SELECT session.id, session.name, MAX(at) FROM observation JOIN session ON session.id = session"
        f" GROUP BY session.id {having} ORDER BY MAX(at) DESC, session.name LIMIT ?",
        (*values, limit + 1),
    ).fetchall()
    shown = rows[:limit]
    items = tuple(_summary(view, journal, row[0], row[1]) for row in shown)
    more = len(rows) > limit
    return SessionPage(items, encode_cursor(shown[-1][2], shown[-1][1]) if more else None)


def session(view: View, journal: Journal, id: str) -> SessionSummary:
    """Return one session.

    Raises:
        NotFoundError: no observation belongs to it.
    """
    row = view.connection.execute("SELECT id FROM session WHERE name = ?", (id,)).fetchone()
    if row is None:
        raise NotFoundError(f"There is no session {id!r}; list them with `graphmem sessions`.")
    return _summary(view, journal, row[0], id)


def _summary(view: View, journal: Journal, number: int, name: str) -> SessionSummary:
    rows = view.connection.execute(
        "SELECT seq FROM observation WHERE session = ? ORDER BY at, seq", (number,)
    ).fetchall()
    first = last = None
    count, intent, title = 0, "", ""
    files, done = _Latest(), _Latest()
    # By task, what was said of it last.
    tasks: dict[str, tuple[str, TaskState | None]] = {}
    for _, last in journal.each([row[0] for row in rows]):
        first = first or last
        count += 1
        intent, title = intent or last.intent, title or last.title
        files.meet(_changed(last))
        done.meet((last.title,) if last.title else ())
        tasks.update(
            (task_key(said.text), (said.text, said.state))
            for said in map(reading, last.facts)
            if said.kind is FactKind.TASK
        )
    if first is None or last is None:
        raise NotFoundError(f"The session {name!r} was forgotten; list the others with `graphmem sessions`.")
    return SessionSummary(
        id=name,
        actor=first.actor,
        source=first.source,
        branch=last.branch,
        started_at=first.at,
        ended_at=last.at,
        observations=count,
        set_out=intent or title,
        files=files.newest(SESSION_FILES),
        done=done.newest(_SESSION_DONE),
        left_open=tuple(text for text, state in tasks.values() if state is not TaskState.DONE),
    )


class _Latest:
    """Distinct texts, those met last first; of one observation in its own order."""

    def __init__(self) -> None:
        self._met: dict[str, None] = {}

    def meet(self, texts: Sequence[str]) -> None:
        for text in reversed(texts):
            self._met.pop(text, None)
            self._met[text] = None

    def newest(self, most: int) -> tuple[str, ...]:
        return tuple(islice(reversed(self._met), most))


def _changed(observation: Observation) -> tuple[str, ...]:
    renamed = tuple(rename.new for rename in observation.renames)
    return observation.files_modified + renamed + observation.files_deleted


def task_key(text: str) -> str:
    """Return what tells a task from others: its telling words, the same of the open and the done one."""
    return task_subject(text) or " ".join(text.casefold().split()).rstrip(".。!")
