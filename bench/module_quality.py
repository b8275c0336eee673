"""How good the modules are: do they hold what changes together later, and do they stay what they are?

    python -m bench.module_quality            # the eight histories for reporting
    python -m bench.module_quality --choose   # the 29 that numbers were chosen on

Each history is told up to 80 % of its commits; modules are found by the code that the service runs. The rest
is the future: a commit of n files (2 to 100) adds 1 / (n - 1) to each pair of its files that existed before.
*Held* is the share of that weight between two files of one module. Beside it, for the same files cut into
blocks of the very same sizes by nothing but their paths:

    in order    in the order of the folder tree, the sizes in the order in which the modules lie in it
    largest     the same, the largest block first
    tightest    the largest block first, each where the most pairs of one folder fall into it

The best of the three is *folders*. *One folder* is the share within single folders, whatever their sizes,
over all files. *Grown* is what is held when modules were found along the way, at every 5 % of the commits.
Then ten updates of 1 % of the commits each: *ids* is the share of the ids still there after the last,
*living* the same of the modules of which half the files still exist and are linked.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import astuple, dataclass
from pathlib import Path

from bench.combination import PROCESSES, for_choosing
from bench.served import histories
from graphmem.database import Database
from graphmem.derived import open_derived
from graphmem.evaluation import lines_of, read_source
from graphmem.journal import Journal
from graphmem.model import Observation
from graphmem.modules import regroup
from graphmem.projection import catch_up
from graphmem.promotion import promote
from inference.lineage import Change, Lineage

PAST = 0.8
STEP = 0.05
UPDATES = 10
UPDATE = 0.01
LARGEST_COMMIT = 100

Pairs = Mapping[tuple[str, str], float]


@dataclass(frozen=True, slots=True)
class Figures:
    """What one history gave; shares in 0..1, `seconds` for the modules of the whole past."""

    modules: int
    files: int
    held: float
    in_order: float
    largest: float
    tightest: float
    one_folder: float
    grown: float
    ids: float
    living: float
    disconnected: int
    seconds: float

    @property
    def folders(self) -> float:
        """The best that paths alone give at these sizes."""
        return max(self.in_order, self.largest, self.tightest)


def main() -> None:
    """Run and print a table."""
    parser = argparse.ArgumentParser(description="How good the modules are.")
    parser.add_argument("histories", nargs="*", help="history files; default: those of GRAPHMEM_DATA")
    parser.add_argument("--choose", action="store_true", help="take the histories for choosing")
    arguments = parser.parse_args()
    named = arguments.histories
    files = (named or for_choosing()) if arguments.choose else histories(named)
    names = (
        "mods",
        "files",
        "held",
        "in order",
        "largest",
        "tightest",
        "one folder",
        "grown",
        "ids",
        "apart",
        "s",
    )
    print(f"{'':12} " + " ".join(f"{name:>10}" for name in names), flush=True)
    with multiprocessing.Pool(PROCESSES) as pool:
        found = []
        for name, figures in pool.imap(measured, files):
            found.append(figures)
            print(_line(name, astuple(figures)), flush=True)
    columns = list(zip(*map(astuple, found), strict=True))
    print(_line("mean", [statistics.fmean(column) for column in columns]))
    better = sum(figures.held > figures.folders for figures in found)
    print(f"held more than folders of the same sizes: {better} of {len(found)} histories")


def _line(name: str, values: Sequence[float]) -> str:
    return f"{name:12} " + " ".join(
        f"{value:10.3f}" if isinstance(value, float) else f"{value:10}" for value in values
    )


def measured(path: Path | str) -> tuple[str, Figures]:
    """Return the name of a history and its figures."""
    observations = read_source("jsonl", str(path))
    cut = int(PAST * len(observations))
    future, living = _future(observations, cut)
    with closing(_Told()) as told:
        told.tell(observations[:cut])
        began = time.perf_counter()
        told.group()
        seconds = time.perf_counter() - began
        modules = told.modules()
        apart = told.disconnected()
        before = told.members()
        for update in range(UPDATES):
            size = max(1, int(UPDATE * len(observations)))
            told.tell(observations[cut + update * size : cut + (update + 1) * size])
            told.group()
            apart += told.disconnected()
        after, linked = told.members(), told.linked()
    living_ids = [id for id, files in before.items() if 2 * len(files & linked) >= len(files)]
    groups = list(modules.values())
    in_order, largest, tightest = (
        _share(future, _home(blocks)) for blocks in (_in_order(groups), _largest(groups), _tightest(groups))
    )
    figures = Figures(
        modules=len(groups),
        files=sum(map(len, groups)),
        held=_share(future, _home(groups)),
        in_order=in_order,
        largest=largest,
        tightest=tightest,
        one_folder=_share(future, {path: _folder(path) for path in living}),
        grown=_share(future, _home(list(_grown(observations, cut).values()))),
        ids=_kept(before, after),
        living=_kept(living_ids, after),
        disconnected=apart,
        seconds=seconds,
    )
    return Path(path).name.partition(".")[0], figures


def _kept(ids: Collection[str], after: Collection[str]) -> float:
    return sum(id in after for id in ids) / max(1, len(ids))


# ---- the past ----------------------------------------------------------------------------------


class _Told:
    """A journal and its derived file in memory."""

    def __init__(self) -> None:
        self._journal = Journal(None)
        self._database: Database = open_derived(None)

    def tell(self, observations: Sequence[Observation]) -> None:
        self._journal.append(observations, 0.0)
        catch_up(self._journal, self._database)
        promote(self._journal, self._database, "bench")

    def group(self) -> None:
        regroup(self._journal, self._database, "bench")

    def modules(self) -> dict[str, list[str]]:
        """Return the files of each module by id, in the order of the folder tree."""
        found: dict[str, list[str]] = defaultdict(list)
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT module, name FROM member JOIN file ON node % 4 = 0 AND file.id = node / 4"
                " JOIN path ON path.id = file.path WHERE level = 0"
            ).fetchall()
        for module, name in sorted(rows, key=lambda row: _place(row[1])):
            found[module].append(name)
        return found

    def members(self) -> dict[str, set[int]]:
        """Return the files of each module by id, as nodes."""
        found: dict[str, set[int]] = defaultdict(set)
        with self._database.read() as connection:
            for module, node in connection.execute(
                "SELECT module, node FROM member WHERE level = 0 AND node % 4 = 0"
            ):
                found[module].add(node)
        return found

    def linked(self) -> set[int]:
        """Return the nodes at the ends of living edges."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT source FROM edge WHERE status IN ('candidate', 'confirmed')"
                " UNION SELECT target FROM edge WHERE status IN ('candidate', 'confirmed')"
            )
            return {row[0] for row in rows}

    def disconnected(self) -> int:
        """Return how many modules, parts included, are not connected by the edges inside them."""
        with self._database.read() as connection:
            members = connection.execute("SELECT module, node FROM member WHERE node % 4 = 0").fetchall()
            edges = connection.execute(
                "SELECT source, target FROM edge WHERE status IN ('candidate', 'confirmed')"
            ).fetchall()
        beside: dict[int, set[int]] = defaultdict(set)
        for source, target in edges:
            beside[source].add(target)
            beside[target].add(source)
        modules: dict[str, set[int]] = defaultdict(set)
        for module, node in members:
            modules[module].add(node)
        return sum(_reached(nodes, beside) != nodes for nodes in modules.values())

    def close(self) -> None:
        self._journal.close()
        self._database.close()


def _reached(nodes: set[int], beside: Mapping[int, set[int]]) -> set[int]:
    reached = {min(nodes)}
    open_nodes = list(reached)
    while open_nodes:
        new = (beside[open_nodes.pop()] & nodes) - reached
        reached |= new
        open_nodes += new
    return reached


def _grown(observations: Sequence[Observation], cut: int) -> dict[str, list[str]]:
    step = max(1, int(STEP * len(observations)))
    with closing(_Told()) as told:
        for start in range(0, cut, step):
            told.tell(observations[start : min(cut, start + step)])
            told.group()
        return told.modules()


# ---- the future --------------------------------------------------------------------------------


def _future(observations: Sequence[Observation], cut: int) -> tuple[Pairs, list[str]]:
    """Return the weight of each pair of files that existed at the cut, by their paths then; and all paths."""
    lines = lines_of(observations)
    lineage = Lineage()
    for line in lines[:cut]:
        lineage.step(line.mentions)
    paths = {file: lineage.path_of(file) for file in lineage.files if lineage.alive(file)}
    weights: dict[tuple[str, str], float] = defaultdict(float)
    for line in lines[cut:]:
        changed = {entry.file for entry in lineage.step(line.mentions) if entry.change is not Change.READ}
        if 2 <= len(changed) <= LARGEST_COMMIT:
            known = sorted(paths[file] for file in changed if file in paths)
            for pair in itertools.combinations(known, 2):
                weights[pair] += 1.0 / (len(changed) - 1)
    return weights, sorted(paths.values())


def _share(future: Pairs, home: Mapping[str, object]) -> float:
    total = sum(future.values())
    held = sum(weight for (a, b), weight in future.items() if a in home and home[a] == home.get(b))
    return held / total if total else 0.0


def _home(groups: Sequence[Sequence[str]]) -> dict[str, object]:
    return {path: number for number, group in enumerate(groups) for path in group}


# ---- folders at the same sizes -----------------------------------------------------------------


def _place(path: str) -> tuple[list[str], str]:
    """Return where a file stands in the folder tree: the files of a folder come before its folders'."""
    folder, _, name = path.rpartition("/")
    return folder.split("/") if folder else [], name


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _all(groups: Sequence[Sequence[str]]) -> list[str]:
    return sorted((path for group in groups for path in group), key=_place)


def _blocks(paths: Sequence[str], sizes: Sequence[int]) -> Iterator[Sequence[str]]:
    start = 0
    for size in sizes:
        yield paths[start : start + size]
        start += size


def _in_order(groups: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    paths = _all(groups)
    place = {path: number for number, path in enumerate(paths)}
    ordered = sorted(groups, key=lambda group: statistics.median(place[path] for path in group))
    return list(_blocks(paths, [len(group) for group in ordered]))


def _largest(groups: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    return list(_blocks(_all(groups), sorted(map(len, groups), reverse=True)))


def _tightest(groups: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    rest = _all(groups)
    blocks: list[Sequence[str]] = []
    for size in sorted(map(len, groups), reverse=True):
        start = _densest(rest, size)
        blocks.append(rest[start : start + size])
        rest = rest[:start] + rest[start + size :]
    return blocks


def _densest(paths: Sequence[str], size: int) -> int:
    """Return where the window of that size begins that holds the most pairs of one folder."""
    folders = [_folder(path) for path in paths]
    held: Counter[str] = Counter(folders[:size])
    pairs = best = sum(count * (count - 1) // 2 for count in held.values())
    start = 0
    for end in range(size, len(folders)):
        held[folders[end - size]] -= 1
        pairs += held[folders[end]] - held[folders[end - size]]
        held[folders[end]] += 1
        if pairs > best:
            best, start = pairs, end - size + 1
    return start


if __name__ == "__main__":
    main()
