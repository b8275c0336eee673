"""Owns what verdicts and outcomes teach: how far they move the log odds of a candidate, up or down.

It is not the rules of verdicts nor where they are kept, and not the probability that is moved. Nothing is
accumulated: lessons are a function of the verdicts that count now, so their order has no part in it, and one
that is taken back was never there.

A verdict on two files is a draw for their pair, for either file with the other's folder, for the two folders,
and for the kind of pair (named alike or not, side by side or not, their endings). The rate of yes at each
level is shrunk to that of the level above, r = (yes + m above) / (asked + m), the topmost to the rate of all
verdicts, and that to `BASE`. The offset of a pair is `SCALE` (ln odds of its rate - ln odds of that of all
verdicts), at most `BOUND` either way: a yes where everything is confirmed says little, and a pair like
nothing that was judged is not moved, whatever the others were.

`python -m bench.verdict_learning --choose` compares ways to learn on 29 histories. The levels above the pair
have to be shrunk hard: with 6 and 12 verdicts where 20 and 60 are asked for now, what was said afterwards
became less likely, not more.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from inference.combination import tempered
from inference.naming import folder, stem

BOUND = 1.5
"""Verdicts and outcomes together move the log odds by no more than this."""
BASE = 0.7
"""The share of verdicts that confirm before anything is known."""
ALL = 20.0
"""So many verdicts `BASE` is worth."""
SCALE = 0.5
"""So much of the log odds of a rate goes to the candidate: what is asked is whether two files change together
again, what is ranked is whether they do so now."""


class Shrink(NamedTuple):
    """How many verdicts the level above is worth at each level; infinitely many leave the level out."""

    kind: float = 200.0
    folders: float = 60.0
    near: float = 20.0
    pair: float = 2.0


SHRINK = Shrink()


class End(NamedTuple):
    """A file of a pair: the caller's number of it, and its present path."""

    file: int
    path: str


class Lesson(NamedTuple):
    """A verdict that counts: its two files, and whether it says yes."""

    one: End
    other: End
    confirmed: bool


class Tally(NamedTuple):
    """How many verdicts, and how many of them say yes."""

    asked: int = 0
    yes: int = 0


@dataclass(frozen=True, slots=True)
class Lessons:
    """What the verdicts that count teach; make it with `learned`. `usual` is the rate of all of them."""

    pairs: Mapping[Hashable, Tally] = field(default_factory=dict)
    usual: float = BASE
    near: Mapping[Hashable, Tally] = field(default_factory=dict)
    folders: Mapping[Hashable, Tally] = field(default_factory=dict)
    kinds: Mapping[Hashable, Tally] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Return whether there is anything to learn from."""
        return bool(self.pairs)

    def offset(self, queried: End, candidate: End, shrink: Shrink = SHRINK) -> float:
        """Return how far the log odds of the candidate move, within `BOUND`; the same both ways round."""
        if not self.pairs:
            return 0.0
        pair = self.pairs.get(_pair(queried, candidate), _NONE)
        one, other = (self.near.get(key, _NONE) for key in _near(queried, candidate))
        # A verdict on the very pair stands under both ends, and is one verdict.
        near = Tally(one.asked + other.asked - pair.asked, one.yes + other.yes - pair.yes)
        levels = (
            (self.kinds.get(_kind(queried, candidate), _NONE), shrink.kind),
            (self.folders.get(_folders(queried, candidate), _NONE), shrink.folders),
            (near, shrink.near),
            (pair, shrink.pair),
        )
        rate = self.usual
        for (asked, yes), worth in levels:
            if asked and worth < math.inf:
                rate = (yes + worth * rate) / (asked + worth)
        if rate == self.usual:
            return 0.0
        return _bounded(SCALE * (_log_odds(rate) - _log_odds(self.usual)))

    def offset_among(self, queried: Iterable[End], candidate: End) -> float:
        """Return the offset of a candidate of several queried files: the highest by any of them.

        What one of them has to do with the candidate is not settled by a verdict on another.
        """
        return max((self.offset(end, candidate) for end in queried), default=0.0)


_NONE = Tally()
UNTAUGHT = Lessons()
"""No verdict counts."""


def learned(lessons: Iterable[Lesson]) -> Lessons:
    """Return what these verdicts teach; of several on one pair only the first is taken."""
    by_pair: dict[tuple[int, int], Lesson] = {}
    for lesson in lessons:
        if lesson.one.file != lesson.other.file:
            by_pair.setdefault(_pair(lesson.one, lesson.other), lesson)
    taken = by_pair.values()
    yes = sum(lesson.confirmed for lesson in taken)
    return Lessons(
        usual=(yes + ALL * BASE) / (len(taken) + ALL) if taken else BASE,
        pairs=_tallied((_pair(one, other), yes) for one, other, yes in taken),
        near=_tallied((key, yes) for one, other, yes in taken for key in _near(one, other)),
        folders=_tallied((_folders(one, other), yes) for one, other, yes in taken),
        kinds=_tallied((_kind(one, other), yes) for one, other, yes in taken),
    )


def heard(probability: float, shown: int, taken: int) -> float:
    """Return how far the log odds of a probability move by how notes turned out, within `BOUND`.

    The file was named `shown` times and taken up in `taken` of them, see `inference.combination.tempered`.
    """
    if not shown or not 0.0 < probability < 1.0:
        return 0.0
    return _bounded(_log_odds(tempered(probability, shown, taken)) - _log_odds(probability))


def adjusted(probability: float, offset: float) -> float:
    """Return a probability (0..1) with its log odds moved by an offset, no further than `BOUND`.

    What is sure stays sure, and an offset of 0 changes nothing at all.
    """
    if offset == 0.0 or not 0.0 < probability < 1.0:
        return probability
    raised = probability * math.exp(_bounded(offset))
    return raised / (1.0 - probability + raised)


def _tallied(verdicts: Iterable[tuple[Hashable, bool]]) -> dict[Hashable, Tally]:
    asked: Counter[Hashable] = Counter()
    yes: Counter[Hashable] = Counter()
    for key, confirmed in verdicts:
        asked[key] += 1
        yes[key] += confirmed
    return {key: Tally(count, yes[key]) for key, count in asked.items()}


def _pair(one: End, other: End) -> tuple[int, int]:
    return min(one.file, other.file), max(one.file, other.file)


def _near(one: End, other: End) -> tuple[Hashable, Hashable]:
    return (one.file, folder(other.path)), (other.file, folder(one.path))


def _folders(one: End, other: End) -> Hashable:
    return tuple(sorted((folder(one.path), folder(other.path))))


def _kind(one: End, other: End) -> Hashable:
    alike, beside = stem(one.path) == stem(other.path), folder(one.path) == folder(other.path)
    return alike, beside, *sorted((_ending(one.path), _ending(other.path)))


def _ending(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[2].lower()


def _log_odds(probability: float) -> float:
    return math.log(probability / (1.0 - probability))


def _bounded(offset: float) -> float:
    return max(-BOUND, min(BOUND, offset))
