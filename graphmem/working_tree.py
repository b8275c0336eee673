"""Owns what the checked-out working tree is asked: which files its branch holds, which texts occur in it.

It is not the history (`graphmem.drift`) nor the reading of imports (`graphmem.imports`). It is looked at
within a budget of time and bytes, and never written.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from graphmem.errors import SourceError
from graphmem.imports import Unread
from graphmem.imports.source_files import SourceFiles
from graphmem.noise import left_out
from graphmem.repository import git_output, locate

SECONDS = 1.0
MOST_BYTES = 48 * 1024 * 1024
_GIT_SECONDS = 5.0
_MOST_FILES = 20_000
_SHORTEST = 4


@dataclass(frozen=True, slots=True)
class Held:
    """What the checked-out commit and its index hold; `branch` is None on a detached head."""

    branch: str | None
    files: frozenset[str]


class WorkingTree:
    """The working tree in one folder; what git told is kept until the folder's index or head changes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: tuple[object, Held | None] | None = None

    def held(self, folder: str) -> Held | None:
        """Return what is checked out in `folder`, None where that is no git repository or git fails."""
        checkout = locate(folder)
        if checkout is None:
            return None
        stamp = (folder, checkout.branch, *_stamps(folder))
        with self._lock:
            if self._known is not None and self._known[0] == stamp:
                return self._known[1]
            try:
                raw = git_output(folder, ["ls-files", "-z"], _GIT_SECONDS)
            except SourceError:
                held = None
            else:
                names = raw.decode("utf-8", "surrogateescape").split("\0")
                held = Held(checkout.branch, frozenset(filter(None, names)))
            self._known = (stamp, held)
            return held

    def off_branch(self, folder: str, paths: Iterable[str]) -> list[str]:
        """Return those of these paths that neither the checkout nor the disk holds; none without git."""
        held = self.held(folder)
        if held is None:
            return []
        away = (path for path in paths if path not in held.files)
        return [path for path in away if not os.path.lexists(os.path.join(folder, path))]

    def lost(self, folder: str, texts: Collection[str], seconds: float = SECONDS) -> tuple[set[str], bool]:
        """Return those of these texts that no file of the tree holds, and whether all of it was looked at.

        Vendored, generated and ignored files don't count, nor what is larger than half a MiB. A tree that was
        not looked through whole has lost nothing, as far as is known.
        """
        left = {text: text.encode("utf-8", "surrogateescape") for text in texts}
        until, read = time.monotonic() + seconds, 0
        sources = SourceFiles(Path(folder))
        for number, path in enumerate(self._paths(folder)):
            if not left:
                break
            if number >= _MOST_FILES or read >= MOST_BYTES or time.monotonic() > until:
                return set(), False
            content = sources.read(path)
            if isinstance(content, Unread):
                continue
            read += len(content)
            left = {text: needle for text, needle in left.items() if needle not in content}
        return set(left), True

    def _paths(self, folder: str) -> Iterator[str]:
        """Yield the paths of the tree's own files."""
        held = self.held(folder)
        if held is None:
            yield from _walked(folder)
            return
        yield from (path for path in sorted(held.files) if left_out(path) is None)
        try:
            others = git_output(folder, ["ls-files", "-z", "--others", "--exclude-standard"], _GIT_SECONDS)
        except SourceError:
            return
        for path in others.decode("utf-8", "surrogateescape").split("\0"):
            if path and left_out(path) is None:
                yield path


def _walked(folder: str) -> Iterator[str]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = os.path.relpath(os.path.join(place, name), folder).replace(os.sep, "/")
            if left_out(path) is None:
                yield path


def _stamps(folder: str) -> Sequence[int]:
    """Return when the index of a checkout was last written, as far as that can be told cheaply."""
    try:
        place = git_output(folder, ["rev-parse", "--git-path", "index"], _GIT_SECONDS).decode().strip()
        return (os.stat(os.path.join(folder, place)).st_mtime_ns,)
    except (SourceError, OSError, UnicodeDecodeError):
        return ()


class Needles(NamedTuple):
    """The texts by which a contract is looked for: its whole fixed text, and the end of it."""

    whole: str
    end: str


def needles(contract: str) -> Needles | None:
    """Return the texts by which a contract's name is looked for, None where they would tell nothing.

    Of an endpoint that is its path up to the first parameter, and the last part of that; of a table, an event
    or a setting its own name.
    """
    name = contract.rpartition(" ")[2]
    if not name.startswith("/"):
        return Needles(name, name) if len(name) >= _SHORTEST else None
    fixed: list[str] = []
    for part in name.strip("/").split("/"):
        if part[:1] in tuple(":<$[*") or "{" in part:
            break
        fixed.append(part)
    whole = "/".join(("", *fixed))
    return Needles(whole, fixed[-1]) if fixed and len(whole) > _SHORTEST else None


def gone(contracts: Iterable[str], lost: Collection[str]) -> list[str]:
    """Return those contracts that the tree holds no more, given which of their needles it has lost.

    Code often puts a path together from pieces. So one whose end is still there is gone only where the tree
    writes another path of the same beginning as a whole.
    """
    known = {name: found for name in contracts if (found := needles(name)) is not None}
    paths = (found.whole for found in known.values() if _is_path(found) and found.whole not in lost)
    written = {path.split("/")[1] for path in paths}
    return [
        name
        for name, found in known.items()
        if found.whole in lost
        and (found.end in lost or (_is_path(found) and found.whole.split("/")[1] in written))
    ]


def _is_path(found: Needles) -> bool:
    return found.whole.startswith("/")
