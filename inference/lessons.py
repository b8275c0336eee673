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
from functools import lru_cache
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
        here, there = _place(queried.path), _place(candidate.path)
        rate = self.usual
        kind = self.kinds.get(_kind(here, there))
        if kind is not None:
            rate = _shrunk(kind, rate, shrink.kind)
        folders = self.folders.get(_folders(here, there))
        if folders is not None:
            rate = _shrunk(folders, rate, shrink.folders)
        one = self.near.get((queried.file, there.folder))
        other = self.near.get((candidate.file, here.folder))
        if one is not None or other is not None:
            (asked, yes), (more, also) = one or _NONE, other or _NONE
            pair = self.pairs.get(_pair(queried, candidate), _NONE)
            # A verdict on the very pair stands under both ends, and is one verdict.
            near = Tally(asked + more - pair.asked, yes + also - pair.yes)
            rate = _shrunk(pair, _shrunk(near, rate, shrink.near), shrink.pair)
        if rate == self.usual:
            return 0.0
        return _bounded(SCALE * (_log_odds(rate) - _log_odds(self.usual)))

    def offset_among(self, queried: Iterable[End], candidate: End) -> float:
        """Return the offset of a candidate of several queried files: the highest by any of them.

        What one of them has to do with the candidate is not settled by a verdict on another.
        """
        if not self.pairs:
            return 0.0
        return max([self.offset(end, candidate) for end in queried], default=0.0)


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
        folders=_tallied((_folders(_place(one.path), _place(other.path)), yes) for one, other, yes in taken),
        kinds=_tallied((_kind(_place(one.path), _place(other.path)), yes) for one, other, yes in taken),
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


class _Place(NamedTuple):
    folder: str
    stem: str
    ending: str


@lru_cache(maxsize=65_536)
def _place(path: str) -> _Place:
    return _Place(folder(path), stem(path), path.rpartition("/")[2].rpartition(".")[2].lower())


def _pair(one: End, other: End) -> tuple[int, int]:
    return (one.file, other.file) if one.file <= other.file else (other.file, one.file)


def _near(one: End, other: End) -> tuple[tuple[int, str], tuple[int, str]]:
    return (one.file, _place(other.path).folder), (other.file, _place(one.path).folder)


def _folders(one: _Place, other: _Place) -> tuple[str, str]:
    return (one.folder, other.folder) if one.folder <= other.folder else (other.folder, one.folder)


def _kind(one: _Place, other: _Place) -> tuple[bool, bool, str, str]:
    first, last = (one, other) if one.ending <= other.ending else (other, one)
    return one.stem == other.stem, one.folder == other.folder, first.ending, last.ending


def _shrunk(tally: Tally, above: float, worth: float) -> float:
    if not tally.asked or worth == math.inf:
        return above
    return (tally.yes + worth * above) / (tally.asked + worth)


def _log_odds(probability: float) -> float:
    return math.log(probability / (1.0 - probability))


def _bounded(offset: float) -> float:
    return max(-BOUND, min(BOUND, offset))
