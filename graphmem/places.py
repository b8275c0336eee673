"""Owns which project an agent's folders and files belong to, remembered for a moment.

It is not path identity inside a project (`graphmem.identity`) nor the registry, which it asks: that looks at
the disk, and an agent's every step would have it look again.
"""

from __future__ import annotations

import os
import posixpath
import threading
import time
from collections import OrderedDict

from graphmem.errors import GraphMemError, InvalidInputError, NotFoundError, StorageError
from graphmem.memory import Memory, Project
from graphmem.spelling import absolute
from graphmem.whereabouts import own_checkout

_KEPT = 2_048
_SECONDS = 20.0


class Places:
    """The projects of a memory by folder, safe to share between threads."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._lock = threading.Lock()
        self._found: OrderedDict[tuple[str, bool], tuple[float, Project | None]] = OrderedDict()

    def of_folder(self, folder: str | None) -> Project | None:
        """Return the project an agent works in; a checkout nobody registered becomes one, no other folder."""
        return None if not folder or not posixpath.isabs(folder) else self._cached(folder, True)

    def of_file(self, path: str, cwd: str | None) -> Project | None:
        """Return the project of a file; a relative path belongs to that of `cwd`, a foreign file to none."""
        if not posixpath.isabs(path):
            # A Windows path is known by its end, not by its place.
            if cwd is None or absolute(path) is not None:
                return self.of_folder(cwd)
            path = posixpath.join(cwd, path)
        return self._cached(posixpath.dirname(posixpath.normpath(path)), False)

    def _cached(self, folder: str, register: bool) -> Project | None:
        key, now = (folder, register), time.monotonic()
        with self._lock:
            known = self._found.get(key)
            if known is not None and known[0] > now:
                self._found.move_to_end(key)
                return known[1]
        project = self._look_up(folder, register)
        with self._lock:
            self._found[key] = (now + _SECONDS, project)
            while len(self._found) > _KEPT:
                self._found.popitem(last=False)
        return project

    def _look_up(self, folder: str, register: bool) -> Project | None:
        try:
            return self._memory.project(folder)
        except NotFoundError:
            pass
        except StorageError:  # not to be had now is not nowhere
            raise
        except GraphMemError:
            return None
        try:
            if register and os.path.isdir(folder) and own_checkout(folder) is not None:
                return self._memory.register(folder)[0]
        except InvalidInputError:
            return None
        return None
