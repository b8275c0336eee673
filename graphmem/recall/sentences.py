"""Owns what is worth reading of an observation's own text: the sentence nearest to a question, then others.

It is not which observations are found. The nearest sentence is the one that holds most of the question's
words, of equals the first. Where none holds any the line stays as it is, and what was told first may follow.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from graphmem.journal import Journal
from graphmem.question import Piece, PieceKind
from graphmem.recall.standing import Key
from graphmem.text import STOP_WORDS, tokens

_LOOKED_AT = 8_000
_MOST = 60
_LONGEST = 1_000
_OTHERS = 3
_READ = 50
"""So many pieces are read; what stands further behind keeps its title."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])|\n+")


class WorthReading(NamedTuple):
    """Pieces with their lines, and the next sentences of each, by its key."""

    pieces: tuple[Piece, ...]
    further: dict[Key, tuple[str, ...]]


def worth_reading(journal: Journal, pieces: Sequence[Piece], text: str) -> WorthReading:
    """Return pieces of which those of an observation's own text say what is nearest to the question `text`.

    Facts are lines by themselves and stay as they are.
    """
    own = dict.fromkeys(piece.seq for piece in pieces if _is_own(piece))
    told = journal.numbered(islice(own, _READ))
    wanted = frozenset(tokens(text[:_LOOKED_AT])) - STOP_WORDS
    read: list[Piece] = []
    further: dict[Key, tuple[str, ...]] = {}
    for piece in pieces:
        observation = told.get(piece.seq)
        if observation is None or not _is_own(piece):
            read.append(piece)
            continue
        sentences = sentences_of(observation.narrative) or sentences_of(observation.intent)
        if not sentences:
            read.append(piece)
            continue
        held = [len(wanted & frozenset(tokens(sentence))) for sentence in sentences]
        best = held.index(max(held))
        if held[best]:
            read.append(replace(piece, text=sentences[best]))
            others = sentences[best + 1 :] + sentences[:best]
        else:
            read.append(piece)
            others = sentences
        further[piece.seq, piece.ord] = tuple(others[:_OTHERS])
    return WorthReading(tuple(read), further)


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text, of a long one those of its beginning."""
    found = (sentence.strip()[:_LONGEST] for sentence in _SENTENCE.split(text[:_LOOKED_AT]))
    return [sentence for sentence in found if sentence][:_MOST]


def _is_own(piece: Piece) -> bool:
    return piece.kind is PieceKind.HISTORY and piece.ord < 0
