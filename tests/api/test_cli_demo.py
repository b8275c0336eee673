"""`graphmem demo`: the story and a real history, on one screen, leaving nothing behind."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len


@pytest.fixture
def history(make_history: Callable[..., Path], tmp_path: Path) -> Path:
    pairs = [
        ("src/token.py", "src/token_test.py"),
        ("src/cart.py", "src/cart.css"),
        ("docs/index.md", "README.md"),
    ]
    commits = [(f"Change {number}", pairs[number % 3]) for number in range(60)]
    return make_history(tmp_path / "shop", commits)


def test_it_shows_the_story_and_the_history_on_two_screens(graphmem: Any, history: Path) -> None:
    outcome = graphmem("demo", "--repo", history, environment={"COLUMNS": "80"})
    assert (outcome.status, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert len(lines) <= 100
    assert max(cell_len(line) for line in lines) <= 80
    for words in (
        "79 observations",
        "60 commits",
        "an agent is told:",
        "do these belong together?",
        "Somebody says yes: src/checkout/session.ts depends on src/auth/token.ts",
        "What depends on src/auth/token.ts",
        "Modules that emerged",
        "as a new session is told",
        "What to type next",
    ):
        assert words in " ".join(outcome.out.split())


def test_it_leaves_nothing_behind(graphmem: Any, history: Path, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    outcome = graphmem("demo", cwd=history, environment={"TMPDIR": str(scratch)})
    assert outcome.status == 0
    assert list(scratch.iterdir()) == []
    assert not graphmem.home.exists()
    assert tempfile.gettempdir() not in outcome.out


def test_it_can_be_kept_and_asked_on(graphmem: Any, history: Path) -> None:
    outcome = graphmem("demo", "--keep", cwd=history)
    assert outcome.status == 0
    assert str(graphmem.home) in outcome.out
    slugs = {item["slug"] for item in graphmem.good("projects", "--json").shape["items"]}
    assert len(slugs) == 2
    assert graphmem.good("stats", "--json", cwd=history).shape["observations"] == 60


def test_for_machines_it_is_json(graphmem: Any, history: Path) -> None:
    shape = graphmem.good("demo", "--json", cwd=history).shape
    assert shape["story"]["report"]["accepted"] == 79
    assert shape["story"]["impact"]["warning"]
    assert [edge["status"] for edge in shape["story"]["edges"]] == ["candidate"] * 3
    assert shape["story"]["confirmed"]["relation"] == "depends_on"
    walked = [item["node"]["name"] for item in shape["story"]["dependents"]["confirmed"]]
    assert walked == ["src/checkout/session.ts"]
    assert shape["story"]["overview"]["text"]
    assert shape["history"]["edges"][0]["evidence"]["together"] == 20
    for part in ("story", "history"):
        assert shape[part]["modules"][0]["key_files"]


def test_a_short_history_is_said_to_be_short(graphmem: Any, git_repository: Callable[..., Any]) -> None:
    repository = git_repository("young")
    repository.touch("Begin", "a.py")
    outcome = graphmem("demo", cwd=repository.path)
    assert outcome.status == 0
    assert "1 commit, 1 session, 1 file" in outcome.out
    assert "Little history yet" in outcome.out


def test_without_a_repository_the_story_is_shown_all_the_same(graphmem: Any, tmp_path: Path) -> None:
    outcome = graphmem("demo", cwd=tmp_path)
    assert outcome.status == 0
    assert "79 observations" in outcome.out
    assert "--repo" in outcome.out


def test_a_repository_without_commits_is_a_sentence(
    graphmem: Any, git_repository: Callable[..., Any]
) -> None:
    outcome = graphmem("demo", cwd=git_repository("empty").path)
    assert outcome.status == 0
    assert "no commits" in outcome.out.lower()


@pytest.mark.parametrize("named", ["missing", "plain"])
def test_what_is_no_repository_is_refused_at_once(graphmem: Any, tmp_path: Path, named: str) -> None:
    (tmp_path / "plain").mkdir()
    outcome = graphmem("demo", "--repo", tmp_path / named)
    assert outcome.status in {1, 2}
    assert (outcome.out, outcome.err.count("\n")) == ("", 1)
