"""What a short question takes from its session, and which questions take nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graphmem import Project
from graphmem.question import Question
from graphmem.recall.widening import points_back

Tell = Callable[..., Any]


@pytest.mark.parametrize(
    "text",
    [
        "and its port?",
        "where is it stored",
        "why that?",
        "what about this one",
        "那个接口呢",
        "它的端口",
        "what?",
    ],
)
def test_a_short_question_that_points_at_something_is_widened(text: str) -> None:
    assert points_back(text)


@pytest.mark.parametrize(
    "text",
    [
        "gateway port",
        "which port does the gateway listen on in production and why was it changed",
        "refund webhook retries",
        "购物车合并",
        "ERR-4107",
    ],
)
def test_a_question_that_names_what_it_is_about_is_not_widened(text: str) -> None:
    assert not points_back(text)


@pytest.fixture
def two_ports(shop: Project, tell: Tell, clock: Any) -> Project:
    tell(
        shop,
        {"id": "g", "title": "Gateway speaks TLS", "facts": ["gateway port: 8443"], "at": clock.now - 9_000},
        {"id": "d", "title": "Pooler", "facts": ["pgbouncer port: 6432"], "at": clock.now - 8_000},
        {
            "id": "w",
            "session": "mine",
            "title": "Restart the gateway",
            "files_modified": ["src/gateway/proxy.ts"],
            "at": clock.now - 600,
        },
    )
    return shop


def test_a_question_is_widened_by_what_its_own_session_was_about(two_ports: Project) -> None:
    asked = two_ports.query(Question("what is its port?", session="mine"))
    assert next(piece.id for piece in asked.pieces if piece.id in "gd") == "g"
    assert "widened" in asked.pieces[0].parts


def test_another_session_or_none_widens_nothing(two_ports: Project) -> None:
    for session in (None, "theirs"):
        asked = two_ports.query(Question("what is its port?", session=session))
        assert all("widened" not in piece.parts for piece in asked.pieces)


def test_what_the_session_did_yesterday_is_another_occasion(two_ports: Project, clock: Any) -> None:
    clock.passes(86_400)
    asked = two_ports.query(Question("what is its port?", session="mine"))
    assert all("widened" not in piece.parts for piece in asked.pieces)
