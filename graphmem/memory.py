"""Owns the memory as a whole: one home, its projects, and which of them are open.

It is the one facade of the package and the composition of everything below; it reads no configuration.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from types import TracebackType

from graphmem.access import Ground
from graphmem.embedding.filling import Filling, Models
from graphmem.errors import StorageError
from graphmem.home import Home, default_home
from graphmem.model import ProjectInfo
from graphmem.project import Project
from graphmem.registry import Registry
from graphmem.retention_rules import Rules
from graphmem.traffic import Traffic

__all__ = ["Memory", "Project"]

MAX_OPEN = 16
NO_RULES = Rules()

log = logging.getLogger(__name__)


class Memory:
    """The projects of one home; one process owns a home at a time.

    Args:
        home: the folder; the platform's user data folder if not given.
        clock: returns the present moment in epoch seconds.
        purpose: what this process does with the home, named to others that find it taken.
        wait: seconds to wait for a process that holds the home.
        ignore: globs, in the manner of gitignore, of files that get no edges.
        max_open: how many projects, and so graphs, are kept open at once.
        rules: what a pruning takes where it is not told otherwise.
        embedders: the models that make vectors; without any, questions are answered by words.

    Raises:
        HomeError: not writable, or held by another running process.
        StorageError: a file of the memory is damaged or was written by a newer version.
    """

    def __init__(
        self,
        home: str | os.PathLike[str] | None = None,
        *,
        clock: Callable[[], float] = time.time,
        purpose: str = "library",
        wait: float = 0.0,
        ignore: Sequence[str] = (),
        max_open: int = MAX_OPEN,
        rules: Rules = NO_RULES,
        embedders: Models | None = None,
    ) -> None:
        self.home = Home(home if home is not None else default_home())
        self.home.prepare()
        self._hold = self.home.lock(purpose, wait)
        try:
            self._registry = Registry(self.home, clock)
        except BaseException:
            self._hold.release()
            raise
        traffic = Traffic()
        self._filling = Filling(embedders, traffic)
        self._ground = Ground(
            self.home,
            self._registry,
            clock,
            tuple(ignore),
            threading.Lock(),
            traffic,
            rules.checked(),
            self._filling,
        )
        self._max_open = max_open
        self._lock = threading.Lock()
        self._projects: dict[str, Project] = {}
        self._open: OrderedDict[str, Project] = OrderedDict()
        self._closed = False

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close every file and let go of the home; a second call does nothing."""
        with self._lock:
            projects, self._projects = list(self._projects.values()), {}
            self._open.clear()
            self._closed = True
        with ExitStack() as last:
            last.callback(self._hold.release)
            last.callback(self._registry.close)
            last.callback(self._filling.close)
            for project in projects:
                last.callback(project.end)

    def projects(self) -> list[ProjectInfo]:
        """Return all projects, by slug; one whose journal can't be read counts no observations."""
        infos = sorted(self._registry.projects(), key=lambda info: info.slug)
        return [self._counted(info) for info in infos]

    def _counted(self, info: ProjectInfo) -> ProjectInfo:
        try:
            return self._handle(info.id).info
        except StorageError as fault:
            log.warning("the observations of %s can't be counted: %s", info.slug, fault)
            return info

    def register(self, root: str | os.PathLike[str], slug: str | None = None) -> tuple[Project, bool]:
        """Return the project of a folder and whether it is new.

        Raises:
            InvalidInputError: the folder can't be a project, or the slug is not usable.
            ConflictError: the slug belongs to another root.
        """
        info, created = self._registry.register(root, slug)
        return self._handle(info.id), created

    def project(self, reference: str) -> Project:
        """Return the project with that slug, or the one that holds that absolute path.

        Raises:
            NotFoundError: there is none.
        """
        return self._handle(self._registry.by_reference(reference).id)

    def project_of_id(self, id: str) -> Project:
        """Return the project with that id.

        Raises:
            NotFoundError: there is none.
        """
        return self._handle(self._registry.project(id).id)

    def _handle(self, id: str) -> Project:
        with self._lock:
            if self._closed:
                raise StorageError(f"The memory in {self.home.path} is closed; open it again.")
            project = self._projects.get(id)
            if project is None:
                project = Project(id, self._ground, self._note_open)
                self._projects[id] = project
            elif id in self._open:
                self._open.move_to_end(id)
            return project

    def _note_open(self, project: Project) -> None:
        """Keep at most `max_open` projects open: close the least recently used that nobody uses."""
        with self._lock:
            self._open[project.id] = project
            self._open.move_to_end(project.id)
            surplus = len(self._open) - self._max_open
            idle = list(self._open.values())[:-1]
        for candidate in idle:
            if surplus <= 0:
                return
            # Taken off the list first: whoever opens it again meanwhile puts it back.
            with self._lock:
                self._open.pop(candidate.id, None)
            if candidate.close(only_if_idle=True):
                surplus -= 1
                continue
            with self._lock:
                if candidate.id not in self._open:
                    self._open[candidate.id] = candidate
                    self._open.move_to_end(candidate.id, last=False)
