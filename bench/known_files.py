"""How good an answer is about several known files, about a new file, and while the past is short.

    python -m bench.known_files                     # the eight histories for reporting
    python -m bench.known_files --choose            # the 29 others, by the models alone
    python -m bench.known_files --models FOLDER     # with models that are not the shipped ones

Several known files: lines of the test period that changed 3 to 30 files that existed; half of those, 2 to 5,
are known and the others right. Many: lines of 12 such files at least, up to 10 known. A new file: lines that
add files; one of these is known, right are the files that existed. A short past: lines that follow the first
so many of a history, one file known. Lines are drawn with a fixed seed and asked about before they are told;
figures are means over a history's questions, then over histories. The task's words are the title, which was
written afterwards.

The rows `GraphMem` are the answers of the predictor behind `/impact`, its chances weighed by the project's
own past; the rows of ways to combine use the same models and the curve of many projects. Models do better on
histories that they were trained on: the last line names them.
"""

from __future__ import annotations

import argparse
import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from bench.accuracy import parameters, use_models
from bench.combination import for_choosing
from bench.making import step_of
from bench.served import histories
from graphmem.evaluation import RecallPredictor, lines_of, read_source
from graphmem.ranking_model import RankingModel
from graphmem.recall.predictor import Asker, predict
from graphmem.task_words import path_words, task_words
from inference.baselines import LARGEST, Counts, Tarmaq
from inference.chronicle import Chronicle
from inference.cochange import joint_evidence
from inference.evidence import Standing
from inference.lineage import Change, Lineage, Resolved
from inference.metrics import DEPTH, Calibration, RankingScores, mean_scores, rank_scores
from inference.ranker import Known, Query, alone, joined
from inference.ranking import rank
from inference.replay import Context, Line, Rules, eligible, resolve
from inference.signals import signals

LINES = 60
MANY_LINES = 20
WINDOW_LINES = 16
SEED = 5
STARTS = (15, 30, 60, 100, 200, 400)
LIMITS = (3, 5, 8)
SEVERAL, MANY, FRESH = "several known files", "many known files", "a new file"
GRAPHMEM, TOLD = "GraphMem", "GraphMem, task told"
MODELS, MODELS_TOLD, CLOSED = "models", "models, task told", "closed form"
_ABSENT = 0.004
_SUGGESTIONS = 10

Chances = Mapping[int, float]


def summed(found: Sequence[Chances]) -> dict[int, float]:
    """Return the sum of the chances, at most 1."""
    sums: dict[int, float] = defaultdict(float)
    for chances in found:
        for file, chance in chances.items():
            sums[file] += chance
    return sums


def highest(found: Sequence[Chances]) -> dict[int, float]:
    """Return the highest chance that any known file gives."""
    files = dict.fromkeys(file for chances in found for file in chances)
    return {file: max(chances.get(file, 0.0) for chances in found) for file in files}


def mean_odds(found: Sequence[Chances]) -> dict[int, float]:
    """Return the chance whose log odds are the mean; who is no candidate of a known file has a small one."""
    files = dict.fromkeys(file for chances in found for file in chances)
    odds = {file: fmean(_log_odds(chances.get(file, _ABSENT)) for chances in found) for file in files}
    return {file: 1.0 / (1.0 + math.exp(-value)) for file, value in odds.items()}


def _log_odds(chance: float) -> float:
    held = min(1.0 - _ABSENT, max(_ABSENT, chance))
    return math.log(held / (1.0 - held))


WAYS: Mapping[str, Callable[[Sequence[Chances]], Chances]] = {
    "models, noisy-or": joined,
    "models, sum": summed,
    "models, mean of log odds": mean_odds,
    "models, maximum": highest,
}


class Asked(NamedTuple):
    """A question: its table, the known files, the right ones; `path` is that of a new file, known too."""

    table: str
    known: tuple[int, ...]
    truth: frozenset[int]
    path: str = ""


@dataclass(slots=True)
class Figures:
    """What one history gave: scores by table and row, and how honest the first ten chances are."""

    scores: dict[tuple[str, str], list[RankingScores]] = field(default_factory=lambda: defaultdict(list))
    honesty: dict[tuple[str, str], Calibration] = field(default_factory=lambda: defaultdict(Calibration))

    def add(self, asked: Asked, row: str, order: Sequence[int]) -> None:
        """Count an answer, best first."""
        self.scores[asked.table, row].append(rank_scores(order, asked.truth))

    def weigh(self, asked: Asked, row: str, chances: Chances, shown: Mapping[int, str]) -> None:
        """Count an answer by its chances; `shown` are the paths of the files, by which equals go."""
        order = sorted(chances, key=lambda file: (-chances[file], shown[file]))
        self.add(asked, row, order)
        for file in order[:_SUGGESTIONS]:
            self.honesty[asked.table, row].add(min(1.0, chances[file]), file in asked.truth)


# ---- what is asked -----------------------------------------------------------------------------


def plan(steps: Sequence[Sequence[Resolved]]) -> dict[int, list[Asked]]:
    """Return the questions of a history by the line that answers them."""
    draw = random.Random(SEED)
    ranked = eligible(steps, Rules())
    if not ranked:
        return {}
    start = ranked[-max(1, min(Rules().at_most, int(Rules().share * len(ranked))))]
    small = [number for number in range(len(steps)) if 1 <= len(steps[number]) <= LARGEST]
    existing = {number: [entry for entry in steps[number] if entry.existed] for number in small}
    late = [number for number in small if number >= start]
    found: dict[int, list[Asked]] = defaultdict(list)
    for table, least, most, at_most in ((SEVERAL, 3, 5, LINES), (MANY, 12, 10, MANY_LINES)):
        for number in _drawn([n for n in late if len(existing[n]) >= least], at_most, draw):
            files = [entry.file for entry in existing[number]]
            known = draw.sample(files, min(len(files) - 1, most, max(2, len(files) // 2)))
            found[number].append(Asked(table, tuple(known), frozenset(files).difference(known)))
    fresh = {number: _new(steps[number]) for number in late if existing[number]}
    for number in _drawn([number for number, paths in fresh.items() if paths], LINES, draw):
        truth = frozenset(entry.file for entry in existing[number])
        found[number].append(Asked(FRESH, (), truth, draw.choice(fresh[number])))
    for begin, end in zip(STARTS, (*STARTS[1:], 2 * STARTS[-1]), strict=True):
        numbers = [number for number in ranked if begin <= number < end]
        for number in _drawn(numbers, WINDOW_LINES, draw):
            files = [entry.file for entry in existing[number]]
            known = draw.choice(files)
            asked = Asked(f"after {begin} to {end - 1} lines", (known,), frozenset(files) - {known})
            found[number].append(asked)
    return found


def _drawn(numbers: Sequence[int], at_most: int, draw: random.Random) -> Sequence[int]:
    return numbers if len(numbers) <= at_most else draw.sample(numbers, at_most)


def _new(step: Sequence[Resolved]) -> list[str]:
    return [entry.path for entry in step if not entry.existed and entry.change is not Change.READ]


# ---- who answers -------------------------------------------------------------------------------


class Product(RecallPredictor):
    """The predictor behind `/impact`, asked about new files too."""

    def predict_new(self, path: str, context: Context) -> list[tuple[str, float]]:
        """Return what the impact answer would list for a file that no observation names."""
        self._tell()
        words = task_words(context.title or "")
        calibrate = self._outlook(context.at, bool(words)).calibrate
        with self._postings.view() as view:
            asker = Asker(context.at, context.actor, words)
            ranked = predict(view, (), asker, DEPTH, fresh=[path], calibrate=calibrate).ranked
        return [(entry.file.path, entry.ranked.probability) for entry in ranked]


class Rivals:
    """What is compared, over the work in memory: the models in several ways, the closed form, counts."""

    def __init__(self, model: RankingModel, figures: Figures) -> None:
        self.chronicle = Chronicle(path_words)
        self.counts = Counts()
        self.model = model
        self.figures = figures

    def ask(self, asked: Asked, at: float, actor: int, words: tuple[str, ...]) -> None:
        """Answer a question in all ways."""
        files = self.chronicle.files
        known = tuple(Known(file, files[file].path) for file in asked.known)
        if asked.path:
            known = (*known, Known(None, asked.path))
        paths = {file: trail.path for file, trail in files.items()}
        plain = self._alone(Query(known, at, actor))
        if len(known) == 1:
            told = self._alone(Query(known, at, actor, words))
            self.figures.weigh(asked, MODELS, joined(plain), paths)
            self.figures.weigh(asked, MODELS_TOLD, joined(told), paths)
            if not asked.path:
                self.figures.add(asked, CLOSED, self._closed(asked, at, actor))
            return
        for row, way in WAYS.items():
            self.figures.weigh(asked, row, way(plain), paths)
        if asked.table == MANY:
            for limit in LIMITS:
                self.figures.weigh(asked, f"models, noisy-or of {limit}", joined(plain[-limit:]), paths)
        self._count(asked)

    def _alone(self, query: Query) -> list[dict[int, float]]:
        calibrate = self.model.curve(bool(query.words)).at
        return alone(self.chronicle, self.model, query, calibrate, len(query.known))

    def _closed(self, asked: Asked, at: float, actor: int) -> list[int]:
        """Return the order of the closed form; concepts are left out, which no history has."""
        histories = [self.chronicle.history(file) for file in asked.known]
        recent = self.chronicle.recent_of(actor)
        heard = signals(histories, recent)
        trails = self.chronicle.files
        living = [file for file in heard.files() if trails[file].alive]
        heat = self.chronicle.heat(living, at)
        standings = {file: Standing(trails[file].path, heat[file]) for file in living}
        named = rank(histories, {}, standings, recent, DEPTH, among=set(living), heard=heard)
        return [entry.file for entry in named]

    def _count(self, asked: Asked) -> None:
        """Answer by co-change and counts alone."""
        trails = self.chronicle.files
        geom = joint_evidence([self.chronicle.history(file) for file in asked.known]).scores
        rose: dict[int, float] = defaultdict(float)
        for file in asked.known:
            for other, count in self.counts.together(file).items():
                rose[other] += count / self.counts.pairing[file]
        for row, scores in (("geom, noisy-or", geom), ("ROSE, sum", rose)):
            order = sorted(scores, key=lambda file: -scores[file])
            self.figures.add(asked, row, [f for f in order if trails[f].alive and f not in asked.known])
        rules = Tarmaq(self.counts).rules(frozenset(asked.known))
        self.figures.add(asked, "TARMAQ", [file for file, *_ in rules if trails[file].alive])


# ---- the replay --------------------------------------------------------------------------------


def measured(path: Path, *, product: bool) -> Figures:
    """Return the figures of a history file; `product`: the predictor behind `/impact` is asked too."""
    model = RankingModel.load()
    if model is None:
        raise ValueError("There are no ranking models to measure: `make train` makes them.")
    observations = read_source("jsonl", str(path))
    lines = lines_of(observations)
    steps = resolve(lines)
    asked, figures = plan(steps), Figures()
    rivals, lineage = Rivals(model, figures), Lineage()
    sessions: dict[str, int] = {}
    actors: dict[str, int] = {}
    at = -math.inf
    with closing(Product(observations)) as ours:
        for line in lines:
            at = max(at, line.at)
            actor = actors.setdefault(line.actor, len(actors) + 1)
            words = task_words(line.title)
            for question in _answerable(asked.get(line.number, ()), lineage):
                rivals.ask(question, at, actor, words)
                if product:
                    _ask_product(ours, question, line, lineage, figures)
            resolved = lineage.step(line.mentions)
            session = sessions.setdefault(line.session, len(sessions) + 1)
            rivals.chronicle.push(step_of(line, resolved, lineage, at, session, actor, words))
            rivals.counts.observe(line)
            ours.observe(line)
    return figures


def _answerable(asked: Sequence[Asked], lineage: Lineage) -> Iterator[Asked]:
    """Yield the questions without the files that came up in this very line."""
    for question in asked:
        known = tuple(file for file in question.known if file < lineage.next_id)
        truth = frozenset(file for file in question.truth if file < lineage.next_id)
        if truth and len(known) == len(question.known):
            yield question._replace(truth=truth)


def _ask_product(ours: Product, asked: Asked, line: Line, lineage: Lineage, figures: Figures) -> None:
    if asked.table not in (SEVERAL, FRESH):
        return
    for row, title in ((GRAPHMEM, None), (TOLD, line.title)):
        context = Context(line.at, line.session, line.actor, title)
        if asked.path:
            answer = ours.predict_new(asked.path, context)
        else:
            answer = ours.predict_all([lineage.path_of(file) for file in asked.known], context)
        named = {lineage.file_of(path): chance for path, chance in answer}
        chances = {file: chance for file, chance in named.items() if file is not None}
        figures.weigh(asked, row, chances, {file: lineage.path_of(file) for file in chances})


# ---- the tables --------------------------------------------------------------------------------


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Several known files, new files, short pasts.")
    parser.add_argument("histories", nargs="*", help="history files; default: those of GRAPHMEM_DATA")
    parser.add_argument("--choose", action="store_true", help="ask the histories for choosing, models alone")
    parser.add_argument("--models", type=Path, help="where the ranking models are; default: the shipped ones")
    given = parser.parse_args()
    use_models(given.models)
    if RankingModel.load() is None:
        parser.error("There are no ranking models to measure: `make train` makes them.")
    files = (given.histories or for_choosing()) if given.choose else histories(given.histories)
    every: list[Figures] = []
    for file in files:
        every.append(measured(Path(file), product=not given.choose))
        print(f"{Path(file).name.partition('.')[0]}: done", flush=True)
    print("\n".join(report(every)))
    chosen = parameters()
    trained = "all" if chosen.histories is None else ", ".join(sorted(chosen.histories))
    print(f"{chosen.words}; trained on: {trained}.")


def report(every: Sequence[Figures]) -> list[str]:
    """Return the tables' lines: each row's means over the histories that were asked such a question."""
    keys = dict.fromkeys(key for figures in every for key in figures.scores)
    lines: list[str] = []
    for table in sorted({table for table, _ in keys}, key=_place):
        lines += ["", f"{table:34} {'MAP':>6} {'hit@5':>6} {'ECE':>6} {'asked':>6} {'of':>3}"]
        for row in (row for each, row in keys if each == table):
            asked = [figures for figures in every if figures.scores.get((table, row))]
            scores = [mean_scores(figures.scores[table, row]) for figures in asked]
            honest = [figures.honesty[table, row] for figures in asked]
            error = f"{fmean(each.error() for each in honest):6.3f}" if honest[0].entries else f"{'-':>6}"
            count = sum(len(figures.scores[table, row]) for figures in asked)
            lines.append(
                f"{row:34} {fmean(each.average_precision for each in scores):6.3f}"
                f" {fmean(each.hit_5 for each in scores):6.3f} {error} {count:6} {len(asked):3}"
            )
    return lines


def _place(table: str) -> tuple[int, str]:
    order = [SEVERAL, MANY, FRESH]
    if table in order:
        return order.index(table), table
    return len(order) + int(table.split()[1]), table


if __name__ == "__main__":
    main()
