"""Owns how what the words found and what vectors found of one question become one order, with its parts.

It is not the search for either and reads no text. A piece is a number of the caller's choice. Both parts have
a scale that does not grow with the memory: a piece that holds every word of the question counts `WORDS`, and
a likeness counts by how many deviations it stands above what the question is like to the rest.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.floating]
Keys = npt.NDArray[np.int64]

WORDS = 5.0
"""What holding every word of the question once is worth, in deviations."""

LITERAL = 0.35
"""The share of meaning in a question that names something literally."""

PLAIN = 0.75
"""The share of meaning in any other question."""

NEAREST = 200
"""So many passages of a space are candidates by their meaning."""

_PRIOR = 5.0
_PRIOR_DEVIATION = 0.1
_AGE_LOSS = 0.25
_HALF_LIFE_DAYS = 180.0
_TENTATIVE_LOSS = 0.4
_TENTATIVE_HALF_LIFE_DAYS = 30.0


@dataclass(frozen=True, slots=True)
class Usual:
    """How like unrelated texts of a space are to each other, as `aimed` compares them: mean and deviation."""

    mean: float
    deviation: float


UNKNOWN = Usual(0.0, 0.1)
"""What is usual in a space of which nothing is known: about what small models give."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """What one space says of a question.

    Args:
        keys: the piece of each passage, shape (n,); a piece may have several.
        similarities: of each passage to the question as `aimed` gives it, shape (n,).
        counts: which passages this space speaks for, shape (n,); the others only say what is usual.
            None means all.
        usual: how like unrelated texts are in this space (see `inference.thresholds`).
    """

    keys: Keys
    similarities: Vector
    counts: npt.NDArray[np.bool_] | None = None
    usual: Usual = UNKNOWN


@dataclass(frozen=True, slots=True)
class Fused:
    """A piece with its score and the parts of it.

    `words` and `meaning` are in deviations and make `score` by `weight`, the share of meaning: score = weight
    * meaning + (1 - weight) * words - loss. `stands` is how far its likeness stands above that of unrelated
    texts: it can be compared between questions, which `meaning` can't.
    """

    key: int
    score: float
    words: float
    meaning: float
    weight: float
    loss: float = 0.0
    stands: float = 0.0

    def parts(self) -> dict[str, float]:
        """Return the parts by name, as an explanation shows them."""
        return {
            "words": self.words,
            "meaning": self.meaning,
            "weight": self.weight,
            "age": -self.loss,
            "stands": self.stands,
        }


PLACES = 1 << 20
"""So many places a group has in a key: key = group * PLACES + place + 1."""


def likenesses(
    groups: npt.NDArray[np.integer],
    places: npt.NDArray[np.integer],
    similarities: Vector,
    spaces: npt.NDArray[np.integer],
    usual: Mapping[int, Usual],
    allowed: Collection[int] | None,
) -> list[Likeness]:
    """Return passages, each of a group (an observation) and a place in it, apart by space; all shapes (n,).

    `usual` is by space, `allowed` the groups that may be found, None for all; the others only say what is
    usual.
    """
    keys = groups.astype(np.int64) * PLACES + places + 1
    counts = None if allowed is None else np.isin(groups, np.fromiter(allowed, np.int64, len(allowed)))
    found = []
    for space in np.unique(spaces).tolist():
        here = spaces == space
        mine = None if counts is None else counts[here]
        found.append(Likeness(keys[here], similarities[here], mine, usual.get(space, UNKNOWN)))
    return found


def aimed(question: Vector, usual: Vector, passages: int) -> Vector:
    """Return the question's vector without what all `passages` have in common, their mean `usual`.

    Texts near the mean are near to every question; without this they crowd out the right one the more, the
    larger the memory is. With few passages the mean counts less, as it is mostly they themselves.
    """
    return np.asarray(question - passages / (passages + _PRIOR) * usual)


def deviations(similarities: Vector) -> npt.NDArray[np.float64]:
    """Return how far each stands above the usual, in deviations; sane for one passage, and for none.

    Mean and variance are those of the passages with a few more of mean 0 and deviation .1, as unrelated texts
    have.
    """
    values = np.asarray(similarities, dtype=np.float64)
    count = values.size
    if count == 0:
        return values
    mean = float(values.sum()) / (count + _PRIOR)
    spread = float(((values - mean) ** 2).sum()) + _PRIOR * (mean**2 + _PRIOR_DEVIATION**2)
    deviation = float(np.sqrt(spread / (count + _PRIOR)))
    return np.asarray((values - mean) / deviation, dtype=np.float64)


def fused(words: Mapping[int, float], spaces: Sequence[Likeness], *, literal: bool) -> list[Fused]:
    """Return the candidates of a question, best first; of equals the larger key, which is the newer.

    Args:
        words: the pieces that hold words of the question, 1 standing for all words once.
        spaces: what each space of vectors says; none where there is no model.
        literal: whether the question holds a digit or an identifier.
    """
    nearest: dict[int, tuple[float, float]] = {}
    for space in spaces:
        for key, *values in _nearest(space, words):
            nearest[key] = max((values[0], values[1]), nearest.get(key, (values[0], values[1])))
    share = LITERAL if literal else PLAIN
    weight = share if any(space.keys.size for space in spaces) else 0.0
    found = []
    for key in words.keys() | nearest.keys():
        held, (meaning, stands) = WORDS * words.get(key, 0.0), nearest.get(key, (0.0, 0.0))
        score = weight * meaning + (1.0 - weight) * held
        found.append(Fused(key, score, held, meaning, weight, stands=stands))
    return sorted(found, key=lambda piece: (-piece.score, -piece.key))


def _nearest(space: Likeness, words: Mapping[int, float]) -> list[tuple[int, float, float]]:
    """Return deviations and standing out of the nearest passages, and of those whose pieces hold words."""
    above = deviations(space.similarities)
    chosen = np.arange(above.size) if space.counts is None else np.flatnonzero(space.counts)
    keys, above = space.keys[chosen], above[chosen]
    wanted = np.isin(keys, np.fromiter(words, np.int64, len(words)))
    if above.size > NEAREST:
        wanted[np.argpartition(-above, NEAREST)[:NEAREST]] = True
    else:
        wanted[:] = True
    out = (space.similarities[chosen][wanted] - space.usual.mean) / max(space.usual.deviation, 1e-6)
    return list(zip(keys[wanted].tolist(), above[wanted].tolist(), out.tolist(), strict=True))


def aged(piece: Fused, days: float, *, tentative: bool = False) -> Fused:
    """Return the piece with what its age in days takes off: a little, and never more than a little.

    Tentative statements lose at once and age faster.
    """
    half_life = _TENTATIVE_HALF_LIFE_DAYS if tentative else _HALF_LIFE_DAYS
    loss = _AGE_LOSS * (1.0 - 0.5 ** (max(days, 0.0) / half_life)) + tentative * _TENTATIVE_LOSS
    return replace(piece, score=piece.score + piece.loss - loss, loss=loss)


def placed(
    pieces: Sequence[Fused],
    days: Mapping[int, float],
    superseded: frozenset[int] = frozenset(),
    tentative: frozenset[int] = frozenset(),
) -> list[Fused]:
    """Return the pieces in their last order: by score with age, of equals the newer; superseded ones last.

    `days` are ages by key; a piece without one counts as new.
    """
    told = [aged(piece, days.get(piece.key, 0.0), tentative=piece.key in tentative) for piece in pieces]
    return sorted(
        told,
        key=lambda piece: (
            piece.key in superseded,
            -piece.score,
            days.get(piece.key, 0.0),
            -piece.key,
        ),
    )
