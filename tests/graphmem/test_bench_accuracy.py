"""The table of accuracy: all histories of a folder, what was kept taken up again, and marks on what chose."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from bench.accuracy import Chosen, chosen_paths, measured, table


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("one", "two"):
        lines = (
            {
                "id": f"{name}-{number}",
                "ts": f"2026-{1 + number // 28:02}-{1 + number % 28:02}T10:00:00Z",
                "files": [{"path": path, "status": "M"} for path in ("a.py", "b.py")],
            }
            for number in range(30)
        )
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (tmp_path / f"{name}.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    return tmp_path


def test_a_history_is_measured_once_and_taken_from_what_was_kept_after_that(folder: Path) -> None:
    (path,) = chosen_paths(folder, ["two"])
    first = measured(path, folder, None, None)
    assert first[1]["predictors"]["GraphMem"]["scores"]["hit_1"] == 1.0
    path.unlink()
    assert measured(path, folder, None, None) == (first[0], json.loads(json.dumps(first[1])))


def test_histories_that_chose_the_parameters_are_marked_and_have_a_mean_of_their_own(folder: Path) -> None:
    found = dict(measured(path, None, None, 10) for path in chosen_paths(folder, None))
    lines = table(found, Chosen("Models", frozenset({"two"})))
    assert [line.split("|")[1].strip() for line in lines[2:6]] == [
        "one",
        "two*",
        "**mean of 1**",
        "**mean of 1***",
    ]
    assert len({line.count("|") for line in lines[:6]}) == 1
    assert "| 1.000 / 1.000 |" in lines[2]
    assert any("no estimate for another project" in line for line in lines)
    every = table(found, Chosen("Models", None))
    assert sum("mean of" in line for line in every) == 1


def test_a_name_that_the_folder_does_not_hold_is_refused_in_one_sentence(folder: Path) -> None:
    with pytest.raises(SystemExit, match="holds no three; it holds: one, two"):
        chosen_paths(folder, ["three"])
