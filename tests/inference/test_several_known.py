"""What several known files say together, and what speaks for a file that never changed along."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from inference.chronicle import Chronicle, State, Step
from inference.features import COLUMNS
from inference.ranker import Known, Query, alone, evidence, joined, ranking

PATHS = {1: "src/a.py", 2: "src/b.py", 3: "CHANGES.rst", 4: "docs/d.md"}


class Geom:
    """A model that says what co-change says."""

    def order(self, rows: NDArray[np.float32], with_task: bool) -> NDArray[np.float32]:
        return rows[:, COLUMNS.index("geom")]

    def chance(self, rows: NDArray[np.float32], with_task: bool) -> NDArray[np.float32]:
        return self.order(rows, with_task)


def same(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    return chances


@pytest.fixture
def chronicle() -> Chronicle:
    found = Chronicle(lambda path: path.split("/"))
    states = tuple(State(file, path, True) for file, path in PATHS.items())
    for day, edited in enumerate([(1, 3), (2, 3), (1, 2), (1, 4), (2, 3)], 1):
        found.push(
            Step(day, day, day * 86_400.0, day, 1, len(edited), edited, states=states if day == 1 else ())
        )
    return found


def query(*files: int, new: tuple[str, ...] = ()) -> Query:
    known = (*(Known(file, PATHS[file]) for file in files), *(Known(None, path) for path in new))
    return Query(known, 1e7)


def test_each_known_file_speaks_for_itself_and_the_answer_is_what_they_say_together(
    chronicle: Chronicle,
) -> None:
    single = alone(chronicle, Geom(), query(1, 2), same)
    assert len(single) == 2
    assert all({1, 2}.isdisjoint(chances) for chances in single)
    assert ranking(chronicle, Geom(), query(1, 2), same).probabilities == joined(single)
    assert len(alone(chronicle, Geom(), query(1, 2), same, at_most=1)) == 1


@pytest.mark.parametrize(
    ("said", "together"),
    [
        ([], {}),
        ([{1: 0.5}], {1: 0.5}),
        ([{1: 0.5}, {1: 0.5, 2: 0.1}], {1: 0.75, 2: 0.1}),
        ([{1: 1.0}, {1: 0.0}], {1: 1.0}),
    ],
)
def test_chances_are_joined_as_if_independent(
    said: list[dict[int, float]], together: dict[int, float]
) -> None:
    assert joined(said) == pytest.approx(together)


def test_a_file_that_is_often_part_of_work_on_a_new_files_folder_says_so(chronicle: Chronicle) -> None:
    asked = query(new=("src/new.py",))
    found = ranking(chronicle, Geom(), asked, same)
    entries = {entry.file: entry.signals for entry in evidence(chronicle, asked, found, [*PATHS])}
    assert entries[3] == ("near_folder",)
    assert entries[1] == ("same_folder", "near_folder")
    assert entries[4] == ()
