"""The story's graph: which edges are suggested and which are not, and what becomes of verdicts on them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory, Project
from graphmem.graph import (
    Decision,
    Direction,
    Edge,
    EdgeFilter,
    EdgeKind,
    EdgeOrder,
    EdgeStatus,
    NodeType,
    Relation,
    VerdictKind,
)
from graphmem.instant import HOUR, from_iso

STORY = Path(__file__).resolve().parents[1] / "fixtures" / "story"
EXPECTED: dict[str, Any] = json.loads((STORY / "expectations.json").read_text(encoding="utf-8"))
ASKED_AT = from_iso(EXPECTED["asked_at"])
TOKEN, SESSION = "src/auth/token.ts", "src/checkout/session.ts"
BETWEEN_FILES = tuple(kind for kind in EdgeKind if kind not in (EdgeKind.ABOUT, EdgeKind.RELATED))
EVERY = EdgeFilter(statuses=tuple(EdgeStatus), kinds=BETWEEN_FILES)


def opened(folder: Path) -> Memory:
    (folder / "shop").mkdir(exist_ok=True)
    return Memory(folder / "home", clock=lambda: ASKED_AT)


def shop_of(memory: Memory, folder: Path) -> Project:
    project, created = memory.register(folder / "shop")
    if created:
        project.import_jsonl(str(STORY / "observations.jsonl"))
        assert project.wait_visible()
    return project


@pytest.fixture(scope="module")
def suggested(tmp_path_factory: pytest.TempPathFactory) -> list[Edge]:
    folder = tmp_path_factory.mktemp("story")
    with opened(folder) as memory:
        return list(shop_of(memory, folder).graph.edges(EVERY, limit=200).items)


@pytest.fixture
def reopen(tmp_path: Path) -> Iterator[Callable[[], Project]]:
    """Opens the memory of the story, closed and anew at each further call."""
    held: list[Memory] = []

    def again() -> Project:
        for memory in held:
            memory.close()
        held.append(opened(tmp_path))
        return shop_of(held[-1], tmp_path)

    yield again
    for memory in held:
        memory.close()


def between(edges: list[Edge], a: str, b: str) -> Edge | None:
    return next((edge for edge in edges if {edge.source.name, edge.target.name} == {a, b}), None)


def edge_of(project: Project, a: str, b: str) -> Edge:
    found = between(list(project.graph.edges(EVERY, limit=200).items), a, b)
    assert found is not None
    return found


def judge(project: Project, edge: Edge, verdict: VerdictKind, **more: Any) -> Edge:
    (after,) = project.graph.judge([Decision(edge.id, verdict, by="mei", **more)])
    return after


def depending(project: Project, name: str) -> dict[str, int]:
    return {found.node.name: found.hops for found in project.graph.dependents(name).confirmed}


@pytest.mark.parametrize("case", EXPECTED["linked"], ids=lambda case: f"{case['path']} {case['to']}")
def test_files_that_belong_together_are_suggested_with_their_evidence(
    suggested: list[Edge], case: dict[str, Any]
) -> None:
    edge = between(suggested, case["path"], case["to"])
    assert edge is not None
    assert edge.status is EdgeStatus.CANDIDATE
    if edge.kind is EdgeKind.CO_CHANGES:
        assert (edge.evidence.together, edge.evidence.sessions) == (case["together"], case["sessions"])
    assert edge.evidence.sessions >= 2
    assert edge.evidence.observations
    assert edge.relation is None and edge.verdicts == ()


@pytest.mark.parametrize("case", EXPECTED["apart"], ids=lambda case: case["why"])
def test_a_false_friend_is_not_suggested(suggested: list[Edge], case: dict[str, Any]) -> None:
    assert between(suggested, case["path"], case["to"]) is None


@pytest.mark.parametrize("path", [*EXPECTED["bulk_only"], EXPECTED["noise"]["file"]])
def test_bulk_changes_and_lock_files_bring_no_edges(suggested: list[Edge], path: str) -> None:
    assert [edge.id for edge in suggested if path in {edge.source.name, edge.target.name}] == []


@pytest.mark.parametrize("kind", [EdgeKind.READ_FOR, EdgeKind.FOLLOWED_BY])
def test_what_is_read_for_or_followed_by_another_is_suggested_in_that_direction(
    suggested: list[Edge], kind: EdgeKind
) -> None:
    case = EXPECTED[kind.value]
    edge = between(suggested, case["path"], case["to"])
    assert edge is not None
    assert (edge.kind, edge.source.name, edge.target.name) == (kind, case["path"], case["to"])


def test_what_a_files_work_is_about_is_listed_when_asked_for_and_never_in_the_queue(
    reopen: Callable[[], Project],
) -> None:
    graph = reopen().graph
    asked = EdgeFilter(kinds=(EdgeKind.ABOUT,), node=TOKEN, order=EdgeOrder.PROBABILITY)
    about = graph.edges(asked).items
    assert [(edge.source.ref, edge.target.ref) for edge in about[:2]] == [
        (f"file:{TOKEN}", "concept:auth"),
        (f"file:{TOKEN}", "concept:token"),
    ]
    assert all(edge.evidence.sessions >= 2 and edge.score.concept == edge.probability for edge in about)
    assert {edge.target.type for edge in graph.edges(limit=200).items} == {NodeType.FILE}
    known = {near.node.name for near in graph.dependents("concept:auth", limit=50).possible}
    assert TOKEN in known | {near.node.name for near in graph.dependents("concept:auth").likely}
    assert {near.node.type for near in graph.dependents(TOKEN, limit=50).possible} == {NodeType.FILE}
    related = graph.edges(EdgeFilter(kinds=(EdgeKind.RELATED,), order=EdgeOrder.PROBABILITY)).items
    assert ("concept:cart", "concept:merge") in {(edge.source.ref, edge.target.ref) for edge in related}


@pytest.mark.parametrize("order", EdgeOrder)
def test_the_first_twenty_ask_about_a_file_three_times_at_most(
    reopen: Callable[[], Project], order: EdgeOrder
) -> None:
    first = reopen().graph.edges(EdgeFilter(order=order), limit=20).items
    files = [end.name for edge in first for end in (edge.source, edge.target)]
    assert len(first) == 20
    assert max(files.count(name) for name in files) <= 3


def test_what_depends_on_auth_is_exact_after_confirmations_over_restart_and_rebuild(
    reopen: Callable[[], Project],
) -> None:
    project = reopen()
    relations = {
        SESSION: Relation.DEPENDS_ON,
        "src/auth/refresh.ts": Relation.DEPENDS_ON,
        "tests/auth/token.test.ts": Relation.TESTS,
    }
    for name, relation in relations.items():
        edge = edge_of(project, TOKEN, name)
        direction = Direction.BACKWARD if edge.source.name == TOKEN else Direction.FORWARD
        judge(project, edge, VerdictKind.CONFIRM, relation=relation, direction=direction)
    totals = edge_of(project, "src/checkout/total.ts", "tests/checkout/total.test.ts")
    judge(project, totals, VerdictKind.CONFIRM)
    assert depending(project, TOKEN) == dict.fromkeys(relations, 1)
    assert depending(project, SESSION) == {}
    assert [found.node.name for found in project.graph.dependencies(SESSION).confirmed] == [TOKEN]
    assert depending(reopen(), TOKEN) == dict.fromkeys(relations, 1)
    again = reopen()
    again.rebuild()
    again.wait_visible()
    assert depending(again, TOKEN) == dict.fromkeys(relations, 1)
    linked = again.graph.dependents("src/checkout/total.ts").linked
    assert [near.node.name for near in linked] == ["tests/checkout/total.test.ts"]


def test_a_chain_of_confirmed_edges_is_walked_with_its_way(reopen: Callable[[], Project]) -> None:
    project = reopen()
    first, second = (
        edge_of(project, TOKEN, SESSION),
        edge_of(project, "src/cart/store.ts", "src/cart/merge.ts"),
    )
    judge(project, first, VerdictKind.CONFIRM, relation=Relation.DEPENDS_ON, direction=Direction.BACKWARD)
    toward = Direction.FORWARD if second.source.name == "src/cart/merge.ts" else Direction.BACKWARD
    judge(project, second, VerdictKind.CONFIRM, relation=Relation.DEPENDS_ON, direction=toward)
    assert depending(project, "src/cart/store.ts") == {"src/cart/merge.ts": 1}
    assert depending(project, TOKEN) == {SESSION: 1}


def test_a_verdict_follows_a_rename_and_keeps_its_id(reopen: Callable[[], Project]) -> None:
    project = reopen()
    edge = edge_of(project, TOKEN, SESSION)
    judge(project, edge, VerdictKind.CONFIRM, relation=Relation.DEPENDS_ON, direction=Direction.BACKWARD)
    moved = {
        "title": "Move the tokens",
        "renames": [{"from": TOKEN, "to": "src/identity/token.ts"}],
        "at": "2026-05-29T15:30:00Z",
    }
    project.observe([moved])
    project.wait_visible()
    for opening in (lambda: project, reopen):
        asked = opening()
        after = asked.graph.edge(edge.id)
        assert after.status is EdgeStatus.CONFIRMED
        assert "src/identity/token.ts" in {after.source.name, after.target.name}
        assert depending(asked, "src/identity/token.ts") == {SESSION: 1}
        assert depending(asked, TOKEN) == {SESSION: 1}


def test_a_confirmed_edge_is_stale_when_an_end_is_deleted_and_says_so(reopen: Callable[[], Project]) -> None:
    project = reopen()
    edge = edge_of(project, TOKEN, SESSION)
    judge(project, edge, VerdictKind.CONFIRM, relation=Relation.DEPENDS_ON, direction=Direction.BACKWARD)
    project.observe(
        [{"title": "Drop it", "files_deleted": [SESSION], "at": "2026-05-29T15:30:00Z", "id": "drop"}]
    )
    project.wait_visible()
    stale = project.graph.edge(edge.id)
    assert stale.status is EdgeStatus.STALE
    assert stale.reason is not None and SESSION in stale.reason
    assert depending(project, TOKEN) == {}
    assert project.graph.health().counts.stale_edges == 1
    project.forget("drop")
    assert project.graph.edge(edge.id).status is EdgeStatus.CONFIRMED


def test_a_rejected_edge_does_not_return_on_the_same_evidence_but_on_twice_as_much(
    reopen: Callable[[], Project],
) -> None:
    project = reopen()
    edge = edge_of(project, "src/payment/gateway.ts", "src/payment/stripe.ts")
    assert edge.evidence.together == 4
    judge(project, edge, VerdictKind.REJECT)
    pair = ["src/payment/gateway.ts", "src/payment/stripe.ts"]

    def change(number: int) -> None:
        day = f"2026-05-29T0{number}:00:00Z"
        project.observe([{"title": "Pay", "session": f"more-{number}", "files_modified": pair, "at": day}])
        project.wait_visible()

    for number in range(1, 4):
        change(number)
        assert project.graph.edge(edge.id).status is EdgeStatus.REJECTED
        assert between(list(project.graph.edges(limit=200).items), *pair) is None
        assert pair[1] not in [entry.path for entry in project.impact([pair[0]]).affected]
    change(4)
    back = project.graph.edge(edge.id)
    assert back.status is EdgeStatus.CANDIDATE
    assert back.reason is not None and "4" in back.reason and "8" in back.reason
    assert [verdict.verdict for verdict in back.verdicts] == [VerdictKind.REJECT]


def test_undo_goes_back_to_any_depth_and_the_history_keeps_all(reopen: Callable[[], Project]) -> None:
    project = reopen()
    edge = edge_of(project, TOKEN, SESSION)
    judge(project, edge, VerdictKind.CONFIRM, relation=Relation.DEPENDS_ON)
    judge(project, edge, VerdictKind.CONFIRM, relation=Relation.CONFIGURES)
    judge(project, edge, VerdictKind.REJECT)
    assert judge(project, edge, VerdictKind.UNDO).relation is Relation.CONFIGURES
    assert judge(reopen(), edge, VerdictKind.UNDO).relation is Relation.DEPENDS_ON
    last = judge(reopen(), edge, VerdictKind.UNDO)
    assert (last.status, last.relation) == (EdgeStatus.CANDIDATE, None)
    assert len(last.verdicts) == 6
    assert {verdict.by for verdict in last.verdicts} == {"mei"}


def test_a_question_about_the_past_knows_neither_later_work_nor_later_verdicts(
    reopen: Callable[[], Project],
) -> None:
    project = reopen()
    edge = edge_of(project, TOKEN, SESSION)
    judge(project, edge, VerdictKind.CONFIRM, relation=Relation.DEPENDS_ON, direction=Direction.BACKWARD)
    before = ASKED_AT - 24 * HOUR
    assert project.graph.edge(edge.id, as_of=before).status is EdgeStatus.CANDIDATE
    assert project.graph.edge(edge.id, as_of=ASKED_AT).status is EdgeStatus.CONFIRMED
    assert project.graph.dependents(TOKEN, as_of=before).confirmed == ()
    assert [found.node.name for found in project.graph.dependents(TOKEN, as_of=ASKED_AT).confirmed] == [
        SESSION
    ]
    early = from_iso("2026-03-20T00:00:00Z")
    then = project.graph.edges(EdgeFilter(kinds=BETWEEN_FILES, as_of=early), limit=200).items
    assert all(item.evidence.last_seen is None or item.evidence.last_seen <= early for item in then)
    assert len(then) < len(project.graph.edges(EVERY, limit=200).items)
