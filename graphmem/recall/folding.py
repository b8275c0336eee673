"""Owns which pieces say the same, so that a context tells it once: the newest, and how often it was stated.

It is not supersession: pieces that say different things of one subject are never folded. Only what is equal
but for case, marks and articles is folded, as a single word more may mean the contrary.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from graphmem.question import Piece, PieceKind, Standing

_LOOKED_AT = 2_000
_MOST = 1 / 1.5
"""A fact that makes up so much of its own observation's title says what the title says."""

_MARKS = re.compile(r"[\"'`“”‘’「」『』\s]+")
_ARTICLES = re.compile(r"\b(?:a|an|the) ")
_ENDS = " .。!!,,;;::"
_ORDER = {kind: place for place, kind in enumerate(PieceKind)}


@dataclass(frozen=True, slots=True)
class Fold:
    """A piece, how often it was stated, and the keys (`seq`, `ord`) of all pieces that say it."""

    piece: Piece
    times: int
    keys: tuple[tuple[int, int], ...]


def folded(pieces: Sequence[Piece], claims: Mapping[tuple[int, int], Hashable] | None = None) -> list[Fold]:
    """Return the pieces, those that say the same as one, in the order of the best of each.

    Args:
        pieces: best first.
        claims: what a piece states, by its key, where that is known: pieces that give the same value to the
            same attribute of the same subject say the same, however they are worded.
    """
    groups: dict[Hashable, list[Piece]] = {}
    place_of: dict[Hashable, Hashable] = {}
    known = claims or {}
    for piece in pieces:
        signs = _signs(piece, known.get((piece.seq, piece.ord)))
        place = next((place_of[sign] for sign in signs if sign in place_of), signs[0])
        groups.setdefault(place, []).append(piece)
        for sign in signs:
            place_of.setdefault(sign, place)
    return [_fold(group) for group in _without_titles(list(groups.values()))]


def plain(text: str) -> str:
    """Return a text without what makes no difference to what it says: case, quotation marks, articles.

    A long text stays as it is.
    """
    if len(text) > _LOOKED_AT:
        return text
    flat = _MARKS.sub(" ", unicodedata.normalize("NFKC", text)).casefold()
    return _ARTICLES.sub("", f"{flat} ").strip(_ENDS)


def _signs(piece: Piece, claim: Hashable | None) -> list[Hashable]:
    """Return by what a piece is known to say the same as another; what is out of date is apart."""
    old = piece.standing is Standing.SUPERSEDED
    said = plain(piece.text or piece.title)
    # A piece without any letter says nothing that another could say too.
    signs: list[Hashable] = [(old, said) if said else (piece.seq, piece.ord)]
    if claim is not None:
        signs.append((old, "claim", claim))
    return signs


def _fold(group: Sequence[Piece]) -> Fold:
    """Return the newest of a group, with the best score and the kind that goes first."""
    newest = max(group, key=lambda piece: (piece.at, piece.seq, piece.ord))
    kind = min((piece.kind for piece in group), key=_ORDER.__getitem__)
    score = max(piece.score for piece in group)
    direct = any(not piece.via for piece in group)
    told = replace(newest, kind=kind, score=score, via=() if direct else newest.via)
    keys = tuple(dict.fromkeys((piece.seq, piece.ord) for piece in group))
    return Fold(told, len({piece.seq for piece in group}), keys)


def _without_titles(groups: Sequence[list[Piece]]) -> list[list[Piece]]:
    """Join a title with nothing to add with the fact of the same observation that it consists of."""
    facts: dict[int, list[tuple[str, list[Piece]]]] = {}
    for group in groups:
        for piece in group:
            if piece.kind is not PieceKind.HISTORY and piece.standing is not Standing.SUPERSEDED:
                facts.setdefault(piece.seq, []).append((plain(piece.text), group))
    kept = []
    for group in groups:
        title = group[0]
        same = None
        if len(group) == 1 and title.kind is PieceKind.HISTORY and title.text in ("", title.title):
            words = plain(title.title)
            same = next((other for said, other in facts.get(title.seq, ()) if _is_most_of(said, words)), None)
        if same is None:
            kept.append(group)
        else:
            same.append(title)
    return kept


def _is_most_of(said: str, words: str) -> bool:
    return bool(said) and said in words and len(said) >= _MOST * len(words)
