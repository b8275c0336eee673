"""Where the numbers of `inference.combination` come from, and what each part of the formula gives.

    python -m bench.combination            # the 29 histories for choosing: a table of parts, then the weights
    python -m bench.combination --report   # the eight histories for reporting: the whole protocol

The first takes some minutes: from each history's test period it draws lines and single-file edits, describes
every candidate with the very code that answers `/impact`, and fits twice. Order: the weights under which the
right candidates of a question are the likeliest choice among all (each line counts once). Honesty: scale,
company and intercept under which the odds fit, in the natural mix of edits, single ones included.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import random
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, fields, replace
from pathlib import Path

from bench.fitting import Choice, choice_weights, logistic, odds_weights
from bench.served import DATA_VARIABLE, THE_EIGHT, histories
from graphmem.evaluation import GRAPHMEM, RecallPredictor, lines_of, read_source
from inference.baselines import Rose
from inference.combination import WEIGHTS, Candidate, Weights, probability, terms
from inference.lineage import Lineage
from inference.metrics import BINS, DEPTH, RankingScores, mean_scores, rank_scores
from inference.ranking import WARNING_THRESHOLD
from inference.replay import Context, Line, Outcome, Predictor, Question, Rules, questions, replay

LINES = 60
SINGLES = 40
QUESTIONS = 2
KEPT = 80
SUGGESTIONS = 10
SHOWN = (0.5, 0.7)
PROCESSES = 2
SEED = 3
TERMS = ("link", "busy", "at_hand", "alike", "beside")
PARTS: tuple[tuple[str, tuple[str, ...], dict[str, float]], ...] = (
    ("link by co-change alone", ("link",), {"concept": 0.0, "followed": 0.0}),
    ("all three signals", ("link",), {}),
    ("... and busy", ("link", "busy"), {}),
    ("... and at hand", ("link", "busy", "at_hand"), {}),
    ("... and alike", ("link", "busy", "at_hand", "alike"), {}),
    ("... and beside: all", TERMS, {}),
    ("all, without concepts", TERMS, {"concept": 0.0}),
    ("all, concepts .1", TERMS, {"concept": 0.1}),
    ("all, without order", TERMS, {"followed": 0.0}),
    ("all, order .1", TERMS, {"followed": 0.1}),
    ("all, floor .01", TERMS, {"floor": 0.01}),
    ("all, floor .05", TERMS, {"floor": 0.05}),
    ("all, room .1", TERMS, {"room": 0.1}),
    ("all, room 5", TERMS, {"room": 5.0}),
)


@dataclass(frozen=True, slots=True)
class Case:
    """One question of the sample: its line, what was right and wrong, and how much it counts.

    `wanted` is the number of right answers, named or not; `line_weight` makes each line count once,
    `edit_weight` each edit of the natural mix; both sum to one over a history.
    """

    line: int
    single: bool
    wanted: int
    candidates: tuple[Candidate, ...]
    right: tuple[bool, ...]
    line_weight: float
    edit_weight: float


def main() -> None:
    """Run and print a table."""
    parser = argparse.ArgumentParser(description="Choose the weights of the formula, or report on it.")
    parser.add_argument("histories", nargs="*", help="history files; default: those of GRAPHMEM_DATA")
    parser.add_argument("--report", action="store_true", help="run the whole protocol on the eight")
    arguments = parser.parse_args()
    with multiprocessing.Pool(PROCESSES) as pool:
        if arguments.report:
            report(pool.imap(_outcomes, histories(arguments.histories)))
        else:
            choose(pool.map(sample, arguments.histories or for_choosing(), chunksize=1))


def for_choosing() -> list[Path]:
    """Return the histories of the public data that figures are not reported for."""
    data = os.environ.get(DATA_VARIABLE)
    if not data:
        sys.exit(f"Name history files, or set {DATA_VARIABLE} to the public data's folder.")
    found = sorted((Path(data) / "histories").glob("*.jsonl.gz"))
    return [path for path in found if path.name.partition(".")[0] not in THE_EIGHT]


# ---- the sample --------------------------------------------------------------------------------


def sample(path: Path | str) -> list[Case]:
    """Return questions drawn from a history's test period, with every candidate described."""
    observations = read_source("jsonl", str(path))
    lines = lines_of(observations)
    kinds = {line.number: asked[0].single for line, asked in questions(lines, Lineage(), Rules()) if asked}
    draw = random.Random(SEED)
    several = _drawn([number for number, single in kinds.items() if not single], LINES, draw)
    alone = _drawn([number for number, single in kinds.items() if single], SINGLES, draw)
    share = {False: len(kinds) - sum(kinds.values()), True: sum(kinds.values())}
    found: list[Case] = []
    lineage = Lineage()
    with closing(RecallPredictor(observations)) as recall:
        for line, asked in questions(lines, lineage, Rules()):
            if line.number in several or line.number in alone:
                chosen = asked if len(asked) <= QUESTIONS else draw.sample(asked, QUESTIONS)
                weight = share[asked[0].single] / max(1, len(alone if asked[0].single else several))
                found += [
                    _case(recall, lineage, line, question, weight, len(asked), len(chosen), draw)
                    for question in chosen
                ]
            recall.observe(line)
    return _weighed([case for case in found if case.candidates])


def _drawn(numbers: Sequence[int], at_most: int, draw: random.Random) -> set[int]:
    return set(numbers if len(numbers) <= at_most else draw.sample(numbers, at_most))


def _case(
    recall: RecallPredictor,
    lineage: Lineage,
    line: Line,
    question: Question,
    weight: float,
    asked: int,
    chosen: int,
    draw: random.Random,
) -> Case:
    described = recall.describe(question.path, Context(line.at, line.session, line.actor))
    truth = {lineage.path_of(file) for file in question.truth if file < lineage.next_id}
    rows = [(candidate, path in truth) for path, candidate in described]
    rows.sort(key=lambda row: (not row[1], -probability(row[0])))
    # Whatever is wrong and improbable is left out; what stays must not stand in an order that tells.
    kept = draw.sample(rows[:KEPT], min(KEPT, len(rows)))
    return Case(
        line=question.line,
        single=question.single,
        wanted=len(question.truth),
        candidates=tuple(candidate for candidate, _ in kept),
        right=tuple(right for _, right in kept),
        line_weight=0.0 if question.single else 1.0 / chosen,
        edit_weight=weight * asked / chosen,
    )


def _weighed(cases: Sequence[Case]) -> list[Case]:
    lines = sum(case.line_weight for case in cases) or 1.0
    edits = sum(case.edit_weight for case in cases) or 1.0
    return [
        replace(case, line_weight=case.line_weight / lines, edit_weight=case.edit_weight / edits)
        for case in cases
    ]


# ---- choosing ----------------------------------------------------------------------------------


def choose(per_history: Sequence[Sequence[Case]]) -> None:
    """Print what each part gives on the sample, and the weights that come out with all parts."""
    print(f"{'':26} {'hit@1':>6} {'hit@5':>6} {'R@10':>6} {'MAP':>6} {'ECE':>6} {'at .7':>6}   weights")
    geom = [[candidate.file_score for candidate in case.candidates] for case in _all(per_history)]
    print(_row("geom", per_history, geom, geom), flush=True)
    for label, parts, changed in PARTS:
        weights = fitted(per_history, replace(WEIGHTS, **changed), parts)
        odds = [[_odds(candidate, weights) for candidate in case.candidates] for case in _all(per_history)]
        chances = [[logistic(value) for value in row] for row in odds]
        shown = " ".join(f"{getattr(weights, name):.2f}" for name in (*parts, "company", "intercept"))
        print(_row(label, per_history, odds, chances), f" {shown}", flush=True)
    print("shipped:", ", ".join(f"{each.name}={getattr(WEIGHTS, each.name)}" for each in fields(Weights)))


def _all(per_history: Sequence[Sequence[Case]]) -> Iterator[Case]:
    for cases in per_history:
        yield from cases


def fitted(per_history: Sequence[Sequence[Case]], start: Weights, parts: Sequence[str]) -> Weights:
    """Return `start` with order, scale, company and intercept fitted; parts not named are 0."""
    columns = [TERMS.index(name) for name in parts]
    choices = [
        Choice(
            [[terms(candidate, start)[column] for column in columns] for candidate in case.candidates],
            case.right,
            case.line_weight,
        )
        for case in _all(per_history)
    ]
    order = choice_weights(choices)
    rows, right, counts = [], [], []
    for case, choice in zip(_all(per_history), choices, strict=True):
        for candidate, values, hit in zip(case.candidates, choice.rows, case.right, strict=True):
            score = sum(weight * value for weight, value in zip(order, values, strict=True))
            rows.append((score, candidate.company, 1.0))
            right.append(hit)
            counts.append(case.edit_weight)
    scale, company, intercept = odds_weights(rows, right, counts)
    given = dict.fromkeys(TERMS, 0.0) | {
        name: scale * weight for name, weight in zip(parts, order, strict=True)
    }
    return replace(start, **given, company=company, intercept=intercept)


def _odds(candidate: Candidate, weights: Weights) -> float:
    values = terms(candidate, weights)
    score = sum(getattr(weights, name) * value for name, value in zip(TERMS, values, strict=True))
    return float(score + weights.company * candidate.company + weights.intercept)


def _row(
    label: str,
    per_history: Sequence[Sequence[Case]],
    odds: Sequence[Sequence[float]],
    chances: Sequence[Sequence[float]],
) -> str:
    """Return a line of the table: means over the histories; ECE and precision in the mix of edits."""
    means: list[RankingScores] = []
    shown: list[tuple[float, bool, float]] = []
    place = 0
    for cases in per_history:
        per_line: dict[int, list[RankingScores]] = {}
        for case, row, chance in zip(cases, odds[place:], chances[place:], strict=False):
            order = sorted(range(len(row)), key=lambda index: -row[index])
            if not case.single:
                right = [index for index in order if case.right[index]]
                missing = range(-1, len(right) - case.wanted - 1, -1)
                per_line.setdefault(case.line, []).append(rank_scores(order, {*right, *missing}))
            shown += [(chance[index], case.right[index], case.edit_weight) for index in order[:SUGGESTIONS]]
        place += len(cases)
        means.append(mean_scores([mean_scores(scores) for scores in per_line.values()]))
    mean = mean_scores(means)
    named = [entry for entry in shown if entry[0] >= WARNING_THRESHOLD]
    precision = sum(right * count for _, right, count in named) / (sum(n for _, _, n in named) or 1.0)
    figures = (mean.hit_1, mean.hit_5, mean.recall_10, mean.average_precision, _error(shown), precision)
    return f"{label:26} " + " ".join(f"{figure:6.4f}" for figure in figures)


def _error(shown: Sequence[tuple[float, bool, float]]) -> float:
    """Return the expected calibration error with weights."""
    gaps = [0.0] * BINS
    for chance, right, count in shown:
        gaps[min(BINS - 1, int(chance * BINS))] += count * (chance - right)
    return sum(abs(gap) for gap in gaps) / sum(count for _, _, count in shown)


# ---- reporting ---------------------------------------------------------------------------------


class FileScoreAlone(RecallPredictor):
    """The same candidates in the order of co-change alone."""

    def predict(self, path: str, context: Context) -> list[tuple[str, float]]:
        """Return (path, geom)."""
        found = [(name, each.file_score) for name, each in self.describe(path, context) if each.file_score]
        return sorted(found, key=lambda entry: -entry[1])[:DEPTH]


def _outcomes(path: Path) -> tuple[str, dict[str, Outcome], float]:
    began = time.perf_counter()
    observations = read_source("jsonl", str(path))
    with closing(RecallPredictor(observations)) as recall, closing(FileScoreAlone(observations)) as geom:
        predictors: dict[str, Predictor] = {GRAPHMEM: recall, "geom": geom, "ROSE": Rose()}
        outcomes = replay(lines_of(observations), predictors)
    return path.name.partition(".")[0], outcomes, time.perf_counter() - began


def report(results: Iterator[tuple[str, dict[str, Outcome], float]]) -> None:
    """Print every history's figures and their means."""
    print(f"{'':12} {'':9} {'hit@1':>6} {'hit@5':>6} {'R@10':>6} {'MAP':>6} {'ECE':>6}   at .5 and at .7:")
    print(f"{'':52} precision, in 24 h, recall, single-file alarms, alerts in 100 edits")
    every: dict[str, list[list[float]]] = {}
    for name, outcomes, seconds in results:
        for predictor, outcome in outcomes.items():
            figures = _figures(outcome)
            every.setdefault(predictor, []).append(figures)
            print(_figure_row(name, predictor, figures))
        print(f"{name:12} took {seconds:.0f} s", flush=True)
    for predictor, rows in every.items():
        columns = [[value for value in column if not math.isnan(value)] for column in zip(*rows, strict=True)]
        print(_figure_row("mean", predictor, [sum(column) / max(1, len(column)) for column in columns]))


def _figures(outcome: Outcome) -> list[float]:
    scores = outcome.scores
    if scores is None:
        return [math.nan] * 15
    figures = [scores.hit_1, scores.hit_5, scores.recall_10, scores.average_precision]
    figures.append(outcome.calibration_error)
    for tally in outcome.warnings:
        if tally.threshold in SHOWN:
            row = (tally.precision, tally.day_precision, tally.recall, tally.single_alarms)
            figures += [math.nan if value is None else value for value in row]
            figures.append(tally.alerts_per_100)
    return figures


def _figure_row(name: str, predictor: str, figures: Sequence[float]) -> str:
    return f"{name:12} {predictor:9} " + " ".join(
        f"{value:6.1f}" if index in (9, 14) else f"{value:6.3f}" for index, value in enumerate(figures)
    )


if __name__ == "__main__":
    main()
