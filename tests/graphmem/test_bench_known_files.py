"""The measure of several known files, new files and short pasts: its questions, its ways, its tables."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from bench.known_files import (
    FRESH,
    GRAPHMEM,
    SEVERAL,
    WAYS,
    Asked,
    highest,
    mean_odds,
    measured,
    plan,
    report,
    summed,
)
from graphmem.evaluation import lines_of, read_source
from inference.replay import resolve


@pytest.fixture
def history(tmp_path: Path) -> Path:
    lines = (
        {
            "id": f"c{number}",
            "ts": f"2026-{1 + number // 28:02}-{1 + number % 28:02}T10:00:00Z",
            "title": "Change the shop",
            "files": [{"path": f"{name}.py", "status": "M"} for name in "abcd"]
            + [{"path": f"new{number}.py", "status": "A"}],
        }
        for number in range(60)
    )
    path = tmp_path / "shop.jsonl.gz"
    path.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode()))
    return path


def test_half_of_the_files_are_known_and_the_others_right_and_a_new_file_is_asked_about(
    history: Path,
) -> None:
    steps = resolve(lines_of(read_source("jsonl", str(history))))
    asked: list[Asked] = [question for questions in plan(steps).values() for question in questions]
    assert plan(steps) == plan(steps)
    several = [question for question in asked if question.table == SEVERAL]
    assert several
    assert all(len(question.known) == len(question.truth) == 2 for question in several)
    assert all(question.truth.isdisjoint(question.known) for question in asked)
    assert all(question.path.startswith("new") for question in asked if question.table == FRESH)
    assert any(question.table.startswith("after 15 ") for question in asked)


def test_ways_to_combine_agree_on_one_file_and_differ_on_two() -> None:
    for way in WAYS.values():
        assert way([{1: 0.25, 2: 0.5}]) == pytest.approx({1: 0.25, 2: 0.5})
    two = [{1: 0.25}, {1: 0.25, 2: 0.5}]
    assert summed(two) == pytest.approx({1: 0.5, 2: 0.5})
    assert highest(two) == pytest.approx({1: 0.25, 2: 0.5})
    assert mean_odds(two)[1] == pytest.approx(0.25)
    assert mean_odds(two)[2] < 0.25


def test_every_table_is_printed_with_the_product_beside_its_rivals(history: Path) -> None:
    figures = measured(history, product=True)
    lines = "\n".join(report([figures]))
    for words in (SEVERAL, FRESH, GRAPHMEM, "models, noisy-or", "TARMAQ", "ROSE, sum", "closed form"):
        assert words in lines
    assert all(score.average_precision > 0.9 for score in figures.scores[SEVERAL, "geom, noisy-or"])
