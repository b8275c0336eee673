"""How the weights of a session's clues are learned: sittings as sessions, and a choice among candidates."""

from __future__ import annotations

import numpy as np
import pytest

from bench.session_fitting import Asked, choice, sittings_asked
from bench.session_memory import SessionMemory, SessionScore
from inference.lineage import Change, Mention
from inference.replay import Line
from inference.session_clues import Clues
from inference.session_replay import Act, Commit, Moment, Session
from inference.session_score import strength

HOUR = 3_600.0
NOTHING = Clues(*(0.0 for _ in Clues._fields))


def _asked(*clues: Clues) -> Asked:
    """Return a question whose first candidate is the right one."""
    return Asked(np.array(clues), np.arange(len(clues)) == 0, 1.0)


def test_a_clue_that_tells_the_right_file_gets_weight_and_one_that_misleads_none() -> None:
    asked = [_asked(NOTHING._replace(read=1.0), NOTHING._replace(day=1.0), NOTHING)] * 20
    learned = choice(asked, ("read", "day"))
    assert learned.read > 1.0
    assert (learned.day, learned.odds) == (0.0, 0.0)


def test_weights_that_are_shared_keep_their_proportions() -> None:
    asked = [_asked(NOTHING._replace(read=1.0, twin=1.0), NOTHING._replace(words=1.0), NOTHING)] * 20
    learned = choice(asked, ("read",), NOTHING._replace(twin=2.0, odds=1.0))
    assert learned.read > 0.0
    assert learned.twin == pytest.approx(2.0 * learned.odds)


def test_sittings_are_asked_about_with_what_came_before_them() -> None:
    lines = [
        Line(
            number,
            number * 24 * HOUR,
            f"ann@{number}",
            "ann",
            "",
            tuple(Mention(Change.MODIFIED, path) for path in ("a.py", "b.py", f"own{number}.py")),
        )
        for number in range(12)
    ]
    asked = sittings_asked(lines)
    assert 0 < len(asked) <= 9
    assert all(one.right.any() and not one.right.all() for one in asked)
    assert sittings_asked(lines)[0].rows.tolist() == asked[0].rows.tolist()


def test_predictors_share_a_memory_and_tell_it_everything_once() -> None:
    memory = SessionMemory()
    first, second = SessionScore(strength, memory), SessionScore(lambda clue: -strength(clue), memory)
    commit = Commit("c", 1.0, ("a.py", "b.py", "c.py"))
    session = Session("s", (Act(2.0, "b.py", False), Act(3.0, "a.py", True)))
    for told in (commit, session):
        first.observe(told)
        second.observe(told)
    moment = Moment(4.0, "t", "", "", "", True, ("b.py",), ())
    assert len(memory.chronicle.occasions) == 2
    assert [path for path, _ in first.predict("a.py", moment)] == ["b.py", "c.py"]
    assert [path for path, _ in second.predict("a.py", moment)] == ["c.py", "b.py"]


def test_a_file_that_was_forgotten_is_named_no_more() -> None:
    memory = SessionMemory()
    memory.observe(Commit("c", 1.0, ("a.py", "b.py")))
    memory.forget(2.0, ["b.py", "never.py"])
    assert memory.clues("a.py", Moment(3.0, "t", "", "", "", True, (), ())) == {}
