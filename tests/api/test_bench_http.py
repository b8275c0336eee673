"""The benchmarks over HTTP and of hooks still run; what they print is for people, not for the tests."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def history(tmp_path: Path) -> Path:
    file = tmp_path / "small.jsonl"
    lines = [
        {
            "id": f"small-{number}",
            "ts": f"2026-{1 + number // 28:02}-{1 + number % 28:02}T10:00:00Z",
            "ats": "2026-01-01T10:00:00Z",
            "author": "a0",
            "session": f"a0-s{number}",
            "title": f"change {number}",
            "files": [
                {"path": name, "status": "M" if number else "A"}
                for name in ("a.py", "b.py", f"c{number % 3}.py")
            ],
        }
        for number in range(60)
    ]
    file.write_text("\n".join(json.dumps(line) for line in lines) + "\n", encoding="utf-8")
    return file


def run(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_impact_answers_are_timed_beside_an_empty_route(history: Path) -> None:
    printed = run("bench.http_impact", str(history), "--questions", "20").splitlines()
    assert printed[0].split()[-1] == "ratio"
    assert [line.split()[0] for line in printed[1:]] == ["small", "all", "service:"]
    assert printed[1].endswith("x")


def test_a_history_is_replayed_through_http(history: Path) -> None:
    printed = run("bench.http_replay", str(history)).splitlines()
    assert [line.split()[0] for line in printed] == ["history", "small", "mean"]
    hit_5, average_precision = float(printed[1].split()[2]), float(printed[1].split()[4])
    assert hit_5 == 1.0
    assert average_precision > 0.5


def test_a_burst_of_hook_calls_is_sent_and_accounted_for() -> None:
    printed = run("bench.hook_burst", "--events", "60", "--sessions", "3").splitlines()
    assert int(printed[0].split()[0]) >= 60
    assert printed[1].startswith("answer before an edit: p50")
    assert printed[-1] == "lost 0, doubled 0"


def test_the_hook_program_is_timed_beside_the_bare_interpreter() -> None:
    printed = run("bench.hook_speed", "--rounds", "1").splitlines()
    assert printed[0].split()[-1] == "ratio"
    assert printed[1].startswith("python -I -S -c pass") and printed[1].endswith("1.00")
    assert len(printed) == 7
