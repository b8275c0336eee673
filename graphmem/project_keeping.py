"""Owns what one project keeps and lets go of: confirmed observations, and forgetting one or thousands.

It is not which observations a rule would let go (that is `graphmem.retention`), nor where each trace lies:
every keeper of traces is told here, and takes out its own. Get it from `Project.keeping`. Safe to share
between threads.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from graphmem.access import Access
from graphmem.capture.intake import bounded_text
from graphmem.confirmations import MAX_BY, Said, Saying
from graphmem.errors import InvalidInputError
from graphmem.model import Observation
from graphmem.opened import Opened
from graphmem.postings import View
from graphmem.project_capture import ProjectCapture
from graphmem.record import storable
from graphmem.redaction import without_secrets
from graphmem.workspace import named_paths

_BUSY_FOR = 600.0


class ProjectKeeping:
    """What one project keeps, and forgetting in it."""

    def __init__(self, access: Access, capture: ProjectCapture) -> None:
        self._access = access
        self._capture = capture

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

    def _wipe(self, files: Opened, unseen: Collection[str]) -> None:
        """Leave nothing of what was forgotten in what is worked out from the history."""
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
