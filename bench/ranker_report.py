"""Owns the report on the ranking models: all figures of what was said of histories that were left out.

It is not the figures themselves (`bench.ranker_figures`), nor the page for readers (`bench.ranker_page`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

import numpy as np

from bench.dataset import Dataset, Kind
from bench.ranker_figures import (
    THRESHOLDS,
    Named,
    Numbers,
    Order,
    Warnings,
    calibrated,
    calibration_error,
    curve_of,
    mean_order,
    mean_warnings,
    named,
    order_figures,
    order_table,
    warning_table,
    warnings_of,
)
from inference.calibration import Curve

CLOSED, MODEL, WITH_TASK = "closed form", "model", "model, task text"
_PRESENT = (Kind.SEVERAL, Kind.SINGLE)


class Held(NamedTuple):
    """A history's questions, and what models that never saw it said of them, without and with a task."""

    dataset: Dataset
    orders: tuple[Numbers, Numbers]
    chances: tuple[Numbers, Numbers]


class Calibrated(NamedTuple):
    """What one way of calibration gives: the mean error over histories, and of each threshold the means."""

    error: float
    warnings: tuple[Warnings, ...]


class Report(NamedTuple):
    """Lines to print, pooled curves without and with a task, and the figures for the card."""

    lines: tuple[str, ...]
    curves: tuple[Curve, Curve]
    known: Mapping[str, Mapping[str, Order]]
    fresh: Mapping[str, Mapping[str, Order]]
    calibrations: Mapping[str, Calibrated]

    @property
    def figures(self) -> dict[str, object]:
        """The means, rounded, as the card keeps them."""
        parts = {"one file known": self.known, "new file": self.fresh}
        orders = {
            part: {ranker: _rounded(mean_order(list(rows.values()))) for ranker, rows in by_ranker.items()}
            for part, by_ranker in parts.items()
            if next(iter(by_ranker.values()))
        }
        chances = {
            label: {"ece": round(found.error, 4), "at": [_rounded(row) for row in found.warnings]}
            for label, found in self.calibrations.items()
        }
        return {"histories": len(self.known[CLOSED]), **orders, "warnings": chances}


def _rounded(row: Order | Warnings) -> dict[str, float | None]:
    return {name: round(value, 4) if value == value else None for name, value in row._asdict().items()}


def report(held: Sequence[Held], folds: int) -> Report:
    """Return all figures; a history's place modulo `folds` is the fold that left it out."""
    known, fresh = (_orders(held, kind) for kind in (Kind.SEVERAL, Kind.NEW_FILE))
    curves: list[Curve] = []
    calibrations: dict[str, Calibrated] = {}
    for with_task, label in enumerate((MODEL, WITH_TASK)):
        present = [named(each.dataset, each.chances[with_task], _PRESENT) for each in held]
        past = [named(each.dataset, each.chances[with_task], [Kind.TRAINING]) for each in held]
        pooled = [
            curve_of([entries for other, entries in enumerate(present) if other % folds != fold])
            for fold in range(folds)
        ]
        ways = {
            "as said": present,
            "pooled curve": [calibrated(e, pooled[place % folds]) for place, e in enumerate(present)],
            "own past": [calibrated(e, curve_of([past[place]])) for place, e in enumerate(present)],
        }
        calibrations |= {f"{label}, {way}": _calibration(held, found) for way, found in ways.items()}
        curves.append(curve_of(present))
    lines = ["", "One file known, the others asked for", *order_table(known), *_worst(known)]
    if next(iter(fresh.values())):
        lines += ["", "A new file, the others asked for", *order_table(fresh)]
    lines += ["", "Warnings, single-file edits included: means over the histories"]
    lines += warning_table({label: found.warnings for label, found in calibrations.items()})
    lines += ["", "Expected calibration error", *(f"{k:40}{v.error:6.3f}" for k, v in calibrations.items())]
    return Report(tuple(lines), (curves[0], curves[1]), known, fresh, calibrations)


def _orders(held: Sequence[Held], kind: Kind) -> dict[str, dict[str, Order]]:
    """Return by ranker, then by history, the figures on questions of a kind."""
    found: dict[str, dict[str, Order]] = {CLOSED: {}, MODEL: {}, WITH_TASK: {}}
    for each in held:
        closed = np.where(each.dataset.by_task, -np.inf, each.dataset.closed).astype(np.float32)
        for ranker, scores in zip(found, (closed, *each.orders), strict=True):
            figures = order_figures(each.dataset, scores, kind)
            if figures is not None:
                found[ranker][each.dataset.name] = figures
    return found


def _worst(known: Mapping[str, Mapping[str, Order]]) -> list[str]:
    """Return where the model gains least on the closed form."""
    gains = {
        name: known[MODEL][name].average_precision - row.average_precision
        for name, row in known[CLOSED].items()
    }
    least = min(gains, key=gains.__getitem__)
    lost = sum(gain < 0 for gain in gains.values())
    return [
        f"The model loses to the closed form on {lost} of {len(gains)};"
        f" least gain {gains[least]:+.3f} ({least})."
    ]


def _calibration(held: Sequence[Held], entries: Sequence[Named]) -> Calibrated:
    rows = [
        mean_warnings(
            [warnings_of(one.dataset, found, threshold) for one, found in zip(held, entries, strict=True)]
        )
        for threshold in THRESHOLDS
    ]
    return Calibrated(fmean(calibration_error(found) for found in entries if len(found.chance)), tuple(rows))
