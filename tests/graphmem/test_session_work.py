"""What the asking session did so far, as it is stored and as it was heard of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from graphmem.derived import open_derived
from graphmem.journal import Journal
from graphmem.model import Observation
from graphmem.postings import Postings, View
from graphmem.projection import catch_up
from graphmem.recall.session_work import NOTHING_DONE, UNKNOWN, SessionWork, work_of, work_told
from graphmem.step_rows import branch_number
from inference.ranker import Known


def turn(
    number: int, session: str, at: float, read: str = "", edited: str = "", branch: str | None = None
) -> Observation:
    return Observation(
        id=f"o{number}",
        session=session,
        at=at,
        files_read=tuple(read.split()),
        files_modified=tuple(edited.split()),
        branch=branch,
    )


@contextmanager
def viewed(*observations: Observation, as_of: float | None = None) -> Iterator[View]:
    journal, database = Journal(None), open_derived(None)
    try:
        journal.append(observations, 0.0)
        catch_up(journal, database)
        with Postings(database).view(as_of) as view:
            yield view
    finally:
        journal.close()
        database.close()


TURNS = (
    turn(1, "mine", 10.0, read="b.py a.py", branch="topic"),
    turn(2, "other", 11.0, read="z.py", edited="y.py", branch="main"),
    turn(3, "mine", 12.0, read="a.py", edited="c.py"),
    turn(4, "mine", 13.0, edited="a.py"),
)


def _paths(work: SessionWork) -> tuple[list[str], list[str]]:
    return [touch.path for touch in work.read], [touch.path for touch in work.edited]


def test_each_file_is_named_once_in_the_order_of_first_times_and_others_work_is_left_out() -> None:
    with viewed(*TURNS) as view:
        work = work_of(view, "mine")
    assert _paths(work) == (["b.py", "a.py"], ["c.py", "a.py"])
    assert work.branch == branch_number("topic")
    assert work.has_begun


def test_a_moment_of_the_past_knows_the_work_up_to_it() -> None:
    with viewed(*TURNS, as_of=12.5) as view:
        work = work_of(view, "mine")
    assert _paths(work) == (["b.py", "a.py"], ["c.py"])


@pytest.mark.parametrize("session", [None, "", "nobody"])
def test_a_session_nothing_is_stored_of_has_done_nothing(session: str | None) -> None:
    with viewed(*TURNS) as view:
        work = work_of(view, session)
    assert work == SessionWork(UNKNOWN)
    assert not work.has_begun


def test_what_is_in_hand_but_not_stored_yet_was_read_last() -> None:
    with viewed(*TURNS) as view:
        work = work_of(view, "mine", seen={"a.py", "y.py", "never.py"})
        known = view.file("y.py")
    assert [touch.path for touch in work.read] == ["b.py", "a.py", "never.py", "y.py"]
    assert known is not None
    assert [touch.file for touch in work.read[2:]] == [-1, known.id]
    assert work.knows("never.py")


def test_work_that_is_not_stored_is_told_by_names() -> None:
    with viewed(*TURNS) as view:
        work = work_told(view, ["b.py", "new.py"], ["c.py"], "topic")
        stored = work_of(view, "mine")
        assert work_told(view, [], [], "") == NOTHING_DONE
    assert _paths(work) == (["b.py", "new.py"], ["c.py"])
    assert (work.branch, work.read[0]) == (stored.branch, stored.read[0])


def test_a_question_carries_the_work_and_the_files_nobody_has_named() -> None:
    with viewed(*TURNS) as view:
        work = work_of(view, "mine")
        file = view.file("y.py")
        assert file is not None
        asking = work.asking([Known(file.id, file.path), Known(None, "new.py")], 20.0)
    assert [touch.path for touch in asking.files] == ["y.py", "new.py"]
    assert [touch.file for touch in asking.files] == [file.id, UNKNOWN]
    assert (asking.read, asking.edited, asking.branch) == (work.read, work.edited, work.branch)
    assert asking.session == work.session != UNKNOWN
