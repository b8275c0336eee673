"""What a question is for, told from its words in both languages."""

from __future__ import annotations

import pytest

from graphmem.recall.asking import (
    QuestionKind,
    asks_for_consequences,
    asks_for_users,
    is_chinese,
    kind_by_words,
)

CONSEQUENCES, CONTRACT = QuestionKind.CONSEQUENCES, QuestionKind.CONTRACT
BROAD, LOOKUP = QuestionKind.BROAD, QuestionKind.LOOKUP


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("if auth moves from JWT to PASETO, what has to change?", CONSEQUENCES),
        ("what else do we have to update when the token format changes", CONSEQUENCES),
        ("which files are affected by renaming the cart store?", CONSEQUENCES),
        ("what breaks if we drop PayPal?", CONSEQUENCES),
        ("what depends on src/auth/token.ts", CONSEQUENCES),
        ("如果 auth 从 JWT 换成 PASETO,需要改什么?", CONSEQUENCES),
        ("改了 token.ts 会影响哪些文件", CONSEQUENCES),
        ("哪些地方要跟着改", CONSEQUENCES),
        ("how is this project organised", BROAD),
        ("overview of auth", BROAD),
        ("which modules are there?", BROAD),
        ("项目结构是怎样的", BROAD),
        ("这个项目有哪些模块", BROAD),
        ("what is the TTL of the access token?", LOOKUP),
        ("what changed in checkout last week?", LOOKUP),
        ("what has changed?", LOOKUP),
        ("who changed the token format?", LOOKUP),
        ("why was this architecture chosen? an overview of the project structure", LOOKUP),
        ("访问令牌的有效期是多少", LOOKUP),
        ("上周修改了哪些文件", LOOKUP),
        ("为什么选择这个架构", LOOKUP),
        ("", LOOKUP),
        ("🎉🎉", LOOKUP),
    ],
)
def test_a_question_is_known_by_its_words(text: str, kind: QuestionKind) -> None:
    assert kind_by_words(text) is kind
    assert asks_for_consequences(text) is (kind is CONSEQUENCES)


@pytest.mark.parametrize(
    "text",
    [
        "what breaks if `/api/v1/auth/session` moves to v2",
        "who still calls v1 of the session API",
        "where is payment.captured used?",
        "谁在用 POST /api/v1/auth/session",
        "哪些服务订阅了 payment.captured 事件",
    ],
)
def test_who_uses_a_contract_is_asked_only_where_one_is_named(text: str) -> None:
    assert kind_by_words(text, names_contract=True) is CONTRACT
    assert kind_by_words(text) is not CONTRACT
    assert asks_for_users(text) or asks_for_consequences(text)


def test_a_contract_that_is_merely_named_makes_no_question_about_its_users() -> None:
    assert kind_by_words("when was POST /api/v2/auth/session added?", names_contract=True) is LOOKUP


@pytest.mark.parametrize(
    ("text", "chinese"),
    [("auth 需要改什么", True), ("what has to change", False), ("", False), ("POST /api/v1 谁在用", True)],
)
def test_the_language_of_the_answer_is_that_of_most_words(text: str, chinese: bool) -> None:
    assert is_chinese(text) is chinese


@pytest.mark.parametrize("text", ["what " * 50_000, "哪些" * 50_000, "which a files " * 9_000, "a" * 100_000])
def test_a_long_text_is_told_by_its_beginning(text: str) -> None:
    assert kind_by_words(text) in QuestionKind
