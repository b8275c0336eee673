"""Owns what past answers teach: what a probability is worth here, and from which on naming a file is right.

It is not the asking of past questions, nor any probability itself. Isotonic regression (pool adjacent
violators) gives the share that came true as a rising function of what was said; while the past is short it is
drawn to the curve of many projects. The threshold is the lowest probability at and above which that share is
at least the target on the mean. The numbers were chosen on 29 histories that no figure is reported for;
`python -m bench.threshold` measures them on others.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

TARGET = 0.85
"""Share of named files that shall change in the same occasion."""
FLOOR = 0.5
CEILING = 0.95
QUESTIONS = 200
"""With fewer questions than these the past is too short to tell."""
ENTRIES = 30
"""The same for entries from the floor on."""


GRID = 40
"""The curve of many projects speaks at so many probabilities, evenly."""
WORTH = 5.0
"""At each of them it counts as so many answers of this project."""


class Curve(NamedTuple):
    """A rising curve: to each value that was `said`, the share that `came_true`; both rise, in 0..1."""

    said: tuple[float, ...]
    came_true: tuple[float, ...]

    def at(self, chances: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (n,): what (n,) chances are worth, straight between the points, level beyond them."""
        return np.interp(chances, self.said, self.came_true)


class Entry(NamedTuple):
    """Something a past answer listed: what was `said` of it, whether it came true, how often it counts."""

    said: float
    right: bool
    weight: float = 1.0


def blended(entries: Iterable[Entry], prior: Curve, worth: float = WORTH) -> Curve:
    """Return what a probability is worth by this project's past and the curve of many projects together.

    Args:
        entries: everything that the past answers listed.
        prior: the curve of many projects.
        worth: how many entries the prior counts as at each of `GRID` probabilities.
    """
    grid = (np.arange(GRID) + 0.5) / GRID
    own = np.array([*entries], float).reshape(-1, 3)
    values, place = np.unique(np.concatenate([own[:, 0], grid]), return_inverse=True)
    counts = np.concatenate([own[:, 2], np.full(GRID, worth)])
    rights = np.concatenate([own[:, 1] * own[:, 2], worth * prior.at(grid)])
    mass, right = np.bincount(place, counts), np.bincount(place, rights)
    blocks: list[tuple[float, float, float]] = []
    for block in zip(mass.tolist(), (mass * values).tolist(), right.tolist(), strict=True):
        blocks.append(block)
        while len(blocks) > 1 and blocks[-2][2] * blocks[-1][0] >= blocks[-1][2] * blocks[-2][0]:
            upper, lower = blocks.pop(), blocks.pop()
            blocks.append((lower[0] + upper[0], lower[1] + upper[1], lower[2] + upper[2]))
    return Curve(
        tuple(said / count for count, said, _ in blocks),
        tuple(min(1.0, came_true / count) for count, _, came_true in blocks),
    )


def threshold(entries: Iterable[Entry], questions: int, target: float = TARGET) -> float | None:
    """Return the threshold, between floor and ceiling, or None where the past is too short.

    Args:
        entries: everything that the past questions could have named.
        questions: how many were asked.
        target: the share that shall come true.
    """
    kept = sorted(entries, reverse=True)
    if questions < QUESTIONS or sum(entry.said >= FLOOR for entry in kept) < ENTRIES:
        return None
    found = CEILING
    count = right = 0.0
    for place, entry in enumerate(kept):
        count += entry.weight
        right += entry.weight * entry.right
        is_last_of_its_kind = place + 1 == len(kept) or kept[place + 1].said < entry.said
        if is_last_of_its_kind and right >= target * count:
            # Where all of it is right often enough, so is what was never said.
            found = FLOOR if place + 1 == len(kept) else entry.said
    return min(CEILING, max(FLOOR, found))
