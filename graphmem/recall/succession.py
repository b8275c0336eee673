"""Owns which of the claims on one thing holds: the later one, where it says so or can't be meant otherwise.

Pure: claims in, successors out. It is not where claims come from (`graphmem.speech.claims`) nor their reading
from the derived file (`standing`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import NamedTuple

from graphmem.speech.claims import Claim, Reach
from graphmem.speech.value_shapes import Shape, exchangeable, same, shaped


class Place(NamedTuple):
    """Where a claim was made: time in epoch seconds, observation, fact (-1 its own text), part of it."""

    at: float
    seq: int
    ord: int
    part: int


@dataclass(frozen=True, slots=True)
class Made:
    """A claim with where it was made, and by whom where it is that actor's only (else "").

    `whole` is set where the piece it stands in says hardly anything else.
    """

    claim: Claim
    place: Place
    actor: str = ""
    whole: bool = True

    @property
    def thing(self) -> tuple[tuple[str, ...] | None, str]:
        """Its subject and attribute."""
        return self.claim.subject, self.claim.attribute

    def about(self, subject: tuple[str, ...]) -> Made:
        """Return the same claim about that subject."""
        return replace(self, claim=self.claim._replace(subject=subject))


class Link(Enum):
    """What a later claim makes of an earlier one."""

    NOTHING = 0
    SAME = 1
    TAKEN = 2


_ANYTHING = ((), "use")
"""The subject of `replaced npm with pnpm`, which may be said of the project or of a corner of it."""
_OF_THE_PROJECT = (("project",), "use")
_EVERYDAY_WORDS = """
error warning warn info debug trace fatal main master develop trunk default none null auto manual on off yes
no low medium high small large light dark public private local global test dev staging production prod json
text asc desc left right top bottom en de zh utc strict lax open closed read write single double tab space
"""
_EVERYDAY = frozenset(_EVERYDAY_WORDS.split())


def link(later: Made, earlier: Made) -> Link:
    """Return what a later claim makes of an earlier one.

    What is only said tentatively makes nothing of what is said firmly, and what holds for one actor nothing
    of what holds for others.
    """
    new, old = later.claim, earlier.claim
    if later.actor != earlier.actor or (new.tentative and not old.tentative) or new.reach is Reach.NOTHING:
        return Link.NOTHING
    if old.reach is Reach.NOTHING and (new.old is None or old.value is None or not same(new.old, old.value)):
        return Link.NOTHING
    if later.thing == earlier.thing and new.subject is not None and later.thing != _ANYTHING:
        return _on_the_same(new, old)
    names_it = new.old is not None and old.value is not None and same(new.old, old.value)
    return Link.TAKEN if names_it and _is_about(later, earlier) else Link.NOTHING


def says_same(one: Made, other: Made) -> bool:
    """Return whether two claims say the same of the same thing, however firmly."""
    if one.thing != other.thing or one.actor != other.actor or one.claim.subject is None:
        return False
    return _on_the_same(one.claim, other.claim) is Link.SAME


def _on_the_same(new: Claim, old: Claim) -> Link:
    if old.value is None:
        if new.value is None:
            return Link.SAME if new.old == old.old else Link.NOTHING
        again = old.old is not None and same(new.value, old.old)
        return Link.TAKEN if again else Link.NOTHING
    if new.value is not None and same(new.value, old.value):
        return Link.SAME
    if new.old is not None and same(new.old, old.value):
        return Link.TAKEN
    if new.value is None or new.reach is Reach.NAMED:
        return Link.NOTHING
    fits = new.reach is Reach.ANY or exchangeable(new.value, old.value)
    return Link.TAKEN if fits else Link.NOTHING


def _is_about(later: Made, earlier: Made) -> bool:
    """Return whether a claim that names the earlier one's value is about the same thing, worded otherwise.

    Numbers, methods and everyday words agree by chance: the words must be the same, or the earlier one's be
    nothing but the attribute (`TTL is 3600`). A name such as HMAC-SHA1 hardly does: one's words must all be
    among the other's.
    """
    if later.thing == _ANYTHING:
        return earlier.thing == _OF_THE_PROJECT
    new, old = later.claim.words(), earlier.claim.words()
    if not new or not old:
        return False
    if new == old or (new > old and not earlier.claim.subject):
        return True
    return _is_distinct(later.claim.old or "") and (new > old or new < old)


def _is_distinct(value: str) -> bool:
    shape = shaped(value).shape
    return shape is Shape.PATH or (shape is Shape.WORD and value not in _EVERYDAY)


Fate = tuple[Link, Made | None]
"""What later claims make of one, and the latest that does so."""


def fate(earlier: Made, later: Iterable[Made]) -> Fate:
    """Return what the later claims make of one; `later` are all later than it, the latest first."""
    for one in later:
        found = link(one, earlier)
        if found is not Link.NOTHING:
            return found, one
    return Link.NOTHING, None


def final(place: Place, fates: Mapping[Place, Fate]) -> Fate:
    """Return what became of a claim, and what holds now in its place where it was superseded.

    `fates` are those of the claim and of all that took a place, each followed to the last; one that is not in
    it is the last.
    """
    found, one = fates[place]
    if found is not Link.TAKEN:
        return found, one
    while one is not None and one.place in fates and fates[one.place][1] is not None:
        one = fates[one.place][1]
    return found, one
