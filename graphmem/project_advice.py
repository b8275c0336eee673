"""Owns what an agent is told about one project unasked: the note on files, reminders, a session's opening.

It is not when it is told (that is `graphmem.advisor`) nor the words (`graphmem.recall`). An agent waits for
each answer: what can't be told at once, as while the history is read anew, is None and not told.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

from graphmem.access import Access
from graphmem.errors import InvalidInputError, UnavailableError
from graphmem.events import Origin
from graphmem.opened import Opened
from graphmem.postings import View
from graphmem.recall.alert import Alert, alert
from graphmem.recall.opening import opening
from graphmem.recall.reminders import reminders
from graphmem.recall.surroundings import Question
from graphmem.record import storable

T = TypeVar("T")

_PATIENCE = 0.05
"""Seconds."""


class ProjectAdvice:
    """What is told about one project; get it from `Project.advice`."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def named(self, paths: Sequence[str], cwd: str | None) -> list[str]:
        """Return the project's names of these paths, each once; what lies outside is left out."""
        found: dict[str, None] = {}
        with self._access.use() as files, files.workspace.reading(_PATIENCE) as resolver:
            for path in paths:
                try:
                    name = resolver.resolve(path, cwd)
                except InvalidInputError:
                    continue
                if name is not None:
                    found[name] = None
        return list(found)

    def touched(self, session: str) -> set[str] | None:
        """Return the files that a session has read or changed, as far as that is stored."""

        def answer(view: View, files: Opened) -> set[str] | None:
            if files.follower.behind() is not None:
                return None
            rows = view.connection.execute(
                "SELECT DISTINCT path.name FROM touch JOIN observation USING (seq)"
                " JOIN session ON session.id = observation.session JOIN file ON file.id = touch.file"
                " JOIN path ON path.id = file.path WHERE session.name = ?",
                (storable(session),),
            )
            return {path for (path,) in rows}

        return self._ask(answer)

    def alert(
        self,
        paths: Sequence[str],
        *,
        session: str | None = None,
        actor: str | None = None,
        seen: Collection[str] = (),
        task: tuple[str, ...] = (),
    ) -> Alert | None:
        """Return the note on a change of these files (the project's own names), or None.

        `seen` are files that the session has in hand already, which are not named; `task` are the words of
        what it is at.
        """
        asker = None if actor is None else storable(actor)
        question = Question(tuple(paths), session, asker, words=task)
        now = self._access.clock()

        def answer(view: View, files: Opened) -> Alert | None:
            if files.follower.behind() is not None:
                return None
            return alert(view, question, now, files.workspace.missing, files.journal, seen)

        return self._ask(answer)

    def remind(self, prompt: str, actor: str) -> str | None:
        """Return what is told at a prompt, or None."""
        return self._ask(lambda view, _: reminders(view, prompt, actor))

    def opening(self, session: str, origin: Origin | None = None) -> str | None:
        """Return what is told at a session's start, or None; `origin` is how it began."""
        now = self._access.clock()
        return self._ask(lambda view, files: opening(view, files.journal, session, origin, now=now))

    def _ask(self, answer: Callable[[View, Opened], T]) -> T | None:
        try:
            return self._access.ask(answer, patience=_PATIENCE)
        except UnavailableError:
            return None
