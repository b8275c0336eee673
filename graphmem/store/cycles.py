"""Owns finding cycles among directed links, within bounds: how many, how long, how much looking.

It is not where the links come from; both stores hand them in. Johnson's enumeration of all cycles is
exponential where many overlap, so each link of a strongly connected part is asked for the shortest cycle
through it instead: nothing is listed that only goes round in a knot. Long ones are passed over, except where
a knot has no other: every knot is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from graphmem.store.arcs import Arc
from graphmem.store.bounds import LONGEST_CYCLE, more_cycles
from graphmem.store.port import Ways

_LOOKS = 200_000
"""So many links are followed at most before the search ends with what it has."""
_GAVE_UP = "the cycles are too many to look at them all"


def shortest_cycles(arcs: Iterable[Arc], at_most: int) -> Ways:
    """Return cycles as the ids of their edges, shortest first, then by ids.

    Each begins at the smallest of its rotations. An edge that goes both ways is a cycle of two links, its
    id twice. The answer depends on the edges only, not on the numbers of the nodes.
    """
    following = _arranged(arcs)
    found: dict[tuple[str, ...], None] = {}
    looks = _LOOKS
    cut = None
    for knot, links in _sorted_knots(following):
        shown = False
        for arc in links:
            if looks <= 0 or len(found) > at_most:
                break
            cycle, used = _around(arc, following, knot, LONGEST_CYCLE)
            looks -= used
            if cycle:
                found.setdefault(_turned(cycle))
                shown = True
        if not shown and len(found) <= at_most:
            found.setdefault(_turned(_around(links[0], following, knot, len(knot))[0]))
    if len(found) > at_most:
        cut = more_cycles(at_most)
    elif looks <= 0:
        cut = _GAVE_UP
    return Ways(tuple(sorted(found, key=lambda cycle: (len(cycle), cycle))[:at_most]), cut)


def _arranged(arcs: Iterable[Arc]) -> dict[int, list[Arc]]:
    following: dict[int, list[Arc]] = {}
    for arc in arcs:
        if arc.source != arc.target:
            following.setdefault(arc.source, []).append(arc)
            following.setdefault(arc.target, [])
    for links in following.values():
        links.sort(key=lambda arc: arc.edge)
    return following


def _sorted_knots(following: dict[int, list[Arc]]) -> list[tuple[set[int], list[Arc]]]:
    """Return each strongly connected part with the links inside it, the smallest part first."""
    inside = [
        (knot, [arc for node in knot for arc in following[node] if arc.target in knot])
        for knot in _knots(following)
    ]
    for _, links in inside:
        links.sort(key=lambda arc: arc.edge)
    return sorted(inside, key=lambda item: (len(item[0]), item[1][0].edge))


def _turned(cycle: tuple[str, ...]) -> tuple[str, ...]:
    return min(cycle[turn:] + cycle[:turn] for turn in range(len(cycle)))


def _around(
    first: Arc, following: dict[int, list[Arc]], knot: set[int], longest: int
) -> tuple[tuple[str, ...], int]:
    """Return the shortest cycle through a link, the smallest ids among equals, and how many links it took.

    Nodes are reached in the order of the ids that lead to them, so the first way to a node is the smallest.
    """
    came: dict[int, Arc] = {first.target: first}
    level = [first.target]
    looks = 0
    for _ in range(longest - 1):
        after: list[int] = []
        for node in level:
            for arc in following[node]:
                looks += 1
                if arc.target in knot and arc.target not in came:
                    came[arc.target] = arc
                    after.append(arc.target)
        if first.source in came:
            return _way(first, came), looks
        level = after
    return (), looks


def _way(first: Arc, came: dict[int, Arc]) -> tuple[str, ...]:
    """Return the edges from a link round to its own beginning."""
    back = []
    arc = came[first.source]
    while arc is not first:
        back.append(arc.edge)
        arc = came[arc.source]
    return first.edge, *reversed(back)


def _knots(following: dict[int, list[Arc]]) -> Iterator[set[int]]:
    """Yield strongly connected parts of two nodes and more.

    Source: R. Tarjan, "Depth-first search and linear graph algorithms", SIAM J. Comput. 1 (1972), without
    recursion.
    """
    order: dict[int, int] = {}
    lowest: dict[int, int] = {}
    trail: list[int] = []
    on_trail: set[int] = set()
    for root in following:
        if root in order:
            continue
        work = [(root, iter(following[root]))]
        order[root] = lowest[root] = len(order)
        trail.append(root)
        on_trail.add(root)
        while work:
            node, links = work[-1]
            for arc in links:
                if arc.target not in order:
                    order[arc.target] = lowest[arc.target] = len(order)
                    trail.append(arc.target)
                    on_trail.add(arc.target)
                    work.append((arc.target, iter(following[arc.target])))
                    break
                if arc.target in on_trail:
                    lowest[node] = min(lowest[node], order[arc.target])
            else:
                work.pop()
                if work:
                    lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[node])
                if lowest[node] == order[node]:
                    knot = {trail.pop()}
                    while node not in knot:
                        knot.add(trail.pop())
                    on_trail -= knot
                    if len(knot) > 1:
                        yield knot
