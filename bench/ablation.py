"""What each part of the ranking gives: the table of what is lost when it is left out.

    python -m bench.ablation                                   # the eight histories for reporting: the table
    python -m bench.ablation --parts formula                   # some parts only: formula, model, verdicts
    python -m bench.ablation HISTORY ... --parts verdicts      # other histories; files come first
    python -m bench.ablation --figures notebooks/ablations.json     # ... and what the notebook shows

`formula`: the numbers of the closed formulas changed in turn, others as they are (a minute). `model`: small
ranking models that go without a group of columns, trained on the other 29 histories, from datasets that
`python -m bench.making FOLDER` makes (a quarter of an hour). `verdicts`: what twenty verdicts do to the
answers afterwards, as `python -m bench.verdict_learning` measures it (half an hour).

MAP, hit@5 and recall@10 are means over the histories; `change` is that of MAP in thousandths against the
part's first row, with the standard error of its mean over histories, and in how many it is worse. A small
model is worse than those shipped: only the differences between its rows say something.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path

from bench import ablation_model, verdict_learning
from bench.ablation_formula import measured, rows_of
from bench.ablation_table import THOUSAND, Row, lines_of, save
from bench.combination import PROCESSES, for_choosing
from bench.ranker_figures import Order
from bench.served import histories
from graphmem.graph import EdgeOrder

ASKED = 250
"""Questions of each history that the models are measured by; the formulas answer many more."""
FORMULA_ASKED = 1_500
QUESTIONS = 120
TREES = 80
ASKED_BY = (EdgeOrder.PROBABILITY, EdgeOrder.VALUE)


class Part(StrEnum):
    """A part of the table."""

    FORMULA = "formula"
    MODEL = "model"
    VERDICTS = "verdicts"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What is lost when a part of the ranking is left out.")
    parser.add_argument("histories", nargs="*", help="history files; default: those of GRAPHMEM_DATA")
    parser.add_argument("--parts", nargs="+", type=Part, default=list(Part), choices=list(Part))
    parser.add_argument("--cache", type=Path, default=Path("build/training"), help="where the datasets are")
    parser.add_argument("--asked", type=int, help="questions measured of each history")
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="of each history that teaches")
    parser.add_argument("--trees", type=int, default=TREES, help="of each small model")
    parser.add_argument("--figures", type=Path, help="write the rows to this file")
    given = parser.parse_args()
    paths = [Path(name) for name in given.histories] or histories([])
    rows: list[Row] = []
    for line in lines_of(_kept(_rows(given, paths), rows)):
        print(line, flush=True)
    if given.figures:
        save(rows, given.figures)


def _kept(found: Iterator[Row], rows: list[Row]) -> Iterator[Row]:
    for row in found:
        rows.append(row)
        yield row


def _rows(given: argparse.Namespace, paths: list[Path]) -> Iterator[Row]:
    for part in given.parts:
        match part:
            case Part.FORMULA:
                yield from _formula(paths, given.asked or FORMULA_ASKED)
            case Part.MODEL:
                yield from ablation_model.rows_of(_school(given, paths))
            case Part.VERDICTS:
                yield from _verdicts(paths)


def _formula(paths: list[Path], asked: int) -> Iterator[Row]:
    with multiprocessing.Pool(PROCESSES) as pool:
        found = pool.map(partial(measured, asked=asked), paths, chunksize=1)
    yield from rows_of({_name(path): each for path, each in zip(paths, found, strict=True)})


def _school(given: argparse.Namespace, paths: list[Path]) -> ablation_model.School:
    measured_on = [_name(path) for path in paths]
    taught = [_name(path) for path in for_choosing() if _name(path) not in measured_on]
    asked = given.asked or ASKED
    return ablation_model.school(given.cache, taught, measured_on, given.questions, asked, given.trees)


def _name(path: Path) -> str:
    return path.name.partition(".")[0]


def _verdicts(paths: list[Path]) -> Iterator[Row]:
    """Yield MAP before and after twenty verdicts, and if confirmed files led each answer instead."""
    with multiprocessing.Pool(PROCESSES) as pool:
        found = dict(pool.imap(partial(verdict_learning.figures, told=False), paths, chunksize=1))
    yield from verdict_rows(found)


def verdict_rows(found: Mapping[str, Mapping[str, Sequence[float]]]) -> list[Row]:
    """Return rows of what `bench.verdict_learning.figures` gave, by history and order of asking."""
    label = {f"order={order}": f"twenty, asked by {order}" for order in ASKED_BY}
    ways: dict[str, dict[str, Order]] = {"none": {}}
    for order, told in label.items():
        for name, figures in found.items():
            if order in figures:
                _, before, raised, led, *_ = figures[order]
                ways["none"][name] = _precision(before)
                ways.setdefault(told, {})[name] = _precision(before + raised / THOUSAND)
                ways.setdefault(f"{told}, yes led", {})[name] = _precision(before + led / THOUSAND)
    return [Row("verdicts", way, figures) for way, figures in ways.items() if figures]


def _precision(value: float) -> Order:
    """Return figures of which only MAP is known."""
    return Order(value, math.nan, math.nan, math.nan)


if __name__ == "__main__":
    main()
