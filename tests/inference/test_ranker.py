"""The ranking by a model: order, probabilities, who is never named, several files, evidence."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from inference.chronicle import Chronicle, State, Step
from inference.evidence import Standing
from inference.features import COLUMNS
from inference.ranker import ASKED, Known, Query, Ranking, evidence, ranking
from inference.ranking import rank

DAY = 86_400.0
PATHS = {1: "src/a.py", 2: "src/b.py", 3: "src/c.py", 4: "tests/test_a.py", 5: "docs/d.md", 6: "src/gone.py"}


class ByColumn:
    """A model that goes by one column, or says the same of everybody."""

    def __init__(self, column: str | None = "geom") -> None:
        self._place = None if column is None else COLUMNS.index(column)

    def order(self, rows: NDArray[np.float32], with_task: bool) -> NDArray[np.float32]:
        return np.full(len(rows), 0.5, np.float32) if self._place is None else rows[:, self._place]

    def chance(self, rows: NDArray[np.float32], with_task: bool) -> NDArray[np.float32]:
        return np.clip(ByColumn.order(self, rows, with_task), 0.0, 1.0)


class Contrary(ByColumn):
    """Its order and its chances contradict each other."""

    def order(self, rows: NDArray[np.float32], with_task: bool) -> NDArray[np.float32]:
        return -super().order(rows, with_task)


def same(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    return chances


def step(day: int, *edited: int, **more: Any) -> Step:
    states = tuple(State(file, path, True) for file, path in PATHS.items()) if day == 1 else ()
    fields: dict[str, Any] = {"occasion": day, "at": day * DAY, "session": day // 2, "actor": 1}
    return Step(day, **fields | {"size": len(edited), "edited": edited, "states": states} | more)


def told(*steps: Step) -> Chronicle:
    chronicle = Chronicle(lambda path: path.split("/"))
    for one in steps:
        chronicle.push(one)
    return chronicle


def story() -> Chronicle:
    return told(
        step(1, 1, 2, concepts=((7, 0.5),), words=("login",)),
        step(2, 1, 3, 6, words=("cart",)),
        step(3, 1, 2, 5, concepts=((7, 0.5),)),
        step(4, 2, 3, actor=2),
        step(5, 4, read=(1,)),
        step(6, 6, states=(State(6, PATHS[6], False),)),
    )


def query(*files: int, words: tuple[str, ...] = (), new: tuple[str, ...] = ()) -> Query:
    known = (*(Known(file, PATHS[file]) for file in files), *(Known(None, path) for path in new))
    return Query(known, 100 * DAY, 1, words)


def test_the_highest_column_comes_first_with_the_highest_probability() -> None:
    found = ranking(story(), ByColumn(), query(1), same).probabilities
    assert list(found) == [2, 5, 3, 4]
    assert all(a >= b for a, b in pairwise(found.values()))
    total = sum(0.93**k for k in range(3))
    assert found[2] == pytest.approx((1 + 0.93**2) / (total + 0.25), rel=1e-5)


def test_equals_go_by_path() -> None:
    chronicle = told(step(1, 5, 4, 3, 2, 1))
    found = ranking(chronicle, ByColumn(None), query(1), same).probabilities
    assert [PATHS[file] for file in found] == sorted(PATHS[file] for file in found)
    assert set(found.values()) == {0.5}


def test_where_order_and_chance_contradict_each_other_the_order_holds() -> None:
    plain = ranking(story(), ByColumn(), query(1), same).probabilities
    turned = ranking(story(), Contrary(), query(1), same).probabilities
    assert list(turned.values()) == pytest.approx(list(plain.values()))
    assert list(turned)[-1] == next(iter(plain))


@pytest.mark.parametrize("asked", [(1,), (2,), (1, 2), (2, 1, 3), (5, 6)])
def test_asked_and_gone_files_are_never_named(asked: tuple[int, ...]) -> None:
    found = ranking(story(), ByColumn(None), query(*asked), same).probabilities
    assert {*asked, 6}.isdisjoint(found)


def test_several_known_files_are_combined_by_noisy_or() -> None:
    chronicle = story()
    single = [ranking(chronicle, ByColumn(), query(file), same).probabilities for file in (1, 2)]
    both = ranking(chronicle, ByColumn(), query(1, 2), same).probabilities
    for file in (3, 5):
        silent = (1 - single[0].get(file, 0.0)) * (1 - single[1].get(file, 0.0))
        assert both[file] == pytest.approx(1 - silent)
        assert both[file] > max(one[file] for one in single)


def test_of_many_known_files_those_named_last_are_asked_about() -> None:
    paths = {file: f"f{file}.py" for file in range(1, ASKED + 4)}
    states = tuple(State(file, path, True) for file, path in paths.items())
    chronicle = told(step(1, 1, ASKED + 3, states=states), *(step(n + 1, n) for n in range(2, ASKED + 2)))

    def asked(order: list[int]) -> float:
        known = tuple(Known(file, paths[file]) for file in order)
        found = ranking(chronicle, ByColumn(), Query(known, 100 * DAY), same)
        return found.probabilities.get(ASKED + 3, 0.0)

    others = list(range(2, ASKED + 2))
    assert asked([1, *others]) == 0.0 < asked([*others, 1])


def test_a_new_file_has_companions_by_its_name() -> None:
    found = ranking(story(), ByColumn("same_folder"), query(new=("src/new.py",)), same)
    assert [file for file, chance in found.probabilities.items() if chance == 1.0] == [1, 2, 3]
    assert found.histories == ()
    assert ranking(told(), ByColumn(), query(new=("src/new.py",)), same).probabilities == {}


def test_nobody_is_named_in_a_project_of_one_file() -> None:
    chronicle = told(Step(1, 1, DAY, 1, 1, 1, (1,), states=(State(1, "src/a.py", True),)))
    assert ranking(chronicle, ByColumn(), query(1), same).probabilities == {}


@settings(max_examples=25)
@given(st.lists(st.floats(0.0, 1.0), min_size=4, max_size=4).map(sorted), st.sampled_from([(1,), (1, 2)]))
def test_a_curve_that_rises_keeps_the_order(levels: list[float], asked: tuple[int, ...]) -> None:
    def curve(chances: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.interp(chances, [0.0, 0.3, 0.6, 1.0], levels)

    chronicle = story()
    found = ranking(chronicle, ByColumn(), query(*asked), curve).probabilities
    assert all(a >= b for a, b in pairwise(found.values()))
    assert all(0.0 <= chance <= 1.0 for chance in found.values())
    if len(asked) == 1 and len(set(levels)) == len(levels):
        plain = ranking(chronicle, ByColumn(), query(*asked), same).probabilities
        strict = [file for file in plain if list(plain.values()).count(plain[file]) == 1]
        assert [file for file in found if file in strict] == strict


def test_the_same_question_has_the_same_answer() -> None:
    for asked in (query(1), query(1, 2, words=("login", "cart"))):
        assert ranking(story(), ByColumn(), asked, same) == ranking(story(), ByColumn(), asked, same)


# ---- evidence ------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", [(1,), (2,), (1, 2), (3, 1)])
def test_the_evidence_is_that_of_the_closed_form(asked: tuple[int, ...]) -> None:
    chronicle = story()
    found = ranking(chronicle, ByColumn(), query(*asked), same)
    entries = evidence(chronicle, query(*asked), found, list(found.probabilities))
    living = {file: Standing(path) for file, path in PATHS.items() if chronicle.files[file].alive}
    closed = {
        entry.file: entry
        for entry in rank(found.histories, {}, living, found.recent, among=living, heard=found.heard)
    }
    linked = [entry for entry in entries if entry.together]
    assert linked
    for entry in linked:
        other = closed[entry.file]
        for name in ("together", "of", "sessions", "last_seen", "keys", "file_score", "temporal_score"):
            assert getattr(entry, name) == getattr(other, name)
    assert all(entry.probability == found.probabilities[entry.file] for entry in entries)


def reasons(file: int, asked: Query) -> set[str]:
    chronicle = story()
    found: Ranking = ranking(chronicle, ByColumn(), asked, same)
    (entry,) = evidence(chronicle, asked, found, [file])
    return set(entry.signals)


def test_an_entry_says_what_speaks_for_it() -> None:
    assert {"co_changes", "same_folder", "about", "in_hand"} <= reasons(2, query(1))
    assert "named_alike" in reasons(4, query(1))
    assert {"task", "co_changes"} <= reasons(3, query(1, words=("cart",)))
    assert "task" not in reasons(5, query(1, words=("cart",)))
    assert reasons(5, query(new=("web/new.ts",))) <= {"in_hand"}
    assert "named_alike" in reasons(2, query(new=("web/b.ts",)))


def test_where_a_curve_is_level_the_model_s_order_stays() -> None:
    rising = ranking(story(), ByColumn("geom"), query(1), same)
    level = ranking(story(), ByColumn("geom"), query(1), lambda chances: np.full_like(chances, 0.4))
    assert list(level.probabilities) == list(rising.probabilities)
    assert set(level.probabilities.values()) == {0.4}
