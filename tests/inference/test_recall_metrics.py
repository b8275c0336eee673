"""Figures of recall by cases small enough to count by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.recall_metrics import Reply, Score, Shown, by_group, gain, gains, recall_figures, score


def reply(
    needs: list[set[str]], shown: str = "", ranked: str = "", forbidden: str = "", marked: str = ""
) -> Reply:
    return Reply(
        tuple(frozenset(need) for need in needs),
        frozenset(forbidden),
        tuple(Shown(piece, piece in marked) for piece in shown),
        tuple(ranked),
    )


@pytest.mark.parametrize(
    ("needs", "shown", "hit"),
    [
        ([{"a"}], "a", True),
        ([{"a"}], "b", False),
        ([{"a", "b"}], "b", True),
        ([{"a"}, {"b"}], "a", False),
        ([{"a"}, {"b", "c"}], "ca", True),
        ([{"a"}], "", False),
    ],
)
def test_a_hit_holds_a_piece_for_every_need(needs: list[set[str]], shown: str, hit: bool) -> None:
    assert score(reply(needs, shown)).hit is hit


def test_a_piece_that_is_marked_as_superseded_is_no_answer() -> None:
    found = score(reply([{"a"}], "a", marked="a"))
    assert (found.hit, found.idle) == (False, 0)


@pytest.mark.parametrize(
    ("shown", "marked", "interferes", "misleads"),
    [("ab", "", False, False), ("ax", "", True, True), ("ax", "x", True, False), ("xy", "x", True, True)],
)
def test_a_forbidden_piece_interferes_and_misleads_where_it_is_not_marked(
    shown: str, marked: str, interferes: bool, misleads: bool
) -> None:
    found = score(reply([{"a"}], shown, forbidden="xy", marked=marked))
    assert (found.interferes, found.misleads) == (interferes, misleads)


def test_what_is_not_expected_is_idle_and_an_unknown_entry_too() -> None:
    found = score(Reply((frozenset("a"),), frozenset(), (Shown("a"), Shown("b"), Shown(None)), ()))
    assert (found.pieces, found.idle) == (3, 2)


@pytest.mark.parametrize(
    ("ranked", "reciprocal", "first", "five"),
    [
        ("ab", 1.0, 0.5, 1.0),
        ("xa", 0.5, 0.0, 0.5),
        ("xyzvwab", 1 / 6, 0.0, 0.0),
        ("", 0.0, 0.0, 0.0),
    ],
)
def test_results_are_judged_by_the_places_of_what_is_expected(
    ranked: str, reciprocal: float, first: float, five: float
) -> None:
    found = score(reply([{"a"}, {"b"}], ranked=ranked))
    assert (found.reciprocal, found.first, found.five) == (pytest.approx(reciprocal), first, five)


def test_a_question_without_an_answer_counts_only_for_what_should_not_be_shown() -> None:
    found = score(reply([], "ax", "a", forbidden="x"))
    assert (found.hit, found.reciprocal, found.first, found.five) == (None, None, None, None)
    assert (found.interferes, found.pieces, found.idle) == (True, 2, 2)
    figures = recall_figures([found, score(reply([{"a"}], "a"))])
    assert figures.hit is not None
    assert figures.interference is not None
    assert figures.idle is not None
    assert (figures.questions, figures.expecting, figures.hit.mean) == (2, 1, 1.0)
    assert figures.interference.mean == 0.5
    assert figures.idle.mean == pytest.approx(2 / 3)


def test_without_questions_or_pieces_there_is_no_figure() -> None:
    nothing = recall_figures([])
    assert (nothing.questions, nothing.hit, nothing.interference, nothing.idle) == (0, None, None, None)
    silent = recall_figures([score(reply([{"a"}]))])
    assert silent.idle is None
    assert silent.hit is not None
    assert silent.hit.mean == 0.0


def test_groups_are_counted_apart_in_the_order_of_their_first_question() -> None:
    scores = [score(reply([{"a"}], shown)) for shown in ("a", "x", "a")]
    found = by_group(["zh", "en", "zh"], scores)
    assert [(group, each.questions, each.hit and each.hit.mean) for group, each in found.items()] == [
        ("zh", 2, 1.0),
        ("en", 1, 0.0),
    ]


HIT = score(reply([{"a"}], "a", "a"))
MISS = score(reply([{"a"}], "x", "x"))
LATE = score(reply([{"a"}], "x", "xa"))
NOISY = score(reply([{"a"}], "axyz", "a"))


@pytest.mark.parametrize(
    ("having", "lacking", "pays"),
    [
        ([HIT, HIT], [HIT, MISS], True),
        ([HIT, MISS], [HIT, HIT], False),
        ([HIT, HIT], [HIT, HIT], False),
        ([HIT, LATE], [HIT, MISS], True),
        ([HIT, NOISY], [HIT, score(reply([{"a"}]))], False),
    ],
    ids=["more hits", "fewer hits", "no difference", "better results", "hits at the cost of precision"],
)
def test_a_part_pays_where_it_helps_recall_and_does_not_lower_precision(
    having: list[Score], lacking: list[Score], pays: bool
) -> None:
    assert gain(having, lacking).pays is pays


def test_gains_are_told_by_group_with_paired_differences() -> None:
    found = gains(["facts", "progress", "facts"], [HIT, MISS, HIT], [MISS, MISS, HIT])
    assert [(group, each.pays) for group, each in found.items()] == [("facts", True), ("progress", False)]
    assert found["facts"].difference is not None
    assert found["facts"].difference.mean == 0.5
    assert found["facts"].difference.low >= 0.0


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 4)), min_size=1, max_size=30))
def test_every_figure_is_a_share_and_lies_in_its_interval(cases: list[tuple[bool, bool, int]]) -> None:
    scores = [
        score(reply([{"a"}] if asked else [], "a" * good + "xyzv"[:idle], "a" * good))
        for asked, good, idle in cases
    ]
    figures = recall_figures(scores)
    for found in (figures.hit, figures.interference, figures.idle, figures.mrr, figures.recall_5):
        assert found is None or 0.0 <= found.low <= found.mean <= found.high <= 1.0
