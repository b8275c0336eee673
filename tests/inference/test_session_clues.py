"""What a session's own work and that of others say about the files it will edit yet."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.chronicle import DAY, NO_PAIR_SIZE, Chronicle, State, Step
from inference.session_clues import Asking, Clues, Touch, clues
from inference.session_score import WEIGHTS, session_scores, strength

NOW = 100 * DAY
PATHS = ("src/lexer.py", "src/parser.py", "tests/test_lexer.py", "docs/guide.md", "src/printer.py")


def _words(path: str) -> tuple[str, ...]:
    return tuple(path.replace("/", " ").replace("_", " ").replace(".", " ").split())


def _chronicle(*work: tuple[float, int, tuple[int, ...], tuple[int, ...], int]) -> Chronicle:
    """Push steps of (days before NOW, session, edited, read, branch) after one that names all files."""
    chronicle = Chronicle(_words)
    names = tuple(State(file, path, True) for file, path in enumerate(PATHS))
    chronicle.push(Step(1, 1, 0.0, 99, 1, NO_PAIR_SIZE, (), states=names))
    for number, (days, session, edited, read, branch) in enumerate(work, start=2):
        chronicle.push(
            Step(number, number, NOW - days * DAY, session, 1, len(edited), edited, read, branch=branch)
        )
    return chronicle


def _asking(
    file: int, read: tuple[int, ...] = (), edited: tuple[int, ...] = (), session: int = -1, branch: int = 0
) -> Asking:
    def touches(files: tuple[int, ...]) -> tuple[Touch, ...]:
        return tuple(Touch(PATHS[number], number) for number in files)

    return Asking(touches((file,)), NOW, touches(read), touches(edited), session, branch)


def _clues(chronicle: Chronicle, asking: Asking) -> dict[int, Clues]:
    return clues(chronicle, asking, {})


def test_a_file_that_two_sessions_edited_along_is_told_from_one_that_a_single_session_did() -> None:
    found = _clues(_chronicle((9, 1, (0, 1), (), 0), (5, 2, (0, 1, 4), (), 0)), _asking(0))
    assert (found[1].twice, found[4].twice) == (1.0, 0.0)


def test_parts_of_one_session_are_one_support() -> None:
    found = _clues(_chronicle((9, 1, (0, 1), (), 0), (8, 1, (0, 1), (), 0)), _asking(0))
    assert found[1].twice == 0.0


def test_a_session_that_only_read_the_queried_file_supports_what_it_edited() -> None:
    found = _clues(_chronicle((9, 1, (1,), (0,), 0), (8, 2, (1, 4), (0,), 0)), _asking(0))
    assert (found[1].twice, found[4].twice) == (1.0, 0.0)


def test_what_the_asking_session_did_itself_is_no_support() -> None:
    found = _clues(_chronicle((0.1, 7, (0, 3), (), 5)), _asking(0, edited=(3,), session=7, branch=5))
    assert 3 not in found
    assert all((clue.twice, clue.day, clue.share, clue.branch) == (0, 0, 0, 0) for clue in found.values())


def test_the_queried_and_the_edited_files_are_no_candidates_and_read_ones_are_marked() -> None:
    chronicle = _chronicle((9, 1, (0, 1, 4), (), 0))
    scored = session_scores(chronicle, _asking(0, read=(3, 1), edited=(4,)), {})
    assert set(scored) == {1, 2, 3}
    found = clues(chronicle, _asking(0, read=(3, 1), edited=(4,)), {})
    assert {file: clue.read for file, clue in found.items()} == {1: 1.0, 2: 0.0, 3: 1.0}


def test_a_file_that_is_gone_is_no_candidate_even_when_it_was_read() -> None:
    chronicle = _chronicle((9, 1, (0, 1), (), 0))
    chronicle.push(Step(9, 9, NOW - 10, 3, 1, 1, (1,), states=(State(1, PATHS[1], False),)))
    assert 1 not in _clues(chronicle, _asking(0, read=(1,)))


def test_the_file_read_last_counts_more_than_the_one_before() -> None:
    found = _clues(_chronicle(), _asking(0, read=(3, 4)))
    assert (found[4].read_last, found[3].read_last) == (1.0, 0.5)


def test_work_on_the_same_branch_is_told_and_fades_within_days() -> None:
    chronicle = _chronicle((6, 1, (3,), (), 5), (1, 2, (4,), (1,), 5), (1, 3, (1,), (), 6))
    found = _clues(chronicle, _asking(0, branch=5))
    assert found[4].branch == found[1].branch > found[3].branch > 0.0
    assert all(clue.branch == 0.0 for clue in _clues(chronicle, _asking(0)).values())


def test_only_the_last_day_counts_as_today() -> None:
    found = _clues(_chronicle((2, 1, (1,), (), 0), (0.5, 2, (4,), (), 0)), _asking(0))
    assert (found[1].day, found[4].day) == (0.0, math.log1p(1))


def test_a_test_is_the_twin_of_what_it_tests() -> None:
    found = _clues(_chronicle(), _asking(0))
    assert (found[2].twin, found[1].twin) == (1.0, 0.0)
    assert found[2].words > 0.0


def test_a_file_nobody_has_seen_yet_is_asked_about_by_its_name() -> None:
    asking = Asking((Touch("tests/test_printer.py"),), NOW)
    scored = session_scores(_chronicle(), asking, {})
    assert next(iter(scored)) == PATHS.index("src/printer.py")


def test_an_empty_chronicle_names_nobody() -> None:
    assert session_scores(Chronicle(_words), Asking((Touch("a.py"),), NOW), {}) == {}


def test_an_edited_file_that_a_ranker_names_stays_in_the_list() -> None:
    scored = session_scores(_chronicle((9, 1, (0, 4), (), 0)), _asking(0, edited=(4, 3)), {4: 0.8})
    assert 4 in scored
    assert 3 not in scored


def test_probabilities_stay_the_rankers_and_the_highest_goes_to_the_first() -> None:
    chronicle = _chronicle((9, 1, (0, 1), (), 0))
    scored = session_scores(chronicle, _asking(0, read=(4, 3)), {1: 0.3, 3: 0.2, 4: 0.6, 2: 0.1})
    assert list(scored.values()) == pytest.approx([0.6, 0.3, 0.2, 0.1])
    assert list(scored)[:2] == [4, 3]


def test_whoever_sorts_by_equal_probabilities_keeps_the_order() -> None:
    chronicle = _chronicle((9, 1, (0, 1), (), 0))
    scored = session_scores(chronicle, _asking(0, read=(4, 3)), dict.fromkeys((1, 2, 3, 4), 0.5))
    chances = list(scored.values())
    assert chances == sorted(set(chances), reverse=True)
    assert chances == pytest.approx([0.5] * 4)


def test_equals_stand_by_path() -> None:
    paths = ("q/q.py", "b/x.md", "a/x.md")
    chronicle = Chronicle(lambda path: ())
    names = tuple(State(file, path, True) for file, path in enumerate(paths))
    chronicle.push(Step(1, 1, 0.0, 9, 1, NO_PAIR_SIZE, (), states=names))
    scored = session_scores(chronicle, Asking((Touch(paths[0], 0),), NOW), {1: 0.1, 2: 0.1})
    assert list(scored) == [2, 1]


@pytest.mark.parametrize("size", [0, 1, NO_PAIR_SIZE])
def test_work_that_links_nothing_gives_no_pairs(size: int) -> None:
    chronicle = _chronicle()
    chronicle.push(Step(9, 9, NOW - DAY, 3, 1, size, (0, 1)[: max(1, min(size, 2))]))
    assert all(clue.hand == 0.0 for clue in _clues(chronicle, _asking(3, read=(0,))).values())


def test_what_changed_along_with_a_file_in_hand_is_linked() -> None:
    found = _clues(_chronicle((9, 1, (0, 1), (), 0)), _asking(3, read=(0,)))
    assert found[1].hand > 0.0 == found[4].hand


@pytest.mark.parametrize(("told", "heard"), [(0.0, 0.002), (1.0, 0.98), (0.5, 0.5)])
def test_what_a_ranker_says_is_bounded(told: float, heard: float) -> None:
    found = clues(_chronicle(), _asking(0), {1: told})
    assert found[1].odds == pytest.approx(math.log(heard / (1 - heard)))


@given(
    st.lists(
        st.tuples(
            st.floats(0, 90),
            st.integers(1, 4),
            st.lists(st.integers(0, 4), min_size=1, unique=True).map(tuple),
            st.lists(st.integers(0, 4), unique=True).map(tuple),
            st.integers(0, 2),
        ),
        max_size=8,
    ),
    st.integers(0, 4),
    st.lists(st.integers(0, 4), max_size=3, unique=True).map(tuple),
)
def test_chances_lie_between_none_and_certain_whatever_was_done(
    work: list[tuple[float, int, tuple[int, ...], tuple[int, ...], int]], file: int, read: tuple[int, ...]
) -> None:
    steps = sorted(work, key=lambda step: -step[0])
    scored = session_scores(_chronicle(*steps), _asking(file, read=read, branch=1), {0: 0.5})
    chances = list(scored.values())
    assert all(0.0 < value < 1.0 for value in chances)
    assert chances == sorted(chances, reverse=True)
    assert file not in scored


@pytest.mark.parametrize("field", Clues._fields)
def test_more_evidence_never_lowers_a_file(field: str) -> None:
    nothing = Clues(*(0.0 for _ in Clues._fields))
    assert strength(nothing) == 0.0
    assert getattr(WEIGHTS, field) >= 0.0
    assert strength(nothing._replace(**{field: 0.5})) >= 0.0
