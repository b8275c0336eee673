"""The threshold that the past gives: rising steps, a target that is met, bounds, and too short a past."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.calibration import CEILING, ENTRIES, FLOOR, QUESTIONS, TARGET, Step, isotonic, threshold

ENTRIES_OF_A_PAST = st.lists(
    st.tuples(st.sampled_from([number / 40 for number in range(41)]), st.booleans()), max_size=60
)


def past(*groups: tuple[float, int, int]) -> list[tuple[float, bool]]:
    """Entries of a probability each: so many, so many of them right."""
    return [(said, number < right) for said, count, right in groups for number in range(count)]


def test_what_rises_is_left_as_it_is() -> None:
    assert isotonic(past((0.5, 4, 1), (0.7, 4, 2), (0.9, 4, 4))) == [
        Step(0.5, 4, 1),
        Step(0.7, 4, 2),
        Step(0.9, 4, 4),
    ]


def test_neighbours_that_fall_are_one_step_from_the_lower_one_on() -> None:
    assert isotonic(past((0.5, 4, 3), (0.6, 4, 1), (0.9, 4, 4))) == [Step(0.5, 8, 4), Step(0.9, 4, 4)]


@given(ENTRIES_OF_A_PAST)
def test_steps_rise_and_lose_no_entry(entries: list[tuple[float, bool]]) -> None:
    steps = isotonic(entries)
    assert all(lower.level < upper.level and lower.said < upper.said for lower, upper in pairwise(steps))
    assert sum(step.entries for step in steps) == len(entries)
    assert sum(step.right for step in steps) == sum(right for _, right in entries)


@given(ENTRIES_OF_A_PAST)
def test_no_rising_function_fits_better_than_the_steps(entries: list[tuple[float, bool]]) -> None:
    steps = isotonic(entries)

    def level(said: float) -> float:
        return next(step.level for step in reversed(steps) if said >= step.said)

    def loss(shift: float, above: float) -> float:
        return sum(
            (min(1.0, level(said) + (shift if said >= above else 0.0)) - right) ** 2
            for said, right in entries
        )

    assert all(
        loss(0.0, 0.0) <= loss(shift, above) + 1e-9 for shift in (0.05, 0.2) for above in (0.0, 0.5, 0.9)
    )


def test_the_threshold_is_the_lowest_probability_from_which_the_target_is_met() -> None:
    entries = past((0.5, 100, 20), (0.6, 50, 35), (0.7, 50, 38), (0.9, 50, 48))
    assert threshold(entries, QUESTIONS) == 0.6
    assert threshold(entries, QUESTIONS, target=0.85) == 0.7
    assert threshold(entries, QUESTIONS, target=0.95) == 0.9


@given(ENTRIES_OF_A_PAST)
def test_from_the_threshold_on_the_target_is_met_unless_the_ceiling_holds(
    entries: list[tuple[float, bool]],
) -> None:
    found = threshold(entries, QUESTIONS)
    if found is None:
        assert sum(said >= FLOOR for said, _ in entries) < ENTRIES
        return
    assert FLOOR <= found <= CEILING
    above = [right for said, right in entries if said >= found]
    if FLOOR < found < CEILING:
        assert sum(above) >= TARGET * len(above)


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        (((0.8, 100, 0),), CEILING),
        (((0.97, 40, 40), (0.8, 100, 0)), CEILING),
        (((0.4, 100, 100), (0.8, 100, 100)), FLOOR),
    ],
)
def test_the_threshold_stays_between_floor_and_ceiling(
    groups: tuple[tuple[float, int, int], ...], expected: float
) -> None:
    assert threshold(past(*groups), QUESTIONS) == expected


def test_a_short_past_gives_none() -> None:
    enough = past((0.8, ENTRIES, ENTRIES))
    assert threshold(enough, QUESTIONS) is not None
    assert threshold(enough, QUESTIONS - 1) is None
    assert threshold(enough[1:], QUESTIONS) is None
    assert threshold([*enough[1:], (0.49, True)], QUESTIONS) is None
    assert threshold([], 0) is None


def test_the_order_of_the_entries_changes_nothing() -> None:
    entries = past((0.5, 30, 9), (0.72, 30, 22), (0.9, 30, 29))
    assert threshold(entries, QUESTIONS) == threshold(entries[::-1], QUESTIONS)
