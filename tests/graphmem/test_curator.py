"""How a project's graph is kept up: when it is open, what a question sees, what a fault costs."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory, Project, curator, follower, project_graph, projection, refreshing, traffic
from graphmem.calibration import Calibration, calibrations
from graphmem.errors import UnavailableError
from graphmem.graph import Decision, Declaration, EdgeFilter, EdgeStatus, Relation, VerdictKind
from graphmem.opened import Opened
from graphmem.projection import catch_up, watermark
from graphmem.recall.edges import Edges
from graphmem.store.files import GraphFiles
from graphmem.store.kuzu import KuzuStore
from graphmem.store.port import GraphFault, GraphFull, GraphSlow, GraphStore

PAIR = ("src/a.py", "src/b.py")


def work(number: int, *files: str) -> dict[str, Any]:
    return {
        "id": f"o{number}",
        "title": f"Work {number}",
        "session": f"s{number}",
        "files_modified": list(files or PAIR),
        "at": f"2026-04-{number:02}T09:00:00Z",
    }


def folder_of(project: Project, home: Path) -> Path:
    return home / "projects" / project.id


def wait_until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < deadline
        pause.wait(0.02)


def test_an_edge_is_listed_as_soon_as_its_evidence_is_seen(
    shop: Project, tell: Callable[..., object]
) -> None:
    tell(shop, work(1), work(2), work(3))
    (edge,) = shop.graph.edges().items
    assert (edge.source.name, edge.target.name) == PAIR
    assert edge.evidence.together == 3
    tell(shop, work(4))
    assert shop.graph.edge(edge.id).evidence.together == 4


def test_an_impact_answer_and_the_review_queue_need_no_graph_on_the_disk(
    shop: Project, tell: Callable[..., object], tmp_path: Path
) -> None:
    tell(shop, work(1), work(2), work(3))
    (edge,) = shop.graph.edges().items
    shop.graph.judge([Decision(edge.id, VerdictKind.CONFIRM)])
    assert [entry.tier for entry in shop.impact([PAIR[0]]).affected] == ["confirmed"]
    assert list(folder_of(shop, tmp_path / "home").glob("graph*")) == []
    shop.graph.dependents(PAIR[0])
    assert list(folder_of(shop, tmp_path / "home").glob("graph*")) != []


def test_edges_appear_by_themselves_after_an_import(shop: Project, tmp_path: Path) -> None:
    lines = "\n".join(json.dumps(work(number)) for number in range(1, 5))
    (tmp_path / "work.jsonl").write_text(lines, encoding="utf-8")
    shop.import_jsonl(str(tmp_path / "work.jsonl"))

    def promoted() -> bool:
        count = "SELECT COUNT(*) FROM edge"
        return shop._access.ask(lambda view, _: view.connection.execute(count).fetchone()[0] == 1)

    wait_until(promoted)
    assert promoted()


def test_the_threshold_is_held_against_the_past_after_an_import(
    shop: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traffic, "_LOOK", 0.0)
    items = [work(1) | {"id": f"o{n}", "session": f"s{n}", "at": 1_700_000_000 + 60 * n} for n in range(110)]
    (tmp_path / "work.jsonl").write_text("\n".join(map(json.dumps, items)), encoding="utf-8")
    shop.import_jsonl(str(tmp_path / "work.jsonl"))

    def kept() -> list[Calibration]:
        with shop._access.use() as files:
            return calibrations(files.journal)

    wait_until(lambda: kept() != [])
    (found,) = kept()
    assert (found.questions, found.observations, found.at) == (218, 110, 1_700_000_000 + 60 * 109)


def test_a_question_does_not_wait_for_a_long_run_which_goes_on_by_itself(
    shop: Project, tell: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refreshing.deadline, "__defaults__", (0.0,))
    tell(shop, work(1), work(2), work(3))
    first = shop.graph.edges()
    assert (first.items, first.degraded) == (
        (),
        "the graph is being built from the history; ask again in a moment",
    )
    wait_until(lambda: bool(shop.graph.edges().items))
    wait_until(lambda: shop.graph.edges().degraded is None)


def test_a_second_inference_on_the_same_work_changes_nothing(
    shop: Project, tell: Callable[..., object]
) -> None:
    tell(shop, work(1), work(2), work(3))
    first, second = shop.graph.infer(), shop.graph.infer()
    assert (first.created, first.updated, first.retired, first.degraded) == (1, 0, 0, None)
    assert (second.created, second.updated, second.retired) == (0, 0, 0)
    assert second.modules == first.modules


def test_a_graph_that_nobody_asks_is_closed_and_opened_again_when_asked(
    shop: Project, tell: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(shop, work(1), work(2))
    before = shop.graph.dependents(PAIR[0])
    assert shop.graph.state().is_open
    monkeypatch.setattr(curator, "IDLE", 0.0)
    shop.observe([work(2)])
    wait_until(lambda: not shop.graph.state().is_open)
    monkeypatch.setattr(curator, "IDLE", 600.0)
    assert shop.graph.dependents(PAIR[0]) == before
    assert shop.graph.state().is_open


def test_only_so_many_projects_keep_their_graphs_open(tmp_path: Path) -> None:
    with Memory(tmp_path / "home", max_open=2) as memory:
        projects = []
        for name in ("one", "two", "three"):
            (tmp_path / name).mkdir()
            projects.append(memory.register(tmp_path / name)[0])
        for project in (*projects, *projects):
            project.observe([work(1), work(2)])
            project.wait_visible()
            assert len(project.graph.dependents(PAIR[0]).possible) == 1
            assert sum(other._access._files is not None for other in projects) <= 2


def test_files_that_are_ignored_get_no_edges_and_get_them_back(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    for ignore, expected in ((("*.snap",), 0), ((), 1), (("/src/",), 0)):
        with Memory(tmp_path / "home", ignore=ignore) as memory:
            project, _ = memory.register(tmp_path / "shop")
            project.observe([work(number, "src/a.py", "src/a.snap") for number in (1, 2, 3)])
            project.wait_visible()
            assert len(project.graph.edges().items) == expected


def test_a_graph_that_can_not_be_opened_is_tried_three_times_then_said_to_be_away(
    shop: Project, tell: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(shop, work(1), work(2), work(3))
    tried: list[float] = []

    def refuse(files: GraphFiles) -> None:
        tried.append(time.monotonic())
        raise GraphFault("The graph is damaged; it is rebuilt.")

    monkeypatch.setattr(GraphFiles, "open", refuse)
    monkeypatch.setattr(curator, "_PAUSES", (0.0, 0.0, 0.0))
    found = shop.graph.dependents(PAIR[0])
    assert found.degraded is not None and not found.complete
    assert len(tried) == 3
    assert shop.graph.dependents(PAIR[0]).degraded is not None
    assert len(tried) == 3
    assert len(shop.graph.edges().items) == 1


def test_a_full_disk_is_no_reason_to_rebuild(
    shop: Project, tell: Callable[..., object], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tell(shop, work(1), work(2), work(3))
    shop.graph.dependents(PAIR[0])
    kept = {path: path.stat().st_ino for path in folder_of(shop, tmp_path / "home").glob("graph*")}
    shop.close()

    def full(files: GraphFiles) -> None:
        raise GraphFull("The disk is full; free some space.")

    monkeypatch.setattr(GraphFiles, "open", full)
    assert "disk is full" in (shop.graph.dependents(PAIR[0]).degraded or "")
    assert {path: path.stat().st_ino for path in kept} == kept
    assert not shop.graph.state().set_aside


def test_a_verdict_is_in_the_walk_at_once(shop: Project, tell: Callable[..., object]) -> None:
    tell(shop, work(1), work(2), work(3))
    assert shop.graph.dependents(PAIR[0]).linked == ()
    (edge,) = shop.graph.edges().items
    (judged,) = shop.graph.judge([Decision(edge.id, VerdictKind.CONFIRM)])
    assert judged.status is EdgeStatus.CONFIRMED
    assert [near.node.name for near in shop.graph.dependents(PAIR[0]).linked] == [PAIR[1]]
    shop.graph.judge([Decision(edge.id, VerdictKind.REJECT)])
    assert shop.graph.dependents(PAIR[0]).linked == ()
    assert shop.graph.edges(EdgeFilter(statuses=(EdgeStatus.REJECTED,))).items[0].id == edge.id


def test_a_run_that_failed_is_tried_again(
    shop: Project, tell: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    failed, done = threading.Event(), threading.Event()

    def fail_once(*args: object) -> None:
        if failed.is_set():
            done.set()
            return
        failed.set()
        raise GraphFault("Something is wrong; try again.")

    monkeypatch.setattr(curator, "regroup", fail_once)
    monkeypatch.setattr(curator, "DEBOUNCE", 0.05)
    tell(shop, work(1), work(2))
    assert failed.wait(20.0)
    assert done.wait(20.0), "nothing new was stored, yet what was noticed waits"


def test_a_question_that_takes_too_long_is_no_reason_to_rebuild(
    shop: Project, tell: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(shop, work(1), work(2), work(3))
    shop.graph.dependents(PAIR[0])

    def slow(store: KuzuStore, at_most: int = 20) -> None:
        raise GraphSlow("The graph gave no answer; ask again.")

    with monkeypatch.context() as patched:
        patched.setattr(KuzuStore, "cycles", slow)
        assert "no answer" in (shop.graph.health().degraded or "")
    assert not shop.graph.state().set_aside
    assert shop.graph.health().degraded is None


def test_an_answer_during_which_nodes_got_other_numbers_is_made_anew(
    shop: Project, tell: Callable[..., object]
) -> None:
    tell(shop, work(1), work(2), work(3, "src/c.py", "src/d.py"), work(4, "src/c.py", "src/d.py"))
    asked: list[list[int]] = []

    def answer(edges: Edges, files: Opened, store: GraphStore | None, away: str | None) -> str | None:
        assert store is not None
        asked.append([near.node for near in store.beside(edges.references.find(PAIR[0], str)).beside])
        if len(asked) == 1:
            files.journal.forget("o3", 0.0)
            files.follower.notify()
            assert files.follower.wait(20.0)
        return away

    assert shop.graph._with_store(answer) is None
    assert len(asked) == 2


def test_nothing_is_decided_on_half_of_the_history(
    shop: Project,
    tell: Callable[..., object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tell(shop, work(1), work(2), work(3))
    (edge,) = shop.graph.edges().items
    shop.close()
    (folder_of(shop, tmp_path / "home") / "derived.db").unlink()
    gate = threading.Event()

    def later(*args: Any) -> bool:
        gate.wait(60.0)
        return catch_up(*args)

    monkeypatch.setattr(follower, "catch_up", later)
    with monkeypatch.context() as hurried:
        hurried.setattr(refreshing.deadline, "__defaults__", (0.05,))
        with pytest.raises(UnavailableError, match="0 of 3"):
            shop.graph.judge([Decision(edge.id, VerdictKind.REJECT)])
        with pytest.raises(UnavailableError, match="0 of 3"):
            shop.graph.declare([Declaration("feature:f", "contract:POST /pay", Relation.DEPENDS_ON)])
    gate.set()
    (rejected,) = shop.graph.judge([Decision(edge.id, VerdictKind.REJECT)])
    assert [given.together for given in rejected.verdicts] == [3]
    assert rejected.status is EdgeStatus.REJECTED


def test_no_id_is_minted_from_half_of_the_history(
    shop: Project, tell: Callable[..., object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = {"id": "o4", "renames": [{"from": PAIR[0], "to": "src/z.py"}], "at": "2026-04-04T09:00:00Z"}
    tell(shop, work(1), work(2), work(3), moved)
    (edge,) = shop.graph.edges().items
    shop.close()
    (folder_of(shop, tmp_path / "home") / "derived.db").unlink()
    gate = threading.Event()

    def in_two_parts(*args: Any) -> bool:
        if not gate.is_set():
            catch_up(*args[:3], lambda: watermark(args[1]).entries >= 3)
            gate.wait(60.0)
        return catch_up(*args)

    monkeypatch.setattr(follower, "catch_up", in_two_parts)
    monkeypatch.setattr(projection, "_BATCH", 1)
    with monkeypatch.context() as hurried:
        hurried.setattr(refreshing.deadline, "__defaults__", (1.0,))
        hurried.setattr(project_graph, "_VISIBLE", 0.05)
        assert "3 of 4" in (shop.graph.edges().degraded or "")
        with pytest.raises(UnavailableError, match=r"inferred yet: .* 3 of 4"):
            shop.graph.infer()
    gate.set()
    assert [again.id for again in shop.graph.edges().items] == [edge.id]
    with shop._access.use() as files:
        assert [minted.id for minted in files.journal.ledger.edges_after(0, 9)] == [edge.id]
