from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.baselines import GlobalFrequency, Jaccard, Rose, SameFolder
from inference.lineage import Change, Lineage, Mention
from inference.replay import (
    QUESTION_COST,
    Context,
    Line,
    Outcome,
    Rules,
    eligible,
    questions,
    replay,
    resolve,
)

HOUR = 3_600.0
CHANGES = {"A": Change.ADDED, "M": Change.MODIFIED, "D": Change.DELETED, "R": Change.RENAMED}


def line(
    number: int, *paths: str, added: tuple[str, ...] = (), actor: str = "a", at: float | None = None
) -> Line:
    mentions = tuple(Mention(Change.ADDED, path) for path in added)
    mentions += tuple(Mention(Change.MODIFIED, path) for path in paths)
    moment = number * HOUR if at is None else at
    return Line(number, moment, "s", actor, f"title {number}", mentions)


class Noted:
    """A predictor that answers from a list and remembers what it was told and asked."""

    def __init__(self, *answer: tuple[str, float]) -> None:
        self.answer = answer
        self.log: list[tuple[str, object]] = []

    def observe(self, told: Line) -> None:
        self.log.append(("told", told.number))

    def predict(self, path: str, context: Context) -> list[tuple[str, float]]:
        self.log.append(("asked", path))
        self.log.append(("context", context))
        return list(self.answer)


def little_history() -> list[Line]:
    """Five pairs, then in the test period: a/b/c together, and a alone."""
    lines = [line(0, added=("x/a", "x/b", "y/c"))]
    lines += [line(number, "x/a", "x/b") for number in range(1, 4)]
    return [*lines, line(4, "x/a", "x/b", "y/c"), line(5, "x/a"), line(6, "x/b", actor="b")]


def test_the_test_period_is_the_last_fifth_of_what_can_be_asked_about() -> None:
    lines = [line(0, added=("a", "b"))] + [line(number, "a", "b") for number in range(1, 26)]
    asked = [told.number for told, found in questions(lines, Lineage(), Rules()) if found]
    assert asked == [21, 22, 23, 24, 25]
    few = Rules(at_most=2)
    assert [told.number for told, found in questions(lines, Lineage(), few) if found] == [24, 25]


def test_lines_of_one_file_of_too_many_and_of_new_files_do_not_rank() -> None:
    many = [f"f{number}" for number in range(31)]
    lines = [
        line(0, added=(*many, "a", "b")),
        line(1, "a"),
        line(2, *many),
        line(3, "a", added=("new", "newer")),
        line(4, "a", "b"),
        line(5, "a", "b", added=("newest",)),
    ]
    assert eligible(resolve(lines), Rules()) == [4, 5]


def test_each_question_comes_before_its_answer_is_told() -> None:
    noted = Noted()
    replay(little_history(), {"noted": noted})
    order = [entry for entry in noted.log if entry[0] != "context"]
    first = order.index(("asked", "x/a"))
    assert order[:first] == [("told", number) for number in range(4)]
    assert order[first:] == [
        ("asked", "x/a"),
        ("asked", "x/b"),
        ("asked", "y/c"),
        ("told", 4),
        ("asked", "x/a"),
        ("told", 5),
        ("asked", "x/b"),
        ("told", 6),
    ]


@pytest.mark.parametrize("intent", [False, True])
def test_the_words_of_the_task_are_told_only_when_asked_for(intent: bool) -> None:
    noted = Noted()
    replay(little_history(), {"noted": noted}, Rules(intent=intent))
    contexts = [entry for kind, entry in noted.log if kind == "context"]
    assert contexts[0] == Context(4 * HOUR, "s", "a", "title 4" if intent else None)


def test_figures_are_those_counted_by_hand() -> None:
    answer = (("x/b", 0.8), ("nowhere", 0.7), ("x/b", 0.6), ("x/a", 0.4))
    outcome = replay(little_history(), {"noted": Noted(*answer)})["noted"]
    # Asked about x/a: b is right at 1 of {b, c}. About x/b: a at 1 of {a, c}. About y/c: b and a at 1 and 2.
    assert outcome.scores is not None
    assert outcome.scores.average_precision == pytest.approx((0.5 + 0.5 + 1.0) / 3)
    assert outcome.scores.hit_1 == 1.0
    assert outcome.scores.recall_10 == pytest.approx((0.5 + 0.5 + 1.0) / 3)
    assert (outcome.lines, outcome.queries, outcome.singles) == (1, 3, 2)
    (tally,) = (each for each in outcome.warnings if each.threshold == 0.7)
    # b is named for x/a (right), y/c (right) and for x/a alone (wrong; b follows within a day, by another).
    assert (tally.queries, tally.warned, tally.pairs, tally.hits) == (5, 3, 3, 2)
    assert tally.day_hits == 2
    assert tally.singles_warned == 1
    # Entries: .8 right, .4 right, .8 and .4 right, .8 wrong, .4 wrong.
    assert outcome.calibration_error == pytest.approx((abs(2.4 - 2) + abs(1.2 - 2)) / 6)


def test_work_of_the_same_actor_within_a_day_counts_as_later() -> None:
    lines = [line(0, added=("a", "b", "c")), line(1, "a", "b"), line(2, "a", "b"), line(3, "c")]
    found = [question for _, asked in questions(lines, Lineage(), Rules()) for question in asked]
    assert {question.path: len(question.later) for question in found} == {"a": 1, "b": 1, "c": 0}


def test_a_file_is_known_under_its_new_name_after_a_rename() -> None:
    moved = Line(
        3, 3 * HOUR, "s", "a", "", (Mention(Change.RENAMED, "new", "a"), Mention(Change.MODIFIED, "b"))
    )
    lines = [line(0, added=("a", "b")), line(1, "a", "b"), line(2, "a", "b"), moved]
    answers = replay(lines, {"old": Noted(("a", 0.9))})["old"]
    assert answers.scores is not None
    assert answers.scores.hit_1 == pytest.approx(1 / 2)
    after = [*lines, line(4, "new", "b")]
    asked = [q.path for _, found in questions(after, Lineage(), Rules()) for q in found]
    assert sorted(asked) == ["b", "new"]


def test_many_files_are_asked_about_in_a_fixed_draw_of_eight() -> None:
    names = [f"f{number:02}" for number in range(20)]
    lines = [line(0, added=tuple(names)), line(1, *names)]
    draws = [[q.path for _, found in questions(lines, Lineage(), Rules()) for q in found] for _ in range(2)]
    assert draws[0] == draws[1]
    assert len(set(draws[0])) == 8


@pytest.mark.parametrize("lines", [[], [line(0, added=("a",))], [line(0, "a"), line(1, "a")]])
def test_a_history_without_a_question_gives_no_scores(lines: list[Line]) -> None:
    outcome = replay(lines, {"rose": Rose()})["rose"]
    assert outcome.scores is None
    assert (outcome.lines, outcome.queries, outcome.calibration_error) == (0, 0, 0.0)


def test_progress_is_told_by_lines_and_questions() -> None:
    told: list[tuple[int, int]] = []
    replay(little_history(), {"rose": Rose()}, progress=lambda done, total: told.append((done, total)))
    assert [done for done, _ in told] == sorted({done for done, _ in told})
    assert told[0] == (1, 7 + 5 * QUESTION_COST)
    assert told[-1] == (7 + 5 * QUESTION_COST, 7 + 5 * QUESTION_COST)


def answers(predictor: Any, path: str, lines: list[Line]) -> dict[str, float]:
    for told in lines:
        predictor.observe(told)
    return dict(predictor.predict(path, Context(0.0, "s", "a")))


def test_the_baselines_say_what_they_are_defined_to_say() -> None:
    lines = [*little_history(), line(7, "x/a", *(f"bulk{number}" for number in range(30)))]
    rose = answers(Rose(), "x/a", lines)
    assert rose == {"x/b": pytest.approx(5 / 6), "y/c": pytest.approx(2 / 6)}
    assert answers(Jaccard(), "x/b", lines)["x/a"] == pytest.approx(5 / (6 + 7 - 5))
    assert answers(SameFolder(), "x/a", lines) == {"x/b": pytest.approx(6 / 8)}
    frequency = answers(GlobalFrequency(), "y/c", lines)
    assert frequency["x/a"] == pytest.approx(7 / 8)
    assert list(frequency)[:2] == ["x/a", "x/b"]


@pytest.mark.parametrize("baseline", [Rose, Jaccard, SameFolder, GlobalFrequency])
def test_no_baseline_names_the_queried_file_or_one_that_is_gone(baseline: type) -> None:
    gone = Line(7, 7 * HOUR, "s", "a", "", (Mention(Change.DELETED, "x/b"),))
    assert answers(baseline(), "x/a", [*little_history(), gone]).keys() <= {"y/c"}
    assert answers(baseline(), "never/seen", []) == {}


def test_a_file_that_moved_counts_for_its_new_folder() -> None:
    moved = Line(7, 7 * HOUR, "s", "a", "", (Mention(Change.RENAMED, "y/b", "x/b"),))
    assert set(answers(SameFolder(), "y/c", [*little_history(), moved])) == {"y/b"}


@given(st.lists(st.lists(st.sampled_from("abcdefg"), unique=True, min_size=1, max_size=5), max_size=30))
def test_no_history_breaks_the_protocol(groups: list[list[str]]) -> None:
    lines = [line(number, *group) for number, group in enumerate(groups)]
    baselines = {"rose": Rose(), "jaccard": Jaccard(), "folder": SameFolder(), "frequency": GlobalFrequency()}
    for outcome in replay(lines, baselines).values():
        assert 0.0 <= outcome.calibration_error <= 1.0
        assert outcome.queries >= outcome.lines
        assert (outcome.scores is None) == (outcome.lines == 0)


def history_lines(path: Path) -> list[Line]:
    from datetime import datetime

    found = []
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for number, text in enumerate(stream):
            record = json.loads(text)
            mentions = tuple(
                Mention(CHANGES[each["status"]], each["path"], each.get("old_path"))
                for each in record["files"]
            )
            at = datetime.fromisoformat(record["ts"]).timestamp()
            found.append(Line(number, at, record["session"], record["author"], record["title"], mentions))
    return found


PUBLISHED = {
    "httpx": {
        "hit_1": 0.384,
        "hit_5": 0.665,
        "recall_10": 0.559,
        "average_precision": 0.398,
        "ece": 0.077,
        "n": 154,
    },
    "graphiti": {
        "hit_1": 0.417,
        "hit_5": 0.685,
        "recall_10": 0.588,
        "average_precision": 0.408,
        "ece": 0.170,
        "n": 88,
    },
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_rose_gets_the_figures_published_for_it(name: str, data_folder: Any) -> None:
    outcome: Outcome = replay(
        history_lines(data_folder.file(f"histories/{name}.jsonl.gz")), {"rose": Rose()}
    )["rose"]
    published = PUBLISHED[name]
    assert outcome.scores is not None
    assert outcome.lines == published["n"]
    assert outcome.calibration_error == pytest.approx(published["ece"], abs=0.0005)
    for figure in ("hit_1", "hit_5", "recall_10", "average_precision"):
        assert getattr(outcome.scores, figure) == pytest.approx(published[figure], abs=0.0005), figure
