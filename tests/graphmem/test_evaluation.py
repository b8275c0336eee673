from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory
from graphmem.errors import SourceError
from graphmem.evaluation import (
    GRAPHMEM,
    RecallPredictor,
    evaluate,
    evaluate_observations,
    lines_of,
    read_source,
)
from graphmem.instant import HOUR, to_iso
from graphmem.model import Observation
from inference.replay import Context

BASELINES = ["ROSE", "Jaccard", "same folder", "frequency"]


def work(number: int, *modified: str, added: Sequence[str] = (), actor: str = "ann") -> Observation:
    return Observation(
        id=f"w{number}",
        session=f"s{number // 3}",
        at=1_700_000_000.0 + number * HOUR,
        actor=actor,
        title=f"Work {number}",
        files_modified=(*added, *modified),
        files_added=tuple(added),
    )


def shop() -> list[Observation]:
    """The cart and its page always change together, the search alone or with the footer."""
    first = work(0, added=("src/cart.ts", "pages/cart.vue", "src/search.ts", "pages/footer.vue"))
    found = [first]
    for number in range(1, 41):
        match number % 4:
            case 0:
                found.append(work(number, "src/search.ts"))
            case 1:
                found.append(work(number, "src/search.ts", "pages/footer.vue"))
            case _:
                found.append(work(number, "src/cart.ts", "pages/cart.vue"))
    return found


def test_graphmem_stands_first_beside_the_baselines_and_finds_the_steady_pair() -> None:
    outcomes = evaluate_observations(shop())
    assert list(outcomes) == [GRAPHMEM, *BASELINES]
    ours = outcomes[GRAPHMEM]
    assert ours.scores is not None
    assert ours.scores.hit_1 == 1.0
    assert all(outcome.queries == ours.queries for outcome in outcomes.values())


def test_the_predictor_answers_what_the_impact_answer_lists(tmp_path: Path) -> None:
    observations = shop()
    predictor = RecallPredictor(observations)
    for line in lines_of(observations):
        predictor.observe(line)
    asked = Context(observations[-1].at + 60, "s", "ann")
    with Memory(tmp_path / "home", clock=lambda: asked.at) as memory:
        (tmp_path / "shop").mkdir()
        project, _ = memory.register(str(tmp_path / "shop"))
        project.observe(observations)
        assert project.wait_visible()
        for path in ("src/cart.ts", "pages/cart.vue", "src/search.ts", "pages/footer.vue"):
            impact = project.impact([path], session="s", actor="ann", limit=50)
            listed = [(entry.path, pytest.approx(entry.probability)) for entry in impact.affected]
            assert predictor.predict(path, asked) == listed
            assert listed
    predictor.close()


def test_what_is_described_is_what_is_ranked() -> None:
    observations = shop()
    predictor = RecallPredictor(observations)
    for line in lines_of(observations):
        predictor.observe(line)
    asked = Context(observations[-1].at, "s", "ann")
    described = predictor.describe("src/cart.ts", asked)
    assert sorted(path for path, _ in described) == sorted(
        path for path, _ in predictor.predict("src/cart.ts", asked)
    )
    assert predictor.describe("never/seen.ts", asked) == predictor.predict("never/seen.ts", asked) == []
    predictor.close()


def test_nothing_is_known_before_it_is_told() -> None:
    predictor = RecallPredictor(shop())
    assert predictor.predict("src/cart.ts", Context(1.8e9, "s", "ann")) == []
    predictor.close()


def history_file(folder: Path, records: Sequence[object]) -> Path:
    path = folder / "history.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def history_records() -> list[dict[str, Any]]:
    return [
        {
            "id": each.id,
            "ts": to_iso(each.at),
            "author": each.actor,
            "session": each.session,
            "title": each.title,
            "files": [
                {"path": path, "status": "A" if path in each.files_added else "M"}
                for path in each.files_modified
            ],
        }
        for each in shop()
    ]


def observation_records() -> list[dict[str, Any]]:
    return [
        {
            "id": each.id,
            "at": to_iso(each.at),
            "actor": each.actor,
            "session": each.session,
            "title": each.title,
            "files_modified": list(each.files_modified),
        }
        for each in shop()
    ]


@pytest.mark.parametrize("records", [history_records, observation_records])
def test_a_file_of_lines_of_either_kind_is_replayed(
    records: Callable[[], list[dict[str, Any]]], tmp_path: Path
) -> None:
    told: list[tuple[int, int | None]] = []
    path = history_file(tmp_path, records())
    outcomes = evaluate("jsonl", str(path), progress=lambda done, total: told.append((done, total)))
    ours = outcomes[GRAPHMEM].scores
    assert ours is not None
    assert ours.hit_1 == 1.0
    assert told[-1] == (41, 41)


def test_bad_and_repeated_lines_are_passed_over(tmp_path: Path) -> None:
    good = history_records()
    path = history_file(tmp_path, [good[0], {"files": "none"}, {"title": 7}, good[0], *good[1:]])
    assert [each.id for each in read_source("jsonl", str(path))] == [each.id for each in shop()]


def test_a_repository_is_replayed(git_repository: Callable[..., Any]) -> None:
    repository = git_repository()
    for number in range(12):
        repository.touch(f"Work {number}", "src/cart.ts", "pages/cart.vue")
        repository.touch(f"More {number}", "src/search.ts")
    outcomes = evaluate("git", str(repository.path))
    ours = outcomes[GRAPHMEM]
    assert ours.scores is not None
    assert ours.scores.hit_1 == 1.0
    assert ours.singles > 0


@pytest.mark.parametrize("intent", [False, True])
def test_the_task_may_be_told(intent: bool, tmp_path: Path) -> None:
    outcomes = evaluate("jsonl", str(history_file(tmp_path, history_records())), intent=intent)
    assert outcomes[GRAPHMEM].queries > 0


def test_a_source_without_work_and_a_missing_one_are_refused_in_one_sentence(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    with pytest.raises(SourceError, match=r"empty\.jsonl holds no observation"):
        evaluate("jsonl", str(empty))
    with pytest.raises(SourceError):
        evaluate("jsonl", str(tmp_path / "missing.jsonl"))
    with pytest.raises(SourceError):
        evaluate("git", str(tmp_path))


@pytest.mark.slow
def test_on_a_real_history_the_alerts_beat_every_baseline(data_folder: Any) -> None:
    outcomes = evaluate("jsonl", str(data_folder.file("histories/httpx.jsonl.gz")))
    ours = outcomes[GRAPHMEM]
    assert ours.scores is not None
    for name in BASELINES:
        theirs = outcomes[name].scores
        assert theirs is not None
        assert ours.scores.average_precision > theirs.average_precision
        assert ours.scores.hit_5 > theirs.hit_5
    assert ours.scores.average_precision >= 0.43
    assert ours.scores.hit_5 >= 0.72
    assert ours.calibration_error <= 0.06
