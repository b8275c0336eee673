from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.combination import WEIGHTS, Candidate, probability, strength
from inference.evidence import FileHistory, Occasion, Standing
from inference.ranking import WARNING_THRESHOLD, candidates, describe, rank

unit = st.floats(0.0, 1.0)
amount = st.floats(0.0, 1e6)
some_candidate = st.builds(
    Candidate,
    file=st.just(1),
    firm_score=unit,
    concept=unit,
    read=unit,
    followed=unit,
    touches=amount,
    at_hand=st.floats(0.0, 7.0),
    alike=st.booleans(),
    beside=st.booleans(),
    company=st.floats(0.0, 4.7),
)


def occasion(key: int, *edited: int, read: tuple[int, ...] = (), session: int | None = None) -> Occasion:
    return Occasion(key, float(key), key if session is None else session, 1, len(edited), edited, read)


def history(file: int, *edits: Occasion, path: str = "") -> FileHistory:
    return FileHistory(file, edits, path=path)


@given(some_candidate)
def test_every_probability_is_one(candidate: Candidate) -> None:
    assert 0.0 <= probability(candidate) <= 1.0
    link = strength(candidate.firm_score, candidate.concept, candidate.read, candidate.followed)
    assert candidate.firm_score - 1e-12 <= link <= 1.0


@given(some_candidate, some_candidate)
def test_more_of_anything_never_makes_a_file_less_likely(one: Candidate, other: Candidate) -> None:
    names = ("firm_score", "concept", "read", "followed", "touches", "at_hand", "alike", "beside", "company")
    more = one._replace(**{name: max(getattr(one, name), getattr(other, name)) for name in names})
    assert probability(more) >= probability(one)


def test_no_weight_is_negative_so_that_evidence_speaks_for_a_file() -> None:
    numbers = {name: getattr(WEIGHTS, name) for name in WEIGHTS.__slots__ if name not in ("intercept",)}
    assert all(value >= 0.0 for value in numbers.values())
    assert max(WEIGHTS.concept, WEIGHTS.read, WEIGHTS.followed) < 1.0


def test_one_sighting_warns_nobody_and_a_steady_pair_does() -> None:
    once = rank([history(0, occasion(1, 0, 7))], {})
    steady = rank([history(0, *(occasion(key, 0, 7) for key in range(20)))], {}, {7: Standing("x", 4.0)})
    assert once[0].probability < WARNING_THRESHOLD
    assert steady[0].probability >= WARNING_THRESHOLD


@pytest.mark.parametrize("signal", ["concept", "read", "followed"])
def test_no_single_other_signal_warns_anybody(signal: str) -> None:
    assert probability(Candidate(1, **{signal: 1.0})) < WARNING_THRESHOLD


def test_each_signal_is_named_with_its_own_score() -> None:
    asked = FileHistory(
        0,
        edits=(occasion(5, 0, 1),),
        reads=(occasion(3, 2, read=(0,)),),
        followers=((occasion(6, 3, session=5),),),
        concepts={9: 1.0},
    )
    found = {entry.file: entry for entry in rank([asked], {4: {9: 2.0}}, {4: Standing()})}
    assert found[1].signals == ("co_changes",)
    assert found[1].file_score == pytest.approx(0.8)
    assert found[2].signals == ("read_for",)
    assert found[2].temporal_score == pytest.approx(1 / 3)
    assert found[3].signals == ("followed_by",)
    assert found[4].signals == ("about",)
    assert found[4].concept_score == pytest.approx(1.0)


def test_a_candidate_without_joint_change_says_nought_of_n() -> None:
    asked = history(0, occasion(1, 0, 5), occasion(2, 0, 5), path="src/a.py")
    found = {entry.file: entry for entry in rank([asked], {}, {8: Standing("src/b.py")})}
    beside = found[8]
    assert (beside.together, beside.of, beside.sessions) == (0, 2, 0)
    assert beside.last_seen is None
    assert beside.keys == beside.signals == ()
    assert beside.probability < found[5].probability


def test_the_twin_by_name_and_the_file_beside_come_before_a_stranger() -> None:
    asked = history(0, path="src/token.py")
    standings = {
        1: Standing("lib/other.py"),
        2: Standing("src/other.py"),
        3: Standing("tests/test_token.py"),
    }
    assert [entry.file for entry in rank([asked], {}, standings)] == [3, 2, 1]


def test_what_the_actor_had_in_hand_comes_before_equals() -> None:
    asked = history(0, occasion(1, 0, 5, 6))
    standings = {5: Standing("a"), 6: Standing("b")}
    assert rank([asked], {}, standings)[0].file == 5
    assert rank([asked], {}, standings, [occasion(9, 6)])[0].file == 6


def test_equals_come_by_path() -> None:
    asked = history(0, occasion(1, 0, 5, 6, 7))
    standings = {5: Standing("c"), 6: Standing("a"), 7: Standing("b")}
    assert [entry.file for entry in rank([asked], {}, standings)] == [6, 7, 5]


def test_only_files_among_those_wanted_are_ranked() -> None:
    asked = history(0, occasion(1, 0, 5, 6, 7))
    assert [entry.file for entry in rank([asked], {}, among={6})] == [6]
    assert len(rank([asked], {}, at_most=2)) == 2


def test_queried_files_are_never_their_own_companions() -> None:
    shared = occasion(1, 0, 1, 7)
    both = [history(0, shared), history(1, shared)]
    assert [entry.file for entry in rank(both, {0: {1: 1.0}}, {0: Standing(), 1: Standing()}, [shared])] == [
        7
    ]
    assert candidates(both, 10, [shared]) == [7]


def test_nothing_asked_gives_nothing() -> None:
    assert rank([], {}) == []
    assert candidates([]) == []
    assert describe([], {}, {}, ()) == []
    assert rank([history(0)], {}) == []


def test_candidates_come_by_strength_then_by_what_was_in_hand() -> None:
    asked = history(0, occasion(2, 0, 5), occasion(1, 0, 6))
    assert candidates([asked], 10, [occasion(9, 8), occasion(8, 9)]) == [5, 6, 8, 9]
    assert candidates([asked], 1) == [5]


@given(
    st.lists(st.lists(st.integers(1, 9), unique=True, min_size=1, max_size=6), min_size=1, max_size=10),
    st.randoms(use_true_random=False),
)
def test_equal_times_are_told_apart_by_key_alone(groups: list[list[int]], random: object) -> None:
    edits = [Occasion(key, 1.0, key % 3, 1, len(group) + 1, (0, *group)) for key, group in enumerate(groups)]
    shuffled = list(edits)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    standings = {file: Standing(f"f{file}") for file in range(1, 10)}
    assert rank([history(0, *shuffled)], {}, standings) == rank([history(0, *edits)], {}, standings)


@given(
    st.lists(st.lists(st.integers(2, 9), unique=True, min_size=1, max_size=5), min_size=1, max_size=6),
    st.lists(st.lists(st.integers(2, 9), unique=True, min_size=1, max_size=5), min_size=1, max_size=6),
)
def test_a_second_known_file_never_weakens_a_link(first: list[list[int]], second: list[list[int]]) -> None:
    one = history(0, *(occasion(key, 0, *group) for key, group in enumerate(first)))
    other = history(1, *(occasion(50 + key, 1, *group) for key, group in enumerate(second)))
    both = {entry.file: entry.file_score for entry in rank([one, other], {})}
    for single in (one, other):
        for entry in rank([single], {}):
            assert both[entry.file] >= entry.file_score - 1e-12
