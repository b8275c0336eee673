"""`graphmem evaluate`: GraphMem beside the baselines on a history, printed or as JSON, storing nothing."""

from __future__ import annotations

import json
import re
import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from api.evaluation_report import writer_of
from graphmem.errors import InvalidInputError

PREDICTORS = ["GraphMem", "ROSE", "TARMAQ", "Jaccard", "coupling", "same folder", "frequency"]


def session_turns() -> Iterator[dict[str, Any]]:
    """Twelve sessions of two turns: a page is read and changed, then what it shows."""
    for number in range(24):
        part = "page" if number % 2 == 0 else "shop"
        yield {
            "id": f"t{number}",
            "session": f"s{number // 2}",
            "title": "t",
            "files_read": [f"{part}.ts", "docs.md"],
            "files_modified": [f"{part}.ts", f"{part}.css"],
            "at": f"2026-01-{number // 2 + 1:02}T{10 + number % 2}:00:00Z",
        }


@pytest.fixture
def turns(tmp_path: Path) -> Path:
    source = tmp_path / "turns.jsonl"
    made = (
        {"id": f"o{n}", "title": "t", "files_modified": ["a.ts", "b.ts"], "at": f"2026-01-{n + 1:02d}"}
        for n in range(20)
    )
    source.write_text("".join(json.dumps(turn) + "\n" for turn in made), encoding="utf-8")
    return source


@pytest.fixture
def history(make_history: Callable[..., Path], tmp_path: Path) -> Path:
    groups = [(f"src/{name}.py", f"tests/test_{name}.py", f"docs/{name}.md") for name in "abcdefgh"]
    commits = [(f"Change {number}", groups[number * 5 % 8][: 2 + number % 2]) for number in range(120)]
    return make_history(tmp_path / "<b>shop", commits)


def test_all_predictors_stand_beside_each_other_and_the_page_holds_the_same(
    graphmem: Any, history: Path, tmp_path: Path
) -> None:
    report = tmp_path / "alerts.html"
    narrow = {"COLUMNS": "80"}
    outcome = graphmem("evaluate", "git", "--report", report, cwd=history, environment=narrow)
    assert (outcome.status, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    first_words = [line.split("  ")[0] for line in lines]
    assert [word for word in first_words if word in PREDICTORS][: len(PREDICTORS)] == PREDICTORS
    assert max(cell_len(line) for line in lines) <= 80
    assert sum(line.startswith("  with the title") for line in lines) == 1
    assert not graphmem.home.exists()
    page = report.read_text(encoding="utf-8")
    for needed in ("<svg", "prefers-color-scheme: dark", "width=device-width", "real prompt gives less"):
        assert needed in page
    assert re.search(r"<script|https?://|src=|@import|url\(", page) is None
    assert "&lt;b&gt;shop" in page
    assert "<b>shop" not in page
    for name in PREDICTORS:
        assert f"<td>{name}</td>" in page


def test_the_figures_are_there_for_machines(graphmem: Any, history: Path) -> None:
    shape = graphmem.good("evaluate", "git", history, "--all", "--json").shape
    assert (shape["source"], shape["report"], list(shape["predictors"])) == ("git", None, PREDICTORS)
    found = shape["predictors"]["GraphMem"]
    assert found["scores"]["hit_5"] > 0.9
    assert found["queries"] + found["singles"] == found["of"]
    assert (
        found["scores"]["average_precision"] > shape["predictors"]["frequency"]["scores"]["average_precision"]
    )
    assert [row["threshold"] for row in found["warnings"]] == [0.5, 0.6, 0.7, 0.8, 0.9]
    assert found["worded"]["queries"] == found["queries"]
    assert found["given"].keys() >= {"threshold", "precision", "recall", "alerts_per_100"}
    assert 0.5 <= shape["recommended_threshold"] <= 0.95
    assert shape["sessions"] is None


def test_a_picture_is_drawn(graphmem: Any, turns: Path, tmp_path: Path) -> None:
    picture = tmp_path / "alerts.PNG"
    graphmem.good("evaluate", "jsonl", turns, "--report", picture)
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", content[16:24])
    assert width > height > 400


def test_without_matplotlib_a_picture_is_refused_before_anything_is_measured(
    turns: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(InvalidInputError, match="pip install matplotlib"):
        writer_of(tmp_path / "alerts.png")


@pytest.mark.parametrize(
    ("name", "says"),
    [("alerts.pdf", "ends in .html or .png"), ("alerts", "no ending"), ("no/such/alerts.html", "no folder")],
)
def test_a_report_of_another_kind_or_place_is_refused_at_once(
    graphmem: Any, turns: Path, tmp_path: Path, name: str, says: str
) -> None:
    outcome = graphmem("evaluate", "jsonl", turns, "--report", tmp_path / name, "--json")
    assert outcome.status != 0
    assert says in outcome.err + outcome.out


def test_sessions_of_agents_have_a_table_of_their_own(graphmem: Any, tmp_path: Path) -> None:
    source = tmp_path / "sessions.jsonl"
    source.write_text("".join(json.dumps(turn) + "\n" for turn in session_turns()), encoding="utf-8")
    outcome = graphmem("evaluate", "jsonl", source, environment={"COLUMNS": "80"})
    assert outcome.status == 0
    assert "12 sessions with two or more edited files" in outcome.out
    assert "git + folder + twin" in outcome.out
    assert max(cell_len(line) for line in outcome.out.splitlines()) <= 80


def test_a_file_of_observations_can_be_replayed(graphmem: Any, turns: Path) -> None:
    shape = graphmem.good("evaluate", "jsonl", turns, "--json").shape
    assert shape["predictors"]["GraphMem"]["scores"]["hit_1"] == 1.0
    assert any("hardly more than luck" in remark for remark in shape["remarks"])


def test_too_little_history_is_said_to_be_too_little(
    graphmem: Any, git_repository: Callable[..., Any]
) -> None:
    repository = git_repository("young")
    repository.touch("Begin", "a.py", "b.py")
    outcome = graphmem.good("evaluate", "git", cwd=repository.path)
    assert "Too little history to measure" in outcome.out
    shape = graphmem.good("evaluate", "git", "--json", cwd=repository.path).shape
    assert shape["predictors"]["GraphMem"]["scores"] is None


@pytest.mark.parametrize("arguments", [("git", "."), ("jsonl", "nothing.jsonl"), ("jsonl", ".")])
def test_what_cant_be_read_is_a_sentence(graphmem: Any, tmp_path: Path, arguments: tuple[str, str]) -> None:
    outcome = graphmem("evaluate", *arguments, cwd=tmp_path)
    assert (outcome.status, outcome.out, outcome.err.count("\n")) == (1, "", 1)
