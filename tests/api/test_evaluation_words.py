"""What the sentences of an evaluation claim."""

from __future__ import annotations

from api.evaluation_words import advice
from graphmem.calibration import Calibration, Listed, Reading, reading
from graphmem.evaluation import Evaluation, Shape


def advised(plain: Reading) -> str:
    return advice(Evaluation({}, Shape(900, 3, 900, 0, 0), Calibration(plain, plain, 5.0, 300, 900), None))


def listed(chance: float, right: bool, count: int) -> list[Listed]:
    return [Listed(chance, right, 0.0, 1.0)] * count


def test_a_share_that_came_true_is_claimed_only_where_the_past_gave_the_threshold() -> None:
    found = advised(reading(listed(0.8, True, 50), 300, is_ranked=False, with_task=False))
    assert "of the files named came true in the last 300 questions" in found


def test_too_few_likely_files_leave_the_general_threshold_without_a_claim() -> None:
    entries = listed(0.72, False, 9) + listed(0.3, False, 400)
    found = advised(reading(entries, 300, is_ranked=False, with_task=False))
    assert found.startswith("Recommended here: notes from 70 % on, as everywhere: ")
    assert "too few files were likely enough" in found and "came true" not in found


def test_a_past_without_a_threshold_good_enough_is_said_to_have_none() -> None:
    found = advised(reading(listed(0.8, False, 50), 300, is_ranked=False, with_task=False))
    assert "it goes no higher" in found
