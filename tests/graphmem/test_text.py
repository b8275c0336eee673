"""What the text index finds: identifiers, paths, English and Chinese, held against real FTS5."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.text import (
    LONGEST_TOKEN,
    MOST_QUERY_TOKENS,
    STOP_WORDS,
    chinese_words,
    folded,
    humps,
    index_text,
    match_query,
    stem,
    tokens,
)

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=200)
WORDS = [
    "refreshToken2",
    "用户登录",
    "失效",
    "API配置",
    "src/auth/token.ts",
    "ＡＰＩ",
    "Straße",
    "é",
    "的",
    "the",
]
SYNTAX = [
    '"',
    "'",
    "*",
    "NEAR(",
    " AND ",
    " OR ",
    "NOT",
    "^",
    ":",
    "-",
    "(",
    ")",
    "{",
    "}",
    "+",
    "\x00",
    "\n",
    "🎉",
]
MIXED = st.lists(st.sampled_from([*WORDS, *SYNTAX]), max_size=20).map("".join)


@pytest.fixture
def index() -> Iterator[sqlite3.Connection]:
    """An FTS5 table as the memory creates it, with a view of its terms."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize = 'unicode61 remove_diacritics 0')")
        connection.execute("CREATE VIRTUAL TABLE terms USING fts5vocab(t, 'row')")
        yield connection


def found(index: sqlite3.Connection, texts: list[str], question: str) -> list[str]:
    index.execute("DELETE FROM t")
    index.executemany("INSERT INTO t VALUES (?)", [(index_text(text),) for text in texts])
    rows = index.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY bm25(t)", (match_query(question),))
    ids = [row[0] for row in index.execute("SELECT rowid FROM t ORDER BY rowid")]
    return [texts[ids.index(row[0])] for row in rows]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("refreshToken", {"refreshtoken", "refresh", "token"}),
        ("refreshToken2", {"refreshtoken2", "refresh", "token2", "token"}),
        ("RefreshToken", {"refreshtoken", "refresh", "token"}),
        ("refresh_token", {"refreshtoken", "refresh", "token"}),
        ("refresh-token", {"refreshtoken", "refresh", "token"}),
        ("PAYMENT_TIMEOUT_MS", {"payment", "timeout", "ms"}),
        ("getHTTPResponse", {"gethttpresponse", "get", "http", "response"}),
        ("OAuth2Client", {"oauth2client", "oauth2", "client"}),
        ("userIDs", {"user", "id"}),
        ("OrderService.recalculate", {"orderservice", "order", "service", "recalculate"}),
        ("E1042", {"e1042"}),
        ("ERR-4107", {"err4107", "err", "4107"}),
        ("v2", {"v2"}),
        ("utf8", {"utf8"}),
        ("i18n", {"i18n"}),
        (
            "src/auth/token_service.py",
            {"src", "auth", "tokenservicepy", "tokenservice", "token", "service", "py"},
        ),
        (r"src\auth\Session.tsx", {"src", "auth", "session", "tsx"}),
        ("API配置", {"api", "配置"}),
        ("用户登录refreshToken失效", {"用户", "登录", "refreshtoken", "refresh", "token", "失效"}),
        ("ＡＰＩ　ｋｅｙ", {"api", "key"}),
        ("Einkäufe in der Straße", {"einkaufe", "strasse"}),
        ("cafe\u0301", {"cafe"}),
    ],
)
def test_an_identifier_is_indexed_whole_and_in_parts(text: str, expected: set[str]) -> None:
    assert expected <= set(tokens(text))


@pytest.mark.parametrize("word", ["E1042", "v2", "utf8", "sha256", "i18n", "k8s", "s3"])
def test_letters_with_digits_stay_one_word(word: str) -> None:
    assert tokens(word) == [word.lower()]


def test_version_numbers_keep_their_points_apart() -> None:
    assert tokens("1.12")[0] != tokens("11.2")[0]
    assert tokens("1.12")[0] != tokens("112")[0]


@pytest.mark.parametrize(
    ("stored", "question"),
    [
        ("用户身份校验失败", "用户"),
        ("用户身份校验失败", "身份校验"),
        ("用户身份校验失败", "校验"),
        ("中华人民共和国", "共和国"),
        ("清除会话缓存和分布式锁", "会话"),
        ("清除会话缓存和分布式锁", "分布式锁"),
        ("接口限流器", "限流"),
        ("阿不都热合曼", "阿不都"),
        ("接入爱彼迎接口", "爱彼迎"),
        ("修改API配置", "API配置"),
        ("修改API配置", "配置"),
        ("修改API配置", "api"),
        ("ＡＰＩ配置", "API"),
        ("加锁", "加锁"),
        ("fix refreshToken expiry", "refresh_token"),
        ("fix refresh_token expiry", "RefreshToken"),
        ("rotate the tokens", "token"),
        ("many queries", "query"),
        ("clear all caches", "cache"),
        ("see src/order/order_service.py", "src/order/order_service.py"),
        ("see src/order/order_service.py", "order_service"),
        ("see src/order/order_service.py", "order_service.py"),
        ("Einkäufe", "einkaufe"),
        ("Crème brûlée", "creme brulee"),
    ],
)
def test_what_is_stored_is_found_by_its_words(index: sqlite3.Connection, stored: str, question: str) -> None:
    others = ["something else entirely", "完全无关的内容"]
    assert found(index, [others[0], stored, others[1]], question) == [stored]


@pytest.mark.parametrize("question", ["登录", "auth", "cart", "1.12"])
def test_what_only_resembles_is_not_found(index: sqlite3.Connection, question: str) -> None:
    assert found(index, ["记录 日志", "author of the chart", "version 11.2"], question) == []


@pytest.mark.parametrize(
    ("plural", "singular"),
    [
        ("tokens", "token"),
        ("queries", "query"),
        ("boxes", "box"),
        ("classes", "class"),
        ("branches", "branch"),
        ("caches", "cache"),
        ("databases", "database"),
        ("aliases", "alias"),
        ("statuses", "status"),
    ],
)
def test_a_plural_and_its_singular_are_one_word(plural: str, singular: str) -> None:
    assert stem(plural) == stem(singular) == singular


@pytest.mark.parametrize(
    "word",
    ["class", "status", "redis", "news", "windows", "kubernetes", "css", "bus", "axis", "https", "naïves"],
)
def test_what_only_ends_in_s_stays(word: str) -> None:
    assert stem(word) == word


def test_humps_keep_acronyms_and_digits_together() -> None:
    assert humps("parseHTTPSUrl2") == ["parse", "HTTPS", "Url2"]
    assert humps("plain") == ["plain"]


def test_stop_words_are_indexed_but_not_asked_for() -> None:
    assert "the" in tokens("the token")
    assert match_query("the token of 的 用户") == '"token" OR "用户"'


def test_a_question_of_stop_words_alone_asks_for_them() -> None:
    assert match_query("who is it") == '"who" OR "is" OR "it"'


@pytest.mark.parametrize(
    "text", ["", " \n\t", "🎉 --- !!", '"" ()', "\u0301\u0327", "的".join(["!", "?"])[:1]]
)
def test_nothing_searchable_gives_no_question(text: str) -> None:
    assert match_query(text) == ""


def test_a_pasted_log_asks_for_a_bounded_number_of_words() -> None:
    question = match_query(" ".join(f"word{at}x" for at in range(5_000)))
    assert question.count(" OR ") == MOST_QUERY_TOKENS - 1


@given(st.one_of(ANY_TEXT, MIXED))
def test_any_text_is_a_valid_question_and_its_tokens_survive_the_index(text: str) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize = 'unicode61 remove_diacritics 0')")
        connection.execute("CREATE VIRTUAL TABLE terms USING fts5vocab(t, 'row')")
        connection.execute("INSERT INTO t VALUES (?)", (index_text(text),))
        assert {row[0] for row in connection.execute("SELECT term FROM terms")} == set(tokens(text))
        question = match_query(text)
        assert (question == "") == (tokens(text) == [])
        if question:
            assert connection.execute("SELECT COUNT(*) FROM t WHERE t MATCH ?", (question,)).fetchone() == (
                1,
            )


def test_every_letter_and_digit_survives_the_index(index: sqlite3.Connection) -> None:
    letters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000 and chr(code).isalnum()]
    words = {
        token for at in range(0, len(letters), 500) for token in tokens(" ".join(letters[at : at + 500]))
    }
    index.executemany("INSERT INTO t VALUES (?)", [(word,) for word in words])
    assert {row[0] for row in index.execute("SELECT term FROM terms")} == words


@given(ANY_TEXT)
def test_folding_twice_changes_nothing(text: str) -> None:
    assert folded(folded(text)) == folded(text)


@given(st.text("abcXYZ019_.- 用户登录的é", max_size=60))
def test_tokens_are_short_and_folded(text: str) -> None:
    for token in tokens(text):
        assert 0 < len(token) <= LONGEST_TOKEN
        assert token == token.casefold()


def test_single_characters_count_only_as_words() -> None:
    words = chinese_words("加分布式锁")
    assert "锁" in words
    assert "式" not in words


def test_stop_words_hold_both_languages() -> None:
    assert {"the", "what", "的", "什么"} <= STOP_WORDS


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "a.",
        "aB",
        "_",
        "-a",
        "1.",
        "é",
        "用",
        "用户",
        "龘",
        "\u0301\u0327",
        "\uff9e\u0334",
        "ｱﾞ",
        "ﷺ",
        "A1",
        "あ한",
    ],
)
def test_the_longest_text_without_a_space_is_taken_whole(unit: str) -> None:
    # 64 KiB is the caller's limit; what is quadratic would not come back within the suite's patience.
    longest = (unit * 65_536)[:65_536]
    assert all(len(token) <= LONGEST_TOKEN for token in tokens(longest))
    assert match_query(longest).count(" OR ") < MOST_QUERY_TOKENS


def test_the_segmenter_is_loaded_only_for_chinese() -> None:
    program = (
        "import sys; from graphmem.text import tokens; tokens('plain English, Straße');"
        "assert 'rjieba' not in sys.modules; tokens('用户'); assert 'rjieba' in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
