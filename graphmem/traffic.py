"""Owns knowing whether somebody is being served, so that what can wait keeps out of the way.

It is not a queue: questions never wait for anything here.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_QUIET = 0.5
_AT_MOST = 2.0
_LOOK = 0.05


class Traffic:
    """The questions to all projects of one memory, and the one piece of work in the background at a time."""

    def __init__(self) -> None:
        self._asked_at = -math.inf
        self._turn = threading.Lock()

    def passes(self) -> None:
        """Say that a question is being asked."""
        self._asked_at = time.monotonic()

    def is_quiet(self) -> bool:
        """Return whether nobody asked anything for half a second."""
        return time.monotonic() - self._asked_at > _QUIET

    def gives_way(self, stopping: Callable[[float], bool]) -> bool:
        """Wait until nobody is being served, two seconds at most; return whether it is time to end.

        `stopping` waits so many seconds and says whether to end.
        """
        until = time.monotonic() + _AT_MOST
        stops = stopping(_LOOK)
        while not (stops or self.is_quiet() or time.monotonic() > until):
            stops = stopping(_LOOK)
        return stops

    @contextmanager
    def turn(self) -> Iterator[bool]:
        """Yield whether nobody else is at it; nothing waits here, as there is other work than this."""
        mine = self._turn.acquire(blocking=False)
        try:
            yield mine
        finally:
            if mine:
                self._turn.release()
