"""`graphmem evaluate recall`: a set of questions asked, as tables or as JSON, and refused in one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

FIGURES = {"hit", "interference", "misleading", "idle", "mrr", "recall_1", "recall_5"}


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """Two projects that both have a port; one question has no answer."""
    for name, port in (("shop", 8000), ("bank", 9000)):
        fact = f"The API listens on port {port}"
        told = {"id": name, "title": "A port", "facts": [fact], "at": "2026-01-01T10:00:00Z"}
        (tmp_path / f"{name}.jsonl").write_text(f"{json.dumps(told)}\n", encoding="utf-8")
    head = {"projects": {"shop": "shop.jsonl", "bank": "bank.jsonl"}, "asked_at": "2026-01-02"}
    asked = {"id": "q1", "project": "shop", "kind": "facts", "language": "en", "text": "API port?"}
    port = asked | {"expects": [{"observation": "shop", "fact": 0}]}
    nothing = asked | {"id": "q2", "text": "端口由谁决定?", "language": "zh", "expects": []}
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in (head, port, nothing)), encoding="utf-8")
    return path


def test_the_figures_are_there_for_machines(graphmem: Any, questions: Path) -> None:
    shape = graphmem.good("evaluate", "recall", questions, "--controls", "--ablation", "--json").shape
    assert (shape["set"], shape["part"], shape["questions"]) == (str(questions), "report", 2)
    assert shape["hit"] == {"mean": 1.0, "low": 1.0, "high": 1.0}
    assert shape["interference"]["mean"] == 0.0
    assert shape.keys() >= FIGURES
    assert shape["by_kind"]["facts"]["questions"] == 2
    assert {tongue: each["questions"] for tongue, each in shape["by_language"].items()} == {"en": 1, "zh": 1}
    assert shape["controls"].keys() == {"project", "supersession"}
    assert shape["controls"]["supersession"]["telling"] is False
    assert shape["ablation"]["pays"] is False
    assert shape["ablation"]["by_kind"]["facts"]["with"].keys() >= FIGURES
    first, second = shape["outcomes"]
    assert (first["id"], first["hit"], second["id"], second["hit"]) == ("q1", True, "q2", None)
    assert "shop#0" in first["shown"]
    assert "8000" in first["context"]
    assert not graphmem.home.exists()


def test_a_person_gets_tables_and_the_questions_that_failed(graphmem: Any, questions: Path) -> None:
    outcome = graphmem(
        "evaluate",
        "recall",
        questions,
        *("--controls", "--ablation", "--verbose"),
        environment={"COLUMNS": "90"},
    )
    assert (outcome.status, outcome.err) == (0, "")
    for words in (
        "to reach at least 0.95",
        "all projects in one memory",
        "does not pay",
        "of which something is not as it should be",
    ):
        assert words in outcome.out
    assert max(len(line) for line in outcome.out.splitlines()) <= 90


def test_without_a_file_the_set_that_ships_is_asked(graphmem: Any) -> None:
    outcome = graphmem.good("evaluate", "recall", "--part", "choose", "--verbose")
    assert "of the part 'choose'" in outcome.out
    assert "143 observations" in outcome.out
    assert "of which something is not as it should be" in outcome.out


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "can't be opened"),
        ("", "is empty"),
        ("{}\n", "line 1: 'projects' is missing"),
        ("nonsense\n", "line 1: not valid JSON"),
        (b"\xff\xfe{}", "UTF-16"),
    ],
)
def test_a_file_that_is_no_set_is_one_sentence(
    graphmem: Any, tmp_path: Path, content: str | bytes | None, says: str
) -> None:
    path = tmp_path / "set.jsonl"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    outcome = graphmem("evaluate", "recall", path)
    assert (outcome.status, outcome.out, outcome.err.count("\n")) == (1, "", 1)
    assert says in outcome.err


def test_a_part_that_does_not_exist_is_wrong_use(graphmem: Any, questions: Path) -> None:
    outcome = graphmem("evaluate", "recall", questions, "--part", "best")
    assert (outcome.status, outcome.out) == (2, "")
    assert "report" in outcome.err
