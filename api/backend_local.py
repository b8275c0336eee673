"""Owns the answers from the files themselves, for as long as no service runs on the home.

It is not the service's client (`api.backend_remote`). It holds the home's lock from its making until its end.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from types import FrameType
from typing import Self

from api import schemas, schemas_stats
from api.backend import (
    HistorySource,
    ImpactQuestion,
    ObservationQuestion,
    Progress,
    SearchQuestion,
    Shape,
)
from api.backend_corpora_local import LocalCorpora
from api.backend_graph_local import LocalGraph
from api.backend_keeping_local import LocalKeeping
from api.bodies import QueryIn
from api.schemas_capture import CaptureOut
from api.schemas_recall import SearchOut
from graphmem import Memory
from graphmem.instant import from_iso
from graphmem.model import ObservationFilter


class LocalBackend:
    """Answers from `memory`, which it closes at its end."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.where = f"the files in {memory.home.path}"
        self.graph = LocalGraph(memory)
        self.keeping = LocalKeeping(memory)
        self.corpora = LocalCorpora(memory)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._memory.close()

    def projects(self) -> Shape:
        """Return the page of all projects, by slug."""
        items = [schemas.ProjectOut.of(info) for info in self._memory.projects()]
        return _plain(schemas.ProjectPageOut(items=items))

    def project(self, reference: str) -> Shape:
        """Return the project of that slug or around that absolute path."""
        return _plain(schemas.ProjectOut.of(self._memory.project(reference).info))

    def register(self, root: str) -> Shape:
        """Return the project of that root, made known if it is new."""
        project, _ = self._memory.register(root)
        return _plain(schemas.ProjectOut.of(project.info))

    def impact(self, project: str, question: ImpactQuestion) -> Shape:
        """Return what else changes."""
        answer = self._memory.project(project).impact(
            question.paths,
            intent=question.intent,
            session=question.session,
            actor=question.actor,
            as_of=_at(question.as_of),
            limit=question.limit,
        )
        return _plain(schemas.ImpactOut.of(answer))

    def observations(self, project: str, question: ObservationQuestion) -> Shape:
        """Return a page of observations, newest first."""
        where = ObservationFilter(
            file=question.file,
            concept=question.concept,
            session=question.session,
            type=question.type,
            since=_at(question.since),
            until=_at(question.until),
            as_of=_at(question.as_of),
        )
        page = self._memory.project(project).observations(where, question.limit, question.cursor)
        return _plain(schemas.ObservationPageOut.of(page))

    def observation(self, project: str, id: str) -> Shape:
        """Return one observation."""
        return self.keeping.observation(project, id)

    def sessions(self, project: str, limit: int, cursor: str | None) -> Shape:
        """Return a page of sessions, most recent first."""
        return _plain(schemas.SessionPageOut.of(self._memory.project(project).sessions(limit, cursor)))

    def session(self, project: str, id: str) -> Shape:
        """Return one session."""
        return _plain(schemas.SessionOut.of(self._memory.project(project).session(id)))

    def search(self, project: str, question: SearchQuestion) -> Shape:
        """Return what answers a question in words."""
        asked = QueryIn.model_validate(asdict(question))
        found = self._memory.project(project).query(asked.question())
        return _plain(SearchOut.of_answer(found, explain=asked.explain))

    def stats(self, project: str) -> Shape:
        """Return counts and sizes."""
        return _plain(schemas_stats.StatsOut.of(self._memory.project(project).stats()))

    def captures(self, project: str, session: str | None) -> Shape:
        """Return whether work is recorded."""
        enabled = self._memory.project(project).captures(session)
        return _plain(CaptureOut(enabled=enabled, session=session))

    def set_capturing(self, project: str, on: bool, session: str | None) -> Shape:
        """Switch recording for the project or for one session."""
        self._memory.project(project).set_capturing(on, session)
        return self.captures(project, session)

    def import_history(self, project: str, source: HistorySource, progress: Progress) -> Shape:
        """Import and return the report; Ctrl-C ends it after what is in hand, and the report says so."""
        target = self._memory.project(project)
        with _stop_on_interrupt() as stop:
            if source.kind == "git":
                report = target.import_git(
                    source.location,
                    ref=source.ref or "HEAD",
                    include=source.include,
                    progress=progress,
                    stop=stop,
                )
            else:
                report = target.import_jsonl(source.location, progress=progress, stop=stop)
        return _plain(schemas.ImportReportOut.of(report))


@contextmanager
def _stop_on_interrupt() -> Iterator[threading.Event]:
    """Turn the first Ctrl-C into an event; the second one is a KeyboardInterrupt as ever."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def interrupted(number: int, frame: FrameType | None) -> None:
        stop.set()
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def _at(instant: str | None) -> float | None:
    return None if instant is None else from_iso(instant)


def _plain(shape: schemas.Shape) -> Shape:
    return shape.model_dump(mode="json")
