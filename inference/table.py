"""Owns what the columns of a question are made from: who asks about what, what is heard, the rows described.

It is not the columns themselves (`pair_columns`, `file_columns`, `task_columns`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from inference.chronicle import Chronicle, Trail
from inference.evidence import FileHistory, Occasion
from inference.naming import Name, named
from inference.signals import Signals

Column = NDArray[np.float64]

DAY = 86_400.0
NEVER_DAYS = 9_999.0
SMALL = 30
"""Occasions of so many files at most count as work on these files."""


@dataclass(frozen=True, slots=True)
class Question:
    """One queried file, by number and path, and who asks when; `file` is None for one never seen.

    `now` is in epoch seconds; `words` are those of the task, `()` when it is not told; `beside` are files
    that are known to change too, and so are no candidates.
    """

    file: int | None
    path: str
    now: float
    actor: int | None = None
    words: Sequence[str] = ()
    beside: frozenset[int] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True)
class Hearing:
    """What is known when a question is asked: the file's history, its signals, the actor's last work."""

    history: FileHistory
    heard: Signals
    recent: Sequence[Occasion]


@dataclass(frozen=True, slots=True)
class Table:
    """The rows that are described, candidates with their trails, and the queried file's trail and name."""

    chronicle: Chronicle
    question: Question
    hearing: Hearing
    files: tuple[int, ...]
    trails: tuple[Trail, ...]
    asked: Trail
    name: Name

    @classmethod
    def of(cls, chronicle: Chronicle, question: Question, hearing: Hearing, files: Sequence[int]) -> Table:
        """Return the table of these candidates, which the chronicle must know."""
        asked = Trail(-1) if question.file is None else chronicle.files.get(question.file, Trail(-1))
        trails = tuple(chronicle.files[file] for file in files)
        return cls(chronicle, question, hearing, tuple(files), trails, asked, named(question.path))

    def column(self, values: Iterable[float]) -> Column:
        """Return values, one a row, as a column."""
        return np.fromiter(values, float, len(self.files))

    def filled(self, value: float) -> Column:
        """Return a column of one value."""
        return np.full(len(self.files), value)

    def scores(self, scores: Mapping[int, float]) -> Column:
        """Return a column of scores by file, 0 for a file without one."""
        return self.column(map(scores.get, self.files, repeat(0.0)))

    def days(self, at: float | None) -> float:
        """Return how many days before the question something was, a large number for never."""
        return NEVER_DAYS if at is None else max(0.0, (self.question.now - at) / DAY)
