"""Owns the list of edges in pages: what somebody should look at first, and that nothing is skipped in it.

It is not what makes an edge worth a look (that is `inference.review`) nor what is shown of one (`edges`).
The first twenty suggestions are picked with regard to each other: of those that ask the same question only
the first, which names the others; by value, one that settles several goes before its equals. After them the
rest comes in its order, nothing left out. A cursor holds which of the picked ones were shown and where the
rest stands, so that verdicts given between two pages skip nothing.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from graphmem.edge_rows import EdgeRow
from graphmem.errors import InvalidInputError
from graphmem.graph import EdgeFilter, EdgeKind, EdgeOrder, EdgePage, EdgeStatus
from graphmem.model import FileStatus
from graphmem.recall.edges import Edges
from graphmem.recall.rows import Place, RowFilter, place_of
from inference.review import Question, folded, gain

HEAD = 20
"""So many suggestions are picked with regard to each other."""
A_NODE = 3
"""So many of them may share a node."""
_LOOKED_AT = 600
_WEIGHED = 60
"""So many of the most valuable suggestions are weighed by how many others each would settle."""
_WINDOW = 200
_CHUNK = 50
_LONGEST_ID = 64


@dataclass(frozen=True, slots=True)
class _Cursor:
    """Which of the picked ones were shown, and after which place the rest goes on; None before the rest."""

    order: EdgeOrder
    shown: tuple[str, ...] = ()
    after: Place | None = None


def edge_page(
    edges: Edges, where: EdgeFilter, node: int | None, limit: int, cursor: str | None = None
) -> EdgePage:
    """Return a page of edges, highest first, then by id.

    Suggestions with a file that is gone or missing on the disk are left out.

    Args:
        edges: those of the moment that `where` asks about.
        where: which ones, and their order.
        node: the node that `where` names, if it names one.
        limit: how many at most.
        cursor: of the page before; the same filter is to be given with it.

    Raises:
        InvalidInputError: the cursor is not one this list gave.
    """
    files_only = not where.kinds and node is None
    rows = RowFilter(tuple(where.statuses), tuple(where.kinds), node, files_only)
    start = _Cursor(where.order) if cursor is None else _read_cursor(cursor, where.order)
    folding = _Folding(edges, rows, where.order)
    found = list(islice(_rows(edges, rows, folding, start), limit + 1))
    shown = found[:limit]
    following = _written_cursor(shown[-1][1]) if len(found) > limit else None
    similar = {row.id: folding.similar(row) for row, _ in shown}
    return EdgePage(tuple(edges.of([row for row, _ in shown], similar)), following)


class _Folding:
    """Which suggestions of a list ask the same question, found as they are met."""

    def __init__(self, edges: Edges, where: RowFilter, order: EdgeOrder) -> None:
        self._edges = edges
        self._where = where
        self._order = order
        self._asked: dict[str, str] = {}
        self._similar: dict[str, tuple[str, ...]] = {}

    def is_asked(self, row: EdgeRow) -> bool:
        """Return whether a row is shown by itself."""
        if row.status != EdgeStatus.CANDIDATE or row.kind != EdgeKind.CO_CHANGES or not row.keys:
            return True
        if row.id not in self._asked:
            self._fold(row)
        return self._asked.get(row.id, row.id) == row.id

    def similar(self, row: EdgeRow) -> tuple[str, ...]:
        """Return the edges that were folded into this one, in their order."""
        return self._similar.get(row.id, ())

    def _fold(self, row: EdgeRow) -> None:
        alike = [other for other in self._edges.rows.alike(row) if self._where.takes(other)]
        if len(alike) > 1:
            alike = list(_present(self._edges, alike))
        places = {other.id: place_of(other, self._order) for other in alike}
        alike.sort(key=lambda other: (-places[other.id][0], other.id))
        asked = folded(Question(other.id, frozenset((other.source, other.target))) for other in alike)
        self._asked.update(asked)
        for id, leader in asked.items():
            if id != leader:
                self._similar[leader] = (*self._similar.get(leader, ()), id)


def _rows(
    edges: Edges, where: RowFilter, folding: _Folding, start: _Cursor
) -> Iterator[tuple[EdgeRow, _Cursor]]:
    """Yield the rows from a place on, each with the cursor after it."""
    here = start
    if here.after is None and EdgeStatus.CANDIDATE in where.statuses:
        for row in _picked(edges, where, folding, here):
            here = replace(here, shown=(*here.shown, row.id))
            yield row, here
    while window := edges.rows.listed(where, here.order, _WINDOW, here.after):
        places = {row.id: place_of(row, here.order) for row in window}
        for row in _present(edges, (row for row in window if row.id not in here.shown)):
            yield row, replace(here, after=places[row.id])
        here = replace(here, after=places[window[-1].id])


def _picked(edges: Edges, where: RowFilter, folding: _Folding, start: _Cursor) -> Iterator[EdgeRow]:
    """Yield what is left of the first twenty, no node more often than three times."""
    known = edges.rows.by_ids(start.shown).values()
    taken = Counter(end for row in known for end in {row.source, row.target} - {where.node})
    free = HEAD - len(start.shown)
    window = edges.rows.listed(where, start.order, _LOOKED_AT)
    if start.order is EdgeOrder.VALUE:
        window = [*_by_gain(folding, window[:_WEIGHED]), *window[_WEIGHED:]]
    for row in _present(edges, (row for row in window if row.id not in start.shown)):
        if free <= 0:
            return
        ends = {row.source, row.target} - {where.node}
        if all(taken[end] < A_NODE for end in ends) and folding.is_asked(row):
            taken.update(ends)
            free -= 1
            yield row


def _by_gain(folding: _Folding, rows: Sequence[EdgeRow]) -> list[EdgeRow]:
    """Return rows by value with that of all they settle, which they are shown with; equals by id."""
    settled = [len(folding.similar(row)) if folding.is_asked(row) else 0 for row in rows]
    weighed = [row._replace(value=gain(row.value, count)) for row, count in zip(rows, settled, strict=True)]
    return sorted(weighed, key=lambda row: (-row.value, row.id))


def _present(edges: Edges, rows: Iterable[EdgeRow]) -> Iterator[EdgeRow]:
    """Yield the rows without suggestions of which an end is unknown, gone, or missing on the disk."""
    left = iter(rows)
    while chunk := list(islice(left, _CHUNK)):
        nodes = edges.references.nodes(end for row in chunk for end in (row.source, row.target))
        known = {end for end, node in nodes.items() if node.status is FileStatus.KNOWN}
        for row in chunk:
            if row.status != EdgeStatus.CANDIDATE or {row.source, row.target} <= known:
                yield row


# ---- cursors -------------------------------------------------------------------------------------


def _written_cursor(cursor: _Cursor) -> str:
    value = [cursor.order, cursor.shown, cursor.after]
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def _read_cursor(text: str, order: EdgeOrder) -> _Cursor:
    refused = InvalidInputError("The cursor is not one this list gave; start without one.", "cursor")
    try:
        value = json.loads(base64.urlsafe_b64decode((text + "=" * (-len(text) % 4)).encode("ascii")))
    except (ValueError, binascii.Error, UnicodeError, RecursionError):
        raise refused from None
    match value:
        case [str() as known, [*shown], None | [int() | float(), str()] as after] if (
            known == order
            and len(shown) <= HEAD
            and all(_is_id(id) for id in shown)
            and (after is None or (type(after[0]) is not bool and abs(after[0]) < 1e15 and _is_id(after[1])))
        ):
            place = None if after is None else (float(after[0]), after[1])
            return _Cursor(order, tuple(shown), place)
        case _:
            raise refused


def _is_id(value: object) -> bool:
    return isinstance(value, str) and value.isascii() and len(value) <= _LONGEST_ID
