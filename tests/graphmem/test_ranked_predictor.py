"""Who answers a question, the shipped models or the closed form, and what a model's answer holds."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphmem import Project, ranking_model
from graphmem.calibration import unchanged
from graphmem.chronicler import Chronicler
from graphmem.graph import Decision, EdgeFilter, VerdictKind
from graphmem.instant import DAY
from graphmem.model import FileStatus, Impact, Observation, Tier
from graphmem.postings import Postings
from graphmem.recall.predictor import LEAST_WORK, Asker, Predictions, predict
from graphmem.task_words import task_words

START = 1_700_000_000.0
LONG = LEAST_WORK + 20
TASKS = (
    ("Let the cart remember its items", ("src/shop.py", "src/cart.py", "tests/test_cart.py")),
    ("Show a login form after signing out", ("src/shop.py", "web/login.html", "src/session.py")),
    ("修复登录页面丢失会话的问题", ("src/session.py", "web/login.html")),
    ("Count stock before paying", ("src/stock.py", "src/pay.py")),
    ("Describe paying", ("docs/pay.md",)),
)


def work(number: int, **more: Any) -> Observation:
    title, files = TASKS[number % len(TASKS)]
    given: dict[str, Any] = {"title": title, "files_modified": files, "actor": f"a{number % 3}"}
    at = START + number * DAY
    return Observation(**({"id": f"o{number}", "session": f"s{number}", "at": at} | given | more))


def history(count: int, since: int = 0) -> list[Observation]:
    return [work(number) for number in range(since, since + count)]


def asked(memory: Any, *paths: str, task: str = "", as_of: float | None = None, **more: Any) -> Predictions:
    """Ask at the end of the history, or of a past moment, as the product asks."""
    with Postings(memory.database, Chronicler().at).view(as_of) as view:
        files = [file for file in map(view.file, paths) if file is not None]
        now = START + 1_000 * DAY if as_of is None else as_of
        return predict(view, files, Asker(now, "a1", task_words(task)), 20, **more)


def chances(found: Predictions) -> dict[str, float]:
    return {entry.file.path: entry.ranked.probability for entry in found.ranked}


@pytest.fixture
def long_past(recorded: Callable[..., Any]) -> Any:
    return recorded(*history(LONG))


# ---- who answers -----------------------------------------------------------------------------------


def test_over_enough_work_the_models_answer_and_under_it_the_closed_form(
    recorded: Callable[..., Any],
) -> None:
    memory = recorded(*history(LEAST_WORK - 1))
    assert not asked(memory, "src/shop.py").is_ranked
    memory.tell(work(LEAST_WORK - 1))
    assert asked(memory, "src/shop.py").is_ranked
    assert not asked(memory, "src/shop.py", as_of=START + (LEAST_WORK - 2) * DAY).is_ranked


def test_both_name_the_same_companions_with_the_same_evidence(long_past: Any) -> None:
    ranked = asked(long_past, "src/shop.py")
    ranking_model.switch(False)
    try:
        closed = asked(long_past, "src/shop.py")
    finally:
        ranking_model.switch(True)
    assert (ranked.is_ranked, closed.is_ranked) == (True, False)

    def evidence(found: Predictions) -> dict[str, tuple[object, ...]]:
        rows = ((entry.file.path, entry.ranked) for entry in found.ranked)
        return {path: (e.together, e.of, e.sessions, e.last_seen, e.keys) for path, e in rows if e.together}

    assert evidence(ranked) == evidence(closed)
    assert len(evidence(ranked)) == 4
    assert {file.path for file in ranked.linked} >= evidence(ranked).keys()


def test_without_models_the_closed_form_answers_and_that_is_said_once(
    long_past: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(ranking_model, "FOLDER", tmp_path / "nowhere")
    monkeypatch.setattr(ranking_model, "_LOADED", type(ranking_model._LOADED)())
    with caplog.at_level(logging.WARNING):
        found = [asked(long_past, "src/shop.py") for _ in range(3)]
    assert not any(each.is_ranked for each in found)
    assert all(each.ranked for each in found)
    (said,) = [record.getMessage() for record in caplog.records if "ranking model" in record.getMessage()]
    assert "closed form" in said


# ---- what is answered --------------------------------------------------------------------------------


def test_probabilities_fall(long_past: Any) -> None:
    for task in ("", TASKS[1][0]):
        chances = [entry.ranked.probability for entry in asked(long_past, "src/shop.py", task=task).ranked]
        assert chances == sorted(chances, reverse=True)
        assert all(0.0 <= chance <= 1.0 for chance in chances)


@pytest.mark.parametrize("number", [0, 1])
def test_a_task_brings_the_files_of_such_tasks_forward(long_past: Any, number: int) -> None:
    title, files = TASKS[number]
    along = set(files) - {"src/shop.py"}
    others = set(TASKS[1 - number][1]) - {"src/shop.py"}
    plain, told = (chances(asked(long_past, "src/shop.py", task=task)) for task in ("", title))

    def lead(found: dict[str, float]) -> float:
        return min(found.get(path, 0.0) for path in along) - max(found.get(path, 0.0) for path in others)

    assert lead(told) > max(0.0, lead(plain))


def test_a_task_in_chinese_brings_its_files_forward(long_past: Any) -> None:
    plain, told = (asked(long_past, "web/login.html", task=task) for task in ("", TASKS[2][0]))
    assert told.ranked[0].file.path == "src/session.py"
    assert chances(told)["src/session.py"] > chances(told).get("src/shop.py", 0.0)
    assert told != plain


def test_a_past_moment_is_answered_by_a_memory_of_only_that_past(
    long_past: Any, recorded: Callable[..., Any]
) -> None:
    moment = START + (LONG - 0.5) * DAY
    alone = asked(long_past, "src/shop.py", task=TASKS[0][0], as_of=moment)
    later = [
        work(number, title="Cart", files_modified=("src/shop.py", "src/late.py"))
        for number in range(LONG, LONG + 30)
    ]
    long_past.tell(*later)
    then = asked(long_past, "src/shop.py", task=TASKS[0][0], as_of=moment)
    assert then.is_ranked
    assert (then.ranked, then.linked) == (alone.ranked, alone.linked)
    assert "src/late.py" in chances(asked(long_past, "src/shop.py"))


def test_a_file_that_is_gone_or_asked_about_is_not_named(long_past: Any) -> None:
    long_past.tell(work(LONG, id="gone", files_modified=(), files_deleted=("src/cart.py",)))
    found = asked(long_past, "src/shop.py", "src/session.py", task=TASKS[0][0])
    assert found.is_ranked
    assert {"src/cart.py", "src/shop.py", "src/session.py"}.isdisjoint(chances(found))


def test_a_curve_of_the_own_past_takes_the_place_of_that_of_many_projects(long_past: Any) -> None:
    plain = chances(asked(long_past, "src/shop.py", calibrate=unchanged))
    halved = chances(asked(long_past, "src/shop.py", calibrate=lambda said: said / 2))
    assert list(halved) == list(plain)
    assert list(halved.values()) == pytest.approx([chance / 2 for chance in plain.values()])


# ---- in a project --------------------------------------------------------------------------------------


@pytest.fixture
def grown(shop: Project) -> Project:
    shop.observe(history(LONG))
    assert shop.wait_visible()
    return shop


def test_a_new_file_stays_unknown_and_what_it_may_go_with_has_a_reason(grown: Project) -> None:
    for path, task in (("tests/test_session.py", None), ("src/新的.py", "Count stock"), ("Makefile", None)):
        answer = grown.impact([path], intent=task)
        assert (answer.status, answer.warning) == (FileStatus.UNKNOWN, None)
        assert path in (answer.reason or "")
        assert all(entry.tier is Tier.POSSIBLE and entry.signals for entry in answer.affected)
        assert path not in {entry.path for entry in answer.affected}
    named = grown.impact(["tests/test_session.py"]).affected
    assert "named_alike" in next(entry.signals for entry in named if entry.path == "src/session.py")


def test_a_new_file_beside_a_known_one_adds_to_it(grown: Project) -> None:
    alone, both = (grown.impact(["src/shop.py", *new]) for new in ((), ("tests/test_pay.py",)))
    assert both.status is FileStatus.KNOWN
    assert "tests/test_pay.py" in (both.reason or "")
    found = [{entry.path: entry.probability for entry in answer.affected} for answer in (alone, both)]
    assert all(found[1][path] >= chance for path, chance in found[0].items() if path in found[1])


def test_the_answer_is_the_same_after_a_rebuild_and_when_asked_again(grown: Project) -> None:
    def answers() -> list[Impact]:
        given = [grown.impact(["src/shop.py"], intent=task, actor="a1") for task in (None, TASKS[1][0])]
        return [*given, grown.impact(["src/new.py"]), grown.impact(["src/shop.py", "src/pay.py"])]

    before = answers()
    assert answers() == before
    grown.rebuild()
    assert answers() == before


def test_a_verdict_moves_the_models_word_and_undoing_it_gives_it_back(grown: Project) -> None:
    def said() -> list[tuple[str, float, str]]:
        answer = grown.impact(["src/stock.py"], limit=50)
        return [(entry.path, entry.probability, entry.tier) for entry in answer.affected]

    edge = next(
        each
        for each in grown.graph.edges(EdgeFilter(), limit=200).items
        if {each.source.name, each.target.name} == {"src/stock.py", "src/pay.py"}
    )
    before = said()
    assert "src/pay.py" in {path for path, *_ in before}
    grown.graph.judge([Decision(edge.id, VerdictKind.REJECT)])
    assert "src/pay.py" not in {path for path, *_ in said()}
    grown.graph.judge([Decision(edge.id, VerdictKind.UNDO)])
    assert said() == before
    grown.graph.judge([Decision(edge.id, VerdictKind.CONFIRM)])
    assert said()[0][2] == Tier.CONFIRMED
    grown.graph.judge([Decision(edge.id, VerdictKind.UNDO)])
    assert said() == before
