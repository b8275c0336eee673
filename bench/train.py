"""Where the shipped ranking models come from, and how good they are on projects that they never saw.

    python -m bench.train                     # `make train`: the models, their card, and the figures
    python -m bench.train --cache FOLDER      # datasets that were made before (`python -m bench.making`)

Two objectives, each with and without a task's words: `order` ranks, `chance` says how likely. The histories
are dealt into folds; figures and pooled curves are of the histories that a fold's models left out. At last
one model of each is trained on all of them and shipped. The same datasets give the same files, byte for byte.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.dataset import Dataset, Kind, files, load
from bench.ranker_figures import Numbers
from bench.ranker_fitting import QUESTIONS, TREES, Lessons, as_onnx, fit, lessons, scores
from bench.ranker_page import page_of
from bench.ranker_report import Held, Report, report
from graphmem.ranking_card import CARD, VERSION, Card, Columns, file_of
from graphmem.ranking_model import FOLDER
from inference.features import COLUMNS, TASK_COLUMNS

FOLDS = 3
PROCESSES = 2
PAGE = Path(__file__).resolve().parents[1] / "docs" / "model-card.md"
_PROBES = 2_000
"""So many real rows hold an exported file against its trees."""
_OURS = Columns(COLUMNS, TASK_COLUMNS)
_MODELS = tuple((role, with_task) for role in ("order", "chance") for with_task in (False, True))


class Job(NamedTuple):
    """One model to train: its role, and the fold it leaves out, None for the one that is shipped."""

    role: str
    with_task: bool
    fold: int | None


class Course(NamedTuple):
    """What all jobs share: the datasets' files, what each teaches, and how much is learned."""

    paths: Sequence[Path]
    taught: Sequence[Lessons]
    columns: Columns
    folds: int
    trees: int


_course: Course
"""Set before the processes are forked, so that none has to read it again."""


def main() -> None:
    """Train, write the models and the card, and print the figures."""
    parser = argparse.ArgumentParser(description="Train the ranking models and report on them.")
    parser.add_argument("--cache", type=Path, default=Path("build/training"), help="where the datasets are")
    parser.add_argument("--out", type=Path, default=FOLDER, help="where the models and card.json go")
    parser.add_argument("--page", type=Path, default=PAGE, help="where the model card for readers goes")
    parser.add_argument("--folds", type=int, default=FOLDS, help="how often projects are left out")
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="of each history, at most")
    parser.add_argument("--trees", type=int, default=TREES)
    parser.add_argument(
        "--without", nargs="*", default=[], metavar="NAME", help="histories to leave out, to report on them"
    )
    given = parser.parse_args()
    paths = [path for path in files(given.cache) if path.stem not in given.without]
    if len(paths) < given.folds:
        parser.error(f"{given.cache} holds {len(paths)} datasets: make them with `python -m bench.making`.")
    train(paths, given.out, given.page, folds=given.folds, questions=given.questions, trees=given.trees)


def train(
    paths: Sequence[Path],
    out: Path,
    page: Path,
    *,
    columns: Columns = _OURS,
    folds: int = FOLDS,
    questions: int = QUESTIONS,
    trees: int = TREES,
    processes: int = PROCESSES,
) -> Card:
    """Train on datasets, write what is shipped, print the figures and return the card.

    Raises:
        ValueError: a dataset has other columns than the features have now.
        ArithmeticError: an exported file does not answer as its trees do.
    """
    global _course
    began = time.monotonic()
    taught, latest = [], 0.0
    for path in paths:
        dataset = load(path)
        if dataset.columns != columns.names(True):
            raise ValueError(
                f"{path} has other columns than the features have now: delete it and make it anew."
            )
        taught.append(lessons(dataset, questions))
        latest = max(latest, dataset.latest)
    _course = Course(paths, taught, columns, folds, trees)
    print(
        f"{len(paths)} histories, {sum(len(each.order.y) for each in taught):,} rows for the order,"
        f" {sum(len(each.chance.y) for each in taught):,} for the chance",
        flush=True,
    )

    jobs = [Job(role, with_task, fold) for fold in (*range(folds), None) for role, with_task in _MODELS]
    contents: dict[tuple[str, bool], bytes] = {}
    held: dict[tuple[str, bool], dict[str, Numbers]] = {model: {} for model in _MODELS}
    with ProcessPoolExecutor(processes, multiprocessing.get_context("fork")) as pool:
        for job, content, found in pool.map(_run, jobs):
            held[job.role, job.with_task].update(found)
            if content is not None:
                contents[job.role, job.with_task] = content
            print(
                f"{time.monotonic() - began:6.0f} s  {job.role}{' with task' * job.with_task}"
                f" {'all' if job.fold is None else f'fold {job.fold + 1}'}",
                flush=True,
            )
    results = report([_held(path, held) for path in paths], folds)
    print("\n".join(results.lines))
    return _write(contents, results, columns, latest, out, page, [path.stem for path in paths])


def _run(job: Job) -> tuple[Job, bytes | None, dict[str, Numbers]]:
    """Train one model; return its file, or what it says of the histories that it left out."""
    course = _course
    size = len(course.columns.names(job.with_task))
    lesson = [
        getattr(each, job.role) for place, each in enumerate(course.taught) if not _left_out(place, job)
    ]
    trees = fit(job.role, lesson, size, with_task=job.with_task, trees=course.trees)
    if job.fold is None:
        name = file_of(job.role, job.with_task).removesuffix(".onnx")
        probes = np.concatenate([each.X[:: max(1, len(each.X) // 50), :size] for each in lesson])
        return job, as_onnx(trees, name, probes[:_PROBES]), {}
    found = {}
    for place, path in enumerate(course.paths):
        if _left_out(place, job):
            found[path.stem] = _said(load(path), trees, size, job)
    return job, None, found


def _said(dataset: Dataset, trees: Any, size: int, job: Job) -> Numbers:
    """Return (n,): the trees' sums, minus infinity for what is no candidate and for what no figure needs."""
    asked = (dataset.kind != Kind.TRAINING)[dataset.query] | (job.role == "chance")
    rows = np.flatnonzero(asked & (~dataset.by_task | job.with_task))
    told = np.full(len(dataset.y), -np.inf, np.float32)
    told[rows] = scores(trees, dataset.X[rows, :size])
    return told


def _left_out(place: int, job: Job) -> bool:
    return job.fold is not None and place % _course.folds == job.fold


def _held(path: Path, scored: Mapping[tuple[str, bool], Mapping[str, Numbers]]) -> Held:
    """Return a history's questions, without their features, and what was said of them."""
    dataset = load(path)
    orders, chances = (
        (scored[role, False][path.stem], scored[role, True][path.stem]) for role in ("order", "chance")
    )
    return Held(dataset._replace(X=dataset.X[:0]), orders, (_odds(chances[0]), _odds(chances[1])))


def _odds(sums: Numbers) -> Numbers:
    """Return the chance that trees' sums stand for, minus infinity where there is none."""
    found = np.exp(-np.logaddexp(0.0, -sums))
    return np.where(np.isfinite(sums), found, -np.inf).astype(np.float32)


def _write(
    contents: Mapping[tuple[str, bool], bytes],
    results: Report,
    columns: Columns,
    latest: float,
    out: Path,
    page: Path,
    histories: Sequence[str],
) -> Card:
    """Write the models, then their card, then the page for readers."""
    out.mkdir(parents=True, exist_ok=True)
    for model, content in contents.items():
        (out / file_of(*model)).write_bytes(content)
    card = Card(
        version=VERSION,
        made=datetime.now(UTC).date(),
        cutoff=datetime.fromtimestamp(latest, UTC).date(),
        columns=columns,
        digests={file_of(*model): hashlib.sha256(content).hexdigest() for model, content in contents.items()},
        curves=results.curves,
        figures={**results.figures, "trained_on": list(histories)},
    )
    (out / CARD).write_text(card.as_json(), encoding="utf-8")
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(page_of(card, results, histories), encoding="utf-8")
    return card


if __name__ == "__main__":
    main()
