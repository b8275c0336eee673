"""Owns the ranking by a trained model: candidates, their columns, the model's word, probability, evidence.

It is not the model, which is handed in, nor the closed form (`inference.ranking`), which answers where there
is none. One model orders, its twin says how likely: the highest of the probabilities goes to the first of
the order, the next to the second, so that list and probabilities never contradict each other. Several known
files are combined by noisy-or, as in co-change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from inference.candidates import candidates
from inference.chronicle import Chronicle
from inference.cochange import joint
from inference.concepts import concept_scores, idf
from inference.evidence import FileHistory, Occasion, Ranked
from inference.features import columns
from inference.naming import named
from inference.sequence import NO_SEQUEL, temporal_score
from inference.signals import Signals, signals
from inference.table import Hearing, Question

ASKED = 8
"""Of many known files so many are asked about, those named last: on lines of at least 12 files of 29
histories MAP .452, .444 with five, .456 with ten (`python -m bench.known_files --choose`)."""
_PROFILED = 10
_OFTEN = 2
"""Work on a folder that a file was part of less often is no reason to name it."""


class Model(Protocol):
    """Trained trees: both take float32 (n, k) rows of `inference.features` and return (n,) scores."""

    def order(self, rows: NDArray[np.float32], with_task: bool) -> NDArray[np.float32]:
        """Return scores of which only the order counts, the higher the earlier."""

    def chance(self, rows: NDArray[np.float32], with_task: bool) -> NDArray[np.float32]:
        """Return probabilities in 0..1, not calibrated."""


@dataclass(frozen=True, slots=True)
class Known:
    """A file that is known to change: its number (None for one never seen) and its path."""

    file: int | None
    path: str


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked: the files known to change, in the order they came up, who asks when (epoch seconds).

    `words` are those of the task, `()` when none is told.
    """

    known: tuple[Known, ...]
    now: float
    actor: int | None = None
    words: tuple[str, ...] = ()


Calibrate = Callable[[NDArray[np.float64]], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The answer: `probabilities` by file, the highest first, equals in the model's order.

    `heard` is the evidence.
    """

    probabilities: Mapping[int, float]
    histories: tuple[FileHistory, ...]
    recent: tuple[Occasion, ...]
    heard: Signals


def ranking(chronicle: Chronicle, model: Model, query: Query, calibrate: Calibrate) -> Ranking:
    """Return how likely each candidate changes along with the known files.

    Args:
        chronicle: the project's work up to the question.
        model: the trees.
        query: what is asked.
        calibrate: makes of what `Model.chance` says the share that comes true; it must rise.
    """
    histories = tuple(chronicle.history(known.file) for known in query.known if known.file is not None)
    recent = () if query.actor is None else chronicle.recent_of(query.actor)
    heard = signals(histories, recent)
    around = Ranking({}, histories, recent, heard)
    chances = joined(_alone(chronicle, model, query, calibrate, around, ASKED))
    # A curve may be level: equals stay in the model's order.
    order = sorted(chances, key=lambda file: -chances[file])
    return Ranking({file: chances[file] for file in order}, histories, recent, heard)


def alone(
    chronicle: Chronicle, model: Model, query: Query, calibrate: Calibrate, at_most: int = ASKED
) -> list[dict[int, float]]:
    """Return for each known file what it says by itself: the probabilities of its candidates.

    Arguments as for `ranking`; of many known files the last `at_most` are asked. None is a candidate.
    """
    histories = tuple(chronicle.history(known.file) for known in query.known if known.file is not None)
    recent = () if query.actor is None else chronicle.recent_of(query.actor)
    heard = signals(histories, recent)
    around = Ranking({}, histories, recent, heard)
    return _alone(chronicle, model, query, calibrate, around, at_most)


def joined(found: Iterable[Mapping[int, float]]) -> dict[int, float]:
    """Return the probabilities of candidates by what several known files say by themselves: noisy-or."""
    silent: dict[int, float] = {}
    for chances in found:
        for file, chance in chances.items():
            silent[file] = silent.get(file, 1.0) * (1.0 - chance)
    return {file: 1.0 - value for file, value in silent.items()}


def _alone(
    chronicle: Chronicle, model: Model, query: Query, calibrate: Calibrate, around: Ranking, at_most: int
) -> list[dict[int, float]]:
    beside = frozenset(known.file for known in query.known if known.file is not None)
    by_file = {history.file: history for history in around.histories}
    recent = around.recent
    found: list[dict[int, float]] = []
    for known in query.known[-at_most:]:
        single = () if known.file is None else (by_file[known.file],)
        history = single[0] if single else FileHistory(-1)
        heard = around.heard if single == around.histories else signals(single, recent)
        question = Question(known.file, known.path, query.now, query.actor, query.words, beside)
        hearing = Hearing(history, heard, recent)
        found.append(dict(_asked(chronicle, model, question, hearing, calibrate)))
    return found


def _asked(
    chronicle: Chronicle, model: Model, question: Question, hearing: Hearing, calibrate: Calibrate
) -> list[tuple[int, float]]:
    """Return the candidates of one known file with their probabilities."""
    files = candidates(chronicle, question, hearing)
    if not files:
        return []
    rows = columns(chronicle, question, hearing, files)
    with_task = bool(question.words)
    scores = model.order(rows, with_task).tolist()
    chances = calibrate(model.chance(rows, with_task).astype(float))
    paths = [chronicle.files[file].path for file in files]
    order = sorted(range(len(files)), key=lambda row: (-scores[row], paths[row]))
    highest = np.sort(chances)[::-1]
    return [(files[row], float(chance)) for row, chance in zip(order, highest, strict=True)]


def evidence(chronicle: Chronicle, query: Query, found: Ranking, files: Sequence[int]) -> list[Ranked]:
    """Return these files of a ranking with what speaks for each."""
    about = _about(chronicle, found, files[:_PROFILED])
    telling = chronicle.words.rarest(query.words, len(query.words))
    told = dict(zip(files, chronicle.words.relevance(telling, files), strict=True)) if telling else {}
    names = [named(known.path) for known in query.known]
    stems, folders = {name.stem for name in names}, {name.folder for name in names}
    along = [chronicle.along.get(folder, {}) for folder in folders]
    ranked: list[Ranked] = []
    for file in files:
        seen = joint(found.heard.pairs, file)
        sequel = found.heard.sequels.get(file, NO_SEQUEL)
        name = chronicle.files[file].name
        hints = (
            ("co_changes", seen is not None),
            ("read_for", sequel.read > 0.0),
            ("followed_by", sequel.followed > 0.0),
            ("about", about.get(file, 0.0) > 0.0),
            ("task", told.get(file, 0.0) > 0.0),
            ("in_hand", file in found.heard.at_hand),
            ("named_alike", name.stem in stems),
            ("same_folder", name.folder in folders),
            ("near_folder", any(counts.get(file, 0) >= _OFTEN for counts in along)),
        )
        ranked.append(
            Ranked(
                file=file,
                probability=found.probabilities[file],
                file_score=found.heard.pairs.scores.get(file, 0.0),
                concept_score=about.get(file, 0.0),
                temporal_score=temporal_score(sequel.read, sequel.followed),
                together=0 if seen is None else seen.together,
                of=found.heard.pairs.of,
                sessions=0 if seen is None else seen.sessions,
                last_seen=None if seen is None else seen.last_seen,
                keys=() if seen is None else seen.keys,
                signals=tuple(hint for hint, speaks in hints if speaks),
            )
        )
    return ranked


def _about(chronicle: Chronicle, found: Ranking, files: Sequence[int]) -> dict[int, float]:
    """Return how near these files are to the known ones by the concepts of their work."""
    profiles = chronicle.profiles(files)
    queried = [history.concepts for history in found.histories]
    concepts = {concept for profile in (*profiles.values(), *queried) for concept in profile}
    total = chronicle.total()
    worth = {concept: idf(total, count) for concept, count in chronicle.frequencies(concepts).items()}

    def weigh(profile: Mapping[int, float]) -> dict[int, float]:
        return {concept: value * worth[concept] for concept, value in profile.items() if concept in worth}

    return concept_scores(map(weigh, queried), {file: weigh(profile) for file, profile in profiles.items()})
