"""An open turn is kept as text between two events."""

from __future__ import annotations

import json

import pytest

from graphmem.errors import InvalidInputError
from graphmem.turns.open_turn import OpenTurn, Part, Saying, Turn, decode, encode
from graphmem.turns.turn_files import Standing, TurnFiles

FILES = TurnFiles((Standing("b", "a", True), Standing("n", None, True)), ("g",), ("r", "\u8bfb\udc80"))
PART = Part(
    3, 10.25, 20.125, FILES, (Saying("t", "task", "open", "project"), Saying("f", "fact", None, "actor"))
)
KEPT = OpenTurn(
    "plain",
    "s\n1",
    99.5,
    "/home/dev/shop",
    2,
    Turn("p1", PART, "do it\u2028", "Do it", 2),
    Turn("p0", Part(0, 1.0, 2.0, answer="done", cwd="/home", is_touched=True, is_told=True)),
    (("p0", 1),),
)


@pytest.mark.parametrize("turn", [KEPT, OpenTurn("c", "s", 0.0)], ids=["full", "empty"])
def test_an_open_turn_comes_back_from_its_text(turn: OpenTurn) -> None:
    text = encode(turn)
    assert decode(text) == turn
    assert text.isascii() and "\n" not in text


def _without(name: str) -> str:
    raw = json.loads(encode(KEPT))
    del raw[name]
    return json.dumps(raw)


def _with(name: str, value: object) -> str:
    return json.dumps({**json.loads(encode(KEPT)), name: value})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "3",
        '"form"',
        encode(KEPT)[:-20],
        "[" * 100_000,
        _without("turn"),
        _without("seen"),
        _with("seen", "now"),
        _with("seen", float("nan")),
        _with("prompts", True),
        _with("numbers", [["p0"]]),
        _with("numbers", 4),
        _with("turn", {"key": "p1"}),
        _with("turn", []),
        _with("client", None),
    ],
)  # fmt: skip
def test_a_damaged_text_is_refused_with_the_remedy(text: str) -> None:
    with pytest.raises(InvalidInputError, match=r"can't be read .*; drop it"):
        decode(text)


def test_a_text_of_another_version_is_refused_by_its_form() -> None:
    with pytest.raises(InvalidInputError, match=r"form 2, this version reads 1; drop it"):
        decode(_with("form", 2))
