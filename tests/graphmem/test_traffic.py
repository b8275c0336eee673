"""What can wait gives way to questions, ends when it is told to, and is done by one project at a time."""

from __future__ import annotations

import pytest

from graphmem import traffic
from graphmem.traffic import Traffic


@pytest.fixture(autouse=True)
def a_clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The monotonic clock as the tests set it."""
    now = [100.0]
    monkeypatch.setattr(traffic.time, "monotonic", lambda: now[0])
    return now


def test_it_is_quiet_until_somebody_asks_and_half_a_second_after(a_clock: list[float]) -> None:
    found = Traffic()
    assert found.is_quiet()
    found.passes()
    assert not found.is_quiet()
    a_clock[0] += 0.6
    assert found.is_quiet()


def test_it_gives_way_while_questions_are_asked_and_no_longer_than_two_seconds(a_clock: list[float]) -> None:
    found = Traffic()
    waited: list[float] = []

    def wait(seconds: float) -> bool:
        waited.append(seconds)
        a_clock[0] += seconds
        found.passes()
        return False

    assert not found.gives_way(wait)
    assert 1.9 < sum(waited) < 2.2


def test_in_quiet_it_waits_a_moment_only() -> None:
    waited: list[float] = []
    assert not Traffic().gives_way(lambda seconds: bool(waited.append(seconds)))
    assert len(waited) == 1


def test_it_ends_when_it_is_told_to() -> None:
    found = Traffic()
    found.passes()
    assert found.gives_way(lambda seconds: True)


def test_one_project_at_a_time_has_its_turn_and_nobody_waits_for_it() -> None:
    found = Traffic()
    with found.turn() as first, found.turn() as second:
        assert (first, second) == (True, False)


def test_a_turn_that_is_over_is_free_for_the_next() -> None:
    found = Traffic()
    for _ in range(2):
        with found.turn() as mine:
            assert mine
