"""Owns the joining of groups that hold together so closely that they are one.

It is not the search for groups (`inference.communities`): it starts from some, and only unites.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush


def joined(
    links: Iterable[tuple[str, str, float]],
    groups: Sequence[frozenset[str]],
    least: float,
    smallest: int,
    settled: frozenset[int] = frozenset(),
    least_settled: float = 0.0,
) -> list[frozenset[str]]:
    """Join the closest groups, again and again, until none are close.

    Two are close when what lies between them is at least a share `least` of what the lesser holds with it;
    one of fewer than `smallest` nodes is close to any.

    Args:
        links: with both ends in the groups, each pair of nodes once.
        groups: disjoint sets of nodes.
        least: in 0..1.
        smallest: in nodes.
        settled: places of groups of which any two need a share of `least_settled`.
        least_settled: in 0..1.
    """
    joining = _Joining(links, groups, settled)
    joining.least, joining.least_settled, joining.smallest = least, least_settled, smallest
    joining.run()
    return list(joining.united.values())


class _Joining:
    """Groups by place, with the weight inside each and between any two."""

    def __init__(
        self,
        links: Iterable[tuple[str, str, float]],
        groups: Sequence[frozenset[str]],
        settled: Iterable[int],
    ) -> None:
        self.united = dict(enumerate(groups))
        self.least = self.least_settled = 0.0
        self.smallest = 0
        self._settled = set(settled)
        self._held = dict.fromkeys(self.united, 0.0)
        self._beside: dict[int, dict[int, float]] = {place: {} for place in self.united}
        home = {node: place for place, members in self.united.items() for node in members}
        for a, b, weight in links:
            one, other = home[a], home[b]
            if one == other:
                self._held[one] += weight
            else:
                self._add(one, other, weight)
        self._close: list[tuple[float, int, int]] = []

    def run(self) -> None:
        """Join what is close, the closest first, of equals the lowest places."""
        for one in self._beside:
            self._look_around(one)
        while self._close:
            share, one, other = heappop(self._close)
            # What was joined since has been looked at anew.
            if other in self._beside.get(one, ()) and self._share(one, other) == -share:
                self._join(one, other)

    def _add(self, one: int, other: int, weight: float) -> None:
        for first, second in ((one, other), (other, one)):
            self._beside[first][second] = self._beside[first].get(second, 0.0) + weight

    def _share(self, one: int, other: int) -> float:
        weight = self._beside[one][other]
        return weight / (min(self._held[one], self._held[other]) + weight)

    def _look_around(self, one: int) -> None:
        for other in self._beside[one]:
            share = self._share(one, other)
            both = self._settled.issuperset((one, other))
            least = self.least_settled if both else self.least
            if share >= least or min(len(self.united[one]), len(self.united[other])) < self.smallest:
                heappush(self._close, (-share, min(one, other), max(one, other)))

    def _join(self, kept: int, gone: int) -> None:
        self.united[kept] |= self.united.pop(gone)
        around = self._beside.pop(gone)
        self._held[kept] += self._held.pop(gone) + around.pop(kept)
        del self._beside[kept][gone]
        for other, weight in around.items():
            del self._beside[other][gone]
            self._add(kept, other, weight)
        if gone in self._settled:
            self._settled.add(kept)
        self._look_around(kept)
