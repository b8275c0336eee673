"""What a project's own past says of its predictions: when it is looked at, what is kept, and for whom."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from graphmem import calibration, ranking_model
from graphmem.calibration import (
    HALF,
    NAME,
    Answers,
    Calibration,
    Listed,
    Reading,
    calibrate,
    calibration_at,
    calibrations,
    is_due,
    look,
    outlook,
    past_questions,
    reading,
)
from graphmem.derived import open_derived
from graphmem.instant import DAY
from graphmem.model import Observation, Tier
from graphmem.postings import Postings
from graphmem.projection import catch_up
from graphmem.recall.impact import impact
from graphmem.recall.surroundings import Question
from inference.calibration import CEILING, FLOOR, Curve, Entry, blended
from inference.ranking import WARNING_THRESHOLD

AFTER_ALL = 1e12


@pytest.fixture(autouse=True)
def no_models() -> Iterator[None]:
    """The closed form answers, whatever was shipped."""
    before = ranking_model.is_wanted()
    ranking_model.switch(False)
    yield
    ranking_model.switch(before)


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


def threshold_at(memory: Any, moment: float, *, with_task: bool = False) -> float:
    return outlook(calibration_at(memory.journal, moment), with_task).threshold


# ---- what a look gives -----------------------------------------------------------------------------


def test_where_what_was_said_came_true_the_threshold_is_low(steady: Any) -> None:
    found = calibrate(steady.journal, steady.view, go_on)
    assert found is not None
    assert (found.at, found.questions, found.observations) == (150 * DAY, 298, 150)
    assert found.plain.threshold == FLOOR
    assert (found.plain.said, found.plain.came_true) == ((), ()), "the closed form's word stands as it is"
    assert threshold_at(steady, AFTER_ALL) == found.plain.threshold


def test_where_it_did_not_the_threshold_rises(recorded: Callable[..., Any]) -> None:
    memory = recorded(*past(200, misleading=True))
    found = calibrate(memory.journal, memory.view, go_on)
    assert found is not None
    assert WARNING_THRESHOLD < found.plain.threshold <= CEILING


def test_a_short_past_keeps_the_threshold_of_other_projects(recorded: Callable[..., Any]) -> None:
    memory = recorded(*past(60, misleading=False))
    found = look(memory.view, AFTER_ALL, 60)
    assert found is not None
    assert (found.plain.threshold, found.told.threshold, found.questions) == (
        WARNING_THRESHOLD,
        WARNING_THRESHOLD,
        118,
    )
    assert not is_due(memory.journal)


def test_a_question_stands_for_as_many_edits_as_its_work_had(recorded: Callable[..., Any]) -> None:
    rows = [
        Observation(f"o{n}", f"s{n}", n * DAY, files_modified=tuple(f"{k}.py" for k in range(6)))
        for n in range(1, 4)
    ]
    last, *_ = past_questions(recorded(*rows).view, AFTER_ALL)
    assert {entry.weight for entry in last.plain} == {6 / 2}
    assert all(entry.right for entry in last.plain)


def test_bulk_work_and_mere_reading_ask_nothing(recorded: Callable[..., Any]) -> None:
    many = tuple(f"{number}.py" for number in range(31))
    rows = [
        Observation(f"o{n}", f"s{n}", n + 1.0, files_modified=many if n % 2 else (), files_read=many)
        for n in range(20)
    ]
    found = look(recorded(*rows).view, AFTER_ALL, 0)
    assert found is not None and (found.questions, found.at) == (0, 0.0)


def test_no_more_than_so_many_questions_are_asked_and_the_latest(steady: Any) -> None:
    asked = list(past_questions(steady.view, AFTER_ALL, at_most=31))
    assert [question.at for question in asked] == [(150 - number // 2) * DAY for number in range(31)]


def test_the_past_is_asked_of_what_was_known_then(steady: Any) -> None:
    before = look(steady.view, 120 * DAY, 0)
    steady.tell(*past(150, misleading=True, since=150))
    assert look(steady.view, 120 * DAY, 0) == before


def test_answers_of_an_earlier_look_are_not_asked_for_again(steady: Any) -> None:
    moments: list[float] = []
    known: Answers = {}

    def views(until: float) -> Any:
        moments.append(until)
        return steady.view(until)

    first = look(views, AFTER_ALL, 150, known=known)
    assert first == look(steady.view, AFTER_ALL, 150)
    moments.clear()
    assert look(views, AFTER_ALL, 150, known=known) == first
    assert moments == [AFTER_ALL], "only which work there is was asked"
    steady.tell(*past(2, misleading=False, since=150))
    moments.clear()
    again = look(views, AFTER_ALL, 152, known=known)
    assert again == look(steady.view, AFTER_ALL, 152)
    assert len(moments) == 1 + 2, "besides, the moments before the new work"


def test_later_answers_say_more_of_what_a_probability_is_worth(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Curve((0.0, 1.0), (0.0, 1.0))
    model = SimpleNamespace(digest="these", curve=lambda with_task: honest)
    monkeypatch.setattr(ranking_model.RankingModel, "load", lambda: model)
    rights, wrongs = [Listed(0.6125, True, 0.0, 2.0)] * 400, [Listed(0.6125, False, 0.0, 2.0, 0.25)] * 400
    found = reading([*rights, *wrongs], 400, True, 0)
    expected = blended([Entry(0.6125, True, 800.0), Entry(0.6125, False, 200.0)], honest)
    assert found.said == pytest.approx(expected.said)
    assert found.came_true == pytest.approx(expected.came_true)


def test_an_answer_counts_half_after_so_many_questions(
    recorded: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[Sequence[Listed]] = []

    def listening(entries: Sequence[Listed], *others: Any) -> Reading:
        heard.append(entries)
        return reading(entries, *others)

    monkeypatch.setattr(calibration, "reading", listening)
    look(recorded(*past(140, misleading=False)).view, AFTER_ALL, 140)
    ages = [entry.fresh for entry in heard[0]]
    assert ages[0] == 1.0
    assert ages[HALF] == pytest.approx(0.5)
    assert ages == sorted(ages, reverse=True)


def test_the_threshold_counts_old_namings_like_new_ones() -> None:
    rights, wrongs = [Listed(0.8, True, 0.0, 1.0)] * 90, [Listed(0.6, False, 0.0, 1.0, 0.1)] * 40
    assert reading([*rights, *wrongs], 300, False, 0).threshold == 0.8


def test_what_may_never_be_named_says_nothing_of_when_to_name() -> None:
    likely = [Listed(0.8, False, 0.0, 1.0)] * 100
    nameless = [Listed(0.95, True, 2.0, 1.0)] * 400
    assert reading([*likely, *nameless], 300, False, 0).threshold == CEILING
    assert reading(likely, 300, False, 0).entries == 100


# ---- when, and what is kept ------------------------------------------------------------------------


def test_it_is_looked_at_anew_when_a_twentieth_more_has_come_in(recorded: Callable[..., Any]) -> None:
    memory = recorded(*past(99, misleading=False))
    assert not is_due(memory.journal), "so little can't give questions enough"
    memory.tell(*past(51, misleading=False, since=99))
    assert is_due(memory.journal)
    calibrate(memory.journal, memory.view, go_on)
    assert not is_due(memory.journal)
    memory.tell(*past(7, misleading=False, since=150))
    assert not is_due(memory.journal)
    memory.tell(*past(1, misleading=False, since=157))
    assert is_due(memory.journal)


def test_a_look_that_is_told_to_stop_keeps_nothing(steady: Any) -> None:
    turns: list[bool] = []

    def stop_at_the_tenth() -> bool:
        turns.append(True)
        return len(turns) == 10

    assert calibrate(steady.journal, steady.view, stop_at_the_tenth) is None
    assert len(turns) == 10
    assert calibrations(steady.journal) == []
    assert is_due(steady.journal)


def test_a_past_moment_has_the_last_calibration_made_from_what_came_before(
    recorded: Callable[..., Any],
) -> None:
    memory = recorded(*past(192, misleading=True))
    first = calibrate(memory.journal, memory.view, go_on)
    memory.tell(*past(90, misleading=False, since=192))
    second = calibrate(memory.journal, memory.view, go_on)
    assert first is not None and second is not None
    assert second.plain.threshold < first.plain.threshold
    assert threshold_at(memory, 191 * DAY) == WARNING_THRESHOLD
    assert threshold_at(memory, 192 * DAY) == threshold_at(memory, 281 * DAY) == first.plain.threshold
    assert threshold_at(memory, 282 * DAY) == second.plain.threshold
    assert calibrations(memory.journal) == [first, second]


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


def test_it_outlives_a_rebuild_of_the_derived_file(steady: Any) -> None:
    kept = calibrate(steady.journal, steady.view, go_on)
    anew = open_derived(None)
    catch_up(steady.journal, anew)
    assert kept is not None
    assert calibration_at(steady.journal, AFTER_ALL) == kept
    again = look(Postings(anew).view, AFTER_ALL, 150)
    anew.close()
    assert again == kept, "the same past gives the same calibration"


# ---- for whom it holds -------------------------------------------------------------------------------

OF_MODELS = Calibration(
    Reading(0.6, 50, (0.2, 0.8), (0.1, 0.5)), Reading(0.8, 50, (0.5,), (0.4,)), 5.0, 300, 9, "these"
)
OF_THE_CLOSED_FORM = Calibration(Reading(0.6, 50), Reading(0.8, 50), 5.0, 300, 9)


def answering(monkeypatch: pytest.MonkeyPatch, digest: str | None) -> None:
    """Let models of that digest answer, or none."""
    model = None if digest is None else SimpleNamespace(digest=digest)
    monkeypatch.setattr(ranking_model.RankingModel, "load", lambda: model)


def test_what_the_models_said_is_not_used_for_the_closed_form(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, None)
    assert outlook(OF_MODELS, False) == (WARNING_THRESHOLD, None)
    assert outlook(OF_THE_CLOSED_FORM, False) == (0.6, None)
    assert outlook(OF_THE_CLOSED_FORM, True) == (0.8, None)


def test_what_others_said_is_not_used_for_the_models(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, "others")
    assert outlook(OF_THE_CLOSED_FORM, False) == (WARNING_THRESHOLD, None)
    assert outlook(OF_MODELS, False) == (WARNING_THRESHOLD, None), "newer models speak otherwise"
    answering(monkeypatch, "these")
    threshold, curve = outlook(OF_MODELS, False)
    assert threshold == 0.6
    assert curve is not None
    assert curve(np.array([0.0, 0.5, 1.0])) == pytest.approx([0.1, 0.3, 0.5])
    assert outlook(OF_MODELS, True).threshold == 0.8


def test_other_models_make_another_look_due(steady: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    calibrate(steady.journal, steady.view, go_on)
    assert not is_due(steady.journal)
    answering(monkeypatch, "others")
    assert is_due(steady.journal)


def test_what_is_kept_is_read_as_it_was(steady: Any) -> None:
    found = calibrate(steady.journal, steady.view, go_on)
    kept = steady.journal.checkpoint(NAME)
    assert kept is not None
    assert kept[0] == 150 * DAY
    assert calibrations(steady.journal) == [found]


def test_without_a_journal_or_a_look_the_threshold_is_that_of_other_projects() -> None:
    assert calibration_at(None, AFTER_ALL) is None
    assert outlook(None, False) == outlook(None, True) == (WARNING_THRESHOLD, None)
