"""Which kind of question gets what from the graph, and what is left when the graph is away."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from graphmem.graph_lending import Borrowed
from graphmem.model import Observation
from graphmem.question import Question
from graphmem.recall.asking import QuestionKind
from graphmem.recall.expansion import Expansion
from graphmem.recall.linking import Lent, Linked, linked

AWAY = "the graph is away: it burns"
TOLD = tuple(
    Observation(
        id=f"o{number}",
        session=f"s{number}",
        at=float(number),
        title=title,
        files_modified=files,
    )
    for number, (title, files) in enumerate(
        [("Sign in with POST /api/v1/login", ("a.ts", "b.ts")), ("Fix the cart", ("cart.ts",))], 1
    )
)


@pytest.fixture
def asked(recorded: Callable[..., Any]) -> Callable[..., Linked]:
    made = recorded(*TOLD)
    made.edge("e", "file:a.ts", "file:b.ts", probability=0.8)
    made.module("m", "login / token", "file:a.ts", "file:b.ts")

    def ask(text: str, away: str | None = None, **more: Any) -> Linked:
        with made.view() as view:

            def lend(view: Any, question: Callable[[Lent], Expansion], deadline: float) -> Any:
                return (None, away) if away else (question(Borrowed(made.graph(), None)), None)

            kinds = more.pop("expanded", None)
            chosen = {} if kinds is None else {"expanded": kinds}
            return linked(view, lend, [], Question(text, **more), math.inf, **chosen)

    return ask


@pytest.mark.parametrize("away", [None, AWAY])
@pytest.mark.parametrize(
    ("text", "kind", "first"),
    [
        ("who uses POST /api/v1/login?", QuestionKind.CONTRACT, "a.ts"),
        ("how is this project organised?", QuestionKind.BROAD, "login / token"),
    ],
)
def test_contracts_and_modules_are_told_with_the_graph_away_too(
    asked: Callable[..., Linked], text: str, kind: QuestionKind, first: str, away: str | None
) -> None:
    found = asked(text, away)
    assert (found.kind, found.nodes_first, found.added.degraded) == (kind, True, None)
    assert found.added.nodes[0].name == first


def test_consequences_say_that_the_graph_was_away(asked: Callable[..., Linked]) -> None:
    whole, away = asked("what breaks if a.ts changes?"), asked("what breaks if a.ts changes?", AWAY)
    assert ([node.name for node in whole.added.nodes], whole.nodes_first) == (["b.ts"], True)
    assert (away.added.nodes, away.nodes_first, away.added.degraded) == ((), False, AWAY)
    assert whole.added.nodes[0].text == "often changed together with a.ts (likely)"


def test_a_look_up_is_widened_only_where_that_is_asked_for(asked: Callable[..., Linked]) -> None:
    plain = asked("where is a.ts described?", AWAY)
    assert (plain.kind, plain.added.nodes, plain.added.degraded) == (QuestionKind.LOOKUP, (), None)
    widened = asked("where is a.ts described?", expanded=frozenset(QuestionKind))
    assert ([node.name for node in widened.added.nodes], widened.nodes_first) == (["b.ts"], False)


def test_a_depth_of_nothing_leaves_the_graph_alone(asked: Callable[..., Linked]) -> None:
    found = asked("what breaks if a.ts changes?", AWAY, depth=0)
    assert (found.added.nodes, found.added.degraded) == ((), None)
