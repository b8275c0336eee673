"""Titles of turns are the first words that say something."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.turns.titles import LONGEST_TITLE, shortened, title_of, title_of_files


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Users are logged out after an hour. Always back up.", "Users are logged out after an hour"),
        ("# Plan: fix `refresh` in **auth**\n\nmore", "Plan: fix refresh in auth"),
        ("> quoted text\n\nWhat does this mean?", "What does this mean?"),
        ("```py\nx = 1\n```\nWhy does this fail?", "Why does this fail?"),
        ("Look at /home/dev/shop/src/auth/token.py and fix it", "Look at token.py and fix it"),
        ("Fix v1.2 of C:\\Users\\dev\\shop\\a.py now", "Fix v1.2 of a.py now"),
        ("/home/dev/shop/src/auth/token.py\nfix the ttl", "fix the ttl"),
        ("Rename `src/a.py` to `src/b.py`", "Rename src/a.py to src/b.py"),
        ("all src/*.py and lib/*.py files", "all src/*.py and lib/*.py files"),
        ("keep the __init__ field of user_name", "keep the __init__ field of user_name"),
        ("See https://example.com/a/b for the API. Use it", "See example.com for the API"),
        ("[fix this](http://example.com/z) please", "fix this please"),
        ("Use e.g. tabs. Then go on", "Use e.g. tabs"),
        ("1. Do the first thing\n2. second", "Do the first thing"),
        ("- [ ] write tests", "write tests"),
        ("<task>do the login page</task>", "do the login page"),
        ("ok. Now rename the helper", "Now rename the helper"),
        ("Hi! Fix the login", "Fix the login"),
        ("**Done.** I changed the TTL to 900 s.", "I changed the TTL to 900 s"),
        ('"rename the helper"', "rename the helper"),
        ("好的，把登录页改一下。然后测试", "好的，把登录页改一下"),
        ("“重构”认证模块，保留旧接口；再写测试", "“重构”认证模块，保留旧接口"),
        ("帮我修复登录", "帮我修复登录"),
        ("不要动数据库", "不要动数据库"),
        ("\x00\x1b[31mred \u202etext", "red text"),
        ("test", "test"),
        ("/review src/a.py", "/review src/a.py"),
        (
            "# Implementation Plan\n\n## Context\nMove the parser to a module of its own.",
            "Move the parser to a module of its own",
        ),
        ("## 实施方案\n\n把解析器拆成单独的模块", "把解析器拆成单独的模块"),
        ("Plan the release", "Plan the release"),
        ("# Task\n\nYou are an expert. Fix the sorting of the table.", "Fix the sorting of the table"),
        ("Implement the following plan:\n\n# Add dark mode\n\n1. step", "Add dark mode"),
        ("Implement the plan viewer", "Implement the plan viewer"),
        ("你是一名资深工程师。重构登录模块", "重构登录模块"),
        ("按照以下方案实现：\n把按钮改成红色", "把按钮改成红色"),
        ('Traceback (most recent call last):\n  File "x.py", line 1\nKeyError: 7', "KeyError: 7"),
        ("It is done now. The table is sorted by date.", "The table is sorted by date"),
    ],
)
def test_a_title_is_the_first_sentence_without_its_markup(text: str, title: str) -> None:
    assert title_of(text) == title


POOR = """
continue|Continue.|Yes, please go ahead.|It is done now.|All done!|Everything is ready.
ok|y|2|hi|!!!|no|/review|@src/a.py
继续|好的，继续吧。|请继续|第二个方案|可以
"""


@pytest.mark.parametrize(
    "text", ["", " \n", "```\nprint()\n```", "> only a quote", *re.split(r"[|\n]", POOR.strip())]
)
def test_a_prompt_that_says_nothing_has_no_title(text: str) -> None:
    assert title_of(text) == ""


def test_a_long_title_is_cut_at_a_words_end() -> None:
    title = title_of("word " * 40)
    assert title.endswith("word…") and len(title) <= LONGEST_TITLE
    assert title_of("把" * 200) == "把" * (LONGEST_TITLE - 1) + "…"


def test_files_give_a_title_with_their_names() -> None:
    assert title_of_files("Change", ["/home/dev/a.ts"]) == "Change a.ts"
    assert title_of_files("Change", ["a.ts", "src\\b.ts"]) == "Change a.ts, b.ts"
    assert title_of_files("Read", ["x/a.ts", "b.ts", "c", "d", "e/"]) == "Read a.ts, b.ts and 3 more"
    assert title_of_files("Change", []) == ""
    assert len(title_of_files("Change", ["n" * 200, "m" * 200, "o"])) <= LONGEST_TITLE


@given(st.text(max_size=400))
def test_any_text_gives_one_line_within_the_limit(text: str) -> None:
    title = title_of(text)
    assert len(title) <= LONGEST_TITLE
    assert title == " ".join(title.split())
    assert title_of(text) == title


def test_a_text_within_the_limit_stays_as_it_is() -> None:
    assert shortened("as it is. ", 10) == "as it is. "
    assert shortened("", 0) == ""
