"""Owns temporal order: what is edited after a file was read or edited, and what an actor had in hand lately.

It is not co-change (that is `inference.cochange`), whose decay and bulk limit it shares. In histories of
git there are no reads, and what the next commit edits tells little about this one (see
`inference.ranking`); in sessions of agents a read is followed by an edit in 30 to 63 % of cases.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from inference.cochange import MAX_SIZE, POWERS, TOUCHES, newest_first
from inference.evidence import FileHistory, Occasion

SHRINK = 2.0
"""Added to the denominator: one sighting scores a third at most, three in a row .58."""
FULL_SPREAD = 3
"""Up to this many files an edit after a read or a change counts fully, then 3 / n."""
RECENT = 20
"""How many of the actor's last occasions are looked at."""
RECENT_DECAY = 0.85
"""Weight of an occasion of the actor against the one after it."""


@dataclass(frozen=True, slots=True)
class Sequel:
    """How often a candidate was edited after the queried file was read, or after it was edited; each 0..1."""

    read: float = 0.0
    followed: float = 0.0


NO_SEQUEL = Sequel()


def temporal_score(read: float, followed: float) -> float:
    """Return the one score of order: either is reason enough, so noisy-or."""
    return 1.0 - (1.0 - read) * (1.0 - followed)


def spread_weight(size: int) -> float:
    """Return how much an occasion of `size` changed files says about each of them, 0 for bulk and none."""
    if not 0 < size <= MAX_SIZE:
        return 0.0
    return min(1.0, FULL_SPREAD / size)


def read_scores(history: FileHistory) -> dict[int, float]:
    """Score what was edited where the queried file was only read: in that occasion, or later in its session.

    A file counts once for each read, with its nearest occasion.
    """
    later = dict(zip((read.key for read in history.reads), history.read_followers, strict=False))
    sequences = []
    for read in newest_first(history.reads):
        followers = sorted(later.get(read.key, ()), key=lambda occasion: (occasion.at, occasion.key))
        same = [occasion for occasion in followers if occasion.session == read.session]
        sequences.append([read, *same])
    return _scores(sequences, history.file)


def follow_scores(history: FileHistory) -> dict[int, float]:
    """Score what the occasion after each edit of the queried file edited."""
    later = dict(zip((edit.key for edit in history.edits), history.followers, strict=False))
    sequences = []
    for edit in newest_first(history.edits):
        followers = later.get(edit.key, ())
        if followers:
            sequences.append([min(followers, key=lambda occasion: (occasion.at, occasion.key))])
    return _scores(sequences, history.file)


def _scores(sequences: Sequence[Sequence[Occasion]], queried: int) -> dict[int, float]:
    """Return the decayed, shrunken share of sequences (newest first) that edited each file."""
    sums: dict[int, float] = {}
    for power, sequence in zip(POWERS, sequences, strict=False):
        met: set[int] = set()
        for occasion in sequence:
            weight = power * spread_weight(occasion.size)
            if weight == 0.0:
                continue
            for file in occasion.edited:
                if file not in met:
                    met.add(file)
                    sums[file] = sums.get(file, 0.0) + weight
    sums.pop(queried, None)
    total = sum(POWERS[: min(TOUCHES, len(sequences))]) + SHRINK
    return {file: value / total for file, value in sums.items()}


def sequels(histories: Iterable[FileHistory]) -> dict[int, Sequel]:
    """Return both scores for every file that came after one of the queried files; several by noisy-or."""
    missing: dict[int, tuple[float, float]] = {}
    for history in histories:
        read, followed = read_scores(history), follow_scores(history)
        for file in dict.fromkeys((*read, *followed)):
            no_read, no_follow = missing.get(file, (1.0, 1.0))
            missing[file] = (
                no_read * (1.0 - read.get(file, 0.0)),
                no_follow * (1.0 - followed.get(file, 0.0)),
            )
    return {file: Sequel(1.0 - no_read, 1.0 - no_follow) for file, (no_read, no_follow) in missing.items()}


def recency(recent: Iterable[Occasion]) -> dict[int, float]:
    """Weigh the files of an actor's last occasions (newest first): the j-th last counts .85^j.

    An occasion counts min(1, 3 / n) for each of its n files. A sum over occasions, always below 6.7.
    """
    weights: dict[int, float] = {}
    for place, occasion in zip(range(RECENT), recent, strict=False):
        weight = RECENT_DECAY**place * spread_weight(occasion.size)
        if weight > 0.0:
            for file in occasion.edited:
                weights[file] = weights.get(file, 0.0) + weight
    return weights
