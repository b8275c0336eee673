"""How often each cue of `inference.relations` is right, and which cues were tried and left out.

    python -m bench.relations TREES             # half of the source trees, those that chose the cues
    python -m bench.relations TREES --report    # the others, which chose nothing

TREES is a folder with an unpacked source tree in each folder of it: releases of projects in any language that
carry their tests and pages (source distributions, packages, distributions' source archives). A tree of a
project of the eight is for reporting, the others go by a checksum of their names.

A cue's pairs are all pairs of a tree's files for which it is the first to hold, at most 100 a tree, drawn.
The relation is right when the text of the file that depends speaks of the other: imports or includes it,
names its file, or uses a name that hardly another file defines; a page also when it names the module in code
or as a word with a joint. What is made from another file (locks,
snapshots, generated files) is right when its text bears that out, see `bench.relation_truth`, and its
direction with it. Else a direction is right when the relation is and the other file speaks less of the first:
an import counts before names. `chance` is the share that is right when the other file is exchanged for one
drawn among those of its language. Shares are over all pairs; `trees` are those with a pair.

With GRAPHMEM_DATA, of histories in the same half: pairs by cue that changed together twice in the first four
fifths, how many did so again in the rest, and how many of the pairs by no cue.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from bench.relation_trials import TRIALS, is_page
from bench.relation_truth import Tree
from bench.served import DATA_VARIABLE, THE_EIGHT, history_lines
from inference.relations import RULES, Cue, Name, family, name_of

MOST_FILES = 1_000
MOST_ALIKE = 25
MOST_PAIRS = 100
PROCESSES = 2
SEED = 4
SHARE = 0.8
BULK = 30
TWICE = 2
NO_CUE = "no cue"
CUES = (*((rule.cue.value, rule.holds) for rule in RULES), *((name, holds) for name, _, holds in TRIALS))
MADE = frozenset((Cue.SNAPSHOT, Cue.LOCK, Cue.GENERATED))
KEPT = frozenset(rule.cue.value for rule in RULES)
_SPECIAL = frozenset(
    (
        *("conftest.py", "__init__.py", "index.js", "index.ts", "index.tsx", "index.mjs", "lib.rs"),
        *("main.rs", "mod.rs", "package.json", "pyproject.toml", "setup.py", "setup.cfg", "go.mod"),
        *("Gemfile", "Cargo.toml", "Pipfile", "composer.json", "mix.exs", "Dockerfile"),
    )
)


class Tally(NamedTuple):
    """Pairs of one cue: how many, right, right in direction, right by chance, and of how many trees."""

    pairs: int = 0
    right: int = 0
    directed: int = 0
    chance: int = 0
    trees: int = 0

    def plus(self, other: Tally) -> Tally:
        """Return both together."""
        return Tally(*(a + b for a, b in zip(self, other, strict=True)))


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description="How often each cue of a relation is right.")
    parser.add_argument("trees", type=Path, help="a folder with a source tree in each of its folders")
    parser.add_argument("--report", action="store_true", help="the half that chose nothing")
    arguments = parser.parse_args()
    trees = [path for path in sorted(arguments.trees.iterdir()) if path.is_dir()]
    chosen = [path for path in trees if is_for_report(path.name) is arguments.report]
    half = "for reporting" if arguments.report else "for choosing"
    with multiprocessing.Pool(PROCESSES) as pool:
        _print_trees(half, pool.imap_unordered(judged, chosen, chunksize=1), chosen)
        data = os.environ.get(DATA_VARIABLE)
        if data:
            files = sorted((Path(data) / "histories").glob("*.jsonl.gz"))
            wanted = [file for file in files if is_for_report(_plain(file)) is arguments.report]
            _print_histories(half, pool.imap_unordered(repeated, wanted, chunksize=1), wanted)


def is_for_report(name: str) -> bool:
    """Return whether a project's figures are reported rather than chosen by."""
    return any(eight in name for eight in THE_EIGHT) or zlib.adler32(name.encode()) % 2 == 1


def _plain(file: Path) -> str:
    return file.name.partition(".")[0]


def first_cue(one: Name, other: Name) -> tuple[str, bool] | None:
    """Return the first cue that holds, tried ones included, and whether the first name depends."""
    for cue, holds in CUES:
        ways = holds(one, other), holds(other, one)
        if ways[0] != ways[1]:
            return cue, ways[0]
    return None


# ---- source trees -----------------------------------------------------------------------------------


def judged(root: Path) -> dict[str, Tally]:
    """Return the tally of each cue over one source tree."""
    tree = Tree(root, MOST_FILES)
    draw = random.Random(f"{SEED} {root.name}")
    names = {path: name_of(path) for path in tree.paths}
    by_family: dict[str, list[str]] = {}
    for path in tree.paths:
        by_family.setdefault(family(names[path]), []).append(path)
    found: dict[str, list[tuple[str, str]]] = {}
    for one, other in sorted(_alike(names)):
        cue = first_cue(names[one], names[other])
        if cue is not None:
            found.setdefault(cue[0], []).append((one, other) if cue[1] else (other, one))
    tallies: dict[str, Tally] = {}
    for cue, pairs in found.items():
        kept = draw.sample(pairs, min(len(pairs), MOST_PAIRS))
        total = Tally(trees=1)
        for one, other in kept:
            stranger = draw.choice(by_family[family(names[other])])
            right = speaks(tree, cue, one, other)
            ahead = cue in MADE or _leans(tree, one, other)
            total = total.plus(Tally(1, right, right and ahead, speaks(tree, cue, one, stranger)))
        tallies[cue] = total
    return tallies


def _leans(tree: Tree, one: str, other: str) -> bool:
    """Return whether `one` speaks more of `other` than the other way round."""
    if is_page(name_of(one)):
        return not tree.names_file(other, one)
    return tree.leaning(one, other) > tree.leaning(other, one)


def speaks(tree: Tree, cue: str, one: str, other: str) -> bool:
    """Return whether the text of `one` bears out what the cue says of both."""
    match cue:
        case Cue.SNAPSHOT:
            return tree.snapshot(one, other)
        case Cue.LOCK:
            return tree.locks(one, other)
        case Cue.GENERATED:
            return tree.made(one, other)
        case "source of a type stub":
            return tree.implements(one, other)
        case "translation of a page":
            return tree.translated(one, other)
    return tree.refers(one, other) or (is_page(name_of(one)) and tree.tells_of(one, other))


def _alike(names: Mapping[str, Name]) -> set[tuple[str, str]]:
    """Return the pairs of paths that any cue could hold for."""
    groups: dict[tuple[object, ...], list[str]] = {}
    for path, name in names.items():
        for key in _keys(name):
            groups.setdefault(key, []).append(path)
    pairs: set[tuple[str, str]] = set()
    for members in groups.values():
        pairs.update(combinations(members[:MOST_ALIKE], 2))
    by_folder: dict[tuple[str, ...], list[str]] = {}
    for path, name in names.items():
        for folder in {name.folders, name.folders[:-1], name.folders[:-2]}:
            by_folder.setdefault(folder, []).append(path)
    for path, name in names.items():
        if name.file in _SPECIAL:
            near = by_folder.get(name.folders, ())
            pairs.update((min(path, other), max(path, other)) for other in near if other != path)
    return pairs


def _keys(name: Name) -> Iterator[tuple[object, ...]]:
    last = "".join(letter for letter in (name.folders or ("",))[-1] if letter not in "-_.")
    bare = name.file.partition(".")[0].casefold()
    stems = {name.plain, bare, bare.partition("_")[0], bare.partition("-")[0], last, last + name.plain}
    for end in ("bench", "stories", "module", "d", "min", "pb2", "pb2grpc", "pb", "testjs", "testts"):
        stems.add(name.plain.removesuffix(end))
    stems.add(name.stem.partition("_")[0].casefold())
    return iter({("stem", stem) for stem in stems if stem})


# ---- histories --------------------------------------------------------------------------------------


def repeated(file: Path) -> dict[str, Tally]:
    """Return by cue how many pairs changed together twice in the past, and how many again later."""
    lines = history_lines(file)
    past = int(SHARE * len(lines))
    before: Counter[tuple[str, str]] = Counter()
    later: set[tuple[str, str]] = set()
    for number, line in enumerate(lines):
        paths = sorted({entry["path"] for entry in line["files"]})
        pairs = combinations(paths, 2) if len(paths) <= BULK else ()
        if number < past:
            before.update(pairs)
        else:
            later.update(pairs)
    tallies: dict[str, Tally] = {}
    for pair, count in before.items():
        if count >= TWICE:
            cue = first_cue(name_of(pair[0]), name_of(pair[1]))
            key = NO_CUE if cue is None else cue[0]
            tallies[key] = tallies.get(key, Tally(trees=1)).plus(Tally(1, pair in later))
    return tallies


# ---- tables -----------------------------------------------------------------------------------------


def _summed(results: Iterable[dict[str, Tally]]) -> dict[str, Tally]:
    total: dict[str, Tally] = {}
    for tallies in results:
        for cue, tally in tallies.items():
            total[cue] = total.get(cue, Tally()).plus(tally)
    return total


def _print_trees(half: str, results: Iterable[dict[str, Tally]], trees: Sequence[Path]) -> None:
    total = _summed(results)
    print(f"Source trees {half}: {', '.join(tree.name for tree in trees)}\n")
    print(f"{'cue':40} {'pairs':>6} {'trees':>6} {'right':>6} {'direction':>10} {'chance':>7}")
    for cue, _ in CUES:
        tally = total.get(cue, Tally())
        shares = [part / tally.pairs if tally.pairs else float("nan") for part in tally[1:4]]
        mark = "" if cue in KEPT else "(left out)"
        print(
            f"{cue:40} {tally.pairs:6} {tally.trees:6} {shares[0]:6.2f} {shares[1]:10.2f} {shares[2]:7.2f}"
            f"  {mark}".rstrip()
        )


def _print_histories(half: str, results: Iterable[dict[str, Tally]], files: Sequence[Path]) -> None:
    total = _summed(results)
    print(f"\nHistories {half}: {', '.join(map(_plain, files))}\n")
    print(f"{'changed together twice':40} {'pairs':>6} {'of':>6} {'again':>6}")
    for cue in (*(cue for cue, _ in CUES), NO_CUE):
        tally = total.get(cue)
        if tally is not None:
            print(f"{cue:40} {tally.pairs:6} {tally.trees:6} {tally.right / tally.pairs:6.2f}")


if __name__ == "__main__":
    main()
