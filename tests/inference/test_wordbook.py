"""Words that work was told with: scores by hand, what is told alike, and taking out what was put in."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference.wordbook import LENGTH, MAX_SIZE, NEAREST, SATURATION, UNIT, Wordbook

WORDS = ["login", "cart", "token", "登录", "session"]


class Piece(NamedTuple):
    """A piece of work."""

    words: list[str]
    files: list[int]


PIECES = st.lists(
    st.builds(
        Piece,
        st.lists(st.sampled_from(WORDS), unique=True),
        st.one_of(st.lists(st.integers(1, 9), unique=True, max_size=9), st.just(list(range(MAX_SIZE + 1)))),
    ),
    max_size=12,
)


def book(*pieces: Piece) -> Wordbook:
    made = Wordbook()
    for number, piece in enumerate(pieces):
        made.add(number, *piece)
    return made


def answers(made: Wordbook) -> list[Any]:
    files = list(range(12))
    asked = [WORDS, *([word] for word in WORDS)]
    return [
        [made.rarity(word) for word in WORDS],
        [made.rarest(words, 3) for words in asked],
        [made.holders(words) for words in asked],
        [made.relevance(words, files) for words in asked],
        [made.nearest(words) for words in asked],
    ]


@settings(max_examples=60)
@given(PIECES, st.integers(0, 12))
def test_what_is_taken_out_leaves_the_same_answers(pieces: list[Piece], kept: int) -> None:
    made = book(*pieces)
    for number in reversed(range(min(kept, len(pieces)), len(pieces))):
        made.take_out(number, *pieces[number])
    assert answers(made) == answers(book(*pieces[:kept]))
    for number, piece in enumerate(pieces[kept:], start=kept):
        made.add(number, *piece)
    assert answers(made) == answers(book(*pieces))


def test_relevance_is_bm25() -> None:
    made = book(Piece(["login", "token"], [1]), Piece(["login"], [1, 2]), Piece(["cart"], [3]))
    # File 1 holds login twice in 3 words, file 2 once in 1, file 3 none in 1; the mean length is 5 / 3.
    rarity = math.log(1 + 3 / (1 + 2))

    def bm25(times: float, length: float) -> float:
        room = SATURATION * (1 - LENGTH + LENGTH * length / (5 / 3))
        return rarity * times * (SATURATION + 1) / (times + room)

    assert made.relevance(["login"], [1, 2, 3, 4]) == pytest.approx([bm25(2, 3), bm25(1, 1), 0.0, 0.0])


def test_each_file_of_a_larger_piece_of_work_counts_less() -> None:
    made = book(Piece(["login"], [1]), Piece(["login"], [2, 3, 4, 5, 6, 7]))
    rarity = math.log(1 + 7 / (1 + 7))
    assert made.holders(["login"]) == pytest.approx(
        {1: rarity * UNIT / (UNIT + UNIT)} | dict.fromkeys(range(2, 8), rarity * 0.5 / 1.5)
    )


def test_words_that_no_work_was_told_with_say_nothing() -> None:
    made = book(Piece(["login"], [1]))
    assert made.relevance(["cart"], [1]) == [0.0]
    assert made.holders(["cart"]) == {}
    assert made.nearest(["cart"]) == []
    assert made.rarest(["cart", "login"], 5) == ["login"]


def test_the_rarest_words_come_first_each_once() -> None:
    made = book(Piece(["login", "cart"], [1]), Piece(["login"], [2]), Piece(["login", "token"], [3]))
    assert made.rarest(["login", "cart", "login", "token"], 5) == ["cart", "token", "login"]
    assert made.rarest(["login", "token"], 1) == ["token"]


def test_the_work_told_most_alike_comes_first() -> None:
    made = book(
        Piece(["cart", "token"], [1]),
        Piece(["login", "session"], [2]),
        Piece(["login", "token"], [3]),
        Piece(["login", "session"], [4]),
    )
    found = [piece for _, piece in made.nearest(["login", "session"])]
    assert found == [1, 3, 2]


def test_of_work_told_equally_alike_the_latest_comes_first() -> None:
    # A word that all work but the first is told with is always worth the same.
    made = book(Piece(["cart"], [1]), *(Piece(["login"], [1]) for _ in range(3)))
    found = made.nearest(["login"])
    assert [piece for _, piece in found] == [3, 2, 1]
    assert len({likeness for likeness, _ in found}) == 1


def test_work_told_with_the_very_words_is_quite_alike() -> None:
    made = book(*(Piece(["cart"], [1]) for _ in range(8)), Piece(["login", "token"], [2]))
    likeness, piece = made.nearest(["token", "login"])[0]
    assert piece == 8
    assert likeness == pytest.approx(math.log1p(9 / 2) / math.log1p(8 / 1), rel=1e-9)


def test_only_so_many_pieces_are_looked_at() -> None:
    made = book(*(Piece(["login"], [number]) for number in range(NEAREST + 20)))
    assert len(made.nearest(["login"])) == NEAREST


@pytest.mark.parametrize(
    "silent", [Piece(["login"], list(range(MAX_SIZE + 1))), Piece(["login"], []), Piece([], [1, 2])]
)
def test_bulk_work_and_work_without_words_or_files_tells_nothing(silent: Piece) -> None:
    assert answers(book(silent)) == answers(Wordbook())
    told = Piece(["login"], [1])
    assert answers(book(told, silent)) == answers(book(told))
