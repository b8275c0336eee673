"""Which numbers files keep when the story of their names is told again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graphmem.recognition import Told, recognised

name = st.sampled_from(["a", "b", "c"])


def tellings(numbers: st.SearchStrategy[int]) -> st.SearchStrategy[list[Told]]:
    told = st.builds(Told, numbers, name, name, st.booleans())
    return st.lists(told, max_size=6, unique_by=lambda one: one.file)


def test_the_same_story_gives_the_same_numbers() -> None:
    former = [Told(7, "a", "z", True), Told(9, "b", "b", False)]
    assert recognised(former, [Told(20, "b", "b", False), Told(21, "a", "z", True)]) == {20: 9, 21: 7}


def test_the_present_name_counts_more_than_the_first() -> None:
    former = [Told(1, "a", "a", True), Told(2, "b", "b", True)]
    assert recognised(former, [Told(10, "a", "b", True)]) == {10: 2}


def test_a_living_file_is_not_taken_for_a_dead_one_of_its_name() -> None:
    former = [Told(1, "a", "z", False), Told(2, "b", "z", True)]
    assert recognised(former, [Told(10, "c", "z", True), Told(11, "d", "z", False)]) == {10: 2, 11: 1}


def test_a_file_nothing_is_alike_to_has_no_former_number() -> None:
    assert recognised([Told(1, "a", "a", True)], [Told(10, "b", "b", True)]) == {}


@given(tellings(st.integers(1, 9)), tellings(st.integers(10, 19)))
def test_each_number_is_given_once_and_the_order_of_rows_means_nothing(
    former: list[Told], told: list[Told]
) -> None:
    found = recognised(former, told)
    assert found.keys() <= {one.file for one in told}
    assert set(found.values()) <= {one.file for one in former}
    assert len(set(found.values())) == len(found)
    assert recognised(reversed(former), reversed(told)) == found
