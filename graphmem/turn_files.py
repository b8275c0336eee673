"""Owns what one part of a turn did to files in the end: moves, edits and deletions in their net effect.

It is not path identity (that is `graphmem.identity`): two spellings of a name are two files here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from graphmem.events import FileEdit

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

    def after(self, steps: Iterable[Step]) -> TurnFiles:
        """Return the files as they are after the steps, taken in order."""
        return self
