"""`bench.import_pairs`: inferred pairs held against the imports of a source tree."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.import_pairs import figures, measured, weighted_pairs
from graphmem.imports import ImportGraph, Language

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """A small history in which `a` and `b` change together most, `d` is renamed and `gone` is deleted."""
    changes: list[list[dict[str, str]]] = [
        [{"path": "a.py", "status": "A"}, {"path": "b.py", "status": "A"}],
        [{"path": name, "status": "A"} for name in ("c.py", "old.py", "gone.py")],
        [{"path": "a.py", "status": "M"}, {"path": "b.py", "status": "M"}],
        [{"path": "d.py", "old_path": "old.py", "status": "R"}, {"path": "gone.py", "status": "D"}],
        [{"path": name, "status": "M"} for name in ("a.py", "c.py", "d.py")],
    ]
    lines = [
        {
            "id": f"c{n}",
            "ts": f"2026-01-0{n + 1}T12:00:00Z",
            "author": "a",
            "session": f"s{n}",
            "files": files,
        }
        for n, files in enumerate(changes)
    ]
    path = tmp_path / "small.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The sources at the end of that history."""
    folder = tmp_path / "tree"
    folder.mkdir()
    for name, text in {"a.py": "import b, d", "b.py": "import c", "c.py": "", "d.py": ""}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_pairs_are_weighed_by_the_size_of_their_changes_under_their_last_names(history: Path) -> None:
    weights, changed = weighted_pairs(history)
    assert {tuple(sorted(pair)): weight for pair, weight in weights.items()} == {
        ("a.py", "b.py"): 2.0,
        ("c.py", "d.py"): 1.0,
        ("a.py", "c.py"): 0.5,
        ("a.py", "d.py"): 0.5,
    }
    assert changed == {"a.py", "b.py", "c.py", "d.py"}


def test_the_share_of_imports_among_the_first_pairs_is_told(history: Path, tree: Path) -> None:
    found = measured(history, tree)
    assert (found.files, found.pairs) == (4, 4)
    assert found.base == found.at_20 == found.code_at_100 == 0.5
    assert found.silent == pytest.approx(1 / 3)


def test_a_project_without_anything_in_common_gives_no_figures() -> None:
    graph = ImportGraph(read={"x.py": Language.PYTHON})
    found = figures({("a.py", "b.py"): 1.0}, frozenset(["a.py", "b.py"]), graph)
    assert found.pairs == 0
    assert found.base != found.base


def test_the_command_prints_each_project_and_the_mean(history: Path, tree: Path) -> None:
    command = [sys.executable, "-m", "bench.import_pairs"]
    done = subprocess.run([*command, f"{history}={tree}"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    head, row, mean = (line.split() for line in done.stdout.splitlines())
    assert head[:2] == ["files", "pairs"]
    assert (row[0], mean[0]) == ("small", "mean")
    refused = subprocess.run([*command, f"{history}=nowhere"], cwd=ROOT, capture_output=True, text=True)
    assert refused.returncode == 1
    assert "HISTORY=FOLDER" in refused.stderr
