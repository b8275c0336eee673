"""Answers stay sensible on the histories that nobody should have, and `unknown` stays `unknown`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from graphmem import Project, chronicler
from graphmem.instant import DAY, HOUR
from graphmem.model import FileStatus, Impact, Observation, Rename

START = 1_767_225_600.0  # 2026-01-01T00:00:00Z
BATCH = 2_000
MANY = 200
CHINESE = "修复登录页面在刷新之后丢失会话的问题"


def work(number: int, *files: str, **more: Any) -> Observation:
    """One change, the n-th, an hour after the one before."""
    given: dict[str, Any] = {
        "id": f"o{number}",
        "session": f"s{number // 3}",
        "at": START + number * HOUR,
        "actor": f"author {number % 4}",
        "title": f"Change {' '.join(files[:2])}",
        "files_modified": files,
    }
    return Observation(**(given | more))


def pairs(times: int, *files: str, **more: Any) -> list[Observation]:
    return [work(number, *files, **more) for number in range(times)]


def mixed(**more: Any) -> list[Observation]:
    """Forty changes of twelve files in three folders, some alone."""
    return [
        work(n, *(f"{'abc'[n % 3]}/f{k}.py" for k in range(n % 4, n % 4 + 1 + n % 5)), **more)
        for n in range(40)
    ]


def renamed(chain: int) -> list[Observation]:
    moves = [
        work(n + 1, renames=(Rename(f"lib/name{n}.py", f"lib/name{n + 1}.py"),), title="Rename")
        for n in range(chain)
    ]
    along = [work(chain + 1 + n, f"lib/name{chain}.py", "lib/along.py") for n in range(3)]
    return [work(0, "lib/name0.py", "lib/along.py"), *moves, *along]


def revived(times: int) -> list[Observation]:
    found = [work(0, "a.py", "phoenix.py")]
    for n in range(times):
        gone = work(2 * n + 1, "a.py", files_deleted=("phoenix.py",), title="Delete")
        found += [gone, work(2 * n + 2, "a.py", "phoenix.py", files_added=("phoenix.py",), title="Add")]
    return found


@dataclass(frozen=True, slots=True)
class Extreme:
    """A history, who is asked about, who must be named first (if anybody), who exists no more."""

    told: Sequence[Observation]
    asked: Sequence[str]
    first: Sequence[str | None]
    gone: frozenset[str] = frozenset()


STRANGE = (
    "my file.py",
    "src/\U0001f680 launch/\U0001f468\u200d\U0001f469\u200d\U0001f467.ts",
    "odd\\name.py",
)

EXTREMES: dict[str, Callable[[], Extreme]] = {
    "one commit with 5,000 files": lambda: Extreme(
        [work(0, *(f"src/d{n % 50}/f{n}.py" for n in range(5_000))), *pairs(3, "src/d1/f1.py", "x.py")[1:]],
        ["src/d1/f1.py", "src/d2/f2.py"],
        ["x.py", None],
    ),
    "only changes of one file": lambda: Extreme(
        [work(n, f"f{n % 7}.py") for n in range(60)], ["f1.py"], [None]
    ),
    "one author": lambda: Extreme(mixed(actor="ann"), ["a/f1.py", "b/f2.py"], [None, None]),
    "identical times": lambda: Extreme(mixed(at=START), ["a/f1.py", "b/f2.py"], [None, None]),
    "one session": lambda: Extreme(mixed(session="s"), ["a/f1.py"], [None]),
    "a file changed 10,000 times": lambda: Extreme(
        [work(n, "busy.py", *(["q.py"] if n % 100 == 0 else []), at=START + n) for n in range(10_000)],
        ["busy.py", "q.py"],
        ["q.py", "busy.py"],
    ),
    "a project of one file": lambda: Extreme(pairs(30, "only.py"), ["only.py"], [None]),
    "no titles": lambda: Extreme(mixed(title=""), ["a/f1.py"], [None]),
    "titles in Chinese": lambda: Extreme(mixed(title=CHINESE), ["a/f1.py"], [None]),
    "a title of 100,000 characters": lambda: Extreme(
        [*mixed(), work(41, "a/f1.py", "a/f2.py", title="token " * 16_000 + "x" * 4_000)], ["a/f1.py"], [None]
    ),
    "strange paths": lambda: Extreme(pairs(5, *STRANGE), STRANGE, [None] * len(STRANGE)),
    "the future": lambda: Extreme(
        [replace(each, at=each.at + 200 * 365 * DAY) for each in mixed()], ["a/f1.py"], [None]
    ),
    "before 1970": lambda: Extreme(
        [replace(each, at=each.at - 150 * 365 * DAY) for each in mixed()], ["a/f1.py"], [None]
    ),
    "two files and nothing else": lambda: Extreme(
        pairs(300, "a.py", "b.py"), ["a.py", "b.py"], ["b.py", "a.py"]
    ),
    "deleted and revived 1,000 times": lambda: Extreme(
        revived(1_000), ["a.py", "phoenix.py"], ["phoenix.py", "a.py"]
    ),
    "revived and deleted in the end": lambda: Extreme(
        [*revived(10), work(21, "a.py", files_deleted=("phoenix.py",))],
        ["a.py"],
        [None],
        frozenset({"phoenix.py"}),
    ),
    "renamed 1,000 times": lambda: Extreme(
        renamed(1_000),
        ["lib/name1000.py", "lib/along.py"],
        ["lib/along.py", "lib/name1000.py"],
        frozenset(f"lib/name{n}.py" for n in range(1_000)),
    ),
}


LONG = {"one commit with 5,000 files", "a file changed 10,000 times", "deleted and revived 1,000 times"}
LONG |= {"renamed 1,000 times"}


def answers(shop: Project, asked: Sequence[str]) -> list[Impact]:
    """What is said of each, alone and with a task's words, and of all together."""
    given = [shop.impact([path], limit=MANY, actor="author 1") for path in asked]
    given += [shop.impact([path], limit=MANY, intent=f"{CHINESE} fix f2") for path in asked]
    return [*given, shop.impact(asked, limit=MANY)]


def told(shop: Project, extreme: Extreme) -> None:
    for start in range(0, len(extreme.told), BATCH):
        receipt = shop.observe(extreme.told[start : start + BATCH])
        assert receipt.rejected == ()
    assert shop.wait_visible()


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in LONG else []) for name in EXTREMES]
)
def test_answers_on_an_extreme_history_are_sensible_and_the_same_after_a_rebuild(
    shop: Project, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However slow the machine: a question waits for the work to be read, so that the models answer each time.
    monkeypatch.setattr(chronicler, "_LONGEST_WAIT", 60.0)
    monkeypatch.setattr(chronicler, "AT_ONCE", 100_000)
    extreme = EXTREMES[name]()
    told(shop, extreme)
    given = answers(shop, extreme.asked)
    for answer in given:
        asked = {answer.path} if answer.path is not None else set(answer.paths)
        assert answer.status is FileStatus.KNOWN
        named = [entry.path for entry in answer.affected]
        chances = [entry.probability for entry in answer.affected]
        assert len(named) == len(set(named))
        assert asked.isdisjoint(named)
        assert extreme.gone.isdisjoint(named)
        assert all(math.isfinite(chance) and 0.0 <= chance <= 1.0 for chance in chances)
        assert chances == sorted(chances, reverse=True)
        following = [entry.path for entry in answer.next]
        assert (asked | extreme.gone).isdisjoint(following)
        assert all(
            math.isfinite(entry.probability) and 0.0 <= entry.probability <= 1.0 for entry in answer.next
        )
    stranger = shop.impact(["nobody/knows.py"], intent="Change f1")
    assert (stranger.status, stranger.warning, stranger.affected) == (FileStatus.UNKNOWN, None, ())
    assert stranger.reason
    for answer, first in zip(given, extreme.first, strict=False):
        assert first is None or answer.affected[0].path == first
    assert answers(shop, extreme.asked) == given
    shop.rebuild()
    assert answers(shop, extreme.asked) == given
