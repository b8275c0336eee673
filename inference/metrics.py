"""Owns the figures of merit: how good an order is, how honest probabilities are, how warnings turn out.

It is not the protocol that asks the questions (that is `inference.replay`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, fields
from random import Random
from statistics import fmean
from typing import NamedTuple

DEPTH = 50
"""An answer is read down to this place."""
BINS = 15
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True, slots=True)
class RankingScores:
    """How good one order is, or the mean of several; each in 0..1.

    `hit_k`: one of the first k is right. `recall_k`: share of the right ones among the first k.
    `average_precision`: mean precision at the right ones, missing ones count 0. `reciprocal_rank`: of the
    first right one. `answered`: anything was said at all.
    """

    hit_1: float
    hit_3: float
    hit_5: float
    hit_10: float
    recall_5: float
    recall_10: float
    average_precision: float
    reciprocal_rank: float
    answered: float


def rank_scores(ranked: Sequence[object], truth: Set[object]) -> RankingScores:
    """Score an order (best first, distinct) against the non-empty set of right answers, by number or name."""
    places = [place for place, file in enumerate(ranked[:DEPTH], 1) if file in truth]
    first = places[0] if places else DEPTH + 1
    return RankingScores(
        hit_1=float(first <= 1),
        hit_3=float(first <= 3),
        hit_5=float(first <= 5),
        hit_10=float(first <= 10),
        recall_5=sum(place <= 5 for place in places) / len(truth),
        recall_10=sum(place <= 10 for place in places) / len(truth),
        average_precision=sum(right / place for right, place in enumerate(places, 1)) / len(truth),
        reciprocal_rank=1.0 / first if places else 0.0,
        answered=float(bool(ranked)),
    )


def mean_scores(scores: Sequence[RankingScores]) -> RankingScores:
    """Return the mean of each figure over a non-empty sequence."""
    return RankingScores(
        **{
            field.name: fmean(getattr(score, field.name) for score in scores)
            for field in fields(RankingScores)
        }
    )


class Interval(NamedTuple):
    """A mean and the bounds between which it lies in 95 of 100 cases."""

    mean: float
    low: float
    high: float


def bootstrap(values: Sequence[float], draws: int = 2_000, seed: int = 1) -> Interval | None:
    """Return the mean with its interval by drawing as many values with replacement, None without values.

    The percentile bootstrap (Efron, 1979) with a fixed seed; of paired differences it says whether one
    predictor is better than the other on these very cases.
    """
    if not values:
        return None
    draw = Random(seed)
    means = sorted(fmean(draw.choices(values, k=len(values))) for _ in range(draws))
    return Interval(fmean(values), means[int(0.025 * draws)], means[int(0.975 * draws)])


@dataclass(frozen=True, slots=True)
class Bin:
    """Entries whose probability lies in one interval: how many, what was said, what came true."""

    entries: int
    said: float
    came_true: float


class Calibration:
    """Collects (probability, came true) and tells how far the said is from what happened."""

    def __init__(self) -> None:
        self._sums = [[0.0, 0.0, 0.0] for _ in range(BINS)]
        self._squares = 0.0

    def add(self, probability: float, right: bool) -> None:
        """Count one entry."""
        cell = self._sums[min(BINS - 1, int(probability * BINS))]
        cell[0] += 1
        cell[1] += probability
        cell[2] += right
        self._squares += (probability - right) ** 2

    @property
    def entries(self) -> int:
        """How many entries were counted."""
        return int(sum(cell[0] for cell in self._sums))

    def error(self) -> float:
        """Return the expected calibration error over 15 equal bins, 0 when nothing was counted."""
        return sum(abs(said - right) for _, said, right in self._sums) / max(1, self.entries)

    def brier(self) -> float:
        """Return the mean squared error, 0 when nothing was counted."""
        return self._squares / max(1, self.entries)

    def bins(self) -> tuple[Bin, ...]:
        """Return the bins that hold entries, from the lowest probability up."""
        return tuple(Bin(int(n), said / n, right / n) for n, said, right in self._sums if n)


@dataclass(slots=True)
class WarningTally:
    """What a threshold would have warned of. `singles` are edits that changed one file only.

    `day_hits` also counts files that the same actor changed within the next 24 hours.
    """

    threshold: float
    queries: int = 0
    warned: int = 0
    pairs: int = 0
    hits: int = 0
    day_hits: int = 0
    wanted: int = 0
    singles: int = 0
    singles_warned: int = 0

    def add(
        self, ranked: Iterable[tuple[int, float]], truth: Set[int], later: Set[int], *, single: bool
    ) -> None:
        """Count one query and its suggestions (file, probability)."""
        named = [file for file, probability in ranked if probability >= self.threshold]
        self.queries += 1
        self.warned += bool(named)
        self.pairs += len(named)
        self.hits += sum(file in truth for file in named)
        self.day_hits += sum(file in truth or file in later for file in named)
        self.wanted += len(truth)
        self.singles += single
        self.singles_warned += single and bool(named)

    @property
    def precision(self) -> float | None:
        """Share of named files that changed in the same occasion; None when none was named."""
        return self.hits / self.pairs if self.pairs else None

    @property
    def day_precision(self) -> float | None:
        """The same, counting the actor's next 24 hours."""
        return self.day_hits / self.pairs if self.pairs else None

    @property
    def recall(self) -> float:
        """Share of the files that changed along which were named."""
        return self.hits / self.wanted if self.wanted else 0.0

    @property
    def single_alarms(self) -> float | None:
        """Share of single-file edits that drew a warning; None when there were none."""
        return self.singles_warned / self.singles if self.singles else None

    @property
    def alerts_per_100(self) -> float:
        """Edits out of a hundred that draw a warning."""
        return 100.0 * self.warned / self.queries if self.queries else 0.0
