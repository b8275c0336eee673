"""What verdicts and outcomes teach: how far they move a candidate, and that nothing of them stays behind."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.lessons import BOUND, UNTAUGHT, End, Lesson, adjusted, heard, learned

PATHS = (
    "src/cart.py",
    "src/stock.py",
    "src/token.py",
    "tests/test_cart.py",
    "tests/test_stock.py",
    "docs/cart.md",
    "Makefile",
)
FILES = tuple(End(number, path) for number, path in enumerate(PATHS))
CART, STOCK, TOKEN, TEST_CART, TEST_STOCK, DOCS, MAKEFILE = FILES

ends = st.sampled_from(FILES)
verdicts = st.lists(
    st.tuples(ends, ends, st.booleans()).filter(lambda entry: entry[0].file < entry[1].file),
    unique_by=lambda entry: entry[:2],
    max_size=15,
).map(lambda entries: [Lesson(*entry) for entry in entries])
chances = st.floats(0.0, 1.0)


def every_offset(lessons: list[Lesson]) -> list[float]:
    taught = learned(lessons)
    return [taught.offset(one, other) for one in FILES for other in FILES if one != other]


def test_without_verdicts_nothing_moves() -> None:
    assert every_offset([]) == [0.0] * 42
    assert not UNTAUGHT
    assert UNTAUGHT.offset_among((CART, STOCK), TOKEN) == 0.0


def test_a_yes_raises_the_pair_and_a_no_lowers_it_both_ways_round() -> None:
    yes, no = learned([Lesson(CART, DOCS, True)]), learned([Lesson(CART, DOCS, False)])
    assert yes.offset(CART, DOCS) == yes.offset(DOCS, CART) > 0.0
    assert no.offset(CART, DOCS) == no.offset(DOCS, CART) < 0.0
    assert yes and no


def test_a_verdict_moves_pairs_of_its_kind_less_the_less_they_share() -> None:
    taught = learned([Lesson(CART, TEST_CART, False)])
    pair = taught.offset(CART, TEST_CART)
    same_file = taught.offset(CART, TEST_STOCK)
    same_folders = taught.offset(STOCK, TEST_STOCK)
    assert pair < same_file < same_folders < 0.0
    assert taught.offset(STOCK, MAKEFILE) == 0.0


def test_twenty_verdicts_move_pairs_that_nobody_judged() -> None:
    said = [Lesson(End(100 + n, f"src/a{n}.py"), End(200 + n, f"web/b{n}.ts"), False) for n in range(20)]
    taught = learned(said)
    assert taught.offset(End(1, "src/other.py"), End(2, "web/another.ts")) < -0.2
    assert taught.offset(End(1, "src/other.py"), End(2, "docs/another.md")) == 0.0


def test_of_several_queried_files_the_one_that_speaks_most_for_a_candidate_counts() -> None:
    taught = learned([Lesson(CART, DOCS, True), Lesson(MAKEFILE, DOCS, False)])
    assert taught.offset_among((MAKEFILE, CART), DOCS) == taught.offset(CART, DOCS)
    assert taught.offset_among((), DOCS) == 0.0


def test_of_several_verdicts_on_a_pair_the_first_is_taken_and_a_file_with_itself_is_none() -> None:
    assert learned([Lesson(CART, DOCS, True), Lesson(DOCS, CART, False)]) == learned(
        [Lesson(CART, DOCS, True), Lesson(CART, CART, False)]
    )


@given(verdicts)
def test_offsets_are_bounded_and_the_same_both_ways_round(lessons: list[Lesson]) -> None:
    taught = learned(lessons)
    assert all(abs(offset) <= BOUND for offset in every_offset(lessons))
    assert all(taught.offset(a, b) == taught.offset(b, a) for a in FILES for b in FILES)


@given(verdicts, st.randoms())
def test_the_order_of_verdicts_does_not_matter(lessons: list[Lesson], draw: object) -> None:
    shuffled = list(lessons)
    draw.shuffle(shuffled)  # type: ignore[attr-defined]
    assert every_offset(shuffled) == every_offset(lessons)


@given(verdicts, st.data())
def test_without_the_last_verdict_everything_is_exactly_as_before_it(
    lessons: list[Lesson], data: st.DataObject
) -> None:
    if not lessons:
        assert learned(lessons) == UNTAUGHT
        return
    at = data.draw(st.integers(0, len(lessons) - 1))
    rest = [*lessons[:at], *lessons[at + 1 :]]
    assert learned([*rest, lessons[at]]) == learned(lessons)
    assert every_offset(rest) == every_offset([lesson for lesson in lessons if lesson is not lessons[at]])


@given(verdicts)
def test_a_yes_speaks_for_its_pair_more_than_a_no_in_its_place(lessons: list[Lesson]) -> None:
    if not lessons:
        assert learned(lessons) == UNTAUGHT
        return
    *rest, last = lessons
    yes, no = (learned([*rest, last._replace(confirmed=said)]) for said in (True, False))
    assert yes.offset(last.one, last.other) > no.offset(last.one, last.other)


def test_a_yes_says_less_where_everything_is_confirmed_and_a_no_says_more() -> None:
    others = [Lesson(End(100 + n, f"a{n}/x.c"), End(200 + n, f"b{n}/y.h"), True) for n in range(20)]
    yes, no = Lesson(CART, DOCS, True), Lesson(CART, DOCS, False)
    assert 0.0 < learned([*others, yes]).offset(CART, DOCS) < learned([yes]).offset(CART, DOCS)
    assert learned([*others, no]).offset(CART, DOCS) < learned([no]).offset(CART, DOCS) < 0.0
    assert learned([*others, yes]).offset(STOCK, MAKEFILE) == 0.0


# ---- probabilities -----------------------------------------------------------------------------


@given(chances, st.floats(-50.0, 50.0))
def test_a_moved_probability_stays_one_and_moves_no_further_than_the_bound(
    chance: float, offset: float
) -> None:
    moved = adjusted(chance, offset)
    assert 0.0 <= moved <= 1.0
    assert moved == adjusted(chance, max(-BOUND, min(BOUND, offset)))
    if 1e-6 < chance < 1.0 - 1e-6:
        odds = math.log(moved / (1.0 - moved)) - math.log(chance / (1.0 - chance))
        assert abs(odds) <= BOUND + 1e-6


@pytest.mark.parametrize("chance", [0.0, 1.0, 0.1, 0.3, 1e-300])
def test_an_offset_of_nothing_changes_nothing_at_all(chance: float) -> None:
    assert adjusted(chance, 0.0) == chance


@pytest.mark.parametrize("chance", [0.0, 1.0])
def test_what_is_sure_stays_sure(chance: float) -> None:
    assert adjusted(chance, 1.0) == adjusted(chance, -1.0) == chance
    assert heard(chance, 30, 3) == 0.0


@given(st.floats(0.001, 0.999), st.integers(0, 10_000), st.integers(0, 10_000))
def test_notes_that_were_taken_up_raise_and_others_lower_within_the_bound(
    chance: float, shown: int, taken: int
) -> None:
    taken = min(shown, taken)
    offset = heard(chance, shown, taken)
    assert abs(offset) <= BOUND
    if shown:
        assert (offset > 1e-12) <= (taken / shown > chance)
        assert (offset < -1e-12) <= (taken / shown < chance)
    else:
        assert offset == 0.0
