"""How well the next files are guessed, beside what each part gives alone, and where the numbers come from.

    python -m bench.upcoming             # the eight histories for reporting
    python -m bench.upcoming --choose    # the 29 for choosing: the numbers of `inference.upcoming`, fitted

The question, for each line of the test period that the same actor follows within 24 hours (both lines of at
most 30 files): which files does that next line change that this one does not? hit@5, mean over histories of
the lines with an answer. The task's words are the title of the line asked about, which is known by then;
figures are told with and without. Probabilities are fitted on all of these lines; figures on the 29 are left
out by sixths: what a history is measured with was fitted on the others.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.combination import PROCESSES, for_choosing
from bench.fitting import Choice, choice_weights, odds_weights
from bench.making import step_of
from bench.served import histories
from graphmem.evaluation import lines_of, read_source
from graphmem.task_words import path_words, task_words
from inference import upcoming
from inference.chronicle import Chronicle
from inference.lineage import Lineage, Resolved
from inference.replay import DAY, Line, Rules, eligible, resolve
from inference.signals import signals
from inference.upcoming import FULL, Around

LINES = 120
FIRST = 5
QUERIED = 10
SEED = 2
FOLDS = 6
NAMES = ("co-change", "followed", "at hand", "lately", "own", "task")
PLAIN = (upcoming.JOINT, upcoming.FOLLOWED, upcoming.AT_HAND, 0.0, 0.0, 0.0)
"""What is shipped for where the work is not held in memory."""


@dataclass(frozen=True, slots=True)
class Case:
    """One question: the terms of every candidate, which were right, whether anything could be."""

    rows: NDArray[np.float64]
    right: NDArray[np.bool_]
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
    alone = [tuple(float(index == place) for index in range(len(NAMES))) for place in range(len(NAMES))]
    mixes = [*zip(NAMES, alone, strict=True), ("not in memory", PLAIN)]
    mixes += [("all, no task", (*FULL[:5], 0.0)), ("all, as shipped", FULL[:6])]
    for label, weights in mixes:
        print(f"{label:16} hit@{FIRST} {_hits(per_history, weights):.3f}", flush=True)
    if arguments.choose:
        _left_out(per_history)
        _fit(per_history)


def sample(path: Path | str) -> list[Case]:
    """Return the questions drawn from a history's test period."""
    lines = lines_of(read_source("jsonl", str(path)))
    steps = resolve(lines)
    drawn = set(_drawn(lines, steps))
    following = _following(lines)
    lineage, chronicle = Lineage(), Chronicle(path_words)
    sessions: dict[str, int] = {}
    actors: dict[str, int] = {}
    found: list[Case] = []
    at = float("-inf")
    for line in lines:
        at = max(at, line.at)
        actor = actors.setdefault(line.actor, len(actors) + 1)
        words = task_words(line.title)
        if line.number in drawn:
            around = Around(chronicle, at, actor, words)
            case = _case(around, lineage, steps[line.number], steps[following[line.number]])
            found += [] if case is None else [case]
        resolved = lineage.step(line.mentions)
        session = sessions.setdefault(line.session, len(sessions) + 1)
        chronicle.push(step_of(line, resolved, lineage, at, session, actor, words))
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
    around: Around, lineage: Lineage, step: Sequence[Resolved], after: Sequence[Resolved]
) -> Case | None:
    known = [entry.file for entry in step if entry.existed and entry.file < lineage.next_id]
    if not known:
        return None
    here = {entry.file for entry in step}
    truth = {entry.file for entry in after if entry.existed and entry.file < lineage.next_id} - here
    recent = () if around.actor is None else around.chronicle.recent_of(around.actor)
    heard = signals([around.chronicle.history(file) for file in known[:QUERIED]], recent)
    files = [file for file in upcoming.candidates(heard, around) if file not in here]
    rows = upcoming.all_terms(heard, files, around)
    return Case(rows, np.array([file in truth for file in files], bool), bool(truth))


def _hits(per_history: Sequence[Sequence[Case]], weights: Sequence[float]) -> float:
    """Return hit@5: mean over the answerable questions of a history, then over histories."""
    shares = [share for cases in per_history for share in _share(cases, weights)]
    return sum(shares) / len(shares)


def _share(cases: Sequence[Case], weights: Sequence[float]) -> Iterator[float]:
    """Yield the share of a history's questions that are answered right, nothing where it has none."""
    hits = []
    for case in (case for case in cases if case.answerable):
        order = np.argsort(-(case.rows @ np.asarray(weights)), kind="stable")
        hits.append(bool(case.right[order[:FIRST]].any()))
    if hits:
        yield sum(hits) / len(hits)


def _left_out(per_history: Sequence[Sequence[Case]]) -> None:
    """Print what weights fitted on the other histories give, all of them and without some."""
    further = range(3, len(NAMES))
    for label, without in [
        ("none", ()),
        *((NAMES[term], (term,)) for term in further),
        ("all three", further),
    ]:
        shares: list[float] = []
        for fold in range(min(FOLDS, len(per_history))):
            others = [cases for place, cases in enumerate(per_history) if place % FOLDS != fold]
            weights = _order(others or per_history, without)
            for cases in per_history[fold::FOLDS]:
                shares += _share(cases, weights)
        print(f"left out: without {label:10} hit@{FIRST} {sum(shares) / len(shares):.3f}", flush=True)


def _order(per_history: Sequence[Sequence[Case]], without: Sequence[int] = ()) -> list[float]:
    """Return the weights under which the right files are the likeliest choice, 0 for terms left out."""
    kept = [term for term in range(len(NAMES)) if term not in without]
    choices = [
        Choice(case.rows[:, kept], case.right, 1.0 / len(cases))
        for cases in per_history
        for case in cases
        if len(case.rows)
    ]
    found = dict(zip(kept, choice_weights(choices), strict=True))
    return [found.get(term, 0.0) for term in range(len(NAMES))]


def _fit(per_history: Sequence[Sequence[Case]]) -> None:
    """Print the weights of all histories together, scaled to odds that fit."""
    order = _order(per_history)
    cases = [(case, 1.0 / len(cases)) for cases in per_history for case in cases if len(case.rows)]
    scores = np.concatenate([case.rows @ np.array(order) for case, _ in cases])
    right = np.concatenate([case.right for case, _ in cases])
    counts = np.concatenate([np.full(len(case.right), count) for case, count in cases])
    scale, intercept = odds_weights(np.stack([scores, np.ones(len(scores))], 1), right, counts)
    fitted = [scale * weight for weight in order]
    print(
        f"fitted: {', '.join(f'{n} {w:.2f}' for n, w in zip(NAMES, fitted, strict=True))}, {intercept=:.2f}"
    )
    print(f"all, fitted      hit@{FIRST} {_hits(per_history, fitted):.3f}")


if __name__ == "__main__":
    main()
