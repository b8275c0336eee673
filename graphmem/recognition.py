"""Owns which numbers files keep when the story of their names is told again.

It is not the telling (`genealogy`) nor the rule of lineage (`inference.lineage`). A number is worth keeping:
edges, modules and the graph name files by it. What a number stands for is decided by the story alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import NamedTuple


class Told(NamedTuple):
    """A file as one telling left it: its number, first and last name, and whether it exists."""

    file: int
    first: str
    path: str
    alive: bool


_LIKENESS: tuple[Callable[[Told], Hashable], ...] = (
    lambda told: (told.first, told.path, told.alive),
    lambda told: (told.path, told.alive),
    lambda told: (told.first, told.path),
    lambda told: told.path,
    lambda told: told.first,
)


def recognised(former: Iterable[Told], told: Iterable[Told]) -> dict[int, int]:
    """Return what number files of a new telling had before, the most alike first, each number once."""
    numbers = {one.file: one for one in former}
    found: dict[int, int] = {}
    waiting = sorted(told)
    for likeness in _LIKENESS:
        by_likeness: dict[Hashable, list[int]] = {}
        for number in sorted(numbers, reverse=True):
            by_likeness.setdefault(likeness(numbers[number]), []).append(number)
        for one in waiting:
            alike = by_likeness.get(likeness(one))
            if one.file not in found and alike:
                found[one.file] = alike.pop()
                del numbers[found[one.file]]
    return found
