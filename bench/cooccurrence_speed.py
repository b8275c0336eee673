"""What weighted co-occurrence in bulk costs beside a sparse matrix product, in time and in memory.

    python -m bench.cooccurrence_speed [--observations 1000000] [--files 200000] [--runs 3]

Both get the same generated observations, each in a process of its own: `inference.cooccurrence` makes the
sorted upper triangle with the weight min(1, 3 / (n - 1)); scipy, with both matrices built and weighted before
the clock starts, makes the plain product, unsorted and both triangles, which is the least it can do. Printed
are seconds of own work (the best of the runs), the most memory above what was held before, the ratios, and
whether both say the same. scipy is needed to run this, and for nothing else.
"""

from __future__ import annotations

import argparse
import importlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inference.cooccurrence import Incidence, cooccurrence, size_weights

SEED = 11
SPREAD = 60.0
"""Files that change together lie near each other: so far apart on average."""
MEAN_SIZE = 3.4
LARGEST = 30
HUB = 0.05
"""So many observations change one of the hundred busiest files, too."""
WAYS = ("graphmem", "scipy")


class Made(NamedTuple):
    """What a way gave: rows, columns and weights, in whatever order, of the upper triangle."""

    lower: NDArray[Any]
    higher: NDArray[Any]
    weights: NDArray[Any]


def main() -> None:
    """Run both ways in child processes and print the ratios, or, with `--way`, be one of them."""
    parser = argparse.ArgumentParser(description="Time co-occurrence in bulk beside a sparse product.")
    parser.add_argument("--observations", type=int, default=1_000_000)
    parser.add_argument("--files", type=int, default=200_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--way", nargs=2, metavar=("WAY", "FOLDER"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.way is not None:
        print(json.dumps(measure(arguments.way[0], Path(arguments.way[1]), arguments.files)))
        return
    with tempfile.TemporaryDirectory() as name:
        bounds, files = generated(arguments.observations, arguments.files)
        np.save(Path(name) / "bounds.npy", bounds)
        np.save(Path(name) / "files.npy", files)
        compare(Path(name), arguments.files, arguments.runs)


def compare(folder: Path, files: int, runs: int) -> None:
    """Run both ways in turn, keep the best of each, print."""
    best: dict[str, dict[str, float]] = {}
    for way in WAYS * runs:
        command = [sys.executable, "-m", "bench.cooccurrence_speed", "--files", str(files)]
        output = subprocess.run([*command, "--way", way, folder], check=True, stdout=subprocess.PIPE).stdout
        found = json.loads(output)
        best[way] = {key: min(value, best.get(way, found)[key]) for key, value in found.items()}
    ours, theirs = (best[way] for way in WAYS)
    print(f"{ours['observations']:.0f} observations, {files} files, {ours['pairs']:.0f} pairs")
    for way, found in best.items():
        print(f"{way:10} {found['seconds']:6.2f} CPU-s   {found['bytes'] / 2**20:6.0f} MiB more at most")
    print(f"time {ours['seconds'] / theirs['seconds']:.2f}x, memory {ours['bytes'] / theirs['bytes']:.2f}x")
    same = ours["pairs"] == theirs["pairs"] and abs(ours["sum"] / theirs["sum"] - 1.0) < 1e-9
    print("both say the same" if same else "THEY DIFFER")


def measure(way: str, folder: Path, files: int) -> dict[str, float]:
    """Run one way here: seconds, bytes, number of pairs, and a sum that each pair has a part in."""
    bounds, members = np.load(folder / "bounds.npy"), np.load(folder / "files.npy")
    run, told = (_graphmem if way == "graphmem" else _scipy)(bounds, members, files)
    held = _most_memory()
    began = time.process_time()
    given = run()
    seconds = time.process_time() - began
    more = _most_memory() - held
    made = told(given)
    telling = made.weights * (1 + (made.lower.astype(np.int64) * 31 + made.higher * 17) % 97)
    return {
        "seconds": seconds,
        "bytes": more,
        "observations": len(bounds) - 1,
        "pairs": len(made.weights),
        "sum": float(telling.sum()),
    }


Way = tuple[Callable[[], Any], Callable[[Any], Made]]


def _graphmem(bounds: NDArray[np.int64], members: NDArray[np.int32], files: int) -> Way:
    del files
    cooccurrence(Incidence([0, 2], [0, 1]))
    return lambda: cooccurrence(Incidence(bounds, members)), lambda pairs: Made(*pairs)


def _scipy(bounds: NDArray[np.int64], members: NDArray[np.int32], files: int) -> Way:
    try:
        sparse = importlib.import_module("scipy.sparse")
    except ImportError:
        sys.exit("scipy is not installed; install it to compare with it.")
    sizes = np.diff(bounds)
    shape = (len(sizes), files)
    places = bounds.astype(np.int32)
    plain = sparse.csr_array((np.ones(len(members)), members, places), shape=shape)
    weighted = sparse.csr_array((np.repeat(size_weights(sizes), sizes), members, places), shape=shape)

    def told(product: Any) -> Made:
        upper = sparse.triu(product, k=1).tocoo()
        kept = upper.data != 0.0
        return Made(upper.row[kept], upper.col[kept], upper.data[kept])

    return lambda: weighted.T @ plain, told


def generated(observations: int, files: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return bounds and files of observations: a place, some busier, and files near it, at times a hub."""
    chance = np.random.default_rng(SEED)
    sizes = np.minimum(chance.geometric(1.0 / MEAN_SIZE, observations), LARGEST)
    place = (files * chance.random(observations) ** 1.5).astype(np.int64)
    owner = np.repeat(np.arange(observations), sizes)
    away = (chance.exponential(SPREAD, len(owner)) * chance.choice((-1, 1), len(owner))).astype(np.int64)
    member = (place[owner] + away) % files
    to_hub = np.flatnonzero(chance.random(observations) < HUB)
    owner = np.concatenate((owner, to_hub))
    member = np.concatenate((member, chance.integers(0, min(files, 100), len(to_hub))))
    key = np.unique(owner * files + member)
    bounds = np.searchsorted(key, np.arange(observations + 1) * files)
    return bounds, (key % files).astype(np.int32)


def _most_memory() -> float:
    """Return the most resident bytes of this process so far."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return 1_024.0 * int(status.partition("VmHWM:")[2].split()[0])


if __name__ == "__main__":
    main()
