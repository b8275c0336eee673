"""Whatever is loaded and changed, the engine's graph and its in-memory twin give the same answers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.graph import Direction, EdgeKind, EdgeStatus, NodeType, Relation
from graphmem.store.kuzu import KuzuStore
from graphmem.store.memory import MemoryStore
from graphmem.store.port import (
    GraphChange,
    GraphContent,
    GraphEdge,
    GraphModule,
    GraphNode,
    GraphObservation,
    GraphStore,
    Mark,
    Through,
    Towards,
)

NUMBERS = range(12)
TYPES = [*[NodeType.FILE] * 7, NodeType.CONCEPT, NodeType.CONCEPT, NodeType.CONTRACT, *[NodeType.FEATURE] * 2]
MODULES = ("m0", "m1", "m2")
THROUGH = (
    Through(),
    Through((NodeType.FILE,), probability=0.3, towards=Towards.DEPENDENTS),
    Through((NodeType.CONCEPT, NodeType.FEATURE), (EdgeStatus.CONFIRMED,), towards=Towards.DEPENDENCIES),
)

numbers = st.sampled_from(NUMBERS)
some_numbers = st.lists(numbers, max_size=4, unique=True).map(tuple)
nodes = st.builds(
    lambda number, name, alive: GraphNode(number, TYPES[number], name, alive),
    numbers,
    st.text(),
    st.booleans(),
)
edges = st.builds(
    GraphEdge,
    id=st.integers(0, 30).map(lambda number: f"e{number:02}"),
    source=numbers,
    target=numbers,
    kind=st.sampled_from(EdgeKind),
    status=st.sampled_from([*EdgeStatus, *[EdgeStatus.CONFIRMED] * 4]),
    probability=st.sampled_from([0.1, 0.3, 0.5, 0.5, 1.0]),
    relation=st.sampled_from([*Relation, *[Relation.DEPENDS_ON] * 4, None]),
    direction=st.sampled_from([*Direction, None]),
)
observations = st.builds(
    GraphObservation,
    number=st.integers(1, 9),
    at=st.sampled_from([0.0, 1.5, 2e9]),
    title=st.text(max_size=5),
    session=st.sampled_from(["", "s", "会话"]),
    touched=some_numbers,
    mentioned=some_numbers,
)
modules = st.lists(
    st.builds(
        GraphModule,
        id=st.sampled_from(MODULES),
        label=st.text(max_size=5),
        level=st.integers(0, 1),
        parent=st.sampled_from([None, "m0"]),
        members=st.lists(st.integers(0, 14), max_size=8, unique=True).map(tuple),
    ),
    max_size=3,
    unique_by=lambda module: module.id,
)
contents = st.builds(
    lambda edges, observations, modules, alive: GraphContent(
        [GraphNode(number, TYPES[number], f"n{number}", number in alive) for number in NUMBERS],
        edges,
        observations,
        modules,
    ),
    st.lists(edges, max_size=30, unique_by=lambda edge: edge.id),
    st.lists(observations, max_size=5, unique_by=lambda item: item.number),
    modules,
    st.sets(numbers, min_size=6),
)
changes = st.builds(
    GraphChange,
    nodes=st.lists(nodes, max_size=3),
    edges=st.lists(edges, max_size=6),
    dropped_edges=st.lists(st.integers(0, 30).map(lambda number: f"e{number:02}"), max_size=6),
    observations=st.lists(observations, max_size=3),
)


def answers(store: GraphStore) -> Iterator[tuple[str, object]]:
    yield "mark", store.mark()
    yield "counts", store.counts()
    yield "orphans", store.orphans()
    yield "cycles", store.cycles()
    for module in MODULES:
        yield f"members {module}", store.members(module)
    for level in (0, 1):
        yield f"modules {level}", store.module_of(list(NUMBERS), level)
    for node in (*NUMBERS, 99):
        yield f"beside {node}", store.beside(node)
        yield f"rejected {node}", store.beside(node, [EdgeStatus.REJECTED, EdgeStatus.STALE])
        yield f"seen {node}", store.observations_of([node])
        for towards in Towards:
            for limit in (2, 200):
                yield f"{towards} {node} {limit}", store.walk(node, towards, limit=limit)
    for level, seen in (((0,), ()), ((1, 8), (0, 2)), ((3, 4, 9, 99), NUMBERS[5:])):
        for through in THROUGH:
            for width in (1, 20):
                yield f"onwards {level} {through} {width}", store.onwards(level, seen, through, width)
    for node in NUMBERS:
        for other in (0, 3, 7, 11):
            yield f"ways {node} {other}", store.ways(node, other)
            yield f"seen {node} {other}", store.observations_of([node, other])


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[GraphStore, GraphStore]]:
    kuzu = KuzuStore(tmp_path_factory.mktemp("graph") / "graph.kuzu", timeout_ms=60_000)
    yield MemoryStore(), kuzu
    kuzu.close()


@pytest.mark.slow
@settings(max_examples=10)
@given(contents, st.lists(st.one_of(changes, modules), max_size=4))
def test_both_stores_answer_alike_after_any_changes(
    twins: tuple[GraphStore, GraphStore], content: GraphContent, steps: list[GraphChange | list[GraphModule]]
) -> None:
    marks = (Mark(1, number, number) for number in count())
    for mark, step in zip(marks, [content, *steps], strict=False):
        for store in twins:
            match step:
                case GraphContent():
                    store.load(step, mark)
                case GraphChange():
                    store.apply(step, mark)
                case _:
                    store.set_modules(step)
        memory, kuzu = (dict(answers(store)) for store in twins)
        assert kuzu == memory


@pytest.mark.slow
@settings(max_examples=4)
@given(contents)
def test_a_load_and_the_same_as_a_change_come_to_the_same(
    twins: tuple[GraphStore, GraphStore], content: GraphContent
) -> None:
    told = []
    for store in twins:
        store.load(content, Mark(1, 1, 1))
        told.append(dict(answers(store)))
        store.load(GraphContent(), Mark(1, 0, 0))
        store.apply(
            GraphChange(list(content.nodes), list(content.edges), (), list(content.observations)),
            Mark(1, 1, 1),
        )
        store.set_modules(content.modules)
        told.append(dict(answers(store)))
    assert told[1] == told[0]
    assert told[2] == told[0]
    assert told[3] == told[0]
