from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.review import Question, folded, gain, value


def questions(*pairs: tuple[int, int]) -> list[Question]:
    return [Question(f"{one}-{other}", frozenset((one, other))) for one, other in pairs]


def test_a_verdict_is_worth_most_where_one_is_unsure_and_the_answer_comes_up_often() -> None:
    assert value(0.5, 0.8, 10.0) == pytest.approx(2.0)
    assert value(0.5, 0.8, 10.0) > value(0.6, 0.8, 10.0) > value(0.95, 0.8, 10.0) > 0.0
    assert value(0.4, 0.8, 10.0) == pytest.approx(value(0.6, 0.8, 10.0)), "a sure no is no news either"
    assert value(0.5, 0.9, 10.0) > value(0.5, 0.8, 10.0)
    assert value(0.5, 0.8, 11.0) > value(0.5, 0.8, 10.0)
    assert value(1.0, 0.8, 10.0) == value(0.0, 0.8, 10.0) == value(0.5, 0.8, 0.0) == 0.0


def test_a_question_that_settles_others_is_worth_more_but_not_so_many_times_more() -> None:
    assert gain(2.0, 0) == 2.0
    assert 2.0 < gain(2.0, 1) < 4.0
    assert gain(2.0, 2) - gain(2.0, 1) < gain(2.0, 1) - gain(2.0, 0)
    assert gain(0.0, 9) == 0.0


def test_pairs_that_share_an_end_are_one_question_and_the_first_asks_it() -> None:
    assert folded(questions((1, 2), (2, 3), (1, 3))) == {"1-2": "1-2", "2-3": "1-2", "1-3": "1-2"}
    assert folded(questions((2, 3), (1, 2))) == {"2-3": "2-3", "1-2": "2-3"}


def test_pairs_apart_are_asked_apart_and_what_joins_them_goes_to_the_first() -> None:
    assert folded(questions((1, 2), (3, 4), (2, 3))) == {"1-2": "1-2", "3-4": "3-4", "2-3": "1-2"}


def test_files_that_all_change_together_ask_only_about_pairs_apart() -> None:
    asked = set(folded(questions(*combinations(range(7), 2))).values())
    assert asked == {"0-1", "2-3", "4-5"}


def test_no_question_is_no_answer() -> None:
    assert folded([]) == {}


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(9, 16)), unique=True))
def test_every_question_is_asked_or_shares_an_end_with_the_one_that_is(pairs: list[tuple[int, int]]) -> None:
    given_questions = questions(*pairs)
    ends = {question.id: question.ends for question in given_questions}
    found = folded(given_questions)
    assert found.keys() == ends.keys()
    asked = [id for id, leader in found.items() if id == leader]
    assert all(leader in asked and ends[id] & ends[leader] for id, leader in found.items())
    assert all(not ends[one] & ends[other] for one, other in combinations(asked, 2))
    for id, leader in found.items():
        assert list(ends).index(leader) <= list(ends).index(id)
