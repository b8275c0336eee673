"""Who is a candidate: whoever could be right, alive, each once, in an order that arrival doesn't change."""

from __future__ import annotations

from typing import Any

import pytest

from inference.candidates import BESIDE, BY_PAIRS, candidates
from inference.chronicle import Chronicle, State, Step
from inference.evidence import FileHistory
from inference.signals import signals
from inference.table import Hearing, Question

DAY = 86_400.0
FIRST = 1
"""The file that is asked about."""


def step(day: int, *edited: int, paths: dict[int, str] | None = None, **more: Any) -> Step:
    """A day's work; files are made where they are named, else nothing happens to their names."""
    states = tuple(State(file, path, True) for file, path in (paths or {}).items())
    fields: dict[str, Any] = {"occasion": day, "at": day * DAY, "session": day, "actor": 1, "words": ()}
    fields |= {"size": len(edited), "edited": edited, "states": states}
    return Step(day, **fields | more)


def told(*steps: Step) -> Chronicle:
    chronicle = Chronicle(lambda path: path.split("/"))
    for one in steps:
        chronicle.push(one)
    return chronicle


def named(chronicle: Chronicle, file: int | None = FIRST, path: str = "src/a.py", **more: Any) -> list[int]:
    question = Question(**{"file": file, "path": path, "now": 400 * DAY, "actor": 9} | more)
    history = FileHistory(-1) if file is None else chronicle.history(file)
    recent = chronicle.recent_of(question.actor or 0)
    return candidates(chronicle, question, Hearing(history, signals((history,), recent), recent))


def apart(day: int, file: int, path: str, **more: Any) -> Step:
    """Work that shares no change, folder or name with the file asked about, so long ago that it is cold."""
    return step(day, file, paths={file: path}, **more)


COLD = tuple(step(day, 90, paths={90: "cold/cold.md"}) for day in range(200, 261))


def cold(*steps: Step) -> Chronicle:
    """The steps, then so much other work that nothing of them is being worked on now."""
    return told(step(0, FIRST, paths={FIRST: "src/a.py"}), *steps, *COLD)


REASONS: dict[str, tuple[Step, ...]] = {
    "changed along": (step(2, FIRST, 2, paths={2: "x/b.md"}),),
    "came after in the session": (
        step(2, FIRST, session=5),
        step(3, 2, paths={2: "x/b.md"}, session=5),
    ),
    "lies beside it": (apart(2, 2, "src/b.md"),),
    "is named alike": (apart(2, 2, "tests/test_a.py"),),
    "changed along with another of the folder": (step(2, 3, 2, paths={2: "x/b.md", 3: "src/c.py"}),),
    "its actor has it in hand": (apart(2, 2, "x/b.md", actor=9),),
}


@pytest.mark.parametrize("reason", REASONS)
def test_a_file_is_a_candidate_when_it(reason: str) -> None:
    assert 2 in named(cold(*REASONS[reason]))


def test_a_file_that_nothing_speaks_for_is_none_until_it_is_worked_on() -> None:
    chronicle = cold(apart(2, 2, "x/b.md"))
    assert 2 not in named(chronicle)
    chronicle.push(step(300, 2))
    assert 2 in named(chronicle)


def test_bulk_work_makes_nothing_hot() -> None:
    many = range(100, 140)
    chronicle = cold(step(2, *many, paths={file: f"x/{file}.md" for file in many}))
    chronicle.push(step(300, *many))
    assert set(named(chronicle)).isdisjoint(many)


def test_the_task_brings_in_files_of_work_told_alike() -> None:
    chronicle = cold(apart(2, 2, "x/b.md", words=("登录", "token")), apart(3, 3, "y/c.md", words=("cart",)))
    assert {2, 3}.isdisjoint(named(chronicle))
    assert 2 in named(chronicle, words=("登录",))
    assert 3 not in named(chronicle, words=("登录",))
    assert {2, 3}.isdisjoint(named(chronicle, words=("unheard",)))


def test_the_asked_files_and_those_that_are_gone_are_none() -> None:
    chronicle = told(
        step(1, FIRST, 2, 3, paths={FIRST: "src/a.py", 2: "src/b.py", 3: "src/c.py"}),
        step(2, 3, states=(State(3, "src/c.py", False),)),
    )
    assert named(chronicle) == [2]
    assert named(chronicle, beside=frozenset({1, 2})) == []
    chronicle.push(step(3, 3, states=(State(3, "src/c.py", True),)))
    assert sorted(named(chronicle)) == [2, 3]


def test_a_new_file_has_those_beside_it_and_named_alike() -> None:
    chronicle = cold(apart(2, 2, "lib/b.md"), apart(3, 3, "tests/test_new.py"), apart(4, 4, "far/d.md"))
    found = named(chronicle, file=None, path="lib/new.py")
    assert {2, 3} <= set(found)
    assert 4 not in found


def test_each_is_named_once_and_there_are_not_many() -> None:
    beside = {file: f"src/{file}.py" for file in range(2, 402)}
    steps = [step(n + 1, FIRST, *(2 + (n * 20 + k) % 400 for k in range(20))) for n in range(40)]
    chronicle = told(step(0, FIRST, *beside, paths={FIRST: "src/a.py"} | beside), *steps)
    found = named(chronicle, words=("any",))
    assert len(found) == len(set(found))
    assert BY_PAIRS <= len(found) <= 250


def test_beside_it_those_changed_last_come_in() -> None:
    files = {file: f"src/{file}.md" for file in range(2, 2 + 2 * BESIDE)}
    chronicle = cold(*(apart(file, file, path) for file, path in files.items()))
    assert set(named(chronicle)) & files.keys() == set(sorted(files)[-BESIDE:])


def test_equals_come_in_the_same_order_however_the_chronicle_came_about() -> None:
    files = {file: f"src/{file}.md" for file in range(2, 60)}
    bulk = step(2, *files, paths=files)
    straight, wound = cold(bulk), told(step(0, FIRST, paths={FIRST: "src/a.py"}))
    for file in sorted(files, reverse=True):
        wound.push(step(2, file, paths={file: files[file]}))
    for _ in files:
        wound.pop()
    for one in (bulk, *COLD):
        wound.push(one)
    assert named(wound) == named(straight)
