from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.metrics import (
    DEPTH,
    Calibration,
    RankingScores,
    WarningTally,
    mean_scores,
    rank_scores,
)


def test_an_order_is_scored_as_counted_by_hand() -> None:
    found = rank_scores([9, 1, 8, 2, 7, 6, 5, 4, 3, 10, 11], {1, 2, 11, 99})
    assert found == RankingScores(
        hit_1=0.0,
        hit_3=1.0,
        hit_5=1.0,
        hit_10=1.0,
        recall_5=0.5,
        recall_10=0.5,
        average_precision=pytest.approx((1 / 2 + 2 / 4 + 3 / 11) / 4),
        reciprocal_rank=0.5,
        answered=1.0,
    )


def test_no_answer_and_a_wrong_answer_differ_only_in_having_answered() -> None:
    silent, wrong = rank_scores([], {1}), rank_scores([2], {1})
    assert (silent.answered, wrong.answered) == (0.0, 1.0)
    assert silent.average_precision == wrong.average_precision == wrong.reciprocal_rank == 0.0


def test_nobody_reads_beyond_the_fiftieth_place() -> None:
    order = [*range(1, DEPTH + 1), 0]
    assert rank_scores(order, {0}).average_precision == 0.0


@given(st.lists(st.integers(0, 30), unique=True), st.sets(st.integers(0, 30), min_size=1))
def test_every_figure_is_a_share_and_a_perfect_order_is_perfect(order: list[int], truth: set[int]) -> None:
    found = rank_scores(order, truth)
    assert all(0.0 <= getattr(found, name) <= 1.0 for name in RankingScores.__slots__)
    assert found.hit_1 <= found.hit_3 <= found.hit_5 <= found.hit_10
    perfect = rank_scores(sorted(truth), truth)
    assert perfect.average_precision == pytest.approx(1.0)
    assert mean_scores([found, perfect]).average_precision == pytest.approx((found.average_precision + 1) / 2)


def test_what_is_said_and_what_happens_are_compared_bin_by_bin() -> None:
    calibration = Calibration()
    for probability, right in ((0.9, True), (0.9, True), (0.9, False), (0.1, False)):
        calibration.add(probability, right)
    assert calibration.entries == 4
    assert calibration.error() == pytest.approx((abs(2.7 - 2) + 0.1) / 4)
    assert calibration.brier() == pytest.approx((0.01 + 0.01 + 0.81 + 0.01) / 4)
    low, high = calibration.bins()
    assert (low.entries, low.said, low.came_true) == (1, pytest.approx(0.1), 0.0)
    assert (high.entries, high.said, high.came_true) == (3, pytest.approx(0.9), pytest.approx(2 / 3))


def test_a_certain_answer_has_its_place_in_the_last_bin_and_nothing_is_no_error() -> None:
    calibration = Calibration()
    assert calibration.error() == calibration.brier() == 0.0
    assert calibration.bins() == ()
    calibration.add(1.0, True)
    assert calibration.error() == 0.0


def test_warnings_are_counted_as_by_hand() -> None:
    tally = WarningTally(0.5)
    tally.add([(1, 0.9), (2, 0.5), (3, 0.4)], {1, 3}, {2}, single=False)
    tally.add([(4, 0.6)], set(), set(), single=True)
    tally.add([(4, 0.1)], set(), set(), single=True)
    tally.add([], {5, 6}, set(), single=False)
    assert (tally.queries, tally.warned, tally.pairs) == (4, 2, 3)
    assert tally.precision == pytest.approx(1 / 3)
    assert tally.day_precision == pytest.approx(2 / 3)
    assert tally.recall == pytest.approx(1 / 4)
    assert tally.single_alarms == pytest.approx(1 / 2)
    assert tally.alerts_per_100 == pytest.approx(50.0)


def test_where_nothing_was_warned_of_there_is_no_precision() -> None:
    tally = WarningTally(0.7)
    assert tally.precision is tally.day_precision is tally.single_alarms is None
    assert tally.recall == tally.alerts_per_100 == 0.0
