"""Questions that others have to wait for: nobody waits without end, nor for what is not there yet."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from graphmem import chronicler
from graphmem.chronicler import Chronicler
from graphmem.model import Observation
from graphmem.postings import Postings, View

WORK = [Observation(f"o{n}", "s", 1e9 + n, files_modified=("a.py", f"b{n}.py")) for n in range(9)]


def length(view: View) -> int | None:
    with view.chronicle() as chronicle:
        return None if chronicle is None else len(chronicle)


def test_who_would_wait_too_long_for_a_past_moment_goes_without_and_the_next_one_gets_it(
    recorded: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chronicler, "_LONGEST_WAIT", 0.01)
    postings = Postings(recorded(*WORK).database, Chronicler().at)
    found: list[int | None] = []
    with postings.view(1e9 + 2) as view:
        with view.chronicle() as chronicle:
            assert chronicle is not None
            other = threading.Thread(target=lambda: found.append(length(view)))
            other.start()
            other.join(30)
        assert length(view) == 3
    with postings.view(1e9 + 5) as view:
        assert length(view) == 6
    assert found == [None]


def test_those_who_are_answered_without_the_work_in_memory_do_not_wait_for_each_other(
    recorded: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chronicler, "AT_ONCE", 0)
    database = recorded(*WORK).database
    may_read = threading.Event()

    @contextmanager
    def late() -> Iterator[View]:
        may_read.wait(30)
        with Postings(database).view() as view:
            yield view

    chronicles = Chronicler(late)
    found: list[int | None] = []
    with Postings(database, chronicles.at).view() as view, view.chronicle() as chronicle:
        other = threading.Thread(target=lambda: found.append(length(view)), daemon=True)
        other.start()
        other.join(30)
        assert chronicle is None
        assert found == [None]
    may_read.set()
    chronicles.close()
