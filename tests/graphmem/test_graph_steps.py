"""What one step further in a graph comes to, held against the in-memory store and the engine's alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from graphmem.graph import Direction, EdgeKind, EdgeStatus, NodeType, Relation
from graphmem.store.kuzu import KuzuStore
from graphmem.store.memory import MemoryStore
from graphmem.store.port import (
    GraphChange,
    GraphContent,
    GraphEdge,
    GraphNode,
    GraphStore,
    Level,
    Mark,
    Step,
    Through,
    Towards,
)

MARK = Mark(1, 1, 1)
FILES = Through((NodeType.FILE,))
NODES = tuple(
    GraphNode(number, type, f"{type} {number}", number != 7)
    for number, type in enumerate(
        [*[NodeType.FILE] * 8, NodeType.CONCEPT, NodeType.CONTRACT, NodeType.FEATURE, NodeType.FILE]
    )
)


def edge(id: str, source: int, target: int, probability: float = 0.5, **more: Any) -> GraphEdge:
    told = {"kind": EdgeKind.CO_CHANGES, "status": EdgeStatus.CANDIDATE} | more
    return GraphEdge(id, source, target, probability=probability, **told)


def depends(id: str, source: int, target: int, direction: Direction | None) -> GraphEdge:
    return edge(
        id, source, target, 1.0,
        status=EdgeStatus.CONFIRMED, relation=Relation.DEPENDS_ON, direction=direction,
    )  # fmt: skip


def reached(level: Level) -> list[tuple[int, int, str]]:
    assert level.cut is None
    return [(step.node, step.source, step.edge) for step in level.steps]


@pytest.fixture(params=["memory", "kuzu"])
def load(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., GraphStore]]:
    """A way to fill a store with the twelve nodes and some edges; node 7 is a file that is gone."""
    store: GraphStore = (
        MemoryStore() if request.param == "memory" else KuzuStore(tmp_path / "graph.kuzu", timeout_ms=60_000)
    )

    def filled(*edges: GraphEdge, nodes: Sequence[GraphNode] = NODES) -> GraphStore:
        store.load(GraphContent(nodes, edges), MARK)
        return store

    yield filled
    store.close()


def test_a_step_comes_to_the_most_probable_first_then_by_edge(load: Callable[..., GraphStore]) -> None:
    store = load(edge("b", 0, 1, 0.4), edge("a", 2, 0, 0.4), edge("c", 0, 8, 0.9, kind=EdgeKind.ABOUT))
    steps = store.onwards([0], (), Through()).steps
    candidate = EdgeStatus.CANDIDATE
    assert steps == (
        Step(8, 0, "c", EdgeKind.ABOUT, candidate, 0.9),
        Step(2, 0, "a", EdgeKind.CO_CHANGES, candidate, 0.4),
        Step(1, 0, "b", EdgeKind.CO_CHANGES, candidate, 0.4),
    )
    assert store.onwards([0], (), Through(), 2) == Level(steps[:2])
    assert store.onwards([0], (), Through(), 0) == store.onwards([], (), Through()) == Level()


@pytest.mark.parametrize(
    ("through", "found"),
    [
        (Through(), [9, 8, 1, 2]),
        (FILES, [1, 2]),
        (Through((NodeType.CONTRACT, NodeType.FEATURE)), [9, 10]),
        (Through(probability=0.6), [9, 8]),
        (Through(statuses=(EdgeStatus.REJECTED, EdgeStatus.STALE)), [3, 4]),
        (Through(statuses=()), []),
        (Through(types=()), []),
        (Through((NodeType.MODULE,)), []),
    ],
)
def test_a_step_keeps_to_its_types_statuses_and_probability(
    load: Callable[..., GraphStore], through: Through, found: list[int]
) -> None:
    store = load(
        edge("a", 0, 9, 0.8),
        edge("b", 8, 0, 0.6),
        edge("c", 0, 1, 0.59),
        edge("d", 0, 2, 0.3),
        edge("e", 0, 3, status=EdgeStatus.REJECTED),
        edge("f", 0, 4, 0.4, status=EdgeStatus.STALE),
        edge("g", 0, 10, 0.2),
        edge("gone", 0, 7, 0.9),
        edge("self", 0, 0, 0.9),
    )
    assert [step.node for step in store.onwards([0], (), through).steps] == found


def test_a_step_from_several_nodes_comes_to_each_once_over_its_best_edge(
    load: Callable[..., GraphStore],
) -> None:
    store = load(
        edge("x", 0, 3, 0.5),
        edge("y", 1, 3, 0.7),
        edge("w", 1, 3, 0.7),
        edge("z", 0, 1, 0.9),
        edge("v", 2, 1, 0.9),
        edge("u", 4, 1, 0.2),
    )
    assert reached(store.onwards([0, 1, 1], (), FILES)) == [(2, 1, "v"), (3, 1, "w"), (4, 1, "u")]
    assert reached(store.onwards([0, 1], {2, 4, 77}, FILES)) == [(3, 1, "w")]
    assert store.onwards([99], (), FILES) == Level()


def test_many_edges_to_one_node_hide_no_other(load: Callable[..., GraphStore]) -> None:
    store = load(*(edge(f"e{number:03}", 0, 1, 0.9) for number in range(90)), edge("last", 0, 2, 0.1))
    assert reached(store.onwards([0], (), FILES)) == [(1, 0, "e000"), (2, 0, "last")]


@pytest.mark.parametrize(
    ("direction", "down", "up"),
    [
        (Direction.FORWARD, [2], []),
        (Direction.BACKWARD, [], [2]),
        (Direction.BOTH, [2], [2]),
        (None, [2], []),
    ],
)
def test_a_confirmed_relation_is_taken_in_its_direction_where_one_is_asked_for(
    load: Callable[..., GraphStore], direction: Direction | None, down: list[int], up: list[int]
) -> None:
    store = load(
        depends("a", 1, 2, direction),
        edge("b", 3, 1, 0.6, status=EdgeStatus.CONFIRMED),
        edge("c", 1, 4, 0.5, relation=Relation.DEPENDS_ON, direction=Direction.FORWARD),
    )

    def nodes(towards: Towards | None) -> list[int]:
        return [step.node for step in store.onwards([1], (), FILES._replace(towards=towards)).steps]

    assert nodes(Towards.DEPENDENCIES) == [*down, 3, 4]
    assert nodes(Towards.DEPENDENTS) == [*up, 3, 4]
    assert nodes(None) == [2, 3, 4]


def test_a_step_from_a_hub_takes_its_strongest(load: Callable[..., GraphStore]) -> None:
    spokes = [GraphNode(number, NodeType.FILE, f"f{number}") for number in range(20, 5_020)]
    store = load(
        *(edge(f"e{node.number}", 0, node.number, node.number / 10_000) for node in spokes),
        edge("far", 5_019, 20, 0.9),
        nodes=(*NODES, *spokes),
    )
    assert [step.node for step in store.onwards([0], (5_019,), FILES, 3).steps] == [5_018, 5_017, 5_016]
    level = [node.number for node in spokes[-20:]]
    assert [step.node for step in store.onwards(level, (), FILES, 20).steps] == [20, 0]


@pytest.mark.parametrize(
    "name", ["'}) DETACH DELETE n //", '"; MATCH (n) DETACH DELETE n; //', "$level", "`"]
)
def test_names_and_ids_that_are_cypher_are_only_names(load: Callable[..., GraphStore], name: str) -> None:
    hostile = GraphNode(20, NodeType.FILE, name)
    store = load(edge(name, 0, 20), edge("b", 20, 1, 0.4), nodes=(*NODES, hostile))
    store.apply(GraphChange(nodes=[hostile]), MARK)
    assert reached(store.onwards([0], (), FILES)) == [(20, 0, name)]
    assert reached(store.onwards([20], (0,), FILES)) == [(1, 20, "b")]
    assert (store.counts().nodes, store.counts().edges) == (13, 2)


def test_a_step_that_takes_too_long_is_cut_short(tmp_path: Path) -> None:
    store = KuzuStore(tmp_path / "graph.kuzu", timeout_ms=0)
    try:
        store.load(GraphContent(NODES, [edge("a", 0, 1)]), MARK)
        assert store.onwards([0], (), FILES) == Level(cut="took longer than 0 ms")
    finally:
        store.close()
