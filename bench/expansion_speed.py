"""How long widening a question along a large graph takes.

    python -m bench.expansion_speed [--nodes 50000] [--edges 1000000] [--questions 300]

Makes the graph of `bench.graph_speed` (hubs of a tenth of the nodes) and prints milliseconds of one step from
single files, from hubs and from twenty files at once, of three levels as deep as a question may go, and how
many of them ran into their time limit.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.graph_speed import HUBS, made_edges, made_nodes
from bench.served import percentile
from graphmem.graph import NodeType
from graphmem.store.kuzu import KuzuStore
from graphmem.store.port import GraphContent, Mark, Through, Towards

_WIDTH = 5
_WIDEST = 20
_THROUGH = Through((NodeType.FILE, NodeType.CONTRACT), probability=0.3, towards=Towards.DEPENDENTS)


def main() -> None:
    """Run and print one line a figure."""
    parser = argparse.ArgumentParser(description="Time widening a question along the graph.")
    parser.add_argument("--nodes", type=int, default=50_000)
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument("--questions", type=int, default=300)
    arguments = parser.parse_args()
    print(f"{arguments.nodes} nodes, {arguments.edges} edges, {HUBS} hubs of a tenth of the nodes")
    with tempfile.TemporaryDirectory() as folder:
        store = KuzuStore(Path(folder, "graph.kuzu"))
        content = GraphContent(made_nodes(arguments.nodes), made_edges(arguments.nodes, arguments.edges))
        store.load(content, Mark(1, 1, 1))
        random_of = random.Random(3)
        some = [[4 * random_of.randrange(HUBS, arguments.nodes)] for _ in range(arguments.questions)]
        hubs = [[4 * random_of.randrange(HUBS)] for _ in range(arguments.questions // 3)]
        many = [
            [4 * random_of.randrange(arguments.nodes) for _ in range(_WIDEST)]
            for _ in range(arguments.questions // 3)
        ]
        all_hubs = [[4 * hub for hub in range(HUBS)]] * 10
        for name, seeds, depth, width in (
            ("one step, a file", some, 1, _WIDTH),
            ("one step, a hub", hubs, 1, _WIDTH),
            ("one step, 20 files", many, 1, _WIDEST),
            ("one step, all hubs", all_hubs, 1, _WIDEST),
            ("3 levels of 5, a file", some, 3, _WIDTH),
            ("3 levels of 5, a hub", hubs, 3, _WIDTH),
            ("3 levels of 20, 20 files", many, 3, _WIDEST),
        ):
            _timed(store, name, seeds, depth, width)
        store.close()


def _timed(store: KuzuStore, name: str, asked: Sequence[list[int]], depth: int, width: int) -> None:
    times, cut = [], 0
    for seeds in asked:
        start = time.perf_counter()
        level, seen = seeds, set(seeds)
        for _ in range(depth):
            answer = store.onwards(level, seen, _THROUGH, width)
            cut += answer.cut is not None
            level = [step.node for step in answer.steps]
            seen.update(level)
        times.append(1_000 * (time.perf_counter() - start))
    p50, p99 = percentile(times, 0.5), percentile(times, 0.99)
    print(f"{name:26} {p50:8.2f} ms p50 {p99:8.2f} ms p99   of {len(times)}, {cut} timed out", flush=True)


if __name__ == "__main__":
    main()
