"""The command that measures what verdicts do to the answers still runs, and keeps the three parts apart."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from bench.verdict_learning import figures, reviewed

ORDERS = ["order=probability", "order=value", "order=support", "most uncertain first", "at random"]


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """Pairs that go on changing together, and one that does so in the past and at the very end only."""
    file = tmp_path / "small.jsonl"
    groups = [
        ("src/a.py", "tests/test_a.py"),
        ("src/b.py", "src/c.py", "docs/b.md"),
        ("src/d.py", "src/e.py"),
    ]
    draw = random.Random(2)
    with file.open("w", encoding="utf-8") as stream:
        for number in range(60):
            old = number % 4 == 0 and not 36 <= number < 48
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


def test_the_reviewer_knows_the_middle_part_only_and_answers_are_measured_after_it(history: Path) -> None:
    found = reviewed(history, told=False)
    assert found is not None
    assert list(found.asks) == ORDERS
    said = {
        frozenset((one.path, other.path)): confirmed
        for one, other, confirmed in found.verdicts("order=probability")
    }
    assert said[frozenset(("src/a.py", "tests/test_a.py"))]
    assert not said[frozenset(("src/old.py", "src/older.py"))], "its middle part rests"
    assert min(asked.line for asked in found.questions) >= 48
    asked = {question.queried.path for question in found.questions}
    assert "src/old.py" in asked or "src/older.py" in asked


def test_every_order_has_its_figures_and_a_history_too_short_to_cut_has_none(
    history: Path, tmp_path: Path
) -> None:
    name, orders = figures(history, told=True)
    assert (name, list(orders)) == ("small", ORDERS)
    for yes, before, raised, led, _, moved in orders.values():
        assert 0.0 < yes < 1.0
        assert 0.0 < before <= 1.0
        assert abs(raised) <= 1000.0 * before
        assert abs(led) <= 1000.0
        assert 0.0 < moved <= 1.0
    short = tmp_path / "short.jsonl"
    short.write_text("".join(history.read_text(encoding="utf-8").splitlines(keepends=True)[:2]))
    assert figures(short, told=False) == ("short", {})
