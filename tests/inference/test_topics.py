from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.cochange import FIRM_SHRINK, TOUCHES
from inference.promotion import Offer, agreed, merged
from inference.topics import (
    ABOUT,
    DEGREE_CAP,
    FLOOR,
    HUB,
    OFFERS,
    RELATED,
    Talk,
    kept_topics,
    topic_offers,
)

FILE = 900
NAMES = {number: f"word{number:03}" for number in range(200)} | {FILE: "file:src/a.py"}


def talks(*spoken: dict[int, float], session: int | None = None) -> list[Talk]:
    """Occasions, newest first, each in a session of its own unless one is given."""
    count = len(spoken)
    return [
        Talk(count - place, float(count - place), count - place if session is None else session, concepts)
        for place, concepts in enumerate(spoken)
    ]


def test_a_concept_is_offered_by_its_share_of_the_occasions_with_its_evidence() -> None:
    (found,) = topic_offers(FILE, talks({1: 1.0}, {}, {1: 0.5}), NAMES, ABOUT)
    assert (found.source, found.target, found.kind) == (FILE, 1, ABOUT)
    assert found.probability == pytest.approx((1 + 0.93**2 / 2) / (1 + 0.93 + 0.93**2 + FIRM_SHRINK))
    assert (found.together, found.of, found.sessions) == (2, 3, 2)
    assert (found.last_seen, found.keys) == (3.0, (3, 1))


def test_one_session_alone_offers_nothing_however_much_it_spoke() -> None:
    assert topic_offers(FILE, talks(*[{1: 1.0}] * 20, session=4), NAMES, ABOUT) == []


def test_what_is_seldom_spoken_of_is_not_offered() -> None:
    rare = talks({1: 1.0}, *[{2: 1.0}] * 12, {1: 1.0})
    assert [found.target for found in topic_offers(FILE, rare, NAMES, ABOUT)] == [2]


def test_a_concept_is_not_related_to_itself() -> None:
    found = topic_offers(1, talks({1: 1.0, 2: 1.0}, {1: 1.0, 2: 1.0}), NAMES, RELATED)
    assert [(offer.target, offer.kind) for offer in found] == [(2, RELATED)]


def test_a_few_concepts_are_offered_the_surest_first_and_equals_by_name() -> None:
    many = dict.fromkeys(range(9, 0, -1), 1.0)
    found = topic_offers(FILE, talks({**many, 20: 1.0}, many, {20: 1.0}, {20: 1.0}), NAMES, ABOUT)
    assert [offer.target for offer in found] == [20, *range(1, OFFERS)]


def test_nothing_spoken_offers_nothing() -> None:
    assert topic_offers(FILE, [], NAMES, ABOUT) == []
    assert topic_offers(FILE, talks({}, {}), NAMES, ABOUT) == []


def test_only_the_last_hundred_occasions_count() -> None:
    old = talks(*[{}] * TOUCHES, *[{1: 1.0}] * 30)
    assert topic_offers(FILE, old, NAMES, ABOUT) == []


def offer(source: int, target: int, probability: float) -> Offer:
    return Offer(source, target, ABOUT, probability, 0.0, 0.0, 2, 4, 2, 9.0, (3, 2))


def test_a_word_that_stands_in_all_work_keeps_only_what_it_is_clearly_about() -> None:
    weak = [offer(100 + file, 1, 1.2 * FLOOR) for file in range(2 * HUB)]
    strong = offer(FILE, 1, 2.5 * FLOOR)
    assert kept_topics(1, [*weak, strong], NAMES) == {(1, FILE)}
    assert kept_topics(1, weak[:HUB], NAMES) == {(1, 100 + file) for file in range(HUB)}


def test_a_node_keeps_no_more_than_the_cap() -> None:
    crowd = [offer(10 + file, 1, 0.99) for file in range(2 * HUB + 20)]
    assert kept_topics(1, crowd, NAMES) == {(1, 10 + file) for file in range(DEGREE_CAP)}


def test_a_single_direction_is_as_good_as_both_for_concepts() -> None:
    one = offer(FILE, 1, 0.6)
    assert agreed([one]) == 0.6
    assert merged([one], 1, FILE) == one._replace(source=1, target=FILE)


concepts = st.dictionaries(st.integers(1, 6), st.floats(0.05, 1.0), max_size=5)


@given(st.lists(concepts, max_size=12), st.permutations(range(1, 7)))
def test_numbering_concepts_anew_changes_nothing(spoken: list[dict[int, float]], order: list[int]) -> None:
    numbers = dict(zip(range(1, 7), order, strict=True))
    names = {numbers[concept]: NAMES[concept] for concept in range(1, 7)}
    moved = [{numbers[concept]: weight for concept, weight in said.items()} for said in spoken]
    expected = [
        found._replace(target=numbers[found.target])
        for found in topic_offers(FILE, talks(*spoken), NAMES, ABOUT)
    ]
    assert topic_offers(FILE, talks(*moved), names, ABOUT) == expected


@given(st.lists(concepts, min_size=1, max_size=12), st.integers(0, 11), st.integers(1, 6))
def test_speaking_more_of_a_concept_never_lowers_its_share(
    spoken: list[dict[int, float]], place: int, concept: int
) -> None:
    def share(said: list[dict[int, float]]) -> float:
        found = topic_offers(FILE, talks(*said), NAMES, ABOUT)
        return next((offer.probability for offer in found if offer.target == concept), 0.0)

    place %= len(spoken)
    more = [said | {concept: 1.0} if number == place else said for number, said in enumerate(spoken)]
    before, after = share(spoken), share(more)
    crowded = len(topic_offers(FILE, talks(*more), NAMES, ABOUT)) == OFFERS
    assert after >= before or (after == 0.0 and crowded)


@given(st.dictionaries(st.integers(10, 90), st.floats(0.01, 0.99), max_size=60), st.integers(0, 9))
def test_what_a_concept_keeps_does_not_depend_on_order(shares: dict[int, float], seed: int) -> None:
    given_offers = [offer(file, 1, share) for file, share in shares.items()]
    shuffled = random.Random(seed).sample(given_offers, len(given_offers))
    found = kept_topics(1, given_offers, NAMES)
    assert kept_topics(1, shuffled, NAMES) == found
    assert len(found) <= DEGREE_CAP
    assert all(shares[file] >= FLOOR for _, file in found)
