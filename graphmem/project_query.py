"""Owns questions in words to one project as a library user asks them.

It is not how they are answered (`graphmem.recall.inquiry`): it checks what is asked, says what the project
lacks just now, and keeps the time a question has.
"""

from __future__ import annotations

import time
from dataclasses import replace

from graphmem.access import Access, check_limit
from graphmem.embedding.store import Similar
from graphmem.opened import Opened
from graphmem.postings import View
from graphmem.question import Answer, Question
from graphmem.recall.impact import unfinished
from graphmem.recall.inquiry import TIME, Alike, Sources, inquire
from graphmem.recall.linking import Lend
from graphmem.recall.switches import EVERYTHING, Switches
from graphmem.record import storable
from graphmem.references import none_missing

_EMPTY = "the question is empty: say in a few words what to look for"


class ProjectQuery:
    """Questions in words to one project; `lend` lends its graph."""

    def __init__(self, access: Access, lend: Lend) -> None:
        self._access = access
        self._lend = lend

    def ask(self, question: Question, switches: Switches = EVERYTHING) -> Answer:
        """Return what answers a question, within about a second: what was not done by then is said.

        A blank text finds nothing and is told so.

        Raises:
            InvalidInputError: the limit is out of range.
        """
        check_limit(question.limit)
        text = storable(question.text)
        if not text.strip():
            return Answer((), (), "", 0, _EMPTY)
        deadline = time.monotonic() + TIME
        now = self._access.clock() if question.as_of is None else question.as_of
        asked = replace(question, text=text)

        def answer(view: View, files: Opened) -> Answer:
            # The disk only tells of the present.
            missing = files.workspace.missing if question.as_of is None else none_missing
            sources = Sources(view, files.journal, _alike(files), self._lend, missing, _lacks(files))
            return inquire(sources, asked, now, deadline, switches)

        return self._access.ask(answer, question.as_of)


def _alike(files: Opened) -> Alike:
    def alike(text: str) -> Similar | None:
        similar = files.vectors.similar(text)
        return similar if len(similar.seqs) else None

    return alike


def _lacks(files: Opened) -> tuple[str, ...]:
    behind = files.follower.behind()
    lacks = (None if behind is None else unfinished(*behind), files.vectors.behind())
    return tuple(lack for lack in lacks if lack)
