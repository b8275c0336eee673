"""Owns what the ranking models are trained on: one history's questions as rows of features, kept in a file.

It is not the training (`bench.train`), nor what a column means (`inference.features`).
"""

from __future__ import annotations

import zipfile
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inference.replay import Rules

SUFFIX = ".npz"


class Kind(IntEnum):
    """What a question is for; figures are told of the test period alone."""

    TRAINING = 0
    SEVERAL = 1
    SINGLE = 2
    NEW_FILE = 3


class Dataset(NamedTuple):
    """One history's questions and their candidates.

    n rows of k columns, one a candidate of a question; m questions. Rows of a question lie together and
    questions are in order.

    Attributes:
        name: the history's name.
        columns: names of the k columns: those of every question first, then those that need a task's words.
        latest: the latest moment in the history, epoch seconds.
        X: float32 (n, k).
        y: bool (n,): the candidate was right.
        query: int32 (n,): number of the row's question.
        closed: float32 (n,): the closed form's score of the candidate, the higher the better.
        by_task: bool (n,): a candidate for the task's words alone, unknown to a question without them.
        kind: int8 (m,), see `Kind`.
        line: int32 (m,): the observation that answers the question.
        wanted: int32 (m,): how many were right, those that are no candidates included.
        weight: float32 (m,): how much the question counts, so that each edit counts once, see `counts`.
    """

    name: str
    columns: tuple[str, ...]
    latest: float
    X: NDArray[np.float32]
    y: NDArray[np.bool_]
    query: NDArray[np.int32]
    closed: NDArray[np.float32]
    by_task: NDArray[np.bool_]
    kind: NDArray[np.int8]
    line: NDArray[np.int32]
    wanted: NDArray[np.int32]
    weight: NDArray[np.float32]

    def starts(self) -> NDArray[np.int64]:
        """Return (m + 1,): where each question's rows begin, and at last n."""
        return np.searchsorted(self.query, np.arange(len(self.kind) + 1)).astype(np.int64)


def counts(wanted: int) -> int:
    """Return how many questions stand for an observation that changed so many files besides the queried one.

    In use each edit is a question; the public protocol asks eight of an observation at most.
    """
    return min(wanted + 1, Rules().queries)


def save(dataset: Dataset, folder: Path) -> Path:
    """Write a dataset into a folder under its own name, at once or not at all; return the file."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / (dataset.name + SUFFIX)
    fresh = file.with_suffix(".part")
    with fresh.open("wb") as stream:
        held: dict[str, Any] = {field: np.asarray(value) for field, value in dataset._asdict().items()}
        np.savez_compressed(stream, **held)
    fresh.replace(file)
    return file


def load(file: Path) -> Dataset:
    """Read a dataset.

    Raises:
        ValueError: the file is none; the sentence names it and the remedy.
    """
    try:
        with file.open("rb") as stream, np.load(stream) as found:
            held = {field: found[field] for field in Dataset._fields}
    except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"{file} is no dataset of this version ({error}): delete it and make it anew."
        ) from error
    return Dataset(
        name=str(held.pop("name")),
        columns=tuple(str(column) for column in held.pop("columns")),
        latest=float(held.pop("latest")),
        **held,
    )


def files(folder: Path) -> list[Path]:
    """Return the datasets in a folder, by name."""
    return sorted(folder.glob("*" + SUFFIX))
