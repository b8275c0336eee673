"""Clocks jump; assembly keeps to the order of arrival and loses nothing by it."""

from __future__ import annotations

import math

import pytest

from graphmem.events import Event, EventKind, FileEdit
from graphmem.turns.assembly import Draft, OpenTurn, current, due, fed, is_open

START = 1_780_000_000.0
DAY = 86_400.0


def told(*times: float) -> tuple[OpenTurn, list[Draft]]:
    """A prompt at the first time, then an edit of `f0`, `f1`, ... (nineteen in turn) at each of them."""
    state, drafts = fed(None, Event(EventKind.PROMPT, "plain", "s", times[0], text="Do one thing"))
    for number, at in enumerate(times):
        edit = Event(EventKind.EDITED, "plain", "s", at, edits=(FileEdit(f"/f{number % 19}"),))
        state, more = fed(state, edit)
        drafts += more
    assert state is not None
    return state, drafts


def modified(drafts: list[Draft]) -> list[object]:
    return [draft.item["files_modified"] for draft in drafts]


@pytest.mark.parametrize("back", [1.0, 29.0, 3_600.0, 20 * 3_600.0])
def test_a_clock_put_back_keeps_the_part_and_its_latest_time(back: float) -> None:
    state, drafts = told(START, START - back, START - back + 1)
    shown = current(state)
    assert drafts == [] and shown is not None
    assert shown.item["files_modified"] == ["/f0", "/f1", "/f2"]
    assert shown.item["at"] == START


def test_a_time_far_ahead_of_what_follows_does_not_stay() -> None:
    state, drafts = told(START + 300 * DAY, START, START + 1)
    shown = current(state)
    assert drafts == [] and shown is not None
    assert shown.item["files_modified"] == ["/f0", "/f1", "/f2"] and shown.item["at"] == START + 1


def test_a_part_lasts_no_longer_for_a_clock_put_back() -> None:
    times = [START + 60 * 10] + [START + 20 * number for number in range(60)]
    _, drafts = told(*times)
    assert [draft.item["at"] for draft in drafts] == [START + 880]


def test_a_jump_ahead_cuts_like_a_rest() -> None:
    state, drafts = told(START, START + 7_200)
    assert modified(drafts) == [["/f0"]]
    assert current(state) is not None


@pytest.mark.parametrize("at", [math.nan, math.inf, -math.inf, -5.0, 1e300])
def test_a_time_that_is_none_counts_as_the_one_before(at: float) -> None:
    state, drafts = told(START, at, START + 2)
    shown = current(state)
    assert drafts == [] and shown is not None
    assert shown.item["files_modified"] == ["/f0", "/f1", "/f2"] and shown.item["at"] == START + 2
    assert due(state, at) == (state, [])


def test_a_rest_is_counted_anew_when_the_clock_was_put_back() -> None:
    state, _ = told(START)
    now = START - 5_000
    waiting, drafts = due(state, now)
    assert drafts == [] and waiting is not None
    waiting, drafts = due(waiting, now + 29)
    assert drafts == [] and waiting is not None
    _, drafts = due(waiting, now + 30)
    assert modified(drafts) == [["/f0"]]


def test_a_session_at_rest_is_let_go_of_after_a_month_unless_its_prompts_are_counted() -> None:
    named = Event(EventKind.PROMPT, "plain", "s", START, text="Do one thing", turn="p1")
    state, _ = fed(None, named)
    assert state is not None
    assert not is_open(state)
    assert due(state, START + 30 * DAY - 1)[0] == state
    assert due(state, START + 30 * DAY) == (None, [])
    counted, _ = told(START)
    resting, drafts = due(counted, START + 40)
    assert len(drafts) == 1 and resting is not None
    assert is_open(counted) and not is_open(resting)
    assert due(resting, START + 30 * DAY - 1) == (resting, [])
    rested, drafts = due(resting, START + 30 * DAY)
    assert drafts == [] and rested is not None
    assert (rested.prompts, rested.turn, rested.former) == (counted.prompts, None, None)
    assert due(rested, START + 401 * DAY) == (rested, [])


def test_a_session_of_which_nothing_is_known_keeps_nothing() -> None:
    for kind in (EventKind.SESSION_STARTED, EventKind.SESSION_ENDED, EventKind.SEARCHED):
        assert fed(None, Event(kind, "plain", "s", START)) == (None, [])
