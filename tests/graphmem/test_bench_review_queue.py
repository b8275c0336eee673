"""The command that measures the review queue still runs, and shows it beside what it is held against."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BESIDE = ["all seen 3 times", "sum of 1/(n-1)", "most uncertain first"]


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """Pairs that go on changing together, and one that stopped."""
    file = tmp_path / "small.jsonl"
    groups = [("src/a.py", "tests/test_a.py"), ("src/b.py", "src/c.py", "docs/b.md"), ("src/d.py",)]
    draw = random.Random(2)
    with file.open("w", encoding="utf-8") as stream:
        for number in range(100):
            old = number < 20 and number % 4 == 0
            names = ("src/old.py", "src/older.py") if old else groups[draw.randrange(len(groups))]
            record = {
                "id": f"h{number}",
                "ts": f"2026-{1 + number // 28:02}-{1 + number % 28:02}T10:00:00Z",
                "author": "a0",
                "session": f"a0-s{number}",
                "title": f"change {number}",
                "files": [{"path": name, "status": "M"} for name in names],
            }
            stream.write(json.dumps(record) + "\n")
    return file


def printed(*arguments: str) -> dict[str, list[str]]:
    """Run the command and return the figures of the means, by order."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.review_queue", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    means = [line for line in done.stdout.splitlines() if line.startswith("mean ")]
    return {line[13:37].strip(): line[37:].split() for line in means}


@pytest.mark.slow
def test_what_comes_true_is_shown_for_each_order_of_the_list(history: Path) -> None:
    means = printed(str(history))
    assert list(means) == ["order=probability", "order=value", "order=support", *BESIDE]
    small, large, said, pairs = map(float, means["order=probability"])
    assert small == large
    assert 0.5 < small < 1.0, "four pairs go on and one stopped"
    assert 0.0 < said < 1.0
    assert pairs >= 5


@pytest.mark.slow
def test_the_numbers_are_derived_and_each_part_is_shown(history: Path) -> None:
    means = printed("--choose", str(history))
    assert next(iter(means)) == "as shipped"
    assert list(means)[-3:] == BESIDE
    assert sum(order.startswith("fitted, full to") for order in means) == 4
