"""Owns what is shown of modules: pages of them, one in full, and how many files belong to none.

It is not how they come about (`graphmem.modules`). Rows come from the derived file; who its members are, the
caller asks the graph.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from graphmem.errors import NotFoundError
from graphmem.graph import Module, ModulePage, Node, NodeName, NodeType
from graphmem.nodes import NodeTable
from graphmem.postings import View
from graphmem.recall.page import decode_cursor, encode_cursor
from graphmem.references import References

Members = Callable[[str], Sequence[int]]
"""Returns the nodes of a module."""

_SELECT = (
    "SELECT module.id, label, module.level, parent, COUNT(member.node) AS size, summary, key_files,"
    " contracts, recent, cohesion, built_at, lineage, SUM(file.id IS NOT NULL) AS files,"
    " SUM(file.heat_at > built_at) AS changed"
    " FROM module LEFT JOIN member ON member.module = module.id"
    f" LEFT JOIN file ON member.node % 4 = {NodeTable.FILE:d} AND file.id = member.node / 4"
)


class _Row(NamedTuple):
    id: str
    label: str
    level: int
    parent: str | None
    size: int
    summary: str
    key_files: str
    contracts: str
    recent: str
    cohesion: float
    built_at: float
    lineage: str
    files: int | None
    changed: int | None


def page(
    references: References, view: View, members: Members, level: int, limit: int, cursor: str | None = None
) -> ModulePage:
    """Return modules of a level (0 the modules, 1 the parts of large ones), the largest first, then by id.

    Raises:
        InvalidInputError: the cursor is of another list.
    """
    condition, values = "", list[Any]((level,))
    if cursor is not None:
        size, id = decode_cursor(cursor, str)
        condition, values = "HAVING size < ? OR (size = ? AND module.id > ?)", [level, size, size, id]
    rows = [
        _Row._make(row)
        for row in view.connection.execute(
            f"{_SELECT} WHERE module.level = ? GROUP BY module.id {condition}"
            " ORDER BY size DESC, module.id LIMIT ?",
            (*values, limit + 1),
        )
    ]
    last = rows[limit - 1] if len(rows) > limit else None
    return ModulePage(
        items=tuple(_filled(row, _nodes(references, members(row.id))) for row in rows[:limit]),
        next_cursor=None if last is None else encode_cursor(last.size, last.id),
        unattached=unattached(view),
    )


def module(references: References, view: View, members: Members, id: str) -> Module:
    """Return one module.

    Raises:
        NotFoundError: there is none of that id, with the nearest ids.
    """
    row = view.connection.execute(f"{_SELECT} WHERE module.id = ? GROUP BY module.id", (id,)).fetchone()
    if row is None:
        candidates = references.nearest(NodeName(NodeType.MODULE, id))
        raise NotFoundError(
            f"There is no module {id[:64]!r}; list them with `graphmem modules`.", candidates=candidates
        )
    return _filled(_Row._make(row), _nodes(references, members(id)))


def unattached(view: View) -> int:
    """Return how many files belong to no module; what is gone, or noise, is not counted."""
    row = view.connection.execute(
        "SELECT COUNT(*) FROM file WHERE alive = 1 AND noise IS NULL"
        " AND id * 4 + ? NOT IN (SELECT node FROM member WHERE level = 0)",
        (NodeTable.FILE,),
    ).fetchone()
    return int(row[0])


def _nodes(references: References, members: Sequence[int]) -> tuple[Node, ...]:
    """Return nodes as people know them, files first, each kind by name."""
    found = references.nodes(members).values()
    return tuple(sorted(found, key=lambda node: (node.type is not NodeType.FILE, node.type, node.name)))


def _filled(row: _Row, members: tuple[Node, ...]) -> Module:
    return Module(
        id=row.id,
        label=row.label,
        level=row.level,
        parent=row.parent,
        size=row.size,
        members=members,
        summary=row.summary,
        key_files=tuple(json.loads(row.key_files)),
        contracts=tuple(json.loads(row.contracts)),
        recent=tuple(json.loads(row.recent)),
        cohesion=row.cohesion,
        built_at=row.built_at,
        drift=(row.changed or 0) / (row.files or 1),
        lineage=tuple(json.loads(row.lineage)),
    )
