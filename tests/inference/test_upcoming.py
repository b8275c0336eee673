"""The following piece of work, where all work is held in memory: who is busy, whose work it is, the task."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.chronicle import NO_PAIR_SIZE, Chronicle, State, Step
from inference.signals import signals
from inference.upcoming import Around, all_terms, next_files

DAY = 86_400.0
ME, OTHER = 1, 2


def step(number: int, *files: int, actor: int = ME, words: Sequence[str] = (), **more: float) -> Step:
    at = more.get("at", number * 3_600.0)
    states = tuple(State(file, f"f{file}.py", file not in (more.get("gone"),)) for file in files)
    size = len(files) if len(files) <= 100 else NO_PAIR_SIZE
    return Step(number, number, at, number, actor, size, files, (), tuple(words), (), states)


def work(*steps: Step) -> Chronicle:
    chronicle = Chronicle(lambda path: ())
    for each in steps:
        chronicle.push(each)
    return chronicle


def guessed(
    chronicle: Chronicle, *files: int, now: float = 100 * DAY, words: Sequence[str] = ()
) -> list[int]:
    histories = [chronicle.history(file) for file in files]
    around = Around(chronicle, now, ME, tuple(words))
    return [file for file, _ in next_files(histories, chronicle.recent_of(ME), None, around)]


def test_what_was_busy_lately_comes_before_what_has_rested() -> None:
    chronicle = work(
        step(1, 5, actor=OTHER, at=DAY), step(2, 6, actor=OTHER, at=99 * DAY), step(3, 7, at=99.5 * DAY)
    )
    assert guessed(chronicle, 7) == [6, 5]


def test_the_actors_own_work_comes_before_that_of_others() -> None:
    chronicle = work(step(1, 5), step(2, 6, actor=OTHER), step(3, 7))
    assert guessed(chronicle, 7)[0] == 5


def test_work_told_with_the_words_of_the_task_is_likelier() -> None:
    told = work(
        step(1, 5, actor=OTHER, words=["login"]), step(2, 6, actor=OTHER, words=["cache"]), step(3, 7)
    )
    assert guessed(told, 7) == [6, 5]
    assert guessed(told, 7, words=["login"]) == [5, 6]


def test_gone_files_the_present_ones_and_those_of_bulk_are_not_guessed() -> None:
    bulk = step(3, *range(100, 250), actor=OTHER)
    chronicle = work(step(1, 5, 7), step(2, 5, gone=5), bulk, step(4, 6))
    assert guessed(chronicle, 7) == [6]


def test_without_anything_known_nothing_is_guessed() -> None:
    assert next_files([], (), None, Around(work(), 0.0)) == []


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=4, unique=True), min_size=1, max_size=12))
def test_guesses_are_probabilities_in_order_and_the_same_every_time(history: list[list[int]]) -> None:
    chronicle = work(*(step(n, *files, words=[f"w{n % 3}"]) for n, files in enumerate(history, 1)))
    asked = [chronicle.history(history[-1][0])]
    around = Around(chronicle, 0.0, ME, ("w1",))
    found = next_files(asked, chronicle.recent_of(ME), None, around)
    assert all(0.0 < chance < 1.0 for _, chance in found)
    assert [chance for _, chance in found] == sorted((chance for _, chance in found), reverse=True)
    assert history[-1][0] not in dict(found)
    assert found == next_files(asked, chronicle.recent_of(ME), None, around)


@pytest.mark.parametrize("now", [-1e12, 0.0, 1e12])
def test_the_moment_may_be_any(now: float) -> None:
    chronicle = work(step(1, 5, 6), step(2, 5, 7))
    around = Around(chronicle, now, ME)
    rows = all_terms(signals([chronicle.history(5)]), [6, 7], around)
    assert rows.shape == (2, 6)
    assert bool((abs(rows) < 50.0).all())
