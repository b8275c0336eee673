"""Owns the code of one project as a library user sees it: reading its imports, and holding edges beside them.

It is not the graph (`project_graph`): nothing here makes or changes an edge. Only files that the memory knows
and that lie under the registered root are read; nothing is run. Safe to share between threads.
"""

from __future__ import annotations

import os
import posixpath
import threading
import time
from dataclasses import replace
from pathlib import Path

from graphmem import refreshing
from graphmem.access import Access, check_limit
from graphmem.code_facts import Corroboration, Reading
from graphmem.errors import InvalidInputError, SourceError
from graphmem.follower import PATIENCE
from graphmem.imports import read_imports
from graphmem.imports.reading import Progress
from graphmem.opened import Opened
from graphmem.postings import View
from graphmem.recall.corroboration import corroboration
from graphmem.recall.edges import Edges
from graphmem.recall.survey import living_paths
from graphmem.repository import git_output, locate
from inference.lineage import Change

LONGEST = 120.0
"""Seconds after which a reading ends with what it has; what is left counts as unread."""
_SHOWN = 10


class ProjectCode:
    """The code of one project; get it from `Project.code`."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._reading = threading.Lock()

    def read(
        self,
        within: str | None = None,
        limit: int = 20,
        *,
        progress: Progress | None = None,
        stop: threading.Event | None = None,
    ) -> Corroboration:
        """Read the imports of the project's files as they lie on the disk, keep them, and compare.

        A reading that `stop` ends keeps nothing.

        Args:
            within: as for `corroboration`.
            limit: as for `corroboration`.
            progress: told (files done, files in all).
            stop: ends the reading early.

        Raises:
            SourceError: the project's folder is not there.
            UnavailableError: a grammar is not installed, or the history is being read anew.
            InvalidInputError: the place lies outside the root, or the limit is out of range.
        """
        check_limit(limit)
        place = self._place(within)
        with self._reading, self._access.use() as files:
            root = self._root()
            paths = self._access.ask(lambda view, _: living_paths(view))
            started, at, commit = time.monotonic(), self._access.clock(), _commit(root)

            def over() -> bool:
                ended = stop is not None and stop.is_set()
                return ended or time.monotonic() - started > LONGEST

            graph = read_imports(root, paths, ignore=self._access.ignore, over=over, progress=progress)
            if stop is None or not stop.is_set():
                took_ms = (time.monotonic() - started) * 1000.0
                files.code.keep(Reading(graph, at, commit, took_ms))
        return self._compared(place, limit, LONGEST)

    def corroboration(self, within: str | None = None, limit: int = 20) -> Corroboration:
        """Say which pairs that change together have no import between them, and which imports are silent.

        Args:
            within: a file or folder that one end must be or lie in; None or the root for all.
            limit: how many of each list, 1 to 200.

        Raises:
            InvalidInputError: the place lies outside the root, or the limit is out of range.
        """
        check_limit(limit)
        return self._compared(self._place(within), limit)

    def _compared(self, place: str | None, limit: int, patience: float = PATIENCE) -> Corroboration:
        until = refreshing.deadline(patience)
        with self._access.use() as files:
            lacks = refreshing.refreshed(files, until)
            reading = files.code.reading()
            stale = None if reading is None else self._stale(reading)

            def answer(view: View, files: Opened) -> Corroboration:
                edges = Edges(view, files.journal.ledger, files.workspace.missing, seen=files.code.seen)
                return corroboration(edges, reading, stale, place, limit)

            found = self._access.ask(answer, patience=refreshing.left(until))
        return replace(found, degraded=lacks)

    def _place(self, within: str | None) -> str | None:
        """Return a file or folder as it is named from the root, None for the root itself."""
        if within is None:
            return None
        with self._access.use() as files, files.workspace.reading() as resolver:
            if within and posixpath.normpath(within) in {".", *map(posixpath.normpath, resolver.roots())}:
                return None
            place = resolver.resolve(within, None)
        if place is None:
            raise InvalidInputError(f"The path {within!r} names no file; give another one.", "path")
        return place

    def _root(self) -> Path:
        root = self._access.registry.project(self._access.id).root
        if not (os.path.isabs(root) and os.path.isdir(root)):
            raise SourceError(
                f"The project's folder {root} is not there, so its code can't be read: bring it back, or "
                "register the project where it is now."
            )
        return Path(root)

    def _stale(self, reading: Reading) -> str | None:
        """Return why the code may be another by now."""
        now = _commit(Path(self._access.registry.project(self._access.id).root))
        if now != reading.commit:
            then, here = (commit[:_SHOWN] if commit else "no commit" for commit in (reading.commit, now))
            return f"it was read at {then}, and the checkout is at {here} now"

        def changed(view: View, files: Opened) -> int:
            query = "SELECT COUNT(DISTINCT file) FROM touch WHERE at > ? AND change != ?"
            return int(view.connection.execute(query, (reading.at, Change.READ)).fetchone()[0])

        count = self._access.ask(changed)
        return f"{count:,} {'file was' if count == 1 else 'files were'} changed since" if count else None


def _commit(root: Path) -> str | None:
    """Return the commit that a checkout is at, None outside git or before the first one."""
    if locate(root) is None:
        return None
    try:
        return os.fsdecode(git_output(root, ["rev-parse", "--verify", "--quiet", "HEAD"])).strip() or None
    except SourceError:
        return None
