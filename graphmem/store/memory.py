"""Owns the in-memory twin of the graph: the same promises as the engine's, kept by plain dictionaries.

It is not what answers from a project's graph files. It answers questions about past moments, whose graph is
made for the one question, and it keeps the seam honest: what both can't promise is no promise.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from math import prod

from graphmem.graph import EdgeStatus, NodeType, Relation
from graphmem.store.arcs import Arc, arcs_of
from graphmem.store.bounds import changed_type, checked_depth, more_neighbours, more_nodes, stranger
from graphmem.store.cycles import shortest_cycles
from graphmem.store.port import (
    MAX_DEPTH,
    OPEN_STATUSES,
    Beside,
    GraphChange,
    GraphContent,
    GraphCounts,
    GraphEdge,
    GraphFault,
    GraphModule,
    GraphNode,
    GraphObservation,
    Level,
    Mark,
    Reached,
    Step,
    Surroundings,
    Through,
    Towards,
    Walk,
    Ways,
)


class MemoryStore:
    """A graph in dictionaries, safe to share between threads; it is gone when it is let go of."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._content = _Content()
        self._mark: Mark | None = None
        self._closed = False

    def mark(self) -> Mark | None:
        """See `GraphStore.mark`."""
        with self._lock:
            self._look()
            return self._mark

    def load(self, content: GraphContent, mark: Mark) -> None:
        """See `GraphStore.load`."""
        fresh = _Content()
        fresh.add(content.nodes, content.edges, content.observations)
        fresh.set_modules(content.modules)
        with self._lock:
            self._look()
            self._content, self._mark = fresh, mark

    def apply(self, change: GraphChange, mark: Mark) -> None:
        """See `GraphStore.apply`."""
        with self._lock:
            self._look().check(change)
            for edge in change.dropped_edges:
                self._content.drop(edge)
            self._content.add(change.nodes, change.edges, change.observations)
            self._mark = mark

    def set_modules(self, modules: Sequence[GraphModule]) -> None:
        """See `GraphStore.set_modules`."""
        with self._lock:
            self._look().set_modules(modules)

    def walk(self, node: int, towards: Towards, depth: int = MAX_DEPTH, limit: int = 200) -> Walk:
        """See `GraphStore.walk`."""
        checked_depth(depth)
        with self._lock:
            content = self._look()
            reached = {node: Reached(node, 0, ())}
            level = [reached[node]]
            for hops in range(1, depth + 1):
                after: dict[int, tuple[str, ...]] = {}
                for here in level:
                    for arc in content.arcs(here.node, towards):
                        if arc.target not in reached:
                            way = (*here.via, arc.edge)
                            after[arc.target] = min(way, after.get(arc.target, way))
                level = [Reached(found, hops, after[found]) for found in sorted(after)]
                reached |= {item.node: item for item in level}
                if len(reached) - 1 > limit:
                    break
        found = tuple(reached.values())[1:]
        return Walk(found[:limit], more_nodes(limit) if len(found) > limit else None)

    def beside(
        self, node: int, statuses: Sequence[EdgeStatus] = OPEN_STATUSES, limit: int = 200
    ) -> Surroundings:
        """See `GraphStore.beside`."""
        with self._lock:
            found = [
                Beside(other, edge.id, edge.status, edge.probability)
                for edge, other in self._look().links(node, statuses)
            ]
        found.sort(key=lambda item: (-item.probability, item.edge))
        return Surroundings(tuple(found[:limit]), more_neighbours(limit) if len(found) > limit else None)

    def onwards(self, level: Sequence[int], seen: Collection[int], through: Through, width: int = 5) -> Level:
        """See `GraphStore.onwards`."""
        with self._lock:
            content = self._look()
            met = {*level, *seen}
            steps = sorted(
                (step for node in dict.fromkeys(level) for step in content.steps(node, through)),
                key=lambda step: (-step.probability, step.edge, step.source),
            )
        best: dict[int, Step] = {}
        for step in steps:
            if step.node not in met:
                best.setdefault(step.node, step)
        return Level(tuple(best.values())[:width])

    def ways(self, start: int, end: int, at_most: int = 3) -> Ways:
        """See `GraphStore.ways`."""
        with self._lock:
            found = [] if start == end else list(self._look().ways(start, end))
        found.sort(key=lambda way: (len(way), -prod(edge.probability for edge in way), [e.id for e in way]))
        return Ways(tuple(tuple(edge.id for edge in way) for way in found[:at_most]))

    def cycles(self, at_most: int = 20) -> Ways:
        """See `GraphStore.cycles`."""
        with self._lock:
            content = self._look()
            edges = (edge for edge in content.edges.values() if edge.relation is Relation.DEPENDS_ON)
            arcs = [arc for edge in edges for arc in arcs_of(edge)]
        return shortest_cycles(arcs, at_most)

    def orphans(self, limit: int = 200) -> tuple[int, ...]:
        """See `GraphStore.orphans`."""
        with self._lock:
            content = self._look()
            found = [
                node.number
                for node in content.nodes.values()
                if node.type is NodeType.FILE and node.alive and not any(content.links(node.number))
            ]
        return tuple(sorted(found)[:limit])

    def members(self, module: str, limit: int = 10_000) -> tuple[int, ...]:
        """See `GraphStore.members`."""
        with self._lock:
            return tuple(sorted(self._look().members.get(module, ()))[:limit])

    def module_of(self, nodes: Sequence[int], level: int = 0) -> dict[int, str]:
        """See `GraphStore.module_of`."""
        with self._lock:
            homes = self._look().homes
            return {node: homes[node, level] for node in nodes if (node, level) in homes}

    def observations_of(self, nodes: Sequence[int], limit: int = 20) -> tuple[int, ...]:
        """See `GraphStore.observations_of`."""
        with self._lock:
            content = self._look()
            seen = [content.seen.get(node, set()) for node in set(nodes)]
            common = set.intersection(*seen) if seen else set()
            newest = sorted(common, key=lambda item: (content.observations[item].at, item), reverse=True)
        return tuple(newest[:limit])

    def counts(self) -> GraphCounts:
        """See `GraphStore.counts`."""
        with self._lock:
            held = self._look()
            return GraphCounts(len(held.nodes), len(held.edges), len(held.observations), len(held.modules))

    def close(self) -> None:
        """See `GraphStore.close`."""
        with self._lock:
            self._closed = True
            self._content = _Content()

    def _look(self) -> _Content:
        if self._closed:
            raise GraphFault("The graph is closed; open the memory again.")
        return self._content


class _Content:
    """What a store holds, with the ways into it; the caller holds the lock."""

    def __init__(self) -> None:
        self.nodes: dict[int, GraphNode] = {}
        self.edges: dict[str, GraphEdge] = {}
        self.observations: dict[int, GraphObservation] = {}
        self.modules: dict[str, GraphModule] = {}
        self.members: dict[str, frozenset[int]] = {}
        self.homes: dict[tuple[int, int], str] = {}
        self.seen: dict[int, set[int]] = {}
        self._touching: dict[int, dict[str, GraphEdge]] = {}

    def check(self, change: GraphChange) -> None:
        for node in change.nodes:
            if self.nodes.get(node.number, node).type is not node.type:
                raise changed_type(node.number)
        known = self.nodes.keys() | {node.number for node in change.nodes}
        for edge in change.edges:
            _check_ends(f"Edge {edge.id}", (edge.source, edge.target), known)
        for item in change.observations:
            _check_ends(f"Observation {item.number}", item.touched + item.mentioned, known)

    def add(
        self,
        nodes: Iterable[GraphNode],
        edges: Iterable[GraphEdge],
        observations: Iterable[GraphObservation],
    ) -> None:
        """Insert or replace; raises GraphFault for a node that is not there."""
        self.nodes |= {node.number: node for node in nodes}
        for edge in edges:
            _check_ends(f"Edge {edge.id}", (edge.source, edge.target), self.nodes.keys())
            self.drop(edge.id)
            self.edges[edge.id] = edge
            self._touching.setdefault(edge.source, {})[edge.id] = edge
            self._touching.setdefault(edge.target, {})[edge.id] = edge
        for item in observations:
            held = item.touched + item.mentioned
            _check_ends(f"Observation {item.number}", held, self.nodes.keys())
            if (before := self.observations.get(item.number)) is not None:
                for node in before.touched + before.mentioned:
                    self.seen[node].discard(item.number)
            self.observations[item.number] = item
            for node in held:
                self.seen.setdefault(node, set()).add(item.number)

    def drop(self, id: str) -> None:
        edge = self.edges.pop(id, None)
        if edge is not None:
            self._touching[edge.source].pop(id)
            self._touching[edge.target].pop(id, None)

    def set_modules(self, modules: Sequence[GraphModule]) -> None:
        self.modules = {module.id: module for module in modules}
        self.members = {
            module.id: frozenset(node for node in module.members if node in self.nodes)
            for module in self.modules.values()
        }
        self.homes = {}
        for module in sorted(self.modules.values(), key=lambda item: item.id):
            for node in self.members[module.id]:
                self.homes.setdefault((node, module.level), module.id)

    def links(
        self, node: int, statuses: Sequence[EdgeStatus] = OPEN_STATUSES
    ) -> Iterator[tuple[GraphEdge, int]]:
        """Yield the edges of these statuses at a node, each with its other end."""
        for edge in self._touching.get(node, {}).values():
            if edge.status in statuses and edge.source != edge.target:
                yield edge, edge.target if edge.source == node else edge.source

    def arcs(self, node: int, towards: Towards) -> Iterator[Arc]:
        """Yield where confirmed relations lead from a node; the arcs' targets are the nodes reached."""
        for edge, _ in self.links(node, (EdgeStatus.CONFIRMED,)):
            for arc in arcs_of(edge):
                if towards is Towards.DEPENDENCIES and arc.source == node:
                    yield arc
                elif towards is Towards.DEPENDENTS and arc.target == node:
                    yield Arc(node, arc.source, arc.edge)

    def steps(self, node: int, through: Through) -> Iterator[Step]:
        """Yield the steps that may be taken from a node."""
        for edge, other in self.links(node, through.statuses):
            held = self.nodes[other]
            if (
                held.alive
                and held.type in through.types
                and edge.probability >= through.probability
                and _leads(edge, node, through.towards)
            ):
                yield Step(other, node, edge.id, edge.kind, edge.status, edge.probability, edge.relation)

    def ways(self, start: int, end: int) -> Iterator[tuple[GraphEdge, ...]]:
        """Yield every way of up to three open edges."""
        last: dict[int, list[GraphEdge]] = {}
        for edge, other in self.links(end):
            last.setdefault(other, []).append(edge)
        for first, near in self.links(start):
            if near == end:
                yield (first,)
                continue
            yield from ((first, third) for third in last.get(near, ()))
            for second, far in self.links(near):
                if far not in (start, end):
                    yield from ((first, second, third) for third in last.get(far, ()))


def _leads(edge: GraphEdge, node: int, towards: Towards | None) -> bool:
    """Return whether an edge may be taken from this end; one that is no confirmed relation always may."""
    arcs = arcs_of(edge)
    if towards is None or not arcs:
        return True
    return any((arc.source if towards is Towards.DEPENDENCIES else arc.target) == node for arc in arcs)


def _check_ends(thing: str, ends: Sequence[int], known: Container[int]) -> None:
    for node in ends:
        if node not in known:
            raise stranger(thing, node)
