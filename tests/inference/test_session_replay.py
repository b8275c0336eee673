"""Sessions are asked about in the order they began, and nobody knows what was not over by then."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.metrics import bootstrap
from inference.session_baselines import STRONGEST, session_baselines
from inference.session_replay import Act, Commit, Moment, Session, gains, replay_sessions, session_means


def session(name: str, at: float, *acts: str) -> Session:
    """A session whose acts come a second after each other: `r:path` for a read, `e:path` for an edit."""
    made = (Act(at + place, act[2:], act[0] == "e", "main", "1") for place, act in enumerate(acts))
    return Session(name, tuple(made), "agent", f"do {name}")


class Noted:
    """Answers from a list and remembers what it was told and asked."""

    def __init__(self, *answer: str) -> None:
        self.answer = [(path, 1.0) for path in answer]
        self.log: list[tuple[str, Any]] = []

    def observe(self, told: Session | Commit) -> None:
        self.log.append(("told", told.name))

    def predict(self, path: str, moment: Moment) -> list[tuple[str, float]]:
        self.log.append((path, moment))
        return self.answer


def test_a_session_is_told_when_it_has_ended_and_a_commit_when_it_was_before() -> None:
    long = session("long", 0.0, "e:a", "e:b", *["r:a"] * 20)
    short = session("short", 5.0, "e:a")
    asked = session("asked", 7.0, "e:a", "e:b")
    commits = [Commit("same instant", 7.0, ("a",)), Commit("before", 6.9, ("a",))]
    noted = Noted()
    replay_sessions([asked, long, short], commits, {"noted": noted})
    first = next(
        place for place, (_, what) in enumerate(noted.log) if getattr(what, "session", "") == "asked"
    )
    assert [what for kind, what in noted.log[:first] if kind == "told"] == ["short", "before"]
    ended = session("ended", 6.0, "e:a", "e:b")
    noted = Noted()
    replay_sessions([asked, ended], commits, {"noted": noted})
    assert ("told", "ended") in noted.log


def test_each_question_says_what_was_read_and_edited_before_it() -> None:
    noted = Noted()
    replay_sessions([session("one", 0.0, "r:a", "r:b", "r:a", "e:b", "r:c", "e:d")], [], {"noted": noted})
    moments = [(path, what.changing, what.read, what.edited) for path, what in noted.log]
    assert moments == [
        ("a", False, (), ()),
        ("b", False, ("a",), ()),
        ("b", True, ("a", "b"), ()),
        ("c", False, ("a", "b"), ("b",)),
    ]
    assert {what.task for _, what in noted.log} == {None}
    noted = Noted()
    replay_sessions([session("one", 0.0, "e:a", "e:b")], [], {"noted": noted}, with_task=True)
    assert [what.task for _, what in noted.log] == ["do one"]


def test_figures_are_those_counted_by_hand() -> None:
    noted = Noted("x", "c", "a", "c", "d")
    one = session("one", 10.0, "r:a", "r:c", "e:a", "e:c", "e:d")
    rows = replay_sessions([one], [Commit("k", 0.0, ("c",))], {"noted": noted})["noted"]
    (row,) = rows
    # At the first edit of a, c and d are right: named at places 2 and 3, as a itself is left out.
    assert row.later.average_precision == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert row.known == 1 / 2
    # c had been read: d alone is right, at place 2 of x, d.
    assert row.unread is not None
    assert row.unread.average_precision == 1 / 2
    # At the read of a: c and d of {c, d}; at the read of c: a and d of {a, d}.
    assert (row.at_reads, row.reads) == (1.0, 2)
    means = session_means(rows)
    assert means is not None
    assert (means.sessions, means.unread_sessions, means.reads) == (1, 1, 2)
    assert session_means([]) is None


def test_sessions_of_one_file_are_told_and_not_asked_about() -> None:
    noted = Noted()
    alone, two = session("alone", 0.0, "e:a", "r:b"), session("two", 9.0, "e:a", "e:b")
    rows = replay_sessions([alone, two], [], {"noted": noted})["noted"]
    assert [row.session for row in rows] == ["two"]
    assert noted.log[0] == ("told", "alone")


def test_many_sessions_are_drawn_evenly() -> None:
    many = [session(f"{number:02}", number * 10.0, "e:a", "e:b") for number in range(20)]
    rows = replay_sessions(many, [], {"noted": Noted()}, at_most=4)["noted"]
    assert [row.session for row in rows] == ["04", "09", "14", "19"]


def answers(path: str) -> dict[str, list[tuple[str, float]]]:
    told: list[Session | Commit] = [
        Commit("1", 0.0, ("src/a.py", "src/b.py")),
        Commit("2", 1.0, ("src/a.py", "tests/test_a.py", "src/b.py")),
        Commit("3", 2.0, ("src/a.py",)),
        session("s1", 3.0, "e:src/a.py", "e:docs/a.md", "r:src/z.py"),
        session("s2", 9.0, "e:src/a.py", "e:src/b.py"),
    ]
    moment = Moment(20.0, "s", "agent", "", "", True, (), ())
    found = {}
    for name, predictor in session_baselines().items():
        for each in told:
            predictor.observe(each)
        found[name] = list(predictor.predict(path, moment))
    return found


def test_the_baselines_say_what_they_are_defined_to_say() -> None:
    found = answers("src/a.py")
    assert found["most edited"] == [("docs/a.md", 1 / 2), ("src/b.py", 1 / 2)]
    # Three commits touch the folder; b is in two of them.
    assert found["same folder"] == [("src/b.py", 2 / 3)]
    # a is in two commits of several files: with b in both, with its test in one; plus one unseen.
    assert found["git co-change"] == [("src/b.py", 2 / 3), ("tests/test_a.py", 1 / 3)]
    assert found["session co-edit"] == [("docs/a.md", 1 / 3), ("src/b.py", 1 / 3)]
    # b is first in git and folder, the test second in git and first as twin; first places everywhere are 1.
    most = (1 + 0.5 + 1.5) / 10
    assert found[STRONGEST] == [
        ("tests/test_a.py", pytest.approx((1 / 11 + 1.5 / 10) / most)),
        ("src/b.py", pytest.approx((1 / 10 + 0.5 / 10) / most)),
    ]
    assert {path for path, _ in found["all fused"]} == {"docs/a.md", "src/b.py", "tests/test_a.py"}


@pytest.mark.parametrize(
    ("path", "twin"),
    [
        ("a/x_test.go", "b/x.go"),
        ("a/x.test.ts", "b/x.ts"),
        ("a/x.spec.ts", "b/x.ts"),
        ("t/test_x.py", "s/x.py"),
        ("x", "test_x"),
    ],
)
def test_a_test_and_what_it_tests_are_twins(path: str, twin: str) -> None:
    baseline = session_baselines()[STRONGEST]
    baseline.observe(Commit("1", 0.0, (path,)))
    baseline.observe(Commit("2", 1.0, (twin,)))
    moment = Moment(2.0, "s", "a", "", "", True, (), ())
    for one, other in ((path, twin), (twin, path)):
        assert [name for name, _ in baseline.predict(one, moment)] == [other]


def test_the_difference_to_another_has_an_interval() -> None:
    many = [session(f"{number}", number * 10.0, "e:a", "e:b") for number in range(9)]
    rows = replay_sessions(many, [], {"right": Noted("b"), "wrong": Noted("c")})
    found = bootstrap(gains(rows["right"], rows["wrong"]))
    assert found == (1.0, 1.0, 1.0)
    mixed = bootstrap([0.0, 1.0] * 50)
    assert mixed is not None
    assert mixed.low < mixed.mean == 0.5 < mixed.high
    assert (bootstrap([]), bootstrap([0.0, 1.0] * 50)) == (None, mixed)


@given(st.lists(st.lists(st.sampled_from(["r:a", "e:a", "r:b", "e:b", "e:c"]), min_size=1), max_size=8))
def test_no_sessions_break_the_protocol(groups: list[list[str]]) -> None:
    sessions = [session(f"{number}", number * 3.0, *acts) for number, acts in enumerate(groups)]
    rows = replay_sessions(sessions, [], session_baselines())
    counts = {len(scores) for scores in rows.values()}
    assert counts == {sum(len({act for act in acts if act[0] == "e"}) >= 2 for acts in groups)}


def test_a_session_without_an_edit_cant_be_asked_about_by_mistake() -> None:
    assert replay_sessions([session("read", 0.0, "r:a", "r:b")], [], {"noted": Noted()}) == {"noted": []}
