"""Owns the judgement whether a note helped: what it named against what its turn did after it.

It is not how that is kept or counted (that is `graphmem.captured`). Paths are those of the project.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple


class Judgement(NamedTuple):
    """Named files that were opened, named files that were changed, and changed files that no one named."""

    opened: tuple[str, ...]
    changed: tuple[str, ...]
    unnamed: tuple[str, ...]


def judged(
    named: Sequence[str],
    path: str,
    opened: Sequence[str],
    changed: Sequence[str],
    known_before: Collection[str],
) -> Judgement:
    """Judge one note on `path` that named `named`.

    Args:
        named: the files the note named.
        path: the file it was given about, which counts for nothing.
        opened: files read in the same turn after the note.
        changed: files changed in the same turn after the note, in order.
        known_before: files the session had read or changed before the note, and those other notes named;
            changing these was no miss.
    """
    names = dict.fromkeys(file for file in named if file != path)
    was_opened, was_changed = set(opened), set(changed)
    return Judgement(
        opened=tuple(file for file in names if file in was_opened),
        changed=tuple(file for file in names if file in was_changed),
        unnamed=tuple(
            file
            for file in dict.fromkeys(changed)
            if file not in names and file != path and file not in known_before
        ),
    )
