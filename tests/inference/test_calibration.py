"""What the past says of probabilities: a curve that rises and is drawn to others' while the past is short.

And the threshold from which enough comes true: a target that is met, bounds, and too short a past.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference.calibration import (
    CEILING,
    ENTRIES,
    FLOOR,
    QUESTIONS,
    TARGET,
    WORTH,
    Curve,
    Entry,
    blended,
    threshold,
)

SAID = st.sampled_from([number / 40 for number in range(41)])
PASTS = st.lists(st.builds(Entry, SAID, st.booleans(), st.sampled_from([0.5, 1.0, 4.0])), max_size=60)
FEW = settings(max_examples=40)
LEVELS = st.lists(SAID, min_size=2, max_size=6).map(sorted)
PRIORS = LEVELS.map(lambda levels: Curve(tuple(np.linspace(0.0, 1.0, len(levels))), tuple(levels)))
HONEST = Curve((0.0, 1.0), (0.0, 1.0))


def past(*groups: tuple[float, int, int]) -> list[Entry]:
    """Entries of a probability each: so many, so many of them right."""
    return [Entry(said, number < right) for said, count, right in groups for number in range(count)]


def worth(curve: Curve, said: float) -> float:
    return float(curve.at(np.array([said]))[0])


# ---- the curve -----------------------------------------------------------------------------------


def test_a_curve_goes_straight_between_its_points_and_level_beyond_them() -> None:
    found = Curve((0.2, 0.6), (0.1, 0.5)).at(np.array([0.0, 0.2, 0.4, 0.6, 1.0]))
    assert found == pytest.approx([0.1, 0.1, 0.3, 0.5, 0.5])


@FEW
@given(PASTS, PRIORS)
def test_what_a_probability_is_worth_rises_and_stays_a_share(entries: list[Entry], prior: Curve) -> None:
    curve = blended(entries, prior)
    assert len(curve.said) == len(curve.came_true) > 0
    assert all(a < b for a, b in pairwise(curve.said))
    assert all(a <= b for a, b in pairwise(curve.came_true))
    found = curve.at(np.linspace(0.0, 1.0, 101))
    assert found.min() >= 0.0 and found.max() <= 1.0
    assert (np.diff(found) >= 0.0).all()


@FEW
@given(PRIORS)
def test_without_a_past_the_curve_is_that_of_many_projects(prior: Curve) -> None:
    steep = prior._replace(came_true=tuple(0.5 * (a + b) for a, b in zip(*prior, strict=True)))
    inside = (np.arange(40) + 0.5) / 40
    assert blended([], steep).at(inside) == pytest.approx(steep.at(inside), abs=1e-9)


def test_a_short_past_moves_the_curve_a_little_and_a_long_one_draws_it_to_itself() -> None:
    def told(answers: float) -> float:
        one_in_five = [Entry(0.7125, True, answers / 5), Entry(0.7125, False, 4 * answers / 5)]
        return worth(blended(one_in_five, HONEST), 0.7125)

    assert 0.7125 > told(5) > told(50) > told(100_000)
    assert told(5) > 0.6
    assert told(100_000) == pytest.approx(0.2, abs=0.02)


def test_one_wrong_answer_counts_beside_those_that_many_projects_gave_there() -> None:
    # Nothing near it falls below: 5 answers at .5 of which half came true, and one more that didn't.
    steep = Curve((0.0, 0.4, 0.6, 1.0), (0.0, 0.0, 1.0, 1.0))
    curve = blended([Entry(0.5125, False)], steep)
    assert worth(curve, 0.5125) == pytest.approx(WORTH * worth(steep, 0.5125) / (WORTH + 1))


@FEW
@given(st.lists(st.builds(Entry, SAID, st.booleans(), st.just(1.0)), max_size=30), st.integers(1, 4), PRIORS)
def test_a_weight_counts_like_repeats(entries: list[Entry], times: int, prior: Curve) -> None:
    weighty = blended([entry._replace(weight=float(times)) for entry in entries], prior)
    repeated = blended(entries * times, prior)
    at = np.linspace(0.0, 1.0, 41)
    assert weighty.at(at) == pytest.approx(repeated.at(at), abs=1e-6)


@FEW
@given(PASTS, PRIORS, st.randoms(use_true_random=False))
def test_the_order_of_the_answers_changes_no_curve(entries: list[Entry], prior: Curve, draw: object) -> None:
    mixed = entries[:]
    draw.shuffle(mixed)  # type: ignore[attr-defined]
    at = np.linspace(0.0, 1.0, 41)
    assert blended(mixed, prior).at(at) == pytest.approx(blended(entries, prior).at(at), abs=1e-6)


def test_answers_of_one_probability_are_one_point() -> None:
    curve = blended(past((0.5125, 95, 95), (0.5125, 100, 0)), HONEST)
    # 195 of its own, and 5 of many projects of which .5125 came true.
    assert worth(curve, 0.5125) == pytest.approx((95 + 5 * 0.5125) / 200, abs=0.01)


def test_where_less_comes_true_higher_up_neighbours_are_one() -> None:
    curve = blended(past((0.5125, 400, 300), (0.6125, 400, 100)), HONEST)
    assert worth(curve, 0.5125) == pytest.approx(0.5, abs=0.02)
    assert worth(curve, 0.5125) <= worth(curve, 0.6125) == pytest.approx(0.5, abs=0.1)


# ---- the threshold -------------------------------------------------------------------------------


def test_the_threshold_is_the_lowest_probability_from_which_the_target_is_met() -> None:
    entries = past((0.5, 100, 20), (0.6, 50, 30), (0.7, 50, 39), (0.9, 50, 48))
    assert threshold(entries, QUESTIONS) == 0.7
    assert threshold(entries, QUESTIONS, target=0.75) == 0.6
    assert threshold(entries, QUESTIONS, target=0.95) == 0.9


def test_what_is_right_from_a_probability_on_counts_as_a_whole() -> None:
    entries = past((0.3, 40, 0), (0.6, 40, 24), (0.9, 160, 152))
    assert 24 / 40 < TARGET < (24 + 152) / 200
    assert threshold(entries, QUESTIONS) == 0.6


@FEW
@given(PASTS)
def test_from_the_threshold_on_the_target_is_met_unless_the_ceiling_holds(entries: list[Entry]) -> None:
    found = threshold(entries, QUESTIONS)
    if found is None:
        assert sum(entry.said >= FLOOR for entry in entries) < ENTRIES
        return
    assert FLOOR <= found <= CEILING

    def share(least: float) -> float:
        above = [entry for entry in entries if entry.said >= least]
        count = sum(entry.weight for entry in above)
        return sum(entry.weight * entry.right for entry in above) / count if count else 0.0

    if FLOOR < found < CEILING:
        assert share(found) >= TARGET - 1e-9
    lower = {entry.said for entry in entries if FLOOR <= entry.said < min(found, CEILING)}
    assert all(share(said) < TARGET + 1e-9 for said in lower)


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        (((0.8, 100, 0),), CEILING),
        (((0.97, 40, 40), (0.8, 100, 0)), CEILING),
        (((0.4, 100, 100), (0.8, 100, 100)), FLOOR),
        (((0.8, 100, 100),), FLOOR),
        (((0.4, 100, 0), (0.8, 100, 100)), 0.8),
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
    assert threshold([*enough[1:], Entry(0.49, True)], QUESTIONS) is None
    assert threshold([], 0) is None


def test_a_weighty_answer_counts_for_what_it_weighs() -> None:
    entries = past((0.3, 40, 0), (0.6, 30, 15), (0.9, 100, 100))
    assert threshold(entries, QUESTIONS) == 0.6
    weighty = [entry._replace(weight=4.0) if entry.said == 0.6 else entry for entry in entries]
    assert threshold(weighty, QUESTIONS) == 0.9


def test_the_order_of_the_entries_changes_no_threshold() -> None:
    entries = past((0.5, 30, 9), (0.72, 30, 22), (0.9, 30, 29))
    assert threshold(entries, QUESTIONS) == threshold(entries[::-1], QUESTIONS)
