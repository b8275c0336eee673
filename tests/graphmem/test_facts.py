"""What is kept of a prompt or an answer: where statements stand, what surrounds them, and what is stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.model import Fact, FactKind, Observation, Scope, TaskState
from graphmem.speech.facts import LONGEST, MOST, FactReading, reading, statements, task_subject

ANSWER = """I've rewritten the importer and all checks are green.

## What changed
- `src/importer.py` reads the file in one pass
- The batch size is now 500.

```python
# never use this in production
timeout = 30
```

> ERROR always retry: timeout = 30 s

Remaining:
- error handling for broken lines
- [x] Write the parser
- [ ] Write the printer

All the best!
"""


def texts(text: str) -> list[str]:
    return [said.text for said in statements(text)]


def test_an_answer_gives_its_values_and_the_tasks_under_their_heading() -> None:
    found = statements(ANSWER)
    assert [(said.text, said.kind, said.state) for said in found] == [
        ("The batch size is now 500.", FactKind.FACT, None),
        ("error handling for broken lines", FactKind.TASK, TaskState.OPEN),
        ("Write the parser", FactKind.TASK, TaskState.DONE),
        ("Write the printer", FactKind.TASK, TaskState.OPEN),
    ]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("下一步：\n1. 补充错误处理\n2. 更新文档\n\n就这样。", ["补充错误处理", "更新文档"]),
        ("已完成：\n- 解析器重写", ["解析器重写"]),
        ("**Decisions**\n- ids are UUIDv7", ["ids are UUIDv7"]),
        ("## 项目约定\n- 金额以分为单位", ["金额以分为单位"]),
        ("Next steps:\n- wire the metrics\n\nUnrelated:\n- a list", ["wire the metrics"]),
    ],
)
def test_a_list_says_under_its_heading_what_its_items_are(text: str, kept: list[str]) -> None:
    assert texts(text) == kept


@pytest.mark.parametrize(
    "pasted",
    [
        "```\nNever commit without tests.\n```",
        "~~~\nNever commit without tests.",
        "> Never commit without tests.",
        "    Never commit without tests.",
        "| rule | Never commit without tests. |",
        "<rule>Never commit without tests.</rule>",
        "2026-05-01 12:00:00 worker timeout = 30 s",
        "[ERROR] worker timeout = 30 s",
        "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\nKeyError: timeout = 30",
        "at Worker.run (worker.js:10:3)",
        "src/auth/token.ts\nsrc/auth/refresh.ts:12\npackage.json",
        "const TIMEOUT = 30;\nlet retries = 3;",
        "$ export TIMEOUT=30",
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@",
    ],
)  # fmt: skip
def test_what_is_pasted_states_nothing(pasted: str) -> None:
    assert statements(pasted) == ()
    around = statements(f"Never push to main.\n{pasted}")
    assert [said.text for said in around] == ["Never push to main."]


def test_several_sentences_give_each_what_it_states_in_order_and_once() -> None:
    text = "The API base is /v2. Rename this file. never use var. The API base is /v2. 日期统一用 UTC。好的！"
    assert texts(text) == ["The API base is /v2.", "never use var.", "日期统一用 UTC。"]


def test_one_sentence_can_give_several_things_a_value() -> None:
    found = statements("接口前缀是 /v2，缓存时间改为 900 秒。")
    assert [(said.subject, said.attribute, said.value) for said in found] == [
        ("接口", "前缀", "/v2"),
        ("缓存", "时间", "900 秒"),
    ]


@pytest.mark.parametrize(
    ("sentence", "done", "left"),
    [
        (
            "I fixed the bug, but the tests are still missing.",
            "I fixed the bug",
            "the tests are still missing.",
        ),
        ("登录页改完了，但是还没写测试。", "登录页改完了", "还没写测试。"),
        ("我已经修复了分页的 bug，还需要补测试。", "我已经修复了分页的 bug", "还需要补测试。"),
    ],
)
def test_what_is_done_and_what_is_left_in_one_sentence_are_two_tasks(
    sentence: str, done: str, left: str
) -> None:
    found = [(said.text, said.kind, said.state) for said in statements(sentence)]
    assert found == [(done, FactKind.TASK, TaskState.DONE), (left, FactKind.TASK, TaskState.OPEN)]


@pytest.mark.parametrize(
    ("sentence", "value"),
    [
        ("Changed the rate limit from 100 to 200.", ("rate", "limit", "200")),
        ("Renamed the users table to accounts.", ("users", "table", "accounts")),
        ("API base 从 /v1 迁移到 /v2 了。", ("api", "base", "/v2")),
        ("已把 API base 改成 /v2", ("api", "base", "/v2")),
        ("帮我把 API base 改成 /v2", None),
        ("Updated the README to mention v2.", None),
        ("Change the rate limit to 200.", None),
        ("已更新到 2.0 版本", None),
    ],
)
def test_a_change_that_is_reported_gives_the_new_value_and_an_order_none(
    sentence: str, value: tuple[str, str, str] | None
) -> None:
    found = [(said.subject, said.attribute, said.value) for said in statements(sentence)]
    assert found == ([] if value is None else [value])


def test_a_wrapped_sentence_is_read_as_one() -> None:
    text = "We decided to keep all of the services in one repository because\nreleases are easier that way.\n"
    assert texts(text) == [text.replace("\n", " ").strip()]


def test_a_rule_about_the_way_of_working_holds_everywhere_and_one_about_a_matter_does_not() -> None:
    everywhere = (
        "Always answer in Chinese.",
        "Never commit without tests.",
        "请总是用中文回答。",
        "提交信息一律用英文。",
        "I prefer short answers without emojis.",
        "我喜欢简短的回答。",
    )
    assert [said.everywhere for text in everywhere for said in statements(text)] == [True] * 6
    somewhere = (
        "Never store amounts as floats.",
        "日期统一用 UTC。",
        "I like small modules.",
        "I prefer the response body as JSON.",
    )
    assert [said.everywhere for text in somewhere for said in statements(text)] == [False] * 4


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("I prefer small pull requests.", Scope.ACTOR),
        ("我喜欢简短的提交说明。", Scope.ACTOR),
        ("Please always answer in Chinese.", Scope.ACTOR),
        ("We prefer small pull requests.", Scope.PROJECT),
        ("Never push to main.", Scope.PROJECT),
        ("优先用标准库。", Scope.PROJECT),
    ],
)
def test_taste_is_the_actors_and_a_rule_the_projects(text: str, scope: Scope) -> None:
    assert [said.scope for said in statements(text)] == [scope]


@pytest.mark.parametrize(
    ("opened", "done"),
    [
        ("TODO: rotate the signing keys", "Finished rotating the signing keys."),
        ("We still need to migrate the sessions table.", "I've completed migrating the sessions table."),
        ("- [ ] 更新接口文档", "- [x] 更新接口文档。"),
        ("还没写迁移脚本的测试。", "迁移脚本的测试写完了。"),
        ("待办：轮换签名密钥", "轮换签名密钥已完成。"),
        ("TODO: add a test for Safari.", "Added a test for Safari."),
        ("还没更新接口文档。", "接口文档已更新。"),
        ("还没更新接口文档。", "更新了接口文档。"),
        ("下一步：接入支付。", "已接入支付。"),
        ("还没处理 m10 的提示。", "m10 的提示处理好了。"),
        ("记得之后清理旧接口", "旧接口清理完毕。"),
        ("Next: write the migration for old tokens.", "I've written the migration for old tokens."),
        ("Still to do: remove the old endpoint.", "Removed the old endpoint."),
    ],
)
def test_a_task_has_the_same_subject_open_and_done(opened: str, done: str) -> None:
    (first,), (second,) = statements(opened), statements(done)
    assert (first.state, second.state) == (TaskState.OPEN, TaskState.DONE)
    assert first.subject == second.subject != ""


def test_a_task_of_nothing_but_common_words_has_no_subject() -> None:
    assert task_subject("still to be done") == ""
    assert reading(Fact("do it later", FactKind.TASK, TaskState.OPEN)).subject is None


@pytest.mark.parametrize(
    "given",
    [
        Fact("always back up before a schema change", FactKind.PREFERENCE),
        Fact("TODO: this is a fact all the same", FactKind.DECISION, scope=Scope.ACTOR),
        Fact("Never say never", FactKind.TASK, TaskState.DONE),
    ],
)
def test_a_given_kind_is_kept(given: Fact) -> None:
    said = reading(given)
    assert (said.kind, said.state, said.scope, said.text) == (
        given.kind,
        given.state,
        given.scope,
        given.text,
    )


@pytest.mark.parametrize(
    ("text", "kind", "state"),
    [
        ("access_token TTL: 3600 -> 900", FactKind.FACT, None),
        ("Never log access tokens", FactKind.CONVENTION, None),
        ("In this repo all list endpoints must be paginated.", FactKind.CONVENTION, None),
        ("TODO: rotate the keys", FactKind.TASK, TaskState.OPEN),
        ("决定采用游标分页", FactKind.DECISION, None),
        ("the importer is slow on Mondays", FactKind.FACT, None),
    ],
)
def test_a_default_kind_is_read_from_the_words(text: str, kind: FactKind, state: TaskState | None) -> None:
    said = reading(Fact(text))
    assert (said.kind, said.state) == (kind, state)


def test_a_default_scope_is_read_from_the_words_and_a_given_one_is_kept() -> None:
    assert reading(Fact("I prefer tabs over spaces")).scope is Scope.ACTOR
    assert reading(Fact("Never push to main", scope=Scope.ACTOR)).scope is Scope.ACTOR


def test_a_stored_text_is_cut_to_its_limit() -> None:
    assert len(reading(Fact("never " * 1_000)).text) == LONGEST


SCRAPS = """Never commit without tests.|I've fixed the login bug.|TODO: a thing|The API base is /v1.|
|接口前缀是 /v2。|we decided to use Redis|还没写迁移测试。
|always|不要|a: b|-> -> ->|= = =|的的的的|是是是是|，，，|[ ] x|- [x] y|#|```
|maybe|if|的|is|to|from"""
SAID = st.sampled_from(SCRAPS.split("|"))
TEXTS = st.one_of(
    st.text(max_size=400), st.lists(SAID, max_size=60).map(" ".join), st.lists(SAID).map("\n".join)
)


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_whatever_is_said_the_statements_are_few_short_and_read_the_same_once_stored(text: str) -> None:
    found = statements(text)
    assert len(found) <= MOST
    assert all(0 < len(said.text) <= LONGEST for said in found)
    assert [reading(said.fact()) for said in found] == list(found)


@pytest.mark.parametrize(
    "text",
    [
        "a" * 3_000_000,
        "never " * 300_000,
        "从" * 1_000_000,
        "the " * 100_000 + "is " * 100_000,
        "x: " * 200_000,
        "- [ ] \n" * 100_000,
        "```" * 300_000,
        "我们" * 200 + "\n" + "still need to " * 50_000,
        "\n".join(["We decided to keep it " + "and to keep it " * 30] * 2_000),
    ],
)
def test_a_hostile_text_gives_little_and_comes_to_an_end(text: str) -> None:
    assert len(statements(text)) <= MOST


def test_more_statements_than_the_limit_keep_the_first_ones() -> None:
    found = statements("\n".join(f"The port of server{n} is {n}." for n in range(100, 200)))
    assert [said.value for said in found] == [str(n) for n in range(100, 100 + MOST)]


def test_facts_have_rows_that_a_rebuild_gives_again_and_go_with_their_observation(
    recorded: Callable[..., Any],
) -> None:
    def told(id: str, at: float, *facts: Fact) -> Observation:
        return Observation(id=id, session="s", at=at, actor="ann", title="Work", facts=facts)

    def rows(memory: Any) -> list[tuple[Any, ...]]:
        with memory.view() as view:
            found: list[tuple[Any, ...]] = view.connection.execute(
                "SELECT observation.id, ord, kind, state, scope, fact.text, subject, attribute, value,"
                " tentative, everywhere, fact.at, fact.actor, words FROM fact JOIN observation USING (seq)"
                " JOIN fact_text ON fact_text.rowid = fact.id ORDER BY 1, 2"
            ).fetchall()
        return found

    works = [
        told("o2", 20.0, Fact("TTL of the token: 900"), Fact("never push to main", FactKind.CONVENTION)),
        told("o1", 10.0, Fact("暂时用 SQLite"), Fact("Zebrafish", FactKind.TASK, TaskState.OPEN)),
        told("o3", 30.0),
    ]
    memory = recorded(*works)
    assert [row[:3] for row in rows(memory)] == [
        ("o1", 0, "fact"), ("o1", 1, "task"), ("o2", 0, "fact"), ("o2", 1, "convention")
    ]  # fmt: skip
    assert rows(memory) == rows(recorded(*works[::-1]))
    memory.journal.forget("o1", 40.0)
    memory.tell()
    assert rows(memory) == rows(recorded(works[0], works[2]))
    with memory.view() as view:
        left = view.connection.execute("SELECT COUNT(*) FROM fact_text WHERE fact_text MATCH 'zebrafish'")
        assert left.fetchone()[0] == 0


def test_a_statement_knows_its_stored_form() -> None:
    said = FactReading("x", FactKind.TASK, TaskState.OPEN, Scope.ACTOR)
    assert said.fact() == Fact("x", FactKind.TASK, TaskState.OPEN, Scope.ACTOR)
