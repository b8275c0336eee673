"""Verdicts form a stack: the last one that was not taken back decides; what may follow is ruled."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import ConflictError, InvalidInputError
from graphmem.graph import Decision, Direction, EdgeStatus, Origin, Relation, Verdict, VerdictKind
from graphmem.verdicts import Standing, completed, counting, is_change, standing

CONFIRM, REJECT, UNDO = VerdictKind.CONFIRM, VerdictKind.REJECT, VerdictKind.UNDO
RETIRE, DECLARE = VerdictKind.RETIRE, VerdictKind.DECLARE
FORWARD, BACKWARD = Direction.FORWARD, Direction.BACKWARD
DEPENDS, TESTS = Relation.DEPENDS_ON, Relation.TESTS
CONFIRM_TESTS = Decision("e", CONFIRM, TESTS)

Meaning = tuple[EdgeStatus, Relation | None, Direction | None]

_relation = st.sampled_from([DEPENDS, TESTS])
_direction = st.sampled_from([None, *Direction])
decisions = st.one_of(
    st.sampled_from([Decision("e", kind) for kind in (CONFIRM, REJECT, UNDO, RETIRE)]),
    st.builds(Decision, st.just("e"), st.sampled_from([CONFIRM, DECLARE]), _relation, _direction),
)


def given_by(decision: Decision, number: int = 1, *, together: int = 0, at: float | None = None) -> Verdict:
    return Verdict(
        number,
        decision.edge,
        decision.verdict,
        decision.relation,
        decision.direction,
        decision.note,
        decision.by,
        float(number) if at is None else at,
        together,
    )


def told(*kinds: VerdictKind | Decision) -> list[Verdict]:
    """A history in which every one of these was a change."""
    history: list[Verdict] = []
    for kind in kinds:
        decision = completed(kind if isinstance(kind, Decision) else Decision("e", kind))
        assert is_change(history, decision)
        history.append(given_by(decision, len(history) + 1))
    return history


def meaning(history: list[Verdict]) -> tuple[EdgeStatus | None, Relation | None, Direction | None, Origin]:
    now = standing(history)
    return now.status, now.relation, now.direction, now.origin


def test_an_edge_nobody_judged_stands_nowhere() -> None:
    assert standing([]) == Standing()


def test_the_last_decision_counts_and_says_what_it_knew() -> None:
    history = [
        given_by(Decision("e", CONFIRM, DEPENDS, BACKWARD), 4, together=3, at=10.0),
        given_by(Decision("e", REJECT), 9, together=5, at=20.0),
    ]
    assert standing(history) == Standing(
        EdgeStatus.REJECTED, Origin.INFERRED, None, None, together=5, at=20.0, number=4
    )
    history.append(given_by(Decision("e", UNDO), 12, together=8, at=30.0))
    assert standing(history) == Standing(
        EdgeStatus.CONFIRMED, Origin.INFERRED, DEPENDS, BACKWARD, together=3, at=30.0, number=4
    )


def test_undone_to_the_ground_it_is_a_candidate_again_and_the_history_stays() -> None:
    history = told(CONFIRM, REJECT, UNDO, UNDO)
    now = standing(history)
    assert (now.status, now.relation, now.number, now.at) == (None, None, 1, 4.0)
    assert counting(history) == []


def test_a_retired_edge_keeps_what_it_meant_and_an_undo_brings_it_back() -> None:
    history = told(Decision("e", DECLARE, DEPENDS, BACKWARD), CONFIRM_TESTS, RETIRE)
    assert meaning(history) == (EdgeStatus.RETIRED, TESTS, FORWARD, Origin.DECLARED)
    history.append(given_by(Decision("e", UNDO), 4))
    assert meaning(history) == (EdgeStatus.CONFIRMED, TESTS, FORWARD, Origin.DECLARED)


@pytest.mark.parametrize("before", [[], [REJECT], [CONFIRM_TESTS, REJECT], [CONFIRM_TESTS, UNDO]])
def test_what_is_not_confirmed_can_be_retired_too_and_means_nothing(
    before: list[VerdictKind | Decision],
) -> None:
    assert meaning(told(*before, RETIRE))[:3] == (EdgeStatus.RETIRED, None, None)


def test_a_declaration_that_is_undone_leaves_an_inferred_edge() -> None:
    history = told(CONFIRM, Decision("e", DECLARE, DEPENDS), UNDO)
    assert meaning(history) == (EdgeStatus.CONFIRMED, None, None, Origin.INFERRED)


def test_a_relation_without_a_direction_is_forward() -> None:
    assert completed(Decision("e", CONFIRM, DEPENDS)).direction is FORWARD
    assert completed(Decision("e", CONFIRM, DEPENDS, BACKWARD)).direction is BACKWARD
    assert completed(Decision("e", CONFIRM)).direction is None


@pytest.mark.parametrize(
    ("decision", "field", "sentence"),
    [
        (Decision("e", CONFIRM, None, FORWARD), "direction", "without a relation"),
        (Decision("e", REJECT, None, FORWARD), "direction", "without a relation"),
        (Decision("e", REJECT, DEPENDS), "relation", "takes no relation"),
        (Decision("e", UNDO, TESTS, BACKWARD), "relation", "takes no relation"),
        (Decision("e", RETIRE, TESTS), "relation", "takes no relation"),
        (Decision("e", DECLARE), "relation", "without a relation"),
    ],
)
def test_a_relation_or_direction_out_of_place_is_refused_by_name(
    decision: Decision, field: str, sentence: str
) -> None:
    with pytest.raises(InvalidInputError, match=sentence) as refused:
        completed(decision, "2.")
    assert refused.value.field == f"2.{field}"


@pytest.mark.parametrize(
    ("before", "decision"),
    [
        ([CONFIRM], Decision("e", CONFIRM)),
        ([REJECT], Decision("e", REJECT)),
        ([CONFIRM, RETIRE], Decision("e", RETIRE)),
        ([CONFIRM_TESTS], Decision("e", CONFIRM, TESTS, FORWARD)),
        ([CONFIRM_TESTS], Decision("e", CONFIRM)),
        ([Decision("e", DECLARE, TESTS)], Decision("e", DECLARE, TESTS, FORWARD)),
        ([Decision("e", DECLARE, TESTS)], Decision("e", CONFIRM)),
        ([Decision("e", DECLARE, TESTS)], Decision("e", CONFIRM, TESTS, FORWARD)),
    ],
)
def test_the_same_verdict_twice_is_no_change(
    before: list[VerdictKind | Decision], decision: Decision
) -> None:
    assert not is_change(told(*before), decision)


@pytest.mark.parametrize(
    ("before", "decision", "after"),
    [
        ([CONFIRM], Decision("e", CONFIRM, TESTS), (EdgeStatus.CONFIRMED, TESTS, FORWARD)),
        ([CONFIRM_TESTS], Decision("e", CONFIRM, TESTS, BACKWARD), (EdgeStatus.CONFIRMED, TESTS, BACKWARD)),
        ([CONFIRM_TESTS], Decision("e", CONFIRM, DEPENDS), (EdgeStatus.CONFIRMED, DEPENDS, FORWARD)),
        ([CONFIRM_TESTS, REJECT], Decision("e", CONFIRM), (EdgeStatus.CONFIRMED, None, None)),
        ([REJECT], Decision("e", DECLARE, DEPENDS), (EdgeStatus.CONFIRMED, DEPENDS, FORWARD)),
        ([CONFIRM_TESTS], Decision("e", DECLARE, TESTS), (EdgeStatus.CONFIRMED, TESTS, FORWARD)),
        ([CONFIRM_TESTS], Decision("e", REJECT), (EdgeStatus.REJECTED, None, None)),
    ],
)
def test_another_verdict_replaces_and_an_undo_takes_it_back(
    before: list[VerdictKind | Decision], decision: Decision, after: Meaning
) -> None:
    history = told(*before)
    stood = meaning(history)
    history.append(given_by(completed(decision), 7))
    assert meaning(history)[:3] == after
    assert meaning([*history, given_by(Decision("e", UNDO), 8)]) == stood


@pytest.mark.parametrize(
    ("before", "decision", "sentence"),
    [
        ([CONFIRM, RETIRE], Decision("e", CONFIRM), "The edge e is retired; undo that first."),
        ([CONFIRM, RETIRE], Decision("e", REJECT), "The edge e is retired; undo that first."),
        ([CONFIRM, RETIRE], Decision("e", DECLARE, TESTS, FORWARD), "is retired; undo that first."),
        ([], Decision("e", UNDO), "no verdict left to undo"),
        ([REJECT, UNDO], Decision("e", UNDO), "no verdict left to undo"),
        ([RETIRE], Decision("e", CONFIRM), "is retired; undo that first."),
    ],
)
def test_what_may_not_follow_is_a_conflict_with_the_remedy(
    before: list[VerdictKind | Decision], decision: Decision, sentence: str
) -> None:
    with pytest.raises(ConflictError, match=sentence) as refused:
        is_change(told(*before), decision, "Item 1: ")
    assert str(refused.value).startswith("Item 1: The edge e ")


# ---- any sequence ------------------------------------------------------------------------------


def played(sequence: list[Decision]) -> tuple[list[Verdict], list[tuple[Meaning, bool]]]:
    """Play decisions against the rules and beside them on a stack of meanings, which is the model."""
    history: list[Verdict] = []
    stack: list[tuple[Meaning, bool]] = []
    for decision in map(completed, sequence):
        top = stack[-1] if stack else None
        try:
            changes = is_change(history, decision)
        except ConflictError:
            changes = False
            assert (decision.verdict is UNDO and top is None) or (
                top is not None and top[0][0] is EdgeStatus.RETIRED
            )
        if not changes:
            continue
        history.append(given_by(decision, len(history) + 1))
        declared = any(entry[1] for entry in stack)
        match decision.verdict:
            case VerdictKind.UNDO:
                stack.pop()
            case VerdictKind.RETIRE:
                meant = (None, None) if top is None else top[0][1:]
                stack.append(((EdgeStatus.RETIRED, *meant), declared))
            case VerdictKind.REJECT:
                stack.append(((EdgeStatus.REJECTED, None, None), declared))
            case kind:
                confirmed = EdgeStatus.CONFIRMED, decision.relation, decision.direction
                stack.append((confirmed, declared or kind is DECLARE))
    return history, stack


@given(st.lists(decisions, max_size=25))
def test_any_sequence_ends_where_a_stack_of_meanings_does(sequence: list[Decision]) -> None:
    history, stack = played(sequence)
    found, declared = stack[-1] if stack else ((None, None, None), False)
    assert meaning(history) == (*found, Origin.DECLARED if declared else Origin.INFERRED)


@given(st.lists(decisions, max_size=15), st.lists(decisions, max_size=10))
def test_undoing_as_often_as_was_decided_restores_exactly(
    sequence: list[Decision], more: list[Decision]
) -> None:
    history, _ = played(sequence)
    stood = replace(standing(history), at=0.0, number=0)
    further = list(history)
    for decision in (completed(one) for one in more if one.verdict is not UNDO):
        try:
            if is_change(further, decision):
                further.append(given_by(decision, len(further) + 1))
        except ConflictError:
            assert standing(further).status is not EdgeStatus.CONFIRMED
    for _ in range(len(further) - len(history)):
        assert is_change(further, Decision("e", UNDO))
        further.append(given_by(Decision("e", UNDO), len(further) + 1))
    assert replace(standing(further), at=0.0, number=0) == stood


@given(st.lists(decisions, max_size=20), decisions)
def test_what_was_a_change_is_none_the_second_time(sequence: list[Decision], decision: Decision) -> None:
    history, _ = played(sequence)
    last = completed(decision)
    try:
        if is_change(history, last):
            history.append(given_by(last, len(history) + 1))
    except ConflictError:
        return
    assert last.verdict is UNDO or not is_change(history, last)
