"""Owns what this project's own past says of its predictions: what a probability is worth, and when to name.

It is not the arithmetic (`inference.calibration`) nor the prediction that is held against the past, which is
the one that answers. Past questions are asked as they could have been: just before the work that answers
them, of what was known then, once without the task and once with the words the work was told with. What came
out is kept in the journal, each time with the moment up to which it looked, so that a question about the past
gets the calibration of that past.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmem.journal import Journal
from graphmem.postings import View
from graphmem.ranking_model import RankingModel
from graphmem.recall.predictor import Asker, needed, predict
from inference import calibration
from inference.calibration import Curve, Entry
from inference.lineage import Change
from inference.ranking import WARNING_THRESHOLD
from inference.replay import Rules

NAME = "calibrations"
QUESTIONS = 1_000
"""So many past questions are asked, the latest."""
LARGEST = 30
"""Work on more files than these asks nothing."""
SUGGESTIONS = 10
"""So many entries of an answer could be named at most."""
HALF = 250
"""So many questions later an answer counts half for what a probability is worth: projects change.

This, how many are asked and how often are of 29 histories that no figure is told of: there the expected
calibration error comes from a curve that is out of date more than from too few answers.
"""
_PER_OBSERVATION = 2
_GROWTH = 1.05
_KEPT = 60
_WORK = (
    "SELECT observation.seq, observation.id, observation.at, actor.name, COALESCE(task.words, '')"
    " FROM observation JOIN actor ON actor.id = actor LEFT JOIN task ON task.seq = observation.seq"
    " WHERE size BETWEEN 1 AND ? AND pairs = 1 AND at <= ?"
    " ORDER BY at DESC, observation.seq DESC LIMIT ?"
)

Views = Callable[[float], AbstractContextManager[View]]


@dataclass(frozen=True, slots=True)
class Reading:
    """What one look at the past gave for one kind of question.

    `threshold` is the probability from which an entry is likely, `entries` how many files were listed. `said`
    and `came_true` are the curve that makes a probability of the models' word; empty where the closed form
    answered, whose word stands as it is.
    """

    threshold: float
    entries: int
    said: tuple[float, ...] = ()
    came_true: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Calibration:
    """What one look at the past gave, by `questions` about work up to `at` (epoch seconds).

    `plain` is for questions without a task, `told` for those with; the project had `observations`. `maker` is
    whose word it is about: the digest of the models, "" for the closed form.
    """

    plain: Reading
    told: Reading
    at: float
    questions: int
    observations: int
    maker: str = ""

    def reading(self, with_task: bool) -> Reading:
        """Return what holds for a kind of question."""
        return self.told if with_task else self.plain


def calibration_at(journal: Journal | None, as_of: float) -> Calibration | None:
    """Return the last calibration made from what came before a moment (epoch seconds, infinite for now)."""
    known = [] if journal is None else [each for each in calibrations(journal) if each.at <= as_of]
    return known[-1] if known else None


class Outlook(NamedTuple):
    """How one question is answered: the threshold, and how a probability is made of the models' word."""

    threshold: float
    calibrate: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None


def outlook(found: Calibration | None, with_task: bool) -> Outlook:
    """Return how a question is answered; without a calibration of who answers, as in other projects."""
    if found is None or found.maker != _maker():
        return Outlook(WARNING_THRESHOLD, None)
    reading = found.reading(with_task)
    return Outlook(reading.threshold, Curve(reading.said, reading.came_true).at if reading.said else None)


def _maker() -> str:
    """Return who answers now: the digest of the models, "" for the closed form."""
    model = RankingModel.load()
    return "" if model is None else model.digest


def calibrations(journal: Journal) -> list[Calibration]:
    """Return all that are kept, the last one made last."""
    found = journal.checkpoint(NAME)
    return [] if found is None else list(_read(found[1]))


@lru_cache(maxsize=64)
def _read(text: str) -> tuple[Calibration, ...]:
    rows: list[dict[str, Any]] = json.loads(text)
    return tuple(
        Calibration(**(row | {side: _reading(row[side]) for side in ("plain", "told")})) for row in rows
    )


def _reading(row: dict[str, Any]) -> Reading:
    return Reading(**(row | {side: tuple(row[side]) for side in ("said", "came_true")}))


def is_due(journal: Journal) -> bool:
    """Return whether enough is new for another look."""
    known = calibrations(journal)
    if known and known[-1].maker != _maker():
        return is_grown(journal.count(), None)
    return is_grown(journal.count(), known[-1].observations if known else None)


def is_grown(count: int, before: int | None) -> bool:
    """Return whether so many observations are worth a look after one at `before`: a twentieth more.

    For the first look (None) there must be enough to ask about.
    """
    if before is None:
        return count * _PER_OBSERVATION >= calibration.QUESTIONS
    return count > before and count >= _GROWTH * before


def calibrate(journal: Journal, views: Views, pause: Callable[[], bool]) -> Calibration | None:
    """Look at the past and keep what comes out; None when `pause` said to stop.

    Args:
        journal: where it is kept.
        views: gives the postings cut at a moment.
        pause: called after every question, for others to have their turn; says whether to stop.
    """
    count = journal.count()
    found = look(views, math.inf, count, pause)
    if found is not None:
        kept = [*calibrations(journal), found][-_KEPT:]
        journal.set_checkpoint(NAME, found.at, json.dumps([asdict(each) for each in kept]))
    return found


def look(
    views: Views,
    until: float,
    observations: int,
    pause: Callable[[], bool] = lambda: False,
    known: Answers | None = None,
) -> Calibration | None:
    """Ask the past up to `until` (epoch seconds) and return what it says, None when `pause` said to stop.

    `known` is as for `past_questions`.
    """
    asked, last = 0, 0.0
    is_ranked = False
    listed: tuple[list[Listed], list[Listed]] = ([], [])
    for question in past_questions(views, until, known=known):
        fresh = float(0.5 ** (asked / HALF))
        asked += 1
        last = max(last, question.at)
        # Short pasts are answered by the closed form; what it said then tells nothing of the models.
        if question.is_ranked and not is_ranked and asked > 1:
            listed[0].clear()
            listed[1].clear()
        is_ranked = is_ranked or question.is_ranked
        if question.is_ranked is is_ranked:
            for side, entries in zip(listed, (question.plain, question.told), strict=True):
                side.extend(entry._replace(fresh=fresh) for entry in entries)
        if pause():
            return None
    plain, told = (reading(entries, asked, is_ranked, with_task) for with_task, entries in enumerate(listed))
    return Calibration(plain, told, last, asked, observations, _maker() if is_ranked else "")


def reading(entries: Sequence[Listed], asked: int, is_ranked: bool, with_task: int) -> Reading:
    """Return what the listed entries of so many past questions say."""
    model = RankingModel.load() if is_ranked else None
    chances = np.array([entry.chance for entry in entries], float)
    curve = None
    if model is not None:
        prior = model.curve(bool(with_task))
        curve = calibration.blended(
            (Entry(entry.chance, entry.right, entry.weight * entry.fresh) for entry in entries), prior
        )
        chances = curve.at(chances)
    named = [
        Entry(float(chance), entry.right, entry.weight)
        for chance, entry in zip(chances, entries, strict=True)
        if chance >= entry.needed
    ]
    value = calibration.threshold(named, asked)
    said, came_true = ((), ()) if curve is None else curve
    return Reading(WARNING_THRESHOLD if value is None else value, len(entries), said, came_true)


class Listed(NamedTuple):
    """An entry of a past answer: what was said, whether that was right, what it `needed` to be named.

    `weight` is how many edits its question stands for: each of a piece of work would have been one. `fresh`
    is what a look makes of its age, see `HALF`; the threshold needs many namings and passes over it.
    """

    chance: float
    right: bool
    needed: float
    weight: float
    fresh: float = 1.0


class PastQuestion(NamedTuple):
    """What was listed just before a piece of work at `at` (epoch seconds) on one of its files.

    `plain` without the task, `told` with its words; `is_ranked`: the models answered.
    """

    at: float
    plain: tuple[Listed, ...]
    told: tuple[Listed, ...]
    is_ranked: bool


Answers = dict[str, tuple[PastQuestion, ...]]
"""What was listed just before each piece of work, by its id."""


def past_questions(
    views: Views, until: float, at_most: int = QUESTIONS, known: Answers | None = None
) -> Iterator[PastQuestion]:
    """Yield questions about the latest work up to `until`, two for each piece at most, the latest first.

    Args:
        views: gives the postings cut at a moment.
        until: epoch seconds.
        at_most: so many questions.
        known: answers of earlier looks, taken instead of asking again; new ones are put there. Only where
            nothing is told that is older than what was asked about.
    """
    with views(until) as view:
        work = view.connection.execute(_WORK, (LARGEST, view.as_of, at_most)).fetchall()
    asked = 0
    for seq, id, at, actor, words in work:
        found: Iterable[PastQuestion] = (known or {}).get(id, ())
        if known is None or id not in known:
            found = _asked(views, seq, id, Asker(at, actor, tuple(words.split())))
        if known is not None:
            found = known[id] = tuple(found)
        for question in found:
            yield question
            asked += 1
            if asked == at_most:
                return


def _asked(views: Views, seq: int, id: str, asker: Asker) -> Iterator[PastQuestion]:
    """Yield the questions about a piece of work."""
    before = math.nextafter(asker.now, -math.inf)
    with views(before) as view:
        changed = [
            file
            for (file,) in view.connection.execute(
                "SELECT file FROM touch WHERE seq = ? AND change != ? AND repeated = 0 ORDER BY ord",
                (seq, Change.READ),
            )
        ]
        known = [file for file in view.files(changed).values() if file.alive]
        edits = min(len(known), Rules().queries)
        if len(known) > _PER_OBSERVATION:
            known = random.Random(id).sample(sorted(known, key=lambda file: file.path), _PER_OBSERVATION)
        for file in known:
            sides: list[tuple[Listed, ...]] = []
            is_ranked = False
            for words in ((), asker.words):
                found = predict(
                    view, [file], Asker(asker.now, asker.actor, words), SUGGESTIONS, calibrate=unchanged
                )
                is_ranked = found.is_ranked
                least = needed(view, found.ranked)
                sides.append(
                    tuple(
                        Listed(entry.ranked.probability, entry.file.id in changed, need, edits / len(known))
                        for entry, need in zip(found.ranked, least, strict=True)
                    )
                )
            plain, told = sides
            yield PastQuestion(asker.now, plain, told, is_ranked)


def unchanged(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what the models say as they say it."""
    return chances
