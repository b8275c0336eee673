"""Owns the columns by which a ranking model tells one candidate from another.

It is not who is a candidate (`candidates`), not the model, nor the closed form (`inference.combination`).
Everything is of the past of the question: the chronicle holds nothing later. Columns that need a task's words
are apart, as most questions have none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from inference.chronicle import Chronicle
from inference.file_columns import actors, likeness, standing
from inference.pair_columns import pairs
from inference.table import Column, Hearing, Question, Table
from inference.task_columns import task

PAIR_COLUMNS = (
    *("geom", "geom_share", "geom_best", "firm", "geom_actor", "seldom_year", "seldom_half_year"),
    *("plain_quarter", "confidence", "npmi", "together", "weighted", "company", "expected"),
    *("joint_k", "joint_size", "days_since", "fresh"),
)
FILE_COLUMNS = (
    *("query_changes", "file_changes", "heat", "query_heat", "file_days", "file_steps"),
    *("file_age", "query_days", "steps"),
)
NAME_COLUMNS = (
    *("same_folder", "depth", "distance", "same_stem", "stem_part", "same_extension", "same_base"),
    *("query_kind", "file_kind", "folder_along"),
)
ACTOR_COLUMNS = ("at_hand", "lately", "followed", "read_for", "about")
COLUMNS = (*PAIR_COLUMNS, *FILE_COLUMNS, *NAME_COLUMNS, *ACTOR_COLUMNS)
"""The columns of every question, in the order of the model."""
TASK_COLUMNS = (
    *("task_words", "task_words_share", "titles", "title_best", "titles_share"),
    *("path_overlap", "stem_overlap", "stem_letters", "joint_title", "geom_told"),
)
"""The further columns of a question that tells the task."""


_PARTS: tuple[Callable[[Table], dict[str, Column]], ...] = (pairs, standing, likeness, actors)


def columns(
    chronicle: Chronicle, question: Question, hearing: Hearing, files: Sequence[int]
) -> NDArray[np.float32]:
    """Return the matrix (n, k) of these candidates: `COLUMNS`, and `TASK_COLUMNS` where a task is told."""
    table = Table.of(chronicle, question, hearing, files)
    found: dict[str, Column] = {}
    for part in (*_PARTS, task) if question.words else _PARTS:
        found.update(part(table))
    names = (*COLUMNS, *TASK_COLUMNS) if question.words else COLUMNS
    matrix = np.empty((len(files), len(names)), np.float32)
    for column, name in enumerate(names):
        matrix[:, column] = found[name]
    return matrix
