"""Owns the choice of what may go: age by kind, a size to come down to, and what must not go.

It is not where observations lie, nor taking them out (`graphmem.retention`, `graphmem.project_keeping`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import NamedTuple

DAY = 86_400.0


class Candidate(NamedTuple):
    """An observation: its number, kind, time (epoch seconds), and about how many bytes it takes."""

    seq: int
    kind: str
    at: float
    size: int


class Told(NamedTuple):
    """One statement of `subject` in the observation `seq`; they are given in the order they were made."""

    subject: str
    seq: int


def chosen(
    candidates: Sequence[Candidate],
    days: Mapping[str, float],
    now: float,
    surplus: int,
    exempt: Set[int],
    told: Iterable[Told] = (),
) -> list[Candidate]:
    """Return what may go, the oldest first.

    What is older than its kind's limit goes; while that is less than `surplus` bytes, the oldest of the rest
    goes too, but nothing of the last day. An observation whose statement replaced one that stays, stays as
    well: otherwise the older statement would hold again.

    Args:
        candidates: in any order.
        days: limits by kind; a kind without one has no limit of age.
        now: epoch seconds.
        surplus: bytes to come down by, 0 or less for none.
        exempt: numbers that must not go.
        told: statements that have a subject, in the order they were made.
    """
    order = sorted(candidates, key=lambda each: (each.at, each.seq))
    free = [each for each in order if each.seq not in exempt]
    old = [each for each in free if each.kind in days and each.at < now - days[each.kind] * DAY]
    going = {each.seq for each in old}
    subjects = list(told)
    going -= _needed(subjects, going)
    freed = sum(each.size for each in free if each.seq in going)
    for each in free:
        if freed >= surplus or each.at >= now - DAY:
            break
        if each.seq not in going:
            going.add(each.seq)
            freed += each.size
    going -= _needed(subjects, going)
    return [each for each in free if each.seq in going]


def _needed(told: Sequence[Told], going: Set[int]) -> set[int]:
    """Return those that must stay since an older statement on the same subject does."""
    needed: set[int] = set()
    while True:
        standing: set[str] = set()
        more: set[int] = set()
        for subject, seq in told:
            stays = seq not in going or seq in needed or seq in more
            if not stays and subject in standing:
                more.add(seq)
                stays = True
            if stays:
                standing.add(subject)
        if not more:
            return needed
        needed |= more
