"""Owns the sorting of changed paths into what an observation lists: modified, added, deleted, renamed.

It is not a source of changes; importers feed it git's status letters.
"""

from __future__ import annotations

from collections.abc import Collection

from graphmem.model import Rename


class ChangedFiles:
    """The changes of one piece of work; each path ends up in one list, with added ones among the modified.

    Only a former name that is a new file again is in two: in a rename and among the added.
    """

    def __init__(self) -> None:
        self._modified: dict[str, None] = {}
        self._added: dict[str, None] = {}
        self._deleted: dict[str, None] = {}
        self._renames: dict[str, Rename] = {}
        self._moved: set[str] = set()

    def put(self, status: str, path: str, old: str | None = None) -> None:
        """Add one change by git's letter: A, C (a copy is new), D, M, R (with its `old` name), T.

        Two changes of one path, as when its composed and decomposed name are one file, become one: what is
        deleted and added was modified, what is renamed and changed was renamed.
        """
        if status == "D":
            if path not in self._modified:
                self._deleted[path] = None
        elif status == "R" and old is not None and old != path and not {old, path} & self._moved:
            self._renames[path] = Rename(old, path)
            self._moved |= {old, path}
        elif path in self._deleted:
            del self._deleted[path]
            self._modified[path] = None
        else:
            self._modified[path] = None
            if status in "ACR" and old != path:
                self._added[path] = None

    @property
    def modified(self) -> tuple[str, ...]:
        """Paths whose content changed or began."""
        return tuple(path for path in self._modified if path not in self._elsewhere())

    @property
    def added(self) -> tuple[str, ...]:
        """The part of `modified` that began."""
        return tuple(path for path in self._added if path not in self._elsewhere())

    @property
    def deleted(self) -> tuple[str, ...]:
        """Paths that ended."""
        return tuple(path for path in self._deleted if path not in self._moved)

    @property
    def renames(self) -> tuple[Rename, ...]:
        """Files that moved."""
        return tuple(self._renames.values())

    def _elsewhere(self) -> set[str]:
        """Return the names of renames, but for a former one that is a new file again."""
        return {name for name in self._moved if name in self._renames or name not in self._added}

    def paths(self) -> list[str]:
        """Return every path, sorted; of a rename the new one."""
        return sorted({*self.modified, *self.deleted, *self._renames})

    def only(self, paths: Collection[str]) -> ChangedFiles:
        """Return the part that concerns `paths`, a rename by either of its names."""
        part = ChangedFiles()
        part._modified = {path: None for path in self._modified if path in paths}
        part._added = {path: None for path in self._added if path in paths}
        part._deleted = {path: None for path in self._deleted if path in paths}
        part._renames = {
            path: rename for path, rename in self._renames.items() if path in paths or rename.old in paths
        }
        part._moved = {name for rename in part._renames.values() for name in (rename.old, rename.new)}
        return part

    def __bool__(self) -> bool:
        return bool(self._modified or self._deleted or self._renames)
