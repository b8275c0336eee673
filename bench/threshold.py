"""What a project's own past gives: the threshold of notes, what they are worth, how honest probabilities are.

    python -m bench.threshold              # the eight histories for reporting, without and with the task
    python -m bench.threshold HISTORY...   # other history files

Each history's test period is replayed by the predictor that answers `/impact`, which looks at its past
anew when the product would. The title stands for the task; a real prompt says less. `worst` is the farthest
that a fifteenth of the probabilities above .5 lies from what came true, where it holds a hundred entries.
"""

from __future__ import annotations

import argparse
import multiprocessing
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from bench.served import histories
from graphmem.evaluation import GRAPHMEM, RecallPredictor, lines_of, read_source
from inference.metrics import Bin
from inference.replay import Outcome, replay

PROCESSES = 2
LEAST_SAID = 0.5
LEAST_ENTRIES = 100

Row = tuple[float | None, ...]
HEAD = ("at", "strict", "24 h", "recall", "single", "per 100", "ECE", "worst")


class Measured(NamedTuple):
    """A history's figures, in the order of `HEAD`, without and with the task."""

    name: str
    plain: Row
    told: Row


def main() -> None:
    """Replay and print a table."""
    parser = argparse.ArgumentParser(description="Report on the thresholds that pasts give.")
    parser.add_argument("histories", nargs="*", help="history files; default: those of GRAPHMEM_DATA")
    given = parser.parse_args()
    print(f"{'':24}" + "".join(f"{name:>9}" for name in HEAD))
    every: list[Measured] = []
    with multiprocessing.Pool(PROCESSES) as pool:
        for found in pool.imap(measured, histories(given.histories)):
            every.append(found)
            print(
                line(found.name, found.plain), line(f"{found.name}, told", found.told), sep="\n", flush=True
            )
    print(line("mean", means([found.plain for found in every])))
    print(line("mean, told", means([found.told for found in every])))


def measured(path: Path) -> Measured:
    """Return the figures of one history."""
    observations = read_source("jsonl", str(path))
    with closing(RecallPredictor(observations)) as recall:
        outcome = replay(lines_of(observations), {GRAPHMEM: recall}, worded=(GRAPHMEM,))[GRAPHMEM]
    told = outcome if outcome.worded is None else outcome.worded
    return Measured(path.name.partition(".")[0], figures(outcome), figures(told))


def figures(outcome: Outcome) -> Row:
    """Return what `HEAD` names; None where there is nothing to measure."""
    given = outcome.given
    notes: Row = (None,) * 6
    if given is not None:
        notes = (
            given.threshold,
            given.precision,
            given.day_precision,
            given.recall,
            given.single_alarms,
            given.alerts_per_100,
        )
    return (*notes, outcome.calibration_error if outcome.bins else None, worst(outcome.bins))


def worst(bins: Iterable[Bin]) -> float | None:
    """Return how far the worst of the bins that count lies from what came true, None where none counts."""
    counting = [each for each in bins if each.said > LEAST_SAID and each.entries >= LEAST_ENTRIES]
    return max((abs(each.said - each.came_true) for each in counting), default=None)


def means(rows: Sequence[Row]) -> Row:
    """Return the mean of each figure over the histories that have it."""
    columns = ([value for value in column if value is not None] for column in zip(*rows, strict=True))
    return tuple(fmean(column) if column else None for column in columns)


def line(name: str, row: Row) -> str:
    """Return one line of the table."""
    return f"{name:24}" + "".join(f"{'-' if value is None else format(value, '.3f'):>9}" for value in row)


if __name__ == "__main__":
    main()
