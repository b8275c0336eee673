"""Owns how the weights of `inference.session_score` are learned: questions, and a choice among candidates.

It is not the formula nor any figure. A history of git becomes sessions: the sittings of an author of 2 to 25
files, half of which are told as sessions when they end, beside the commits; each is asked about once, with
none to three of its files edited already. The weights are those under which the right files are the likeliest
choice (conditional logit, McFadden, 1974), none below 0. Recorded sessions then teach how much all that
counts as a whole, beside the clues that a history can't teach.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from bench.session_memory import SessionMemory
from inference.lineage import Change
from inference.replay import Line
from inference.session_clues import Clues
from inference.session_replay import Act, Commit, Moment, Session, SessionScores, replay_sessions

UNSEEN = ("branch", "read", "read_last")
"""Clues that a history of git can't teach."""
NOTHING = Clues(*(0.0 for _ in Clues._fields))
LARGEST = 25
LATEST = 3_000
QUESTIONS = 100
GAP = 0.5 * 3_600.0
"""A sitting is asked about so long before its first commit."""
RIDGE = 1.0
_SMALLEST = 2

Numbers = NDArray[np.float64]


class Asked(NamedTuple):
    """One question: a row of clues for each candidate, which were right, what it counts."""

    rows: Numbers
    right: NDArray[np.bool_]
    weight: float


class _Sitting(NamedTuple):
    began: float
    ended: float
    name: str
    paths: tuple[str, ...]
    is_told: bool


def sittings_asked(lines: Sequence[Line], seed: int = 1) -> list[Asked]:
    """Return the questions that the sittings of a history give, each asked with what came before it."""
    draw = random.Random(seed)
    lines = lines[-LATEST:]
    sittings = _sittings(lines, draw)
    telling = sorted(_telling(lines, sittings), key=lambda told: told[0])
    wanted = [one for one in sittings[len(sittings) // 4 :] if _SMALLEST <= len(one.paths) <= LARGEST]
    if len(wanted) > QUESTIONS:
        wanted = [wanted[number] for number in sorted(draw.sample(range(len(wanted)), QUESTIONS))]
    memory, place, found = SessionMemory(), 0, []
    for sitting in wanted:
        now = sitting.began - GAP
        while place < len(telling) and telling[place][0] < now:
            at, told, gone = telling[place]
            memory.observe(told)
            if gone:
                memory.forget(at, gone)
            place += 1
        done = min(len(sitting.paths) - _SMALLEST, draw.choice((0, 0, 1, 2, 3)))
        moment = Moment(now, sitting.name, "", "", "", True, (), sitting.paths[:done])
        asked = _asked(memory, sitting.paths[done], moment, sitting.paths[done + 1 :], 1.0)
        if asked is not None:
            found.append(asked)
    return found


def _sittings(lines: Sequence[Line], draw: random.Random) -> list[_Sitting]:
    """Return what each author's sitting changed, in order of time, the files of a commit shuffled."""
    grouped: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        grouped[line.session].append(line)
    found = []
    for name, parts in grouped.items():
        paths: dict[str, None] = {}
        for line in parts:
            changed = _changed(line)
            paths.update(dict.fromkeys(draw.sample(changed, len(changed))))
        is_told = draw.random() < 0.5
        found.append(_Sitting(parts[0].at, parts[-1].at, f"sitting {name}", tuple(paths), is_told))
    return sorted(found, key=lambda sitting: sitting.began)


def _telling(
    lines: Sequence[Line], sittings: Sequence[_Sitting]
) -> Iterator[tuple[float, Session | Commit, tuple[str, ...]]]:
    for line in lines:
        gone = [mention.path for mention in line.mentions if mention.change is Change.DELETED]
        gone += [mention.old_path for mention in line.mentions if mention.old_path]
        yield line.at, Commit(f"commit {line.number}", line.at, tuple(_changed(line))), tuple(gone)
    for sitting in sittings:
        if sitting.is_told and 0 < len(sitting.paths) <= LARGEST:
            acts = tuple(Act(sitting.ended, path, True) for path in sitting.paths)
            yield sitting.ended, Session(sitting.name, acts), ()


def _changed(line: Line) -> list[str]:
    return [mention.path for mention in line.mentions if mention.change is not Change.DELETED]


def _asked(
    memory: SessionMemory, path: str, moment: Moment, truth: Collection[str], weight: float
) -> Asked | None:
    found = memory.clues(path, moment)
    wanted = {memory.numbers[name] for name in truth if name in memory.numbers}
    right = np.array([file in wanted for file in found], dtype=bool)
    if not right.any():
        return None
    return Asked(np.array(list(found.values()), dtype=float), right, weight)


class _Listener(SessionMemory):
    """Keeps the questions of a replay, with what turned out right; each session counts as one."""

    def __init__(self, sessions: Sequence[Session]) -> None:
        super().__init__()
        self._of = {session.name: session for session in sessions}
        self.asked: list[tuple[str, Asked]] = []

    def predict(self, path: str, moment: Moment) -> list[tuple[str, float]]:
        """Keep the question of a session that turned out; the answer is empty."""
        edited = {path, *moment.edited}
        truth = {act.path for act in self._of[moment.session].acts if act.changed} - edited
        asked = _asked(self, path, moment, truth, 1.0)
        if asked is not None:
            self.asked.append((moment.session, asked))
        return []


def sessions_asked(
    sessions: Sequence[Session], commits: Sequence[Commit], taught: Collection[str]
) -> list[Asked]:
    """Return the questions at reads and first edits of the sessions named in `taught`."""
    listener = _Listener(sessions)
    rows: dict[str, list[SessionScores]] = replay_sessions(sessions, commits, {"": listener})
    del rows
    counts: dict[str, int] = defaultdict(int)
    for name, _ in listener.asked:
        counts[name] += 1
    return [asked._replace(weight=1.0 / counts[name]) for name, asked in listener.asked if name in taught]


def choice(asked: Sequence[Asked], columns: Sequence[str], shared: Clues | None = None) -> Clues:
    """Return the weights under which the right files are the likeliest choice; none below 0.

    Args:
        asked: the questions.
        columns: the clues whose weights are learned.
        shared: weights of the others, which are learned as a whole: all are multiplied with one number.
    """
    indices = [Clues._fields.index(name) for name in columns]
    rows = np.concatenate([one.rows for one in asked])
    used = rows[:, indices]
    if shared is not None:
        used = np.column_stack([used, rows @ np.array(shared)])
    spread = used.std(axis=0) + 1e-9
    best = minimize(
        _loss(used / spread, asked),
        np.zeros(len(spread)),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * len(spread),
    )
    found = [float(weight) for weight in best.x / spread]
    whole = NOTHING if shared is None else Clues(*(found[-1] * weight for weight in shared))
    return whole._replace(**dict(zip(columns, found, strict=False)))


def _loss(rows: Numbers, asked: Sequence[Asked]) -> Callable[[Numbers], tuple[float, Numbers]]:
    """Return minus the log likelihood of the right files, with its slope, of all questions together."""
    counts = np.array([len(one.right) for one in asked])
    starts = np.cumsum([0, *counts])[:-1]
    weights = np.array([one.weight for one in asked])
    target = np.concatenate([one.weight * one.right / one.right.sum() for one in asked])

    def loss(guess: Numbers) -> tuple[float, Numbers]:
        scores = rows @ guess
        highest = np.maximum.reduceat(scores, starts)
        shares = np.exp(scores - np.repeat(highest, counts))
        totals = np.add.reduceat(shares, starts)
        value = weights @ (np.log(totals) + highest) - target @ scores + RIDGE * guess @ guess
        slope = (shares / np.repeat(totals / weights, counts) - target) @ rows + 2.0 * RIDGE * guess
        return float(value), slope

    return loss
