"""Owns how a history becomes a dataset: which of its questions are asked, and the rows of their candidates.

It is not the columns (`inference.features`) nor the training (`bench.train`). Each question is asked before
its answer is told, as in the public protocol (`inference.replay`): the test period is the same, and what
comes before it gives the training's questions.

    python -m bench.making FOLDER [HISTORY ...]

writes a dataset for each history file, all of those in $GRAPHMEM_DATA/histories where none is named.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench.dataset import SUFFIX, Dataset, Kind, counts, save
from graphmem.evaluation import lines_of, read_source
from graphmem.task_words import path_words, task_words
from inference.candidates import candidates
from inference.chronicle import NO_PAIR_SIZE, Chronicle, State, Step
from inference.cochange import MAX_SIZE
from inference.combination import Candidate, probability
from inference.features import COLUMNS, TASK_COLUMNS, columns
from inference.lineage import Change, Lineage, Resolved
from inference.replay import Line, Rules, eligible, resolve
from inference.signals import signals
from inference.table import Hearing, Question

TRAINED = 700
"""So many of the lines before the test period are asked about, the latest."""
TESTED = 250
SINGLES = 150
QUESTIONS = 3
KEPT_HARD = 60
KEPT_OTHER = 30
NEW_FILE_SHARE = 0.4


class Asked(NamedTuple):
    """One question of a line: its kind, the queried file, the right answers, what it counts."""

    kind: Kind
    file: int
    path: str
    truth: frozenset[int]
    weight: float


def make(path: Path) -> Dataset:
    """Return the dataset of a history file."""
    lines = lines_of(read_source("jsonl", str(path)))
    steps = resolve(lines)
    plan = _plan(lines, steps)
    chronicle = Chronicle(path_words)
    lineage = Lineage()
    sessions: dict[str, int] = {}
    actors: dict[str, int] = {}
    rows, found = [], []
    at = -np.inf
    draw = random.Random(11)
    for line in lines:
        at = max(at, line.at)
        actor = actors.setdefault(line.actor, len(actors) + 1)
        words = task_words(line.title)
        step = steps[line.number]
        for asked in _questions(line, step, plan, lineage):
            made = _rows(chronicle, asked, at, actor, words, draw)
            if made is not None:
                rows.append(made)
                found.append((asked, line.number))
        resolved = lineage.step(line.mentions)
        session = sessions.setdefault(line.session, len(sessions) + 1)
        chronicle.push(step_of(line, resolved, lineage, at, session, actor, words))
    return _collected(path.name.partition(".")[0], float(at), rows, found)


def step_of(
    line: Line,
    resolved: Sequence[Resolved],
    lineage: Lineage,
    at: float,
    session: int,
    actor: int,
    words: tuple[str, ...],
) -> Step:
    """Return a line as a step of a chronicle; `lineage` has taken it."""
    size = sum(entry.change is not Change.READ for entry in resolved)
    met = dict.fromkeys(entry.file for entry in resolved)
    return Step(
        key=line.number + 1,
        occasion=line.number + 1,
        at=at,
        session=session,
        actor=actor,
        size=size if size <= MAX_SIZE else NO_PAIR_SIZE,
        edited=tuple(e.file for e in resolved if e.change is not Change.READ and not e.repeated),
        read=tuple(e.file for e in resolved if e.change is Change.READ and not e.repeated),
        words=words,
        states=tuple(State(file, lineage.path_of(file), lineage.files[file].alive) for file in met),
    )


def _plan(lines: Sequence[Line], steps: Sequence[Sequence[Resolved]]) -> dict[int, tuple[Kind, float]]:
    """Return which lines are asked about, as what, and what a line of that kind counts."""
    rules = Rules()
    ranked = eligible(steps, rules)
    if not ranked:
        return {}
    start = ranked[-max(1, min(rules.at_most, int(rules.share * len(ranked))))]
    draw = random.Random(7)
    several = [number for number in ranked if number >= start]
    single = [n for n in range(start, len(lines)) if len(steps[n]) == 1 and steps[n][0].existed]
    before = [n for n in range(start) if 1 <= len(steps[n]) <= rules.largest]
    before = [n for n in before[len(before) // 8 :] if any(entry.existed for entry in steps[n])]
    plan: dict[int, tuple[Kind, float]] = dict.fromkeys(before[-TRAINED:], (Kind.TRAINING, 1.0))
    for numbers, kind, at_most in ((several, Kind.SEVERAL, TESTED), (single, Kind.SINGLE, SINGLES)):
        chosen = numbers if len(numbers) <= at_most else draw.sample(numbers, at_most)
        plan.update((n, (kind, len(numbers) / len(chosen))) for n in chosen)
    return plan


def _questions(
    line: Line, step: Sequence[Resolved], plan: dict[int, tuple[Kind, float]], lineage: Lineage
) -> Iterator[Asked]:
    if line.number not in plan:
        return
    kind, weight = plan[line.number]
    draw = random.Random(line.number)
    known = [entry.file for entry in step if entry.existed and entry.file in lineage.files]
    fresh = [entry for entry in step if not entry.existed and entry.change is not Change.READ]
    at_most = 2 if kind is Kind.TRAINING else QUESTIONS
    chosen = known if len(known) <= at_most else draw.sample(known, at_most)
    for file in chosen:
        truth = frozenset(known) - {file}
        yield Asked(kind, file, lineage.path_of(file), truth, weight * counts(len(truth)) / len(chosen))
    if fresh and known and kind is not Kind.SINGLE and draw.random() < NEW_FILE_SHARE:
        entry = draw.choice(fresh)
        sort = Kind.TRAINING if kind is Kind.TRAINING else Kind.NEW_FILE
        yield Asked(sort, -1, entry.path, frozenset(known), weight * counts(len(known)))


class _Rows(NamedTuple):
    matrix: np.ndarray  # type: ignore[type-arg]
    right: np.ndarray  # type: ignore[type-arg]
    closed: np.ndarray  # type: ignore[type-arg]
    by_task: np.ndarray  # type: ignore[type-arg]


def _rows(
    chronicle: Chronicle, asked: Asked, at: float, actor: int, words: tuple[str, ...], draw: random.Random
) -> _Rows | None:
    file = None if asked.file < 0 else asked.file
    history = chronicle.history(asked.file)
    recent = chronicle.recent_of(actor)
    hearing = Hearing(history, signals([history] if file is not None else [], recent), recent)
    told = Question(file, asked.path, at, actor, words or ("",))
    plain = candidates(chronicle, Question(file, asked.path, at, actor), hearing)
    every = list(dict.fromkeys((*plain, *candidates(chronicle, told, hearing))))
    if not every:
        return None
    matrix = columns(chronicle, told, hearing, every)
    right = np.array([each in asked.truth for each in every])
    closed = np.array(_closed(chronicle, hearing, every, at), np.float32)
    by_task = np.arange(len(every)) >= len(plain)
    if asked.kind is Kind.TRAINING and len(every) > KEPT_HARD + KEPT_OTHER:
        order = np.argsort(-closed, kind="stable")
        rest = order[KEPT_HARD:].tolist()
        keep = {*order[:KEPT_HARD].tolist(), *draw.sample(rest, KEPT_OTHER), *np.flatnonzero(right).tolist()}
        kept = np.array(sorted(keep))
        matrix, right, closed, by_task = matrix[kept], right[kept], closed[kept], by_task[kept]
    return _Rows(matrix, right, closed, by_task)


def _closed(chronicle: Chronicle, hearing: Hearing, files: Sequence[int], at: float) -> list[float]:
    heard = hearing.heard
    heat = chronicle.heat(files, at)
    return [
        probability(
            Candidate(
                file,
                heard.pairs.scores.get(file, 0.0),
                heard.pairs.firm.get(file, 0.0),
                touches=heat[file],
                at_hand=heard.at_hand.get(file, 0.0),
                company=heard.company,
            )
        )
        for file in files
    ]


def _collected(
    name: str, latest: float, rows: Sequence[_Rows], found: Sequence[tuple[Asked, int]]
) -> Dataset:
    sizes = [len(each.right) for each in rows]
    return Dataset(
        name=name,
        columns=(*COLUMNS, *TASK_COLUMNS),
        latest=latest,
        X=np.concatenate([each.matrix for each in rows]),
        y=np.concatenate([each.right for each in rows]),
        query=np.repeat(np.arange(len(rows), dtype=np.int32), sizes),
        closed=np.concatenate([each.closed for each in rows]),
        by_task=np.concatenate([each.by_task for each in rows]),
        kind=np.array([asked.kind for asked, _ in found], np.int8),
        line=np.array([number for _, number in found], np.int32),
        wanted=np.array([len(asked.truth) for asked, _ in found], np.int32),
        weight=np.array([asked.weight for asked, _ in found], np.float32),
    )


def _saved(path: Path, folder: Path) -> str:
    began = time.perf_counter()
    dataset = make(path)
    save(dataset, folder)
    seconds = time.perf_counter() - began
    return f"{dataset.name:12} {len(dataset.kind):6} questions {len(dataset.y):8} rows {seconds:5.0f} s"


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit("Name the folder to write to, and the histories unless all are wanted.")
    folder = Path(sys.argv[1])
    paths = [Path(name) for name in sys.argv[2:]]
    if not paths:
        data = os.environ.get("GRAPHMEM_DATA")
        if not data:
            sys.exit("Name history files, or set GRAPHMEM_DATA to the public data's folder.")
        paths = sorted((Path(data) / "histories").glob("*.jsonl.gz"))
    wanted = [path for path in paths if not (folder / (path.name.partition(".")[0] + SUFFIX)).exists()]
    with ProcessPoolExecutor(2) as pool:
        for told in pool.map(_saved, wanted, [folder] * len(wanted)):
            print(told, flush=True)


if __name__ == "__main__":
    main()
