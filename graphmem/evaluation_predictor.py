"""Owns the predictor behind `/impact` as a replay asks it: on postings in memory that learn line by line.

It is not the replay (`inference.replay`) nor the scoring; it asks what the answer asks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from graphmem.calibration import SUGGESTIONS, Answers, Calibration, Outlook, is_grown, look, outlook
from graphmem.chronicler import Chronicler
from graphmem.derived import open_derived
from graphmem.journal import Entry
from graphmem.model import Observation
from graphmem.postings import Postings
from graphmem.projection import project
from graphmem.recall.predictor import Asker, Prediction, gather, nameable, predict
from graphmem.recall.session_work import NOTHING_DONE, work_told
from graphmem.task_words import task_words
from inference.calibration import QUESTIONS
from inference.combination import Candidate
from inference.metrics import DEPTH
from inference.ranking import describe
from inference.replay import Context, Line
from inference.signals import Signals

_BATCH = 500


class Done(NamedTuple):
    """What a session did so far: paths in the order of their first times, and its branch."""

    read: tuple[str, ...]
    edited: tuple[str, ...]
    branch: str | None


class RecallPredictor:
    """The predictor that answers `/impact`, on postings in memory that learn line by line.

    Args:
        observations: the history; a line's `number` is an index into it.
        threshold: of its warnings; None for the one that its own past gives, as in the product.
    """

    def __init__(self, observations: Sequence[Observation], threshold: float | None = None) -> None:
        self._observations = observations
        self._fixed = threshold
        self._known: Calibration | None = None
        self._answers: Answers = {}
        self._told = 0
        self._last: tuple[Prediction, ...] = ()
        self._database = open_derived(None)
        self._postings = Postings(self._database, Chronicler().at)
        self._untold: list[Entry] = []

    def observe(self, line: Line) -> None:
        """Learn a line; it is projected at the next question, or when a batch is full."""
        self._untold.append(Entry(line.number + 1, self._observations[line.number], line.number + 1))
        if len(self._untold) >= _BATCH:
            self._tell()

    def predict(self, path: str, context: Context) -> list[tuple[str, float]]:
        """Return what the impact answer would list."""
        return self.predict_all([path], context)

    def predict_all(
        self, paths: Sequence[str], context: Context, done: Done | None = None
    ) -> list[tuple[str, float]]:
        """Return what the impact answer about several files would list; unknown ones are passed over.

        `done` is what the asking agent's session did so far.
        """
        self._tell()
        with self._postings.view() as view:
            files = [file for file in map(view.file, paths) if file is not None]
            words = task_words(context.title or "")
            work = NOTHING_DONE if done is None else work_told(view, *done)
            asker = Asker(context.at, context.actor, words, work)
            calibrate = self._outlook(context.at, bool(words)).calibrate
            self._last = predict(view, files, asker, DEPTH, calibrate=calibrate).ranked if files else ()
        return [(entry.file.path, entry.ranked.probability) for entry in self._last]

    def warned(self, path: str, context: Context) -> tuple[float, list[str]]:
        """Return the threshold and whom a warning would name of the answer just given."""
        del path
        threshold = self._outlook(context.at, bool(task_words(context.title or ""))).threshold
        with self._postings.view() as view:
            named = nameable(view, self._last[:SUGGESTIONS], threshold)
        return threshold, [entry.file.path for entry in named]

    def _outlook(self, now: float, with_task: bool) -> Outlook:
        """Return how a question is answered; the past is looked at anew when the product would do so."""
        if is_grown(self._told, None if self._known is None else self._known.observations):
            before = math.nextafter(now, -math.inf)
            self._known = look(self._postings.view, before, self._told, known=self._answers)
        found = outlook(self._known, with_task)
        return found if self._fixed is None else found._replace(threshold=self._fixed)

    def recommended(self) -> Calibration | None:
        """Return what all of the past gives now, None where it is too short to tell."""
        self._tell()
        if not is_grown(self._told, None):
            return None
        found = look(self._postings.view, math.inf, self._told, known=self._answers)
        return found if found is not None and found.questions >= QUESTIONS else None

    def describe(self, path: str, context: Context) -> list[tuple[str, Candidate]]:
        """Return every candidate that exists, by path, with all that the formula looks at."""
        self._tell()
        with self._postings.view() as view:
            file = view.file(path)
            if file is None:
                return []
            found = gather(view, [file], Asker(context.at, context.actor))
        living = found.living
        candidates = describe(
            found.histories, found.profiles, found.standings, found.recent, living.keys(), found.heard
        )
        return [(living[candidate.file].path, candidate) for candidate in candidates]

    def hear(self, paths: Sequence[str], context: Context) -> tuple[Signals, dict[int, str]]:
        """Return what these files' histories say together, and the names of all living files heard of."""
        self._tell()
        with self._postings.view() as view:
            files = [file for file in map(view.file, paths) if file is not None]
            heard = gather(view, files, Asker(context.at, context.actor)).heard
            return heard, {id: file.path for id, file in view.files(heard.files()).items() if file.alive}

    def close(self) -> None:
        """Free the postings."""
        self._database.close()

    def _tell(self) -> None:
        if self._untold:
            project(self._database, self._untold)
            self._told += len(self._untold)
            self._untold.clear()
