"""Search by words: what is found in both languages, what is shown of it, and in which order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphmem import Project
from graphmem.instant import DAY

Tell = Callable[..., Any]


def found(project: Project, text: str, **more: Any) -> list[str]:
    return [hit.id for hit in project.search(text, **more)]


@pytest.fixture
def told(shop: Project, tell: Tell, clock: Any) -> Project:
    tell(
        shop,
        {
            "id": "jwt",
            "title": "Fix JWT refresh",
            "narrative": "Users were logged out. The refreshToken expired too early! Now it lives an hour.",
            "facts": ["access_token TTL: 3600 -> 900"],
            "concepts": ["auth"],
            "files_modified": ["src/auth/token_store.ts"],
            "type": "bugfix",
            "at": clock.now - 2 * DAY,
        },
        {
            "id": "pay",
            "title": "支付超时",
            "narrative": "用户身份校验失败。需要重试支付。",
            "at": clock.now - DAY,
        },
        {"id": "cart", "title": "Cart total", "intent": "API配置 was wrong", "files_read": ["src/cart.ts"]},
    )
    return shop


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("jwt", ["jwt"]),
        ("REFRESH", ["jwt"]),
        ("logged out", ["jwt"]),
        ("refreshToken", ["jwt"]),
        ("access_token", ["jwt"]),
        ("ttl 3600", ["jwt"]),
        ("auth", ["jwt"]),
        ("token_store", ["jwt"]),
        ("token_store.ts", ["jwt"]),
        ("支付", ["pay"]),
        ("身份校验", ["pay"]),
        ("用户", ["pay"]),
        ("API配置", ["cart"]),
        ("配置", ["cart"]),
        ("cart.ts", ["cart"]),
        ("nothing like that anywhere", []),
        ("", []),
        ("   ", []),
        ("?!", []),
    ],
)
def test_what_was_said_is_found_by_its_words(told: Project, text: str, expected: list[str]) -> None:
    assert found(told, text)[:1] == expected


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("access_token", "access_token TTL: 3600 -> 900"),
        ("expired early", "The refreshToken expired too early!"),
        ("logged", "Users were logged out."),
        ("store", "Fix JWT refresh"),
        ("重试", "需要重试支付。"),
        ("cart", "Cart total"),
    ],
)
def test_the_line_that_holds_the_words_is_shown(told: Project, text: str, line: str) -> None:
    hit = told.search(text)[0]
    assert hit.text == line
    assert (hit.kind, hit.source) == ("fact" if "TTL" in line else "history", "api")


def test_a_long_line_is_shortened(shop: Project, tell: Tell) -> None:
    tell(shop, {"facts": ["wombat " * 200]}, {"files_modified": ["only/a/path.py"]})
    text = shop.search("wombat")[0].text
    assert len(text) == 240 and text.endswith("…")
    assert shop.search("path.py")[0].text == "only/a/path.py"


def test_a_search_is_bounded_by_time_type_and_number(told: Project, clock: Any) -> None:
    words = "token 支付 cart"
    assert set(found(told, words)) == {"jwt", "pay", "cart"}
    assert set(found(told, words, since=clock.now - DAY)) == {"pay", "cart"}
    assert set(found(told, words, until=clock.now - DAY)) == {"jwt"}
    assert found(told, words, types=["bugfix"]) == ["jwt"]
    assert len(found(told, words, limit=1)) == 1


def test_a_title_outweighs_a_mention_and_equals_go_by_id(shop: Project, tell: Tell) -> None:
    tell(
        shop,
        {"id": "b", "title": "Plain", "narrative": "wombat"},
        {"id": "c", "title": "wombat", "narrative": "plain"},
        {"id": "a", "title": "Plain", "narrative": "wombat"},
    )
    assert found(shop, "wombat") == ["c", "a", "b"]
    scores = [hit.score for hit in shop.search("wombat")]
    assert scores[0] > scores[1] == scores[2]


@pytest.mark.parametrize(
    "text", ['"', "a OR", "NEAR(", "title:x", "*", "-a", "a AND NOT b", "^x", "{a} : b", "\x00"]
)
def test_no_syntax_is_a_fault(told: Project, text: str) -> None:
    assert isinstance(told.search(text), list)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=40))
def test_no_words_whatever_are_a_fault(told: Project, text: str) -> None:
    assert len(told.search(text, limit=2)) <= 2


def test_of_equals_the_newest_comes_first(shop: Project, tell: Tell, clock: Any) -> None:
    # The ids' order is neither that of the times nor that of arrival.
    days = {"b": 3, "d": 1, "a": 4, "c": 2}
    told = [{"id": id, "title": "Retry the payment", "at": clock.now - days[id] * DAY} for id in days]
    tell(shop, *told)
    assert found(shop, "retry") == ["d", "c", "b", "a"]
