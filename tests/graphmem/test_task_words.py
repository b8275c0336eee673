"""The words a task is matched by: what says something, in both languages, whatever its ending."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.task_words import MOST_WORDS, path_words, task_words

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=200)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fix the login timeout", ("login", "timeout")),
        ("修复用户登录失效的问题", ("用户", "登录", "失效")),
        ("refreshToken fails", ("refreshtoken", "refresh", "token", "fail")),
        ("bump lodash from 1.2.3 to 1.2.4", ("bump", "lodash")),
        ("ERR-4107 in sha256", ("err4107", "err", "sha256")),
    ],
)
def test_a_task_is_known_by_what_it_is_about(text: str, expected: tuple[str, ...]) -> None:
    assert task_words(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "fix",
        "Updated, fixed and improved",
        "修改",
        "Fixes #1234",
        "#12 (closes GH-12), PR 7",
        "1.2.3",
        "🎉 --",
        "the",
    ],
)
def test_what_says_nothing_has_no_words(text: str) -> None:
    assert task_words(text) == ()


@pytest.mark.parametrize(
    ("noisy", "plain"),
    [
        ("Login times out (#45)", "Login times out"),
        ("Merge pull request #12 from somebody/login-timeout", "login-timeout"),
        ("Merge branch 'login'", "login"),
        ("Login\n\nSigned-off-by: Somebody <a@b.example>", "login"),
        ("login, see https://host.example/tracker/77", "login, see"),
        ("Revert login\n\nThis reverts commit 0a1b2c3d4e5f.", "revert login"),
    ],
)
def test_numbers_addresses_and_trailers_change_nothing(noisy: str, plain: str) -> None:
    assert task_words(noisy) == task_words(plain)


@pytest.mark.parametrize(
    "forms",
    [
        ("cache", "caches", "cached", "caching"),
        ("log", "logs", "logged", "logging"),
        ("parse", "parsed", "parsing"),
        ("token", "tokens"),
        ("type", "types", "typed", "typing"),
        ("plan", "planned", "planning"),
        ("pass", "passed", "passing"),
    ],
)
def test_the_forms_of_a_word_are_one(forms: tuple[str, ...]) -> None:
    assert len({task_words(form) for form in forms}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [("string", "str"), ("embed", "emb"), ("feed", "fe"), ("server", "serve"), ("user", "us")],
)
def test_what_only_ends_alike_stays_apart(one: str, other: str) -> None:
    assert set(task_words(one)).isdisjoint(task_words(other))


@pytest.mark.parametrize(
    ("task", "path"),
    [
        ("token service is cached", "src/auth/token_service.py"),
        ("see token_service.py", "src/auth/token_service.py"),
        ("TokenService", "src/auth/token_service.py"),
        ("用户登录", "docs/用户/登录.md"),
        ("parsing", "lib/parse.c"),
        ("the Makefile", "Makefile"),
        ("gitignore", ".gitignore"),
    ],
)
def test_a_task_shares_words_with_the_path_it_names(task: str, path: str) -> None:
    assert not set(task_words(task)).isdisjoint(path_words(path))


def test_the_ending_of_a_name_is_no_word_of_its_path() -> None:
    assert "py" not in path_words("src/token.py")
    assert "py" in path_words("py/token.rs")


def test_a_pasted_log_gives_a_bounded_number_of_words() -> None:
    assert len(task_words(" ".join(f"word{number}x" for number in range(50_000)))) == MOST_WORDS


@given(ANY_TEXT)
def test_any_text_has_distinct_words_that_stay_when_said_again(text: str) -> None:
    words = task_words(text)
    assert len(set(words)) == len(words) <= MOST_WORDS
    assert all(words)
    assert len(path_words(text)) <= MOST_WORDS
