"""The threshold of warnings, held against a project's own past: when it is looked at, and what is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graphmem.calibration import calibrate, is_due, look, past_questions, threshold_at, thresholds
from graphmem.derived import open_derived
from graphmem.instant import DAY
from graphmem.model import Observation, Tier
from graphmem.postings import Postings
from graphmem.projection import catch_up
from graphmem.recall.impact import impact
from graphmem.recall.surroundings import Question
from inference.calibration import CEILING, FLOOR
from inference.ranking import WARNING_THRESHOLD


def go_on() -> bool:
    return False


def past(days: int, *, misleading: bool, since: int = 0) -> list[Observation]:
    """Days of `a.py` with `b.py`; in a misleading past each goes its own way once that has become likely."""
    found = []
    for day in range(since, since + days):
        apart = misleading and day % 20 >= 12
        files = (("a.py", "b.py")[day % 2],) if apart else ("a.py", "b.py")
        at = (day + 1) * DAY
        found.append(Observation(id=f"o{day}", session=f"s{day}", at=at, actor="ann", files_modified=files))
    return found


@pytest.fixture
def steady(recorded: Callable[..., Any]) -> Any:
    return recorded(*past(150, misleading=False))


def test_where_what_was_said_came_true_the_threshold_falls_to_the_floor(steady: Any) -> None:
    found = calibrate(steady.journal, steady.view, go_on)
    assert found is not None
    assert (found.value, found.at, found.questions, found.observations) == (FLOOR, 150 * DAY, 298, 150)
    assert threshold_at(steady.journal, 1e12) == found.value


def test_where_it_did_not_the_threshold_rises(recorded: Callable[..., Any]) -> None:
    memory = recorded(*past(200, misleading=True))
    found = calibrate(memory.journal, memory.view, go_on)
    assert found is not None
    assert WARNING_THRESHOLD < found.value <= CEILING


def test_a_short_past_keeps_the_threshold_of_the_closed_form(recorded: Callable[..., Any]) -> None:
    memory = recorded(*past(60, misleading=False))
    found = look(memory.view, 1e12, 60)
    assert found is not None
    assert (found.value, found.questions) == (WARNING_THRESHOLD, 118)
    assert not is_due(memory.journal)


def test_the_tier_and_the_warning_follow_the_threshold(recorded: Callable[..., Any]) -> None:
    memory = recorded(*past(192, misleading=True))

    def asked(as_of: float | None) -> tuple[Tier, bool]:
        with memory.view(as_of) as view:
            now = 193 * DAY if as_of is None else as_of
            answer = impact(view, Question(("a.py",)), now, lambda _: set(), journal=memory.journal)
        return answer.affected[0].tier, answer.warning is not None

    assert asked(None) == (Tier.LIKELY, True)
    calibrate(memory.journal, memory.view, go_on)
    assert asked(None) == (Tier.POSSIBLE, False)
    assert asked(191 * DAY) == (Tier.LIKELY, True), "what came later tells a past moment nothing"


def test_a_past_moment_has_the_last_threshold_made_from_what_came_before(
    recorded: Callable[..., Any],
) -> None:
    memory = recorded(*past(192, misleading=True))
    journal = memory.journal
    first = calibrate(journal, memory.view, go_on)
    memory.tell(*past(90, misleading=False, since=192))
    second = calibrate(journal, memory.view, go_on)
    assert first is not None and second is not None
    assert second.value < first.value
    assert threshold_at(journal, 191 * DAY) == WARNING_THRESHOLD
    assert threshold_at(journal, 192 * DAY) == threshold_at(journal, 281 * DAY) == first.value
    assert threshold_at(journal, 282 * DAY) == second.value
    assert thresholds(journal) == [first, second]


def test_it_is_looked_at_anew_when_a_fifth_more_has_come_in(recorded: Callable[..., Any]) -> None:
    memory = recorded(*past(99, misleading=False))
    assert not is_due(memory.journal), "so little can't give questions enough"
    memory.tell(*past(51, misleading=False, since=99))
    assert is_due(memory.journal)
    calibrate(memory.journal, memory.view, go_on)
    assert not is_due(memory.journal)
    memory.tell(*past(29, misleading=False, since=150))
    assert not is_due(memory.journal)
    memory.tell(*past(1, misleading=False, since=179))
    assert is_due(memory.journal)


def test_a_look_that_is_told_to_stop_keeps_nothing(steady: Any) -> None:
    turns: list[bool] = []

    def stop_at_the_tenth() -> bool:
        turns.append(True)
        return len(turns) == 10

    assert calibrate(steady.journal, steady.view, stop_at_the_tenth) is None
    assert len(turns) == 10
    assert thresholds(steady.journal) == []
    assert is_due(steady.journal)


def test_the_past_is_asked_of_what_was_known_then(steady: Any) -> None:
    before = look(steady.view, 120 * DAY, 0)
    steady.tell(*past(150, misleading=True, since=150))
    assert look(steady.view, 120 * DAY, 0) == before


def test_no_more_than_so_many_questions_are_asked_and_the_latest(steady: Any) -> None:
    asked = list(past_questions(steady.view, 1e12, at_most=31))
    assert [question.at for question in asked] == [(150 - number // 2) * DAY for number in range(31)]


def test_bulk_work_and_mere_reading_ask_nothing(recorded: Callable[..., Any]) -> None:
    many = tuple(f"{number}.py" for number in range(31))
    rows = [
        Observation(f"o{n}", f"s{n}", n + 1.0, files_modified=many if n % 2 else (), files_read=many)
        for n in range(20)
    ]
    found = look(recorded(*rows).view, 1e12, 0)
    assert found is not None and (found.questions, found.at) == (0, 0.0)


def test_it_outlives_a_rebuild_of_the_derived_file(steady: Any) -> None:
    kept = calibrate(steady.journal, steady.view, go_on)
    anew = open_derived(None)
    catch_up(steady.journal, anew)
    assert kept is not None
    assert threshold_at(steady.journal, 1e12) == kept.value
    again = look(Postings(anew).view, 1e12, 150)
    anew.close()
    assert again == kept, "the same past gives the same threshold"


def test_without_a_journal_the_threshold_is_that_of_the_closed_form() -> None:
    assert threshold_at(None, 1e12) == WARNING_THRESHOLD
