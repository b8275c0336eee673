"""Owns which pieces stand out enough to be told: a background by kind of piece, and the gap to the best.

It is not the order (that is `inference.fusion`) and cuts no results, only what is put into a context.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from inference.fusion import UNKNOWN, WORDS, Fused, Usual, aimed

CUTOFF = 2.2
"""The cutoff, in deviations of unrelated texts, of a kind that nothing is known of."""

SAMPLE = 400
"""So many passages are enough for a background."""

_QUANTILE = 0.97
_WEIGHT_OF_USUAL = 1_000.0
_LOWEST, _HIGHEST = 1.6, 2.6
_HELD = 0.5
_NEAR = 0.85


@dataclass(frozen=True, slots=True)
class Thresholds:
    """How far pieces of each kind must stand out of unrelated texts to be told.

    `usual` is the likeness of unrelated texts, `cutoffs` are in its deviations, and `pairs` says how many
    pairs of passages each of them rests on.
    """

    usual: Usual = UNKNOWN
    cutoffs: Mapping[str, float] = field(default_factory=dict)
    pairs: Mapping[str, int] = field(default_factory=dict)
    common: npt.NDArray[np.floating] | None = field(default=None, compare=False)
    """The mean of the passages, shape (dimension,), and of how many; None where nothing is known."""
    passages: int = field(default=0, compare=False)

    def aim(self, question: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
        """Return the question's vector as it is to be compared with the passages of this space."""
        return question if self.common is None else aimed(question, self.common, self.passages)

    def cutoff(self, kind: str) -> float:
        """Return how far a piece of this kind must stand out, in deviations of unrelated texts."""
        return self.cutoffs.get(kind, CUTOFF)

    def told(self, kinds: Sequence[str], pieces: Sequence[Fused]) -> list[bool]:
        """Return which pieces are told, given with their kinds in any order.

        A piece must stand out by its meaning, or hold half of the question's words by weight, and its score
        must be near the best of those that do: when none does, nothing is told.
        """
        out = [
            piece.stands >= self.cutoff(kind) or piece.words >= _HELD * WORDS
            for kind, piece in zip(kinds, pieces, strict=True)
        ]
        best = max((piece.score for piece, stands in zip(pieces, out, strict=True) if stands), default=0.0)
        return [stands and piece.score >= _NEAR * best for piece, stands in zip(pieces, out, strict=True)]


def background(vectors: npt.NDArray[np.floating], kinds: Sequence[str], origins: Sequence[int]) -> Thresholds:
    """Return the thresholds of a project in one space, from its passages asked of each other.

    Args:
        vectors: of length 1, shape (n, dimension); `SAMPLE` of them are looked at, evenly taken.
        kinds: the kind of each passage's piece.
        origins: the observation of each passage; passages of one observation are no strangers.
    """
    count = len(kinds)
    if count < 2:
        return Thresholds()
    chosen = np.unique(np.linspace(0, count - 1, min(count, SAMPLE)).astype(np.int64))
    sample = np.asarray(vectors, dtype=np.float64)[chosen]
    named = np.array([kinds[place] for place in chosen])
    origin = np.array([origins[place] for place in chosen], dtype=np.int64)
    common = sample.mean(axis=0)
    likeness = sample @ aimed(sample, common, count).T
    strange = origin[:, None] != origin[None, :]
    values = likeness[strange]
    if values.size == 0:
        return Thresholds(common=common, passages=count)
    share = values.size / (values.size + _WEIGHT_OF_USUAL)
    usual = Usual(
        share * float(values.mean()) + (1.0 - share) * UNKNOWN.mean,
        share * float(values.std()) + (1.0 - share) * UNKNOWN.deviation,
    )
    cutoffs, pairs = {}, {}
    for kind in sorted(set(named.tolist())):
        of_kind = likeness[named == kind][strange[named == kind]]
        if of_kind.size:
            cutoffs[kind] = _cutoff((of_kind - usual.mean) / max(usual.deviation, 1e-6))
            pairs[kind] = int(of_kind.size)
    return Thresholds(usual, cutoffs, pairs, common, count)


def _cutoff(deviations: npt.NDArray[np.float64]) -> float:
    """Return what few unrelated pieces reach, the less trusted the fewer pairs there are."""
    share = deviations.size / (deviations.size + _WEIGHT_OF_USUAL)
    found = share * float(np.quantile(deviations, _QUANTILE)) + (1.0 - share) * CUTOFF
    return min(max(found, _LOWEST), _HIGHEST)
