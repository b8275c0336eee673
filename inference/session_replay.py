"""Owns the replay of agents' own sessions: the first edited file is known, what is edited later?

It is not the replay of changes (`inference.replay`) and no predictor. Sessions are asked about in the order
of their first act. Before one is asked about, whoever answers has been told of every session that had ended
by then and of every commit that was known before; of the session itself only what it did so far. Paths are
taken as they are: a session is too short for renames to matter.

Three questions, each with figures of its own, means over the sessions that have 2 or more edited files:
what is edited later, at the first edit; the same without the files that had been read by then, in the right
answers and in the given ones; and at the first read of each file, what is edited from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import NamedTuple, Protocol

from inference.metrics import RankingScores, mean_scores, rank_scores

SMALLEST = 2
"""A session with fewer edited files is told, but not asked about."""


class Act(NamedTuple):
    """One thing that a session did to a file, at epoch seconds; `changed` is False for a read."""

    at: float
    path: str
    changed: bool
    branch: str = ""
    turn: str = ""


class Session(NamedTuple):
    """What an agent did in one run, in the order of time; `acts` is never empty."""

    name: str
    acts: tuple[Act, ...]
    actor: str = ""
    task: str | None = None

    @property
    def began(self) -> float:
        """The moment of the first act."""
        return self.acts[0].at

    @property
    def ended(self) -> float:
        """The moment of the last act; from then on the session may be told."""
        return self.acts[-1].at


class Commit(NamedTuple):
    """A commit by its name, the moment from which it could be known, and the files it changed."""

    name: str
    at: float
    paths: tuple[str, ...]


class Moment(NamedTuple):
    """What may be known when a question is asked: who works where, and what the session did so far.

    `read` and `edited` name each file once, in the order of first times, without the act that is asked about.
    `changing` is True when the queried file is about to be edited, False when it is read. `task` is what the
    session was told to do, where the source has it and it is to be used.
    """

    at: float
    session: str
    actor: str
    branch: str
    turn: str
    changing: bool
    read: tuple[str, ...]
    edited: tuple[str, ...]
    task: str | None = None


class SessionPredictor(Protocol):
    """Whoever answers; is told of sessions once they have ended, and of commits once they are known."""

    def observe(self, told: Session | Commit) -> None:
        """Learn a session that has ended, or a commit."""

    def predict(self, path: str, moment: Moment) -> Sequence[tuple[str, float]]:
        """Return (path, score) of what this session will edit, best first."""


class SessionScores(NamedTuple):
    """How one session turned out.

    `known` is the share of its right answers that had ever been seen: nobody can name the others. `unread`
    is None when all of them had been read; `at_reads` is the mean recall@10 over `reads` questions at first
    reads, None without any.
    """

    session: str
    known: float
    later: RankingScores
    unread: RankingScores | None
    at_reads: float | None
    reads: int


class SessionMeans(NamedTuple):
    """Means over sessions; `unread` over `unread_sessions`, `at_reads` over `read_sessions` of them."""

    sessions: int
    known: float
    later: RankingScores
    unread: RankingScores | None
    unread_sessions: int
    at_reads: float | None
    read_sessions: int
    reads: int


@dataclass(slots=True)
class _Progress:
    """What the session that is asked about did so far."""

    read: list[str] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)
    at_reads: list[float] = field(default_factory=list)
    first: tuple[RankingScores, RankingScores | None] | None = None


def replay_sessions(
    sessions: Sequence[Session],
    commits: Sequence[Commit],
    predictors: Mapping[str, SessionPredictor],
    progress: Callable[[int, int], None] | None = None,
    *,
    at_most: int | None = None,
    with_task: bool = False,
) -> dict[str, list[SessionScores]]:
    """Run the predictors side by side and return each one's scores, a row a session, the same for all.

    Args:
        sessions: in any order.
        commits: in any order.
        predictors: those to be asked, by name.
        progress: told `(done, total)` in sessions.
        at_most: ask about so many sessions, evenly drawn from all that can be asked about; None for all.
        with_task: tell what the session was to do, where that is known.
    """
    rows: dict[str, list[SessionScores]] = {name: [] for name in predictors}
    ordered = sorted(sessions, key=lambda session: session.began)
    asked = _drawn([session for session in ordered if len(first_edits(session)) >= SMALLEST], at_most)
    known: set[str] = set()
    telling = _telling(sessions, commits)
    waiting = next(telling, None)
    for number, session in enumerate(ordered):
        while waiting is not None and _is_known(waiting, session.began):
            known.update(_paths(waiting))
            for predictor in predictors.values():
                predictor.observe(waiting)
            waiting = next(telling, None)
        if session.name in asked:
            for name, predictor in predictors.items():
                rows[name].append(_asked(session, predictor, known, with_task=with_task))
        if progress is not None:
            progress(number + 1, len(ordered))
    return rows


def _drawn(sessions: Sequence[Session], at_most: int | None) -> frozenset[str]:
    count = len(sessions)
    if at_most is None or count <= at_most:
        return frozenset(session.name for session in sessions)
    places = ((place + 1) * at_most // count > place * at_most // count for place in range(count))
    return frozenset(session.name for session, kept in zip(sessions, places, strict=True) if kept)


def _telling(sessions: Sequence[Session], commits: Sequence[Commit]) -> Iterator[Session | Commit]:
    """Yield all that can be told in the order of the moments it is known from; of equals sessions first."""
    order: list[tuple[float, bool, int, Session | Commit]] = []
    order += ((commit.at, True, number, commit) for number, commit in enumerate(commits))
    began = sorted(sessions, key=lambda session: session.began)
    order += ((session.ended, False, number, session) for number, session in enumerate(began))
    for *_, told in sorted(order, key=lambda entry: entry[:3]):
        yield told


def _is_known(told: Session | Commit, now: float) -> bool:
    """Return whether it came before; of the same instant a session that ended did, a commit may not have."""
    match told:
        case Session():
            return told.ended <= now
        case Commit():
            return told.at < now


def _paths(told: Session | Commit) -> Iterator[str]:
    match told:
        case Session():
            yield from (act.path for act in told.acts)
        case Commit():
            yield from told.paths


def first_edits(session: Session) -> dict[str, int]:
    """Return for each file that the session edits the number of the act that does it first."""
    found: dict[str, int] = {}
    for number, act in enumerate(session.acts):
        if act.changed:
            found.setdefault(act.path, number)
    return found


def _asked(
    session: Session, predictor: SessionPredictor, known: set[str], *, with_task: bool
) -> SessionScores:
    """Ask about a session of at least two edited files, act by act."""
    firsts = first_edits(session)
    truth = firsts.keys() - {next(iter(firsts))}
    done = _Progress()
    for number, act in enumerate(session.acts):
        if act.path in (done.edited if act.changed else done.read):
            continue
        moment = _moment(session, act, done, with_task=with_task)
        if act.changed:
            if done.first is None:
                done.first = _first(predictor, act.path, moment, truth)
            done.edited.append(act.path)
        else:
            later = {path for path, first in firsts.items() if first > number and path != act.path}
            if later:
                named = _named(predictor, act.path, moment, done.edited)
                done.at_reads.append(rank_scores(named, later).recall_10)
            done.read.append(act.path)
    if done.first is None:
        raise ValueError(f"Session {session.name} edits nothing: ask about sessions with edited files only.")
    return SessionScores(
        session.name,
        len(truth & known) / len(truth),
        *done.first,
        fmean(done.at_reads) if done.at_reads else None,
        len(done.at_reads),
    )


def _moment(session: Session, act: Act, done: _Progress, *, with_task: bool) -> Moment:
    return Moment(
        act.at,
        session.name,
        session.actor,
        act.branch,
        act.turn,
        act.changed,
        tuple(done.read),
        tuple(done.edited),
        session.task if with_task else None,
    )


def _first(
    predictor: SessionPredictor, path: str, moment: Moment, truth: set[str]
) -> tuple[RankingScores, RankingScores | None]:
    """Return the scores of the answer at the first edit, and without what had been read by then."""
    named = _named(predictor, path, moment)
    unread = truth - set(moment.read)
    fresh = [name for name in named if name not in moment.read]
    return rank_scores(named, truth), rank_scores(fresh, unread) if unread else None


def _named(predictor: SessionPredictor, path: str, moment: Moment, without: Sequence[str] = ()) -> list[str]:
    """Return whom the answer names, each once, without the queried file and `without`."""
    left_out = {path, *without}
    named = (name for name, _ in predictor.predict(path, moment))
    return [name for name in dict.fromkeys(named) if name not in left_out]


def session_means(rows: Sequence[SessionScores]) -> SessionMeans | None:
    """Return the means over sessions, None without any."""
    if not rows:
        return None
    unread = [row.unread for row in rows if row.unread is not None]
    at_reads = [row.at_reads for row in rows if row.at_reads is not None]
    return SessionMeans(
        len(rows),
        fmean(row.known for row in rows),
        mean_scores([row.later for row in rows]),
        mean_scores(unread) if unread else None,
        len(unread),
        fmean(at_reads) if at_reads else None,
        len(at_reads),
        sum(row.reads for row in rows),
    )


def gains(rows: Sequence[SessionScores], others: Sequence[SessionScores]) -> list[float]:
    """Return recall@10 of each session minus that of the same session in `others`."""
    return [row.later.recall_10 - other.later.recall_10 for row, other in zip(rows, others, strict=True)]
