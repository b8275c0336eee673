"""What every graph store promises, held against the in-memory one and the engine's alike."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from graphmem.errors import InvalidInputError
from graphmem.graph import Direction, EdgeKind, EdgeStatus, NodeType, Relation
from graphmem.store.kuzu import KuzuStore
from graphmem.store.memory import MemoryStore
from graphmem.store.port import (
    Beside,
    GraphChange,
    GraphContent,
    GraphCounts,
    GraphEdge,
    GraphFault,
    GraphModule,
    GraphNode,
    GraphObservation,
    GraphStore,
    Mark,
    Reached,
    Surroundings,
    Towards,
    Walk,
    Ways,
)

MARK = Mark(7, 1, 1)
NEXT = Mark(7, 2, 5)
PATIENT_MS = 60_000
UP, DOWN = Towards.DEPENDENTS, Towards.DEPENDENCIES
NODES = tuple(
    GraphNode(number, type, f"{type} {number}")
    for number, type in enumerate(
        [*[NodeType.FILE] * 8, NodeType.CONCEPT, NodeType.CONTRACT, NodeType.FEATURE, NodeType.FILE]
    )
)


def edge(id: str, source: int, target: int, probability: float = 0.5, **more: Any) -> GraphEdge:
    told = {"kind": EdgeKind.CO_CHANGES, "status": EdgeStatus.CANDIDATE} | more
    return GraphEdge(id, source, target, probability=probability, **told)


def depends(id: str, source: int, target: int, **more: Any) -> GraphEdge:
    told = {"status": EdgeStatus.CONFIRMED, "relation": Relation.DEPENDS_ON, "direction": Direction.FORWARD}
    return edge(id, source, target, **(told | more))


@pytest.fixture(params=["memory", "kuzu"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[GraphStore]:
    made: GraphStore = (
        MemoryStore()
        if request.param == "memory"
        else KuzuStore(tmp_path / "graph.kuzu", timeout_ms=PATIENT_MS)
    )
    yield made
    made.close()


@pytest.fixture
def loaded(store: GraphStore) -> Callable[..., GraphStore]:
    """The store with the twelve nodes and these edges."""

    def load(*edges: GraphEdge, **more: Any) -> GraphStore:
        store.load(GraphContent(**({"nodes": NODES, "edges": edges} | more)), MARK)
        return store

    return load


def test_a_new_store_has_no_mark_and_answers_with_nothing(store: GraphStore) -> None:
    assert store.mark() is None
    assert store.counts() == GraphCounts()
    assert store.walk(1, UP) == store.walk(1, DOWN) == Walk()
    assert store.beside(1) == Surroundings()
    assert store.ways(1, 2) == store.cycles() == Ways()
    assert store.orphans() == store.members("m") == store.observations_of([1]) == ()
    assert store.module_of([1]) == {}


def test_a_load_is_counted_and_marked_and_the_next_one_replaces_it(
    loaded: Callable[..., GraphStore],
) -> None:
    seen = GraphObservation(1, 5.0, "t", "s", (0, 1), (8,))
    store = loaded(
        edge("a", 0, 1), observations=iter([seen]), modules=[GraphModule("m", "l", 0, None, (0, 8))]
    )
    assert (store.mark(), store.counts()) == (MARK, GraphCounts(12, 1, 1, 1))
    store.load(GraphContent([NODES[3]]), NEXT)
    assert (store.mark(), store.counts()) == (NEXT, GraphCounts(1, 0, 0, 0))
    assert store.beside(0) == Surroundings()


def test_a_walk_goes_both_ways_nearest_first_then_by_number(loaded: Callable[..., GraphStore]) -> None:
    store = loaded(depends("a", 5, 2), depends("b", 2, 7), depends("c", 2, 1), depends("d", 1, 9))
    expected = (
        Reached(2, 1, ("a",)),
        Reached(1, 2, ("a", "c")),
        Reached(7, 2, ("a", "b")),
        Reached(9, 3, ("a", "c", "d")),
    )
    assert store.walk(5, DOWN) == Walk(expected)
    assert store.walk(5, DOWN, 2) == Walk(expected[:3])
    assert store.walk(5, DOWN, 1) == Walk(expected[:1])
    assert store.walk(9, UP) == Walk(
        (Reached(1, 1, ("d",)), Reached(2, 2, ("d", "c")), Reached(5, 3, ("d", "c", "a")))
    )
    assert store.walk(5, UP) == Walk()


@pytest.mark.parametrize(
    ("direction", "down", "up"),
    [
        (Direction.FORWARD, (2,), ()),
        (Direction.BACKWARD, (), (2,)),
        (Direction.BOTH, (2,), (2,)),
        (None, (2,), ()),
    ],
)
def test_a_direction_says_who_depends_on_whom(
    loaded: Callable[..., GraphStore],
    direction: Direction | None,
    down: tuple[int, ...],
    up: tuple[int, ...],
) -> None:
    store = loaded(depends("a", 1, 2, direction=direction))
    assert tuple(found.node for found in store.walk(1, DOWN).reached) == down
    assert tuple(found.node for found in store.walk(1, UP).reached) == up


@pytest.mark.parametrize("status", [status for status in EdgeStatus if status is not EdgeStatus.CONFIRMED])
def test_only_confirmed_edges_with_a_relation_are_walked(
    loaded: Callable[..., GraphStore], status: EdgeStatus
) -> None:
    store = loaded(
        depends("a", 0, 1, status=status),
        depends("b", 0, 2, relation=None, direction=None),
        depends("c", 0, 3, relation=Relation.TESTS),
        depends("d", 0, 0),
    )
    assert store.walk(0, DOWN) == Walk((Reached(3, 1, ("c",)),))


def test_a_walk_takes_the_smallest_ids_among_the_shortest_ways(loaded: Callable[..., GraphStore]) -> None:
    store = loaded(
        depends("z", 0, 1),
        depends("y", 0, 2),
        depends("a", 1, 3),
        depends("b", 2, 3),
        depends("x", 0, 1),
        depends("c", 1, 2),
    )
    assert store.walk(0, DOWN).reached == (
        Reached(1, 1, ("x",)),
        Reached(2, 1, ("y",)),
        Reached(3, 2, ("x", "a")),
    )


def test_a_walk_through_a_cycle_reaches_each_node_once(loaded: Callable[..., GraphStore]) -> None:
    store = loaded(depends("a", 0, 1), depends("b", 1, 2), depends("c", 2, 0), depends("d", 2, 1))
    assert [(found.node, found.hops) for found in store.walk(0, DOWN).reached] == [(1, 1), (2, 2)]


@pytest.mark.parametrize("depth", [0, -1, 4, 99])
def test_a_depth_out_of_bounds_is_refused(store: GraphStore, depth: int) -> None:
    with pytest.raises(InvalidInputError, match="1 to 3"):
        store.walk(0, UP, depth)


def test_a_walk_that_is_cut_says_so(loaded: Callable[..., GraphStore]) -> None:
    spokes = [GraphNode(number, NodeType.FILE, f"f{number}") for number in range(12, 700)]
    store = loaded(
        *(depends(f"e{node.number}", node.number, 0) for node in spokes),
        depends("far", 1, 12),
        nodes=(*NODES, *spokes),
    )
    cut = store.walk(0, UP)
    assert [found.node for found in cut.reached] == list(range(12, 212))
    assert cut.cut == "more than 200 nodes; ask for a smaller depth"
    whole = store.walk(0, UP, limit=689)
    assert (len(whole.reached), whole.reached[-1], whole.cut) == (689, Reached(1, 2, ("e12", "far")), None)
    assert store.walk(0, UP, limit=688).cut is not None
    assert store.walk(0, UP, depth=1, limit=688).cut is None


def test_neighbours_come_most_probable_first_then_by_edge(loaded: Callable[..., GraphStore]) -> None:
    store = loaded(
        edge("b", 0, 1, 0.4),
        edge("a", 8, 0, 0.4),
        depends("c", 0, 9, probability=0.9),
        edge("d", 0, 2, status=EdgeStatus.REJECTED),
        edge("e", 0, 0),
    )
    expected = (
        Beside(9, "c", EdgeStatus.CONFIRMED, 0.9),
        Beside(8, "a", EdgeStatus.CANDIDATE, 0.4),
        Beside(1, "b", EdgeStatus.CANDIDATE, 0.4),
    )
    assert store.beside(0) == Surroundings(expected)
    assert store.beside(0, limit=2) == Surroundings(expected[:2], "more than 2 neighbours")
    assert store.beside(0, limit=3).cut is None
    assert store.beside(0, [EdgeStatus.REJECTED]).beside == (Beside(2, "d", EdgeStatus.REJECTED, 0.5),)
    assert store.beside(0, []) == store.beside(77) == Surroundings()


def test_ways_come_shortest_first_then_strongest_then_by_ids(loaded: Callable[..., GraphStore]) -> None:
    store = loaded(
        edge("weak", 0, 3, 0.1),
        edge("a", 0, 1, 0.5),
        depends("b", 3, 1, probability=0.5),
        edge("c", 0, 2, 0.9),
        edge("d", 2, 3, 0.9),
        edge("e", 0, 4, 1.0),
        edge("f", 4, 5, 1.0),
        edge("g", 5, 3, 1.0),
        edge("h", 4, 5, 1.0),
    )
    assert store.ways(0, 3) == Ways((("weak",), ("c", "d"), ("a", "b")))
    assert store.ways(0, 3, 9).ways[3:] == (("e", "f", "g"), ("e", "h", "g"))
    assert store.ways(3, 0, 1) == Ways((("weak",),))


def test_ways_leave_out_what_is_no_way(loaded: Callable[..., GraphStore]) -> None:
    store = loaded(
        edge("a", 0, 1),
        edge("b", 1, 2, status=EdgeStatus.REJECTED),
        edge("c", 1, 3),
        edge("d", 3, 4),
        edge("e", 4, 5),
        edge("f", 1, 1),
    )
    assert store.ways(0, 2) == Ways()
    assert store.ways(0, 5) == Ways(), "four hops are too many"
    assert store.ways(0, 4) == Ways((("a", "c", "d"),))
    assert store.ways(0, 0) == store.ways(0, 99) == store.ways(99, 0) == Ways()


def test_ways_between_hubs_are_the_same_in_every_store(loaded: Callable[..., GraphStore]) -> None:
    numbers = range(12, 312)
    spokes = [GraphNode(number, NodeType.FILE, f"f{number}") for number in numbers]
    left = [edge(f"l{number}", 0, number, number / 400) for number in numbers]
    right = [edge(f"r{number}", number + 1, 1, number / 400) for number in numbers[:-1:2]]
    store = loaded(*left, *right, edge("m", 13, 2, 0.9), edge("n", 2, 3, 0.9), nodes=(*NODES, *spokes))
    assert store.ways(0, 1) == Ways((("l311", "r310"), ("l309", "r308"), ("l307", "r306")))
    assert store.ways(0, 3) == Ways((("l13", "m", "n"),))
    assert store.ways(3, 0) == Ways((("n", "m", "l13"),))
    assert store.ways(0, 2).ways[0] == ("l13", "m")


def test_cycles_of_depends_on_are_found_once(loaded: Callable[..., GraphStore]) -> None:
    store = loaded(
        depends("c", 0, 1),
        depends("a", 1, 2),
        depends("b", 0, 2, direction=Direction.BACKWARD),
        depends("x", 4, 5, direction=Direction.BOTH),
        depends("t", 6, 7, relation=Relation.TESTS, direction=Direction.BOTH),
        depends("s", 3, 3),
        edge("k", 8, 9),
    )
    assert store.cycles() == Ways((("x", "x"), ("a", "b", "c")))
    assert store.cycles(1) == Ways((("x", "x"),), "more than 1 cycles")


def test_a_long_cycle_is_told_only_where_its_knot_has_no_shorter_one(
    loaded: Callable[..., GraphStore],
) -> None:
    ring = [depends(f"e{number}", number, (number + 1) % 9) for number in range(9)]
    assert loaded(*ring).cycles() == Ways((tuple(f"e{number}" for number in range(9)),))
    assert loaded(*ring, depends("s", 6, 8)).cycles() == Ways(
        (("e0", "e1", "e2", "e3", "e4", "e5", "s", "e8"),)
    )


def test_orphans_are_living_files_without_a_link(loaded: Callable[..., GraphStore]) -> None:
    nodes = [node._replace(alive=node.number != 6) for node in NODES]
    store = loaded(
        edge("a", 0, 8), edge("b", 1, 2, status=EdgeStatus.REJECTED), depends("c", 3, 5), nodes=nodes
    )
    assert store.orphans() == (1, 2, 4, 7, 11)
    assert store.orphans(2) == (1, 2)


def test_modules_hold_members_a_level_and_are_replaced_as_a_whole(
    loaded: Callable[..., GraphStore],
) -> None:
    store = loaded(
        modules=[GraphModule("m", "one", 0, "top", (3, 1, 99)), GraphModule("top", "t", 1, None, (1,))]
    )
    assert (store.members("m"), store.members("m", 1), store.members("none")) == ((1, 3), (1,), ())
    assert (store.module_of([1, 3, 5, 99]), store.module_of([1, 3], 1)) == ({1: "m", 3: "m"}, {1: "top"})
    store.set_modules([GraphModule("m", "two", 0, None, (3, 8, 77)), GraphModule("n", "", 0, None, (1,))])
    assert (store.members("m"), store.members("top")) == ((3, 8), ())
    assert (store.module_of([1, 3, 8]), store.module_of([1], 1)) == ({1: "n", 3: "m", 8: "m"}, {})
    assert (store.counts().modules, store.mark()) == (2, MARK)
    store.set_modules([GraphModule("m", "two", 1, None, (3,))])
    assert (store.module_of([3]), store.module_of([3], 1)) == ({}, {3: "m"})
    store.set_modules([])
    assert store.counts().modules == 0


def test_observations_of_all_these_nodes_come_newest_first(loaded: Callable[..., GraphStore]) -> None:
    items = [
        GraphObservation(4, 9.0, "t", "s", (0, 1), (8,)),
        GraphObservation(5, 10.0, "t", "s", (0, 0), (8, 9)),
        GraphObservation(6, 9.0, "t", "", (0, 1)),
    ]
    store = loaded(observations=items)
    assert store.observations_of([0]) == (5, 6, 4)
    assert store.observations_of([0], 2) == (5, 6)
    assert store.observations_of([8, 0, 8]) == (5, 4)
    assert (
        store.observations_of([0, 1, 9]) == store.observations_of([]) == store.observations_of([0, 99]) == ()
    )


def test_a_change_inserts_replaces_and_drops(loaded: Callable[..., GraphStore]) -> None:
    seen = GraphObservation(1, 5.0, "t", "s", (0, 1))
    store = loaded(edge("a", 0, 1), edge("b", 1, 2), edge("c", 2, 3), observations=[seen])
    change = GraphChange(
        nodes=[GraphNode(50, NodeType.FEATURE, "new"), NODES[4]._replace(alive=False)],
        edges=[
            edge("a", 1, 3, 0.7),
            depends("b", 1, 2, probability=0.8),
            edge("d", 50, 0, 0.3),
            edge("e", 5, 6),
        ],
        dropped_edges=["c", "never there", "e"],
        observations=[
            GraphObservation(1, 6.0, "t", "s", (2,), (50,)),
            GraphObservation(2, 7.0, "t", "s2", (0,)),
        ],
    )
    store.apply(change, NEXT)
    assert store.mark() == NEXT
    assert store.counts() == GraphCounts(13, 4, 2, 0)
    assert [found.edge for found in store.beside(1).beside] == ["b", "a"]
    assert store.beside(0).beside == (Beside(50, "d", EdgeStatus.CANDIDATE, 0.3),)
    assert store.walk(1, DOWN) == Walk((Reached(2, 1, ("b",)),))
    assert store.beside(5).beside == (Beside(6, "e", EdgeStatus.CANDIDATE, 0.5),)
    assert store.orphans() == (7, 11)
    assert (store.observations_of([0]), store.observations_of([1]), store.observations_of([50])) == (
        (2,),
        (),
        (1,),
    )


def test_an_edge_follows_its_verdicts(loaded: Callable[..., GraphStore]) -> None:
    store = loaded(edge("a", 0, 1))
    turns = [
        (depends("a", 0, 1), True, (1,), ()),
        (depends("a", 0, 1, direction=Direction.BACKWARD), True, (), (1,)),
        (depends("a", 0, 1, relation=Relation.TESTS), True, (1,), ()),
        (edge("a", 0, 1, status=EdgeStatus.REJECTED), False, (), ()),
        (depends("a", 0, 1, direction=Direction.BOTH), True, (1,), (1,)),
        (depends("a", 0, 1, status=EdgeStatus.STALE), False, (), ()),
        (edge("a", 0, 1), True, (), ()),
    ]
    for after, linked, down, up in turns:
        store.apply(GraphChange(edges=[after]), NEXT)
        assert bool(store.beside(0).beside) is bool(store.ways(0, 1).ways) is linked
        assert tuple(found.node for found in store.walk(0, DOWN).reached) == down
        assert tuple(found.node for found in store.walk(0, UP).reached) == up
    assert store.counts().edges == 1


STRANGE = {
    "an edge": GraphChange(edges=[edge("b", 0, 99)]),
    "an observation that touches": GraphChange(observations=[GraphObservation(1, 1.0, "t", "s", (99,))]),
    "an observation that mentions": GraphChange(observations=[GraphObservation(1, 1.0, "t", "s", (), (99,))]),
    "a node of another type": GraphChange(nodes=[GraphNode(0, NodeType.CONCEPT, "x")]),
}


@pytest.mark.parametrize("change", STRANGE.values(), ids=STRANGE)
def test_a_change_that_names_what_is_not_there_changes_nothing(
    loaded: Callable[..., GraphStore], change: GraphChange
) -> None:
    store = loaded(edge("a", 0, 1))
    with pytest.raises(GraphFault, match=r"(99|Node 0)\b.*loaded anew"):
        store.apply(
            GraphChange(change.nodes, [edge("a", 0, 2), *change.edges], (), change.observations), NEXT
        )
    assert (store.mark(), store.counts()) == (MARK, GraphCounts(12, 1, 0, 0))
    assert store.beside(0).beside[0].node == 1
    store.apply(GraphChange(edges=[edge("a", 0, 2)]), NEXT)
    assert store.mark() == NEXT


def test_a_load_that_fails_leaves_what_was_there(loaded: Callable[..., GraphStore]) -> None:
    store = loaded(edge("a", 0, 1))

    def breaking() -> Iterator[GraphEdge]:
        yield edge("b", 0, 1)
        raise OSError("the source went away")

    with pytest.raises(OSError, match="went away"):
        store.load(GraphContent(NODES, breaking()), NEXT)
    with pytest.raises(GraphFault, match=r"99\b.*loaded anew"):
        store.load(GraphContent(NODES, [edge("b", 0, 99)]), NEXT)
    assert (store.mark(), store.beside(0).beside[0].edge) == (MARK, "a")
    assert loaded(edge("c", 0, 1)).beside(0).beside[0].edge == "c"


NAMES = [
    "'}) DETACH DELETE n //",
    'MATCH (n) RETURN n; COPY (MATCH (n) RETURN n) TO "/tmp/x"',
    "<script>alert(1)</script>",
    "模块/登录.ts",
    "😀\u200d\u202e",
    'a\nb\r\n\tc\\ "q" $node {label}',
    "\udcff half a pair",
    "x" * 65_536,
    "",
]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_names_are_data(loaded: Callable[..., GraphStore], name: str) -> None:
    node = GraphNode(40, NodeType.CONTRACT, name)
    store = loaded(
        edge("a", 0, 40),
        nodes=[*NODES, node],
        observations=[GraphObservation(1, 1.0, name, name, (0,))],
        modules=[GraphModule("m", name, 0, None, (40,))],
    )
    again = GraphObservation(2, 2.0, name, name, (40,))
    store.apply(GraphChange([node, GraphNode(41, NodeType.FILE, name)], (), (), [again]), NEXT)
    store.set_modules([GraphModule("m", name, 0, name[:10], (40, 41))])
    assert store.counts() == GraphCounts(14, 1, 2, 1)
    assert (store.members("m"), store.observations_of([40])) == ((40, 41), (2,))


def test_many_ask_while_one_writes(loaded: Callable[..., GraphStore]) -> None:
    store = loaded(depends("a", 0, 1), edge("b", 1, 2))
    done = threading.Event()

    def ask() -> set[str]:
        faults = set()
        while not done.is_set():
            walked, near = store.walk(0, DOWN), store.beside(1)
            if [found.node for found in walked.reached] != [1] or near.cut or not near.beside:
                faults.add(f"{walked} {near}")
        return faults

    with ThreadPoolExecutor(4) as threads:
        asked = [threads.submit(ask) for _ in range(4)]
        for number in range(40):
            change = GraphChange(edges=[edge("b", 1, 2, number / 100), edge(f"n{number}", 1, number % 8 + 3)])
            store.apply(change, Mark(7, number, number))
        store.load(GraphContent(NODES, [depends("a", 0, 1), edge("b", 1, 2)]), NEXT)
        done.set()
        assert [answer.result() for answer in asked] == [set()] * 4
    assert store.mark() == NEXT


def test_a_closed_store_says_so_and_closes_twice(loaded: Callable[..., GraphStore]) -> None:
    store = loaded()
    store.close()
    store.close()
    for question in (store.mark, lambda: store.walk(0, UP), lambda: store.apply(GraphChange(), NEXT)):
        with pytest.raises(GraphFault, match="closed; open"):
            question()
