"""Owns communities: which named nodes belong together by the weights between them, and which were so before.

It is not what a community is called or says (that is `inference.labels` and whoever reads texts), and knows
neither files nor concepts. Method: Louvain (Blondel and others, 2008) by python-louvain. What it returns
depends on the order of nodes and edges, so both are sorted and the seed is fixed. A warm start keeps
communities where they were, but after links vanished it would keep parts together that nothing holds together
any more (in 60 of 60 graphs); so both what it starts from and what it returns are split into connected parts.
A large graph hides small communities from modularity; so each is looked into by itself, see `APART`.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from inference.joining import joined

SMALLEST = 3
"""Two nodes are a link, not a community; they count as unattached."""
LARGEST = 30
"""A community with more members is told apart once more inside."""
SAME = 0.3
"""From this Jaccard overlap on, a community is the one that was there before."""
APART = 0.07
"""Parts of a community are communities themselves when between any two of them lies less than this share of
what the lesser holds with it. Louvain by itself joins whatever is small against the whole graph (the
resolution limit of modularity): of a thousand planted groups of ten it left 254."""
LOYALTY = 2.0
"""Links inside a former community count so many times when nodes are moved, so that they stay unless
something pulls clearly harder."""
MERGING = 0.7
"""Former communities become one when at least this share of what the lesser holds with the other lies between
them. With both, over a tenth of twelve histories' commits, 96 % of the ids stayed, 98 % of those whose nodes
were still there; with .5 it was 92 % and 94 %, and a little more of the later changes lay inside."""
SEED = 7

_ID_LENGTH = 12


class Link(NamedTuple):
    """Two nodes and how strongly they belong together; the order of the nodes means nothing."""

    a: str
    b: str
    weight: float


class Community(NamedTuple):
    """Nodes that belong together.

    `id` is that of the former community it continues (`stayed`), else minted from its members. `lineage` are
    the other former communities it came from: those that went into it for the most part, and for a new one
    those that most of it came out of.
    """

    id: str
    members: frozenset[str]
    lineage: tuple[str, ...]
    stayed: bool


class Part(NamedTuple):
    """A community inside a larger one, whose id is `parent`."""

    parent: str
    community: Community


class Inside(NamedTuple):
    """How a community holds together.

    `cohesion` is the share (0..1) of its members' link weight that stays inside, `weights` what each member
    has inside.
    """

    cohesion: float
    weights: Mapping[str, float]


_Groups = Mapping[str, frozenset[str]]
_Adjacency = Sequence[Sequence[int]]
_NONE: _Groups = {}


def communities(links: Iterable[Link], previous: _Groups = _NONE, salt: str = "") -> list[Community]:
    """Return the communities of a set of links, the largest first, then by id.

    Nodes without a link and communities of fewer than three are left out. Links from a node to itself, or
    whose weight is no positive number, are ignored; several between the same nodes add up.

    Args:
        links: in any order.
        previous: the former communities by id; they are where the search starts, and give their ids.
        salt: what new ids depend on beside the members, such as the project.
    """
    return _identified(_found(merged(links), previous), previous, salt)


def parts(
    links: Iterable[Link], wholes: Iterable[Community], previous: _Groups = _NONE, salt: str = ""
) -> list[Part]:
    """Return what communities of more than thirty members consist of, found inside each by itself.

    One that does not fall apart has no parts. Arguments as for `communities`; `previous` are former parts.
    """
    large = {whole.id: whole.members for whole in wholes if len(whole.members) > LARGEST}
    home = {node: id for id, members in large.items() for node in members}
    found = [_found(inner, previous) for inner in _within(merged(links), list(large.values()))]
    several = [group for groups in found if len(groups) > 1 for group in groups]
    return [
        Part(home[min(community.members)], community)
        for community in _identified(several, previous, f"{salt}/part")
    ]


def merged(links: Iterable[Link]) -> list[Link]:
    """Return each pair of nodes once, the lesser name first, sorted; what says nothing is left out."""
    weights: dict[tuple[str, str], list[float]] = defaultdict(list)
    for a, b, weight in links:
        if a != b and 0.0 < weight < math.inf:
            weights[min(a, b), max(a, b)].append(weight)
    # Exact sums: the order in which links are told must not matter.
    return [Link(a, b, math.fsum(weights[a, b])) for a, b in sorted(weights)]


def insides(links: Iterable[Link], groups: _Groups) -> dict[str, Inside]:
    """Return how each group holds together; of groups that share a node, the last has it."""
    home = {node: id for id, members in groups.items() for node in members}
    inside: dict[str, dict[str, float]] = {id: {} for id in groups}
    total = dict.fromkeys(groups, 0.0)
    for a, b, weight in merged(links):
        first, second = home.get(a), home.get(b)
        for id in {first, second} - {None}:
            total[str(id)] += weight
        if first is not None and first == second:
            for node in (a, b):
                inside[first][node] = inside[first].get(node, 0.0) + weight
    # Both ends of an inner link carry its weight.
    return {
        id: Inside(min(1.0, sum(held.values()) / 2 / total[id]) if total[id] else 0.0, held)
        for id, held in inside.items()
    }


# ---- finding -----------------------------------------------------------------------------------


def _found(links: Sequence[Link], previous: _Groups) -> list[frozenset[str]]:
    """Return the communities of merged links as sets, without names of their own."""
    settled: list[frozenset[str]] = []
    open_groups = _louvain(links, previous)
    while open_groups:
        smaller: list[frozenset[str]] = []
        for group, inner in zip(open_groups, _within(links, open_groups), strict=True):
            # From where they were, parts that nothing but habit keeps together would never be found.
            apart = (
                joined(inner, _louvain(inner, _NONE), APART, SMALLEST)
                if len(group) >= 2 * SMALLEST
                else [group]
            )
            if len(apart) > 1:
                smaller += apart
            else:
                settled.append(group)
        open_groups = smaller
    return [group for group in settled if len(group) >= SMALLEST]


def _within(links: Iterable[Link], groups: Sequence[frozenset[str]]) -> list[list[Link]]:
    """Return for each group the links that have both ends in it."""
    home = {node: place for place, members in enumerate(groups) for node in members}
    inner: list[list[Link]] = [[] for _ in groups]
    for link in links:
        place = home.get(link.a)
        if place is not None and place == home.get(link.b):
            inner[place].append(link)
    return inner


def _louvain(links: Sequence[Link], previous: _Groups) -> list[frozenset[str]]:
    """Return the connected parts of the partition of highest modularity that is found from `previous` on."""
    if not links:
        return []
    import community  # type: ignore[import-untyped]
    import networkx  # type: ignore[import-untyped]

    names = sorted({name for link in links for name in link[:2]})
    numbers = {name: number for number, name in enumerate(names)}
    pairs = [(numbers[a], numbers[b], weight) for a, b, weight in links]

    def graph_of(weighted: Iterable[tuple[int, int, float]]) -> Any:
        graph = networkx.Graph()
        graph.add_nodes_from(range(len(names)))
        graph.add_weighted_edges_from(weighted)
        return graph

    graph = graph_of(pairs)
    adjacency: list[list[int]] = [list(graph.adj[node]) for node in range(len(names))]

    def groups_of(labels: Mapping[int, int]) -> list[frozenset[str]]:
        parts = _connected(adjacency, [labels[node] for node in range(len(names))])
        return [frozenset(names[node] for node in part) for part in parts]

    former = {node: id for id in sorted(previous) for node in previous[id]}
    start = _start(adjacency, numbers, former)
    if start is None:
        return groups_of(community.best_partition(graph, random_state=SEED))
    loyal = graph_of(
        (a, b, weight * LOYALTY if _were_one(names[a], names[b], former) else weight)
        for a, b, weight in pairs
    )
    moved = community.generate_dendrogram(loyal, part_init=start, random_state=SEED)[0]
    upper = community.best_partition(community.induced_graph(moved, graph), random_state=SEED)
    groups = groups_of({node: upper[label] for node, label in moved.items()})
    return _held_back(links, groups, groups_of(moved), former)


def _were_one(one: str, other: str, former: Mapping[str, str]) -> bool:
    return one in former and former[one] == former.get(other)


def _held_back(
    links: Sequence[Link],
    groups: Sequence[frozenset[str]],
    atoms: Sequence[frozenset[str]],
    former: Mapping[str, str],
) -> list[frozenset[str]]:
    """Return the groups, apart from those that join what were communities before without being close.

    `atoms` are what the groups are made of: the former communities after single nodes have moved, and what is
    new. As a graph grows, modularity would join one former community after the other.
    """
    home = {node: place for place, members in enumerate(groups) for node in members}
    made_of: list[list[frozenset[str]]] = [[] for _ in groups]
    for atom in atoms:
        made_of[home[min(atom)]].append(atom)
    found: list[frozenset[str]] = []
    for own, inner in zip(made_of, _within(links, groups), strict=True):
        settled = frozenset(
            place for place, atom in enumerate(own) if 2 * sum(node in former for node in atom) > len(atom)
        )
        found += joined(inner, own, 0.0, SMALLEST, settled, MERGING)
    return found


def _start(
    adjacency: _Adjacency, numbers: Mapping[str, int], former: Mapping[str, str]
) -> dict[int, int] | None:
    """Return where the search starts: the former communities' connected parts, and what is new by itself."""
    places = {id: place for place, id in enumerate(sorted(set(former.values())))}
    known = [places[former[name]] if name in former else -1 for name in numbers]
    if max(known) < 0:
        return None
    alone = len(places)
    apart = [alone + node if place < 0 else place for node, place in enumerate(known)]
    groups = _connected(adjacency, apart)
    return {node: label for label, group in enumerate(groups) for node in group}


def _connected(adjacency: _Adjacency, labels: Sequence[int]) -> list[list[int]]:
    """Return the connected parts of each label's nodes, by their first node."""
    seen = [False] * len(labels)
    groups: list[list[int]] = []
    for first in range(len(labels)):
        if seen[first]:
            continue
        seen[first] = True
        group = [first]
        for node in group:
            for other in adjacency[node]:
                if not seen[other] and labels[other] == labels[first]:
                    seen[other] = True
                    group.append(other)
        groups.append(group)
    return groups


# ---- ids ---------------------------------------------------------------------------------------


class _Match(NamedTuple):
    overlap: float
    id: str
    place: int
    shared: int


def _identified(groups: Sequence[frozenset[str]], previous: _Groups, salt: str) -> list[Community]:
    """Give each group the id of the former one it is most alike, greedily, or one of its own."""
    ordered = sorted(groups, key=sorted)
    matches = list(_matches(ordered, previous))
    kept: dict[int, str] = {}
    for match in matches:
        if match.overlap >= SAME and match.place not in kept and match.id not in kept.values():
            kept[match.place] = match.id
    origins = {
        place: [match for match in found if _descends(match, ordered[place], previous, place in kept)]
        for place, found in groupby(sorted(matches, key=lambda match: match.place), lambda match: match.place)
    }
    used = set(previous)
    result: list[Community] = []
    for place, members in enumerate(ordered):
        id = kept.get(place) or _minted(members, salt, used)
        used.add(id)
        lineage = sorted({match.id for match in origins.get(place, ())} - {id})
        result.append(Community(id, members, tuple(lineage), place in kept))
    return sorted(result, key=lambda each: (-len(each.members), each.id))


def _matches(groups: Sequence[frozenset[str]], previous: _Groups) -> Iterator[_Match]:
    """Yield every former community that shares a node with a group, the largest overlap first."""
    place_of = {node: place for place, members in enumerate(groups) for node in members}
    found: list[_Match] = []
    for id, members in previous.items():
        shared: dict[int, int] = {}
        for node in members:
            if node in place_of:
                shared[place_of[node]] = shared.get(place_of[node], 0) + 1
        found += [
            _Match(count / (len(members) + len(groups[place]) - count), id, place, count)
            for place, count in shared.items()
        ]
    yield from sorted(found, key=lambda match: (-match.overlap, match.id, match.place))


def _descends(match: _Match, members: frozenset[str], previous: _Groups, stayed: bool) -> bool:
    """Return whether most of a former community went into a group, or most of a new one came out of it."""
    return 2 * match.shared > len(previous[match.id]) or (not stayed and 2 * match.shared > len(members))


def _minted(members: frozenset[str], salt: str, used: set[str]) -> str:
    """Return an id made of the members at birth that no other community has."""
    text = "\0".join((salt, *sorted(members)))
    while True:
        id = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_ID_LENGTH]
        if id not in used:
            return id
        text = f"{text}\0{id}"
