from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.cochange import (
    DECAY,
    MAX_SIZE,
    SHRINK,
    TOUCHES,
    company,
    file_scores,
    joint_evidence,
    pair_evidence,
    size_weight,
)
from inference.evidence import FileHistory, Occasion

ASKED = 0


def occasion(
    key: int, *files: int, size: int | None = None, session: int = 1, at: float | None = None
) -> Occasion:
    edited = (ASKED, *files)
    return Occasion(
        key=key,
        at=float(key) if at is None else at,
        session=session,
        actor=1,
        size=len(edited) if size is None else size,
        edited=edited,
    )


def history(*edits: Occasion, file: int = ASKED) -> FileHistory:
    return FileHistory(file, tuple(edits))


def written_out(edits: list[Occasion], file: int) -> float:
    """Geom as the paper has it: newest first, k touches of the queried file since."""
    above = below = 0.0
    for k, edit in enumerate(sorted(edits, key=lambda each: (each.at, each.key), reverse=True)[:TOUCHES]):
        below += DECAY**k
        if 1 < edit.size <= MAX_SIZE and file in edit.edited:
            above += DECAY**k * min(1.0, 3.0 / (edit.size - 1))
    return above / (below + SHRINK)


@st.composite
def occasions(draw: st.DrawFn) -> list[Occasion]:
    count = draw(st.integers(0, 12))
    found = []
    for key in range(count):
        others = draw(st.lists(st.integers(1, 8), unique=True, max_size=6))
        size = draw(st.one_of(st.just(len(others) + 1), st.integers(len(others) + 1, 400)))
        moment = draw(st.integers(0, 5))
        found.append(occasion(key, *others, size=size, session=draw(st.integers(1, 3)), at=float(moment)))
    return found


def test_one_joint_change_of_two_files_scores_four_fifths() -> None:
    scores = file_scores(history(occasion(1, 7)))
    assert scores[7].score == pytest.approx(1 / 1.25)


def test_the_newest_change_counts_most() -> None:
    scores = file_scores(history(occasion(2, 7), occasion(1, 8)))
    assert scores[7].score == pytest.approx(1 / (1 + DECAY + SHRINK))
    assert scores[8].score == pytest.approx(DECAY / (1 + DECAY + SHRINK))


@pytest.mark.parametrize(
    ("size", "weight"), [(0, 0), (1, 0), (2, 1), (4, 1), (7, 0.5), (100, 3 / 99), (101, 0)]
)
def test_the_more_files_the_less_a_pair_says(size: int, weight: float) -> None:
    assert size_weight(size) == pytest.approx(weight)


def test_bulk_counts_as_a_change_of_the_file_but_never_as_together() -> None:
    bulk = occasion(2, *range(1, 5), size=MAX_SIZE + 1)
    scores = file_scores(history(bulk, occasion(1, 7)))
    assert set(scores) == {7}
    assert (scores[7].together, scores[7].of) == (1, 2)
    assert scores[7].score == pytest.approx(DECAY / (1 + DECAY + SHRINK))


def test_evidence_names_counts_sessions_and_the_three_newest_occasions() -> None:
    edits = [occasion(key, 7, session=key // 2) for key in range(1, 6)] + [occasion(9, 8)]
    found = file_scores(history(*edits))[7]
    assert (found.together, found.of, found.sessions) == (5, 6, 3)
    assert found.last_seen == 5.0
    assert found.keys == (5, 4, 3)


def test_only_the_last_hundred_changes_count() -> None:
    edits = [occasion(key) for key in range(2, TOUCHES + 2)]
    assert file_scores(history(*edits, occasion(1, 7))) == {}
    assert pair_evidence(history(*edits, occasion(1, 7))).of == TOUCHES


def test_one_sighting_is_never_firm_and_a_steady_pair_is() -> None:
    once = pair_evidence(history(occasion(1, 7)))
    steady = pair_evidence(history(*(occasion(key, 7) for key in range(20))))
    assert once.firm[7] == pytest.approx(1 / 3)
    assert steady.firm[7] > 0.8


def test_nothing_known_gives_nothing() -> None:
    assert file_scores(history()) == {}
    assert joint_evidence([]).scores == {}
    assert company([]) == 0.0


def test_company_is_nothing_for_a_file_that_changes_alone_and_grows_with_the_size() -> None:
    alone, pair, many = (company([history(occasion(1, size=size))]) for size in (1, 2, 30))
    assert alone == 0.0
    assert alone < pair < many


@given(occasions())
def test_scores_are_the_formula_and_never_leave_the_unit_interval(edits: list[Occasion]) -> None:
    scores = file_scores(history(*edits))
    assert ASKED not in scores
    for file, joint in scores.items():
        assert joint.score == pytest.approx(written_out(edits, file))
        assert 0.0 < joint.score < 1.0
        assert 1 <= joint.sessions <= joint.together <= joint.of
        assert len(joint.keys) == min(3, joint.together)


@given(occasions(), st.randoms(use_true_random=False))
def test_the_order_of_the_input_does_not_matter(edits: list[Occasion], random: object) -> None:
    shuffled = list(edits)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert file_scores(history(*shuffled)) == file_scores(history(*edits))


@given(occasions())
def test_one_more_joint_change_never_lowers_a_score_that_small_occasions_made(edits: list[Occasion]) -> None:
    before = file_scores(history(*edits))
    after = file_scores(history(*edits, occasion(99, 7, at=99.0)))
    assert after[7].score > (before[7].score if 7 in before else 0.0)
    assert after[7].together == (before[7].together if 7 in before else 0) + 1
    others = before.keys() - {7}
    assert all(after[file].score < before[file].score for file in others)


@given(occasions(), occasions())
def test_several_known_files_say_at_least_as_much_as_the_best_of_them(
    first: list[Occasion], second: list[Occasion]
) -> None:
    one = history(*first)
    other = FileHistory(100, tuple(second))
    both = joint_evidence([one, other])
    singles = [pair_evidence(one).scores, pair_evidence(other).scores]
    for file, score in both.scores.items():
        best = max(single.get(file, 0.0) for single in singles)
        assert best - 1e-12 <= score < 1.0
        assert both.firm[file] < score
    assert not both.scores.keys() & {ASKED, 100}


def test_an_occasion_that_changed_both_known_files_is_counted_once() -> None:
    shared = occasion(1, 5, 7)
    both = joint_evidence([history(shared), FileHistory(5, (shared,))])
    assert both.of == 1
    assert len(both.occasions[7]) == 1
