"""Owns what the asking session did so far: the files it read and edited, in order, and its branch.

It is not the judgement of it (`inference.session_score`). What is stored of a session comes from the
postings, what is on its way there from whoever heard of it first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from graphmem.postings import FileView, View
from graphmem.step_rows import branch_number
from inference.lineage import Change
from inference.ranker import Known
from inference.session_clues import Asking, Touch

LATEST = 400
"""So many of a session's last touches are looked at."""
UNKNOWN = -1
"""Number of a session that nothing is stored of, and of a file that nobody has named."""


@dataclass(frozen=True, slots=True)
class SessionWork:
    """A session's work; `read` and `edited` name each file once, in the order of their first times.

    `session` and `branch` are the numbers that steps of a chronicle have, `UNKNOWN` and 0 without any.
    """

    session: int = UNKNOWN
    branch: int = 0
    read: tuple[Touch, ...] = ()
    edited: tuple[Touch, ...] = ()

    @property
    def has_begun(self) -> bool:
        """Whether anything is known of it that could change an answer."""
        return bool(self.read or self.edited or self.branch)

    def knows(self, path: str) -> bool:
        """Return whether the session has read or edited a file."""
        return any(touch.path == path for touch in (*self.read, *self.edited))

    def asking(self, known: Sequence[Known], now: float) -> Asking:
        """Return the question about files, at epoch seconds."""
        asked = tuple(Touch(one.path, UNKNOWN if one.file is None else one.file) for one in known)
        return Asking(asked, now, self.read, self.edited, self.session, self.branch)


NOTHING_DONE = SessionWork()


def work_of(view: View, session: str | None, seen: Collection[str] = ()) -> SessionWork:
    """Return what a session did up to the view's moment.

    Args:
        view: the postings.
        session: its name, None when it is not known who asks.
        seen: paths that it has in hand; those that are not stored yet count as read last.
    """
    row = view.connection.execute("SELECT id FROM session WHERE name = ?", (session,)).fetchone()
    number = UNKNOWN if row is None else int(row[0])
    read: dict[int, None] = {}
    edited: dict[int, None] = {}
    for file, change in _touches(view, number):
        (read if change == Change.READ else edited).setdefault(file)
    views = view.files((*read, *edited))
    stored = {file.path for file in views.values()}
    late = [path for path in sorted(seen) if path not in stored]
    return SessionWork(
        number,
        _branch(view, number),
        _named(views, read) + tuple(_found(view, path) for path in late),
        _named(views, edited),
    )


def work_told(view: View, read: Iterable[str], edited: Iterable[str], branch: str | None) -> SessionWork:
    """Return the work of a session that is not stored, of paths in the order of their first times."""
    return SessionWork(
        branch=branch_number(branch or None),
        read=tuple(_found(view, path) for path in read),
        edited=tuple(_found(view, path) for path in edited),
    )


def _touches(view: View, session: int) -> list[tuple[int, int]]:
    """Return file and kind of change of the session's last touches, in order of time."""
    rows = view.connection.execute(
        "SELECT touch.file, touch.change FROM observation JOIN touch USING (seq)"
        " WHERE observation.session = ? AND observation.at <= ?"
        " ORDER BY observation.at DESC, seq DESC, ord DESC LIMIT ?",
        (session, view.as_of, LATEST),
    ).fetchall()
    return [(int(file), int(change)) for file, change in reversed(rows)]


def _branch(view: View, session: int) -> int:
    row = view.connection.execute(
        "SELECT branch FROM observation WHERE session = ? AND at <= ? AND branch IS NOT NULL"
        " ORDER BY at DESC, seq DESC LIMIT 1",
        (session, view.as_of),
    ).fetchone()
    return 0 if row is None else branch_number(row[0])


def _named(views: dict[int, FileView], files: Iterable[int]) -> tuple[Touch, ...]:
    return tuple(Touch(views[file].path, file) for file in files if file in views)


def _found(view: View, path: str) -> Touch:
    file = view.file(path)
    return Touch(path) if file is None else Touch(file.path, file.id)
