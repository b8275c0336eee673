"""Owns the words of the page that tells readers what the ranking models are: docs/model-card.md.

It is not the card that the program reads (`graphmem.ranking_card`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from bench.ranker_figures import Order, mean_order
from bench.ranker_report import Calibrated, Report
from graphmem.ranking_card import Card

_HEAD = """# The ranking models

<!-- Written by `make train`; what is changed here by hand is gone after the next training. -->

GraphMem ships four small models (`graphmem/ranker/*.onnx`, Apache-2.0 like the rest): two that put the
files that are likely to change along in order, with and without a task's words, and two that say how likely
each is. They are boosted trees (LightGBM: `lambdarank` for the order, `binary` for the chance, {leaves}
leaves each), kept as ONNX and run by onnxruntime on one thread on your machine. Nothing is sent anywhere,
and nothing that GraphMem stores of your work has a part in the files that are shipped.

|  |  |
|---|---|
| version of the card | {version} |
| made on | {made} |
| latest work in the training data | {cutoff} |
| remade by | `make train` |

## What they learned from

The public histories of {count} open-source projects, as commits with their titles, files, times and authors
as numbers: {names}. No file's content, no person's name. A question is one file of a commit, or a new file;
what the commit changed besides is the right answer; everything that a model is told is of the time before
that commit.

## What they look at

{plain} columns of every question, and {task} more where the task's words are told
(`inference/features.py`):

{columns}

## How good they are

Each history was ranked by models that were trained on other projects only (the projects are dealt into
folds); the files that are shipped are then trained on all of them. Questions are those of the test period,
as in `graphmem evaluate`: mean over a commit's questions, then over the commits, then over the projects.
The task's words are a commit's title here, which is written afterwards: a real prompt tells less.
"""
_TAIL = """
*As said*: before any calibration. *Pooled curve*: by how it came true on other projects. *Own past*: by how
it came true in this history before the test period. *Strict*: shares of named files that the same commit
changed; *singles*: shares of edits of one file only that drew a warning.

## What they are not for

* They say which files are *changed together*, not which depend on each other, and not that a change is
  right.
* They know commits of open-source projects. Work that is organised otherwise (one huge commit a week,
  generated code, many projects in one repository) is ranked, but how well is not known: `graphmem evaluate
  git .` tells it.
* They are no measure of people: authors are used as "the same as who asks" and nothing else.
* A score of the order is no probability; only the chance after calibration is.

Where a model is missing, damaged or of another version, the closed form ranks (ARCHITECTURE.md, the
scoring), and `graphmem doctor` says why. `GRAPHMEM_RANKER=off` switches the models off.
"""


def page_of(card: Card, results: Report, histories: Sequence[str]) -> str:
    """Return the page's text."""
    head = _HEAD.format(
        leaves=31,
        version=card.version,
        made=card.made.isoformat(),
        cutoff=card.cutoff.isoformat(),
        count=len(histories),
        names=", ".join(histories),
        plain=len(card.columns.plain),
        task=len(card.columns.task),
        columns=_columns(card),
    )
    parts = [head, "One file known, the others asked for:", "", *_orders(results.known)]
    if next(iter(results.fresh.values())):
        parts += ["", "A new file (path and task only), the others asked for:", "", *_orders(results.fresh)]
    parts += ["", "Warnings, single-file edits included:", "", *_warnings(results.calibrations)]
    return "\n".join(parts) + "\n" + _TAIL


def _columns(card: Card) -> str:
    rows = (("every question", card.columns.plain), ("with a task", card.columns.task))
    return "\n".join(f"* {label}: {', '.join(f'`{name}`' for name in names)}" for label, names in rows)


def _orders(figures: Mapping[str, Mapping[str, Order]]) -> list[str]:
    """Return a table of the means, and of each history's MAP."""
    means = {ranker: mean_order(list(rows.values())) for ranker, rows in figures.items()}
    lines = ["| mean | MAP | hit@1 | hit@5 | recall@10 |", "|---|---|---|---|---|"]
    lines += [f"| {name} | {' | '.join(f'{value:.3f}' for value in row)} |" for name, row in means.items()]
    lines += ["", f"| MAP | {' | '.join(figures)} |", "|---" * (len(figures) + 1) + "|"]
    histories = next(iter(figures.values()))
    lines += [
        f"| {name} | {' | '.join(f'{rows[name].average_precision:.3f}' for rows in figures.values())} |"
        for name in histories
    ]
    return lines


def _warnings(calibrations: Mapping[str, Calibrated]) -> list[str]:
    head = [
        "| chances | calibration error | at | strict | recall | singles | per 100 edits |",
        "|---" * 7 + "|",
    ]
    return head + [
        f"| {label} | {found.error:.3f} | {row.threshold:.1f} | {_share(row.precision)}"
        f" | {_share(row.recall)} | {_share(row.singles)} | {row.alerts_per_100:.1f} |"
        for label, found in calibrations.items()
        for row in found.warnings
    ]


def _share(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"
