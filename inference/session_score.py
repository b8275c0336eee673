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
from collections.abc import Mapping
from typing import NamedTuple

from inference.chronicle import Chronicle
from inference.session_clues import Asking, Clues, clues

WEIGHTS = Clues(
    odds=0.85,
    hand=6.9,
    twice=0.33,
    share=2.3,
    fresh=0.7,
    day=0.1,
    branch=0.6,
    twin=0.9,
    words=1.1,
    beside_hand=0.3,
    twin_hand=1.35,
    words_hand=2.1,
    read=3.0,
    read_last=0.5,
)
INTERCEPT = -1.0
SCALE = 1.0

_REASONS = (
    ("read_now", ("read",)),
    ("same_session", ("twice",)),
    ("same_branch", ("branch",)),
    ("today", ("day",)),
    ("named_alike", ("twin", "twin_hand")),
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


def session_scores(chronicle: Chronicle, asking: Asking, ranked: Mapping[int, float]) -> dict[int, Scored]:
    """Return every living file that the session may edit yet, by its number, the most probable first.

    Equals stand by path. `ranked` are probabilities (0..1) by a ranker that knows nothing of the session; it
    had best be asked about `inference.session_clues.candidates` too.
    """
    found = clues(chronicle, asking, ranked)
    chances = {file: chance(clue) for file, clue in found.items()}
    order = sorted(found, key=lambda file: (-chances[file], chronicle.files[file].path))
    return {file: Scored(chances[file], found[file].read > 0.0, _reasons(found[file])) for file in order}


def _reasons(clue: Clues) -> tuple[str, ...]:
    return tuple(name for name, fields in _REASONS if any(getattr(clue, field) > 0.0 for field in fields))
