"""`graphmem.recall.blending`: one list of pieces from what words and vectors found."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphmem.embedding.store import ENGLISH_SPACE, MANY_SPACE, Similar
from graphmem.recall.blending import blended, key_of, piece_of
from graphmem.recall.lexical import Lexical, LexicalHit

WORDS = Lexical((LexicalHit(2, 0, 0.9, 0.9),), 4)
SIMILAR = Similar(
    np.array([1, 2, 3, 4]),
    np.array([-1, 0, -1, -1], np.int32),
    np.array([0.7, 0.1, 0.0, 0.5], np.float32),
    np.array([ENGLISH_SPACE, ENGLISH_SPACE, ENGLISH_SPACE, MANY_SPACE], np.int8),
)


@given(st.integers(1, 2**40), st.integers(-1, 100_000))
def test_a_key_stands_for_a_piece_and_later_ones_are_larger(seq: int, ord: int) -> None:
    assert piece_of(key_of(seq, ord)) == (seq, ord)
    assert key_of(seq, ord) < key_of(seq + 1, -1)


def test_meaning_leads_plain_questions_and_words_literal_ones() -> None:
    assert piece_of(blended("why are users logged out", WORDS, SIMILAR)[0].key) == (1, -1)
    assert piece_of(blended("ERR-4107", WORDS, SIMILAR)[0].key) == (2, 0)


def test_pieces_of_both_spaces_are_in_one_list() -> None:
    found = [piece_of(piece.key)[0] for piece in blended("why", WORDS, SIMILAR)]
    assert set(found) == {1, 2, 3, 4}
    assert found.index(4) < found.index(3)


def test_filters_hold_for_vectors_too() -> None:
    found = blended("why", Lexical((), 4), SIMILAR, allowed=frozenset({3, 4}))
    assert {piece_of(piece.key)[0] for piece in found} == {3, 4}


def test_without_vectors_words_alone_answer() -> None:
    assert [piece_of(piece.key) for piece in blended("why", WORDS, None)] == [(2, 0)]
    assert blended("why", Lexical((), 0), None) == []
