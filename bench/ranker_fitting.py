"""Owns the fit of the ranking models: which rows they learn from, the trees, and their files.

It is not the data (`bench.dataset`), nor any figure (`bench.ranker_figures`). LightGBM is seeded and runs
deterministically, so that the same data gives the same bytes.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.dataset import Dataset, counts

SEED = 20
TREES = 300
HARD = 50
"""So many of a question's wrong candidates, the hardest by the closed form, teach the order."""
GROUP = 80
"""About so many candidates of a question do: the right ones, the hard ones, and a sample."""
SURE = 10
"""So many of the hardest wrong ones teach the chance, the others by a sample of this share."""
SHARE = 0.15
QUESTIONS = 1_500
"""At most so many questions of one history teach, so that none outweighs the others."""
TOLERANCE = 1e-5
_GRAPH_VERSION = 15
_COMMON = {
    "learning_rate": 0.05,
    "num_leaves": 31,
    "max_bin": 127,
    "min_data_in_leaf": 60,
    "lambda_l2": 2.0,
    "feature_fraction": 0.6,
    "feature_fraction_seed": SEED,
    "bagging_fraction": 0.6,
    "bagging_freq": 1,
    "bagging_seed": SEED,
    "seed": SEED,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "verbosity": -1,
}
OBJECTIVES: dict[str, dict[str, object]] = {
    "order": {"objective": "lambdarank", "lambdarank_truncation_level": 30},
    "chance": {"objective": "binary"},
}

Numbers = NDArray[np.float32]


class Lesson(NamedTuple):
    """Rows to learn from: features, whether right, how much each counts, whose question, for a task alone."""

    X: Numbers
    y: NDArray[np.bool_]
    weight: Numbers
    query: NDArray[np.int32]
    by_task: NDArray[np.bool_]


class Lessons(NamedTuple):
    """What one history teaches each of the two objectives."""

    order: Lesson
    chance: Lesson


def lessons(dataset: Dataset, questions: int = QUESTIONS) -> Lessons:
    """Return what a history teaches; which rows is a function of its name and its data."""
    draw = np.random.default_rng([SEED, zlib.crc32(dataset.name.encode())])
    taught = np.zeros(len(dataset.kind), np.bool_)
    taught[draw.permutation(len(taught))[:questions]] = True
    query, right = dataset.query, dataset.y
    # Wrong candidates come first within their question, the hardest of them at its start.
    ranks = np.empty(len(right), np.int64)
    placed = np.lexsort((-dataset.closed, right, query))
    ranks[placed] = np.arange(len(right)) - dataset.starts()[query[placed]]
    lot = draw.random(len(right))

    rights = np.bincount(query, right, len(taught))
    wrongs = np.bincount(query, ~right, len(taught))
    rest = np.clip((GROUP - HARD - rights) / np.maximum(1.0, wrongs - HARD), 0.0, 1.0)
    orders = right | (ranks < HARD) | (lot < rest[query])
    orders &= (taught & (rights > 0))[query]

    chances = (right | (ranks < SURE) | (lot < SHARE)) & taught[query]
    counted = np.where(right | (ranks < SURE), 1.0, 1.0 / SHARE).astype(np.float32)
    # An order is judged by observations, a chance by edits.
    once = np.array([1.0 / counts(int(wanted)) for wanted in dataset.wanted], np.float32)
    return Lessons(_lesson(dataset, orders, once[query]), _lesson(dataset, chances, counted))


def _lesson(dataset: Dataset, kept: NDArray[np.bool_], counted: Numbers) -> Lesson:
    rows = np.flatnonzero(kept)
    query = dataset.query[rows]
    weight = dataset.weight[query] * counted[rows]
    return Lesson(dataset.X[rows], dataset.y[rows], weight, query, dataset.by_task[rows])


def fit(
    objective: str, taught: Sequence[Lesson], columns: int, *, with_task: bool, trees: int = TREES
) -> Any:
    """Return LightGBM trees on the first `columns` columns, learned from several histories.

    Without a task's words, candidates that came up for them alone teach nothing.
    """
    import lightgbm

    kept = [np.flatnonzero(~lesson.by_task | with_task) for lesson in taught]
    pairs = list(zip(taught, kept, strict=True))
    settings = {**_COMMON, **OBJECTIVES[objective]}
    data = lightgbm.Dataset(
        np.concatenate([lesson.X[rows, :columns] for lesson, rows in pairs]),
        np.concatenate([lesson.y[rows] for lesson, rows in pairs]).astype(np.float32),
        weight=np.concatenate([lesson.weight[rows] for lesson, rows in pairs]),
        params=settings,
    )
    if objective == "order":
        data.set_group(np.concatenate([_group_sizes(lesson.query[rows]) for lesson, rows in pairs]))
    return lightgbm.train(settings, data, num_boost_round=trees)


def _group_sizes(query: NDArray[np.int32]) -> NDArray[np.int64]:
    sizes = np.bincount(query)
    return sizes[sizes > 0]


def scores(trees: Any, rows: Numbers) -> Numbers:
    """Return (n,): what the trees add up to for (n, k) rows."""
    return np.asarray(trees.predict(rows, raw_score=True, num_threads=1), np.float32)


def as_onnx(trees: Any, name: str, rows: Numbers) -> bytes:
    """Return the trees as a file that needs no LightGBM, the same bytes for the same trees.

    Args:
        trees: of either objective; the file gives what they add up to.
        name: of the graph.
        rows: (n, k) real rows, on which the file is held against the trees.

    Raises:
        ArithmeticError: they differ by more than `TOLERANCE`.
    """
    # What onnxruntime would tell its makers as it is imported stays untold.
    os.putenv("ORT_DISABLE_TELEMETRY", "1")
    import lightgbm
    import onnxruntime  # type: ignore[import-untyped]
    from onnxmltools.convert import convert_lightgbm  # type: ignore[import-untyped]
    from onnxmltools.convert.common.data_types import FloatTensorType  # type: ignore[import-untyped]

    # The converter would add a sigmoid to a chance and knows no ranking; a regression is the sum itself.
    text = re.sub(r"^objective=.*$", "objective=regression", trees.model_to_string(), flags=re.MULTILINE)
    text = re.sub(r"^threshold=(.*)$", _as_single, text, flags=re.MULTILINE)
    # Their lengths are others now; without this line the trees are read one after the other.
    text = re.sub(r"^tree_sizes=.*\n", "", text, flags=re.MULTILINE)
    plain = lightgbm.Booster(model_str=text)
    plain.params["objective"] = "regression"
    graph = convert_lightgbm(
        plain,
        name=name,
        initial_types=[("rows", FloatTensorType([None, rows.shape[1]]))],
        target_opset=_GRAPH_VERSION,
        zipmap=False,
    )
    content: bytes = graph.SerializeToString(deterministic=True)
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    found = session.run(None, {"rows": np.ascontiguousarray(rows)})[0].reshape(len(rows))
    off = float(np.abs(found - scores(trees, rows)).max(initial=0.0))
    if not off <= TOLERANCE:
        raise ArithmeticError(f"{name}: the exported trees differ by {off:.2g} from LightGBM's.")
    return content


def _as_single(line: re.Match[str]) -> str:
    """Return a tree's thresholds as the next lower single-precision numbers.

    The file holds single precision and would round to the nearest: a value between a threshold and its
    neighbour above would go the other way.
    """
    exact = [float(value) for value in line[1].split()]
    nearest = np.array(exact, np.float32)
    lower = np.where(nearest > exact, np.nextafter(nearest, np.float32(-np.inf)), nearest)
    return "threshold=" + " ".join(repr(float(value)) for value in lower)
