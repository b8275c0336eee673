"""How good the first twenty suggested edges are, and where the numbers of `inference.promotion` come from.

    python -m bench.review_queue             # the eight histories for reporting, through the whole memory
    python -m bench.review_queue --choose    # the 29 for choosing: the numbers fitted, what each part gives

The past, four fifths of a history's lines, is told; what it suggests is held against the rest. A suggestion
comes true when its two files are changed together once more by a change that is no bulk: of at most 30 files,
as in the replay protocol, or of at most 100, which is where linking ends; both are printed. Figures are means
over histories of the first twenty with at most three of a file, of files that exist when the past ends.

Beside them: all pairs seen three times (the base rate); the order by the sum of 1 / (n - 1) over changes of n
files; and the most uncertain first, by that sum turned into a share of the changes of either file.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import random
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from statistics import fmean

from bench.combination import PROCESSES, for_choosing
from bench.fitting import odds_weights
from bench.served import histories
from graphmem import Memory
from graphmem.derived import open_derived
from graphmem.evaluation import lines_of, read_source
from graphmem.graph import EdgeFilter, EdgeOrder
from graphmem.journal import Entry
from graphmem.postings import Postings
from graphmem.projection import project
from inference import combination, promotion
from inference.activity import busyness
from inference.cochange import MAX_SIZE, company, pair_evidence
from inference.evidence import FileHistory
from inference.lineage import Change, Lineage
from inference.naming import folder, stem
from inference.promotion import CO_CHANGES, SESSIONS, Offer, Weights, agreed, chance, kept, offers, sighted
from inference.replay import Line

SHARE = 0.8
FIRST = 20
A_FILE = 3
SMALL = 30
SUPPORT = 3
SIZES = (4, 7, 10, 13)
SAMPLE = 1500
BATCH = 500
PATIENCE = 600.0
SEED = 5

Pair = tuple[str, str]
Ordered = Sequence[tuple[Pair, float]]
"""Pairs of names with what was said of them, the first one first."""


@dataclass(frozen=True, slots=True)
class Oracle:
    """Names of the files that exist when the past ends; what they do in the past and afterwards.

    `support` and `summed` count joint changes of the past, `future` holds the size of the smallest joint
    change after it, `changes` how often each file was changed in the past.
    """

    support: Mapping[Pair, int]
    summed: Mapping[Pair, float]
    changes: Mapping[str, int]
    future: Mapping[Pair, int]

    def true(self, pairs: Iterable[Pair], size: int) -> float:
        """Return the share of pairs that come true in a change of at most `size` files."""
        found = [self.future.get(pair, MAX_SIZE + 1) <= size for pair in pairs]
        return fmean(found) if found else math.nan


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description="How good the first suggested edges are.")
    parser.add_argument("histories", nargs="*", help="history files; default: those of GRAPHMEM_DATA")
    parser.add_argument("--choose", action="store_true", help="fit the numbers on the histories for choosing")
    arguments = parser.parse_args()
    named = arguments.histories
    with multiprocessing.Pool(PROCESSES) as pool:
        if arguments.choose:
            files = named or for_choosing()
            fits = fitted(pool.map(sample, files, chunksize=1))
            report(pool.imap(compared, [(file, fits) for file in files], chunksize=1))
        else:
            report(pool.imap(served, histories(named), chunksize=1))


def report(results: Iterable[tuple[str, dict[str, list[float]]]]) -> None:
    """Print a line for each history and order, then the means: come true (30, 100 files), said, pairs."""
    every: dict[str, list[list[float]]] = {}
    print(f"{'':12} {'order':24} {'<= 30':>6} {'<= 100':>6} {'said':>6} {'pairs':>7}")
    for name, orders in results:
        for order, figures in orders.items():
            every.setdefault(order, []).append(figures)
            print(_row(name, order, figures), flush=True)
    for order, rows in every.items():
        columns = [[value for value in column if not math.isnan(value)] for column in zip(*rows, strict=True)]
        print(_row("mean", order, [fmean(column) if column else math.nan for column in columns]))


def _row(name: str, order: str, figures: Sequence[float]) -> str:
    return (
        f"{name:12} {order:24} " + " ".join(f"{value:6.3f}" for value in figures[:3]) + f" {figures[3]:7.0f}"
    )


def _figures(ordered: Ordered, oracle: Oracle) -> list[float]:
    head = first(ordered)
    said = fmean(value for _, value in head) if head else math.nan
    pairs = [pair for pair, _ in head]
    return [oracle.true(pairs, SMALL), oracle.true(pairs, MAX_SIZE), said, float(len(ordered))]


def _unsaid(figures: list[float]) -> list[float]:
    """Return the figures of an order whose values are no probabilities."""
    return [*figures[:2], math.nan, figures[3]]


def first(ordered: Ordered) -> list[tuple[Pair, float]]:
    """Return the first twenty in which no file comes more than three times."""
    met: Counter[str] = Counter()
    found: list[tuple[Pair, float]] = []
    for pair, value in ordered:
        if len(found) < FIRST and all(met[name] < A_FILE for name in pair):
            met.update(pair)
            found.append((pair, value))
    return found


def by_value(values: Mapping[Pair, float]) -> list[tuple[Pair, float]]:
    """Return pairs by their values, the highest first, equals by name."""
    return sorted(values.items(), key=lambda entry: (-entry[1], entry[0]))


# ---- past and future -------------------------------------------------------------------------------


def told(lines: Sequence[object]) -> int:
    """Return how many lines are the past."""
    return int(SHARE * len(lines))


def oracle_of(lines: Sequence[Line]) -> Oracle:
    """Return what can be held against a suggestion at the end of the past."""
    lineage = Lineage()
    support: Counter[tuple[int, int]] = Counter()
    changes: Counter[int] = Counter()
    summed: dict[tuple[int, int], float] = {}
    for line in lines[: told(lines)]:
        files = _changed(lineage, line)
        changes.update(files)
        for pair in combinations(files, 2) if len(files) <= MAX_SIZE else ():
            support[pair] += 1
            summed[pair] = summed.get(pair, 0.0) + 1.0 / (len(files) - 1)
    names = {file: state.path for file, state in lineage.files.items() if state.alive}
    future: dict[Pair, int] = {}
    for line in lines[told(lines) :]:
        files = _changed(lineage, line)
        for pair in combinations(files, 2) if len(files) <= MAX_SIZE else ():
            if names.keys() >= set(pair):
                named = _named(names, pair)
                future[named] = min(future.get(named, MAX_SIZE), len(files))
    living = [pair for pair in support if names.keys() >= set(pair)]
    return Oracle(
        {_named(names, pair): support[pair] for pair in living},
        {_named(names, pair): summed[pair] for pair in living},
        {name: changes[file] for file, name in names.items()},
        future,
    )


def _changed(lineage: Lineage, line: Line) -> list[int]:
    return sorted({entry.file for entry in lineage.step(line.mentions) if entry.change is not Change.READ})


def _named(names: Mapping[int, str], pair: tuple[int, int]) -> Pair:
    one, other = sorted(names[file] for file in pair)
    return one, other


def beside(oracle: Oracle) -> dict[str, list[float]]:
    """Return the figures of what the suggestions are to be held against."""
    often = {pair: 1.0 for pair, count in oracle.support.items() if count >= SUPPORT}
    base = [oracle.true(often, SMALL), oracle.true(often, MAX_SIZE), math.nan, float(len(often))]
    share = {pair: oracle.summed[pair] / min(oracle.changes[name] for name in pair) for pair in often}
    unsure = {pair: -abs(value - 0.5) for pair, value in share.items()}
    return {
        "all seen 3 times": base,
        "sum of 1/(n-1)": _unsaid(_figures(by_value(oracle.summed), oracle)),
        "most uncertain first": _unsaid(_figures(by_value(unsure), oracle)),
    }


# ---- the eight, through the memory -----------------------------------------------------------------


def served(path: Path) -> tuple[str, dict[str, list[float]]]:
    """Return the figures of the edges that a memory lists after it was told the past."""
    observations = read_source("jsonl", str(path))
    oracle = oracle_of(lines_of(observations))
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="graphmem-bench-") as name:
        root = Path(name) / path.name.partition(".")[0]
        root.mkdir()
        with Memory(Path(name) / "home") as memory:
            mine, _ = memory.register(root)
            for start in range(0, told(observations), BATCH):
                mine.observe(observations[start : min(start + BATCH, told(observations))])
            mine.wait_visible(PATIENCE)
            created = mine.graph.infer().created
            for order in (EdgeOrder.PROBABILITY, EdgeOrder.VALUE, EdgeOrder.SUPPORT):
                page = mine.graph.edges(EdgeFilter(order=order), FIRST)
                listed = [
                    ((min(ends), max(ends)), edge.probability)
                    for edge in page.items
                    for ends in ((edge.source.name, edge.target.name),)
                ]
                found[f"order={order}"] = [*_figures(listed, oracle)[:3], float(created)]
    return path.name.partition(".")[0], found | beside(oracle)


# ---- the 29, for choosing --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Link:
    """What one file's history says of another: an offer with the probability of impact, (w, l) by size."""

    offer: Offer
    sights: Mapping[int, tuple[float, float]]

    def by(self, weights: Weights) -> Offer:
        """Return the offer with the probability that these weights give."""
        return self.offer._replace(probability=chance(*self.sights[weights.full_size], weights))


@dataclass(frozen=True, slots=True)
class Past:
    """A history up to the end of its past: the files that may be offered, by number, and what they did."""

    names: Mapping[int, str]
    known: Sequence[FileHistory]
    oracle: Oracle

    def links(self) -> Iterator[tuple[Pair, list[Link]]]:
        """Yield each pair that two sessions saw, with what one or both ends say of the other."""
        pairs: dict[Pair, list[Link]] = {}
        for known in self.known:
            for link in _links(known, self.names):
                pairs.setdefault(_named(self.names, link.offer[:2]), []).append(link)
        yield from pairs.items()

    def promoted(self) -> dict[Pair, float]:
        """Return the probability of every pair of which one changes along with the other and both keep it."""
        incident: dict[int, list[Offer]] = {}
        pairs: dict[tuple[int, int], list[Offer]] = {}
        for known in self.known:
            for offer in offers(known, self.names):
                incident.setdefault(offer.source, []).append(offer)
                incident.setdefault(offer.target, []).append(offer)
                pairs.setdefault((min(offer[:2]), max(offer[:2])), []).append(offer)
        keeping = {node: kept(node, given, self.names) for node, given in incident.items()}
        staying = [pair for pair in pairs if all(pair in keeping[end] for end in pair)]
        return {_named(self.names, pair): agreed(pairs[pair]) for pair in staying}


def past_of(path: Path | str) -> Past:
    """Return what is known of a history when its past ends."""
    observations = read_source("jsonl", str(path))
    entries = [
        Entry(number, seen, number) for number, seen in enumerate(observations[: told(observations)], 1)
    ]
    with closing(open_derived(None)) as database:
        for start in range(0, len(entries), BATCH):
            project(database, entries[start : start + BATCH])
        with Postings(database).view() as view:
            ids = [row[0] for row in view.connection.execute("SELECT id FROM file")]
            names = {
                file.id: file.path for file in view.files(ids).values() if file.alive and file.noise is None
            }
            known = [replace(view.history(id), path=name) for id, name in names.items()]
    return Past(names, known, oracle_of(lines_of(observations)))


def _links(known: FileHistory, names: Mapping[int, str]) -> Iterator[Link]:
    pairs = pair_evidence(known)
    around = company((known,))
    newest = max((edit.at for edit in known.edits), default=0.0)
    several = {
        file
        for file, seen in pairs.occasions.items()
        if file in names and len({occasion.session for occasion in seen}) >= SESSIONS
    }
    sights = {size: sighted(known, several, size) for size in SIZES}
    for file in several:
        impact = combination.probability(
            combination.Candidate(
                file,
                pairs.scores[file],
                pairs.firm[file],
                touches=busyness((seen.at for seen in pairs.occasions[file]), newest),
                alike=stem(names[file]) == stem(known.path),
                beside=folder(names[file]) == folder(known.path),
                company=around,
            )
        )
        offer = Offer(known.file, file, CO_CHANGES, impact, pairs.scores[file], 0.0, 0, 0, 0, newest, ())
        yield Link(offer, {size: seen[file] for size, seen in sights.items()})


def sample(path: Path | str) -> dict[int, list[tuple[tuple[float, float, float], bool]]]:
    """Return for each size rows of ln(w + .1), ln(1 + l), 1 and whether the pair came true, at random.

    Pairs that both ends offer, and neither is too busy for; the row is that of the less sure end.
    """
    past = past_of(path)
    found = [
        (links, past.oracle.true((pair,), SMALL) == 1.0)
        for pair, links in past.links()
        if len(links) > 1 and max(link.offer.file for link in links) >= promotion.SHARE
    ]
    found = random.Random(SEED).sample(found, min(SAMPLE, len(found)))
    return {
        size: [(min(_row_of(link.sights[size]) for link in links), came) for links, came in found]
        for size in SIZES
    }


def _row_of(sight: tuple[float, float]) -> tuple[float, float, float]:
    often, lately = sight
    return math.log(often + promotion.ROOM), math.log1p(lately), 1.0


def fitted(
    samples: Sequence[Mapping[int, Sequence[tuple[tuple[float, float, float], bool]]]],
) -> dict[str, Weights]:
    """Print and return the weights under which the odds fit, every history counting once."""
    found = {}
    for size in SIZES:
        rows = [row for drawn in samples for row, _ in drawn[size]]
        right = [came for drawn in samples for _, came in drawn[size]]
        counts = [1.0 / len(drawn[size]) for drawn in samples for _ in drawn[size]]
        often, lately, level = odds_weights(rows, right, counts)
        found[f"fitted, full to {size}"] = Weights(size, often, lately, level)
        print(
            f"fitted, full to {size:2}: often={often:.2f} lately={lately:.2f} level={level:.2f}", flush=True
        )
    print("shipped:", ", ".join(f"{k}={v}" for k, v in promotion.WEIGHTS._asdict().items()), flush=True)
    return found


def compared(task: tuple[Path | str, Mapping[str, Weights]]) -> tuple[str, dict[str, list[float]]]:
    """Return the figures of one history: as shipped, and what becomes of them with parts changed."""
    path, fits = task
    past = past_of(path)
    links = dict(past.links())
    shipped = {pair: [link.by(promotion.WEIGHTS) for link in given] for pair, given in links.items()}
    whole = {pair: [offer._replace(file=1.0) for offer in given] for pair, given in shipped.items()}
    ways = {
        "as shipped": past.promoted(),
        "... all of two sessions": {pair: agreed(given) for pair, given in shipped.items()},
        "... busy ones undamped": {pair: agreed(given) for pair, given in whole.items()},
        "... less sure end": {pair: min(map(_probability, given)) for pair, given in shipped.items()},
        "... surer end": {pair: max(map(_probability, given)) for pair, given in shipped.items()},
        "P(impact), surer end": {
            pair: max(link.offer.probability for link in given) for pair, given in links.items()
        },
    }
    for label, weights in fits.items():
        ways[label] = {pair: agreed([link.by(weights) for link in given]) for pair, given in links.items()}
    found = {label: _figures(by_value(values), past.oracle) for label, values in ways.items()}
    return Path(path).name.partition(".")[0], found | beside(past.oracle)


def _probability(offer: Offer) -> float:
    return offer.probability


if __name__ == "__main__":
    main()
