from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.concepts import concept_scores, cosine, idf

profiles = st.dictionaries(st.integers(0, 9), st.floats(0.0, 50.0), max_size=6)


def test_the_rarer_a_concept_the_more_it_weighs() -> None:
    weights = [idf(1_000, holding) for holding in (0, 1, 10, 500, 1_000)]
    assert weights == sorted(weights, reverse=True)
    assert weights[-1] > 0.0
    assert idf(1_000, 9) == pytest.approx(math.log(101))


def test_equal_profiles_are_one_and_disjoint_ones_nothing() -> None:
    assert cosine({1: 2.0, 2: 1.0}, {1: 4.0, 2: 2.0}) == pytest.approx(1.0)
    assert cosine({1: 2.0}, {2: 2.0}) == 0.0
    assert cosine({1: 1.0, 2: 1.0}, {2: 1.0}) == pytest.approx(1 / math.sqrt(2))


def test_a_file_is_as_near_as_to_the_nearest_of_the_queried_ones() -> None:
    scores = concept_scores([{1: 1.0}, {1: 1.0, 2: 1.0}, {}], {7: {2: 3.0}, 8: {1: 1.0}, 9: {5: 1.0}, 10: {}})
    assert scores == {7: pytest.approx(1 / math.sqrt(2)), 8: pytest.approx(1.0)}


def test_no_profiles_give_no_scores() -> None:
    assert concept_scores([], {7: {1: 1.0}}) == {}
    assert concept_scores([{1: 1.0}], {}) == {}


@given(profiles, profiles)
def test_likeness_is_mutual_and_within_the_unit_interval(a: dict[int, float], b: dict[int, float]) -> None:
    assert 0.0 <= cosine(a, b) <= 1.0
    assert cosine(a, b) == pytest.approx(cosine(b, a))


@given(profiles, st.floats(0.1, 10.0))
def test_length_does_not_matter(a: dict[int, float], factor: float) -> None:
    longer = {concept: weight * factor for concept, weight in a.items()}
    assert cosine(a, longer) == pytest.approx(cosine(a, a))
