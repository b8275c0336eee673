"""`inference.fusion`: one order of what words and vectors found, its parts, age and standing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.fusion import LITERAL, PLAIN, WORDS, Fused, Likeness, aged, aimed, deviations, fused, placed


def space(*similarities: float, first: int = 1, counts: list[bool] | None = None) -> Likeness:
    keys = np.arange(first, first + len(similarities), dtype=np.int64)
    return Likeness(keys, np.array(similarities), None if counts is None else np.array(counts))


def order(words: dict[int, float], *spaces: Likeness, literal: bool = False) -> list[int]:
    return [piece.key for piece in fused(words, spaces, literal=literal)]


def test_a_plain_question_goes_by_meaning_and_a_literal_one_by_words() -> None:
    likeness = space(0.6, 0.1, 0.0, 0.05)
    assert order({2: 0.9}, likeness)[0] == 1
    assert order({2: 0.9}, likeness, literal=True)[0] == 2


def test_the_parts_make_the_score() -> None:
    for literal, weight in ((False, PLAIN), (True, LITERAL)):
        for piece in fused({1: 0.5, 7: 0.2}, [space(0.5, 0.1)], literal=literal):
            assert piece.weight == weight
            assert piece.score == pytest.approx(weight * piece.meaning + (1.0 - weight) * piece.words)
            assert piece.parts().keys() == {"words", "meaning", "weight", "age", "stands"}


def test_without_a_model_words_are_all_there_is() -> None:
    (piece,) = fused({3: 0.4}, [], literal=False)
    assert piece == Fused(3, WORDS * 0.4, WORDS * 0.4, 0.0, 0.0)
    assert fused({3: 0.4}, [space()], literal=True)[0].weight == 0.0
    assert fused({}, [], literal=False) == []


def test_each_space_speaks_for_its_own_passages() -> None:
    english = space(0.2, 0.9, 0.1, counts=[True, True, False])
    other = space(0.95, 0.1, 0.8, counts=[False, False, True])
    meaning = {piece.key: piece.meaning for piece in fused({}, [english, other], literal=False)}
    assert meaning[1] < 1.0 < min(meaning[2], meaning[3])


def test_of_several_passages_of_a_piece_the_best_counts() -> None:
    likeness = Likeness(np.array([1, 2, 1], dtype=np.int64), np.array([0.0, 0.3, 0.6]))
    assert order({}, likeness) == [1, 2]


def test_a_piece_found_by_words_alone_keeps_its_likeness_in_a_large_memory() -> None:
    many = np.linspace(0.0, 0.6, 5_000)
    found = fused({1: 1.0}, [Likeness(np.arange(5_000, dtype=np.int64), many)], literal=False)
    assert {piece.key: piece for piece in found}[1].meaning < -1.0
    assert len(found) < 300


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_few_passages_alone_tell_what_is_like_from_what_is_not(count: int) -> None:
    like = deviations(np.array([0.6] + [0.02] * (count - 1)))
    unlike = deviations(np.array([0.05] * count))
    assert like[0] > 2.0
    assert np.all(np.abs(unlike) < 1.0)


def test_equal_passages_and_none_are_sane() -> None:
    assert deviations(np.zeros(0)).size == 0
    assert np.all(np.isfinite(deviations(np.full(50, 0.3))))


def test_what_all_passages_share_is_taken_from_the_question() -> None:
    question, usual = np.array([1.0, 1.0]), np.array([0.0, 1.0])
    assert aimed(question, usual, 0) == pytest.approx(question)
    assert aimed(question, usual, 10_000)[1] == pytest.approx(0.0, abs=1e-3)


def test_age_lowers_a_little_and_never_more() -> None:
    piece = Fused(1, 2.0, 1.0, 2.0, 0.75)
    losses = [aged(piece, days).loss for days in (0.0, 30.0, 365.0, 36_500.0)]
    assert losses == sorted(losses)
    assert losses[0] == 0.0
    assert losses[-1] <= 0.25
    assert aged(aged(piece, 30.0), 0.0).score == pytest.approx(2.0)
    assert aged(piece, 30.0, tentative=True).score < aged(piece, 36_500.0).score


def test_superseded_pieces_come_after_all_and_equals_by_the_newer() -> None:
    pieces = [Fused(key, score, 0.0, score, 1.0) for key, score in ((1, 5.0), (2, 1.0), (3, 1.0))]
    last = placed(pieces, {1: 0.0, 2: 0.0, 3: 0.0}, superseded=frozenset({1}))
    assert [piece.key for piece in last] == [3, 2, 1]
    assert [piece.key for piece in placed(pieces, {2: 1.0, 3: 400.0})] == [1, 2, 3]


scores = st.dictionaries(st.integers(0, 50), st.floats(0.01, 2.0), max_size=20)


@given(scores, st.lists(st.floats(-1.0, 1.0), max_size=40), st.booleans())
def test_every_candidate_is_ranked_once_with_a_finite_score(
    words: dict[int, float], similarities: list[float], literal: bool
) -> None:
    found = fused(words, [space(*similarities)], literal=literal)
    keys = [piece.key for piece in found]
    assert len(keys) == len(set(keys))
    assert set(words) <= set(keys)
    assert all(np.isfinite(piece.score) for piece in found)
    assert [piece.score for piece in found] == sorted((piece.score for piece in found), reverse=True)
