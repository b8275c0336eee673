"""How long the comparison of a question with all vectors of a project takes, beside NumPy's product alone.

    python -m bench.vector_speed [--passages 50000] [--dimension 384]

Random vectors are stored as a project stores its own. The first question after a rest reads them from the
disk; the others find them in memory, as float32. Beside it stands the product straight over the float16 rows
of the file, converted a thousand at a time, which needs no memory of its own. Milliseconds as they are waited
for, the median of many.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from graphmem.embedding.port import Space, Tongue, Vectors
from graphmem.embedding.store import Placed, VectorStore

TIMES = 50
BATCH = 5_000
BLOCK = 1_000
SEED = 5


def milliseconds(work: Callable[[], object], times: int = TIMES) -> float:
    """Return the median of so many runs."""
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        taken.append((time.perf_counter() - started) * 1_000.0)
    return statistics.median(taken)


def made(passages: int, dimension: int) -> Vectors:
    """Return random vectors of length 1, shape (passages, dimension)."""
    found = np.random.default_rng(SEED).standard_normal((passages, dimension), dtype=np.float32)
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)


def main() -> None:
    """Store, ask, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--passages", type=int, default=50_000)
    parser.add_argument("--dimension", type=int, default=384)
    asked = parser.parse_args()
    space = Space("random", "1", asked.dimension)
    vectors = made(asked.passages, asked.dimension)
    halves = vectors.astype(np.float16)
    with tempfile.TemporaryDirectory() as folder:
        store = VectorStore(Path(folder), 1)
        store.want(space, Tongue.ENGLISH)
        for start in range(0, asked.passages, BATCH):
            rows = vectors[start : start + BATCH]
            store.put(space, [Placed(start + row + 1, -1, 1, True) for row in range(len(rows))], rows)
        question = vectors[0]
        first = milliseconds(lambda: store.similarities({space: question}), 1)
        later = milliseconds(lambda: store.similarities({space: question}))
        store.close()
    alone = milliseconds(lambda: vectors @ question)
    blocks = range(0, asked.passages, BLOCK)
    converted = milliseconds(
        lambda: [halves[at : at + BLOCK].astype(np.float32) @ question for at in blocks], TIMES // 10
    )
    print(f"{asked.passages:,} passages of {asked.dimension} numbers, milliseconds")
    print(f"  NumPy float32 product alone   {alone:8.1f}")
    print(f"  the store, in memory          {later:8.1f}  ({later / alone:.2f}x)")
    print(f"  the store, first question     {first:8.1f}")
    print(f"  float16 converted in blocks   {converted:8.1f}  ({converted / alone:.2f}x)")


if __name__ == "__main__":
    main()
