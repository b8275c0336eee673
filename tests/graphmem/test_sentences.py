"""What is worth reading of an observation: the sentence nearest to the question, then what follows it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphmem import Project
from graphmem.question import Piece, PieceKind, Question
from graphmem.recall.sentences import sentences_of


@pytest.fixture
def ask(shop: Project) -> Callable[[str], Piece]:
    shop.observe(
        [
            {
                "id": "a",
                "title": "Carrier client",
                "narrative": "The client was rewritten. It tries six times when a call fails."
                " Then it raises.",
                "facts": ["the carrier client lives in services/carriers"],
            },
            {"id": "z", "title": "运单标签", "narrative": "先画面单。面单格式是 ZPL；仓库直接打印。"},
        ]
    )
    assert shop.wait_visible()

    def best(text: str) -> Piece:
        found = shop.query(Question(text)).pieces
        return next(piece for piece in found if piece.kind is PieceKind.HISTORY)

    return best


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("how often does the carrier client try when a call fails?", "It tries six times when a call fails."),
        ("carrier client", "The client was rewritten."),
        ("面单是什么格式？", "面单格式是 ZPL；"),
    ],
)
def test_the_sentence_that_holds_most_of_the_questions_words_is_the_line(
    ask: Callable[[str], Piece], text: str, line: str
) -> None:
    assert ask(text).text == line


def test_what_follows_stands_below_where_there_is_room(shop: Project, ask: Callable[[str], Piece]) -> None:
    ask("carrier")
    context = shop.query(Question("carrier client call fails")).context.splitlines()
    place = next(number for number, line in enumerate(context) if line.startswith("- history"))
    assert '"Carrier client" "It tries six times when a call fails."' in context[place]
    assert context[place + 1 : place + 3] == ['  "Then it raises."', '  "The client was rewritten."']


def test_a_fact_stays_as_it_is(shop: Project, ask: Callable[[str], Piece]) -> None:
    ask("carrier")
    facts = [piece for piece in shop.query(Question("where is the carrier client")).pieces if piece.ord >= 0]
    assert [fact.text for fact in facts] == ["the carrier client lives in services/carriers"]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        (" \n ", 0),
        ("version 1.2 of it. And more!", 2),
        ("一。二！三", 3),
        ("a\nb\n\nc", 3),
        ("x. " * 500, 60),
    ],
)
def test_sentences_are_told_apart_in_both_languages(text: str, count: int) -> None:
    assert len(sentences_of(text)) == count


def test_a_text_without_an_end_is_bounded() -> None:
    assert [len(sentence) for sentence in sentences_of("x" * 100_000)] == [1_000]
