"""Each baseline against a history counted by hand, from its definition in the paper or the tool."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.baselines import (
    Baseline,
    Counts,
    Coupling,
    GlobalFrequency,
    Jaccard,
    Rose,
    SameFolder,
    Tarmaq,
    baselines,
)
from inference.lineage import Change, Mention
from inference.replay import Context, Line

NOW = Context(0.0, "s", "a")


def line(number: int, *paths: str) -> Line:
    mentions = tuple(Mention(Change.MODIFIED, path) for path in paths)
    return Line(number, float(number), "s", "a", "", mentions)


def history() -> list[Line]:
    """a: six lines, one of them too large for pairs. b: 3 with a, 1 alone. c: 2 with a. d: once, with b."""
    bulk = [f"z/bulk{number}" for number in range(30)]
    groups = [
        ("x/a", "x/b"),
        ("x/a", "x/b", "y/c"),
        ("x/a", "y/c"),
        ("x/b", "y/d"),
        ("x/b",),
        ("x/a",),
        ("x/a", *bulk),
        ("x/a", "x/b"),
    ]
    return [line(number, *group) for number, group in enumerate(groups)]


def answer(predictor: Baseline, path: str) -> dict[str, float]:
    for told in history():
        predictor.observe(told)
    return dict(predictor.predict(path, NOW))


def test_rose_is_the_share_of_the_files_lines_that_hold_the_other_one() -> None:
    # a is in five lines of at most 30 files: with b in three, with c in two.
    assert answer(Rose(), "x/a") == {"x/b": pytest.approx(3 / 5), "y/c": pytest.approx(2 / 5)}


def test_jaccard_is_joint_lines_over_lines_with_either() -> None:
    # a is in six lines, b in five, c in two.
    expected = {"x/b": pytest.approx(3 / (6 + 5 - 3)), "y/c": pytest.approx(2 / (6 + 2 - 2))}
    assert answer(Jaccard(), "x/a") == expected


def test_coupling_is_shared_revisions_over_the_average_and_leaves_rare_files_in() -> None:
    # code-maat leaves out the change set of 31 files from both: a 5 revisions, b 5, c 2, d 1.
    expected = {"x/b": pytest.approx(3 / ((5 + 5) / 2)), "y/c": pytest.approx(2 / ((5 + 2) / 2))}
    assert answer(Coupling(), "x/a") == expected
    assert answer(Coupling(), "y/d") == {"x/b": pytest.approx(1 / ((1 + 5) / 2))}


def test_frequency_and_same_folder_count_all_lines() -> None:
    frequent = answer(GlobalFrequency(), "y/c")
    assert (frequent["x/a"], frequent["x/b"], frequent["y/d"]) == (6 / 8, 5 / 8, 1 / 8)
    assert list(frequent)[:2] == ["x/a", "x/b"]
    assert answer(SameFolder(), "y/c") == {"y/d": 1 / 8}


def test_tarmaq_takes_rules_of_the_lines_with_the_largest_overlap_alone() -> None:
    counts = Counts()
    for told in history():
        counts.observe(told)
    files = {name: counts.lineage.file_of(name) for name in ("x/a", "x/b", "y/c", "y/d")}
    a, b, c, d = (file for file in files.values() if file is not None)
    # a and b are both in three lines; c is in one of these, d in none.
    assert Tarmaq(counts).rules({a, b}) == [(c, 1, 1 / 3)]
    # No line holds c and d: all lines with either overlap in one. a twice with c; b once each with c and d.
    assert Tarmaq(counts).rules({c, d}) == [(a, 2, 1.0), (b, 1, 1.0)]
    assert Tarmaq(counts).rules(set()) == []


HISTORIES = st.lists(
    st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=1, max_size=5), min_size=1, max_size=40
)


@given(HISTORIES, st.sampled_from("abcdefgh"))
def test_with_one_known_file_the_rules_of_tarmaq_are_those_of_rose_in_their_order(
    groups: list[list[str]], asked: str
) -> None:
    counts = Counts()
    for number, group in enumerate(groups):
        counts.observe(line(number, *group))
    file = counts.lineage.file_of(asked)
    ruled = [] if file is None else Tarmaq(counts).rules({file})
    named = [(counts.lineage.path_of(other), pytest.approx(confidence)) for other, _, confidence in ruled]
    assert Rose(counts).predict(asked, NOW) == named
    assert Tarmaq(counts).predict(asked, NOW) == named


@given(HISTORIES, st.sampled_from("abcdefgh"))
def test_what_is_counted_bit_by_bit_and_shared_is_what_is_counted_at_once(
    groups: list[list[str]], asked: str
) -> None:
    shared = baselines()
    for number, group in enumerate(groups):
        for predictor in shared.values():
            predictor.observe(line(number, *group))
            predictor.predict(asked, NOW)
    for name, predictor in baselines().items():
        for number, group in enumerate(groups):
            predictor.observe(line(number, *group))
        assert predictor.predict(asked, NOW) == shared[name].predict(asked, NOW)


def test_a_file_changed_ten_thousand_times_is_counted_once() -> None:
    counts = Counts()
    for number in range(10_000):
        counts.observe(line(number, "hub", f"f{number % 50}"))
    rose = Rose(counts)
    assert {share for _, share in rose.predict("hub", NOW)} == {200 / 10_000}
    assert rose.predict("f7", NOW) == [("hub", 1.0)]
