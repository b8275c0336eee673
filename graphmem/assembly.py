"""Owns how a session's events become observations: one prompt's turn is one, cut where it grows or rests.

It is not the door (that is `graphmem.capture.intake`) nor the journal's business; it does no I/O and reads no
clock: what comes out is a function of the events and the moments given. Events are those of one session in
one project, in the order of arrival.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graphmem.events import Event
from graphmem.open_turn import OpenTurn, decode, encode

__all__ = ["Draft", "OpenTurn", "current", "decode", "due", "encode", "fed"]


@dataclass(frozen=True, slots=True)
class Draft:
    """An observation to be: `item` as one comes from outside, the rest as `Observation` has it."""

    item: Mapping[str, object]
    turn: str
    provisional: bool


def fed(turn: OpenTurn | None, event: Event) -> tuple[OpenTurn | None, list[Draft]]:
    """Take one event; return what is kept until the next one, and the drafts that are final with it."""
    return turn, []


def due(turn: OpenTurn, now: float) -> tuple[OpenTurn | None, list[Draft]]:
    """Finish what has rested or lasted too long at `now`; None where nothing of the session need be kept."""
    return turn, []


def current(turn: OpenTurn) -> Draft | None:
    """Return the part being worked on as it stands, provisional, once it holds an edit."""
    return None
