"""Owns the records of imports: a language, one reference as it is written, and what a reading found.

It is not how sources are read (`reading`) nor which file a reference means (`python_modules`,
`script_modules`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class Language(StrEnum):
    """A language whose imports are read."""

    PYTHON = "python"
    JAVASCRIPT = "javascript"
    TYPESCRIPT = "typescript"


class Unread(StrEnum):
    """Why a file of a known language was not read."""

    MISSING = "missing"
    OUTSIDE = "outside the root"
    LINK = "a symbolic link"
    LEFT_OUT = "vendored, generated or ignored"
    TOO_LARGE = "too large"
    BINARY = "binary"
    NOT_UTF8 = "not UTF-8"
    UNPARSABLE = "not parsable"
    REFUSED = "not readable"
    LATE = "time was over"


class Reference(NamedTuple):
    """One import as it is written.

    `module` is the dotted name or the specifier. In Python `level` counts the leading dots and `names` are
    what is taken from the module (`*` included).
    """

    module: str
    level: int = 0
    names: tuple[str, ...] = ()


class Written(NamedTuple):
    """What one source says: its imports in no order, and in Python the names it defines at its top level."""

    references: tuple[Reference, ...] = ()
    defined: frozenset[str] = frozenset()


class UnparsableError(ValueError):
    """A text that is not of the language it is read as."""


@dataclass(frozen=True, slots=True)
class ImportGraph:
    """Which file imports which, paths relative to the root that was read.

    Attributes:
        pairs: (importer, imported), both files of the project; nothing imports itself.
        read: the files whose imports are known, with their language.
        unread: the files of a known language that could not be read, and why.
        elsewhere: how many references name nothing of the project: libraries, or what could not be found.
    """

    pairs: frozenset[tuple[str, str]] = frozenset()
    read: Mapping[str, Language] = field(default_factory=dict)
    unread: Mapping[str, Unread] = field(default_factory=dict)
    elsewhere: int = 0

    @property
    def complete(self) -> bool:
        """Return whether the time was enough for every file."""
        return Unread.LATE not in self.unread.values()

    def seen(self, one: str, other: str) -> bool | None:
        """Return whether either of two files imports the other; None where that is not known.

        It is known to be false only where both were read.
        """
        if (one, other) in self.pairs or (other, one) in self.pairs:
            return True
        return False if one in self.read and other in self.read else None
