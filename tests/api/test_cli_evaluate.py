"""`graphmem evaluate`: GraphMem beside the baselines on a history, printed or as JSON, storing nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

PREDICTORS = ["GraphMem", "ROSE", "Jaccard", "same folder", "frequency"]


@pytest.fixture
def history(make_history: Callable[..., Path], tmp_path: Path) -> Path:
    groups = [(f"src/{name}.py", f"tests/test_{name}.py", f"docs/{name}.md") for name in "abcdefgh"]
    commits = [(f"Change {number}", groups[number * 5 % 8][: 2 + number % 2]) for number in range(120)]
    return make_history(tmp_path / "shop", commits)


def test_all_predictors_stand_beside_each_other(graphmem: Any, history: Path) -> None:
    outcome = graphmem("evaluate", "git", cwd=history, environment={"COLUMNS": "80"})
    assert (outcome.status, outcome.err) == (0, "")
    first_words = [line.split("  ")[0] for line in outcome.out.splitlines()]
    assert [word for word in first_words if word in PREDICTORS] == [*PREDICTORS, *PREDICTORS]
    assert max(cell_len(line) for line in outcome.out.splitlines()) <= 80
    assert not graphmem.home.exists()


def test_the_figures_are_there_for_machines(graphmem: Any, history: Path) -> None:
    shape = graphmem.good("evaluate", "git", history, "--intent", "--json").shape
    assert (shape["source"], shape["intent"], list(shape["predictors"])) == ("git", True, PREDICTORS)
    found = shape["predictors"]["GraphMem"]
    assert found["scores"]["hit_5"] > 0.9
    assert (
        found["scores"]["average_precision"] > shape["predictors"]["frequency"]["scores"]["average_precision"]
    )
    assert found["warnings"][-1].keys() >= {"threshold", "precision", "recall", "alerts_per_100"}


def test_a_file_of_observations_can_be_replayed(graphmem: Any, tmp_path: Path) -> None:
    source = tmp_path / "turns.jsonl"
    turns = [
        {
            "id": f"o{number}",
            "title": "t",
            "files_modified": ["a.ts", "b.ts"],
            "at": f"2026-01-{number + 1:02d}",
        }
        for number in range(20)
    ]
    source.write_text("".join(json.dumps(turn) + "\n" for turn in turns), encoding="utf-8")
    shape = graphmem.good("evaluate", "jsonl", source, "--json").shape
    assert shape["predictors"]["GraphMem"]["scores"]["hit_1"] == 1.0


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
