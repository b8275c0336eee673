"""Owns the reading of claims from `derived.db`: those of some pieces, and what may have taken their place.

It is not which claim holds (that is `succession`) nor what a piece makes of it (that is `standing`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from heapq import merge
from operator import attrgetter
from typing import Any

from graphmem.database import chunked
from graphmem.postings import View
from graphmem.recall.succession import Fate, Made, Place, fate, says_same
from graphmem.speech.claims import Claim, Reach
from graphmem.statement_rows import bare

MOST = 32
"""So many of the latest claims on one thing are looked at, and of those that say one value is gone."""

_COLUMNS = (
    "statement.at, statement.seq, statement.ord, statement.part, statement.subject, statement.attribute,"
    " statement.value, statement.old, statement.reach, statement.tentative, statement.actor, statement.whole"
)
_LATEST = (
    "WITH wanted ({names}) AS (VALUES {places}) SELECT {columns} FROM wanted"
    " JOIN statement ON statement.id IN (SELECT id FROM statement AS one WHERE {where} AND one.at <= ?"
    " ORDER BY one.at DESC, one.seq DESC, one.ord DESC, one.part DESC LIMIT ?)"
)
_CHUNK = 300
_PLACE = attrgetter("place")
_VERSION = "version"
_NUMBERED = re.compile(r"v\d+$")


class Claims:
    """The claims a view knows, read as they are asked for."""

    def __init__(self, view: View) -> None:
        self._connection = view.connection
        self._until = min(view.as_of, 1e15)
        self._on: dict[tuple[str, str], list[Made]] = {}
        self._against: dict[str, list[Made]] = {}
        self._unsaid: list[Made] | None = None

    def of(self, numbers: Iterable[int]) -> dict[tuple[int, int], list[Made]]:
        """Return the claims of these observations by piece, in order."""
        rows = chunked(self._connection, f"SELECT {_COLUMNS} FROM statement WHERE seq IN ({{}})", numbers)
        found: dict[tuple[int, int], list[Made]] = defaultdict(list)
        for row in sorted(rows, key=lambda row: row[:4]):
            if row[0] <= self._until:
                made = self._adopted(_made(row))
                found[made.place.seq, made.place.ord].append(made)
        return found

    def fates(self, claims: Sequence[Made]) -> dict[Place, Fate]:
        """Return what later claims made of each of these, and of those that took a place in turn."""
        found: dict[Place, Fate] = {}
        waiting = list(claims)
        while waiting:
            self._load(waiting)
            found |= {made.place: fate(made, self.later(made)) for made in waiting}
            following = {
                one.place: one for made in waiting for _, one in (found[made.place],) if one is not None
            }
            waiting = [one for place, one in following.items() if place not in found]
        return found

    def stating(self, claims: Iterable[Made]) -> set[int]:
        """Return the observations that state what these claims do; asked after their `fates`."""
        return {
            other.place.seq
            for one in claims
            for other in self._on.get(_thing(one), ())
            if says_same(other, one)
        }

    def later(self, made: Made) -> Iterator[Made]:
        """Yield what is later and may be linked with a claim that was asked for, the latest first."""
        claim = made.claim
        lists = [self._on.get(_thing(made), [])]
        if claim.value is not None:
            lists.append(self._against.get(bare(claim.value), []))
        if _is_numbered(claim):
            lists.append([one for one in self._without_subject() if one.thing == made.thing])
        for one in merge(*(each for each in lists if each), key=_PLACE, reverse=True):
            if one.place <= made.place:
                return
            yield one

    def _load(self, claims: Collection[Made]) -> None:
        things = {_thing(made) for made in claims if made.claim.subject is not None} - self._on.keys()
        values = {bare(made.claim.value) for made in claims if made.claim.value} - self._against.keys()
        self._on |= {thing: [] for thing in things}
        self._against |= {value: [] for value in values}
        same = "one.attribute = wanted.attribute AND one.subject = wanted.subject"
        for made in self._latest("attribute, subject", sorted(things), same):
            self._on[_thing(made)].append(made)
        gone = [(value,) for value in sorted(values)]
        for made in self._latest("value", gone, "one.old_bare = wanted.value"):
            self._against[bare(made.claim.old or "")].append(self._adopted(made))
        for thing in things:
            self._on[thing] = _latest_first(self._on[thing])
        for value in values:
            self._against[value] = _latest_first(self._against[value])

    def _latest(self, names: str, wanted: Sequence[tuple[str, ...]], where: str) -> list[Made]:
        found: list[Made] = []
        for start in range(0, len(wanted), _CHUNK):
            chunk = wanted[start : start + _CHUNK]
            one = f"({','.join('?' * len(chunk[0]))})"
            query = _LATEST.format(
                names=names, places=",".join([one] * len(chunk)), columns=_COLUMNS, where=where
            )
            values = [value for row in chunk for value in row]
            found += [_made(row) for row in self._connection.execute(query, (*values, self._until, MOST))]
        return found

    # ---- claims that don't say what changed -----------------------------------------------------

    def _without_subject(self) -> list[Made]:
        """Return the latest claims such as `moved to /v2`, about the one thing that had a version by then."""
        if self._unsaid is None:
            rows = self._connection.execute(
                f"SELECT {_COLUMNS} FROM statement WHERE subject IS NULL AND at <= ?"
                " ORDER BY at DESC, seq DESC LIMIT ?",
                (self._until, MOST),
            )
            self._unsaid = _latest_first(self._adopted(_made(row)) for row in rows.fetchall())
        return self._unsaid

    def _adopted(self, made: Made) -> Made:
        """Return the claim with its subject: where none is said, the only one it can be about by then."""
        if made.claim.subject is not None:
            return made
        subjects = self._connection.execute(
            "SELECT DISTINCT subject FROM statement WHERE attribute = ? AND subject IS NOT NULL AND at < ?"
            " AND value GLOB 'v[0-9]*' LIMIT 2",
            (_VERSION, made.place.at),
        ).fetchall()
        if len(subjects) != 1:
            return made
        return made.about(_words(subjects[0][0]))


def _made(row: tuple[Any, ...]) -> Made:
    at, seq, ord, part, subject, attribute, value, old, reach, tentative, actor, whole = row
    words = None if subject is None else _words(subject)
    claim = Claim(words, attribute, value, old, Reach(reach), bool(tentative))
    return Made(claim, Place(at, seq, ord, part), actor, whole=bool(whole))


def _latest_first(claims: Iterable[Made]) -> list[Made]:
    return sorted(claims, key=_PLACE, reverse=True)


def _words(subject: str) -> tuple[str, ...]:
    return tuple(subject.split(" ")) if subject else ()


def _thing(made: Made) -> tuple[str, str]:
    return made.claim.attribute, " ".join(made.claim.subject or ())


def _is_numbered(claim: Claim) -> bool:
    return (
        claim.attribute == _VERSION and claim.value is not None and _NUMBERED.match(claim.value) is not None
    )
