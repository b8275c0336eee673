"""Owns how alike candidates are by name to the files that a session asks about or has in hand.

It is not the other clues (`inference.session_clues`) nor likeness of one name to another (`naming`).
All candidates are described at once, as a question has them by the hundred.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inference.naming import FileKind, Name

Column = NDArray[np.float64]


class Named(NamedTuple):
    """A path taken apart, and its words."""

    name: Name
    words: frozenset[str]


def likeness(
    names: Sequence[Name],
    words: Sequence[frozenset[str]],
    queried: Sequence[Named],
    in_hand: Sequence[Named],
) -> tuple[Column, Column, Column, Column, Column]:
    """Return a column for each of twin, words, beside_hand, twin_hand, words_hand of `Clues`.

    `names` and `words` are those of the candidates, in their order.
    """
    overlap = _overlap(words, [*queried, *in_hand])
    total = np.zeros(len(names))
    for column in overlap[len(queried) :]:
        total += column
    beside: dict[str, int] = {}
    for other in in_hand:
        beside[other.name.folder] = beside.get(other.name.folder, 0) + 1
    many = max(1, len(in_hand))
    return (
        _twins(names, queried),
        overlap[: len(queried)].max(axis=0, initial=0.0),
        np.array([beside.get(name.folder, 0) for name in names], float) / many,
        _twins(names, in_hand),
        total / many,
    )


def _twins(names: Sequence[Name], others: Sequence[Named]) -> Column:
    """Return 1 for each that is the test of another by name, or that another is the test of."""
    kinds: dict[str, list[Name]] = {}
    for other in others:
        kinds.setdefault(other.name.stem, []).append(other.name)
    found = np.zeros(len(names))
    for row, name in enumerate(names):
        if name.stem in kinds and any(_is_twin(name, other) for other in kinds[name.stem]):
            found[row] = 1.0
    return found


def _is_twin(one: Name, other: Name) -> bool:
    return one.extension == other.extension and (one.kind is FileKind.TEST) != (other.kind is FileKind.TEST)


def _overlap(words: Sequence[frozenset[str]], others: Sequence[Named]) -> Column:
    """Return (others, candidates): the Jaccard likeness of the words of both paths, 0 for none in common."""
    known = frozenset[str]().union(*(other.words for other in others))
    number = {word: place for place, word in enumerate(known)}
    shared = [(number[word], row) for row, own in enumerate(words) for word in own & known]
    held = np.zeros((len(known), len(words)))
    if shared:
        held[tuple(np.array(shared, np.intp).T)] = 1.0
    asked = np.array([[float(word in other.words) for word in known] for other in others])
    both = asked.reshape(len(others), len(known)) @ held
    lengths = np.array([len(own) for own in words], float)
    either = np.array([len(other.words) for other in others], float)[:, None] + lengths - both
    shares: Column = np.divide(both, either, out=np.zeros_like(both), where=both > 0.0)
    return shares
