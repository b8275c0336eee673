"""The table of ablations: what stays as it is equals the shipped formulas, and what is left out is out."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from bench.ablation import verdict_rows
from bench.ablation_formula import (
    ANY,
    FORMULA,
    RULES,
    SIGNALS,
    Past,
    Rule,
    answers,
    measured,
    replayed,
    scores,
)
from bench.ablation_model import School, by_gain, rows_of, school, sources
from bench.ablation_model import tested as drawn
from bench.ablation_table import Row, change, lines_of, load, save
from bench.dataset import Dataset, Kind
from bench.dataset import save as save_dataset
from bench.ranker_figures import Order
from bench.ranker_fitting import lessons
from inference.chronicle import Chronicle, State, Step
from inference.cochange import file_scores
from inference.features import COLUMNS, TASK_COLUMNS

ROOT = Path(__file__).resolve().parents[2]
EVERY = (*COLUMNS, *TASK_COLUMNS)
DAY = 86_400.0


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Groups that change together, wholly or in part, and one change of everything."""
    file = tmp_path_factory.mktemp("history") / "small.jsonl"
    groups = [
        ("src/a.py", "tests/test_a.py"),
        ("src/b.py", "src/c.py", "docs/b.md"),
        ("src/d.py", "src/e.py"),
    ]
    draw = random.Random(1)
    with file.open("w", encoding="utf-8") as stream:
        for number in range(150):
            names = groups[draw.randrange(len(groups))]
            chosen = [f"lib/{each}.py" for each in range(150)] if number == 40 else draw.sample(names, 2)
            record = {
                "id": f"h{number}",
                "ts": f"2026-{1 + number // 28:02}-{1 + number % 28:02}T10:00:00Z",
                "author": f"a{number % 3}",
                "title": f"change {chosen[0]}",
                "files": [{"path": name, "status": "M"} for name in chosen],
            }
            stream.write(json.dumps(record) + "\n")
    return file


def made(name: str, seed: int, questions: int = 24, candidates: int = 10) -> Dataset:
    """A history in which geom tells what is right, and nothing else does."""
    draw = np.random.default_rng(seed)
    count = questions * candidates
    rows = draw.normal(size=(count, len(EVERY))).astype(np.float32)
    query = np.repeat(np.arange(questions, dtype=np.int32), candidates)
    kind = np.arange(questions, dtype=np.int8) % 4
    right = rows[:, EVERY.index("geom")] > 1.2
    right[::candidates] = True
    return Dataset(
        name=name,
        columns=EVERY,
        latest=1.7e9,
        X=rows,
        y=right,
        query=query,
        closed=rows[:, 0].copy(),
        by_task=draw.random(count) < 0.1,
        kind=kind,
        line=np.arange(questions, dtype=np.int32),
        wanted=np.bincount(query, right, questions).astype(np.int32),
        weight=np.ones(questions, np.float32),
    )


# ---- the closed formulas -----------------------------------------------------------------------


def test_geom_as_it_is_orders_as_co_change_does(history: Path) -> None:
    asked = 0
    for past, line, _, question in replayed(history, 40):
        found = scores(past, question.file, line.at)
        shipped = file_scores(past.chronicle.history(question.file))
        assert found.keys() == shipped.keys()
        total = sum(found.values())
        whole = sum(each.score for each in shipped.values())
        for file, each in shipped.items():
            assert found[file] / total == pytest.approx(each.score / whole)
        asked += 1
    assert asked == 40


def worked(*changes: tuple[int, ...]) -> Past:
    """Files 1, 2, ... changed together, a day apart."""
    chronicle = Chronicle(lambda path: ())
    for number, files in enumerate(changes, 1):
        states = tuple(State(file, f"{file}.py", True) for file in files)
        chronicle.push(Step(number, number, number * DAY, 1, 1, len(files), files, states=states))
    return Past(chronicle, {})


PAST = ((1, 2), (1, 3, 4, 5, 6, 7), (1, 8), (1, 9))


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (Rule(decay=1.0), {2: 1.0, 3: 0.6, 8: 1.0, 9: 1.0}),
        (Rule(decay=0.5), {2: 0.125, 3: 0.15, 8: 0.5, 9: 1.0}),
        (Rule(decay=1.0, half_life=1.0), {2: 0.0625, 3: 0.075, 8: 0.25, 9: 0.5}),
        (Rule(decay=1.0, full=2), {2: 1.0, 3: 0.2, 8: 1.0, 9: 1.0}),
        (Rule(decay=1.0, full=ANY), {2: 1.0, 3: 1.0, 8: 1.0, 9: 1.0}),
        (Rule(decay=1.0, bulk=5), {2: 1.0, 8: 1.0, 9: 1.0}),
        (Rule(decay=1.0, changes=2), {8: 1.0, 9: 1.0}),
        (Rule(decay=1.0, known=1), {9: 1.0}),
    ],
)
def test_each_number_of_geom_does_what_it_says(rule: Rule, expected: dict[int, float]) -> None:
    found = scores(worked(*PAST), 1, 5 * DAY, rule)
    assert {file: value for file, value in found.items() if file not in (4, 5, 6, 7)} == pytest.approx(
        expected
    )


def test_bulk_work_counts_only_where_there_is_no_limit() -> None:
    past = worked((1, 2), (1, 3))
    past.bulk[1] = (200, (1, 3))
    assert scores(past, 1, 5 * DAY, Rule(decay=1.0)) == {2: 1.0}
    assert scores(past, 1, 5 * DAY, Rule(decay=1.0, bulk=math.inf, full=ANY)) == {3: 1.0, 2: 1.0}


def test_a_file_never_seen_has_no_scores() -> None:
    assert scores(worked(*PAST), 99, 5 * DAY) == {}


def test_every_way_is_asked_and_measured(history: Path) -> None:
    ways = {(part, label) for part, rules in RULES.items() for label in rules} | {
        (FORMULA, label) for label in SIGNALS
    }
    past, line, actor, question = next(replayed(history, 5))
    assert {way for way, _ in answers(past, question.file, line.at, actor)} == ways
    found = measured(history, 20)
    assert found.keys() == ways
    assert found[FORMULA, "all"].average_precision > 0.8
    assert found[FORMULA, "without co-change"].average_precision < found[FORMULA, "all"].average_precision
    assert measured(history, 20) == found


def test_a_history_without_a_question_has_no_figures(tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text(
        json.dumps(
            {"id": "1", "ts": "2026-01-01T00:00:00Z", "title": "x", "files": [{"path": "a", "status": "A"}]}
        )
    )
    assert measured(file, 10) == {}


# ---- small models ------------------------------------------------------------------------------


def test_only_so_many_questions_of_each_kind_are_measured() -> None:
    dataset = made("one", 1)
    few = drawn(dataset, 4)
    assert sorted(few.kind.tolist()) == [Kind.SEVERAL] * 4 + [Kind.NEW_FILE] * 4
    assert np.bincount(few.query).tolist() == [10] * 8
    assert np.bincount(few.query, few.y).tolist() == few.wanted.tolist()


def test_a_source_only_adds_candidates() -> None:
    dataset = made("one", 1)
    masks = list(sources(dataset).values())
    assert all(bool((one <= other).all()) for one, other in pairwise(masks))
    assert masks[-1].all() and not (masks[-2] & dataset.by_task).any()


def test_the_column_that_tells_is_missed_and_no_other() -> None:
    taught = [lessons(made(f"taught {seed}", seed)).order for seed in range(6)]
    found = list(rows_of(School(taught, [drawn(made(f"seen {seed}", seed), 10) for seed in (8, 9)], 6)))
    rows = {(row.part, row.label): row for row in found}
    base = rows["columns", "all"]
    assert change(rows["columns", "without the pair's columns"], base).thousandths < -100
    assert change(rows["columns", "without the file's"], base).thousandths > -100
    assert not any(row.figures for row in found if row.label.startswith("those that give least"))
    assert {row.part for row in found} == {
        f"{part}{told}"
        for part in ("columns", "candidates", "candidates for a new file")
        for told in ("", ", task told")
    }


def test_the_columns_that_give_least_come_first() -> None:
    class Trees:
        def feature_importance(self, kind: str) -> np.ndarray:  # type: ignore[type-arg]
            return np.array([3.0, 0.0, 1.0]) if kind == "gain" else np.zeros(3)

    assert by_gain(Trees(), ("a", "b", "c")) == ["b", "c", "a"]


def test_a_missing_dataset_is_named_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"one\.npz is missing: make it with"):
        school(tmp_path, ["one"], [], 10, 10, 5)


def test_a_dataset_of_other_columns_is_refused(tmp_path: Path) -> None:
    save_dataset(made("one", 1)._replace(columns=("other", *EVERY[1:])), tmp_path)
    with pytest.raises(ValueError, match="has other columns"):
        school(tmp_path, [], ["one"], 10, 10, 5)


# ---- the table ---------------------------------------------------------------------------------


def order(value: float) -> Order:
    return Order(value, value, value, value)


ROWS = [
    Row("decay", "as it is", {"one": order(0.5), "two": order(0.3)}),
    Row("decay", "none", {"one": order(0.4), "two": order(0.31)}),
    Row("decay", "a remark", {}),
]


def test_a_change_is_told_in_thousandths_with_its_error() -> None:
    assert change(ROWS[1], ROWS[0]) == pytest.approx((-45.0, 55.0, 1, 2))


def test_the_table_names_part_rows_and_remarks() -> None:
    heading, base, row, remark = lines_of(ROWS)
    assert heading.split()[0] == "decay"
    assert base.split() == ["as", "it", "is", "0.400", "0.400", "0.400"]
    assert row.split() == ["none", "0.355", "0.355", "0.355", "-45.0", "55.0", "1", "of", "2"]
    assert remark.strip() == "(a remark)"


def test_rows_come_back_as_they_were_kept(tmp_path: Path) -> None:
    save(ROWS, tmp_path / "rows.json")
    assert load(tmp_path / "rows.json") == ROWS


def test_a_figure_that_is_not_known_stays_unknown(tmp_path: Path) -> None:
    save(verdict_rows({"one": {"order=value": [0.9, 0.4, 2.0, 1.0, 0.0, 0.1]}}), tmp_path / "rows.json")
    assert "NaN" not in (tmp_path / "rows.json").read_text()
    (none, *_) = load(tmp_path / "rows.json")
    assert none.figures["one"].average_precision == 0.4
    assert math.isnan(none.figures["one"].hit_5)


def test_verdicts_are_told_against_none() -> None:
    figures = {
        f"order={name}": [0.9, 0.4, 2.0, 1.0, 0.0, 0.1] for name in ("value", "probability", "support")
    }
    rows = {
        row.label: row.figures["one"].average_precision for row in verdict_rows({"one": figures, "x": {}})
    }
    assert rows == pytest.approx(
        {
            "none": 0.4,
            "twenty, asked by probability": 0.402,
            "twenty, asked by probability, yes led": 0.401,
            "twenty, asked by value": 0.402,
            "twenty, asked by value, yes led": 0.401,
        }
    )


def test_the_command_prints_and_keeps_the_table(history: Path, tmp_path: Path) -> None:
    kept = tmp_path / "rows.json"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "bench.ablation", str(history)),
            *("--parts", "formula", "--asked", "10", "--figures", str(kept)),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "signals of the closed form" in done.stdout
    assert {row.part for row in load(kept)} == {*RULES, FORMULA}
