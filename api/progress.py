"""Owns the progress bar: on standard error, only on a terminal, only for what takes over a second.

It is not a log; what has happened is said once, in the answer.
"""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE = 1.0


class ProgressBar:
    """Call it with (done, total or None) as often as wanted; it shows itself after `PATIENCE` seconds.

    `in_percent` is for what has no unit that a person would count.
    """

    def __init__(self, words: str, *, in_percent: bool = False) -> None:
        self._words = words
        self._in_percent = in_percent
        self._started = time.monotonic()
        self._shown: tuple[Progress, TaskID] | None = None
        self._wanted = sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            self._shown[0].stop()
            self._shown = None

    def __call__(self, done: int, total: int | None) -> None:
        """Show that `done` of `total` (None: nobody knows) have been dealt with."""
        if not self._wanted or (self._shown is None and time.monotonic() - self._started < PATIENCE):
            return
        progress, task = self._shown or self._show()
        progress.update(task, completed=done, total=total)

    def _show(self) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TaskProgressColumn,
            TextColumn,
            TimeRemainingColumn,
        )

        progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            TaskProgressColumn() if self._in_percent else MofNCompleteColumn(),
            TimeRemainingColumn(compact=True),
            console=Console(stderr=True),
            transient=True,
        )
        progress.start()
        self._shown = progress, progress.add_task(self._words, total=None)
        return self._shown


class Waiting:
    """Shows that something is under way whose end nobody knows, once it has taken `PATIENCE` seconds."""

    def __init__(self, words: str) -> None:
        self._bar = ProgressBar(words)
        self._timer = threading.Timer(PATIENCE, self._bar, (0, None))

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        self._timer.join()
        self._bar.__exit__(kind, error, trace)
