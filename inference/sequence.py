"""Owns temporal order: what is edited after a file was read or edited, and what an actor had in hand lately.

It is not co-change (that is `inference.cochange`), whose decay and bulk limit it shares. In histories of
git there are no reads, and what the next commit edits tells little about this one (see
`inference.ranking`); in sessions of agents a read is followed by an edit in 30 to 63 % of cases.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from inference.cochange import KEYS, MAX_SIZE, POWERS, TOUCHES, newest_first
from inference.evidence import FileHistory, Occasion

SHRINK = 2.0
"""Added to the denominator: one sighting scores a third at most, three in a row .58."""
FULL_SPREAD = 3
"""Up to this many files an edit after a read or a change counts fully, then 3 / n."""
RECENT = 20
"""How many of the actor's last occasions are looked at."""
RECENT_DECAY = 0.85
"""Weight of an occasion of the actor against the one after it."""

Pair = tuple[Occasion, Occasion]
"""The start of a sequence, a read or an edit of the queried file, and the edit of another that came after."""


class Sequel(NamedTuple):
    """How often a candidate was edited after the queried file was read, or after it was edited; each 0..1."""

    read: float = 0.0
    followed: float = 0.0


@dataclass(frozen=True, slots=True)
class Sightings:
    """How often a candidate was edited after the queried file, of `of` starts (its reads, or its edits).

    `sessions` are distinct ones: the fewer of those of the starts and of the edits that came after.
    `keys` are up to three of the occasions, starts and edits after them, the newest first.
    """

    together: int
    of: int
    sessions: int
    last_seen: float
    keys: tuple[int, ...]


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
    return _scores(_after_reads(history), history.file)


def follow_scores(history: FileHistory) -> dict[int, float]:
    """Score what the occasion after each edit of the queried file edited."""
    return _scores([[after] for _, after in _after_edits(history)], history.file)


def read_pairs(history: FileHistory) -> dict[int, list[Pair]]:
    """Return for each of `read_scores` every read, newest first, with the edit that it was for."""
    return _pairs([(sequence[0], sequence) for sequence in _after_reads(history)], history.file)


def read_sightings(history: FileHistory) -> dict[int, Sightings]:
    """Return the evidence behind each of `read_scores`."""
    of = min(TOUCHES, len(history.reads))
    return {file: _sighted(pairs, of) for file, pairs in read_pairs(history).items()}


def follow_sightings(history: FileHistory) -> dict[int, Sightings]:
    """Return the evidence behind each of `follow_scores`."""
    starts = _after_edits(history)
    pairs = _pairs([(edit, (after,)) for edit, after in starts], history.file)
    return {file: _sighted(seen, len(starts)) for file, seen in pairs.items()}


def _after_reads(history: FileHistory) -> list[list[Occasion]]:
    """Return each read, newest first, with what came after it in its session, in order."""
    later = dict(zip((read.key for read in history.reads), history.read_followers, strict=False))
    sequences = []
    for read in newest_first(history.reads):
        followers = sorted(later.get(read.key, ()), key=lambda occasion: (occasion.at, occasion.key))
        same = [occasion for occasion in followers if occasion.session == read.session]
        sequences.append([read, *same])
    return sequences


def _after_edits(history: FileHistory) -> list[tuple[Occasion, Occasion]]:
    """Return each edit that something came after, newest first, with the occasion that came next."""
    later = dict(zip((edit.key for edit in history.edits), history.followers, strict=False))
    return [
        (edit, min(followers, key=lambda occasion: (occasion.at, occasion.key)))
        for edit in newest_first(history.edits)
        if (followers := later.get(edit.key, ()))
    ]


def _pairs(starts: Iterable[tuple[Occasion, Sequence[Occasion]]], queried: int) -> dict[int, list[Pair]]:
    """Return for each file the starts after which it was edited, each with the nearest such edit."""
    found: dict[int, list[Pair]] = {}
    for start, sequence in starts:
        met = {queried}
        for occasion in sequence:
            if spread_weight(occasion.size) > 0.0:
                for file in occasion.edited:
                    if file not in met:
                        met.add(file)
                        found.setdefault(file, []).append((start, occasion))
    return found


def _sighted(pairs: Sequence[Pair], of: int) -> Sightings:
    occasions = {occasion.key: occasion for pair in pairs for occasion in pair}
    starts, ends = ({occasion.session for occasion in side} for side in zip(*pairs, strict=True))
    return Sightings(
        together=len(pairs),
        of=of,
        sessions=min(len(starts), len(ends)),
        last_seen=max(edit.at for _, edit in pairs),
        keys=tuple(occasion.key for occasion in newest_first(occasions.values())[:KEYS]),
    )


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
