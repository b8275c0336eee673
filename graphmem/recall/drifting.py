"""Owns the account of drift for the outside: what the history and the working tree tell, named and cut.

It is not what counts as drift (`graphmem.drift`) nor the looking through the tree (`graphmem.working_tree`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from graphmem import drift as found
from graphmem.drift import ChangedFile, Drift, LostContract, OutdatedConsumer
from graphmem.graph import Edge, EdgeFilter, EdgePage, Node
from graphmem.nodes import NodeTable, number_of
from graphmem.postings import View
from graphmem.recall.activity import replacement
from graphmem.recall.edges import Edges
from graphmem.recall.queue import edge_page
from graphmem.recall.survey import living_paths
from graphmem.working_tree import WorkingTree, gone, needles

_CONTRACTS = 200
_PROPOSED = 3


def drift(edges: Edges, tree: WorkingTree, folder: str | None, limit: int) -> Drift:
    """Return where memory and code moved apart, at most `limit` of each; without a folder by history."""
    view = edges.view
    changed, consumers = found.changed_files(view), found.outdated_consumers(view)
    apart = found.apart_edges(view)
    lost, complete = _lost(view, tree, folder)
    held = None if folder is None else tree.held(folder)
    away = [] if folder is None else tree.off_branch(folder, living_paths(view))
    files = {path: view.file(path) for path in away[:limit]}
    numbers = {file.id for file in files.values() if file is not None}
    numbers.update(row.file for row in changed[:limit])
    numbers.update(row.file for row in consumers[:limit])
    nodes = _nodes(edges, numbers)
    return Drift(
        counts={
            "changed_files": len(changed),
            "lost_contracts": len(lost),
            "outdated_consumers": len(consumers),
            "apart_edges": len(apart),
            "off_branch": len(away),
        },
        changed_files=tuple(
            ChangedFile(nodes[row.file], row.statements, row.changes, row.since)
            for row in changed[:limit]
            if row.file in nodes
        ),
        lost_contracts=tuple(lost[:limit]),
        outdated_consumers=tuple(
            OutdatedConsumer(nodes[row.file], row.contract, row.superseded_by, row.last_seen)
            for row in consumers[:limit]
            if row.file in nodes
        ),
        apart_edges=tuple(_apart(edges, apart[:limit])),
        off_branch=tuple(nodes[file.id] for file in files.values() if file is not None and file.id in nodes),
        branch=None if held is None else held.branch,
        complete=complete,
    )


def review_page(
    edges: Edges, where: EdgeFilter, node: int | None, limit: int, cursor: str | None
) -> EdgePage:
    """Return a page of edges; the review queue begins with confirmed edges to look at again."""
    default = EdgeFilter()
    is_queue = where == default and node is None and cursor is None and edges.view.as_of == math.inf
    again = _apart(edges, found.apart_edges(edges.view)[: min(_PROPOSED, limit - 1)]) if is_queue else []
    page = edge_page(edges, where, node, limit - len(again), cursor)
    return replace(page, items=(*again, *page.items))


def _apart(edges: Edges, rows: Sequence[found.ApartRow]) -> list[Edge]:
    known = edges.by_ids([row.id for row in rows]) if rows else {}
    return [replace(known[row.id], reason=found.apart_reason(row)) for row in rows if row.id in known]


def _lost(view: View, tree: WorkingTree, folder: str | None) -> tuple[list[LostContract], bool]:
    """Return the contracts whose text the tree holds no more, and whether it was read whole."""
    if folder is None:
        return [], True
    rows = view.connection.execute(
        "SELECT name, contract, MAX(at) FROM contract_use JOIN contract ON contract.id = contract"
        " JOIN observation USING (seq) GROUP BY contract ORDER BY MAX(at) DESC, name LIMIT ?",
        (_CONTRACTS,),
    ).fetchall()
    seen = {name: at for name, contract, at in rows if not _is_replaced(view, name, contract)}
    texts = {text for name in seen for text in needles(name) or ()}
    if not texts:
        return [], True
    lost, complete = tree.lost(folder, texts)
    return [LostContract(name, seen[name]) for name in gone(seen, lost)] if complete else [], complete


def _is_replaced(view: View, name: str, contract: int) -> bool:
    told = view.connection.execute(
        "SELECT superseded_by, at FROM contract_use JOIN observation USING (seq) WHERE contract = ?"
        " AND superseded_by IS NOT NULL ORDER BY at DESC, seq DESC",
        (contract,),
    ).fetchall()
    return replacement(view, name, told) is not None


def _nodes(edges: Edges, files: Iterable[int]) -> dict[int, Node]:
    by_number = {number_of(NodeTable.FILE, file): file for file in files}
    return {by_number[number]: node for number, node in edges.references.nodes(by_number).items()}
