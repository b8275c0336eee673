"""Owns keeping `derived.db` up with the journal: opening, following, damage and rebuild.

It is not what is projected (that is `projection`). One thread a project does all writing to the derived
file, in order; questions read beside it. What can't be read any more is set aside and built anew.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from graphmem.database import DamageError, Database
from graphmem.derived import OPEN_SEAL, open_derived, seal_of, set_aside
from graphmem.errors import GraphMemError
from graphmem.journal import Journal
from graphmem.postings import Postings, View
from graphmem.projection import Watermark, applied, catch_up, watermark

_SEAL = "derived.seal"
_PATIENCE = 10.0
_PAUSES = (0.1, 1.0, 5.0)

log = logging.getLogger(__name__)


class Follower:
    """The derived file of one project and the thread that feeds it.

    Args:
        journal: the truth it follows.
        path: where `derived.db` lies.

    Raises:
        StorageError: the file was written by a newer version, the disk is full or not writable.
    """

    def __init__(self, journal: Journal, path: Path) -> None:
        self._journal = journal
        self._path = path
        self._state = threading.Condition()
        self._wanted = Watermark(*journal.head())
        self._rebuild_wanted = False
        self._stopping = False
        self._fault: GraphMemError | None = None
        self._given_up: Watermark | None = None
        self._database = self._open()
        self._mark = watermark(self._database)
        self._at_start = self._wanted
        self._thread = threading.Thread(target=self._run, name=f"follow {path.parent.name}", daemon=True)
        self._thread.start()

    def _open(self) -> Database:
        seal = self._journal.setting(_SEAL)
        present = seal_of(self._path)
        if present is not None and seal not in (OPEN_SEAL, present):
            log.warning("%s was changed from outside; it is set aside and rebuilt", self._path)
            set_aside(self._path)
        self._journal.set_setting(_SEAL, OPEN_SEAL)
        try:
            database = open_derived(self._path)
            if seal != OPEN_SEAL or database.sound():
                return self._consistent(database)
            database.close()
        except DamageError:
            pass
        log.warning("%s is damaged; it is set aside and rebuilt from the journal", self._path)
        set_aside(self._path)
        return open_derived(self._path)

    def _consistent(self, database: Database) -> Database:
        """Return the database, or a fresh one when it is ahead of the journal: it belongs to another."""
        if _reached(Watermark(*self._journal.written()), watermark(database)):
            return database
        database.close()
        log.warning("%s does not belong to this journal; it is set aside and rebuilt", self._path)
        set_aside(self._path)
        return open_derived(self._path)

    def _run(self) -> None:
        failures = 0
        while True:
            with self._state:
                while not (self._stopping or self._rebuild_wanted or self._behind()):
                    self._state.wait()
                if self._stopping:
                    return
                rebuild, self._rebuild_wanted = self._rebuild_wanted, False
            try:
                if rebuild:
                    self._start_anew()
                catch_up(self._journal, self._database, self._advanced, lambda: self._stopping)
                self._advanced()
                failures = 0
            except GraphMemError as fault:
                failures += 1
                self._failed(fault, failures)

    def _failed(self, fault: GraphMemError, failures: int) -> None:
        """Damage is rebuilt, at most three times in a row; anything else is tried again after a pause."""
        log.error("following the journal failed: %s", fault)
        last = failures > len(_PAUSES)
        with self._state:
            self._fault = fault if last else None
            self._rebuild_wanted = isinstance(fault, DamageError) and not last
            self._given_up = self._wanted if last else None
            self._state.notify_all()
            if not last:
                self._state.wait_for(lambda: self._stopping, _PAUSES[failures - 1])

    def _start_anew(self) -> None:
        self._database.close()
        if self._path.exists():
            set_aside(self._path)
        self._database = open_derived(self._path)

    def _advanced(self, _count: int = 0) -> None:
        mark = watermark(self._database)
        with self._state:
            self._mark, self._fault, self._given_up = mark, None, None
            self._state.notify_all()

    def _behind(self) -> bool:
        return self._wanted != self._given_up and not _reached(self._mark, self._wanted)

    def notify(self) -> None:
        """Say that the journal has grown."""
        head = Watermark(*self._journal.head())
        with self._state:
            self._wanted = head
            self._state.notify_all()

    def wait(self, timeout: float, until: Callable[[], bool] | None = None) -> bool:
        """Wait until all that is in the journal now is visible; False when that took too long or failed."""
        target = Watermark(*self._journal.head())
        deadline = time.monotonic() + timeout
        with self._state:
            while not (_reached(self._mark, target) and not self._rebuild_wanted) and self._fault is None:
                if until is not None and until():
                    return False
                left = deadline - time.monotonic()
                if left <= 0 or self._stopping:
                    return False
                self._state.wait(min(left, 0.2))
            return self._fault is None

    def lag(self) -> int:
        """Return how many journal entries are not visible yet."""
        with self._state:
            return max(0, self._wanted.entries - self._mark.entries)

    def applied(self) -> int:
        """Return how many entries were ever carried into the present file."""
        return applied(self._database)

    def size_bytes(self) -> int:
        """Return the size of the derived file in bytes."""
        return self._database.size_bytes()

    @contextmanager
    def view(self, as_of: float | None) -> Iterator[View]:
        """Yield a state of the postings that holds at least what the journal held when it was opened."""
        self._wait_for_start()
        with Postings(self._database).view(as_of) as view:
            yield view

    def _wait_for_start(self) -> None:
        with self._state:
            self._state.wait_for(
                lambda: (
                    (_reached(self._mark, self._at_start) and not self._rebuild_wanted)
                    or self._stopping
                    or self._fault is not None
                ),
                _PATIENCE,
            )

    def rebuild(self) -> None:
        """Set the derived file aside and build it anew; returns at once, questions wait for it."""
        with self._state:
            self._at_start = Watermark(*self._journal.head())
            self._mark = Watermark(0, 0)
            self._rebuild_wanted = True
            self._state.notify_all()

    def close(self) -> None:
        """Stop the thread at the next batch and seal the file."""
        with self._state:
            if self._stopping:
                return
            self._stopping = True
            self._state.notify_all()
        self._thread.join()
        self._database.close()
        seal = seal_of(self._path)
        if seal is not None:
            self._journal.set_setting(_SEAL, seal)


def _reached(mark: Watermark, target: Watermark) -> bool:
    return mark.entries >= target.entries and mark.removals >= target.removals
