"""Finding cycles among directed links: which are listed, and that none is hidden by the bounds."""

from __future__ import annotations

import time
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.store.arcs import Arc
from graphmem.store.bounds import LONGEST_CYCLE
from graphmem.store.cycles import shortest_cycles
from graphmem.store.port import Ways


def ring(length: int, first: int = 0, name: str = "e") -> list[Arc]:
    return [Arc(first + step, first + (step + 1) % length, f"{name}{step:05}") for step in range(length)]


@pytest.mark.parametrize("length", [2, LONGEST_CYCLE, LONGEST_CYCLE + 1, 40])
def test_a_ring_is_shown_however_long_it_is(length: int) -> None:
    arcs = ring(length)
    assert shortest_cycles(arcs, 20) == Ways((tuple(arc.edge for arc in arcs),))


def test_a_long_way_round_is_passed_over_where_a_shorter_one_shows_the_knot() -> None:
    shortcut = Arc(LONGEST_CYCLE - 1, 0, "s")
    found = shortest_cycles([*ring(LONGEST_CYCLE + 1), shortcut], 20)
    assert found == Ways(((*(f"e{step:05}" for step in range(LONGEST_CYCLE - 1)), "s"),))


def test_a_very_long_ring_is_found_in_little_time() -> None:
    started = time.monotonic()
    found = shortest_cycles([*ring(20_000), *ring(3, 50_000, "a")], 20)
    assert [len(cycle) for cycle in found.ways] == [3, 20_000]
    assert time.monotonic() - started < 20.0


def knots(arcs: Iterable[tuple[int, int]]) -> set[frozenset[int]]:
    """Return the sets of nodes that reach each other, by trying every way."""
    reached = {node: {node} for arc in arcs for node in arc}
    for _ in reached:
        for source, target in arcs:
            reached[source] |= reached[target]
    return {
        frozenset(other for other in reached if other in reached[node] and node in reached[other])
        for node in reached
    }


@given(st.sets(st.tuples(st.integers(0, 14), st.integers(0, 14)), max_size=24))
def test_every_knot_is_shown_and_each_cycle_closes(pairs: set[tuple[int, int]]) -> None:
    arcs = {
        f"{source:02}-{target:02}": Arc(source, target, f"{source:02}-{target:02}")
        for source, target in pairs
    }
    found = shortest_cycles(arcs.values(), 1_000)
    assert found.cut is None
    for cycle in found.ways:
        ends = [(arcs[edge].source, arcs[edge].target) for edge in cycle]
        assert all(
            target == following for (_, target), (following, _) in zip(ends, ends[1:] + ends[:1], strict=True)
        )
    shown = [{arcs[edge].source for edge in cycle} for cycle in found.ways]
    for knot in knots(pairs):
        assert any(nodes <= knot for nodes in shown) == (len(knot) > 1)
