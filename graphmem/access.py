"""Owns the way to one project's open files: opened at the first use, closed when nobody uses them.

It is not what is asked of them (that is `project` and `project_graph`, which share one access). Safe to share
between threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from graphmem.curator import Curation
from graphmem.database import DamageError
from graphmem.embedding.filling import Filling
from graphmem.errors import InvalidInputError, StorageError
from graphmem.follower import PATIENCE
from graphmem.home import Home
from graphmem.journal import Journal
from graphmem.opened import JOURNAL, Opened
from graphmem.postings import View
from graphmem.registry import Registry
from graphmem.retention_rules import Rules
from graphmem.traffic import Traffic

T = TypeVar("T")

MAX_LIMIT = 200


@dataclass(frozen=True, slots=True)
class Ground:
    """What all projects of a memory stand on.

    `ignore` are globs of files that get no edges; `rebuilding` is held by the one project that loads a graph.
    `traffic` tells when questions are being asked, `rules` say what a pruning takes. `filling` makes vectors.
    """

    home: Home
    registry: Registry
    clock: Callable[[], float]
    ignore: tuple[str, ...]
    rebuilding: threading.Lock
    traffic: Traffic
    rules: Rules
    filling: Filling


class Access:
    """The files of the project with that id; `opened` is told each time they are opened."""

    def __init__(self, id: str, ground: Ground, opened: Callable[[], None]) -> None:
        self.id = id
        self.registry = ground.registry
        self.clock = ground.clock
        self.ignore = ground.ignore
        self.rules = ground.rules
        self.folder = ground.home.project_folder(id)
        self._curation = Curation(id, ground.ignore, ground.rebuilding, ground.traffic)
        self._traffic = ground.traffic
        self._filling = ground.filling
        self._opened = opened
        self._lock = threading.Lock()
        self._files: Opened | None = None
        self._users = 0
        self._ended = False

    @contextmanager
    def use(self) -> Iterator[Opened]:
        """Yield the open files; nobody closes them meanwhile.

        Raises:
            StorageError: newer version, damage, disk full, not writable, or the memory is closed.
        """
        with self._lock:
            if self._ended:
                raise StorageError("The memory is closed; open it again.")
            fresh = self._files is None
            if self._files is None:
                self._files = Opened.open(self.folder, self._curation, self.registry, self._filling)
            files = self._files
            self._users += 1
        try:
            if fresh:
                self._opened()
            yield files
        finally:
            with self._lock:
                self._users -= 1

    def ask(
        self,
        question: Callable[[View, Opened], T],
        as_of: float | None = None,
        patience: float = PATIENCE,
    ) -> T:
        """Answer from the postings; a damaged file is rebuilt and the question asked once more.

        `patience` are the seconds it waits for a rebuild that is under way, see `Follower.view`.
        """
        self._traffic.passes()
        with self.use() as files:
            try:
                with files.follower.view(as_of, patience) as view:
                    return question(view, files)
            except DamageError:
                with files.follower.view(as_of, patience) as view:
                    return question(view, files)

    def count(self) -> int:
        """Count observations without opening the project for questions: a list of them must stay cheap."""
        path = self.folder / JOURNAL
        with self._lock:
            if self._files is not None:
                return self._files.journal.count()
            if not path.exists():
                return 0
            journal = Journal(path)
            try:
                return journal.count()
            finally:
                journal.close()

    def close(self, *, only_if_idle: bool = False) -> bool:
        """Close the files until the next use; with `only_if_idle` not while somebody uses them.

        Nobody opens them again before they are closed: two followers of one file would undo each other.
        """
        with self._lock:
            if only_if_idle and self._users:
                return False
            files, self._files = self._files, None
            if files is not None:
                files.close()
        return True

    def end(self) -> None:
        """Close the files for good."""
        with self._lock:
            self._ended = True
        self.close()


def check_limit(limit: int) -> None:
    """Refuse a limit outside 1 to 200 with an InvalidInputError."""
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidInputError(f"The limit {limit} is out of range; take 1 to {MAX_LIMIT}.", "limit")
