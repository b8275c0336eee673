"""Owns `graphmem evaluate`: the predictor behind `/impact`, replayed over a history beside the baselines.

It is not the protocol (that is `inference.replay`) and stores nothing: the postings live in memory. Nothing
is asked about work that had not been told before the question.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from typing import Literal

from graphmem.calibration import SUGGESTIONS, Threshold, is_grown, look
from graphmem.capture.git import GitImporter
from graphmem.capture.intake import Intake
from graphmem.capture.jsonl import JsonlImporter
from graphmem.capture.source import Importer
from graphmem.derived import open_derived
from graphmem.errors import SourceError
from graphmem.identity import PathResolver
from graphmem.journal import Entry
from graphmem.model import Observation
from graphmem.postings import Postings
from graphmem.projection import mentions_of, project
from graphmem.recall.predictor import Asker, Prediction, gather, nameable, predict
from inference.baselines import GlobalFrequency, Jaccard, Rose, SameFolder
from inference.combination import Candidate
from inference.metrics import DEPTH
from inference.ranking import WARNING_THRESHOLD, describe
from inference.replay import Context, Line, Outcome, Predictor, Rules, replay
from inference.signals import Signals

GRAPHMEM = "GraphMem"
_BATCH = 500

SourceKind = Literal["git", "jsonl"]
Progress = Callable[[int, int | None], None]


class RecallPredictor:
    """The predictor that answers `/impact`, on postings in memory that learn line by line.

    Args:
        observations: the history; a line's `number` is an index into it.
        threshold: of its warnings; None for the one that its own past gives, as in the product.
    """

    def __init__(self, observations: Sequence[Observation], threshold: float | None = None) -> None:
        self._observations = observations
        self._fixed = threshold
        self._known: Threshold | None = None
        self._told = 0
        self._last: tuple[Prediction, ...] = ()
        self._database = open_derived(None)
        self._postings = Postings(self._database)
        self._untold: list[Entry] = []

    def observe(self, line: Line) -> None:
        """Learn a line; it is projected at the next question, or when a batch is full."""
        self._untold.append(Entry(line.number + 1, self._observations[line.number], line.number + 1))
        if len(self._untold) >= _BATCH:
            self._tell()

    def predict(self, path: str, context: Context) -> list[tuple[str, float]]:
        """Return what the impact answer would list."""
        self._tell()
        with self._postings.view() as view:
            file = view.file(path)
            asker = Asker(context.at, context.actor)
            self._last = () if file is None else predict(view, [file], asker, DEPTH).ranked
        return [(entry.file.path, entry.ranked.probability) for entry in self._last]

    def warned(self, path: str, context: Context) -> tuple[float, list[str]]:
        """Return the threshold and whom a warning would name of the answer just given."""
        del path
        threshold = self._threshold(context.at)
        with self._postings.view() as view:
            named = nameable(view, self._last[:SUGGESTIONS], threshold)
        return threshold, [entry.file.path for entry in named]

    def _threshold(self, now: float) -> float:
        """Return the threshold of a moment, looked at anew when the product would do so."""
        if self._fixed is not None:
            return self._fixed
        if is_grown(self._told, None if self._known is None else self._known.observations):
            before = math.nextafter(now, -math.inf)
            self._known = look(self._postings.view, before, self._told)
        return WARNING_THRESHOLD if self._known is None else self._known.value

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


def evaluate(
    kind: SourceKind, location: str, *, intent: bool = False, progress: Progress | None = None
) -> dict[str, Outcome]:
    """Replay a source and return how GraphMem and each baseline did, by name, GraphMem first.

    Args:
        kind: a git repository, or a file of observations or history lines.
        location: its path.
        intent: tell the predictors the task's words, which are the titles here.
        progress: told `(done, total)` in lines, while reading with an unknown total.

    Raises:
        SourceError: the source can't be read, or holds nothing.
    """
    observations = read_source(kind, location, progress)
    return evaluate_observations(observations, Rules(intent=intent), progress)


def evaluate_observations(
    observations: Sequence[Observation], rules: Rules | None = None, progress: Progress | None = None
) -> dict[str, Outcome]:
    """Replay observations in the order given; see `evaluate`."""
    with closing(RecallPredictor(observations)) as recall:
        predictors: dict[str, Predictor] = {
            GRAPHMEM: recall,
            "ROSE": Rose(),
            "Jaccard": Jaccard(),
            "same folder": SameFolder(),
            "frequency": GlobalFrequency(),
        }
        return replay(lines_of(observations), predictors, rules, progress)


def lines_of(observations: Iterable[Observation]) -> list[Line]:
    """Return the observations as lines of the protocol."""
    return [
        Line(
            number,
            observation.at,
            observation.session,
            observation.actor,
            observation.title,
            tuple(mentions_of(observation)),
        )
        for number, observation in enumerate(observations)
    ]


def read_source(kind: SourceKind, location: str, progress: Progress | None = None) -> list[Observation]:
    """Return all good observations of a source, each id once, in its order.

    Raises:
        SourceError: the source can't be read, or holds nothing.
    """
    match kind:
        case "git":
            importer: Importer = GitImporter(location)
        case "jsonl":
            importer = JsonlImporter(location)
    found: dict[str, Observation] = {}
    known: set[str] = set()
    folder = os.path.dirname(os.path.abspath(location))
    resolver = PathResolver([folder], known.__contains__, None, lambda root: None)
    intake = Intake(resolver.resolve, time.time())
    with closing(importer.batches()) as batches:
        for batch in batches:
            taken, _ = intake.accept_all(batch.items)
            for observation in taken:
                found.setdefault(observation.id, observation)
                known.update(mention.path for mention in mentions_of(observation))
            if progress is not None:
                progress(batch.done, batch.total)
    if not found:
        raise SourceError(f"{location} holds no observation that can be replayed; name another source.")
    return list(found.values())
