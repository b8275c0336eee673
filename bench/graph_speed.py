"""How fast the graph is: loading, walking, finding ways, one change, and the memory of many.

    python -m bench.graph_speed [--nodes 50000] [--edges 1000000] [--questions 300] [--stores 200]

Makes a graph with hubs of 5,000 neighbours, a tenth of its edges confirmed with a relation (those of two hubs
all), and prints: the time of a load beside the engine's own bulk copy of the same edges in the same run,
milliseconds of questions from random nodes and from hubs, of one change, and the memory of a process that
opens many small graphs in turn.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util  # noqa: F401 (the engine looks for Arrow by way of it)
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import kuzu
import pyarrow as pa

from bench.served import percentile
from graphmem.graph import Direction, EdgeKind, EdgeStatus, NodeType, Relation
from graphmem.store.kuzu import KuzuStore
from graphmem.store.port import GraphChange, GraphContent, GraphEdge, GraphNode, Mark, Towards

HUBS = 20
_OPEN = 16
_MIB = 1 << 20
_PAIR = "CREATE REL TABLE EDGE (FROM File TO File, id STRING, key INT64, source INT64, target INT64, "
_TABLES = (
    "CREATE NODE TABLE File (number INT64 PRIMARY KEY, name STRING, alive BOOL)",
    f"{_PAIR} open BOOL, kind STRING, status STRING, probability DOUBLE, relation STRING, direction STRING)",
)


def main() -> None:
    """Run and print one line a figure."""
    parser = argparse.ArgumentParser(description="Time the graph store.")
    parser.add_argument("--nodes", type=int, default=50_000)
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--stores", type=int, default=200)
    arguments = parser.parse_args()
    print(f"{arguments.nodes} nodes, {arguments.edges} edges, {HUBS} hubs of a tenth of the nodes")
    with tempfile.TemporaryDirectory() as folder:
        _many(Path(folder), arguments.stores)
        edges = list(made_edges(arguments.nodes, arguments.edges))
        bare = _bare_copy(Path(folder, "bare.kuzu"), arguments.nodes, edges)
        store = KuzuStore(Path(folder, "graph.kuzu"))
        began = time.perf_counter()
        store.load(GraphContent(made_nodes(arguments.nodes), iter(edges)), Mark(1, 1, 1))
        taken = time.perf_counter() - began
        print(f"{'load':28} {taken:8.2f} s   bare copy {bare:.2f} s   ratio {taken / bare:.2f}x", flush=True)
        _questions(store, arguments.nodes, arguments.questions)
        _changes(store, edges)
        store.close()


def made_nodes(nodes: int) -> Iterator[GraphNode]:
    return (
        GraphNode(4 * number, NodeType.FILE, f"src/part{number % 97}/file{number}.ts")
        for number in range(nodes)
    )


def made_edges(nodes: int, edges: int) -> Iterator[GraphEdge]:
    random_of = random.Random(1)
    hubs = [4 * number for number in range(HUBS)]
    spokes = [(hub, 4 * other) for hub in hubs for other in random_of.sample(range(nodes), nodes // 10)]
    rest = (
        (4 * random_of.randrange(nodes), 4 * random_of.randrange(nodes)) for _ in range(edges - len(spokes))
    )
    pairs = spokes + list(rest)
    random_of.shuffle(pairs)
    for number, (source, target) in enumerate(pairs):
        confirmed = hubs[1] >= source or random_of.random() < 0.1
        yield GraphEdge(
            f"{number * 2_654_435_761 % (1 << 64):016x}",
            *((source, target) if source != target else (source, (target + 4) % (4 * nodes))),
            EdgeKind.CO_CHANGES,
            EdgeStatus.CONFIRMED if confirmed else EdgeStatus.CANDIDATE,
            round(random_of.random(), 4),
            Relation.DEPENDS_ON if confirmed else None,
            Direction.FORWARD if confirmed else None,
        )


def _bare_copy(path: Path, nodes: int, edges: Sequence[GraphEdge]) -> float:
    """Return the seconds that the engine's COPY takes for these edges, which lie in columns already."""
    database = kuzu.Database(str(path), buffer_pool_size=512 * _MIB, max_num_threads=2, max_db_size=1 << 34)
    connection = kuzu.Connection(database, num_threads=2)
    for table in _TABLES:
        connection.execute(table)
    files = list(made_nodes(nodes))
    columns = [[node.number for node in files], [node.name for node in files], [True] * nodes]
    connection.execute("COPY File FROM $rows", {"rows": pa.table(columns, names=list("abc"))})
    ids, source, target, kind, status, probability, relation, direction = zip(*edges, strict=True)
    told = [[value or "" for value in column] for column in (relation, direction)]
    columns = [
        source,
        target,
        ids,
        source,
        source,
        target,
        [True] * len(ids),
        kind,
        status,
        probability,
        *told,
    ]
    rows = pa.table([pa.array(column) for column in columns], names=list("abcdefghijkl"))
    began = time.perf_counter()
    connection.execute("COPY EDGE FROM $rows", {"rows": rows})
    connection.execute("CHECKPOINT")
    taken = time.perf_counter() - began
    connection.close()
    database.close()
    path.unlink()
    return taken


def _questions(store: KuzuStore, nodes: int, questions: int) -> None:
    random_of = random.Random(2)
    some = [4 * random_of.randrange(HUBS, nodes) for _ in range(questions)]
    hubs = [4 * random_of.randrange(HUBS) for _ in range(questions // 3)]
    mixed = some + hubs
    random_of.shuffle(mixed)
    pairs = list(pairwise(mixed))
    cut: dict[str, int] = {}

    def walked(name: str, towards: Towards) -> Callable[[int], None]:
        def ask(node: int) -> None:
            answer = store.walk(node, towards, 3)
            cut[name] = cut.get(name, 0) + (answer.cut is not None and "ms" in answer.cut)

        return ask

    for name, towards in (
        ("dependents, depth 3", Towards.DEPENDENTS),
        ("dependencies, depth 3", Towards.DEPENDENCIES),
    ):
        _timed(name, mixed, walked(name, towards))
    _timed("ways, random to random", list(pairwise(some)), lambda pair: store.ways(*pair))
    _timed("ways, hub to hub", list(pairwise(hubs)), lambda pair: store.ways(*pair))
    _timed("ways, all", pairs, lambda pair: store.ways(*pair))
    _timed("beside", mixed, store.beside)
    _timed("observations of two", pairs, store.observations_of)
    for whole in (store.orphans, store.cycles, store.counts):
        _timed(whole.__name__, [()], lambda _, ask=whole: ask())
    print(f"{'timed out':28} {cut}")


def _changes(store: KuzuStore, edges: Sequence[GraphEdge]) -> None:
    changed = [edge._replace(probability=0.77) for edge in edges[:50]]
    _timed(
        "apply one changed edge", changed, lambda edge: store.apply(GraphChange(edges=[edge]), Mark(1, 2, 2))
    )
    new = [edge._replace(id=f"new {edge.id}") for edge in edges[:20]]
    _timed("apply one new edge", new, lambda edge: store.apply(GraphChange(edges=[edge]), Mark(1, 3, 3)))
    gone = [edge.id for edge in edges[50:70]]
    _timed("drop one edge", gone, lambda id: store.apply(GraphChange(dropped_edges=[id]), Mark(1, 4, 4)))


def _timed(name: str, asked: Sequence[Any], ask: Callable[[Any], object]) -> None:
    times, busy = [], []
    for item in asked:
        start, used = time.perf_counter(), time.process_time()
        ask(item)
        times.append(1_000 * (time.perf_counter() - start))
        busy.append(1_000 * (time.process_time() - used))
    p50, p99, used = percentile(times, 0.5), percentile(times, 0.99), percentile(busy, 0.5)
    figures = f"{p50:8.2f} ms p50 {p99:8.2f} ms p99 {used:8.2f} ms of processor p50"
    print(f"{name:28} {figures}   of {len(times)}", flush=True)


def _many(folder: Path, stores: int) -> None:
    content = list(made_nodes(300)), list(made_edges(300, 2_000))
    before = _resident()
    held: list[KuzuStore] = []
    most = 0.0
    for number in range(stores):
        store = KuzuStore(folder / f"small{number}.kuzu")
        store.load(GraphContent(*content), Mark(1, 1, 1))
        store.walk(0, Towards.DEPENDENCIES)
        held.append(store)
        if len(held) > _OPEN:
            held.pop(0).close()
        most = max(most, _resident())
    print(f"{f'{stores} graphs, {_OPEN} at once':28} {before:8.0f} MB before, {most:.0f} MB at most", end="")
    for store in held:
        store.close()
    gc.collect()
    print(f", {_resident():.0f} MB when all are closed", flush=True)


def _resident() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4_096 / 1e6


if __name__ == "__main__":
    main()
