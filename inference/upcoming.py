"""Owns the guess at the following piece of work: which files it edits that this one does not.

It is not impact (that is `inference.ranking`): what comes next need not be changed along. What followed
earlier, what changes along and what was in hand are mixed:

    ln odds = INTERCEPT + JOINT ln(co-change + FLOOR) + FOLLOWED ln(followed + FLOOR) + AT_HAND h / (1 + h)

Each of them alone gives a hit@5 of .36 to .42, the mix .48: `bench/upcoming.py`, which also derives the
numbers on histories that figures are not reported for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from inference.evidence import FileHistory, Occasion
from inference.sequence import NO_SEQUEL
from inference.signals import Signals, signals

FLOOR = 0.02
JOINT = 0.56
FOLLOWED = 0.44
AT_HAND = 4.16
INTERCEPT = -1.72


def next_files(
    histories: Sequence[FileHistory], recent: Sequence[Occasion] = (), heard: Signals | None = None
) -> list[tuple[int, float]]:
    """Return files of the following piece of work that are not in this one, with P, the most likely first.

    Args:
        histories: the files of this piece of work.
        recent: the actor's last occasions before it, newest first.
        heard: what `signals` gave for these two, if it was asked already.
    """
    heard = heard or signals(histories, recent)
    found = [(file, 1.0 / (1.0 + math.exp(-_odds(terms(heard, file))))) for file in heard.files()]
    return sorted(found, key=lambda entry: -entry[1])


def terms(heard: Signals, file: int) -> tuple[float, float, float]:
    """Return what the odds are a weighted sum of: co-change, what followed, what was in hand."""
    in_hand = heard.at_hand.get(file, 0.0)
    return (
        math.log(heard.pairs.scores.get(file, 0.0) + FLOOR),
        math.log(heard.sequels.get(file, NO_SEQUEL).followed + FLOOR),
        in_hand / (1.0 + in_hand),
    )


def _odds(values: tuple[float, float, float]) -> float:
    joint, followed, in_hand = values
    return INTERCEPT + JOINT * joint + FOLLOWED * followed + AT_HAND * in_hand
