"""How often pairs inferred from a history are imports in the project's code (Python, JavaScript, TypeScript).

    python -m bench.import_pairs flask.jsonl.gz=/src/flask httpx.jsonl.gz=/src/httpx

Each argument is a history file and the folder of that project's source, such as an unpacked source
distribution; its code should be about as old as the history's end. Pairs are those of files that exist at the
history's end and that were read in the folder, ordered by the sum of 1 / (n - 1) over changes of n files (at
most 100). A pair is right when either file imports the other. Nothing here chooses a parameter.

Columns: files read; pairs that ever changed together, and the share of them that are imports (the base rate);
the share among the first 20 and the first 100 pairs; the same without the pairs of which one file is a test;
and of all imports between files that were changed at all, the share whose files never changed together.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np

from graphmem.evaluation import lines_of, read_source
from graphmem.imports import ImportGraph, read_imports, walked
from inference.cochange import MAX_SIZE
from inference.cooccurrence import Incidence, SizeWeight, cooccurrence
from inference.lineage import Change, Lineage
from inference.relations import name_of

FIRST = (20, 100)
Pair = tuple[str, str]


class Figures(NamedTuple):
    """What is printed of one project; shares are in 0..1, NaN where there is nothing to take one of."""

    files: float
    pairs: float
    base: float
    at_20: float
    at_100: float
    code_at_20: float
    code_at_100: float
    silent: float


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="How often inferred pairs are imports in the code.")
    parser.add_argument("projects", nargs="+", metavar="HISTORY=FOLDER")
    found: dict[str, Figures] = {}
    print(" " * 14 + "".join(f"{name.replace('_', ' '):>13}" for name in Figures._fields))
    for argument in parser.parse_args().projects:
        history, sign, folder = argument.partition("=")
        if not (sign and Path(history).is_file() and Path(folder).is_dir()):
            sys.exit(f"{argument!r} is not HISTORY=FOLDER: give an existing file and an existing folder.")
        name = Path(history).name.partition(".")[0]
        found[name] = measured(Path(history), Path(folder))
        _print(name, found[name])
    _print("mean", Figures(*map(_mean, zip(*found.values(), strict=True))))


def measured(history: Path, folder: Path) -> Figures:
    """Return one project's figures."""
    graph = read_imports(folder, walked(folder))
    weights, changed = weighted_pairs(history)
    return figures(weights, changed, graph)


def weighted_pairs(history: Path) -> tuple[dict[Pair, float], frozenset[str]]:
    """Return the sum of 1 / (n - 1) of each pair of living files, and all such files that were changed."""
    lineage = Lineage()
    files: list[int] = []
    bounds = [0]
    for line in lines_of(read_source("jsonl", str(history))):
        entries = lineage.step(line.mentions)
        changed = {entry.file for entry in entries if entry.change is not Change.READ}
        if len(changed) <= MAX_SIZE:
            files += sorted(changed)
            bounds.append(len(files))
    pairs = cooccurrence(Incidence(np.array(bounds), np.array(files)), SizeWeight.SHARED)
    names = {file: state.path for file, state in lineage.files.items() if state.alive}
    found = {
        (names[low], names[high]): weight
        for low, high, weight in zip(*(part.tolist() for part in pairs), strict=True)
        if low in names and high in names
    }
    return found, frozenset(names[file] for file in set(files) if file in names)


def figures(weights: Mapping[Pair, float], changed: frozenset[str], graph: ImportGraph) -> Figures:
    """Return what the imports say of pairs with these weights."""
    read = [pair for pair in weights if graph.seen(*pair) is not None]
    ordered = sorted(read, key=lambda pair: (-weights[pair], sorted(pair)))
    code = [pair for pair in ordered if not any(name_of(path).is_test for path in pair)]
    together = {frozenset(pair) for pair in ordered}
    known = [pair for pair in graph.pairs if changed.issuperset(pair)]
    silent = sum(frozenset(pair) not in together for pair in known)
    return Figures(
        len(graph.read),
        len(ordered),
        _right(ordered, graph),
        *(_right(ordered[:first], graph) for first in FIRST),
        *(_right(code[:first], graph) for first in FIRST),
        silent / len(known) if known else math.nan,
    )


def _right(pairs: Sequence[Pair], graph: ImportGraph) -> float:
    return fmean(graph.seen(*pair) is True for pair in pairs) if pairs else math.nan


def _mean(values: Sequence[float]) -> float:
    told = [value for value in values if not math.isnan(value)]
    return fmean(told) if told else math.nan


def _print(name: str, row: Figures) -> None:
    shares = "".join(f"{value:>13.2f}" for value in row[2:])
    print(f"{name:14}{row.files:>13,.0f}{row.pairs:>13,.0f}{shares}", flush=True)


if __name__ == "__main__":
    main()
