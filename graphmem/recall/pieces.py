"""Owns how the key of a piece becomes the piece: its text, kind, time and source, and how it stands.

It is not how pieces are found, nor their order. What is gone, or later than the view, is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphmem.database import chunked
from graphmem.journal import Journal
from graphmem.model import Observation, Scope, TaskState
from graphmem.postings import View
from graphmem.question import Piece, PieceKind
from graphmem.recall.standing import Key, PieceStanding, standings
from graphmem.speech.value_shapes import shaped

OWN_TEXT = -1
_LONGEST = 2_000


def pieces_of(
    view: View,
    journal: Journal,
    keys: Sequence[Key],
    scores: Mapping[Key, float],
    now: float | None = None,
) -> list[Piece]:
    """Return these pieces in the order of their keys.

    An observation that only states facts has no text of its own and is left out as a piece of its own.

    Args:
        view: the postings; what is later than its `as_of` does not exist.
        journal: where the texts are read from.
        keys: up to some hundreds.
        scores: by key.
        now: the present moment in epoch seconds, see `standings`.
    """
    as_of = None if view.as_of > 1e15 else view.as_of
    stand = standings(view, keys, journal.confirmations.confirmed(as_of), now)
    known = list(stand)
    told = journal.numbered(dict.fromkeys(seq for seq, _ in known))
    facts = _facts(view, known)
    found: list[Piece] = []
    for key in known:
        observation = told.get(key[0])
        if observation is None:
            continue
        if key[1] == OWN_TEXT:
            line = _own_line(observation)
            if not line:
                continue
            found.append(_piece(key, observation, PieceKind.HISTORY, line, stand[key], scores.get(key, 0.0)))
        elif key in facts:
            kind, text, flags = facts[key]
            made = _piece(key, observation, kind, text, stand[key], scores.get(key, 0.0), flags)
            found.append(made)
    return found


def claims_of(view: View, keys: Sequence[Key]) -> dict[Key, frozenset[tuple[str, ...]]]:
    """Return what facts claim, for `graphmem.recall.folding`, without those that claim nothing definite."""
    wanted = {key for key in keys if key[1] != OWN_TEXT}
    rows = chunked(
        view.connection,
        "SELECT seq, ord, subject, attribute, value, actor FROM statement WHERE seq IN ({})",
        {seq for seq, _ in wanted},
    )
    found: dict[Key, set[tuple[str, ...]]] = {}
    vague = set()
    for seq, ord, subject, attribute, value, actor in rows:
        if subject is None or value is None:
            vague.add((seq, ord))
        elif (seq, ord) in wanted:
            found.setdefault((seq, ord), set()).add((subject, attribute, _settled(value), actor))
    return {key: frozenset(claims) for key, claims in found.items() if key not in vague}


def _settled(value: str) -> str:
    """Return a value in one form, whatever its unit."""
    known = shaped(value)
    return known.text if known.number is None else f"{known.number:g} {known.unit}"


def _piece(
    key: Key,
    observation: Observation,
    kind: PieceKind,
    text: str,
    stand: PieceStanding,
    score: float,
    flags: tuple[str, ...] = (),
) -> Piece:
    return Piece(
        seq=key[0],
        ord=key[1],
        id=observation.id,
        kind=kind,
        title=observation.title,
        text=text,
        at=observation.at,
        source=observation.source,
        score=score,
        standing=stand.standing,
        successor=stand.successor,
        layer=stand.layer,
        flags=(*flags, *stand.flags),
    )


def _own_line(observation: Observation) -> str:
    told = observation.title or observation.intent or observation.narrative
    if told:
        return told[:_LONGEST]
    return ", ".join((observation.files_modified or observation.files_read or observation.files_deleted)[:3])


def _facts(view: View, keys: Sequence[Key]) -> dict[Key, tuple[PieceKind, str, tuple[str, ...]]]:
    """Return kind, text and notes of facts; a task that is done is history."""
    rows = chunked(
        view.connection,
        "SELECT seq, ord, kind, state, scope, actor, text FROM fact WHERE seq IN ({})",
        (seq for seq, ord in keys if ord != OWN_TEXT),
    )
    found = {}
    for seq, ord, kind, state, scope, actor, text in rows:
        notes = []
        if state == TaskState.DONE:
            notes.append("done")
        if scope == Scope.ACTOR and actor:
            notes.append(f"holds for {actor}")
        shown = PieceKind.HISTORY if state == TaskState.DONE else PieceKind(kind)
        found[seq, ord] = (shown, text, tuple(notes))
    return found
