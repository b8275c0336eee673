"""Owns the figures of the ranking models: how good an order is, how honest chances are, what warnings give.

It is not the fit (`bench.ranker_fitting`). All are told of the test period of a history, as the mean over the
questions of an observation, then over the observations. Scores come from models that never saw the history.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.dataset import Dataset, Kind
from inference.calibration import Curve
from inference.metrics import BINS, DEPTH

SUGGESTIONS = 10
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)
_POOL = 100
"""Entries that one knot of a curve stands on at least."""
_KNOTS = 200

Numbers = NDArray[np.float32]
Flags = NDArray[np.bool_]


class Order(NamedTuple):
    """How good an order is, each in 0..1."""

    average_precision: float
    hit_1: float
    hit_5: float
    recall_10: float


class Warnings(NamedTuple):
    """What a threshold would warn of: share right, share found, share of single-file edits warned."""

    threshold: float
    precision: float
    recall: float
    singles: float
    alerts_per_100: float


class Named(NamedTuple):
    """The first entries of each question: chance, whether right, how much each counts, its question."""

    chance: Numbers
    right: Flags
    weight: Numbers
    question: NDArray[np.int32]


# ---- order -------------------------------------------------------------------------------------


def order_figures(dataset: Dataset, scores: Numbers, kind: Kind) -> Order | None:
    """Return how good the order by `scores` (n,) is on questions of a kind; None where there are none.

    Rows that are no candidates have a score of minus infinity.
    """
    starts = dataset.starts()
    lines: dict[int, list[Order]] = {}
    for question in np.flatnonzero((dataset.kind == kind) & (dataset.wanted > 0)):
        rows = slice(starts[question], starts[question + 1])
        best = np.argsort(-scores[rows], kind="stable")[:DEPTH]
        places = np.flatnonzero(dataset.y[rows][best] & np.isfinite(scores[rows][best])) + 1
        found = _order(places, int(dataset.wanted[question]))
        lines.setdefault(int(dataset.line[question]), []).append(found)
    return mean_order([mean_order(each) for each in lines.values()]) if lines else None


def _order(places: NDArray[np.int64], wanted: int) -> Order:
    first = int(places[0]) if len(places) else DEPTH + 1
    precision = float((np.arange(1, len(places) + 1) / places).sum())
    return Order(precision / wanted, float(first <= 1), float(first <= 5), int((places <= 10).sum()) / wanted)


def mean_order(figures: Sequence[Order]) -> Order:
    """Return the mean of each figure."""
    return Order(*(fmean(column) for column in zip(*figures, strict=True)))


# ---- chances -----------------------------------------------------------------------------------


def named(dataset: Dataset, chances: Numbers, kinds: Iterable[Kind]) -> Named:
    """Return the entries that questions of these kinds could name, ten at most each.

    Rows that are no candidates have a chance of minus infinity.
    """
    asked = np.isin(dataset.kind, list(kinds))
    rows = np.flatnonzero(asked[dataset.query] & np.isfinite(chances))
    query = dataset.query[rows]
    placed = rows[np.lexsort((-chances[rows], query))]
    first = np.searchsorted(query, query)
    kept = placed[np.arange(len(rows)) - first < SUGGESTIONS]
    question = dataset.query[kept]
    return Named(chances[kept], dataset.y[kept], dataset.weight[question], question)


def curve_of(entries: Sequence[Named]) -> Curve:
    """Return the rising curve that fits entries best (isotonic regression over groups of `_POOL`)."""
    from sklearn.isotonic import IsotonicRegression  # type: ignore[import-untyped]

    said = np.concatenate([each.chance for each in entries]).astype(np.float64)
    right = np.concatenate([each.right for each in entries]).astype(np.float64)
    weight = np.concatenate([each.weight for each in entries]).astype(np.float64)
    order = np.argsort(said, kind="stable")
    said, right, weight = said[order], right[order], weight[order]
    # Groups even in what was said, so that the upper end is as fine as the lower one, then large enough.
    grid = np.searchsorted(said, np.linspace(0.0, 1.0, _KNOTS + 1))
    bounds = [0]
    for bound in grid[1:-1]:
        if bound - bounds[-1] >= _POOL and len(said) - bound >= _POOL:
            bounds.append(int(bound))
    masses = np.add.reduceat(weight, bounds)
    levels = np.add.reduceat(weight * right, bounds) / masses
    places = np.add.reduceat(weight * said, bounds) / masses
    rising = IsotonicRegression(y_min=0.0, y_max=1.0).fit_transform(places, levels, sample_weight=masses)
    return Curve(
        tuple(round(float(value), 5) for value in places), tuple(round(float(value), 5) for value in rising)
    )


def calibrated(entries: Named, curve: Curve) -> Named:
    """Return the entries with what the curve says instead."""
    told = np.interp(entries.chance, curve.said, curve.came_true).astype(np.float32)
    return entries._replace(chance=told)


def calibration_error(entries: Named) -> float:
    """Return the expected calibration error over equal bins."""
    cell = np.minimum(BINS - 1, (entries.chance * BINS).astype(int))
    off = np.bincount(cell, entries.weight * (entries.chance - entries.right), BINS)
    return float(np.abs(off).sum() / entries.weight.sum())


def warnings_of(dataset: Dataset, entries: Named, threshold: float) -> Warnings:
    """Return what a threshold would warn of over the test period, single-file edits included."""
    asked = np.isin(dataset.kind, [Kind.SEVERAL, Kind.SINGLE])
    singles = dataset.kind == Kind.SINGLE
    told = entries.chance >= threshold
    mass = float(entries.weight[told].sum())
    hits = float(entries.weight[told & entries.right].sum())
    warned = np.zeros(len(dataset.kind), np.bool_)
    warned[entries.question[told]] = True
    weight = dataset.weight.astype(np.float64)
    wanted = float((weight * dataset.wanted)[asked].sum())
    return Warnings(
        threshold,
        hits / mass if mass else float("nan"),
        hits / wanted if wanted else float("nan"),
        _share(weight, warned, singles),
        100.0 * _share(weight, warned, asked),
    )


def _share(weight: NDArray[np.float64], chosen: Flags, among: Flags) -> float:
    total = float(weight[among].sum())
    return float(weight[chosen & among].sum()) / total if total else float("nan")


def mean_warnings(rows: Sequence[Warnings]) -> Warnings:
    """Return the mean of each figure over the histories that have it."""
    return Warnings(*(_mean(column) for column in zip(*rows, strict=True)))


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if value == value]
    return fmean(known) if known else float("nan")


# ---- printing ----------------------------------------------------------------------------------


def order_table(figures: Mapping[str, Mapping[str, Order]]) -> list[str]:
    """Return lines: each history's figures under each ranker, and the mean.

    Args:
        figures: by ranker, then by history; every ranker has the same histories.
    """
    rankers = list(figures)
    lines = [
        f"{'':24}" + "".join(f"{ranker:^26}" for ranker in rankers),
        f"{'history':24}" + f"{'MAP':>7}{'hit@1':>6}{'hit@5':>6}{'r@10':>6} " * len(rankers),
    ]
    lines += [
        _order_row(history, [figures[ranker][history] for ranker in rankers])
        for history in next(iter(figures.values()))
    ]
    means = [mean_order(list(by_history.values())) for by_history in figures.values()]
    return [*lines, _order_row("mean", means)]


def _order_row(label: str, figures: Iterable[Order]) -> str:
    cells = (
        f"{row.average_precision:7.3f}{row.hit_1:6.2f}{row.hit_5:6.2f}{row.recall_10:6.2f} "
        for row in figures
    )
    return f"{label[:23]:24}" + "".join(cells)


def warning_table(rows: Mapping[str, Sequence[Warnings]]) -> list[str]:
    """Return lines: by way of calibration, what each threshold gives."""
    lines = [f"{'':40}{'at':>5}{'strict':>8}{'recall':>8}{'singles':>8}{'per 100':>8}"]
    for label, figures in rows.items():
        lines += [
            f"{label[:39]:40}{row.threshold:5.2f}{row.precision:8.3f}{row.recall:8.3f}{row.singles:8.3f}"
            f"{row.alerts_per_100:8.1f}"
            for row in figures
        ]
    return lines
