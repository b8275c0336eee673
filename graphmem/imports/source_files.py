"""Owns reading the sources of one folder safely: only plain text files that lie under it, bounded in size.

It is not what is in them. Nothing is followed out of the root: a path through a symbolic link to elsewhere,
or a link itself, is refused, so that loops and foreign files are never read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from graphmem.imports.reference import Unread
from graphmem.noise import left_out

LARGEST = 512 * 1024
"""Files of more bytes are not read; hardly any source that somebody wrote is longer."""

_FLAGS = (
    os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)
_MARK = b"\xef\xbb\xbf"


class SourceFiles:
    """The files under one root."""

    def __init__(self, root: Path) -> None:
        self._root = os.path.realpath(root)
        self._folders: dict[str, str | None] = {}

    def lies(self, path: str) -> Unread | None:
        """Return why the file of a path relative to the root can't be read, None where it can.

        Only its name and kind are looked at.
        """
        if not is_inside(path):
            return Unread.OUTSIDE
        folder, _, name = path.rpartition("/")
        real = self._real(folder)
        if real is None:
            return Unread.OUTSIDE
        try:
            status = os.lstat(os.path.join(real, name))
        except FileNotFoundError:
            return Unread.MISSING
        except (OSError, ValueError):
            return Unread.REFUSED
        if stat.S_ISLNK(status.st_mode):
            return Unread.LINK
        if not stat.S_ISREG(status.st_mode):
            return Unread.REFUSED
        return Unread.TOO_LARGE if status.st_size > LARGEST else None

    def read(self, path: str) -> bytes | Unread:
        """Return the text of a file as UTF-8 without a byte order mark, or why it is none."""
        trouble = self.lies(path)
        if trouble is not None:
            return trouble
        folder, _, name = path.rpartition("/")
        try:
            handle = os.open(os.path.join(self._real(folder) or "", name), _FLAGS)
            with open(handle, "rb") as file:
                source = file.read(LARGEST + 1)
        except OSError:
            return Unread.REFUSED
        if len(source) > LARGEST:
            return Unread.TOO_LARGE
        if b"\0" in source:
            return Unread.BINARY
        try:
            source.decode()
        except UnicodeDecodeError:
            return Unread.NOT_UTF8
        return source.removeprefix(_MARK)

    def _real(self, folder: str) -> str | None:
        """Return where a folder really is, None outside the root."""
        if folder not in self._folders:
            found = os.path.realpath(os.path.join(self._root, folder)) if folder else self._root
            inside = found == self._root or found.startswith(self._root.rstrip(os.sep) + os.sep)
            self._folders[folder] = found if inside else None
        return self._folders[folder]


def is_inside(path: str) -> bool:
    """Return whether a path is relative and does not climb."""
    return bool(path) and "\0" not in path and not path.startswith("/") and ".." not in path.split("/")


def walked(root: Path) -> Iterator[str]:
    """Yield the paths of the files under `root`, hidden and vendored folders left out, no link followed."""
    for folder, folders, names in os.walk(root):
        inner = os.path.relpath(folder, root).replace(os.sep, "/")
        prefix = "" if inner == "." else f"{inner}/"
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and not left_out(f"{prefix}{name}/x")
        )
        yield from (f"{prefix}{name}" for name in sorted(names) if not left_out(f"{prefix}{name}"))
