"""`graphmem.recall.tongue`: which texts count as English, and which questions name something literally."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.recall.tongue import has_identifier, identifiers, is_english


@pytest.mark.parametrize(
    "text",
    [
        "",
        "why did we pick a log-based broker",
        "OrderService.recalculate",
        "café and naïve are fine",
        "a long English sentence about the save button whose label reads 保 in the Chinese build of it",
        "🙂🙂",
        "12 / 34",
    ],
)
def test_texts_in_latin_letters_count_as_english(text: str) -> None:
    assert is_english(text)


@pytest.mark.parametrize(
    "text",
    [
        "内存泄漏的原因",
        "为什么选择 Kafka",
        "修复 OrderService.recalculate 的空指针",
        "утечка памяти в кэше",
        "ذاكرة التخزين المؤقت",
        "キャッシュの設定",
        "rename tmp to 订单总额",
        "ÄÖÜßäöü éèêë",
    ],
)
def test_other_scripts_and_mixtures_do_not(text: str) -> None:
    assert not is_english(text)


@pytest.mark.parametrize(
    "text",
    [
        "ERR-4107",
        "PR #230 tests",
        "CheckoutButton.tsx colour",
        "fetchWithRetry backoff",
        "token_service refresh token",
        "what breaks if /api/session moves",
        "src/auth/ was moved",
        r"C:\work\app",
        "what does `rotate` do",
        "who calls rotate()",
        "the --force option",
        "升级到 2.0",
        "修改OrderService的校验",
        "product_updated 事件",
        "１２３ 号问题",
        "std::vector",
        "the HTTPClient class",
        "__init__ of the package",
    ],
)
def test_literal_names_are_seen(text: str) -> None:
    assert has_identifier(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "pgbouncer connection pool",
        "money amounts off by a penny",
        "read/write and client/server, e.g. sockets.",
        "为什么选择 Kafka",
        "moved from GitHub to GitLab",
        "mobile performance improvement?",
        "JWT and PASETO",
        "🙂",
        "x" * 100_000,
        "-- /// ... ::: __",
    ],
)
def test_plain_questions_hold_none(text: str) -> None:
    assert not has_identifier(text)


def test_identifiers_are_given_as_written_once_each() -> None:
    text = "does OrderService call src/order/order_service.py, OrderService and ERR-4107?"
    assert identifiers(text) == ("OrderService", "src/order/order_service.py", "ERR-4107")
    assert identifiers(text, 2) == ("OrderService", "src/order/order_service.py")


@given(st.text())
def test_any_text_is_judged(text: str) -> None:
    assert is_english(text) in (True, False)
    assert has_identifier(text) or not identifiers(text)
