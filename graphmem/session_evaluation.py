"""Owns how the predictor does in agents' own sessions, as far as observations tell of such.

It is not the protocol (`inference.session_replay`). A session of an agent is what shares a session's name and
holds a read; every other observation is told as a commit. Within one observation the reads count as earlier
than the edits, as agents read what they edit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from graphmem.evaluation_predictor import Done, RecallPredictor
from graphmem.model import Observation
from inference.metrics import Interval, bootstrap
from inference.replay import Context, Line
from inference.session_baselines import STRONGEST, session_baselines
from inference.session_replay import (
    SMALLEST,
    Act,
    Commit,
    Moment,
    Session,
    SessionMeans,
    SessionScores,
    first_edits,
    gains,
    replay_sessions,
    session_means,
)

AT_MOST = 250
"""So many sessions are asked about, evenly drawn: each stands for some eight questions."""


class SessionRecall:
    """The predictor that answers `/impact`, asked with all that the session has done so far.

    Args:
        lines: the observations as lines.
        observations: the same as they are.
        told: for the name of each session and commit the numbers of its lines.
    """

    def __init__(
        self,
        lines: Sequence[Line],
        observations: Sequence[Observation],
        told: Mapping[str, Sequence[int]],
    ) -> None:
        self._lines = lines
        self._told = told
        self._recall = RecallPredictor(observations)

    def observe(self, told: Session | Commit) -> None:
        """Learn the observations behind a session or a commit."""
        for number in self._told[told.name]:
            self._recall.observe(self._lines[number])

    def predict(self, path: str, moment: Moment) -> list[tuple[str, float]]:
        """Return what the impact answer would list for the file."""
        context = Context(moment.at, moment.session, moment.actor, moment.task)
        return self._recall.predict_all([path], context, Done(moment.read, moment.edited, moment.branch))

    def close(self) -> None:
        """Free the postings."""
        self._recall.close()


@dataclass(frozen=True, slots=True)
class SessionFigures:
    """How one predictor did, and its recall@10 less that of the strongest baseline (None for that one)."""

    means: SessionMeans
    gain: Interval | None


@dataclass(frozen=True, slots=True)
class SessionEvaluation:
    """The figures by predictor, GraphMem first; `asked` sessions of `of` that could be asked about."""

    figures: Mapping[str, SessionFigures]
    asked: int
    of: int


@dataclass(frozen=True, slots=True)
class Told:
    """What a source holds: its sessions, everything else, and which lines stand behind each name."""

    sessions: tuple[Session, ...]
    commits: tuple[Commit, ...]
    lines: Mapping[str, tuple[int, ...]]


def told_by(observations: Sequence[Observation]) -> Told:
    """Return the agents' sessions among observations, and the rest as commits."""
    with_reads = {each.session for each in observations if each.files_read}
    grouped: dict[str, list[int]] = defaultdict(list)
    commits: list[Commit] = []
    lines: dict[str, tuple[int, ...]] = {}
    for number, each in enumerate(observations):
        if each.session in with_reads:
            grouped[each.session].append(number)
        else:
            name = f"commit {each.id}"
            commits.append(Commit(name, each.at, (*each.files_modified, *(r.new for r in each.renames))))
            lines[name] = (number,)
    sessions = []
    for session, numbers in grouped.items():
        parts = sorted((observations[number] for number in numbers), key=lambda part: part.at)
        acts = tuple(act for part in parts for act in _acts(part))
        name = f"session {session}"
        lines[name] = tuple(numbers)
        task = next((part.intent for part in parts if part.intent), None)
        sessions.append(Session(name, acts, parts[0].actor, task))
    return Told(tuple(sessions), tuple(commits), lines)


def _acts(part: Observation) -> list[Act]:
    branch, turn = part.branch or "", part.turn
    reads = [Act(part.at, path, False, branch, turn) for path in part.files_read]
    return reads + [Act(part.at, path, True, branch, turn) for path in part.files_modified]


def evaluate_sessions(
    observations: Sequence[Observation],
    lines: Sequence[Line],
    name: str,
    progress: Callable[[int, int], None] | None = None,
) -> SessionEvaluation | None:
    """Return how the predictor, called `name`, does in the sessions of a source; None without any.

    Args:
        observations: all of the source.
        lines: the same as lines of the public protocol.
        name: what the predictor is called in the figures.
        progress: told `(done, total)` in sessions.
    """
    told = told_by(observations)
    of = sum(len(first_edits(session)) >= SMALLEST for session in told.sessions)
    if of == 0:
        return None
    with closing(SessionRecall(lines, observations, told.lines)) as recall:
        predictors = {name: recall, **session_baselines()}
        rows = replay_sessions(told.sessions, told.commits, predictors, progress, at_most=AT_MOST)
    return SessionEvaluation(session_figures(rows), min(of, AT_MOST), of)


def session_figures(rows: Mapping[str, Sequence[SessionScores]]) -> dict[str, SessionFigures]:
    """Return means, and the intervals of the differences, from the rows of all predictors."""
    strongest = rows[STRONGEST]
    found: dict[str, SessionFigures] = {}
    for name, scores in rows.items():
        means = session_means(scores)
        if means is not None:
            gain = None if name == STRONGEST else bootstrap(gains(scores, strongest))
            found[name] = SessionFigures(means, gain)
    return found
