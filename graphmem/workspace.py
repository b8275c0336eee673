"""Owns how an open project's names stand to the disk: which file a path means, what was seen, what is lost.

It is not the rule of path identity (`graphmem.identity`) nor where roots are kept (`graphmem.registry`).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from graphmem.database import DamageError
from graphmem.errors import UnavailableError
from graphmem.follower import PATIENCE, Follower
from graphmem.identity import PathResolver
from graphmem.instant import HOUR
from graphmem.journal import Journal
from graphmem.model import Observation
from graphmem.registry import Registry


class Workspace:
    """The names and folders of one open project, safe to share between threads."""

    def __init__(self, project: str, registry: Registry, journal: Journal, follower: Follower) -> None:
        self._project = project
        self._registry = registry
        self._journal = journal
        self._follower = follower
        self._lock = threading.Lock()
        self._readers = 0
        # Names taken in but not visible yet: what a path means must not depend on how fast that goes.
        self._fresh: set[str] = set()
        self._revision = -1
        self._resolver: PathResolver | None = None
        self._roots: tuple[str, ...] = ()

    @contextmanager
    def reading(self, patience: float = PATIENCE) -> Iterator[PathResolver]:
        """Yield the resolver of the project's paths; names told to `remember` meanwhile are known at once.

        `patience` are the seconds it waits for a rebuild, before whose end not all names are known.
        """
        self._follower.await_start(patience)
        with self._lock:
            if not self._readers and not self._follower.lag():
                self._fresh.clear()
            self._refresh()
            if self._resolver is None:
                self._resolver = self._new_resolver()
            resolver = self._resolver
            self._readers += 1
        try:
            yield resolver
        finally:
            with self._lock:
                self._readers -= 1

    def _refresh(self) -> None:
        """Read the project's roots anew if they have changed; under the lock."""
        revision = self._registry.revision(self._project)
        if revision != self._revision:
            self._revision, self._resolver = revision, None
            self._roots = self._registry.roots(self._project)

    def _new_resolver(self) -> PathResolver:
        return PathResolver(
            self._roots,
            self._knows,
            self._registry.identity(self._project),
            lambda root: self._registry.add_root(self._project, root),
            lambda common_dir: self._registry.owner(common_dir) not in (None, self._project),
        )

    def _knows(self, path: str) -> bool:
        if path in self._fresh:
            return True
        try:
            with self._follower.view(patience=0.0) as view:
                return view.knows(path)
        except (DamageError, UnavailableError):
            return False

    def remember(self, observation: Observation) -> None:
        """Take an observation's names as known from now on."""
        self._fresh.update(named_paths(observation))

    # ---- the disk -------------------------------------------------------------------------------

    def _folders(self) -> list[str]:
        with self._lock:
            self._refresh()
            roots = self._roots
        return [root for root in roots if os.path.isabs(root) and os.path.isdir(root)]

    def folder(self) -> str | None:
        """Return the first of the project's folders that is there now."""
        return next(iter(self._folders()), None)

    def present(self, paths: Collection[str]) -> set[str]:
        """Return those of `paths` that lie under one of the project's folders now."""
        return _lying(paths, self._folders())

    def missing(self, paths: Sequence[str]) -> set[str]:
        """Return those of `paths` that were once seen on the disk and are there no more.

        None where no folder of the project is there: a disk that is away tells nothing.
        """
        seen = self._journal.sighted(paths)
        folders = self._folders() if seen else []
        return seen - _lying(seen, folders) if folders else set()

    def sightings(self, observations: Sequence[Observation], now: float) -> tuple[list[str], list[str]]:
        """Return the paths of these observations that are on the disk, and those whose absence tells nothing.

        What was changed within the last hour and is not here must be elsewhere: it is not lost.
        """
        lately: set[str] = set()
        named: set[str] = set()
        for observation in observations:
            living = (*observation.files_modified, *(rename.new for rename in observation.renames))
            named.update(living, observation.files_read)
            if observation.at >= now - HOUR:
                lately.update(living)
        seen = self.present(named)
        return sorted(seen), sorted(lately - seen)

    def new_sightings(self, paths: Sequence[str]) -> list[str]:
        """Return those of `paths` that are on the disk and were not noted as seen so far."""
        return sorted(self.present(set(paths) - self._journal.sighted(paths)))


def _lying(paths: Collection[str], folders: Sequence[str]) -> set[str]:
    return {path for path in paths if any(os.path.lexists(f"{folder}/{path}") for folder in folders)}


def named_paths(observation: Observation) -> set[str]:
    """Return every path an observation names."""
    return {
        *observation.files_read,
        *observation.files_modified,
        *observation.files_deleted,
        *(name for rename in observation.renames for name in (rename.old, rename.new)),
    }
