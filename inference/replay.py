"""Owns the public replay protocol: a history in order, and each question before its answer is told.

It is not a predictor and reads no files: histories arrive as lines, predictors as objects. Test period:
the last 500 or 20 % (the fewer) of the lines of 2 to 30 files of which at least two existed before. In it
every such line is asked about once for each of its files (at most eight, drawn with a fixed seed): which
other files does it change? Lines that change one existing file only are asked about too, for the warnings.
New files are never right answers, as nobody could name them. Ranking figures are means over the queries of
a line first, then over lines. A question may be asked twice, without and with the line's title as the words
of the task: the title was written afterwards, a real prompt says less.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

from inference.lineage import Change, Lineage, Mention, Resolved
from inference.metrics import (
    DEPTH,
    THRESHOLDS,
    Bin,
    Calibration,
    Interval,
    RankingScores,
    WarningTally,
    bootstrap,
    mean_scores,
    rank_scores,
)

DAY = 86_400.0
QUESTION_COST = 30
"""So many lines can be told in the time that one question takes, for the time left."""


@dataclass(frozen=True, slots=True)
class Line:
    """One observation of a history; `number` is its place in it, `at` epoch seconds."""

    number: int
    at: float
    session: str
    actor: str
    title: str
    mentions: tuple[Mention, ...]


@dataclass(frozen=True, slots=True)
class Context:
    """What may be known when a question is asked; `title` only when the task's words are given."""

    at: float
    session: str
    actor: str
    title: str | None = None


class Predictor(Protocol):
    """Whoever answers; observes every line after it was asked about."""

    def observe(self, line: Line) -> None:
        """Learn a line."""

    def predict(self, path: str, context: Context) -> Sequence[tuple[str, float]]:
        """Return (path, probability) of what changes along with `path`, best first."""


@runtime_checkable
class Warner(Protocol):
    """A predictor that also decides by itself whom it would name unasked."""

    def warned(self, path: str, context: Context) -> tuple[float, Sequence[str]]:
        """Return its threshold at this moment and the files that a warning about `path` would name.

        Asked right after `predict` on the same question.
        """


@dataclass(frozen=True, slots=True)
class Rules:
    """The protocol's numbers; change them and figures can't be compared any more.

    `budget` leaves only so many questions of the test period, evenly drawn; None asks them all. `intent`
    tells the title with every question.
    """

    smallest: int = 2
    largest: int = 30
    share: float = 0.2
    at_most: int = 500
    queries: int = 8
    suggestions: int = 10
    seed: int = 0
    intent: bool = False
    budget: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one predictor did; `scores` is None when no line could be asked about.

    `queries` of `lines` that changed several files were asked, and `singles` about edits of one file alone;
    the test period holds `of` questions of both kinds. `given` are the warnings of one that decides by
    itself, its threshold the last one; None for others. `worded` is the same with the task's words told.
    `precisions` are the average precisions of the lines, in order.
    """

    scores: RankingScores | None
    lines: int
    queries: int
    singles: int
    calibration_error: float
    brier: float
    bins: tuple[Bin, ...]
    warnings: tuple[WarningTally, ...]
    given: WarningTally | None = None
    of: int = 0
    worded: Outcome | None = None
    precisions: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """One question: the queried file by number and present name, and the right answers."""

    line: int
    file: int
    path: str
    truth: frozenset[int]
    later: frozenset[int]
    single: bool


@dataclass(slots=True)
class _Record:
    per_line: dict[int, list[RankingScores]] = field(default_factory=lambda: defaultdict(list))
    calibration: Calibration = field(default_factory=Calibration)
    warnings: list[WarningTally] = field(default_factory=lambda: [WarningTally(t) for t in THRESHOLDS])
    given: WarningTally | None = None
    singles: int = 0


def resolve(lines: Sequence[Line]) -> list[list[Resolved]]:
    """Return for each line the files it changed, each once; reads are left out."""
    lineage = Lineage()
    return [_changes(lineage.step(line.mentions)) for line in lines]


def _changes(resolved: Sequence[Resolved]) -> list[Resolved]:
    return [entry for entry in resolved if entry.change is not Change.READ and not entry.repeated]


def eligible(steps: Sequence[Sequence[Resolved]], protocol: Rules) -> list[int]:
    """Return the numbers of the lines that rank: 2 to 30 files, at least two of which existed."""
    return [
        number
        for number, step in enumerate(steps)
        if protocol.smallest <= len(step) <= protocol.largest and sum(entry.existed for entry in step) >= 2
    ]


def replay(
    lines: Sequence[Line],
    predictors: Mapping[str, Predictor],
    protocol: Rules | None = None,
    progress: Callable[[int, int], None] | None = None,
    *,
    worded: Collection[str] = (),
) -> dict[str, Outcome]:
    """Run the predictors side by side over one history and return how each did.

    A history without a line that can be asked about gives outcomes without scores.

    Args:
        lines: the history, in order.
        predictors: those to be asked, by name.
        protocol: the published one by default.
        progress: told `(done, total)`, a line counting 1 and a question `QUESTION_COST`.
        worded: the names of those who are asked each question a second time, with the title.
    """
    protocol = protocol or Rules()
    plain = {name: _Record() for name in predictors}
    told = {name: _Record() for name in predictors if name in worded}
    chosen, of = choose(lines, protocol)
    done, total = 0, len(lines) + QUESTION_COST * len(chosen)
    lineage = Lineage()
    for line, asked in questions(lines, lineage, protocol):
        context = Context(line.at, line.session, line.actor, line.title if protocol.intent else None)
        for question in asked:
            if (question.line, question.file) not in chosen:
                continue
            for name, predictor in predictors.items():
                _ask_one(predictor, plain[name], question, context, lineage, protocol)
                if name in told:
                    _ask_one(
                        predictor, told[name], question, replace(context, title=line.title), lineage, protocol
                    )
            done += QUESTION_COST
            _tell(progress, done, total)
        for predictor in predictors.values():
            predictor.observe(line)
        done += 1
        _tell(progress, done, total)
    return {
        name: replace(_outcome(plain[name], of), worded=_outcome(told[name], of) if name in told else None)
        for name in predictors
    }


def choose(lines: Sequence[Line], protocol: Rules) -> tuple[frozenset[tuple[int, int]], int]:
    """Return the questions that are asked, as (line, file), and how many the test period holds."""
    every = [
        (question.line, question.file)
        for _, asked in questions(lines, Lineage(), protocol)
        for question in asked
    ]
    budget, count = protocol.budget, len(every)
    if budget is None or count <= budget:
        return frozenset(every), count
    kept = (
        entry for place, entry in enumerate(every) if (place + 1) * budget // count > place * budget // count
    )
    return frozenset(kept), count


def _ask_one(
    predictor: Predictor,
    record: _Record,
    question: Question,
    context: Context,
    lineage: Lineage,
    protocol: Rules,
) -> None:
    answer = predictor.predict(question.path, context)
    _score(record, question, _named(lineage, question.file, answer), protocol)
    if isinstance(predictor, Warner):
        _warned(record, question, lineage, *predictor.warned(question.path, context))


def _tell(progress: Callable[[int, int], None] | None, done: int, total: int) -> None:
    if progress is not None:
        progress(done, total)


def questions(
    lines: Sequence[Line], lineage: Lineage, protocol: Rules
) -> Iterator[tuple[Line, list[Question]]]:
    """Yield each line with its questions, none outside the test period.

    `lineage`, empty at first, still stands before the line while it is looked at.
    """
    steps = resolve(lines)
    ranking = eligible(steps, protocol)
    count = max(1, min(protocol.at_most, int(protocol.share * len(ranking))))
    start = ranking[-count] if ranking else len(lines)
    asked = set(ranking)
    for place, line in enumerate(lines):
        found: list[Question] = []
        if place >= start:
            existing = [entry.file for entry in steps[place] if entry.existed]
            single = len(steps[place]) == 1 and len(existing) == 1
            if place in asked or single:
                later = _later(lines, steps, place, protocol)
                found = _ask(place, existing, later, lineage, protocol, single=single)
        yield line, found
        lineage.step(line.mentions)


def _ask(
    place: int,
    existing: Sequence[int],
    later: frozenset[int],
    lineage: Lineage,
    protocol: Rules,
    *,
    single: bool,
) -> list[Question]:
    queried = [file for file in existing if file < lineage.next_id]
    if len(queried) > protocol.queries:
        queried = random.Random(protocol.seed * 1_000_003 + place).sample(queried, protocol.queries)
    return [
        Question(place, file, lineage.path_of(file), frozenset(existing) - {file}, later - {file}, single)
        for file in queried
    ]


def _later(
    lines: Sequence[Line], steps: Sequence[Sequence[Resolved]], place: int, protocol: Rules
) -> frozenset[int]:
    """Return the files that the line's actor changes within the next 24 hours, bulk left out."""
    asked = lines[place]
    files: set[int] = set()
    for line, step in zip(lines[place + 1 : place + 200], steps[place + 1 : place + 200], strict=True):
        near = 0.0 <= line.at - asked.at <= DAY
        if line.actor == asked.actor and near and len(step) <= protocol.largest:
            files.update(entry.file for entry in step if entry.existed)
    return frozenset(files)


def _named(lineage: Lineage, queried: int, answer: Sequence[tuple[str, float]]) -> list[tuple[int, float]]:
    """Return the answer as files, each once and without the queried one; unknown names are dropped."""
    found: dict[int, float] = {}
    for path, probability in answer[:DEPTH]:
        file = lineage.file_of(path)
        if file is not None and file != queried:
            found.setdefault(file, min(1.0, max(0.0, probability)))
    return list(found.items())


def _score(record: _Record, question: Question, ranked: Sequence[tuple[int, float]], protocol: Rules) -> None:
    if question.single:
        record.singles += 1
    else:
        order = [file for file, _ in ranked]
        record.per_line[question.line].append(rank_scores(order, question.truth))
    shown = ranked[: protocol.suggestions]
    for file, probability in shown:
        record.calibration.add(probability, file in question.truth)
    for tally in record.warnings:
        tally.add(shown, question.truth, question.later, single=question.single)


def _warned(
    record: _Record, question: Question, lineage: Lineage, threshold: float, paths: Sequence[str]
) -> None:
    tally = record.given or WarningTally(threshold)
    record.given, tally.threshold = tally, threshold
    named = _named(lineage, question.file, [(path, 1.0) for path in paths])
    tally.add(named, question.truth, question.later, single=question.single)


def _outcome(record: _Record, of: int) -> Outcome:
    per_line = [mean_scores(scores) for scores in record.per_line.values()]
    return Outcome(
        scores=mean_scores(per_line) if per_line else None,
        lines=len(per_line),
        queries=sum(len(scores) for scores in record.per_line.values()),
        singles=record.singles,
        calibration_error=record.calibration.error(),
        brier=record.calibration.brier(),
        bins=record.calibration.bins(),
        warnings=tuple(record.warnings),
        given=record.given,
        of=of,
        precisions=tuple(scores.average_precision for scores in per_line),
    )


def advantage(one: Outcome, other: Outcome) -> Interval | None:
    """Return MAP of one predictor less that of another on the same lines, None without lines."""
    return bootstrap([a - b for a, b in zip(one.precisions, other.precisions, strict=True)])
