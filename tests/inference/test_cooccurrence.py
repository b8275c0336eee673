"""Co-occurrence in bulk: the same sums as one pair at a time, in order, whatever the blocks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference import cooccurrence as module
from inference.cochange import MAX_SIZE, size_weight
from inference.cooccurrence import Incidence, Pairs, SizeWeight, cooccurrence, size_weights

HISTORIES = st.lists(st.lists(st.integers(0, 12), max_size=7), max_size=25)


def incidence(history: Sequence[Sequence[int]]) -> Incidence:
    bounds = np.cumsum([0, *map(len, history)])
    return Incidence(bounds, np.array([file for files in history for file in files], np.int64))


def one_by_one(history: Sequence[Sequence[int]], factors: Sequence[float]) -> dict[tuple[int, int], float]:
    found: dict[tuple[int, int], float] = {}
    for files, factor in zip(history, factors, strict=True):
        members = sorted(set(files))
        weight = size_weight(len(members)) * factor
        for place, low in enumerate(members):
            for high in members[place + 1 :] if weight else ():
                found[low, high] = found.get((low, high), 0.0) + weight
    return found


def told(pairs: Pairs) -> list[tuple[int, int]]:
    return list(zip(pairs.lower.tolist(), pairs.higher.tolist(), strict=True))


@given(HISTORIES, st.sampled_from([1, 3, 1_000]))
def test_pairs_are_those_of_counting_one_by_one_in_order_whatever_the_block(
    history: list[list[int]], block: int
) -> None:
    factors = [1.0 / (1 + place) for place in range(len(history))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK", block)
        found = cooccurrence(incidence(history), decay=factors)
    expected = one_by_one(history, factors)
    assert told(found) == sorted(expected)
    assert found.weights.tolist() == pytest.approx([expected[pair] for pair in sorted(expected)])


def test_a_large_change_shares_and_one_above_the_bulk_limit_links_nothing() -> None:
    sizes = [0, 1, 2, 4, 11, MAX_SIZE, MAX_SIZE + 1]
    assert size_weights(sizes).tolist() == pytest.approx([size_weight(size) for size in sizes])
    shared = size_weights(sizes, SizeWeight.SHARED).tolist()
    assert shared == pytest.approx([0.0, 0.0, 1.0, 1 / 3, 0.1, 1 / (MAX_SIZE - 1), 0.0])
    assert told(cooccurrence(incidence([list(range(MAX_SIZE + 1)), [3, 1]]))) == [(1, 3)]


def test_the_size_given_counts_where_files_were_left_out() -> None:
    found = cooccurrence(incidence([[1, 2], [2, 1]]), sizes=[31, MAX_SIZE + 1])
    assert told(found) == [(1, 2)]
    assert found.weights.tolist() == pytest.approx([0.1])


def test_numbers_of_files_may_be_as_large_as_they_come() -> None:
    largest = 2**31 - 1
    found = cooccurrence(incidence([[largest, 0], [largest - 1, largest], [0, largest]]))
    assert told(found) == [(0, largest), (largest - 1, largest)]
    assert found.weights.tolist() == [2.0, 1.0]


@pytest.mark.parametrize("history", [[], [[]], [[5]], [[5, 5]]])
def test_without_two_files_there_is_no_pair(history: list[list[int]]) -> None:
    found = cooccurrence(incidence(history))
    assert told(found) == []
    assert found.weights.tolist() == []


@pytest.mark.parametrize(
    ("bounds", "files", "more", "says"),
    [
        ([], [], {}, "Bounds must rise"),
        ([1, 2], [0, 1], {}, "Bounds must rise"),
        ([0, 3, 2], [0, 1], {}, "Bounds must rise"),
        ([0, 2], [0, -1], {}, "number the files from 0"),
        ([0, 2], [0, 2**31], {}, "number the files from 0"),
        ([0, 2], [0, 1], {"decay": [1.0, 1.0]}, "give one for each"),
        ([0, 2], [0, 1], {"sizes": [2, 2]}, "give one for each"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_reason(
    bounds: list[int], files: list[int], more: dict[str, list[float]], says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        cooccurrence(Incidence(bounds, files), **more)
