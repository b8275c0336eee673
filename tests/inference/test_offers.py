from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference import promotion
from inference.activity import HALF_LIFE
from inference.cochange import MAX_SIZE
from inference.evidence import FileHistory, Occasion
from inference.promotion import (
    DEGREE_CAP,
    FLOOR,
    HUB,
    OFFERS,
    SHARE,
    TEMPORAL_FLOOR,
    Offer,
    agreed,
    chances,
    joint_weight,
    kept,
    merged,
    offers,
    orientation,
)

ASKED = 0
DAY = 86_400.0
NAMES = {number: f"src/f{number:03}.py" for number in range(200)}


def occasion(
    key: int, *edited: int, session: int | None = None, size: int | None = None, read: tuple[int, ...] = ()
) -> Occasion:
    """An occasion a day, each in a session of its own unless one is given."""
    count = len(edited) if size is None else size
    return Occasion(key, key * DAY, key if session is None else session, 1, count, edited, read)


def history(*edits: Occasion, file: int = ASKED) -> FileHistory:
    return FileHistory(file, edits=tuple(sorted(edits, key=lambda edit: -edit.key)), path=NAMES[file])


def joints(times: int, *files: int, start: int = 1) -> list[Occasion]:
    return [occasion(start + number, ASKED, *files) for number in range(times)]


def reads(times: int, target: int) -> FileHistory:
    """`times` sessions that read the asked file and edit the target afterwards."""
    pairs = [
        (occasion(2 * n, read=(ASKED,), session=n), (occasion(2 * n + 1, target, session=n),))
        for n in range(times, 0, -1)
    ]
    return FileHistory(
        ASKED, reads=tuple(read for read, _ in pairs), read_followers=tuple(after for _, after in pairs)
    )


def follows(times: int, target: int) -> FileHistory:
    """`times` sessions that edit the asked file and then the target."""
    pairs = [
        (occasion(2 * n, ASKED, session=n), (occasion(2 * n + 1, target, session=n),))
        for n in range(times, 0, -1)
    ]
    return FileHistory(
        ASKED, edits=tuple(edit for edit, _ in pairs), followers=tuple(after for _, after in pairs)
    )


def offer(
    source: int,
    target: int,
    probability: float = 0.5,
    kind: str = "co_changes",
    file: float = 0.5,
    temporal: float = 0.0,
    together: int = 3,
) -> Offer:
    return Offer(source, target, kind, probability, file, temporal, together, 4, 2, 9.0, (3, 2, 1))


def both(one: int, other: int, probability: float = 0.5) -> list[Offer]:
    return [offer(one, other, probability), offer(other, one, probability)]


# ---- offers ---------------------------------------------------------------------------------------


def test_what_changed_along_in_two_sessions_is_offered_with_its_evidence() -> None:
    (found,) = offers(history(*joints(3, 7), occasion(9, ASKED)), NAMES)
    assert (found.source, found.target, found.kind) == (ASKED, 7, "co_changes")
    assert (found.together, found.of, found.sessions) == (3, 4, 3)
    assert (found.last_seen, found.keys) == (3 * DAY, (3, 2, 1))
    assert FLOOR <= found.probability < 1.0
    assert 0.0 < found.file < 1.0 and found.temporal == 0.0


@pytest.mark.parametrize("times", [1, 2, 30])
def test_one_session_alone_offers_nothing_however_often_it_saw_the_pair(times: int) -> None:
    edits = [occasion(number, ASKED, 7, session=5) for number in range(1, times + 1)]
    assert offers(history(*edits), NAMES) == []


@pytest.mark.parametrize("build", [reads, follows])
def test_order_in_one_session_alone_offers_nothing_either(build: object) -> None:
    many = reads(12, 7) if build is reads else follows(12, 7)
    one = replace(
        many,
        edits=tuple(edit._replace(session=1) for edit in many.edits),
        reads=tuple(read._replace(session=1) for read in many.reads),
        followers=tuple((after._replace(session=1),) for (after,) in many.followers),
        read_followers=tuple((after._replace(session=1),) for (after,) in many.read_followers),
    )
    assert [found.target for found in offers(many, NAMES)] == [7]
    assert offers(one, NAMES) == []


def test_what_is_edited_after_a_read_is_offered_with_the_reads_and_the_edits() -> None:
    (found,) = offers(reads(4, 7), NAMES)
    assert (found.kind, found.together, found.of, found.sessions) == ("read_for", 4, 4, 4)
    assert found.keys == (9, 8, 7)
    assert found.temporal >= TEMPORAL_FLOOR


def test_what_is_edited_next_is_offered_with_both_edits() -> None:
    (found,) = offers(follows(4, 7), NAMES)
    assert (found.kind, found.together, found.of, found.keys) == ("followed_by", 4, 4, (9, 8, 7))


def test_the_kind_is_the_stronger_signal() -> None:
    after = follows(4, 7)
    along = replace(after, edits=tuple(edit._replace(edited=(ASKED, 7), size=2) for edit in after.edits))
    assert [found.kind for found in offers(along, NAMES)] == ["co_changes"]
    once = [along.edits[0], *after.edits[1:3], along.edits[3]]
    (found,) = offers(replace(after, edits=tuple(once)), NAMES)
    assert found.file < found.temporal
    assert found.kind == "followed_by"


@pytest.mark.parametrize("left_out", ["no name", "ignored"])
def test_files_without_a_name_and_ignored_ones_are_not_offered(left_out: str) -> None:
    names = {number: name for number, name in NAMES.items() if left_out != "no name" or number != 7}
    ignored = {7} if left_out == "ignored" else set()
    found = offers(history(*joints(4, 7, 8)), names, ignored)
    assert [found.target for found in found] == [8]


def test_bulk_work_and_nothing_at_all_offer_nothing() -> None:
    bulk = [occasion(number, ASKED, 7, size=MAX_SIZE + 1) for number in range(9)]
    assert offers(history(*bulk), NAMES) == []
    assert offers(FileHistory(ASKED), NAMES) == []


def test_large_changes_say_less() -> None:
    assert joint_weight(2) == joint_weight(7) == 1.0
    assert 1.0 > joint_weight(8) > joint_weight(MAX_SIZE) > 0.0
    assert joint_weight(1) == joint_weight(0) == joint_weight(MAX_SIZE + 1) == 0.0


def test_a_file_offers_a_bounded_number_the_likeliest_first_and_equals_by_path() -> None:
    crowd = range(1, OFFERS + 11)
    edits = [occasion(1, ASKED, *crowd, size=5), occasion(2, ASKED, *crowd, size=5), *joints(2, 60, start=3)]
    found = [offered.target for offered in offers(history(*edits), NAMES)]
    assert found == [60, *range(1, OFFERS)]


def test_what_is_long_ago_is_less_likely_than_what_was_lately() -> None:
    old = chances(history(*joints(3, 7), occasion(900, ASKED)), {7})[7]
    new = chances(history(*joints(3, 7, start=897), occasion(900, ASKED)), {7})[7]
    assert old < new
    rested = chances(history(*joints(3, 7)), {7})[7]
    assert rested > old, "what came later elsewhere is not known to a file that rests"


def test_a_half_life_ago_counts_half_of_now_and_a_read_before_an_edit_less_than_a_joint_change() -> None:
    then = Occasion(1, 0.0, 1, 1, 2, (ASKED, 7))
    now = Occasion(2, HALF_LIFE, 2, 1, 1, (ASKED,))
    assert promotion.sighted(history(then, now), {7})[7] == (1.0, 0.5)
    often, lately = promotion.sighted(reads(4, 7), {7})[7]
    assert 0.0 < lately <= often < 4.0


# ---- properties -----------------------------------------------------------------------------------


@st.composite
def told(draw: st.DrawFn) -> FileHistory:
    """A history with edits, reads and what came after, over few files and sessions."""
    files = st.lists(st.integers(1, 6), unique=True, max_size=5)

    def some(first: int, *own: int, read: bool = False) -> list[Occasion]:
        return [
            occasion(
                key,
                *own,
                *draw(files),
                session=draw(st.integers(1, 4)),
                size=draw(st.sampled_from((2, 3, 7, 30, MAX_SIZE + 1))),
                read=(ASKED,) if read else (),
            )
            for key in range(first, first + draw(st.integers(0, 6)))
        ]

    edits, looked = some(1, ASKED), some(20, read=True)
    edits.reverse()
    looked.reverse()
    return FileHistory(
        ASKED,
        edits=tuple(edits),
        reads=tuple(looked),
        followers=tuple((occasion(edit.key + 100, *draw(files), session=edit.session),) for edit in edits),
        read_followers=tuple(
            (occasion(read.key + 100, *draw(files), session=read.session),) for read in looked
        ),
    )


def renumbered(known: FileHistory, numbers: Mapping[int, int]) -> FileHistory:
    def one(seen: Occasion) -> Occasion:
        return seen._replace(
            edited=tuple(sorted(numbers[file] for file in seen.edited)),
            read=tuple(numbers[file] for file in seen.read),
        )

    return replace(
        known,
        file=numbers[known.file],
        edits=tuple(map(one, known.edits)),
        reads=tuple(map(one, known.reads)),
        followers=tuple(tuple(map(one, after)) for after in known.followers),
        read_followers=tuple(tuple(map(one, after)) for after in known.read_followers),
    )


@given(told(), st.permutations(range(7)))
def test_numbering_files_anew_changes_nothing(known: FileHistory, order: list[int]) -> None:
    numbers = dict(enumerate(order))
    names = {numbers[file]: NAMES[file] for file in range(7)}
    expected = [
        found._replace(source=numbers[found.source], target=numbers[found.target])
        for found in offers(known, NAMES)
    ]
    assert offers(renumbered(known, numbers), names) == expected


@given(told(), st.integers(1, 6), st.integers(0, 50))
def test_one_more_joint_change_never_lowers_the_probability(known: FileHistory, file: int, key: int) -> None:
    newest = max((seen.at for seen in (*known.edits, *known.reads)), default=0.0)
    more = Occasion(1000 + key, min(key * DAY, newest), 50 + key, 1, 2, (ASKED, file))
    edits = sorted((*known.edits, more), key=lambda edit: (-edit.at, -edit.key))
    before = chances(known, {file})[file]
    assert chances(replace(known, edits=tuple(edits)), {file})[file] > before


@given(told())
def test_every_offer_has_support_in_two_sessions_and_is_above_a_floor(known: FileHistory) -> None:
    for found in offers(known, NAMES):
        assert found.sessions >= 2 and found.together >= 2
        assert found.together <= found.of
        assert found.probability >= FLOOR or found.temporal >= TEMPORAL_FLOOR
        assert (found.kind == "co_changes") <= (found.probability >= FLOOR)
        assert len(found.keys) <= 3 and found.target != ASKED
        assert 0.0 < found.probability < 1.0


@given(told(), st.integers(1, 6), st.data())
def test_a_partner_is_offered_by_what_the_two_did_whoever_else_was_there(
    known: FileHistory, file: int, data: st.DataObject
) -> None:
    """Occasions of the asked file may hold others or not: of the same size they say the same of this one."""

    def thinned(seen: Occasion) -> Occasion:
        others = [other for other in seen.edited if other in (ASKED, file) or data.draw(st.booleans())]
        return seen._replace(edited=tuple(others))

    thin = replace(
        known,
        edits=tuple(map(thinned, known.edits)),
        followers=tuple(tuple(map(thinned, after)) for after in known.followers),
        read_followers=tuple(tuple(map(thinned, after)) for after in known.read_followers),
    )
    wanted = [found for found in offers(known, NAMES) if found.target == file]
    assert [found for found in offers(thin, NAMES) if found.target == file] == wanted


# ---- both ends ------------------------------------------------------------------------------------


def test_of_two_ends_the_less_sure_one_is_believed_and_one_alone_by_half() -> None:
    assert agreed([offer(1, 2, 0.8), offer(2, 1, 0.6)]) == 0.6
    assert agreed([offer(1, 2, 0.8)]) == 0.4
    assert agreed([offer(1, 2, 0.8, "read_for", file=0.0, temporal=0.7)]) == 0.8
    assert agreed([offer(1, 2, 0.8, "about", file=0.0)]) == 0.8


def test_two_files_that_are_both_busy_elsewhere_are_damped() -> None:
    busy = [offer(1, 2, 0.8, file=SHARE / 2), offer(2, 1, 0.8, file=SHARE / 4)]
    assert agreed(busy) == pytest.approx(0.4)
    assert agreed([busy[0], offer(2, 1, 0.8, file=SHARE)]) == 0.8


def test_what_falls_below_the_floor_is_not_kept() -> None:
    weak = [offer(1, 2, FLOOR * 1.9), *both(1, 3, FLOOR)]
    assert kept(1, weak, NAMES) == {(1, 3)}


def test_a_strong_order_in_time_is_kept_though_a_joint_change_is_unlikely() -> None:
    ordered = offer(5, 1, 0.02, "followed_by", file=0.0, temporal=TEMPORAL_FLOOR)
    assert kept(1, [ordered], NAMES) == kept(5, [ordered], NAMES) == {(1, 5)}


def test_a_hub_keeps_only_what_is_strong_and_no_more_than_the_cap() -> None:
    crowd = range(1, 4 * HUB)
    faint = [entry for file in crowd for entry in both(ASKED, file, 1.5 * FLOOR)]
    strong = both(ASKED, 4 * HUB, 3.0 * FLOOR)
    assert kept(ASKED, faint + strong, NAMES) == {(0, 4 * HUB)}
    assert kept(1, both(ASKED, 1, 1.5 * FLOOR), NAMES) == {(0, 1)}
    likely = [entry for file in crowd for entry in both(ASKED, file, 0.9)]
    assert kept(ASKED, likely, NAMES) == {(0, file) for file in range(1, DEGREE_CAP + 1)}


@given(st.lists(st.tuples(st.integers(1, 90), st.floats(0.01, 0.99)), max_size=90), st.randoms())
def test_what_a_node_keeps_depends_neither_on_order_nor_on_numbers(
    partners: list[tuple[int, float]], draw: object
) -> None:
    given_offers = [entry for file, chance in dict(partners).items() for entry in both(ASKED, file, chance)]
    found = kept(ASKED, given_offers, NAMES)
    assert len(found) <= DEGREE_CAP
    assert kept(ASKED, reversed(given_offers), NAMES) == found
    moved = [entry._replace(source=199 - entry.source, target=199 - entry.target) for entry in given_offers]
    names = {199 - number: name for number, name in NAMES.items()}
    assert kept(199, moved, names) == {(199 - high, 199 - low) for low, high in found}


def test_a_pair_is_oriented_by_name_unless_one_comes_before_the_other() -> None:
    names = {1: "file:z", 2: "file:a"}
    assert orientation(both(1, 2), names) == (2, 1)
    ordered = offer(1, 2, 0.5, "read_for", temporal=0.9)
    assert orientation([ordered, offer(2, 1)], names) == (1, 2)
    weak = offer(1, 2, 0.5, "read_for", temporal=0.3)
    assert orientation([weak, offer(2, 1, file=0.6)], names) == (2, 1)
    tied = [ordered, ordered._replace(source=2, target=1)]
    assert orientation(tied, names) == orientation(tied[::-1], names) == (2, 1)


def test_both_directions_become_one_record() -> None:
    one = offer(1, 2, 0.8, file=0.9, temporal=0.1, together=5)
    other = offer(2, 1, 0.6, file=0.4, temporal=0.2, together=4)
    found = merged([one, other], 2, 1)
    assert (found.source, found.target, found.kind, found.probability) == (2, 1, "co_changes", 0.6)
    assert (found.file, found.temporal, found.together) == (0.9, 0.2, 5)
    assert merged([other, one], 2, 1) == found


def test_an_order_in_time_against_the_orientation_leaves_the_word_to_the_other_offer() -> None:
    against = offer(2, 1, 0.7, "read_for", file=0.1, temporal=0.9, together=9)
    along = offer(1, 2, 0.6, file=0.5, together=4)
    found = merged([against, along], 1, 2)
    assert (found.kind, found.together, found.temporal) == ("co_changes", 4, 0.9)
    alone = merged([against], 1, 2)
    assert (alone.kind, alone.together) == ("co_changes", 9)
    assert merged([against, along], 2, 1).kind == "read_for"
