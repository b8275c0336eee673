"""Where the threshold of warnings comes from, and what it gives.

    python -m bench.threshold            # the eight histories for reporting: at .7 and at the own threshold
    python -m bench.threshold --choose   # the 29 others: how the rule's numbers were chosen

Both ask the questions of the public protocol in a history's test period, single-file edits included, and name
whom a note would name. The threshold is made of the history before that period by the very code that the
product runs; the second keeps what was said to both and tries other numbers on it.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from bench.combination import PROCESSES, for_choosing
from bench.served import histories
from graphmem.calibration import QUESTIONS, SUGGESTIONS, Named, past_questions
from graphmem.evaluation import RecallPredictor, lines_of, read_source
from graphmem.recall.predictor import ONE_SITTING, SESSIONS, Asker, Prediction, predict
from inference.calibration import CEILING, TARGET, threshold
from inference.lineage import Lineage
from inference.metrics import WarningTally
from inference.ranking import WARNING_THRESHOLD
from inference.replay import Question, Rules, questions, replay

MOST = 1_200
PLACES = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9)
RULES = Rules(queries=2, at_most=200)


class Asked(NamedTuple):
    """A question of the test period: what could be named, the right answers, and what came within a day."""

    question: Question
    named: tuple[tuple[int, Named], ...]


class History(NamedTuple):
    """What one history said in its past, the latest question first, and in its test period."""

    past: tuple[tuple[Named, ...], ...]
    test: tuple[Asked, ...]


def main() -> None:
    """Run and print a table."""
    parser = argparse.ArgumentParser(
        description="Report on the threshold of warnings, or choose its numbers."
    )
    parser.add_argument("histories", nargs="*", help="history files; default: those of GRAPHMEM_DATA")
    parser.add_argument("--choose", action="store_true", help="try numbers on the histories for choosing")
    arguments = parser.parse_args()
    with multiprocessing.Pool(PROCESSES) as pool:
        if arguments.choose:
            choose(pool.map(collected, arguments.histories or for_choosing(), chunksize=1))
        else:
            report(pool.imap(given, histories(arguments.histories)))


# ---- reporting ---------------------------------------------------------------------------------


def given(path: Path) -> tuple[str, WarningTally, WarningTally]:
    """Return the notes of a history's test period, at .7 and at its own threshold."""
    observations = read_source("jsonl", str(path))
    with (
        closing(RecallPredictor(observations, WARNING_THRESHOLD)) as fixed,
        closing(RecallPredictor(observations)) as own,
    ):
        outcomes = replay(lines_of(observations), {"fixed": fixed, "own": own})
    tallies = [outcomes[name].given or WarningTally(WARNING_THRESHOLD) for name in ("fixed", "own")]
    return path.name.partition(".")[0], tallies[0], tallies[1]


def report(results: Iterator[tuple[str, WarningTally, WarningTally]]) -> None:
    """Print each history's notes and the means."""
    print(_HEAD)
    every: tuple[list[WarningTally], list[WarningTally]] = ([], [])
    for name, fixed, own in results:
        for label, tally, rows in (("at .7", fixed, every[0]), ("its own", own, every[1])):
            rows.append(tally)
            print(_row(f"{name:12} {label}", [tally]), flush=True)
    for label, rows in zip(("at .7", "its own"), every, strict=True):
        print(_row(f"{'mean':12} {label}", rows))


_HEAD = f"{'':28} {'at':>6} {'strict':>7} {'24 h':>7} {'recall':>7} {'single':>7} {'per 100':>7}"


def _row(label: str, tallies: Sequence[WarningTally]) -> str:
    """Return a line: means over the histories of what each can say."""
    figures = [
        _mean([getattr(tally, name) for tally in tallies])
        for name in ("threshold", "precision", "day_precision", "recall", "single_alarms")
    ]
    return (
        f"{label:28} {figures[0]:6.3f} "
        + " ".join(f"{figure:7.3f}" for figure in figures[1:])
        + (f" {_mean([tally.alerts_per_100 for tally in tallies]):7.1f}")
    )


def _mean(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    return fmean(known) if known else math.nan


# ---- choosing ----------------------------------------------------------------------------------


class Sayer(RecallPredictor):
    """Tells all that could be named, one-sitting links of any probability included."""

    def said(
        self, question: Question, lineage: Lineage, now: float, actor: str
    ) -> Iterator[tuple[int, Named]]:
        """Yield file and what was said of it."""
        self._tell()
        with self._postings.view() as view:
            file = view.file(question.path)
            ranked: Sequence[Prediction] = ()
            if file is not None:
                ranked = predict(view, [file], Asker(now, actor), SUGGESTIONS).ranked
        for entry in ranked:
            number = lineage.file_of(entry.file.path)
            if entry.file.noise is None and entry.ranked.sessions and number is not None:
                right = number in question.truth
                yield number, Named(entry.ranked.probability, right, entry.ranked.sessions)

    def past(self, until: float) -> tuple[tuple[Named, ...], ...]:
        """Return what the past up to a moment would have said, the latest question first."""
        self._tell()
        return tuple(each.named for each in past_questions(self._postings.view, until, MOST))


def collected(path: Path | str) -> History:
    """Return what a history said in its past and in its test period."""
    observations = read_source("jsonl", str(path))
    lineage = Lineage()
    past: tuple[tuple[Named, ...], ...] | None = None
    test: list[Asked] = []
    with closing(Sayer(observations)) as sayer:
        for line, asked in questions(lines_of(observations), lineage, RULES):
            if asked and past is None:
                past = sayer.past(math.nextafter(line.at, -math.inf))
            test += [
                Asked(question, tuple(sayer.said(question, lineage, line.at, line.actor)))
                for question in asked
            ]
            sayer.observe(line)
    return History(past or (), tuple(test))


def choose(all_of_them: Sequence[History]) -> None:
    """Print what fixed thresholds give, then the rule with its numbers changed one at a time."""
    print(_HEAD)
    for value in PLACES[2:]:
        print(_row(f"all at {value}", [_tally(each, value) for each in all_of_them]))
    for target in (0.7, 0.74, TARGET, 0.82):
        print(_row(f"target {target}", [_tally(each, _own(each, QUESTIONS, target)) for each in all_of_them]))
    for count in (400, 600, QUESTIONS, 1_000, MOST):
        print(_row(f"{count} questions", [_tally(each, _own(each, count, TARGET)) for each in all_of_them]))
    for ceiling in (0.85, 0.9, CEILING, 1.0):
        bounded = [min(ceiling, _own(each, QUESTIONS, TARGET)) for each in all_of_them]
        rows = [_tally(each, value) for each, value in zip(all_of_them, bounded, strict=True)]
        print(_row(f"at most {ceiling}", rows))
    print("\nRight among links of one sitting, and of several, from a probability on:")
    for place in PLACES:
        once, often = (_share(all_of_them, place, once=once) for once in (True, False))
        print(f"  from {place:4}: {once}, {often}")


def _own(history: History, count: int, target: float) -> float:
    asked = history.past[:count]
    entries = [(named.probability, named.right) for question in asked for named in question]
    found = threshold(entries, len(asked), target)
    return WARNING_THRESHOLD if found is None else found


def _tally(history: History, value: float) -> WarningTally:
    tally = WarningTally(value)
    for question, named in history.test:
        shown = [
            (file, said.probability)
            for file, said in named
            if said.sessions >= SESSIONS or said.probability >= ONE_SITTING
        ]
        tally.add(shown, question.truth, question.later, single=question.single)
    return tally


def _share(all_of_them: Sequence[History], place: float, *, once: bool) -> str:
    right = [
        said.right
        for history in all_of_them
        for _, named in history.test
        for _, said in named
        if said.probability >= place and (said.sessions < SESSIONS) is once
    ]
    return f"{fmean(right) if right else math.nan:.3f} of {len(right)}"


if __name__ == "__main__":
    main()
