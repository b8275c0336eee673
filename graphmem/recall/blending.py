"""Owns how what the words and the vectors of one project found becomes one ranked list of pieces.

It is not the formula (that is `inference.fusion`) and knows nothing of age or standing yet: pieces come by
the number of their observation and their place in it.
"""

from __future__ import annotations

from collections.abc import Mapping

from graphmem.embedding.store import Similar
from graphmem.recall.lexical import Lexical
from graphmem.recall.tongue import has_identifier
from inference.fusion import PLACES, Fused, Usual, fused, likenesses


def key_of(seq: int, ord: int) -> int:
    """Return one number for a piece: the larger, the later it was told."""
    return seq * PLACES + ord + 1


def piece_of(key: int) -> tuple[int, int]:
    """Return the observation's number and the place in it that a key stands for."""
    seq, place = divmod(key, PLACES)
    return seq, place - 1


def blended(
    text: str,
    words: Lexical,
    similar: Similar | None,
    usual: Mapping[int, Usual] | None = None,
    allowed: frozenset[int] | None = None,
) -> list[Fused]:
    """Return the pieces that words or vectors found, best first; `piece_of` reads their keys.

    Args:
        text: the question.
        words: what its words found.
        similar: what vectors say of every passage, None where there is no model.
        usual: by space (as in `similar.space`), how like unrelated texts are there.
        allowed: the observations that pass the filters, None for all.
    """
    spaces = [] if similar is None else likenesses(*similar, usual or {}, allowed)
    held = {key_of(hit.seq, hit.ord): hit.score for hit in words.hits}
    return fused(held, spaces, literal=has_identifier(text))
