"""The digest: what is in it, that it quotes what it names, and that it never exceeds its budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import InvalidInputError
from graphmem.graph import HealthCounts, ModuleState, Overview
from graphmem.instant import DAY, HOUR, from_iso
from graphmem.model import Fact, FactKind, Observation, TaskState
from graphmem.recall.digest import Extent, digest, in_progress
from graphmem.recall.overview import overview
from graphmem.recall.packing import packed_tokens

START = from_iso("2026-03-01T12:00:00Z")


def work(number: int, at: float, *files: str, **more: Any) -> Observation:
    values: dict[str, Any] = {"session": f"s{number}", "source": "api"} | more
    return Observation(id=f"o{number}", at=START + at, files_modified=files, **values)


def task(text: str, state: TaskState | None = TaskState.OPEN) -> tuple[Fact, ...]:
    return (Fact(text, FactKind.TASK, state),)


@pytest.fixture
def shop(recorded: Callable[..., Any]) -> Any:
    memory = recorded(
        work(1, 0, "src/auth.ts", "src/token.ts", facts=task("Rotate the keys")),
        work(2, 1 * DAY, "src/cart.ts", "src/stock.ts", facts=task("Count stock again.")),
        work(3, 40 * DAY, "src/auth.ts", "src/token.ts", title="Fix refresh", actor="ann", session="s-42"),
        work(4, 40 * DAY + HOUR, "src/mail.ts", "src/queue.ts", intent="send mails later", session="s-43"),
        work(5, 40 * DAY + 2 * HOUR, facts=task("count  STOCK again", TaskState.DONE), session="s-43"),
        work(6, 40 * DAY + 2 * HOUR, facts=task("Write to <everybody>"), session="s-43"),
    )
    memory.module("m1", "auth / token", "src/auth.ts", "src/token.ts", "concept:auth")
    memory.module("m2", "cart", "src/cart.ts", "src/stock.ts")
    memory.module("m3", "mail", "src/mail.ts", "src/queue.ts")
    memory.edge("e1", "src/auth.ts", "src/token.ts", status="stale")
    return memory


def asked(memory: Any, budget: int = 200) -> Overview:
    with memory.view() as view:
        return overview(memory.edges(view), memory.journal, memory.graph(), budget)


def test_the_digest_tells_size_modules_work_in_progress_tasks_and_health(shop: Any) -> None:
    assert asked(shop).text == "\n".join(
        [
            "6 observations in 4 sessions of 6 files, 2026-03-01 to 2026-04-10.",
            '- "auth / token": 3 members, active, last change 2026-04-10; open: "Rotate the keys"',
            "- mail: 2 members, new, last change 2026-04-10",
            "- cart: 2 members, quiet, last change 2026-03-02",
            '- in progress: "send mails later" (session s-43)',
            '- in progress: "Fix refresh" (ann, session s-42)',
            '- open: "Write to \\u003ceverybody\\u003e"',
            "Health: 1 stale edge.",
        ]
    )


def test_what_the_digest_is_made_from_comes_with_it(shop: Any) -> None:
    found = asked(shop, 2_000)
    assert found.tokens == packed_tokens(found.text)
    assert [(module.label, module.state, module.open_tasks) for module in found.modules] == [
        ("auth / token", "active", ("Rotate the keys",)),
        ("mail", "new", ()),
        ("cart", "quiet", ()),
    ]
    assert len(found.in_progress) == 2
    assert found.health == HealthCounts(orphans=6, stale_edges=1)


def test_a_task_is_open_until_it_is_said_to_be_done_and_again_when_it_comes_back(shop: Any) -> None:
    shop.tell(work(7, 41 * DAY, facts=task("Rotate the keys!", TaskState.DONE)))
    assert "open" in asked(shop).text
    shop.tell(work(8, 41 * DAY, facts=task("rotate the keys", TaskState.DONE)))
    assert 'Rotate the keys"' not in asked(shop).text.replace("Rotate the keys!", "")
    shop.tell(work(9, 42 * DAY, "src/cart.ts", facts=task("Rotate the keys")))
    found = asked(shop, 2_000)
    assert {module.label: module.open_tasks for module in found.modules}["cart"] == ("Rotate the keys",)


def test_a_task_told_late_of_an_earlier_moment_closes_nothing_later(shop: Any) -> None:
    shop.tell(work(7, -DAY, facts=task("Rotate the keys", TaskState.DONE)))
    assert "Rotate the keys" in asked(shop).text


def test_an_empty_project_says_so(recorded: Callable[..., Any]) -> None:
    memory = recorded()
    found = asked(memory)
    assert found.text == "Nothing is recorded in this project yet."
    assert found == Overview(found.text, packed_tokens(found.text))


def test_without_modules_and_graph_there_is_a_digest_too(recorded: Callable[..., Any]) -> None:
    memory = recorded(work(1, 0, "a.py", title="Begin"))
    with memory.view() as view:
        found = overview(memory.edges(view), memory.journal, None, 200)
    assert found.text == (
        '1 observation in 1 session of 1 file, 2026-03-01 to 2026-03-01.\n- in progress: "Begin" (session s1)'
    )


@pytest.mark.parametrize("budget", [19, 0, -5])
def test_a_budget_that_holds_nothing_is_refused(shop: Any, budget: int) -> None:
    with pytest.raises(InvalidInputError) as refused:
        asked(shop, budget)
    assert refused.value.field == "budget_tokens"


texts = st.one_of(
    st.text(max_size=120), st.sampled_from(["登录 与 支付 模块", "x" * 500, "a\nb\u2028<i>", "`rm`"])
)
modules = st.lists(
    st.builds(
        ModuleState,
        id=st.just("m"),
        label=texts,
        size=st.integers(0, 10**6),
        last_change=st.one_of(st.none(), st.floats(0, 4e9)),
        state=st.sampled_from(["active", "quiet", "new"]),
        open_tasks=st.lists(texts, max_size=5).map(tuple),
    ),
    max_size=20,
)
troubles = st.builds(HealthCounts, *[st.integers(0, 10**6)] * 5)
extents = st.builds(Extent, *[st.integers(1, 10**7)] * 3, st.floats(0, 4e9), st.floats(0, 4e9))


@given(
    extents,
    modules,
    st.lists(st.tuples(texts, texts, texts), max_size=5),
    st.lists(texts),
    troubles,
    st.integers(20, 2_000),
)
def test_the_digest_never_exceeds_its_budget_and_stays_one_line_a_thing(
    extent: Extent,
    modules: list[ModuleState],
    sessions: list[tuple[str, str, str]],
    tasks: list[str],
    troubles: HealthCounts,
    budget: int,
) -> None:
    progress = [in_progress(*session) for session in sessions]
    text = digest(extent, modules, progress, tasks, troubles, budget)
    assert 0 < packed_tokens(text) <= budget
    assert text.startswith(str(extent.observations))
    assert not set("<>`\r\u2028") & set(text)
    assert all(line.startswith(("- ", "Health: ")) for line in text.split("\n")[1:])


def test_a_larger_budget_tells_more(shop: Any) -> None:
    lines = [asked(shop, budget).text.count("\n") for budget in (20, 60, 200)]
    assert lines == sorted(set(lines))
    assert asked(shop, 20).text == "6 observations in 4 sessions of 6 files, 2026-03-01 to 2026-04-10."
