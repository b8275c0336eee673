from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.cochange import DECAY, MAX_SIZE
from inference.evidence import FileHistory, Occasion
from inference.sequence import (
    SHRINK,
    Sightings,
    follow_scores,
    follow_sightings,
    read_pairs,
    read_scores,
    read_sightings,
    recency,
    sequels,
    spread_weight,
    temporal_score,
)
from inference.upcoming import next_files

ASKED = 0


def occasion(
    key: int, *edited: int, read: tuple[int, ...] = (), session: int = 1, size: int | None = None
) -> Occasion:
    count = len(edited) if size is None else size
    return Occasion(key, float(key), session, 1, count, edited, read)


def reading(key: int, *edited: int, session: int = 1) -> Occasion:
    return occasion(key, *edited, read=(ASKED,), session=session)


def read_history(*pairs: tuple[Occasion, tuple[Occasion, ...]]) -> FileHistory:
    reads, followers = zip(*pairs, strict=True) if pairs else ((), ())
    return FileHistory(ASKED, reads=tuple(reads), read_followers=tuple(followers))


def edit_history(*pairs: tuple[Occasion, tuple[Occasion, ...]]) -> FileHistory:
    edits, followers = zip(*pairs, strict=True) if pairs else ((), ())
    return FileHistory(ASKED, edits=tuple(edits), followers=tuple(followers))


def test_what_was_edited_where_the_file_was_read_scores() -> None:
    scores = read_scores(read_history((reading(2, 7), ()), (reading(1, 7, 8), ())))
    assert scores[7] == pytest.approx((1 + DECAY) / (1 + DECAY + SHRINK))
    assert scores[8] == pytest.approx(DECAY / (1 + DECAY + SHRINK))


def test_a_read_in_one_turn_and_the_edit_in_a_later_one_of_the_session_score_too() -> None:
    later = (occasion(2, 7), occasion(3, 7, 8), occasion(4, 9, session=2))
    scores = read_scores(read_history((reading(1), later)))
    assert scores[7] == scores[8] == pytest.approx(1 / (1 + SHRINK))
    assert 9 not in scores


def test_a_read_after_which_nothing_was_edited_lowers_the_score() -> None:
    once = read_scores(read_history((reading(1, 7), ())))
    diluted = read_scores(read_history((reading(2), ()), (reading(1, 7), ())))
    assert diluted[7] < once[7]


@pytest.mark.parametrize("kind", ["read", "edit"])
def test_one_sighting_is_never_strong_and_many_are(kind: str) -> None:
    def score(times: int) -> float:
        if kind == "read":
            return read_scores(read_history(*((reading(k, 7), ()) for k in range(times, 0, -1))))[7]
        pairs = ((occasion(2 * k, ASKED), (occasion(2 * k + 1, 7),)) for k in range(times, 0, -1))
        return follow_scores(edit_history(*pairs))[7]

    assert score(1) <= 1 / 3
    assert score(1) < score(3) < score(10)
    assert score(10) > 0.75


def test_only_the_next_occasion_after_an_edit_counts() -> None:
    followers = (occasion(3, 8), occasion(2, 7))
    assert set(follow_scores(edit_history((occasion(1, ASKED), followers)))) == {7}


def test_an_edit_after_which_nothing_came_says_nothing() -> None:
    known = follow_scores(edit_history((occasion(1, ASKED), (occasion(2, 7),))))
    with_last = follow_scores(edit_history((occasion(9, ASKED), ()), (occasion(1, ASKED), (occasion(2, 7),))))
    assert with_last == known


@pytest.mark.parametrize(("size", "weight"), [(0, 0), (1, 1), (3, 1), (6, 0.5), (100, 0.03), (101, 0)])
def test_the_more_files_an_occasion_has_the_less_it_says_of_each(size: int, weight: float) -> None:
    assert spread_weight(size) == pytest.approx(weight)


def test_bulk_after_a_read_says_nothing() -> None:
    bulk = occasion(2, 7, 8, size=MAX_SIZE + 1)
    assert read_scores(read_history((reading(1), (bulk,)))) == {}


def test_nothing_known_gives_nothing() -> None:
    assert sequels([FileHistory(ASKED)]) == {}
    assert next_files([]) == []
    assert recency([]) == {}


def test_several_known_files_are_combined_and_each_signal_stays_its_own() -> None:
    read = read_history((reading(1, 7), ()))
    edit = FileHistory(5, edits=(occasion(1, 5),), followers=((occasion(2, 7),),))
    found = sequels([read, edit])[7]
    assert found.read == found.followed == pytest.approx(1 / 3)
    assert temporal_score(found.read, found.followed) == pytest.approx(1 - (2 / 3) ** 2)


def test_what_the_actor_had_in_hand_last_weighs_most() -> None:
    weights = recency([occasion(3, 7), occasion(2, 8), occasion(1, 7)])
    assert weights[7] > 1.0 > weights[8]


def test_the_next_files_are_not_those_of_this_work_and_come_by_probability() -> None:
    together = occasion(1, ASKED, 5)
    history = FileHistory(ASKED, edits=(together,), followers=((occasion(2, 7, ASKED),),))
    found = dict(next_files([history], [occasion(9, 8)]))
    assert set(found) == {5, 7, 8}
    assert list(found.values()) == sorted(found.values(), reverse=True)


def test_the_evidence_of_a_read_is_the_reads_and_the_nearest_edits_after_them() -> None:
    first, second = occasion(1, read=(ASKED,)), reading(5, session=2)
    after_first = (occasion(2, 7), occasion(3, 7))
    after_second = (occasion(6, 8, session=2), occasion(7, 7, session=2), occasion(8, 7, session=3))
    history = read_history((second, after_second), (first, after_first))
    assert read_sightings(history)[7] == Sightings(2, 2, 2, 7.0, (7, 5, 2))
    assert read_sightings(history)[8] == Sightings(1, 2, 1, 6.0, (6, 5))
    assert [(read.key, edit.key) for read, edit in read_pairs(history)[7]] == [(5, 7), (1, 2)]


def test_an_occasion_that_reads_one_file_and_edits_another_is_start_and_end_at_once() -> None:
    assert read_sightings(read_history((reading(3, 7), ())))[7] == Sightings(1, 1, 1, 3.0, (3,))


def test_the_evidence_of_what_followed_is_both_edits_and_the_sessions_are_those_of_either_side() -> None:
    history = edit_history(
        (occasion(9, ASKED, session=4), ()),
        (occasion(5, ASKED, session=3), (occasion(6, 7, session=9),)),
        (occasion(1, ASKED, session=2), (occasion(2, 7, session=9),)),
    )
    assert follow_sightings(history)[7] == Sightings(2, 2, 1, 6.0, (6, 5, 2))


@st.composite
def histories(draw: st.DrawFn) -> FileHistory:
    files = st.lists(st.integers(0, 6), unique=True, max_size=5)
    keys = iter(range(1000))

    def some(at_most: int, session: int) -> tuple[Occasion, ...]:
        return tuple(
            occasion(next(keys), *draw(files), session=session) for _ in range(draw(st.integers(0, at_most)))
        )

    reads = some(4, 1)
    edits = some(4, 2)
    return FileHistory(
        draw(st.integers(0, 6)),
        edits=edits,
        reads=reads,
        followers=tuple(some(2, 2) for _ in edits),
        read_followers=tuple(some(2, draw(st.integers(1, 2))) for _ in reads),
    )


@given(st.lists(histories(), max_size=3))
def test_every_score_is_a_probability_and_several_files_say_at_least_as_much(
    found: list[FileHistory],
) -> None:
    both = sequels(found)
    for history in found:
        for file, sequel in sequels([history]).items():
            assert 0.0 <= sequel.read < 1.0 and 0.0 <= sequel.followed < 1.0
            assert both[file].read >= sequel.read - 1e-12
            assert both[file].followed >= sequel.followed - 1e-12
    for file, chance in next_files(found, [edit for history in found for edit in history.edits]):
        assert 0.0 < chance < 1.0
        assert file not in {history.file for history in found}


@given(histories())
def test_whatever_has_a_score_has_evidence_and_nothing_else(history: FileHistory) -> None:
    for scores, sightings in (
        (read_scores(history), read_sightings(history)),
        (follow_scores(history), follow_sightings(history)),
    ):
        assert scores.keys() == sightings.keys()
        for seen in sightings.values():
            assert 1 <= seen.sessions <= seen.together <= seen.of
            assert 1 <= len(seen.keys) <= 3
