"""Owns walking the graph by Cypher: what a node reaches, and the ways between two nodes.

It is not a copy of the graph: it holds one question's frontier and asks for the next step. How far a question
in words goes, and over what, is its asker's (`graphmem.recall.expansion`). Recursive
patterns would say it in one sentence, but take ten times as long on a hub, more memory than a graph may
have, and pick among equal ways as the rows happen to lie.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from graphmem.graph import EdgeKind, EdgeStatus, Relation
from graphmem.store import kuzu_schema as cypher
from graphmem.store.bounds import more_nodes
from graphmem.store.kuzu_engine import CutShort, Speaker
from graphmem.store.kuzu_schema import LABELS
from graphmem.store.port import Level, Reached, Step, Through, Towards, Walk, Ways

_TOGETHER = 200
"""A list of more numbers than this costs more to compare than it saves."""
_WIDE = 200
_ONE_SIDE = f"looked at the {_WIDE} strongest neighbours of one end only"


def walk(speaker: Speaker, node: int, towards: Towards, depth: int, limit: int) -> Walk:
    """Walk level by level; each node keeps the way of the smallest edge ids among the shortest."""
    reached = {node: Reached(node, 0, ())}
    level = [node]
    cut = None
    for hops in range(1, depth + 1):
        room = limit + 1 - (len(reached) - 1)
        try:
            ways = _next_level(speaker, towards, level, reached, room)
        except CutShort as short:
            cut = str(short)
            break
        level = sorted(ways)[:room]
        reached |= {found: Reached(found, hops, ways[found]) for found in level}
        if not level or len(reached) - 1 > limit:
            break
    found = tuple(reached.values())[1:]
    return Walk(found[:limit], more_nodes(limit) if len(found) > limit else cut)


def _next_level(
    speaker: Speaker, towards: Towards, level: Sequence[int], reached: dict[int, Reached], room: int
) -> dict[int, tuple[str, ...]]:
    """Return new nodes with their ways: all of them, or at least the `room` of the lowest numbers."""
    most = len(reached) + 8 * room
    while True:
        ways: dict[int, tuple[str, ...]] = {}
        complete: int | None = None
        for begin in range(0, len(level), _TOGETHER):
            rows = _hop(speaker, towards, level[begin : begin + _TOGETHER], most)
            if len(rows) == most:
                # The links to the last node may have been cut off.
                complete = min(rows[-1][0], rows[-1][0] if complete is None else complete)
            for found, source, edge in rows:
                if found not in reached:
                    way = (*reached[source].via, edge)
                    ways[found] = min(way, ways.get(found, way))
        if complete is None:
            return ways
        sure = {found: way for found, way in ways.items() if found < complete}
        if len(sure) >= room:
            return sure
        most *= 8


def _hop(speaker: Speaker, towards: Towards, level: Sequence[int], most: int) -> list[list[Any]]:
    if len(level) == 1:
        return speaker.rows(cypher.FIRST_HOP[towards], node=level[0], most=most)
    return speaker.rows(cypher.NEXT_HOP[towards], level=list(level), most=most)


def onwards(
    speaker: Speaker, level: Sequence[int], seen: Collection[int], through: Through, width: int
) -> Level:
    """Go one step further; more rows are asked for while several edges lead to one node."""
    types = [type for type in LABELS if type in through.types]
    if not types or width < 1:
        return Level()
    question = cypher.onwards(types, through.towards)
    asked: dict[str, Any] = {
        "level": sorted(set(level)),
        "met": sorted({*level, *seen}),
        "floor": float(through.probability),
        "statuses": [str(status) for status in through.statuses],
    }
    most = 4 * width
    while True:
        try:
            rows = speaker.rows(question, most=most, **asked)
        except CutShort as short:
            return Level(cut=str(short))
        best: dict[int, Step] = {}
        for node, source, id, kind, status, probability, relation in rows:
            named = Relation(relation) if relation else None
            step = Step(node, source, id, EdgeKind(kind), EdgeStatus(status), probability, named)
            best.setdefault(node, step)
        if len(best) >= width or len(rows) < most:
            return Level(tuple(best.values())[:width])
        most *= 8


class _Link(NamedTuple):
    """An open edge to a neighbour."""

    node: int
    probability: float
    edge: str = ""


class _Found(NamedTuple):
    """A way with its strength; sorted, the shortest comes first, then the strongest, then by ids."""

    hops: int
    weakness: float
    edges: tuple[str, ...]


def ways(speaker: Speaker, start: int, end: int, at_most: int) -> Ways:
    """Meet in the middle: over nothing, over one neighbour, over a pair of them, until there are enough."""
    found: list[_Found] = []
    cut = None
    try:
        near, far = _near(speaker, start), _near(speaker, end)
        found += _direct(speaker, start, end, near, far)
        found += _over_one(speaker, start, end, near, far, at_most)
        if len(found) < at_most:
            wide = len(near) > _WIDE and len(far) > _WIDE
            found += _over_two(speaker, start, end, near, far, at_most - len(found))
            cut = _ONE_SIDE if wide else None
    except CutShort as short:
        cut = str(short)
    return Ways(tuple(item.edges for item in sorted(found)[:at_most]), cut)


def _near(speaker: Speaker, node: int) -> list[_Link]:
    """Return the open neighbours of a node, at most one more than `_WIDE`, the strongest first."""
    rows = speaker.rows(cypher.NEAR, node=node, most=_WIDE + 1)
    return [_Link(target if source == node else source, p, edge) for source, target, p, edge in rows]


def _between(speaker: Speaker, node: int, others: Collection[int]) -> dict[int, list[_Link]]:
    """Return the open edges from a node to each of these others."""
    links: dict[int, list[_Link]] = {}
    for source, target, probability, edge in speaker.rows(cypher.DIRECT, node=node, others=sorted(others)):
        other = target if source == node else source
        links.setdefault(other, []).append(_Link(other, probability, edge))
    return links


def _links(
    speaker: Speaker, node: int, near: Sequence[_Link], others: Collection[int]
) -> dict[int, list[_Link]]:
    """Return the same from the neighbours that were read, where those are all."""
    if len(near) > _WIDE:
        return _between(speaker, node, others)
    links: dict[int, list[_Link]] = {}
    for link in near:
        if link.node in others:
            links.setdefault(link.node, []).append(link)
    return links


def _direct(
    speaker: Speaker, start: int, end: int, near: Sequence[_Link], far: Sequence[_Link]
) -> Iterator[_Found]:
    if len(near) > _WIDE and len(far) > _WIDE:
        links = _between(speaker, start, (end,)).get(end, [])
    elif len(near) > _WIDE:
        links = [_Link(end, link.probability, link.edge) for link in far if link.node == start]
    else:
        links = [link for link in near if link.node == end]
    for link in links:
        yield _Found(1, -link.probability, (link.edge,))


def _over_one(
    speaker: Speaker, start: int, end: int, near: Sequence[_Link], far: Sequence[_Link], at_most: int
) -> Iterator[_Found]:
    if len(near) > _WIDE or len(far) > _WIDE:
        for first, second, strength in speaker.rows(cypher.OVER_ONE, node=start, goal=end, most=at_most):
            yield _Found(2, -strength, (first, second))
        return
    for link in near:
        for other in far:
            if link.node == other.node:
                yield _Found(2, -(link.probability * other.probability), (link.edge, other.edge))


class _Pair(NamedTuple):
    """A way over two nodes by its probabilities; the ids of its edges are not looked up yet."""

    strength: float
    near: int
    far: int
    first: float
    middle: float
    last: float


def _over_two(
    speaker: Speaker, start: int, end: int, near: Sequence[_Link], far: Sequence[_Link], wanted: int
) -> list[_Found]:
    """Return the strongest ways over two nodes, and more of equal strength; ids are read for those only.

    An edge may be gone by the time its id is read: its way then is none any more.
    """
    pairs = _pairs(speaker, start, end, near, far)
    strongest = sorted((pair for pair in pairs if pair.near != end and pair.far != start), reverse=True)
    if len(strongest) > wanted:
        weakest = strongest[wanted - 1].strength
        strongest = [pair for pair in strongest if pair.strength >= weakest]
    if not strongest:
        return []
    firsts = _links(speaker, start, near, {pair.near for pair in strongest})
    lasts = _links(speaker, end, far, {pair.far for pair in strongest})
    begun = [
        (-pair.strength, link.edge, pair)
        for pair in strongest
        for link in firsts.get(pair.near, ())
        if link.probability == pair.first
    ]
    begun.sort()
    middles = _middles(speaker, [pair for _, _, pair in begun[:wanted]])
    found: list[_Found] = []
    for (weakness, first), group in groupby(begun, key=lambda item: item[:2]):
        pairs_left = [pair for _, _, pair in group]
        for pair in pairs_left:
            if (pair.near, pair.far) not in middles:
                middles |= _middles(speaker, pairs_left)
            found += (
                _Found(3, weakness, (first, middle.edge, last.edge))
                for middle in middles.get((pair.near, pair.far), ())
                if middle.probability == pair.middle
                for last in lasts.get(pair.far, ())
                if last.probability == pair.last
            )
        if len(found) >= wanted:
            break
    return found


def _middles(speaker: Speaker, pairs: Iterable[_Pair]) -> dict[tuple[int, int], list[_Link]]:
    """Return the open edges between the nodes of each pair."""
    ends: dict[int, set[int]] = {}
    for pair in pairs:
        ends.setdefault(pair.near, set()).add(pair.far)
    if len(ends) == 1:
        ((node, others),) = ends.items()
        return {(node, other): links for other, links in _between(speaker, node, others).items()}
    middles: dict[tuple[int, int], list[_Link]] = {}
    rows = speaker.rows(cypher.BETWEEN, near=sorted(ends), far=sorted(set().union(*ends.values())))
    for source, target, probability, edge in rows:
        for node, other in ((source, target), (target, source)):
            if other in ends.get(node, ()):
                middles.setdefault((node, other), []).append(_Link(other, probability, edge))
    return middles


def _pairs(speaker: Speaker, start: int, end: int, near: Sequence[_Link], far: Sequence[_Link]) -> set[_Pair]:
    """Return the ways over two nodes; with many neighbours at both ends, over the strongest of the end's."""
    if len(near) > _WIDE:
        ends = _by_node(far[:_WIDE])
        rows = speaker.rows(cypher.LAST_TWO, hub=start, near=list(ends))
        return {
            _Pair(first * middle * last, x, y, first, middle, last)
            for x, first, y, middle in _two(start, rows)
            for last in ends.get(y, ())
        }
    starts, ends = _by_node(near), _by_node(far[:_WIDE])
    if len(far) > _WIDE:
        rows = speaker.rows(cypher.LAST_TWO, hub=end, near=list(starts))
        return {
            _Pair(first * middle * last, x, y, first, middle, last)
            for y, last, x, middle in _two(end, rows)
            for first in starts.get(x, ())
        }
    links = [(x, y, p) for x, y, p in speaker.rows(cypher.MIDDLE, one=list(starts), other=list(ends))]
    links += ((x, y, p) for y, x, p in speaker.rows(cypher.MIDDLE, one=list(ends), other=list(starts)))
    return {
        _Pair(first * middle * last, x, y, first, middle, last)
        for x, y, middle in links
        for first in starts[x]
        for last in ends[y]
    }


def _two(hub: int, rows: Iterable[Sequence[Any]]) -> Iterator[tuple[int, float, int, float]]:
    """Yield each two steps away from the hub: node, probability, next node, probability."""
    for source, target, one, other_source, other_target, two in rows:
        x = target if source == hub else source
        yield x, one, other_target if other_source == x else other_source, two


def _by_node(links: Iterable[_Link]) -> dict[int, set[float]]:
    found: dict[int, set[float]] = {}
    for link in links:
        found.setdefault(link.node, set()).add(link.probability)
    return found
