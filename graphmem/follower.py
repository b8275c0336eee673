"""Owns keeping `derived.db` up with the journal: opening, following, damage and rebuild.

It is not what is projected (that is `projection`). One thread a project does all writing to the derived
file, in order; questions read beside it. What can't be read any more is set aside and built anew.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from graphmem.chronicler import Chronicler
from graphmem.database import DamageError, Database, NewerFormatError
from graphmem.derived import OPEN_SEAL, adopt, aside, belongs, open_derived, seal_of, set_aside
from graphmem.errors import GraphMemError, StorageError, UnavailableError
from graphmem.journal import Journal
from graphmem.postings import Postings, View
from graphmem.projection import Watermark, applied, catch_up, watermark

_SEAL = "derived.seal"
PATIENCE = 10.0
"""Seconds a question waits for a rebuild before it is answered from what is there."""
_PAUSES = (0.1, 1.0, 5.0)
_NEXT_TRY = 60.0

log = logging.getLogger(__name__)


class Follower:
    """The derived file of one project and the thread that feeds it.

    Args:
        journal: the truth it follows.
        path: where `derived.db` lies.

    Raises:
        StorageError: the disk is full or not writable.
    """

    def __init__(self, journal: Journal, path: Path) -> None:
        self._journal = journal
        self._path = path
        self._state = threading.Condition()
        self._wanted = Watermark(*journal.head())
        self._at_start = self._wanted
        self._rebuild_wanted = False
        self._stopping = False
        self._fault: GraphMemError | None = None
        self._given_up: Watermark | None = None
        self._chronicler = Chronicler(lambda: self.view(patience=0.0))
        # None while the file is being replaced.
        self._database: Database | None = self._open()
        self._mark = watermark(self._database)
        self._thread = threading.Thread(target=self._run, name=f"follow {path.parent.name}", daemon=True)
        self._thread.start()

    # ---- the file -------------------------------------------------------------------------------

    def _open(self) -> Database:
        seal = self._journal.setting(_SEAL)
        present = seal_of(self._path)
        self._journal.set_setting(_SEAL, OPEN_SEAL)
        if present is not None and seal not in (OPEN_SEAL, present):
            log.warning("%s was changed from outside; it is set aside and rebuilt", self._path)
            return self._open_fresh()
        try:
            return self._open_present(unclean=seal == OPEN_SEAL)
        except (DamageError, NewerFormatError) as fault:
            if isinstance(fault, DamageError) and not self._is_damage(fault):
                raise
            log.warning("%s It is set aside and rebuilt from the journal", fault)
            return self._open_fresh()

    def _open_present(self, *, unclean: bool) -> Database:
        database = open_derived(self._path)
        try:
            if unclean and not database.sound():
                raise DamageError(f"{self._path} is damaged.", self._path)
            mine = belongs(database, self._journal.identity())
            # One that is ahead follows another journal, or a later state of this one.
            if not mine or not Watermark(*self._journal.written()).has_reached(watermark(database)):
                raise DamageError(f"{self._path} does not belong to this journal.", self._path)
        except BaseException:
            database.close()
            raise
        return database

    def _open_fresh(self) -> Database:
        if self._path.exists():
            set_aside(self._path)
        database = open_derived(self._path)
        adopt(database, self._journal.identity())
        return database

    def _replace(self) -> Database:
        """Set the file aside and return the new, empty one; nobody asks the old one any more."""
        with self._state:
            old, self._database = self._database, None
            self._rebuild_wanted = False
            self._at_start, self._mark = Watermark(*self._journal.head()), Watermark(0, 0)
        if old is not None:
            self._chronicler.clear()
            old.close()
        fresh = self._open_fresh()
        with self._state:
            self._database = fresh
        return fresh

    # ---- following ------------------------------------------------------------------------------

    def _run(self) -> None:
        failures = 0
        while self._has_work():
            try:
                database = self._database
                if database is None or self._rebuild_wanted:
                    database = self._replace()
                catch_up(self._journal, database, self._advanced, self._is_interrupted)
                self._advanced()
                failures = 0
            except GraphMemError as fault:
                failures += 1
                log.error("following the journal failed: %s", fault)
                self._failed(fault, failures)
            except Exception as fault:  # the thread must outlive a fault of ours, or nothing is seen any more
                failures += 1
                log.exception("following the journal failed")
                cause = f"{type(fault).__name__}: {fault}"
                self._failed(
                    StorageError(f"{self._path} can't follow the journal ({cause}); run `graphmem doctor`."),
                    failures,
                )

    def _is_interrupted(self) -> bool:
        return self._stopping or self._rebuild_wanted

    def _has_work(self) -> bool:
        """Wait for something to do; False when it is time to end."""
        with self._state:
            while not self._stopping:
                due = self._rebuild_wanted or self._database is None or not self._has_reached(self._wanted)
                if due and self._wanted != self._given_up:
                    return True
                pause = None if self._given_up is None else _NEXT_TRY
                if not self._state.wait(pause):
                    self._given_up = None
            return False

    def _failed(self, fault: GraphMemError, failures: int) -> None:
        """Damage is rebuilt, at most three times in a row; anything else is tried again after a pause."""
        last = failures > len(_PAUSES)
        with self._state:
            self._fault = fault if last else None
            self._rebuild_wanted = self._is_damage(fault) and not last
            self._given_up = self._wanted if last else None
            self._state.notify_all()
            if not last:
                self._state.wait_for(lambda: self._stopping, _PAUSES[failures - 1])

    def _is_damage(self, fault: GraphMemError) -> bool:
        """Return whether the derived file is damaged; a damaged journal is no reason to give that up."""
        return isinstance(fault, DamageError) and fault.path == self._path

    def _advanced(self, _count: int = 0) -> None:
        if self._database is None:
            return
        mark = watermark(self._database)
        with self._state:
            self._mark, self._fault, self._given_up = mark, None, None
            self._state.notify_all()

    def _has_reached(self, target: Watermark) -> bool:
        return self._database is not None and not self._rebuild_wanted and self._mark.has_reached(target)

    def _is_stuck(self) -> bool:
        return self._fault is not None and self._given_up == self._wanted

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
            # Ids are minted and names taken back by others than those who tell of news.
            self._wanted = target
            self._state.notify_all()
            while not self._has_reached(target) and not self._is_stuck():
                if until is not None and until():
                    return False
                left = deadline - time.monotonic()
                if left <= 0 or self._stopping:
                    return False
                self._state.wait(min(left, 0.2))
            return self._has_reached(target)

    def lag(self) -> int:
        """Return how many journal entries are not visible yet."""
        with self._state:
            return max(0, self._wanted.entries - self._mark.entries)

    # ---- questions ------------------------------------------------------------------------------

    @contextmanager
    def view(self, as_of: float | None = None, patience: float = PATIENCE) -> Iterator[View]:
        """Yield a state of the postings that holds at least what the journal held when it was opened.

        A file that proves damaged on the way is built anew; the next question waits for that. See `behind`
        for what a state lacks when that takes longer than `patience` (seconds).

        Raises:
            UnavailableError: the file is being replaced and not there yet.
        """
        database: Database | None = None
        chronicles = partial(self._chronicler.at, patience=patience)
        try:
            with ExitStack() as stack:
                with self._state:
                    self.await_start(patience)
                    database = self._database
                    if database is None:
                        raise self._replaced()
                    view = stack.enter_context(Postings(database, chronicles).view(as_of))
                yield view
        except DamageError as fault:
            if self._is_damage(fault):
                self.rebuild(database)
            raise

    @contextmanager
    def file(self) -> Iterator[Database]:
        """Yield the derived file itself, for what is worked out from it and kept in it.

        Raises:
            UnavailableError: the file is being replaced and not there yet.
            DamageError: it proved damaged and is built anew.
        """
        with self._state:
            database = self._database
            if database is None:
                raise self._replaced()
        try:
            yield database
        except DamageError as fault:
            if self._is_damage(fault):
                self.rebuild(database)
            raise

    def release_past(self) -> None:
        """Let go of what is held in memory for questions about the past."""
        self._chronicler.release_past()

    def _replaced(self) -> GraphMemError:
        return self._fault or UnavailableError(
            f"{self._path} is being rebuilt from the journal; ask again in a moment."
        )

    def await_start(self, patience: float = PATIENCE) -> None:
        """Wait until a rebuild has reached what there was when it began, at most `patience` seconds."""
        with self._state:
            self._state.wait_for(
                lambda: self._has_reached(self._at_start) or self._stopping or self._is_stuck(),
                patience,
            )

    def behind(self) -> tuple[int, int] | None:
        """Return (carried over, in all) while a rebuild has not yet reached what there was, else None."""
        with self._state:
            if self._has_reached(self._at_start):
                return None
            return self._mark.entries, self._at_start.entries

    def applied(self) -> int:
        """Return how many entries were ever carried into the present file."""
        with self.view() as view:
            return applied(view.connection)

    def size_bytes(self) -> int:
        """Return the size of the derived file in bytes."""
        database = self._database
        return 0 if database is None else database.size_bytes()

    def rebuild(self, damaged: Database | None = None) -> None:
        """Set the file aside and build it anew; returns at once, questions wait for it.

        With `damaged` only if that is still the file in use.
        """
        with self._state:
            if damaged is not None and self._database is not damaged:
                return
            self._rebuild_wanted, self._given_up = True, None
            self._state.notify_all()

    def wipe(self) -> None:
        """Leave nothing of what was forgotten in the write-ahead log or in a copy set aside."""
        aside(self._path).unlink(missing_ok=True)
        database = self._database
        if database is not None:
            database.empty_log()

    def give_back(self, goes_on: Callable[[], bool]) -> bool:
        """Give pages of the derived file that hold nothing back to the disk; see `Database.give_back`."""
        database = self._database
        return database is None or database.give_back(goes_on)

    def close(self) -> None:
        """Stop the thread at the next batch and seal the file."""
        with self._state:
            if self._stopping:
                return
            self._stopping = True
            self._state.notify_all()
        self._thread.join()
        self._chronicler.close()
        if self._database is not None:
            self._database.close()
        seal = seal_of(self._path)
        if seal is None:
            return
        try:
            self._journal.set_setting(_SEAL, seal)
        except StorageError as fault:
            log.warning("%s is not sealed and will be checked when opened: %s", self._path, fault)
