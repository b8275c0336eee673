"""How well the next files are guessed, beside what each part gives alone, and where the numbers come from.

    python -m bench.upcoming             # the eight histories for reporting
    python -m bench.upcoming --choose    # the 29 for choosing: the numbers of `inference.upcoming`, fitted

The question, for each line of the test period that the same actor follows within 24 hours (both lines of at
most 30 files): which files does that next line change that this one does not? hit@5, mean over histories of
the lines with an answer. Probabilities are fitted on all of these lines.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bench.combination import PROCESSES, for_choosing
from bench.fitting import Choice, choice_weights, odds_weights
from bench.served import histories
from graphmem.evaluation import RecallPredictor, lines_of, read_source
from inference import upcoming
from inference.lineage import Lineage, Resolved
from inference.replay import DAY, Context, Line, Rules, eligible, resolve

LINES = 120
FIRST = 5
QUERIED = 10
SEED = 2
NAMES = ("co-change", "followed", "at hand")


@dataclass(frozen=True, slots=True)
class Case:
    """One question: the terms of every candidate, which were right, whether anything could be."""

    rows: tuple[tuple[float, float, float], ...]
    right: tuple[bool, ...]
    answerable: bool


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description="How well the next files are guessed.")
    parser.add_argument("histories", nargs="*", help="history files; default: those of GRAPHMEM_DATA")
    parser.add_argument("--choose", action="store_true", help="fit the numbers on the histories for choosing")
    arguments = parser.parse_args()
    named = arguments.histories
    files = (named or for_choosing()) if arguments.choose else histories(named)
    with multiprocessing.Pool(PROCESSES) as pool:
        per_history = [cases for cases in pool.map(sample, files, chunksize=1) if cases]
    shipped = (upcoming.JOINT, upcoming.FOLLOWED, upcoming.AT_HAND)
    alone = [tuple(float(index == place) for index in range(len(NAMES))) for place in range(len(NAMES))]
    for label, weights in [*zip(NAMES, alone, strict=True), ("all, as shipped", shipped)]:
        print(f"{label:16} hit@{FIRST} {_hits(per_history, weights):.3f}", flush=True)
    if arguments.choose:
        _fit(per_history)


def sample(path: Path | str) -> list[Case]:
    """Return the questions drawn from a history's test period."""
    observations = read_source("jsonl", str(path))
    lines = lines_of(observations)
    steps = resolve(lines)
    drawn = set(_drawn(lines, steps))
    following = _following(lines)
    lineage = Lineage()
    found: list[Case] = []
    with closing(RecallPredictor(observations)) as recall:
        for line in lines:
            if line.number in drawn:
                case = _case(recall, lineage, line, steps[line.number], steps[following[line.number]])
                found += [] if case is None else [case]
            recall.observe(line)
            lineage.step(line.mentions)
    return found


def _drawn(lines: Sequence[Line], steps: Sequence[Sequence[Resolved]]) -> Iterator[int]:
    rules = Rules()
    ranking = eligible(steps, rules)
    if not ranking:
        return
    start = ranking[-max(1, min(rules.at_most, int(rules.share * len(ranking))))]
    fit = [
        number
        for number, after in _following(lines).items()
        if number >= start and all(1 <= len(steps[each]) <= rules.largest for each in (number, after))
    ]
    yield from fit if len(fit) <= LINES else random.Random(SEED).sample(fit, LINES)


def _following(lines: Sequence[Line]) -> dict[int, int]:
    """Return for each line the same actor's next one, if it comes within 24 hours."""
    latest: dict[str, Line] = {}
    found: dict[int, int] = {}
    for line in lines:
        before = latest.get(line.actor)
        if before is not None and 0.0 <= line.at - before.at <= DAY:
            found[before.number] = line.number
        latest[line.actor] = line
    return found


def _case(
    recall: RecallPredictor,
    lineage: Lineage,
    line: Line,
    step: Sequence[Resolved],
    after: Sequence[Resolved],
) -> Case | None:
    known = [entry.file for entry in step if entry.existed and entry.file < lineage.next_id]
    if not known:
        return None
    here = {entry.file for entry in step}
    truth = {
        lineage.path_of(entry.file)
        for entry in after
        if entry.existed and entry.file < lineage.next_id and entry.file not in here
    }
    context = Context(line.at, line.session, line.actor)
    heard, names = recall.hear([lineage.path_of(file) for file in known[:QUERIED]], context)
    present = {lineage.path_of(file) for file in here if file < lineage.next_id}
    rows: Mapping[str, tuple[float, float, float]] = {
        names[file]: upcoming.terms(heard, file)
        for file in heard.files()
        if file in names and names[file] not in present
    }
    return Case(tuple(rows.values()), tuple(path in truth for path in rows), bool(truth))


def _hits(per_history: Sequence[Sequence[Case]], weights: Sequence[float]) -> float:
    """Return hit@5: mean over the answerable questions of a history, then over histories."""
    shares = []
    for cases in per_history:
        hits = []
        for case in (case for case in cases if case.answerable):
            scores = [sum(w * x for w, x in zip(weights, row, strict=True)) for row in case.rows]
            order = sorted(range(len(scores)), key=lambda index: -scores[index])
            hits.append(any(case.right[index] for index in order[:FIRST]))
        if hits:
            shares.append(sum(hits) / len(hits))
    return sum(shares) / len(shares)


def _fit(per_history: Sequence[Sequence[Case]]) -> None:
    """Print the weights under which the right files are the likeliest choice, scaled to odds that fit."""
    choices = [
        Choice(case.rows, case.right, 1.0 / len(cases))
        for cases in per_history
        for case in cases
        if case.rows
    ]
    order = choice_weights(choices)
    rows, right, counts = [], [], []
    for choice in choices:
        for values, hit in zip(choice.rows, choice.right, strict=True):
            rows.append((sum(weight * value for weight, value in zip(order, values, strict=True)), 1.0))
            right.append(hit)
            counts.append(choice.weight)
    scale, intercept = odds_weights(rows, right, counts)
    fitted = [scale * weight for weight in order]
    print(
        f"fitted: {', '.join(f'{n} {w:.2f}' for n, w in zip(NAMES, fitted, strict=True))}, {intercept=:.2f}"
    )
    print(f"all, fitted      hit@{FIRST} {_hits(per_history, fitted):.3f}")


if __name__ == "__main__":
    main()
