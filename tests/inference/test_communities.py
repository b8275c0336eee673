"""Communities: planted ones are found, order never matters, ids stay, nothing disconnected is called one."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference.communities import (
    LARGEST,
    SMALLEST,
    Community,
    Link,
    communities,
    insides,
    merged,
    parts,
)


def planted(
    groups: int, size: int, inner: int, outer: float, seed: int = 1
) -> tuple[list[Link], dict[str, int]]:
    """Links within groups, `inner` a node, and `outer` a node to anywhere; with the group of each node."""
    draw = random.Random(seed)
    names = [f"src/{draw.randrange(10**9):09d}/{number}.py" for number in range(groups * size)]
    links = []
    for place, name in enumerate(names):
        first = place - place % size
        ends = [names[first + draw.randrange(size)] for _ in range(inner)]
        links += [Link(name, end, draw.uniform(0.3, 1.0)) for end in ends if end != name]
    for _ in range(int(outer * len(names))):
        links.append(Link(draw.choice(names), draw.choice(names), draw.uniform(0.05, 0.5)))
    draw.shuffle(links)
    return links, {name: place // size for place, name in enumerate(names)}


def rand_index(truth: Mapping[str, int], found: Iterable[Community]) -> float:
    """The adjusted Rand index of communities against the planted groups; 1.0 for the same partition."""
    home = {name: each.id for each in found for name in each.members}
    label = {name: home.get(name, name) for name in truth}

    def pairs(counts: Iterable[int]) -> int:
        return sum(math.comb(count, 2) for count in counts)

    both = pairs(Counter((truth[name], label[name]) for name in truth).values())
    one, other = pairs(Counter(truth.values()).values()), pairs(Counter(label.values()).values())
    expected = one * other / math.comb(len(truth), 2)
    return (both - expected) / ((one + other) / 2 - expected)


def before(found: Iterable[Community]) -> dict[str, frozenset[str]]:
    return {each.id: each.members for each in found}


def clique(*names: str, weight: float = 1.0) -> list[Link]:
    return [Link(a, b, weight) for a in names for b in names if a < b]


def is_connected(members: frozenset[str], links: Iterable[Link]) -> bool:
    reached, grew = {min(members)}, True
    inner = [link for link in links if {link.a, link.b} <= members and link.a != link.b]
    while grew:
        grew = False
        for link in inner:
            if (link.a in reached) != (link.b in reached):
                reached |= {link.a, link.b}
                grew = True
    return reached == members


# ---- finding -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("groups", "size", "inner", "outer"),
    [(2, 4, 4, 0.1), (10, 10, 4, 0.3), (20, 15, 5, 0.5), (100, 10, 4, 0.3), (5, 100, 6, 1.0)],
)
def test_planted_communities_are_found_exactly(groups: int, size: int, inner: int, outer: float) -> None:
    links, truth = planted(groups, size, inner, outer)
    assert rand_index(truth, communities(links)) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("groups", "size", "inner", "outer"),
    [(100, 100, 6, 1.0), (500, 20, 5, 0.5), (1000, 10, 5, 0.3)],
)
def test_ten_thousand_planted_nodes_are_found_exactly(
    groups: int, size: int, inner: int, outer: float
) -> None:
    links, truth = planted(groups, size, inner, outer)
    found = communities(links)
    assert rand_index(truth, found) == 1.0
    assert before(communities(links, before(found))) == before(found)


def test_small_communities_do_not_drown_in_a_large_graph() -> None:
    links, truth = planted(300, 8, 5, 0.2)
    found = communities(links)
    assert len(found) == 300
    assert rand_index(truth, found) == 1.0


@given(st.randoms(use_true_random=False))
@settings(max_examples=10)
def test_the_order_of_links_and_of_their_ends_does_not_matter(draw: random.Random) -> None:
    links, _ = planted(12, 6, 3, 1.5, seed=4)
    former = {"m1": next(iter(before(communities(links)).values()))}
    shuffled = [Link(*draw.sample((a, b), 2), weight) for a, b, weight in draw.sample(links, len(links))]
    assert communities(shuffled, former, "s") == communities(links, former, "s")


def test_nothing_is_found_in_nothing() -> None:
    assert communities([]) == []
    assert communities([], {"old": frozenset("abc")}) == []
    assert parts([], []) == []
    assert insides([], {}) == {}


@pytest.mark.parametrize("weight", [0.0, -1.0, math.nan, math.inf])
def test_links_whose_weight_says_nothing_are_ignored(weight: float) -> None:
    good = clique("a", "b", "c")
    assert communities([*good, Link("c", "d", weight), Link("a", "a", 5.0)]) == communities(good)


def test_links_between_the_same_nodes_add_up() -> None:
    assert merged([Link("b", "a", 0.1), Link("a", "b", 0.2), Link("a", "b", 0.3)]) == [Link("a", "b", 0.6)]


def test_two_nodes_are_a_link_and_no_community() -> None:
    found = communities([Link("a", "b", 9.0), *clique("x", "y", "z")])
    assert [each.members for each in found] == [frozenset("xyz")]
    assert SMALLEST == 3


@pytest.mark.parametrize(
    "names", ["a'b\"c", "<script>alert(1)</script>", "} MATCH (n) DETACH DELETE n //", "模块"]
)
def test_any_text_may_name_a_node(names: str) -> None:
    nodes = [f"{names}{number}\ud800" for number in range(4)]
    assert [each.members for each in communities(clique(*nodes))] == [frozenset(nodes)]


# ---- connectedness -----------------------------------------------------------------------------


def test_a_former_community_that_nothing_holds_together_any_more_falls_apart() -> None:
    old = {"m": frozenset("abcxyz")}
    found = communities([*clique("a", "b", "c"), *clique("x", "y", "z")], old)
    assert {each.members for each in found} == {frozenset("abc"), frozenset("xyz")}


node = st.sampled_from([f"n{number:02d}" for number in range(18)])
edge = st.builds(Link, node, node, st.floats(0.05, 3.0))


@given(st.lists(st.tuples(st.lists(edge, max_size=25), st.integers(0, 25)), min_size=1, max_size=6))
@settings(max_examples=60)
def test_no_community_is_ever_disconnected_whatever_comes_and_goes(
    updates: list[tuple[list[Link], int]],
) -> None:
    links: list[Link] = []
    former: dict[str, frozenset[str]] = {}
    for added, dropped in updates:
        links = links[dropped:] + added
        found = communities(links, former)
        inner = parts(links, found)
        everything = [*found, *(part.community for part in inner)]
        assert all(is_connected(each.members, links) for each in everything)
        assert all(len(each.members) >= SMALLEST for each in everything)
        assert len({each.id for each in found}) == len(found)
        assert sum(len(each.members) for each in found) == len({n for each in found for n in each.members})
        former = before(found)


# ---- ids ---------------------------------------------------------------------------------------


def test_ids_stay_over_ten_small_updates() -> None:
    links, _ = planted(30, 12, 4, 1.0, seed=2)
    draw = random.Random(5)
    found = communities(links, salt="p")
    first = {each.id for each in found}
    for _ in range(10):
        links = draw.sample(links, int(0.99 * len(links)))
        ends = draw.sample(sorted({link.a for link in links}), 2)
        found = communities([*links, Link(*ends, 0.5)], before(found), "p")
    assert len(first & {each.id for each in found}) >= 0.95 * len(first)


def test_unchanged_links_give_unchanged_communities() -> None:
    links, _ = planted(12, 8, 4, 1.0)
    found = communities(links)
    again = communities(links, before(found))
    assert before(again) == before(found)
    assert all(each.stayed and not each.lineage for each in again)


def test_an_id_depends_on_the_members_at_birth_and_on_the_salt_alone() -> None:
    one, other = clique("a", "b", "c"), clique("d", "e", "f")
    [alone] = communities(one, salt="p")
    assert alone.id in {each.id for each in communities([*other, *one], salt="p")}
    assert alone.id != communities(one, salt="q")[0].id
    assert not alone.stayed


def test_a_split_leaves_the_id_with_the_larger_overlap_and_tells_the_others_where_they_came_from() -> None:
    links = [*clique("a", "b", "c", "d"), *clique("x", "y", "z")]
    larger, smaller = communities(links, {"m": frozenset("abcdxyz")})
    assert (larger.id, larger.stayed, larger.lineage) == ("m", True, ())
    assert (smaller.stayed, smaller.lineage) == (False, ("m",))


def test_a_merger_keeps_one_id_and_remembers_the_other() -> None:
    [one] = communities(clique(*"abcdxyz"), {"m": frozenset("abcd"), "w": frozenset("xyz")})
    assert (one.id, one.lineage) == ("m", ("w",))


def test_of_equal_overlaps_the_lesser_id_wins() -> None:
    [one] = communities(clique(*"abcd"), {"w": frozenset("ab"), "m": frozenset("cd")})
    assert one.id == "m"


def test_too_small_an_overlap_is_a_new_community() -> None:
    [one] = communities(clique(*"abcdefgh"), {"m": frozenset("abwxyz")})
    assert one.id != "m"
    assert not one.stayed


def test_a_new_community_of_the_very_members_another_was_born_with_gets_an_id_of_its_own() -> None:
    [born] = communities(clique("a", "b", "c"))
    moved = {born.id: frozenset("xyzw")}
    found = communities([*clique("a", "b", "c"), *clique(*"xyzw")], moved)
    assert {each.id for each in found if each.members == frozenset("xyzw")} == {born.id}
    assert len({each.id for each in found}) == 2


def test_a_node_that_two_former_communities_claim_does_no_harm() -> None:
    found = communities(clique(*"abcd"), {"m": frozenset("abc"), "w": frozenset("abcd")})
    assert [each.members for each in found] == [frozenset("abcd")]
    assert found[0].id == "w"


# ---- parts -------------------------------------------------------------------------------------


def test_only_large_communities_have_parts_and_these_know_their_parent() -> None:
    links, _ = planted(5, 12, 6, 2.5, seed=3)
    whole = Community("w", frozenset(name for link in links for name in link[:2]), (), True)
    small = Community("s", frozenset("abc"), (), True)
    found = parts([*links, *clique(*"abc")], [whole, small])
    assert len(whole.members) > LARGEST
    assert {part.parent for part in found} == {"w"}
    assert len(found) == 5
    assert frozenset().union(*(part.community.members for part in found)) == whole.members


def test_parts_keep_their_ids_and_never_share_one_with_a_whole() -> None:
    links, _ = planted(5, 12, 6, 2.5, seed=3)
    whole = Community("w", frozenset(name for link in links for name in link[:2]), (), True)
    found = parts(links, [whole], salt="p")
    again = parts(links[:-3], [whole], {part.community.id: part.community.members for part in found}, "p")
    assert {part.community.id for part in again} == {part.community.id for part in found}
    members = {part.community.members for part in found}
    alone = communities(
        [link for link in links if any({link.a, link.b} <= each for each in members)], salt="p"
    )
    assert members == {each.members for each in alone}
    assert not {each.id for each in alone} & {part.community.id for part in found}


def test_a_large_community_that_does_not_fall_apart_has_no_parts() -> None:
    names = [f"n{number:02d}" for number in range(LARGEST + 5)]
    whole = Community("w", frozenset(names), (), True)
    assert parts(clique(*names), [whole]) == []


# ---- how they hold together --------------------------------------------------------------------


def test_cohesion_is_the_share_of_weight_that_stays_inside() -> None:
    links = [*clique("a", "b", "c"), Link("c", "x", 1.0), Link("y", "z", 1.0)]
    inside = insides(links, {"m": frozenset("abc"), "w": frozenset("xw"), "none": frozenset("qr")})
    assert inside["m"].cohesion == 0.75
    assert inside["m"].weights == {"a": 2.0, "b": 2.0, "c": 2.0}
    assert inside["w"].cohesion == inside["none"].cohesion == 0.0
