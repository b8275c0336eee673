"""`inference.thresholds`: what stands out of a project's own background is told; else nothing is."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from inference.fusion import WORDS, Fused
from inference.thresholds import CUTOFF, Thresholds, background


def vectors(count: int, shared: float = 0.0) -> npt.NDArray[np.float64]:
    made = np.random.default_rng(7).normal(size=(count, 64)) + shared
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True))


def piece(score: float, stands: float, words: float = 0.0) -> Fused:
    return Fused(1, score, words, score, 0.75, stands=stands)


def test_nothing_is_told_when_nothing_stands_out() -> None:
    pieces = [piece(2.4, 1.5), piece(2.3, 1.4), piece(1.0, 0.0, 0.4 * WORDS)]
    assert Thresholds().told(["fact"] * 3, pieces) == [False, False, False]
    assert Thresholds().told([], []) == []


def test_what_stands_out_is_told_near_the_best_alone() -> None:
    pieces = [piece(4.0, 4.0), piece(3.6, 3.0), piece(3.0, 3.0), piece(3.9, 1.0)]
    assert Thresholds().told(["fact"] * 4, pieces) == [True, True, False, False]


def test_holding_the_words_is_enough_without_any_likeness() -> None:
    assert Thresholds().told(["fact"], [piece(3.0, 0.0, WORDS)]) == [True]


def test_each_kind_has_its_own_cutoff() -> None:
    thresholds = Thresholds(cutoffs={"fact": 2.5})
    assert thresholds.told(["fact", "task"], [piece(3.0, 2.3), piece(3.0, 2.3)]) == [False, True]


@pytest.mark.parametrize("count", [0, 1])
def test_without_strangers_the_usual_cutoff_holds(count: int) -> None:
    thresholds = background(vectors(count), ["fact"] * count, range(count))
    assert thresholds.cutoff("fact") == CUTOFF
    assert background(vectors(3), ["fact"] * 3, [1, 1, 1]) == Thresholds()


def test_few_passages_hardly_move_the_cutoff_and_many_do() -> None:
    few = background(vectors(3), ["fact"] * 3, range(3))
    many = background(vectors(1_000), ["fact"] * 1_000, range(1_000))
    assert abs(few.cutoff("fact") - CUTOFF) < 0.05
    assert many.pairs["fact"] > 100_000
    assert many.cutoff("fact") < CUTOFF


def test_what_all_texts_share_does_not_raise_the_background() -> None:
    plain = background(vectors(400), ["fact"] * 400, range(400))
    crowded = background(vectors(400, shared=1.0), ["fact"] * 400, range(400))
    assert abs(crowded.usual.mean - plain.usual.mean) < 0.05


def test_a_question_is_aimed_past_what_the_passages_share() -> None:
    crowded = vectors(400, shared=1.0)
    thresholds = background(crowded, ["fact"] * 400, range(400))
    question = crowded[0]
    assert float((crowded @ thresholds.aim(question)).mean()) < 0.1 < float((crowded @ question).mean())
    assert Thresholds().aim(question) is question


def test_kinds_whose_texts_are_alike_ask_for_more() -> None:
    loose, tight = vectors(200), vectors(200, shared=0.5)
    kinds = ["history"] * 200 + ["preference"] * 200
    thresholds = background(np.concatenate((loose, tight)), kinds, range(400))
    assert thresholds.cutoff("preference") > thresholds.cutoff("history")
