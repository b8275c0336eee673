"""What twenty verdicts do to the answers afterwards, by the order in which the queue asks.

    python -m bench.verdict_learning            # the eight histories for reporting
    python -m bench.verdict_learning --choose   # the 29 for choosing: ways to ask, ways to learn
    python -m bench.verdict_learning --told     # the answers know the reviewer's part too

A history is cut into three parts. The past is told, and the queue that it gives asks twenty questions. The
reviewer knows the second part: yes, if the two files are changed together there once more, by a change of at
most 30 files. The answers are measured on the third, which the reviewer has not seen: the public protocol's
test period, asked before it is told; the second part is told to nobody, or with `--told` to the memory as
well. The raise is against the same answers without verdicts; a rejected file is left out, as in the product.

Columns: yes (share confirmed), MAP without verdicts, what it is raised by (in thousandths, with the standard
error of the mean over histories), the same if confirmed files led each answer, the raise of the log
likelihood of what was said (thousandths of a nat a question), and the share of answers that moved at all.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from statistics import fmean, stdev

from bench.combination import PROCESSES, for_choosing
from bench.review_queue import FIRST, SEED, SMALL, first
from bench.served import histories
from graphmem.edge_rows import EdgeRow
from graphmem.evaluation import lines_of, read_source
from graphmem.evaluation_predictor import RecallPredictor
from graphmem.graph import EdgeFilter, EdgeOrder, EdgeStatus
from graphmem.journal import Journal
from graphmem.nodes import NodeTable, row_of, table_of
from graphmem.past_promotion import promoted_at
from graphmem.recall.edges import Edges
from graphmem.recall.queue import edge_page
from graphmem.recall.rows import ListedRows
from inference import lessons
from inference.lessons import End, Lesson, Lessons, adjusted, learned
from inference.lineage import Lineage
from inference.metrics import mean_scores, rank_scores
from inference.replay import Context, Line, Question, Rules, eligible, questions, resolve

RULES = Rules(queries=4)
SURE = 1e-6
THOUSAND = 1000.0

Pair = tuple[int, int]
WAYS: Mapping[str, lessons.Shrink] = {
    "the pair alone": lessons.SHRINK._replace(kind=math.inf, folders=math.inf, near=math.inf),
    "... and near": lessons.SHRINK._replace(kind=math.inf, folders=math.inf),
    "... and folders": lessons.SHRINK._replace(kind=math.inf),
    "... shrunk less": lessons.SHRINK._replace(kind=math.inf, folders=12.0, near=6.0),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of the measured part with its answer: the files, best first, and their probabilities."""

    line: int
    queried: End
    truth: frozenset[int]
    answer: tuple[tuple[End, float], ...]


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A history: what each order asks first, the pairs that come true, the questions afterwards."""

    name: str
    asks: Mapping[str, tuple[tuple[End, End], ...]]
    true: frozenset[Pair]
    questions: tuple[Asked, ...]

    def verdicts(self, order: str) -> list[Lesson]:
        """Return what the reviewer says to the first twenty of an order."""
        return [
            Lesson(one, other, (min(one.file, other.file), max(one.file, other.file)) in self.true)
            for one, other in self.asks[order]
        ]


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description="What twenty verdicts do to the answers afterwards.")
    parser.add_argument("histories", nargs="*", help="history files; default: those of GRAPHMEM_DATA")
    parser.add_argument("--choose", action="store_true", help="compare ways on the histories for choosing")
    parser.add_argument("--told", action="store_true", help="tell the memory the reviewer's part too")
    arguments = parser.parse_args()
    files = arguments.histories or (for_choosing() if arguments.choose else histories([]))
    with multiprocessing.Pool(PROCESSES) as pool:
        work = partial(compared if arguments.choose else figures, told=arguments.told)
        report(pool.imap(work, files, chunksize=1))


def report(results: Iterable[tuple[str, dict[str, list[float]]]]) -> None:
    """Print a line for each history and order, then the means."""
    every: dict[str, list[list[float]]] = {}
    print(
        f"{'':12} {'order':34} {'yes':>5} {'MAP':>6} {'raise':>14} {'if led':>7} {'likely':>7} {'moved':>6}"
    )
    for name, orders in results:
        for order, row in orders.items():
            every.setdefault(order, []).append(row)
            print(_row(name, order, row, math.nan), flush=True)
    for order, rows in every.items():
        raises = [row[2] for row in rows]
        error = stdev(raises) / math.sqrt(len(raises)) if len(raises) > 1 else math.nan
        print(_row("mean", order, [fmean(column) for column in zip(*rows, strict=True)], error))


def _row(name: str, order: str, row: Sequence[float], error: float) -> str:
    yes, before, raised, led, likely, moved = row
    return (
        f"{name:12} {order:34} {yes:5.2f} {before:6.3f} {raised:+7.2f} {error:6.2f} {led:+7.2f}"
        f" {likely:+7.2f} {moved:6.2f}"
    )


# ---- a history -------------------------------------------------------------------------------------


class Reviewable(RecallPredictor):
    """The memory of a replay, with the queue that it would ask from."""

    def suggested(self) -> dict[str, list[tuple[str, str]]]:
        """Return for each order the first twenty pairs of names that it asks about."""
        self._tell()
        with self._postings.view() as view, closing(Journal(None)) as journal:
            rows = [row for row in promoted_at(view, {}, "replayed").rows if _is_asked(row)]
            edges = Edges(view, journal.ledger, rows=ListedRows(rows))
            found = {}
            for order in (EdgeOrder.PROBABILITY, EdgeOrder.VALUE, EdgeOrder.SUPPORT):
                page = edge_page(edges, EdgeFilter(order=order), None, FIRST)
                found[f"order={order}"] = [(edge.source.name, edge.target.name) for edge in page.items]
            files = view.files({row_of(end) for row in rows for end in (row.source, row.target)})
        living = {file.id: file.path for file in files.values() if file.alive}
        for label, key in OTHERS.items():
            valued = [
                ((living[row_of(row.source)], living[row_of(row.target)]), key(row))
                for row in rows
                if row_of(row.source) in living and row_of(row.target) in living
            ]
            valued.sort(key=lambda entry: (-entry[1], entry[0]))
            found[label] = [pair for pair, _ in first(valued)]
        return found


def _is_asked(row: EdgeRow) -> bool:
    files = table_of(row.source) is NodeTable.FILE is table_of(row.target)
    return files and row.status == EdgeStatus.CANDIDATE


OTHERS: Mapping[str, Callable[[EdgeRow], float]] = {
    "most uncertain first": lambda row: -abs(row.probability - 0.5),
    "at random": lambda row: random.Random(f"{SEED}{row.id}").random(),
}


def reviewed(path: Path | str, told: bool) -> Reviewed | None:
    """Return what is needed of a history, None for one too short to be cut."""
    observations = read_source("jsonl", str(path))
    lines = lines_of(observations)
    steps = resolve(lines)
    ranking = eligible(steps, RULES)
    count = max(1, min(RULES.at_most, int(RULES.share * len(ranking))))
    if len(ranking) < 3 * count:
        return None
    cut, measured = ranking[-2 * count], ranking[-count]
    lineage, asks, found = Lineage(), dict[str, tuple[tuple[End, End], ...]](), list[Asked]()
    with closing(Reviewable(observations)) as memory:
        for line, asked in questions(lines, lineage, RULES):
            if line.number == cut:
                for order, pairs in memory.suggested().items():
                    asks[order] = tuple(_ends(lineage, pairs))
            found += [_answered(memory, lineage, line, question) for question in asked if not question.single]
            if told or not cut <= line.number < measured:
                memory.observe(line)
    true = {
        pair
        for step in steps[cut:measured]
        if len(step) <= SMALL
        for pair in combinations(sorted({entry.file for entry in step}), 2)
    }
    return Reviewed(Path(path).name.partition(".")[0], asks, frozenset(true), tuple(found))


def _ends(lineage: Lineage, pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[End, End]]:
    for pair in pairs:
        one, other = (lineage.file_of(name) for name in pair)
        if one is not None and other is not None:
            yield End(one, pair[0]), End(other, pair[1])


def _answered(memory: Reviewable, lineage: Lineage, line: Line, question: Question) -> Asked:
    answer = memory.predict(question.path, Context(line.at, line.session, line.actor))
    named = ((lineage.file_of(path), path, probability) for path, probability in answer)
    return Asked(
        question.line,
        End(question.file, question.path),
        question.truth,
        tuple((End(file, path), chance) for file, path, chance in named if file is not None),
    )


# ---- what verdicts do ------------------------------------------------------------------------------


def figures(path: Path | str, told: bool) -> tuple[str, dict[str, list[float]]]:
    """Return the figures of a history by order."""
    history = reviewed(path, told)
    if history is None:
        return Path(path).name.partition(".")[0], {}
    return history.name, {order: _figures(history, history.verdicts(order)) for order in history.asks}


def compared(path: Path | str, told: bool) -> tuple[str, dict[str, list[float]]]:
    """Return the figures by order as shipped, and with less learned from a verdict."""
    history = reviewed(path, told)
    if history is None:
        return Path(path).name.partition(".")[0], {}
    found = {order: _figures(history, history.verdicts(order)) for order in history.asks}
    for way, shrink in WAYS.items():
        for order in (f"order={EdgeOrder.PROBABILITY}", f"order={EdgeOrder.VALUE}"):
            found[f"{order}, {way}"] = _figures(history, history.verdicts(order), shrink)
    return history.name, found


def _figures(
    history: Reviewed, verdicts: Sequence[Lesson], shrink: lessons.Shrink = lessons.SHRINK
) -> list[float]:
    """Return yes, MAP before, its raise, the raise with confirmed ones first, likelihood, share moved."""
    taught = learned(verdicts)
    yes = _partners(lesson for lesson in verdicts if lesson.confirmed)
    no = _partners(lesson for lesson in verdicts if not lesson.confirmed)
    before, after, led = (dict[int, list[list[int]]]() for _ in range(3))
    truths: dict[int, list[frozenset[int]]] = {}
    likely, moved = 0.0, 0
    for asked in history.questions:
        file = asked.queried.file
        plain = [end.file for end, _ in asked.answer]
        told = _told(asked, taught, shrink)
        kept = [end for end, _ in told if end not in no.get(file, ())]
        ahead = [end for end in kept if end in yes.get(file, ())]
        ahead += sorted(yes.get(file, set()).difference(ahead))
        truths.setdefault(asked.line, []).append(asked.truth)
        for orders, order in (
            (before, plain),
            (after, kept),
            (led, [*ahead, *(end for end in kept if end not in ahead)]),
        ):
            orders.setdefault(asked.line, []).append(order)
        moved += kept != plain
        likely += _likelihood(told, asked.truth) - _likelihood(
            [(end.file, chance) for end, chance in asked.answer], asked.truth
        )
    start = _precision(before, truths)
    count = max(1, len(history.questions))
    return [
        fmean(lesson.confirmed for lesson in verdicts) if verdicts else math.nan,
        start,
        THOUSAND * (_precision(after, truths) - start),
        THOUSAND * (_precision(led, truths) - start),
        THOUSAND * likely / count,
        moved / count,
    ]


def _partners(verdicts: Iterable[Lesson]) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for one, other, _ in verdicts:
        found.setdefault(one.file, set()).add(other.file)
        found.setdefault(other.file, set()).add(one.file)
    return found


def _told(asked: Asked, taught: Lessons, shrink: lessons.Shrink) -> list[tuple[int, float]]:
    """Return the answer after what was learned, best first, equals as they stood."""
    moved = [
        (end.file, adjusted(chance, taught.offset(asked.queried, end, shrink)))
        for end, chance in asked.answer
    ]
    return sorted(moved, key=lambda entry: -entry[1])


def _precision(orders: Mapping[int, list[list[int]]], truths: Mapping[int, list[frozenset[int]]]) -> float:
    """Return MAP: the mean over the questions of a line first, then over lines."""
    lines = [
        mean_scores([rank_scores(order, truth) for order, truth in zip(given, truths[line], strict=True)])
        for line, given in orders.items()
    ]
    return mean_scores(lines).average_precision if lines else math.nan


def _likelihood(told: Iterable[tuple[int, float]], truth: frozenset[int]) -> float:
    bounded = ((file, min(1.0 - SURE, max(SURE, chance))) for file, chance in told)
    return math.fsum(math.log(chance if file in truth else 1.0 - chance) for file, chance in bounded)


if __name__ == "__main__":
    main()
