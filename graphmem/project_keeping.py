"""Owns what one project keeps and lets go of: confirmed observations, and forgetting one or thousands.

It is not which observations a rule would let go (that is `graphmem.retention`), nor where each trace lies:
every keeper of traces is told here, and takes out its own. Get it from `Project.keeping`. Safe to share
between threads.
"""

from __future__ import annotations

import logging
import stat
import threading
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from graphmem import refreshing
from graphmem.access import Access
from graphmem.capture.importing import Progress
from graphmem.capture.intake import bounded_text
from graphmem.confirmations import MAX_BY, Said, Saying
from graphmem.errors import InvalidInputError, StorageError, UnavailableError
from graphmem.model import Observation
from graphmem.opened import Opened
from graphmem.postings import View
from graphmem.project_capture import ProjectCapture
from graphmem.record import storable
from graphmem.redaction import without_secrets
from graphmem.retention import Pruned, plan
from graphmem.retention_rules import Rules
from graphmem.workspace import named_paths

_BUSY_FOR = 600.0
_BATCH = 2_000

log = logging.getLogger(__name__)


class ProjectKeeping:
    """What one project keeps, and forgetting in it."""

    def __init__(self, access: Access, capture: ProjectCapture) -> None:
        self._access = access
        self._capture = capture
        self._one_at_a_time = threading.Lock()

    # ---- confirmations --------------------------------------------------------------------------

    def observation(self, id: str) -> Observation:
        """Return one observation, with whether it is confirmed.

        Raises:
            NotFoundError: there is none with that id.
        """
        with self._access.use() as files:
            return _marked(files, files.journal.get(storable(id)))

    def said(self, id: str) -> tuple[Said, ...]:
        """Return the verdicts on an observation, oldest first."""
        with self._access.use() as files:
            return files.journal.confirmations.said(id)

    def judge(self, sayings: Sequence[Saying]) -> tuple[Observation, ...]:
        """Confirm observations or take that back, all or none; return them as they are now.

        Raises:
            NotFoundError: there is no observation of an id; nothing is done.
            ConflictError: there is no confirmation to take back; nothing is done.
            InvalidInputError: nothing was named.
        """
        if not sayings:
            raise InvalidInputError("No observation was named; give at least one id.", "id")
        whole = [
            replace(
                saying,
                id=storable(saying.id),
                note=without_secrets(bounded_text("note", saying.note, [])),
                by=storable(saying.by)[:MAX_BY],
            )
            for saying in sayings
        ]
        with self._access.use() as files:
            files.journal.confirmations.judge(whole, self._access.clock())
            return tuple(_marked(files, files.journal.get(saying.id)) for saying in whole)

    # ---- forgetting -----------------------------------------------------------------------------

    def forget(self, ids: Sequence[str]) -> None:
        """Forget observations everywhere, all or none; their ids stay taken.

        Raises:
            NotFoundError: there is none of an id; nothing is done.
        """
        keys = list(dict.fromkeys(map(storable, ids)))
        with self._access.use() as files:
            unseen = self._erase(files, keys)
            self._wipe(files, unseen)

    def _erase(self, files: Opened, ids: Sequence[str]) -> list[str]:
        """Forget observations in the journal and in what follows it; return paths that nothing names now."""
        observations = [files.journal.get(id) for id in ids]
        with files.follower.view() as view:
            unseen = _only_of(view, observations)
        with self._capture.forgetting(frozenset(ids)):
            files.journal.forget_all(ids, self._access.clock(), unseen)
        files.follower.notify()
        files.follower.wait(_BUSY_FOR)
        return unseen

    # ---- pruning --------------------------------------------------------------------------------

    def prune(
        self,
        rules: Rules | None = None,
        *,
        dry_run: bool = True,
        progress: Progress | None = None,
        stop: threading.Event | None = None,
    ) -> Pruned:
        """Forget what the rules let go, and give its room back to the disk; a dry run only says what.

        Args:
            rules: the memory's own if not given.
            dry_run: change nothing.
            progress: told `(observations done, observations in all)`.
            stop: ends it after what is in hand.

        Raises:
            InvalidInputError: the rules are not usable.
            UnavailableError: the history is being read anew; nothing is done.
        """
        chosen = (self._access.rules if rules is None else rules).checked()
        if not self._one_at_a_time.acquire(blocking=False):
            raise UnavailableError("The project is being pruned already; ask again when that has ended.")
        try:
            with self._access.use() as files:
                return self._pruned(files, chosen, dry_run, progress, stop or threading.Event())
        finally:
            self._one_at_a_time.release()

    def _pruned(
        self, files: Opened, rules: Rules, dry_run: bool, progress: Progress | None, stop: threading.Event
    ) -> Pruned:
        files.follower.wait(_BUSY_FOR)
        if files.follower.behind() is not None:
            raise UnavailableError("The history is being read anew; ask again in a moment.")
        lacks = refreshing.refreshed(files, refreshing.deadline(_BUSY_FOR))
        if lacks is not None:  # what speaks for a confirmed edge could not be told
            raise UnavailableError(f"Nothing is pruned just now: {lacks}.")
        before = self._size()
        with files.follower.view() as view:
            found = plan(view, files.journal, rules, self._access.clock(), before)
        if dry_run or not found.numbers:
            return Pruned(found, rules, dry_run, before, max(0, before - found.bytes))
        unseen: set[str] = set()
        done = 0
        while done < len(found.numbers) and not stop.is_set():
            batch = found.numbers[done : done + _BATCH]
            # What was forgotten by somebody else meanwhile is gone already.
            ids = [observation.id for _, observation in files.journal.each(batch)]
            unseen.update(self._erase(files, ids))
            done += len(batch)
            if progress is not None:
                progress(done, len(found.numbers))
        self._wipe(files, unseen)
        remark = self._give_back(files, stop)
        if done < len(found.numbers):
            remark = (
                f"It was stopped after {done} of {len(found.numbers)} observations; prune again to go on."
            )
        return Pruned(found, rules, False, before, self._size(), remark)

    def _give_back(self, files: Opened, stop: threading.Event) -> str | None:
        """Make the files smaller; return what could not be done."""
        try:
            given = [
                keeper.give_back(lambda: not stop.is_set()) for keeper in (files.journal, files.follower)
            ]
        except StorageError as fault:
            log.warning("room could not be given back: %s", fault)
            return f"What went is forgotten, but its room is not given back yet: {fault}"
        return None if all(given) else "Not all room is given back yet; prune again to go on."

    def _size(self) -> int:
        """Return the bytes of the project's files."""
        total = 0
        for path in self._access.folder.rglob("*"):
            with suppress(FileNotFoundError):
                status = path.lstat()
                total += status.st_size if stat.S_ISREG(status.st_mode) else 0
        return total

    def _wipe(self, files: Opened, unseen: Collection[str]) -> None:
        """Leave nothing of what was forgotten in what is worked out from the history."""
        files.vectors.wipe()
        files.curator.wipe()
        files.follower.wipe()
        files.code.forget(unseen)


def _marked(files: Opened, observation: Observation) -> Observation:
    kept = files.journal.confirmations.confirmed_ids((observation.id,))
    return replace(observation, confirmed=True) if kept else observation


def _only_of(view: View, observations: Iterable[Observation]) -> list[str]:
    """Return the paths that no other observations name than these."""
    named: dict[str, int] = {}
    for observation in observations:
        for path in named_paths(observation):
            named[path] = named.get(path, 0) + 1
    return sorted(path for path, times in named.items() if view.uses(path) <= times)
