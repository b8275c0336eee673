"""Owns the guess at the following piece of work: which files it edits that this one does not.

It is not impact (that is `inference.ranker`): what comes next need not be changed along. What followed
earlier, what changes along and what was in hand are mixed:

    ln odds = INTERCEPT + JOINT ln(co-change + FLOOR) + FOLLOWED ln(followed + FLOOR) + AT_HAND h / (1 + h)

Where the work is held in memory (`inference.chronicle`) three more terms join in, with weights of their own
(`FULL`): how lately the file was changed by anybody, how much of the actor's last sixty occasions was work on
it, and how often work on it was told with the task's words; what was busy lately is a candidate, too.

`bench/upcoming.py` tells what each part gives, and derives the numbers on histories that figures are not
reported for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inference.chronicle import Chronicle
from inference.evidence import FileHistory, Occasion
from inference.sequence import NO_SEQUEL, spread_weight
from inference.signals import Signals, signals

FLOOR = 0.02
JOINT = 0.56
FOLLOWED = 0.44
AT_HAND = 4.16
INTERCEPT = -1.72

DAY = 86_400.0
HALF_LIFE = 14 * DAY
"""Seconds after which a change of a file by anybody counts half."""
CHANGES = 10
"""So many of a file's last changes count for that, none older than `LONG_AGO` half-lives."""
LONG_AGO = 5.0
OWN = 60
"""So many of the actor's last occasions are looked at, the j-th last counts `OWN_DECAY`^j."""
OWN_DECAY = 0.95
LATELY = 40
"""The files of so many of the last occasions are candidates."""
TASK_WORDS = 8


class Weights(NamedTuple):
    """The weights of all six terms, and what the sum begins with."""

    joint: float
    followed: float
    at_hand: float
    lately: float
    own: float
    task: float
    intercept: float


FULL = Weights(joint=0.36, followed=0.34, at_hand=0.73, lately=0.43, own=0.4, task=1.05, intercept=-1.9)


@dataclass(frozen=True, slots=True)
class Around:
    """Where it is asked: the work in memory, when (epoch seconds), who by, with what task's words."""

    chronicle: Chronicle
    now: float
    actor: int | None = None
    words: tuple[str, ...] = ()


def next_files(
    histories: Sequence[FileHistory],
    recent: Sequence[Occasion] = (),
    heard: Signals | None = None,
    around: Around | None = None,
) -> list[tuple[int, float]]:
    """Return files of the following piece of work that are not in this one, with P, the most likely first.

    Args:
        histories: the files of this piece of work.
        recent: the actor's last occasions before it, newest first.
        heard: what `signals` gave for these two, if it was asked already.
        around: the work in memory, where it is held; then only living files are returned.
    """
    heard = heard or signals(histories, recent)
    if around is not None:
        files = candidates(heard, around)
        odds = all_terms(heard, files, around) @ np.array(FULL[:-1]) + FULL.intercept
        order = np.argsort(-odds, kind="stable").tolist()
        chances = (1.0 / (1.0 + np.exp(-odds))).tolist()
        return [(files[place], chances[place]) for place in order]
    found = [(file, 1.0 / (1.0 + math.exp(-_odds(terms(heard, file))))) for file in heard.files()]
    return sorted(found, key=lambda entry: -entry[1])


def candidates(heard: Signals, around: Around) -> list[int]:
    """Return the living files that may come next: heard of, or changed lately by anybody or by the actor."""
    found = heard.files()
    found.update(dict.fromkeys(_own(around)))
    for occasion in around.chronicle.occasions[: -LATELY - 1 : -1]:
        if spread_weight(occasion.size) > 0.0:
            found.update(dict.fromkeys(occasion.edited))
    trails = around.chronicle.files
    return [file for file in found if file not in heard.known and trails[file].alive]


def terms(heard: Signals, file: int) -> tuple[float, float, float]:
    """Return what the odds are a weighted sum of: co-change, what followed, what was in hand."""
    in_hand = heard.at_hand.get(file, 0.0)
    return (
        math.log(heard.pairs.scores.get(file, 0.0) + FLOOR),
        math.log(heard.sequels.get(file, NO_SEQUEL).followed + FLOOR),
        in_hand / (1.0 + in_hand),
    )


def all_terms(heard: Signals, files: Sequence[int], around: Around) -> NDArray[np.float64]:
    """Return (n, 6): `terms` of each file, how lately it changed, the actor's own work, the task's words."""
    scores, sequels, at_hand = heard.pairs.scores, heard.sequels, heard.at_hand
    own, now = _own(around), around.now
    words = around.chronicle.words
    telling = words.rarest(around.words, TASK_WORDS)
    told = words.relevance(telling, files) if telling else [0.0] * len(files)
    trails = around.chronicle.files
    joint = [scores.get(file, 0.0) for file in files]
    followed = [sequels.get(file, NO_SEQUEL).followed for file in files]
    in_hand = np.array([at_hand.get(file, 0.0) for file in files])
    since = now - LONG_AGO * HALF_LIFE
    times = [trails[file].times for file in files]
    fresh = [_fresh(each, now) if each and each[-1] > since else 0.0 for each in times]
    mine = [own.get(file, 0.0) for file in files]
    return np.stack(
        (
            np.log(np.array(joint) + FLOOR),
            np.log(np.array(followed) + FLOOR),
            in_hand / (1.0 + in_hand),
            np.log1p(np.array(fresh)),
            np.log(np.array(mine) + FLOOR),
            np.array(told) / (max(told, default=0.0) or 1.0),
        ),
        axis=1,
    )


def _own(around: Around) -> dict[int, float]:
    """Return how much of the actor's last occasions was work on each file, by file, newer work first."""
    chronicle = around.chronicle
    places = () if around.actor is None else chronicle.actors.get(around.actor, ())
    own: dict[int, float] = {}
    for back, place in enumerate(places[: -OWN - 1 : -1]):
        occasion = chronicle.occasions[place]
        weight = OWN_DECAY**back * spread_weight(occasion.size)
        if weight > 0.0:
            for file in occasion.edited:
                own[file] = own.get(file, 0.0) + weight
    return own


def _fresh(changes: Sequence[float], now: float) -> float:
    """Return the sum of 2^(-age / half-life) over the last of these times."""
    total = 0.0
    for at in changes[: -CHANGES - 1 : -1]:
        age = max(0.0, (now - at) / HALF_LIFE)
        if age > LONG_AGO:
            break
        total += math.exp2(-age)
    return total


def _odds(values: tuple[float, float, float]) -> float:
    joint, followed, in_hand = values
    return INTERCEPT + JOINT * joint + FOLLOWED * followed + AT_HAND * in_hand
