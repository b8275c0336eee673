"""Owns whether what a piece says still holds: current, superseded and by what, tentative, how well settled.

It is not how a sentence gives something a value (`graphmem.speech`) and not the order of pieces
(`inference.fusion`). Only a later statement on the same subject and attribute takes an earlier one's place.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from graphmem.database import chunked
from graphmem.instant import DAY, to_iso
from graphmem.postings import View
from graphmem.question import Layer, Standing, Successor

Key = tuple[int, int]
"""A piece: an observation's number in the derived file, and the place of a fact in it, -1 its own text."""

WORKING_DAYS = 7.0
DURABLE_SESSIONS = 2
TENTATIVE_WEIGHT = 0.7
"""What a tentative statement counts for beside a firm one."""


@dataclass(frozen=True, slots=True)
class Outdated:
    """A sentence of a piece that no longer holds, as it was said, and what took its place."""

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
    def weight(self) -> float:
        """What it counts for, 1 as a rule."""
        return TENTATIVE_WEIGHT if self.standing is Standing.TENTATIVE else 1.0

    @property
    def flags(self) -> tuple[str, ...]:
        """What a reader should know of a piece that stands though a sentence of it is outdated."""
        if self.standing is Standing.SUPERSEDED:
            return ()
        return tuple(
            f"outdated: {one.text!r}, now {one.successor.text!r} ({to_iso(one.successor.at)[:10]})"
            for one in self.outdated
        )


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
    numbers = [seq for seq, _ in keys]
    heads = {
        seq: at
        for seq, at in chunked(view.connection, "SELECT seq, at FROM observation WHERE seq IN ({})", numbers)
        if at <= view.as_of
    }
    if now is None:
        newest = view.connection.execute("SELECT MAX(at) FROM observation").fetchone()[0] or 0.0
        now = newest if view.as_of == math.inf else view.as_of
    found: dict[Key, PieceStanding] = {}
    for seq, ord in keys:
        if seq in heads:
            is_confirmed = seq in confirmed
            recent = heads[seq] > now - WORKING_DAYS * DAY
            layer = Layer.DURABLE if is_confirmed else Layer.WORKING if recent else None
            found[seq, ord] = PieceStanding(layer=layer, confirmed=is_confirmed)
    return found
