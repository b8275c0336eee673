"""The commands that derive the numbers of the formulas still run, and their fits find what was planted."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
from collections.abc import Callable
from importlib import util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def fitting() -> ModuleType:
    spec = util.spec_from_file_location("bench_fitting", ROOT / "bench" / "fitting.py")
    assert spec is not None and spec.loader is not None
    module = util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """Pairs that change together, a file that changes alone, and a lone change now and then."""
    file = tmp_path / "small.jsonl"
    groups = [("src/a.py", "tests/test_a.py"), ("src/b.py", "src/c.py", "docs/b.md"), ("src/d.py",)]
    draw = random.Random(1)
    with file.open("w", encoding="utf-8") as stream:
        for number in range(150):
            names = groups[draw.randrange(len(groups))]
            files = [{"path": name, "status": "M"} for name in names[: draw.randint(1, len(names))]]
            record = {
                "id": f"h{number}",
                "ts": f"2026-{1 + number // 28:02}-{1 + number % 28:02}T10:00:00Z",
                "author": "a0",
                "title": f"change {number}",
                "files": files,
            }
            stream.write(json.dumps(record) + "\n")
    return file


def run(*arguments: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def planted(
    count: int, choose: Callable[[list[float]], list[bool]]
) -> list[tuple[list[list[float]], list[bool]]]:
    draw = random.Random(7)
    found = []
    for _ in range(count):
        rows = [[draw.gauss(0, 1), draw.gauss(0, 1)] for _ in range(8)]
        found.append((rows, choose([2.0 * first - 1.0 * second for first, second in rows])))
    return found


def test_a_choice_gives_back_the_weights_behind_it(fitting: ModuleType) -> None:
    draw = random.Random(8)

    def one(scores: list[float]) -> list[bool]:
        chosen = draw.choices(range(len(scores)), [math.exp(score) for score in scores])[0]
        return [index == chosen for index in range(len(scores))]

    choices = [fitting.Choice(rows, right, 1.0) for rows, right in planted(1_500, one)]
    assert fitting.choice_weights(choices) == [pytest.approx(2.0, abs=0.25), pytest.approx(-1.0, abs=0.2)]


def test_odds_give_back_the_weights_behind_them(fitting: ModuleType) -> None:
    draw = random.Random(9)

    def each(scores: list[float]) -> list[bool]:
        return [draw.random() < fitting.logistic(score - 1.5) for score in scores]

    rows, right = [], []
    for group, hits in planted(600, each):
        rows += [[*row, 1.0] for row in group]
        right += hits
    weights = fitting.odds_weights(rows, right, [1.0] * len(rows))
    assert weights == [
        pytest.approx(2.0, abs=0.25),
        pytest.approx(-1.0, abs=0.2),
        pytest.approx(-1.5, abs=0.2),
    ]


@pytest.mark.slow
def test_the_weights_are_derived_and_each_part_is_shown(history: Path) -> None:
    printed = run("bench.combination", str(history))
    assert printed[1].startswith("geom")
    assert any(line.startswith("... and beside: all") for line in printed)
    assert printed[-1].startswith("shipped: concept=")


@pytest.mark.slow
def test_the_report_shows_graphmem_beside_geom_and_rose(history: Path) -> None:
    printed = run("bench.combination", "--report", str(history))
    assert [line.split()[1] for line in printed if line.startswith("mean")] == ["GraphMem", "geom", "ROSE"]


@pytest.mark.slow
def test_the_next_files_are_measured_and_their_numbers_derived(history: Path) -> None:
    printed = run("bench.upcoming", "--choose", str(history))
    starts = ("co-change", "followed", "at hand", "lately", "own", "task", "not in memory")
    starts += ("all, no task", "all, as shipped", *["left out"] * 5, "fitted: co-change", "all, fitted")
    assert all(line.startswith(start) for line, start in zip(printed, starts, strict=True))
