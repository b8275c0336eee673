"""The work in memory: what was pushed is known, what is popped never was."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference.chronicle import NO_PAIR_SIZE, Chronicle, State, Step

HOUR = 3_600.0


def fresh() -> Chronicle:
    return Chronicle(lambda path: path.replace(".", "/").split("/"))


def step(key: int, **more: Any) -> Step:
    fields: dict[str, Any] = {"occasion": key, "at": key * HOUR, "session": 1, "actor": 1, "size": 2}
    return Step(key, **fields | {"edited": (1, 2), "words": ("login",)} | more)


@st.composite
def steps(draw: st.DrawFn) -> list[Step]:
    """Steps in order of time, parts of one occasion among them, which no file counts in twice."""
    found: list[Step] = []
    held: dict[int, set[int]] = {}
    for key in range(1, draw(st.integers(1, 12)) + 1):
        occasion = draw(st.sampled_from([key, key, *(one.occasion for one in found[-3:])]))
        left = sorted({1, 2, 3, 4} - held.setdefault(occasion, set()))
        files = draw(st.lists(st.sampled_from(left), unique=True)) if left else []
        held[occasion].update(files)
        cut = draw(st.integers(0, len(files)))
        first = occasion == key
        found.append(
            step(
                key,
                occasion=occasion,
                session=draw(st.integers(1, 2)),
                size=draw(st.sampled_from([0, 2, NO_PAIR_SIZE])) if first else 0,
                edited=tuple(files[:cut]),
                read=tuple(files[cut:]),
                words=tuple(draw(st.lists(st.sampled_from(["login", "cart", "token"]), unique=True))),
                concepts=((key, 0.5),),
                states=tuple(State(file, f"src/{file}-{draw(st.integers(0, 2))}.py", True) for file in files),
                committed=draw(st.booleans()),
                links=draw(st.booleans()),
            )
        )
    return found


def answers(chronicle: Chronicle) -> dict[str, Any]:
    return {
        "files": {file: (trail.path, trail.alive) for file, trail in chronicle.files.items()},
        "histories": {file: chronicle.history(file) for file in chronicle.files},
        "heat": chronicle.heat(chronicle.files, 100 * HOUR),
        "recent": chronicle.recent_of(1),
        "frequencies": chronicle.frequencies(range(20)),
        "total": chronicle.total(),
        "told": list(chronicle.told),
        "folders": {folder: set(files) for folder, files in chronicle.by_folder.items() if files},
        "along": {folder: dict(files) for folder, files in chronicle.along.items() if files},
        "nearest": chronicle.words.nearest(["login", "cart"]),
        "relevance": chronicle.words.relevance(["login", "token"], [1, 2, 3, 4]),
    }


@settings(max_examples=40)
@given(steps(), st.data())
def test_what_is_taken_out_leaves_no_trace(made: list[Step], data: st.DataObject) -> None:
    kept = data.draw(st.integers(0, len(made)))
    wound, straight = fresh(), fresh()
    for one in made:
        wound.push(one)
    assert [wound.pop() for _ in made[kept:]] == made[kept:][::-1]
    for one in made[:kept]:
        straight.push(one)
    assert answers(wound) == answers(straight)
    for one in made[kept:]:
        wound.push(one)
        straight.push(one)
    assert answers(wound) == answers(straight)


def test_the_parts_of_an_occasion_are_one() -> None:
    chronicle = fresh()
    chronicle.push(step(1, size=3))
    chronicle.push(step(2, occasion=1, size=0, edited=(3,), words=("cart",)))
    (occasion,) = chronicle.history(1).edits
    assert (occasion.key, occasion.size, occasion.edited) == (1, 3, (1, 2, 3))
    assert chronicle.total() == 1
    assert chronicle.told == [("login", "cart")]


def test_a_part_before_the_first_counts_with_it_once_that_is_there() -> None:
    chronicle = fresh()
    chronicle.push(step(1, occasion=2, size=0, edited=(), concepts=((7, 0.5),)))
    assert (chronicle.total(), chronicle.frequencies([7])) == (0, {7: 1})
    states = (State(1, "src/a.py", True), State(2, "src/b.py", True))
    chronicle.push(step(2, committed=False, states=states))
    assert (chronicle.total(), chronicle.is_committed(0), chronicle.history(1).concepts) == (
        1,
        True,
        {7: 0.5},
    )
    chronicle.pop()
    chronicle.pop()
    assert (chronicle.total(), chronicle.frequencies([7]), chronicle.files) == (0, {}, {})


@pytest.mark.parametrize("bulk", [{"size": NO_PAIR_SIZE}, {"links": False}, {"links": False, "size": 0}])
def test_what_links_nothing_names_no_companions(bulk: dict[str, Any]) -> None:
    chronicle = fresh()
    chronicle.push(step(1, concepts=((7, 0.5),), **bulk))
    (occasion,) = chronicle.history(1).edits
    assert (occasion.size, occasion.edited) == (NO_PAIR_SIZE, ())
    assert chronicle.history(1).concepts == {}


def test_an_empty_chronicle_has_nothing_to_take_out() -> None:
    assert fresh().last() is None
    with pytest.raises(IndexError):
        fresh().pop()
