"""The benchmark of thresholds: what it prints of a small history, and which bins count."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.threshold import HEAD, line, means, measured, worst
from inference.metrics import Bin


def test_a_history_gives_a_figure_for_every_column(tmp_path: Path) -> None:
    rows = [
        {
            "id": f"o{n}",
            "session": f"s{n}",
            "at": 1_700_000_000 + 3_600 * n,
            "title": "Count stock",
            "files_modified": ["a.py", "b.py"] if n % 3 else ["a.py"],
        }
        for n in range(40)
    ]
    path = tmp_path / "shop.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    found = measured(path)
    assert found.name == "shop"
    for row in (found.plain, found.told):
        shown = dict(zip(HEAD, row, strict=True))
        assert shown["worst"] is None, "so few entries prove nothing"
        assert shown["at"] == 0.7
        assert shown["ECE"] is not None


def test_only_bins_of_many_likely_entries_count() -> None:
    bins = [Bin(500, 0.4, 0.9), Bin(99, 0.9, 0.1), Bin(100, 0.7, 0.6), Bin(100, 0.8, 0.85)]
    assert worst(bins) == pytest.approx(0.1)
    assert worst(bins[:2]) is None


def test_a_mean_is_of_those_that_have_a_figure() -> None:
    assert means([(0.5, None), (0.7, None)]) == (pytest.approx(0.6), None)
    assert line("x", (0.25, None)).split() == ["x", "0.250", "-"]
