"""Owns driving an importer: each batch becomes durable together with its cursor, then the next is read.

It is not a source (those yield batches) and not the projection, which follows by itself meanwhile.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import Protocol

from graphmem.capture.source import Importer, ImportTally
from graphmem.errors import SourceError
from graphmem.journal import Journal, Stored
from graphmem.model import ImportReport, Observation, Receipt, Rejection

Progress = Callable[[int, int | None], None]
Accept = Callable[[Sequence[Mapping[str, object] | Observation]], tuple[list[Observation], list[Rejection]]]

_VISIBLE_WITHIN = 600.0


class Following(Protocol):
    """What has to be told that the journal has grown, and can be waited for."""

    def notify(self) -> None:
        """Say that the journal has grown."""

    def wait(self, timeout: float, until: Callable[[], bool] | None = None) -> bool:
        """Wait until all that is in the journal is visible."""


def run_import(
    importer: Importer,
    journal: Journal,
    following: Following,
    accept: Accept,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> ImportReport:
    """Take in what is new in a source, and return when it can be asked about.

    Args:
        importer: the source.
        journal: where batches go; it also keeps the source's cursor.
        following: the reader of the journal.
        accept: judges a batch's items.
        progress: told `(done, total)` after each batch.
        stop: ends the import at the next batch; the next run goes on from there.

    Raises:
        SourceError: the source can't be read; what came before is stored.
    """
    began = time.monotonic()
    # A path need not be UTF-8, what is stored and printed must be.
    location = os.fsencode(importer.location).decode("utf-8", "backslashreplace")
    key = f"{importer.source}:{location}"
    tally = ImportTally(importer.source, location)
    given_up = None if stop is None else stop.is_set
    try:
        # Closed at once when something fails: nothing of the source may keep running.
        with closing(importer.batches(journal.cursor(key), stop)) as batches:
            for batch in batches:
                taken, rejected = accept(batch.items)
                outcome = journal.append(taken, time.time(), (key, batch.cursor))
                following.notify()
                accepted = outcome.count(Stored.INSERTED)
                receipt = Receipt(accepted, len(outcome) - accepted, tuple(rejected))
                tally.add(batch, receipt)
                if progress is not None:
                    progress(batch.done, batch.total)
    except SourceError:
        following.wait(_VISIBLE_WITHIN, given_up)
        raise
    stopped = stop is not None and stop.is_set()
    following.wait(_VISIBLE_WITHIN, given_up)
    return tally.report(stopped=stopped, took_ms=(time.monotonic() - began) * 1000)
