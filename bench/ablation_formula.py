"""Owns what each part of the closed formulas gives: a history in memory is asked with other numbers.

It is not the formulas (`inference.cochange`, `inference.combination`), which it holds against themselves
with one number changed. No database: a history becomes a `Chronicle` as in `bench.making`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from bench.ablation_table import Row
from bench.making import step_of
from bench.ranker_figures import Order, mean_order
from graphmem.concepts import observation_concepts
from graphmem.evaluation import lines_of, read_source
from inference.chronicle import NO_PAIR_SIZE, Chronicle
from inference.cochange import DECAY, FULL_SIZE, MAX_SIZE, TOUCHES
from inference.combination import WEIGHTS, Candidate, Weights, probability
from inference.concepts import idf
from inference.evidence import Standing
from inference.lineage import Change, Lineage
from inference.metrics import DEPTH, rank_scores
from inference.ranking import candidates, describe
from inference.replay import Line, Question, Rules, questions
from inference.signals import signals

DAY = 86_400.0
_CANDIDATES = 100
_IN_HAND = 50
_PROFILED = 10


class Rule(NamedTuple):
    """Geom's numbers: `half_life` in days beside the decay by changes, `known` the project's last work held.

    Changes of up to `full` files count fully, then (full - 1) / (n - 1); of more than `bulk` not at all.
    """

    decay: float = DECAY
    half_life: float = math.inf
    full: int = FULL_SIZE
    bulk: float = MAX_SIZE
    changes: int = TOUCHES
    known: int | None = None


ANY = 1_000_000
AS_IT_IS = Rule()
RULES: Mapping[str, Mapping[str, Rule]] = {
    "decay by changes": {
        ".93, as it is": Rule(),
        "none": Rule(decay=1.0),
        ".99": Rule(decay=0.99),
        ".97": Rule(decay=0.97),
        ".90": Rule(decay=0.9),
        ".80": Rule(decay=0.8),
        "by calendar, 90 days": Rule(decay=1.0, half_life=90.0),
        "by calendar, 365 days": Rule(decay=1.0, half_life=365.0),
    },
    "size of a change": {
        "full to 4, then 3 / (n - 1)": Rule(),
        "no weight": Rule(full=ANY),
        "1 / (n - 1)": Rule(full=2),
        "full to 8, then 7 / (n - 1)": Rule(full=8),
    },
    "bulk limit": {
        "100 files, as it is": Rule(),
        "no limit": Rule(bulk=math.inf),
        "50 files": Rule(bulk=50),
        "30 files": Rule(bulk=30),
        "10 files": Rule(bulk=10),
        "no limit and no weight": Rule(full=ANY, bulk=math.inf),
    },
    "changes of the file": {
        "the last 100, as it is": Rule(),
        "the last 5": Rule(changes=5),
        "the last 10": Rule(changes=10),
        "the last 20": Rule(changes=20),
        "the last 50": Rule(changes=50),
        "all": Rule(changes=ANY),
    },
    "history of the project": {
        "all": Rule(),
        "the last 100 observations": Rule(known=100),
        "the last 300": Rule(known=300),
        "the last 1,000": Rule(known=1_000),
        "the last 3,000": Rule(known=3_000),
    },
}
"""By part of the table, the first as it is."""

SIGNALS: Mapping[str, Weights] = {
    "all": WEIGHTS,
    "without co-change": replace(WEIGHTS, link=0.0),
    "without concepts": replace(WEIGHTS, concept=0.0),
    "without what followed": replace(WEIGHTS, followed=0.0),
    "without concepts and order": replace(WEIGHTS, concept=0.0, followed=0.0),
    "without how busy a file is": replace(WEIGHTS, busy=0.0),
    "without what is at hand": replace(WEIGHTS, at_hand=0.0),
    "without names alike": replace(WEIGHTS, alike=0.0),
    "without the folder": replace(WEIGHTS, beside=0.0),
    "co-change alone": replace(
        WEIGHTS, concept=0.0, followed=0.0, busy=0.0, at_hand=0.0, alike=0.0, beside=0.0
    ),
}
FORMULA = "signals of the closed form"

Way = tuple[str, str]


class Past(NamedTuple):
    """The work before a question, and by place what it holds no longer: size and files of bulk work."""

    chronicle: Chronicle
    bulk: dict[int, tuple[int, tuple[int, ...]]]


def rows_of(histories: Mapping[str, Mapping[Way, Order]]) -> list[Row]:
    """Return the rows of the table from what `measured` gave, by history."""
    found: dict[Way, dict[str, Order]] = {}
    for name, ways in histories.items():
        for way, order in ways.items():
            found.setdefault(way, {})[name] = order
    return [Row(part, label, figures) for (part, label), figures in found.items()]


def measured(path: Path, asked: int) -> dict[Way, Order]:
    """Return the figures of a history by part and label; empty where no line can be asked about."""
    found: dict[Way, dict[int, list[Order]]] = {}
    for past, line, actor, question in replayed(path, asked):
        for way, answer in answers(past, question.file, line.at, actor):
            scores = rank_scores(answer, question.truth)
            order = Order(scores.average_precision, scores.hit_1, scores.hit_5, scores.recall_10)
            found.setdefault(way, {}).setdefault(line.number, []).append(order)
    return {
        way: mean_order([mean_order(each) for each in per_line.values()]) for way, per_line in found.items()
    }


def replayed(path: Path, asked: int) -> Iterator[tuple[Past, Line, int, Question]]:
    """Yield so many of the test period's questions, evenly drawn, with the work before and who asks."""
    observations = read_source("jsonl", str(path))
    lines = lines_of(observations)
    plan = _plan(lines, asked)
    past, lineage = Past(Chronicle(lambda name: ()), {}), Lineage()
    sessions: dict[str, int] = {}
    actors: dict[str, int] = {}
    concepts: dict[str, int] = {}
    at = -math.inf
    for line in lines:
        at = max(at, line.at)
        actor = actors.setdefault(line.actor, len(actors) + 1)
        for question in plan.get(line.number, ()):
            yield past, line, actor, question
        resolved = lineage.step(line.mentions)
        session = sessions.setdefault(line.session, len(sessions) + 1)
        step = step_of(line, resolved, lineage, at, session, actor, ())
        about = observation_concepts(observations[line.number]).items()
        numbered = tuple((concepts.setdefault(name, len(concepts)), weight) for name, weight in about)
        if step.size == NO_PAIR_SIZE:
            size = sum(entry.change is not Change.READ for entry in resolved)
            past.bulk[len(past.chronicle.occasions)] = size, step.edited
        past.chronicle.push(step._replace(concepts=numbered))


def _plan(lines: Sequence[Line], asked: int) -> dict[int, list[Question]]:
    every = [each for _, found in questions(lines, Lineage(), Rules()) for each in found if not each.single]
    plan: dict[int, list[Question]] = {}
    share = min(1.0, asked / max(1, len(every)))
    for place, question in enumerate(every):
        if int((place + 1) * share) > int(place * share):
            plan.setdefault(question.line, []).append(question)
    return plan


def answers(past: Past, file: int, now: float, actor: int) -> Iterator[tuple[Way, list[int]]]:
    """Yield for each line of the table which files are named, best first."""
    chronicle = past.chronicle
    for part, rules in RULES.items():
        for label, rule in rules.items():
            yield (part, label), _best(chronicle, scores(past, file, now, rule))
    described = _described(chronicle, file, now, actor)
    for label, weights in SIGNALS.items():
        chances = {each.file: probability(each, weights) for each in described}
        yield (FORMULA, label), _best(chronicle, chances)


def _best(chronicle: Chronicle, sums: Mapping[int, float]) -> list[int]:
    trails = chronicle.files
    living = [file for file in sums if trails[file].alive]
    return sorted(living, key=lambda file: (-sums[file], trails[file].path))[:DEPTH]


def scores(past: Past, file: int, now: float, rule: Rule = AS_IT_IS) -> dict[int, float]:
    """Return geom's sums for every file that changed along with a file (its order is that of geom).

    Args:
        past: the work before the question.
        file: the queried file.
        now: epoch seconds.
        rule: the numbers.
    """
    sums: dict[int, float] = {}
    occasions, trail = past.chronicle.occasions, past.chronicle.files.get(file)
    if trail is None:
        return sums
    first = 0 if rule.known is None else len(occasions) - rule.known
    for k, place in enumerate(reversed(trail.edits[-rule.changes :])):
        if place < first:
            break
        size, edited = past.bulk.get(place) or (occasions[place].size, occasions[place].edited)
        if not 1 < size <= rule.bulk:
            continue
        weight = rule.decay**k * min(1.0, (rule.full - 1) / (size - 1))
        weight *= 2.0 ** (-max(0.0, now - occasions[place].at) / DAY / rule.half_life)
        for other in edited:
            sums[other] = sums.get(other, 0.0) + weight
    sums.pop(file, None)
    return sums


def _described(chronicle: Chronicle, file: int, now: float, actor: int) -> list[Candidate]:
    """Return the candidates of the closed form, as `graphmem.recall.predictor` gathers them."""
    history, recent = chronicle.history(file), chronicle.recent_of(actor)
    heard = signals([history], recent)
    in_hand = sorted(heard.at_hand, key=heard.at_hand.__getitem__, reverse=True)[:_IN_HAND]
    promising = candidates([history], _CANDIDATES, recent, heard)
    trails = chronicle.files
    living = [each for each in dict.fromkeys((*promising, *in_hand)) if each != file and trails[each].alive]
    foremost = sorted(
        living,
        key=lambda each: (
            -heard.pairs.firm.get(each, 0.0),
            -heard.at_hand.get(each, 0.0),
            trails[each].path,
        ),
    )[:_PROFILED]
    profiles = chronicle.profiles(foremost)
    named = {concept for profile in (history.concepts, *profiles.values()) for concept in profile}
    total = chronicle.total()
    worth = {concept: idf(total, count) for concept, count in chronicle.frequencies(named).items()}

    def weigh(profile: Mapping[int, float]) -> dict[int, float]:
        return {concept: value * worth[concept] for concept, value in profile.items()}

    heat = chronicle.heat(living, now)
    return describe(
        [replace(history, concepts=weigh(history.concepts))],
        {each: weigh(profile) for each, profile in profiles.items()},
        {each: Standing(trails[each].path, heat[each]) for each in living},
        recent,
        frozenset(living),
        heard,
    )
