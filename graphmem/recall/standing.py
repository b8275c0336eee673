"""Owns whether what a piece says still holds: current, superseded and by what, tentative, how well settled.

It is not how a sentence gives something a value (`graphmem.speech`), not which of two claims holds
(`succession`), and not the order of pieces (`inference.fusion`). Only a later statement on the same subject
and attribute takes an earlier one's place.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from graphmem.database import chunked
from graphmem.instant import DAY, to_iso
from graphmem.postings import View
from graphmem.question import Layer, Standing, Successor
from graphmem.recall.claimed import Claims
from graphmem.recall.succession import Fate, Link, Made, Place, final, link
from graphmem.speech.claims import Reach
from graphmem.statement_rows import OWN_TEXT, TASK

Key = tuple[int, int]
"""A piece: an observation's number in the derived file, and the place of a fact in it, -1 its own text."""

WORKING_DAYS = 7.0
DURABLE_SESSIONS = 2
TENTATIVE_WEIGHT = 0.7
"""What a tentative statement counts for beside a firm one."""

_SHOWN = 100
_SESSION = "COALESCE(landing.session, observation.session)"


@dataclass(frozen=True, slots=True)
class Outdated:
    """A sentence of a piece that no longer holds, as it was said, and what holds now in its place."""

    text: str
    successor: Successor


@dataclass(frozen=True, slots=True)
class PieceStanding:
    """How a piece stands at a view's moment.

    `successor` is what holds now in place of a superseded one. `sessions` is in how many sessions the same
    was stated, `repeated` whether a later fact states the same. `outdated` are the sentences of a piece
    that no longer hold while it stands as a whole; of a superseded one all of them.
    """

    standing: Standing = Standing.CURRENT
    successor: Successor | None = None
    layer: Layer | None = None
    sessions: int = 1
    confirmed: bool = False
    repeated: bool = False
    outdated: tuple[Outdated, ...] = ()

    @property
    def flags(self) -> tuple[str, ...]:
        """What a reader should know of a piece that stands though a sentence of it is outdated."""
        if self.standing is Standing.SUPERSEDED:
            return ()
        return tuple(
            f'outdated: "{_short(one.text)}", now "{_short(one.successor.text)}"'
            f" ({to_iso(one.successor.at)[:10]})"
            for one in self.outdated
        )


class _Fact(NamedTuple):
    """What the table of facts says of a piece."""

    tentative: bool
    same: int


def standings(
    view: View, keys: Sequence[Key], confirmed: Collection[int] = frozenset(), now: float | None = None
) -> dict[Key, PieceStanding]:
    """Return how each of these pieces stands at the view's moment; those that are not known are left out.

    Args:
        view: the postings; what is later than its `as_of` does not exist.
        keys: pieces, up to some hundreds.
        confirmed: the numbers of observations that somebody confirmed (`Journal.confirmations`).
        now: the present moment in epoch seconds, for the working layer; default the view's `as_of`, or the
            newest observation's where that is the present.
    """
    heads = _heads(view, keys)
    facts = _facts(view, keys)
    known = [key for key in dict.fromkeys(keys) if key[0] in heads and (key[1] == OWN_TEXT or key in facts)]
    claims = Claims(view)
    of_pieces = claims.of(heads)
    made = [one for key in known for one in of_pieces.get(key, ())]
    direct = claims.fates(made)
    fates = {one.place: final(one.place, direct) for one in made}
    taken = {one.place: by for one in made for found, by in (fates[one.place],) if found is Link.TAKEN}
    texts = _texts(view, [one for one in made if one.place in taken] + [by for by in taken.values() if by])
    stating = {key: claims.stating(of_pieces.get(key, ())) for key in known}
    sessions = _sessions(view, known, stating, facts)
    moment = _moment(view, now)
    found: dict[Key, PieceStanding] = {}
    for key in known:
        mine, is_confirmed = of_pieces.get(key, []), key[0] in confirmed
        outdated = _outdated(mine, fates, texts)
        standing = _standing(mine, fates, facts.get(key))
        found[key] = PieceStanding(
            standing=standing,
            successor=outdated[0].successor if standing is Standing.SUPERSEDED else None,
            layer=_layer(sessions[key], is_confirmed, heads[key[0]], moment),
            sessions=sessions[key],
            confirmed=is_confirmed,
            repeated=_is_repeated(mine, claims),
            outdated=outdated,
        )
    return found


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _SHOWN else f"{flat[: _SHOWN - 1].rstrip()}…"


# ---- what becomes of a piece --------------------------------------------------------------------


def _deciding(claims: Sequence[Made]) -> list[Made]:
    """Return the claims that decide how a piece stands: of a task that is done, what it did."""
    main = [one for one in claims if one.claim.reach is not Reach.NOTHING]
    return [one for one in main if one.claim.attribute != TASK] or main


def _besides(claims: Sequence[Made]) -> list[Made]:
    return [one for one in claims if one.claim.reach is Reach.NOTHING]


def _outdated(
    claims: Sequence[Made], fates: Mapping[Place, Fate], texts: Mapping[Place, Successor]
) -> tuple[Outdated, ...]:
    found: dict[str, Outdated] = {}
    for one in (*_deciding(claims), *_besides(claims)):
        taken, by = fates[one.place]
        if taken is Link.TAKEN and by is not None:
            text = texts[one.place].text
            found.setdefault(text, Outdated(text, texts[by.place]))
    return tuple(found.values())


def _standing(claims: Sequence[Made], fates: Mapping[Place, Fate], fact: _Fact | None) -> Standing:
    deciding = _deciding(claims)
    is_whole = fact is not None or all(one.whole for one in deciding)
    taken = [fates[one.place][0] is Link.TAKEN for one in deciding]
    if len(deciding) == 1 and any(fates[one.place][0] is Link.TAKEN for one in _besides(claims)):
        taken = [True]
    if deciding and is_whole and all(taken):
        return Standing.SUPERSEDED
    tentative = bool(deciding) and is_whole and all(one.claim.tentative for one in deciding)
    return Standing.TENTATIVE if tentative or (fact is not None and fact.tentative) else Standing.CURRENT


def _is_repeated(mine: Sequence[Made], claims: Claims) -> bool:
    """Return whether a later fact states all that decides how the piece stands."""
    deciding = _deciding(mine)
    return bool(deciding) and all(
        any(later.place.ord != OWN_TEXT and link(later, one) is Link.SAME for later in claims.later(one))
        for one in deciding
    )


def _layer(sessions: int, confirmed: bool, at: float, now: float) -> Layer | None:
    if confirmed or sessions >= DURABLE_SESSIONS:
        return Layer.DURABLE
    return Layer.WORKING if at > now - WORKING_DAYS * DAY else None


# ---- what is read -------------------------------------------------------------------------------


def _heads(view: View, keys: Sequence[Key]) -> dict[int, float]:
    """Return the times of the observations, without those that are later than the view."""
    rows = chunked(
        view.connection, "SELECT seq, at FROM observation WHERE seq IN ({})", (seq for seq, _ in keys)
    )
    return {seq: at for seq, at in rows if at <= view.as_of}


def _moment(view: View, now: float | None) -> float:
    if now is not None:
        return now
    if view.as_of != math.inf:
        return view.as_of
    return float(view.connection.execute("SELECT MAX(at) FROM observation").fetchone()[0] or 0.0)


def _facts(view: View, keys: Iterable[Key]) -> dict[Key, _Fact]:
    numbers = (seq for seq, ord in keys if ord != OWN_TEXT)
    rows = chunked(view.connection, "SELECT seq, ord, tentative, same FROM fact WHERE seq IN ({})", numbers)
    return {(seq, ord): _Fact(bool(tentative), same) for seq, ord, tentative, same in rows}


def _texts(view: View, claims: Iterable[Made]) -> dict[Place, Successor]:
    """Return claims as they were said, with the observation each is from."""
    wanted = {one.place for one in claims}
    rows = chunked(
        view.connection,
        "SELECT statement.at, statement.seq, statement.ord, part, COALESCE(fact.text, statement.text),"
        " observation.id FROM statement JOIN observation ON observation.seq = statement.seq"
        " LEFT JOIN fact ON fact.seq = statement.seq AND fact.ord = statement.ord"
        " WHERE statement.seq IN ({})",
        (place.seq for place in wanted),
    )
    said = {Place(*row[:4]): Successor(row[5], row[4], row[0]) for row in rows}
    return {place: said[place] for place in wanted}


def _sessions(
    view: View, keys: Sequence[Key], stating: Mapping[Key, Collection[int]], facts: Mapping[Key, _Fact]
) -> dict[Key, int]:
    """Return in how many sessions each piece was stated: its claims with the same values, or its very words.

    A commit that lands a turn is of that turn's session.
    """
    landed = "LEFT JOIN landing ON landing.seq = observation.seq"
    numbers = [seq for key in keys for seq in (key[0], *stating[key])]
    session = dict(
        chunked(
            view.connection,
            f"SELECT observation.seq, {_SESSION} FROM observation {landed} WHERE observation.seq IN ({{}})",
            numbers,
        )
    )
    by_words: dict[int, set[int]] = defaultdict(set)
    rows = chunked(
        view.connection,
        f"SELECT same, {_SESSION}, MIN(fact.at) FROM fact"
        f" JOIN observation ON observation.seq = fact.seq {landed}"
        " WHERE same IN ({}) GROUP BY 1, 2",
        (facts[key].same for key in keys if key in facts),
    )
    for same, number, at in rows:
        if at <= view.as_of:
            by_words[same].add(number)
    return {
        key: len(
            {session[seq] for seq in (key[0], *stating[key])}
            | (by_words[facts[key].same] if key in facts else set())
        )
        for key in keys
    }
