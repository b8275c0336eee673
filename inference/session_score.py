"""Owns the formula: how likely a session that has work behind it edits a file yet.

It is not the clues (`inference.session_clues`) nor what is worth saying unasked: behaviour of sessions alone
is weak, so whoever words a note asks for two supporting sessions besides. The log odds are a weighted sum:

    ln odds = intercept + scale (sum over the clues of weight * clue)

`python -m bench.sessions --learn` prints how the numbers come about. Weights of clues that people's sittings
have too are learned from histories of git, where an author's sitting stands for a session; those of reads
and branches, which a history knows nothing of, from recorded sessions with all others held; the level last.
No weight is below 0: more evidence never lowers a file.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from inference.chronicle import Chronicle
from inference.session_clues import Asking, Clues, clues

WEIGHTS = Clues(
    pair=3.5,
    hand=6.8,
    sitting=2.2,
    twice=1.0,
    share=0.0,
    heat=0.6,
    fresh=0.3,
    day=0.2,
    branch=0.6,
    beside=0.3,
    twin=1.5,
    alike=0.5,
    words=1.7,
    beside_hand=0.3,
    twin_hand=1.5,
    words_hand=2.8,
    read=3.0,
    read_last=0.5,
)
INTERCEPT = -6.0
SCALE = 1.0

_REASONS = (
    ("read_now", ("read",)),
    ("co_changes", ("pair", "hand")),
    ("same_session", ("sitting",)),
    ("same_branch", ("branch",)),
    ("lately", ("day",)),
    ("named_alike", ("twin", "twin_hand", "alike")),
)


class Scored(NamedTuple):
    """A candidate: P(the session edits it yet), whether it has read it, and what speaks for it."""

    probability: float
    is_read: bool
    reasons: tuple[str, ...]


def strength(clue: Clues, weights: Clues = WEIGHTS) -> float:
    """Return the weighted sum of the clues."""
    return sum(weight * value for weight, value in zip(weights, clue, strict=True))


def chance(clue: Clues) -> float:
    """Return P(the session edits the file yet), in 0..1."""
    return 1.0 / (1.0 + math.exp(-(INTERCEPT + SCALE * strength(clue))))


def session_scores(chronicle: Chronicle, asking: Asking, more: Iterable[int] = ()) -> dict[int, Scored]:
    """Return every living file that the session may edit yet, by its number, the most probable first.

    Equals stand by path. `more` are files to be scored besides those with clues, such as a ranker's.
    """
    found = clues(chronicle, asking, more)
    chances = {file: chance(clue) for file, clue in found.items()}
    order = sorted(found, key=lambda file: (-chances[file], chronicle.files[file].path))
    return {file: Scored(chances[file], found[file].read > 0.0, _reasons(found[file])) for file in order}


def _reasons(clue: Clues) -> tuple[str, ...]:
    return tuple(name for name, fields in _REASONS if any(getattr(clue, field) > 0.0 for field in fields))
