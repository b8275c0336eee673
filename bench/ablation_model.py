"""Owns what each group of columns, and each source of candidates, gives to a ranking model that goes without.

It is not the shipped models' training (`bench.train`): for each row of the table a small model learns from
few questions, as only the differences are told. Trained on some histories, measured on others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.ablation_table import Row
from bench.dataset import SUFFIX, Dataset, Kind, load
from bench.ranker_figures import order_figures
from bench.ranker_fitting import SEED, Lesson, fit, lessons, scores
from inference.features import (
    ACTOR_COLUMNS,
    COLUMNS,
    FILE_COLUMNS,
    NAME_COLUMNS,
    PAIR_COLUMNS,
    TASK_COLUMNS,
)

_JOINT_TITLES = ("joint_title", "geom_told")
GROUPS: Mapping[str, tuple[str, ...]] = {
    "without the pair's columns": PAIR_COLUMNS,
    "without the file's": FILE_COLUMNS,
    "without the names'": NAME_COLUMNS,
    "without the actor's": ACTOR_COLUMNS,
}
TASK_GROUPS: Mapping[str, tuple[str, ...]] = {
    "without the task's": TASK_COLUMNS,
    "without words of past work": ("task_words", "task_words_share"),
    "without likeness of titles": ("titles", "title_best", "titles_share"),
    "without words of the path": ("path_overlap", "stem_overlap", "stem_letters"),
    "without joint titles": _JOINT_TITLES,
    "without the pair's and joint titles": (*PAIR_COLUMNS, *_JOINT_TITLES),
}
WEAKEST = (5, 10, 15, 20)
"""So many of the columns by which the training's trees gained least are left out."""

Flags = NDArray[np.bool_]


class School(NamedTuple):
    """What the small models learn from and are measured on."""

    taught: Sequence[Lesson]
    measured: Sequence[Dataset]
    trees: int


def school(
    cache: Path, taught: Sequence[str], measured: Sequence[str], questions: int, asked: int, trees: int
) -> School:
    """Read the datasets of histories by name, so many questions of each.

    Raises:
        ValueError: a dataset is missing, or has other columns than the features have now.
    """
    lesson = [lessons(_read(cache, name), questions).order for name in taught]
    return School(lesson, [tested(_read(cache, name), asked) for name in measured], trees)


def _read(cache: Path, name: str) -> Dataset:
    file = cache / (name + SUFFIX)
    if not file.exists():
        raise ValueError(f"{file} is missing: make it with `python -m bench.making {cache}`.")
    dataset = load(file)
    if dataset.columns != (*COLUMNS, *TASK_COLUMNS):
        raise ValueError(f"{file} has other columns than the features have now: delete it and make it anew.")
    return dataset


def tested(dataset: Dataset, asked: int) -> Dataset:
    """Return only so many of the questions about several files, and about new ones, drawn by a fixed seed."""
    draw = np.random.default_rng(SEED)
    chosen = [
        draw.permutation(np.flatnonzero((dataset.kind == kind) & (dataset.wanted > 0)))[:asked]
        for kind in (Kind.SEVERAL, Kind.NEW_FILE)
    ]
    kept = np.sort(np.concatenate(chosen))
    rows = np.flatnonzero(np.isin(dataset.query, kept))
    return dataset._replace(
        X=dataset.X[rows],
        y=dataset.y[rows],
        query=np.searchsorted(kept, dataset.query[rows]).astype(np.int32),
        closed=dataset.closed[rows],
        by_task=dataset.by_task[rows],
        kind=dataset.kind[kept],
        line=dataset.line[kept],
        wanted=dataset.wanted[kept],
        weight=dataset.weight[kept],
    )


# ---- columns -----------------------------------------------------------------------------------


def rows_of(given: School) -> Iterator[Row]:
    """Yield the rows of the table as they are found: columns, candidates; without a task, then with one."""
    for with_task in (False, True):
        names = (*COLUMNS, *TASK_COLUMNS) if with_task else COLUMNS
        part = "columns, task told" if with_task else "columns"
        trees = _trees(given, names, with_task=with_task)
        yield _row(part, "all", given, trees, names, with_task)
        for label, left_out in (GROUPS | TASK_GROUPS if with_task else GROUPS).items():
            kept = _without(names, left_out)
            fewer = _trees(given, kept, with_task=with_task)
            yield _row(part, label, given, fewer, kept, with_task)
        weakest = by_gain(trees, names)
        for count in WEAKEST:
            kept = _without(names, weakest[:count])
            fewer = _trees(given, kept, with_task=with_task)
            yield _row(part, f"without the {count} that give least", given, fewer, kept, with_task)
        yield Row(part, "those that give least: " + ", ".join(weakest[: WEAKEST[-1]]), {})
        yield from _by_candidates(given, trees, with_task=with_task)


def _without(names: Sequence[str], left_out: Collection[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in left_out)


def _places(names: Sequence[str]) -> list[int]:
    every = (*COLUMNS, *TASK_COLUMNS)
    return [every.index(name) for name in names]


def _trees(given: School, names: Sequence[str], *, with_task: bool) -> Any:
    places = _places(names)
    taught = [lesson._replace(X=lesson.X[:, places]) for lesson in given.taught]
    return fit("order", taught, len(places), with_task=with_task, trees=given.trees)


def by_gain(trees: Any, names: Sequence[str]) -> list[str]:
    """Return the columns, those by which the trees gained least first."""
    gain = trees.feature_importance("gain")
    return [names[place] for place in np.argsort(gain, kind="stable")]


def _row(part: str, label: str, given: School, trees: Any, names: Sequence[str], with_task: bool) -> Row:
    places = _places(names)
    figures = {}
    for dataset in given.measured:
        told = scores(trees, dataset.X[:, places])
        if not with_task:
            told = np.where(dataset.by_task, -np.inf, told).astype(np.float32)
        found = order_figures(dataset, told, Kind.SEVERAL)
        if found is not None:
            figures[dataset.name] = found
    return Row(part, label, figures)


# ---- candidates --------------------------------------------------------------------------------


def _by_candidates(given: School, trees: Any, *, with_task: bool) -> Iterator[Row]:
    """Yield how the same model does when only files from some of the sources are candidates."""
    size = len(COLUMNS) + with_task * len(TASK_COLUMNS)
    told = [(dataset, scores(trees, dataset.X[:, :size]), sources(dataset)) for dataset in given.measured]
    labels = [label for label in told[0][2] if with_task or label != "and told alike: all"]
    for kind, asked in ((Kind.SEVERAL, "candidates"), (Kind.NEW_FILE, "candidates for a new file")):
        for label in reversed(labels):
            figures = {}
            for dataset, said, masks in told:
                kept = np.where(masks[label], said, -np.inf).astype(np.float32)
                found = order_figures(dataset, kept, kind)
                if found is not None:
                    figures[dataset.name] = found
            yield Row(f"{asked}, task told" if with_task else asked, label, figures)


def sources(dataset: Dataset) -> dict[str, Flags]:
    """Return which rows are candidates when one source after the other is added."""
    held = {name: dataset.X[:, place] > 0.0 for place, name in enumerate(dataset.columns)}
    together = held["together"]
    lately = together | held["at_hand"] | held["followed"] | held["read_for"]
    beside = lately | held["same_folder"]
    named = beside | held["same_stem"] | held["folder_along"]
    return {
        "changed together alone": together & ~dataset.by_task,
        "and in hand or next": lately & ~dataset.by_task,
        "and in the folder": beside & ~dataset.by_task,
        "and named alike": named & ~dataset.by_task,
        "and busy: all without a task": ~dataset.by_task,
        "and told alike: all": np.ones(len(dataset.y), np.bool_),
    }
