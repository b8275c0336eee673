"""Owns the probability from which an entry is likely, as this project's own past has it.

It is not the arithmetic (`inference.calibration`) nor the prediction that is held against the past, which is
the one that answers. Past questions are asked as they could have been: just before the work that answers
them, of what was known then. What came out is kept in the journal, each time with the moment up to which it
looked, so that a question about the past gets the threshold of that past.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from typing import NamedTuple

from graphmem.journal import Journal
from graphmem.postings import View
from graphmem.recall.predictor import Asker, nameable, predict
from inference import calibration
from inference.lineage import Change
from inference.ranking import WARNING_THRESHOLD

NAME = "thresholds"
QUESTIONS = 800
"""So many past questions are asked, the latest."""
LARGEST = 30
"""Work on more files than these asks nothing."""
SUGGESTIONS = 10
"""So many entries of an answer could be named at most."""
_PER_OBSERVATION = 2
_LEAST = 0.4
_GROWTH = 1.2
_KEPT = 100
_WORK = (
    "SELECT observation.seq, observation.id, observation.at, actor.name FROM observation"
    " JOIN actor ON actor.id = actor WHERE size BETWEEN 1 AND ? AND pairs = 1 AND at <= ?"
    " ORDER BY at DESC, seq DESC LIMIT ?"
)

Views = Callable[[float], AbstractContextManager[View]]


@dataclass(frozen=True, slots=True)
class Threshold:
    """What one look at the past gave: `value` from `questions` asked about work up to `at` (epoch seconds).

    `entries` is how many files could have been named, `observations` how many the project had.
    """

    value: float
    at: float
    questions: int
    entries: int
    observations: int


def threshold_at(journal: Journal | None, as_of: float) -> float:
    """Return the threshold of a moment (epoch seconds, infinite for the present).

    It is the last one made from what came before; .7 of the closed form where there is none.
    """
    known = [] if journal is None else [each for each in thresholds(journal) if each.at <= as_of]
    return known[-1].value if known else WARNING_THRESHOLD


def thresholds(journal: Journal) -> list[Threshold]:
    """Return all that are kept, the last one made last."""
    found = journal.checkpoint(NAME)
    return [] if found is None else [Threshold(**row) for row in json.loads(found[1])]


def is_due(journal: Journal) -> bool:
    """Return whether enough is new for another look."""
    known = thresholds(journal)
    return is_grown(journal.count(), known[-1].observations if known else None)


def is_grown(count: int, before: int | None) -> bool:
    """Return whether so many observations are worth a look after one at `before`: a fifth more.

    For the first look (None) there must be enough to ask about.
    """
    if before is None:
        return count * _PER_OBSERVATION >= calibration.QUESTIONS
    return count > before and count >= _GROWTH * before


def calibrate(journal: Journal, views: Views, pause: Callable[[], bool]) -> Threshold | None:
    """Look at the past and keep what comes out; None when `pause` said to stop.

    Args:
        journal: where it is kept.
        views: gives the postings cut at a moment.
        pause: called after every question, for others to have their turn; says whether to stop.
    """
    count = journal.count()
    found = look(views, math.inf, count, pause)
    if found is not None:
        kept = [*thresholds(journal), found][-_KEPT:]
        journal.set_checkpoint(NAME, found.at, json.dumps([asdict(each) for each in kept]))
    return found


def look(
    views: Views, until: float, observations: int, pause: Callable[[], bool] = lambda: False
) -> Threshold | None:
    """Ask the past up to `until` (epoch seconds) and return the threshold, None when `pause` said to stop."""
    entries: list[tuple[float, bool]] = []
    asked, last = 0, 0.0
    for question in past_questions(views, until):
        asked += 1
        last = max(last, question.at)
        entries += [(named.probability, named.right) for named in question.named]
        if pause():
            return None
    value = calibration.threshold(entries, asked)
    return Threshold(WARNING_THRESHOLD if value is None else value, last, asked, len(entries), observations)


class Named(NamedTuple):
    """A file that could have been named, and whether that was right; `sessions` had seen the link."""

    probability: float
    right: bool
    sessions: int


class PastQuestion(NamedTuple):
    """What could have been named just before a piece of work at `at` (epoch seconds) on one of its files."""

    at: float
    named: tuple[Named, ...]


def past_questions(views: Views, until: float, at_most: int = QUESTIONS) -> Iterator[PastQuestion]:
    """Yield questions about the latest work up to `until`, two for each piece at most, the latest first."""
    with views(until) as view:
        work = view.connection.execute(_WORK, (LARGEST, view.as_of, at_most)).fetchall()
    asked = 0
    for seq, id, at, actor in work:
        for named in _asked(views, seq, id, at, actor):
            yield PastQuestion(at, named)
            asked += 1
            if asked == at_most:
                return


def _asked(views: Views, seq: int, id: str, at: float, actor: str) -> Iterator[tuple[Named, ...]]:
    """Yield for each question about a piece of work what could have been named, and whether it was right."""
    before = math.nextafter(at, -math.inf)
    with views(before) as view:
        changed = [
            file
            for (file,) in view.connection.execute(
                "SELECT file FROM touch WHERE seq = ? AND change != ? AND repeated = 0 ORDER BY ord",
                (seq, Change.READ),
            )
        ]
        known = [file for file in view.files(changed).values() if file.alive]
    if len(known) > _PER_OBSERVATION:
        known = random.Random(id).sample(sorted(known, key=lambda file: file.path), _PER_OBSERVATION)
    for file in known:
        with views(before) as view:
            ranked = predict(view, [file], Asker(at, actor), SUGGESTIONS).ranked
            named = nameable(view, ranked, _LEAST)
        yield tuple(
            Named(entry.ranked.probability, entry.file.id in changed, entry.ranked.sessions)
            for entry in named
        )
