"""Owns a project's work in memory: a chronicle of the present and one of a past moment, in step with a view.

It is not the chronicle (`inference.chronicle`), nor the reading of its steps (`step_rows`). Each chronicle is
one question's at a time: whoever asks holds it until the answer is made. It may be asked by views of several
states at once and goes back and forth between them, as it remembers how far back each change reached
(`graphmem.tide`).
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from graphmem.errors import GraphMemError
from graphmem.postings import View
from graphmem.step_rows import count_steps, further_steps, start_of, steps
from graphmem.task_words import path_words
from graphmem.tide import Tide, marks_after, tide_of
from inference.chronicle import Chronicle

WINDOW = 50_000
"""So many of the latest observations are held."""
AT_ONCE = 2_000
"""More than these are read in the background, while questions are answered without."""

_MARKS = 1_000
_LONGEST_WAIT = 2.0
_WORTH_A_WAIT = 0.5
"""Whoever has less time, such as a hook that an agent waits for, goes without at once."""
_SLICE = 20
_REST = 0.001
_NOTHING = Tide(-1, 0)

Views = Callable[[], AbstractContextManager[View]]

log = logging.getLogger(__name__)


class Chronicler:
    """Keeps the chronicles of one project; safe to share between threads.

    Args:
        views: gives the present for reading in the background; None to read everything at once.
    """

    def __init__(self, views: Views | None = None) -> None:
        self._views = views
        self._present, self._past = _Kept(), _Kept()
        self._lock = threading.Lock()
        self._builder: threading.Thread | None = None
        self._stopping = threading.Event()
        self._closed = False

    @contextmanager
    def at(self, view: View, patience: float = 0.0) -> Iterator[Chronicle | None]:
        """Yield the chronicle of the view's moment and state, for this one question; it must not be changed.

        None while so much of the present is being read that it takes longer than `patience`, at most two
        seconds; who has less than half a second doesn't wait. A past moment is read at once, however much
        that is; None for whoever would wait longer than that for questions about other moments.
        """
        if view.as_of < math.inf:
            if not self._past.lock.acquire(timeout=_LONGEST_WAIT):
                yield None
                return
            try:
                self._past.move(view, self._rest)
                yield self._past.chronicle
            finally:
                self._past.lock.release()
            return
        if self._views is not None and not self._is_near(view):
            builder = self._build(self._views)
            if builder is not None and patience >= _WORTH_A_WAIT:
                builder.join(min(patience, _LONGEST_WAIT))
        with self._present.lock:
            if self._views is None or self._present.distance(view) <= AT_ONCE:
                self._present.move(view)
                yield self._present.chronicle
                return
        # Those who go without need not wait for each other.
        yield None

    def release_past(self) -> None:
        """Let go of the past moment that is held, after many questions about the past."""
        with self._past.lock:
            self._past.reset()

    def _is_near(self, view: View) -> bool:
        with self._present.lock:
            return self._present.distance(view) <= AT_ONCE

    def _rest(self) -> bool:
        """Let others have the interpreter; never stops."""
        self._stopping.wait(_REST)
        return False

    def clear(self) -> None:
        """Let go of everything, and of the file that is being read; the next question begins afresh."""
        with self._lock:
            self._stopping.set()
            builder = self._builder
        if builder is not None:
            builder.join()
        for kept in (self._present, self._past):
            with kept.lock:
                kept.reset()
        with self._lock:
            if not self._closed:
                self._stopping.clear()

    def close(self) -> None:
        """Let go of everything for good; questions are answered without then."""
        self._closed = True
        self.clear()

    def _build(self, views: Views) -> threading.Thread | None:
        """Return the thread that reads the present, started if there was none; None when all ends."""
        with self._lock:
            if self._stopping.is_set():
                return None
            if self._builder is None or not self._builder.is_alive():
                self._builder = threading.Thread(
                    target=self._read, args=(views,), name="chronicle", daemon=True
                )
                self._builder.start()
            return self._builder

    def _read(self, views: Views) -> None:
        fresh = _Kept()
        try:
            with views() as view:
                # A rest after every few steps: whoever is asked meanwhile would wait for the interpreter.
                fresh.move(view, lambda: self._stopping.wait(_REST))
        except GraphMemError as fault:
            log.warning("the work is not held in memory, answers are made without: %s", fault)
            return
        if not self._stopping.is_set():
            with self._present.lock:
                self._present.take(fresh)


class _Kept:
    """A chronicle with the state it follows; holds what came after `start` up to `until` (epoch seconds)."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        """Hold nothing."""
        self.chronicle = Chronicle(path_words)
        self._tide = _NOTHING
        self._marks: dict[int, float] = {}
        self._start = self._until = -math.inf

    def take(self, other: _Kept) -> None:
        """Hold what the other holds."""
        self.chronicle, self._tide, self._marks = other.chronicle, other._tide, other._marks
        self._start, self._until = other._start, other._until

    def distance(self, view: View) -> int:
        """Return how many steps have to be read to follow the view, or one more than `AT_ONCE`."""
        tide = tide_of(view.connection)
        if tide == self._tide and view.as_of == self._until:
            return 0
        return count_steps(view.connection, self._common(view, tide), view.as_of, AT_ONCE + 1)

    def move(self, view: View, pause: Callable[[], bool] = lambda: False) -> None:
        """Take out and read what is needed to hold exactly what the view knows, the latest `WINDOW` of it.

        `pause` is called now and then and says whether to stop, which leaves it unfinished.
        """
        tide = tide_of(view.connection)
        if tide == self._tide and view.as_of == self._until:
            return
        try:
            self._follow(view, self._common(view, tide), pause)
        except BaseException:
            self.reset()
            raise
        self._tide, self._until = tide, view.as_of

    def _follow(self, view: View, common: float, pause: Callable[[], bool]) -> None:
        if common > self._start and not self._is_short(view):
            while (last := self.chronicle.last()) is not None and last.at > common:
                self.chronicle.pop()
            found = further_steps(view.connection, common, view.as_of)
        else:
            self.chronicle = Chronicle(path_words)
            self._start = start_of(view.connection, view.as_of, WINDOW)
            found = steps(view.connection, self._start, view.as_of)
        for number, step in enumerate(found, start=1):
            self.chronicle.push(step)
            if number % _SLICE == 0 and pause():
                return

    def _is_short(self, view: View) -> bool:
        """Return whether a moment lies so far back that too little of what came before it is held."""
        if self._start == -math.inf or view.as_of >= self._until:
            return False
        return start_of(view.connection, view.as_of, WINDOW // 2) < self._start

    def _common(self, view: View, tide: Tide) -> float:
        """Return up to which moment what is held and what the view knows are the same."""
        reach = self._reach(view, tide)
        return min(self._until, view.as_of, math.nextafter(reach, -math.inf))

    def _reach(self, view: View, tide: Tide) -> float:
        """Return how far back the changes between the state that is held and the view's reach."""
        if tide.generation != self._tide.generation:
            return -math.inf
        since = min(tide.number, self._tide.number)
        if tide.number > since:
            marks = marks_after(view.connection, since)
            if marks is None:
                return -math.inf
            self._marks.update(marks)
            for number in [number for number in self._marks if number <= tide.number - _MARKS]:
                del self._marks[number]
        between = range(since + 1, max(tide.number, self._tide.number) + 1)
        if not all(number in self._marks for number in between):
            return -math.inf
        return min((self._marks[number] for number in between), default=math.inf)
