"""Owns what runs long inside the service: each in its own thread, its progress as lines of JSON.

It is not the importers (`graphmem.capture`), nor the reading of code (`graphmem.imports`). An import ends
early when its client goes away or the service stops; what it has stored stays, and the next run goes on from
there.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable

from api.problems import Problem, ProblemKind, problem_of
from api.schemas import ImportReportOut, Shape
from api.schemas_code import CorroborationOut
from graphmem.code_facts import Corroboration
from graphmem.errors import GraphMemError
from graphmem.model import ImportReport

logger = logging.getLogger("graphmem.service")

Progress = Callable[[int, int | None], None]
Report = ImportReport | Corroboration
Work = Callable[[Progress, threading.Event], Report]
_LINE_EVERY = 0.1


class ImportRun:
    """One import, or one reading of code: started at once, followed by one reader on the event loop."""

    def __init__(self, work: Work, loop: asyncio.AbstractEventLoop) -> None:
        self._work = work
        self._loop = loop
        self._news = asyncio.Event()
        self._latest: tuple[int, int | None] | None = None
        self._told_at = 0.0
        self.stop = threading.Event()
        self.report: Report | None = None
        self.problem: Problem | None = None
        self.thread = threading.Thread(target=self._run, name="import", daemon=True)

    @property
    def ended(self) -> bool:
        """Whether there is a report or a problem."""
        return self.report is not None or self.problem is not None

    def _run(self) -> None:
        try:
            self.report = self._work(self._progress, self.stop)
        except GraphMemError as error:
            self.problem = problem_of(error)
        except Exception:
            logger.exception("an import failed")
            self.problem = Problem(
                ProblemKind.FAULT,
                "The import met a fault of GraphMem's own: look into the home's folder logs, "
                "and please report it; what was imported before is kept.",
            )
        self._tell()

    def _progress(self, done: int, total: int | None) -> None:
        self._latest = (done, total)
        now = time.monotonic()
        if now - self._told_at >= _LINE_EVERY:
            self._told_at = now
            self._tell()

    def _tell(self) -> None:
        # The loop may be closed by now: then nobody is left to read.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._news.set)

    async def first_news(self, seconds: float) -> None:
        """Return at the first progress or the end, or after `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                await self._news.wait()
        except TimeoutError:
            return

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield progress lines and, last, the report or the problem."""
        shown: tuple[int, int | None] | None = None
        while not self.ended:
            self._news.clear()
            if self._latest is not None and self._latest != shown:
                shown = self._latest
                yield _line({"progress": {"done": shown[0], "total": shown[1]}})
            if not self.ended:
                await self._news.wait()
        if self.report is not None:
            yield _line({"report": _shape(self.report).model_dump(mode="json")})
        elif self.problem is not None:
            yield _line({"problem": self.problem.document().model_dump(mode="json")})


def _shape(report: Report) -> Shape:
    match report:
        case ImportReport():
            return ImportReportOut.of(report)
        case Corroboration():
            return CorroborationOut.of(report)


def _line(value: object) -> bytes:
    return json.dumps(value).encode() + b"\n"


class Imports:
    """All imports that run now, so that the service can stop them before it closes the memory."""

    def __init__(self) -> None:
        self._runs: list[ImportRun] = []
        self._stopped = False

    def start(self, work: Work) -> ImportRun:
        """Start an import; on the event loop."""
        self._runs = [run for run in self._runs if run.thread.is_alive()]
        run = ImportRun(work, asyncio.get_running_loop())
        if self._stopped:
            run.stop.set()
        self._runs.append(run)
        run.thread.start()
        return run

    def stop(self) -> None:
        """Ask every import to end; also those that come later."""
        self._stopped = True
        for run in self._runs:
            run.stop.set()

    def join(self, seconds: float) -> None:
        """Wait until all have ended, at most about `seconds`."""
        until = time.monotonic() + seconds
        for run in self._runs:
            run.thread.join(max(until - time.monotonic(), 0.0))
