"""Owns holding the project's co-changing pairs beside the imports in its code: which has nobody written down?

It is not the reading (`graphmem.imports`), and it changes nothing about an edge: a pair without an import is
no less likely, and an import alone is no edge.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from graphmem.code_facts import (
    Corroboration,
    CorroborationCounts,
    Reading,
    ReadingFigures,
    SilentImport,
)
from graphmem.graph import EdgeKind, EdgeStatus
from graphmem.imports import ImportGraph
from graphmem.nodes import NodeTable
from graphmem.noise import noise_of
from graphmem.postings import View
from graphmem.recall.edges import Edges
from inference.lineage import Change
from inference.relations import name_of

_PAIRS = (
    "SELECT edge.id, one.name, other.name FROM edge"
    " JOIN file AS a ON a.id = edge.source >> 2 JOIN path AS one ON one.id = a.path"
    " JOIN file AS b ON b.id = edge.target >> 2 JOIN path AS other ON other.id = b.path"
    " WHERE edge.kind = ? AND edge.status IN (?, ?) AND edge.source % 4 = ? AND edge.target % 4 = ?"
    " AND a.alive = 1 AND b.alive = 1 ORDER BY edge.probability DESC, edge.together DESC, edge.id"
)
_CHANGES = (
    "SELECT path.name, touch.occasion FROM touch JOIN observation ON observation.seq = touch.occasion"
    " JOIN file ON file.id = touch.file JOIN path ON path.id = file.path"
    " WHERE touch.change != ? AND touch.repeated = 0 AND observation.pairs = 1 AND file.alive = 1"
)


class _Pair(NamedTuple):
    """A co-changing pair of files: its edge, and both names."""

    id: str
    one: str
    other: str


def corroboration(
    edges: Edges, reading: Reading | None, stale: str | None, within: str | None, limit: int
) -> Corroboration:
    """Return the pairs that change together beside the imports that were read.

    Args:
        edges: those of the present.
        reading: the last reading of the code, None where nobody has looked.
        stale: why the code may be another by now.
        within: a file or folder that one end must be or lie in; None for the whole project.
        limit: how many of each list at most.
    """
    pairs = [pair for pair in _pairs(edges.view) if _is_within(within, pair.one, pair.other)]
    if reading is None:
        return Corroboration(None, CorroborationCounts(unknown=len(pairs)))
    graph = reading.graph
    hidden, with_tests, counts = _sorted_out(pairs, graph)
    silent = _silent(edges.view, graph, within)
    found = edges.by_ids(pair.id for pair in (*hidden[:limit], *with_tests[:limit]))
    return Corroboration(
        _figures(reading, stale),
        CorroborationCounts(
            counts["seen"], len(hidden), len(with_tests), counts["noise"], counts["unknown"], len(silent)
        ),
        tuple(found[pair.id] for pair in hidden[:limit] if pair.id in found),
        tuple(found[pair.id] for pair in with_tests[:limit] if pair.id in found),
        tuple(silent[:limit]),
    )


def _pairs(view: View) -> list[_Pair]:
    """Return the pairs of living files that change together and that nobody rejected, the surest first."""
    values = (EdgeKind.CO_CHANGES, EdgeStatus.CANDIDATE, EdgeStatus.CONFIRMED, NodeTable.FILE, NodeTable.FILE)
    return [_Pair._make(row) for row in view.connection.execute(_PAIRS, values)]


def _sorted_out(pairs: Sequence[_Pair], graph: ImportGraph) -> tuple[list[_Pair], list[_Pair], Counter[str]]:
    """Return the pairs without an import, those with a test apart, and how many the others are."""
    hidden: list[_Pair] = []
    with_tests: list[_Pair] = []
    counts: Counter[str] = Counter()
    for pair in pairs:
        match graph.seen(pair.one, pair.other):
            case True:
                counts["seen"] += 1
            case None:
                noise = noise_of(pair.one) is not None or noise_of(pair.other) is not None
                counts["noise" if noise else "unknown"] += 1
            case False:
                (with_tests if _has_test(pair.one, pair.other) else hidden).append(pair)
    return hidden, with_tests, counts


def _silent(view: View, graph: ImportGraph, within: str | None) -> list[SilentImport]:
    """Return the imports whose files never changed together, first where both changed most; tests last."""
    named = {path for pair in graph.pairs for path in pair}
    changes: dict[str, set[int]] = defaultdict(set)
    for path, occasion in view.connection.execute(_CHANGES, (Change.READ,)):
        if path in named:
            changes[path].add(occasion)
    found = [
        SilentImport(one, other, len(changes[one]), len(changes[other]), _has_test(one, other))
        for one, other in graph.pairs
        if one in changes and other in changes and _is_within(within, one, other)
        if changes[one].isdisjoint(changes[other])
    ]
    return sorted(found, key=_silence)


def _silence(item: SilentImport) -> tuple[bool, int, int, str, str]:
    changes = (item.importer_changes, item.imported_changes)
    return item.with_test, -min(changes), -max(changes), item.importer, item.imported


def _has_test(one: str, other: str) -> bool:
    return name_of(one).is_test or name_of(other).is_test


def _is_within(place: str | None, *paths: str) -> bool:
    return place is None or any(path == place or path.startswith(f"{place}/") for path in paths)


def _figures(reading: Reading, stale: str | None) -> ReadingFigures:
    graph = reading.graph
    read, unread = Counter(graph.read.values()), Counter(graph.unread.values())
    return ReadingFigures(
        at=reading.at,
        commit=reading.commit,
        took_ms=reading.took_ms,
        read=tuple((language.value, count) for language, count in read.most_common()),
        unread=tuple((reason.value, count) for reason, count in unread.most_common()),
        imports=len(graph.pairs),
        elsewhere=graph.elsewhere,
        complete=graph.complete,
        stale=stale,
    )
