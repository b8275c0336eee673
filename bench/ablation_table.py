"""Owns the rows of the table of ablations: what was left out, what that gave by history, how it is shown.

It is not the measuring (`bench.ablation_formula`, `bench.ablation_model`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import NamedTuple

from bench.ranker_figures import Order, mean_order

THOUSAND = 1000.0


class Row(NamedTuple):
    """One line: its part of the table, what was done, the figures by history; none for a remark.

    The first row of a part is what the others are compared with.
    """

    part: str
    label: str
    figures: Mapping[str, Order]


class Change(NamedTuple):
    """A row against the first of its part: thousandths of MAP, their standard error, where it is worse.

    `worse` of `of` histories lose by it.
    """

    thousandths: float
    error: float
    worse: int
    of: int


def change(row: Row, base: Row) -> Change:
    """Return what a row's MAP is against another's on the same histories."""
    shared = [name for name in row.figures if name in base.figures]
    gaps = [
        THOUSAND * (row.figures[name].average_precision - base.figures[name].average_precision)
        for name in shared
    ]
    error = stdev(gaps) / math.sqrt(len(gaps)) if len(gaps) > 1 else math.nan
    return Change(fmean(gaps), error, sum(gap < 0.0 for gap in gaps), len(gaps))


def lines_of(rows: Iterable[Row]) -> Iterable[str]:
    """Yield the lines of the table as rows come, a heading before each part."""
    base: Row | None = None
    for row in rows:
        if base is None or row.part != base.part:
            base = row
            yield f"\n{row.part:40} {'MAP':>6} {'hit@5':>6} {'r@10':>6} {'change':>8} {'error':>6}  worse in"
        if not row.figures:
            yield f"  ({row.label})"
            continue
        mean = mean_order(list(row.figures.values()))
        told = (mean.average_precision, mean.hit_5, mean.recall_10)
        shown = " ".join(" " * 6 if math.isnan(value) else f"{value:6.3f}" for value in told)
        if row is base:
            yield f"{row.label:40} {shown}"
            continue
        against = change(row, base)
        error = " " * 6 if math.isnan(against.error) else f"{against.error:6.1f}"
        yield f"{row.label:40} {shown} {against.thousandths:+8.1f} {error}  {against.worse} of {against.of}"


def save(rows: Sequence[Row], file: Path) -> None:
    """Write rows to a file."""
    held = [
        {
            "part": row.part,
            "label": row.label,
            "figures": {
                name: [None if math.isnan(value) else round(value, 5) for value in figures]
                for name, figures in row.figures.items()
            },
        }
        for row in rows
    ]
    file.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")


def load(file: Path) -> list[Row]:
    """Read rows that `save` wrote."""
    return [
        Row(each["part"], each["label"], {name: _order(held) for name, held in each["figures"].items()})
        for each in json.loads(file.read_text(encoding="utf-8"))
    ]


def _order(held: Sequence[float | None]) -> Order:
    return Order(*(math.nan if value is None else value for value in held))
