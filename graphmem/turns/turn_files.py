"""Owns what one part of a turn did to files in the end: moves, edits and deletions in their net effect.

It is not path identity (that is `graphmem.identity`): two spellings of a name are two files here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from graphmem.events import FileChange, FileEdit

Step = str | FileEdit
"""A file that was read, by its path, or an edit."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A file as it stands: its name now, the one it had at the start (none if it is new), whether edited."""

    path: str
    first: str | None
    edited: bool = False


@dataclass(frozen=True, slots=True)
class TurnFiles:
    """Files by their last state: those that stand, those that are gone (by first name), those only read."""

    standing: tuple[Standing, ...] = ()
    gone: tuple[str, ...] = ()
    read: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """The number of files, a moved one counted once."""
        return len(self.standing) + len(self.gone) + len(self.read)

    @property
    def has_changes(self) -> bool:
        """Whether anything differs from the start."""
        return bool(self.standing or self.gone)

    @property
    def added(self) -> list[str]:
        """Files that are new."""
        return [file.path for file in self.standing if file.first is None]

    @property
    def modified(self) -> list[str]:
        """Files whose content is new, the added ones and the edited of the moved ones among them."""
        return [file.path for file in self.standing if file.edited]

    @property
    def moved(self) -> list[tuple[str, str]]:
        """Files that have another name, as former and present name."""
        return [(file.first, file.path) for file in self.standing if file.first not in (None, file.path)]

    def after(self, steps: Iterable[Step]) -> TurnFiles:
        """Return the files as they are after the steps, taken in order."""
        fold = _Fold(self)
        for step in steps:
            fold.take(step)
        return fold.files()

    def portions(self, steps: Iterable[Step], most: int) -> list[list[Step]]:
        """Divide steps into portions: the first for these files, each other one for a part of its own.

        What comes at once stays together if it fits into one part of at most `most` files.
        """
        whole = list(steps)
        if self.after(whole).count <= most:
            return [whole]
        portions: list[list[Step]] = [[], []] if self.count else [[]]
        files = TurnFiles()
        for step in whole:
            grown = files.after((step,))
            if grown.count > most:
                portions.append([])
                grown = TurnFiles().after((step,))
            portions[-1].append(step)
            files = grown
        return portions


class _Fold:
    """The files by name while steps are taken."""

    def __init__(self, files: TurnFiles) -> None:
        self._standing = {file.path: file for file in files.standing}
        self._gone = dict.fromkeys(files.gone)
        self._read = dict.fromkeys(files.read)

    def files(self) -> TurnFiles:
        return TurnFiles(tuple(self._standing.values()), tuple(self._gone), tuple(self._read))

    def take(self, step: Step) -> None:
        if isinstance(step, str):
            self._read[step] = None
        else:
            self._change(step)
        changed = self._standing.keys() | self._gone.keys()
        changed |= {file.first for file in self._standing.values() if file.first is not None}
        self._read = {path: None for path in self._read if path not in changed}

    def _change(self, step: FileEdit) -> None:
        match step.change:
            case FileChange.ADDED:
                self._edit(step.path, is_new=step.path not in self._read or self._has_left(step.path))
            case FileChange.DELETED:
                self._delete(step.path)
            case FileChange.MOVED if step.former and step.former != step.path:
                self._move(step.former, step.path)
            case FileChange.MODIFIED | FileChange.MOVED:
                self._edit(step.path, is_new=self._has_left(step.path))

    def _edit(self, path: str, *, is_new: bool) -> None:
        known = self._standing.get(path)
        if known is not None:
            first = known.first
        elif path in self._gone:  # deleted and written again
            del self._gone[path]
            first = path
        else:
            first = None if is_new else path
        self._standing[path] = Standing(path, first, edited=True)

    def _delete(self, path: str) -> None:
        known = self._standing.pop(path, None)
        if known is not None:
            self._lose(known.first)
        elif not self._has_left(path):
            self._lose(path)

    def _lose(self, first: str | None) -> None:
        """Note that the file which had this name at the start is no more."""
        if first is None:
            return
        heir = self._standing.get(first)
        if heir is None:
            self._gone[first] = None
        else:
            self._replace(first, heir)

    def _replace(self, path: str, by: Standing) -> None:
        """Let the content of `by` stand where another file stood at the start: to others that is an edit."""
        self._standing[path] = Standing(path, path, edited=True)
        if by.first != path:
            self._lose(by.first)

    def _move(self, former: str, path: str) -> None:
        moving = self._leaving(former, path)
        if moving is None:
            return
        target = self._standing.pop(path, None)
        was_there = path in self._gone or (target is not None and target.first == path)
        self._gone.pop(path, None)
        if target is not None and target.first != path:
            self._lose(target.first)
        if was_there and moving.first != path:
            self._replace(path, moving)
        elif moving.first == path and not moving.edited:  # back where it was
            self._read[path] = None
        else:
            self._standing[path] = Standing(path, moving.first, moving.edited)

    def _leaving(self, former: str, path: str) -> Standing | None:
        """Take the file named `former` away from there; None if this very move is known already."""
        moving = self._standing.pop(former, None)
        if moving is not None:
            return moving
        if self._has_left(former):
            known = self._standing.get(path)
            return None if known is not None and known.first == former else Standing(path, None, edited=True)
        self._gone.pop(former, None)
        return Standing(former, former)

    def _has_left(self, path: str) -> bool:
        """Whether the file of this name at the start has another name now."""
        return any(file.first == path and file.path != path for file in self._standing.values())
