"""Owns which of the claims on one thing holds: the later one, where it says so or can't be meant otherwise.

Pure: claims in, successors out. It is not where claims come from (`graphmem.speech.claims`) nor their reading
from the derived file (`standing`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import NamedTuple

from graphmem.speech.claims import Claim, Reach
from graphmem.speech.fact_values import is_attribute
from graphmem.speech.subjects import is_role
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


_NAMED = frozenset({Shape.WORD, Shape.PATH})


def link(later: Made, earlier: Made) -> Link:
    """Return what a later claim makes of an earlier one.

    What is only said tentatively makes nothing of what is said firmly, and what holds for one actor nothing
    of what holds for others.
    """
    new, old = later.claim, earlier.claim
    if later.actor != earlier.actor or (new.tentative and not old.tentative):
        return Link.NOTHING
    if later.thing == earlier.thing and new.subject is not None:
        return _on_the_same(new, old)
    names_it = new.old is not None and old.value is not None and same(new.old, old.value)
    return Link.TAKEN if names_it and _is_about(later, earlier) else Link.NOTHING


def says_same(one: Made, other: Made) -> bool:
    """Return whether two claims say the same of the same thing, however firmly."""
    if one.thing != other.thing or one.actor != other.actor:
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

    One's words must all be among the other's. Where the later one says less, what it says must be more than
    an attribute: `TTL: 3600 -> 900` may be about any of several. Numbers agree by chance, names hardly.
    """
    new, old = later.claim.words(), earlier.claim.words()
    if not new or not old:
        return False
    if new >= old:
        return True
    if not new < old:
        return False
    is_name = later.claim.old is not None and shaped(later.claim.old).shape in _NAMED
    return is_name or any(not (is_attribute(word) or is_role(word)) for word in new)


def successor_of(earlier: Made, later: Iterable[Made]) -> tuple[Link, Made | None]:
    """Return what the later claims make of one, and the latest of them that does so.

    `later` may hold any claims; those not later are passed over.
    """
    for one in sorted(later, key=lambda made: made.place, reverse=True):
        if one.place <= earlier.place:
            break
        found = link(one, earlier)
        if found is not Link.NOTHING:
            return found, one
    return Link.NOTHING, None


def holder(earlier: Made, linked: Mapping[Place, Sequence[Made]]) -> tuple[Link, Made | None]:
    """Return what became of a claim, and what holds in its place now where it was superseded.

    Args:
        earlier: the claim.
        linked: for each claim by its place those that may be linked with it; those without any are final.
    """
    found, one = successor_of(earlier, linked.get(earlier.place, ()))
    if found is not Link.TAKEN or one is None:
        return found, one
    last = one
    while True:
        further, after = successor_of(last, linked.get(last.place, ()))
        if further is Link.NOTHING or after is None:
            return Link.TAKEN, last
        last = after
