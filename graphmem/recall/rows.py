"""Owns where edges are read from: the table of the derived file, or a list made for a past moment.

It is not what people see of an edge (that is `edges`), and it decides nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from graphmem.database import chunked
from graphmem.edge_facts import written_keys
from graphmem.edge_rows import SELECT_EDGE, EdgeRow, read_row
from graphmem.graph import EdgeKind, EdgeOrder, EdgeStatus, Origin
from graphmem.minting import canonical
from graphmem.nodes import NodeTable, table_of
from graphmem.postings import View

MOST_ALIKE = 200
_KEYS = {
    EdgeOrder.VALUE: "value",
    EdgeOrder.PROBABILITY: "probability",
    EdgeOrder.SUPPORT: "together",
    EdgeOrder.RECENT: "updated_at",
}

Place = tuple[float, str]
"""Where a row stands in an order: its key and its id."""


class RowFilter(NamedTuple):
    """Which rows to take: of these statuses, of these kinds (none for all), at this node if one is given.

    With `files_only` suggestions that are not between two files are left out.
    """

    statuses: tuple[EdgeStatus, ...]
    kinds: tuple[EdgeKind, ...] = ()
    node: int | None = None
    files_only: bool = False

    def takes(self, row: EdgeRow) -> bool:
        """Return whether the filter lets a row through."""
        return (
            row.status in self.statuses
            and (not self.kinds or row.kind in self.kinds)
            and (self.node is None or self.node in (row.source, row.target))
            and not (self.files_only and _is_loose(row))
        )


class EdgeRows(Protocol):
    """The edges of one moment."""

    def by_ids(self, ids: Iterable[str]) -> dict[str, EdgeRow]:
        """Return the rows of these ids; a former id of a pair gives the row that the pair has now."""

    def listed(
        self, where: RowFilter, order: EdgeOrder, limit: int, after: Place | None = None
    ) -> list[EdgeRow]:
        """Return up to `limit` rows, highest first, then by id; those that stand after a place if given."""

    def at(self, nodes: Collection[int], statuses: Collection[EdgeStatus]) -> list[EdgeRow]:
        """Return the rows of these statuses with one of these nodes at an end, each once, by id."""

    def alike(self, row: EdgeRow) -> list[EdgeRow]:
        """Return suggestions for which the same work speaks as for this one, by id, at most `MOST_ALIKE`."""

    def ends(self, statuses: Collection[EdgeStatus]) -> set[int]:
        """Return the nodes at an end of an edge of these statuses."""

    def count(self, status: EdgeStatus) -> int:
        """Return how many edges have that status."""


def place_of(row: EdgeRow, order: EdgeOrder) -> Place:
    """Return where a row stands in an order."""
    return float(getattr(row, _KEYS[order])), row.id


class TableRows:
    """The rows of the table `edge`."""

    def __init__(self, view: View) -> None:
        self._connection = view.connection

    def by_ids(self, ids: Iterable[str]) -> dict[str, EdgeRow]:
        """See `EdgeRows.by_ids`."""
        wanted = list(dict.fromkeys(ids))
        query = f"{SELECT_EDGE} WHERE id IN ({{}})"
        found = {row.id: row for row in self._chunked(query, wanted)}
        speaking = {id: canonical(self._connection, id) for id in wanted if id not in found}
        former = {id: edge.id for id, edge in speaking.items() if edge is not None}
        rows = {row.id: row for row in self._chunked(query, list(dict.fromkeys(former.values())))}
        return found | {id: rows[present] for id, present in former.items() if present in rows}

    def listed(
        self, where: RowFilter, order: EdgeOrder, limit: int, after: Place | None = None
    ) -> list[EdgeRow]:
        """See `EdgeRows.listed`."""
        key = _KEYS[order]
        conditions, values = [_among("status", where.statuses)], list[Any](where.statuses)
        if where.kinds:
            conditions.append(_among("kind", where.kinds))
            values += where.kinds
        if where.node is not None:
            conditions.append("(source = ? OR target = ?)")
            values += [where.node, where.node]
        if where.files_only:
            conditions.append("(source % 4 = ? AND target % 4 = ? OR status != ? OR origin = ?)")
            values += [NodeTable.FILE, NodeTable.FILE, EdgeStatus.CANDIDATE, Origin.DECLARED]
        if after is not None:
            conditions.append(f"({key} < ? OR ({key} = ? AND id > ?))")
            values += [after[0], *after]
        rows = self._connection.execute(
            f"{SELECT_EDGE} WHERE {' AND '.join(conditions)} ORDER BY {key} DESC, id LIMIT ?",
            (*values, limit),
        )
        return [read_row(row) for row in rows]

    def at(self, nodes: Collection[int], statuses: Collection[EdgeStatus]) -> list[EdgeRow]:
        """See `EdgeRows.at`."""
        found: dict[str, EdgeRow] = {}
        for end in ("source", "target"):
            query = f"{SELECT_EDGE} WHERE {_among('status', statuses)} AND {end} IN ({{}})"
            found.update((row.id, row) for row in self._chunked(query, list(nodes), tuple(statuses)))
        return [found[id] for id in sorted(found)]

    def alike(self, row: EdgeRow) -> list[EdgeRow]:
        """See `EdgeRows.alike`."""
        rows = self._connection.execute(
            f"{SELECT_EDGE} WHERE keys = ? AND together = ? AND kind = ? AND status = ? ORDER BY id LIMIT ?",
            (written_keys(row.keys), row.together, row.kind, EdgeStatus.CANDIDATE, MOST_ALIKE),
        )
        return [read_row(found) for found in rows]

    def ends(self, statuses: Collection[EdgeStatus]) -> set[int]:
        """See `EdgeRows.ends`."""
        among = _among("status", statuses)
        query = f"SELECT source FROM edge WHERE {among} UNION SELECT target FROM edge WHERE {among}"
        return {row[0] for row in self._connection.execute(query, (*statuses, *statuses))}

    def count(self, status: EdgeStatus) -> int:
        """See `EdgeRows.count`."""
        row = self._connection.execute("SELECT COUNT(*) FROM edge WHERE status = ?", (status,)).fetchone()
        return int(row[0])

    def _chunked(self, query: str, values: Collection[Any], first: Sequence[Any] = ()) -> list[EdgeRow]:
        return [read_row(row) for row in chunked(self._connection, query, values, first)]


class ListedRows:
    """Rows that were made for one question, such as those of a past moment (`graphmem.past_promotion`).

    Args:
        rows: the edges.
        former: the present id of each pair's former ids.
    """

    def __init__(self, rows: Iterable[EdgeRow], former: Mapping[str, str] | None = None) -> None:
        self._rows = {row.id: row for row in rows}
        self._former = former or {}

    def by_ids(self, ids: Iterable[str]) -> dict[str, EdgeRow]:
        """See `EdgeRows.by_ids`."""
        found = ((id, self._rows.get(self._former.get(id, id))) for id in ids)
        return {id: row for id, row in found if row is not None}

    def listed(
        self, where: RowFilter, order: EdgeOrder, limit: int, after: Place | None = None
    ) -> list[EdgeRow]:
        """See `EdgeRows.listed`."""
        placed = ((place_of(row, order), row) for row in self._rows.values() if where.takes(row))
        ranked = sorted(((-key, id, row) for (key, id), row in placed), key=lambda entry: entry[:2])
        if after is not None:
            ranked = [entry for entry in ranked if entry[:2] > (-after[0], after[1])]
        return [row for _, _, row in ranked[:limit]]

    def at(self, nodes: Collection[int], statuses: Collection[EdgeStatus]) -> list[EdgeRow]:
        """See `EdgeRows.at`."""
        wanted = set(nodes)
        found = (row for row in self._rows.values() if row.status in statuses)
        return sorted((row for row in found if wanted & {row.source, row.target}), key=lambda row: row.id)

    def alike(self, row: EdgeRow) -> list[EdgeRow]:
        """See `EdgeRows.alike`."""
        same = (row.keys, row.together, row.kind, EdgeStatus.CANDIDATE)
        alike = (
            found
            for found in self._rows.values()
            if (found.keys, found.together, found.kind, found.status) == same
        )
        return sorted(alike, key=lambda found: found.id)[:MOST_ALIKE]

    def ends(self, statuses: Collection[EdgeStatus]) -> set[int]:
        """See `EdgeRows.ends`."""
        rows = [row for row in self._rows.values() if row.status in statuses]
        return {end for row in rows for end in (row.source, row.target)}

    def count(self, status: EdgeStatus) -> int:
        """See `EdgeRows.count`."""
        return sum(row.status == status for row in self._rows.values())


def _is_loose(row: EdgeRow) -> bool:
    """Return whether a row is a suggestion that is not between two files."""
    files = table_of(row.source) is table_of(row.target) is NodeTable.FILE
    return not files and row.status == EdgeStatus.CANDIDATE and row.origin != Origin.DECLARED


def _among(column: str, values: Collection[Any]) -> str:
    return f"edge.{column} IN ({','.join('?' * len(values))})"
