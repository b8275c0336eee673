"""Owns `graphmem evaluate`: the predictor behind `/impact`, replayed over a source beside the baselines.

It is not the protocol (`inference.replay`, `inference.session_replay`) and stores nothing: the postings live
in memory. Nothing is asked about work that had not been told before the question.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Literal

from graphmem.calibration import Calibration
from graphmem.capture.git import GitImporter
from graphmem.capture.intake import Intake
from graphmem.capture.jsonl import JsonlImporter
from graphmem.capture.source import Importer
from graphmem.errors import SourceError
from graphmem.evaluation_predictor import RecallPredictor
from graphmem.identity import PathResolver
from graphmem.model import Observation
from graphmem.projection import mentions_of
from graphmem.session_evaluation import SessionEvaluation, evaluate_sessions
from inference.baselines import baselines
from inference.replay import Line, Outcome, Predictor, Rules, replay

__all__ = [
    "BUDGET",
    "GRAPHMEM",
    "Evaluation",
    "RecallPredictor",
    "Stage",
    "evaluate",
    "evaluate_observations",
    "lines_of",
    "read_source",
]

GRAPHMEM = "GraphMem"
BUDGET = 2_000
"""So many questions are asked, each twice, so that a typical clone takes about a minute."""

SourceKind = Literal["git", "jsonl"]


class Stage(StrEnum):
    """What an evaluation is at."""

    READING = "Reading"
    ASKING = "Asking"
    SESSIONS = "Asking in sessions"


Progress = Callable[[Stage, int, int | None], None]


@dataclass(frozen=True, slots=True)
class Shape:
    """What kind of history it is, for the sentences beside its figures.

    `moments` is the number of distinct times, `alone` of changes of one file, `large` of those of too many.
    """

    observations: int
    actors: int
    moments: int
    alone: int
    large: int


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All figures of one source; `outcomes` by predictor, GraphMem first.

    `recommended` is the threshold of notes that the whole past gives, None where that is too short;
    `sessions` is None where no agent's session can be asked about.
    """

    outcomes: Mapping[str, Outcome]
    shape: Shape
    recommended: Calibration | None
    sessions: SessionEvaluation | None


def evaluate(
    kind: SourceKind, location: str, *, budget: int | None = BUDGET, progress: Progress | None = None
) -> Evaluation:
    """Replay a source and return how GraphMem and each baseline did.

    Args:
        kind: a git repository, or a file of observations or history lines.
        location: its path.
        budget: ask at most so many questions, evenly drawn; None for all.
        progress: told `(stage, done, total)`, while reading with an unknown total.

    Raises:
        SourceError: the source can't be read, or holds nothing.
    """
    observations = read_source(kind, location, _stage(progress, Stage.READING))
    return evaluate_observations(observations, Rules(budget=budget), progress)


def evaluate_observations(
    observations: Sequence[Observation], rules: Rules | None = None, progress: Progress | None = None
) -> Evaluation:
    """Replay observations in the order given; see `evaluate`."""
    rules = rules or Rules()
    lines = lines_of(observations)
    with closing(RecallPredictor(observations)) as recall:
        predictors: dict[str, Predictor] = {GRAPHMEM: recall, **baselines()}
        told = _stage(progress, Stage.ASKING)
        outcomes = replay(lines, predictors, rules, told, worded=(GRAPHMEM,))
        recommended = recall.recommended()
    sessions = evaluate_sessions(observations, lines, GRAPHMEM, _stage(progress, Stage.SESSIONS))
    return Evaluation(outcomes, _shape(observations, rules), recommended, sessions)


def _stage(progress: Progress | None, stage: Stage) -> Callable[[int, int | None], None] | None:
    return None if progress is None else partial(progress, stage)


def _shape(observations: Sequence[Observation], rules: Rules) -> Shape:
    sizes = [
        len({*each.files_modified, *each.files_deleted, *(rename.new for rename in each.renames)})
        for each in observations
    ]
    return Shape(
        len(observations),
        len({each.actor for each in observations}),
        len({each.at for each in observations}),
        sum(size == 1 for size in sizes),
        sum(size > rules.largest for size in sizes),
    )


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


def read_source(
    kind: SourceKind, location: str, progress: Callable[[int, int | None], None] | None = None
) -> list[Observation]:
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
