"""Training the ranking models: on a made-up dataset small enough for a test, by the code of the real one."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from bench.dataset import Dataset, Kind, files, load, save
from bench.ranker_figures import (
    Named,
    calibrated,
    calibration_error,
    curve_of,
    named,
    order_figures,
    warnings_of,
)
from bench.ranker_fitting import as_onnx, fit, lessons, scores
from bench.train import train
from graphmem.ranking_card import CARD, FILES, Columns, read_card
from graphmem.ranking_model import open_model
from inference.metrics import rank_scores

COLUMNS = Columns(("geom", "heat", "noise"), ("titles",))


def made(name: str, seed: int, questions: int = 60, candidates: int = 30) -> Dataset:
    """A history whose right answers depend on the columns, the task's one included."""
    draw = np.random.default_rng(seed)
    count = questions * candidates
    rows = draw.normal(size=(count, 4)).astype(np.float32)
    query = np.repeat(np.arange(questions, dtype=np.int32), candidates)
    kind = np.arange(questions, dtype=np.int8) % 4
    odds = 1.5 * rows[:, 0] + rows[:, 0] * rows[:, 1] + 1.5 * rows[:, 3] - 3
    right = draw.random(count) < 1 / (1 + np.exp(-odds))
    right[(kind == Kind.SINGLE)[query]] = False
    right[np.arange(0, count, candidates)] |= (kind != Kind.SINGLE)[query[::candidates]]
    by_task = draw.random(count) < 0.05
    wanted = np.bincount(query, right, questions).astype(np.int32)
    return Dataset(
        name=name,
        columns=COLUMNS.names(True),
        latest=1.7e9 + seed,
        X=rows,
        y=right,
        query=query,
        closed=rows[:, 0].copy(),
        by_task=by_task,
        kind=kind,
        line=np.arange(questions, dtype=np.int32),
        wanted=wanted,
        weight=np.ones(questions, np.float32),
    )


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("datasets")
    for seed, name in enumerate(("one", "two", "three", "four")):
        save(made(name, seed), folder)
    return folder


def test_a_dataset_comes_back_as_it_was_kept(cache: Path) -> None:
    kept, again = made("one", 0), load(cache / "one.npz")
    assert (again.name, again.columns, again.latest) == (kept.name, kept.columns, kept.latest)
    for before, after in zip(kept[3:], again[3:], strict=True):
        assert before.dtype == after.dtype
        assert np.array_equal(before, after)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 half", b"no archive at all"])
def test_a_file_that_is_no_dataset_is_named(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "bad.npz").write_bytes(content)
    with pytest.raises(ValueError, match=r"bad\.npz is no dataset of this version"):
        load(tmp_path / "bad.npz")


def test_every_right_candidate_teaches_and_wrong_ones_keep_their_weight() -> None:
    dataset = made("many", 9, questions=40, candidates=400)
    order, chance = lessons(dataset)
    assert int(order.y.sum()) == int(chance.y.sum()) == int(dataset.y.sum())
    assert set(np.unique(order.query)) == set(np.unique(dataset.query[dataset.y]))
    assert np.bincount(order.query).max() < 160
    # The sampled wrong ones stand for all of them.
    assert float(chance.weight[~chance.y].sum()) == pytest.approx(float((~dataset.y).sum()), rel=0.05)
    again = lessons(dataset)
    assert np.array_equal(again.order.X, order.X)


@pytest.mark.parametrize("objective", ["order", "chance"])
def test_an_exported_file_answers_as_its_trees_and_is_the_same_each_time(objective: str) -> None:
    dataset = made("one", 0)
    lesson = [getattr(lessons(dataset), objective)]
    contents = []
    for _ in range(2):
        trees = fit(objective, lesson, 4, with_task=True, trees=12)
        contents.append(as_onnx(trees, "scores", dataset.X))
    assert contents[0] == contents[1]
    assert np.ptp(scores(trees, dataset.X)) > 0.1


def test_training_twice_gives_the_same_files_and_what_they_are(
    cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for place in ("one", "two"):
        train(
            files(cache),
            tmp_path / place,
            tmp_path / f"{place}.md",
            columns=COLUMNS,
            folds=2,
            trees=12,
            processes=1,
        )
    for name in FILES:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    card = read_card(tmp_path / "one")
    assert card.cutoff.isoformat() == "2023-11-14"
    assert set(card.figures) == {"histories", "one file known", "new file", "warnings", "trained_on"}
    model = open_model(tmp_path / "one", COLUMNS)
    dataset = made("unseen", 11)
    found = [
        order_figures(dataset, scored, Kind.SEVERAL)
        for scored in (dataset.closed, model.order(dataset.X[:, :3], False), model.order(dataset.X, True))
    ]
    maps = [row.average_precision for row in found if row is not None]
    assert maps[0] < maps[2] and maps[1] < maps[2]
    said, page = capsys.readouterr().out, (tmp_path / "one.md").read_text(encoding="utf-8")
    for told in (said, page):
        assert "model, task text" in told
    assert "loses to the closed form on" in said
    assert (tmp_path / "one" / CARD).exists()


def test_a_dataset_of_other_columns_is_refused_by_name(cache: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"four\.npz has other columns"):
        train(files(cache), tmp_path, tmp_path / "page.md", columns=Columns(("geom",), ("titles",)))


# ---- figures -------------------------------------------------------------------------------------


def test_the_order_is_scored_as_the_protocol_scores_it() -> None:
    dataset = made("one", 3)
    found = order_figures(dataset, dataset.closed, Kind.SEVERAL)
    expected = []
    for question in np.flatnonzero(dataset.kind == Kind.SEVERAL):
        rows = np.flatnonzero(dataset.query == question)
        ranked = sorted(rows.tolist(), key=lambda row: -dataset.closed[row])
        expected.append(rank_scores(ranked, set(rows[dataset.y[rows]].tolist())))
    assert found is not None
    assert found.average_precision == pytest.approx(np.mean([row.average_precision for row in expected]))
    assert found.hit_1 == pytest.approx(np.mean([row.hit_1 for row in expected]))
    assert found.hit_5 == pytest.approx(np.mean([row.hit_5 for row in expected]))
    assert found.recall_10 == pytest.approx(np.mean([row.recall_10 for row in expected]))


def test_without_questions_of_a_kind_there_is_no_figure() -> None:
    dataset = made("one", 3)
    assert order_figures(dataset._replace(kind=dataset.kind * 0), dataset.closed, Kind.NEW_FILE) is None


def test_a_curve_rises_and_makes_chances_honest() -> None:
    draw = np.random.default_rng(1)
    said = draw.random(20_000).astype(np.float32)
    right = draw.random(20_000) < said**2
    entries = Named(said, right, np.ones(20_000, np.float32), np.arange(20_000, dtype=np.int32))
    curve = curve_of([entries])
    assert list(curve.came_true) == sorted(curve.came_true)
    assert calibration_error(entries) > 0.1
    assert calibration_error(calibrated(entries, curve)) < 0.02


def test_warnings_count_single_file_edits_and_leave_out_what_is_no_candidate() -> None:
    dataset = made("one", 3)
    chances = np.where(dataset.by_task, -math.inf, 1 / (1 + np.exp(-dataset.closed))).astype(np.float32)
    entries = named(dataset, chances, [Kind.SEVERAL, Kind.SINGLE])
    assert set(np.bincount(entries.question)) <= {0, 10}
    assert np.isfinite(entries.chance).all()
    loud, silent = warnings_of(dataset, entries, 0.0), warnings_of(dataset, entries, 1.1)
    assert (loud.singles, loud.alerts_per_100) == (1.0, 100.0)
    assert (silent.singles, silent.recall) == (0.0, 0.0)
    assert math.isnan(silent.precision)
    assert loud.precision == pytest.approx(entries.right.mean())
