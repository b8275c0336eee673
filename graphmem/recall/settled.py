"""Owns what is settled about the files around some queried ones: their edges, and what verdicts say of them.

It is not the ranking (`predictor`) nor the answer (`impact`). Verdicts count from their own time on: a past
moment knows those given by then.
"""

from __future__ import annotations

import math
from collections.abc import Collection

from graphmem.edge_rows import EdgeRow
from graphmem.graph import EdgeKind, EdgeStatus, Relation
from graphmem.ledger import Ledger
from graphmem.nodes import NodeTable, number_of, row_of, table_of
from graphmem.postings import View
from graphmem.recall.rows import TableRows, graph_edge
from graphmem.store.arcs import arcs_of
from graphmem.verdicts import standing

RULED_OUT = frozenset({EdgeStatus.REJECTED, EdgeStatus.RETIRED})
_ORDER = (
    EdgeStatus.CONFIRMED,
    EdgeStatus.CANDIDATE,
    EdgeStatus.STALE,
    EdgeStatus.REJECTED,
    EdgeStatus.RETIRED,
)
_DOES = {
    Relation.DEPENDS_ON: "depends on it",
    Relation.TESTS: "tests it",
    Relation.DOCUMENTS: "documents it",
    Relation.CONFIGURES: "configures it",
    Relation.IMPLEMENTS: "implements it",
}


def edges_around(view: View, files: Collection[int], ledger: Ledger | None) -> dict[int, EdgeRow]:
    """Return for each other file the edge between it and one of these; of several the best that stands.

    An edge somebody still stands by goes before one that was ruled out: what another of the queried files
    has to do with the file is not settled by that.

    Args:
        view: the postings, cut at the moment asked about.
        files: rows of the queried files.
        ledger: the verdicts; asked for a past moment only, of which rows without a verdict are left out.
    """
    known = {number_of(NodeTable.FILE, file) for file in files}
    if view.as_of == math.inf:
        rows = TableRows(view).at(known, tuple(EdgeStatus))
    else:
        rows = [] if ledger is None else _judged_by(view, known, ledger)
    found: dict[int, EdgeRow] = {}
    for row in sorted(rows, key=lambda row: (_ORDER.index(EdgeStatus(row.status)), -row.probability, row.id)):
        other = row.target if row.source in known else row.source
        if other not in known and table_of(other) is NodeTable.FILE:
            found.setdefault(row_of(other), row)
    return found


def clause(row: EdgeRow, other: int) -> str | None:
    """Return what a confirmed edge makes of the other file, as a clause; None where that depends on nothing.

    What the queried file depends on itself need not follow a change of it.
    """
    dependents = {arc.source for arc in arcs_of(graph_edge(row))}
    if not dependents:
        return "linked, confirmed"
    if number_of(NodeTable.FILE, other) not in dependents or row.relation is None:
        return None
    return f"{_DOES[Relation(row.relation)]}, confirmed"


def _judged_by(view: View, nodes: Collection[int], ledger: Ledger) -> list[EdgeRow]:
    """Return rows without evidence of the pairs that had been decided on by the view's moment."""
    places = ",".join("?" * len(nodes))
    ends = view.connection.execute(
        f"SELECT id, source, target FROM minted WHERE source IN ({places})"
        f" UNION SELECT id, source, target FROM minted WHERE target IN ({places})",
        (*nodes, *nodes),
    ).fetchall()
    histories = ledger.history(row[0] for row in ends)
    found: list[EdgeRow] = []
    for id, source, target in ends:
        given = [verdict for verdict in histories.get(id, ()) if verdict.at <= view.as_of]
        now = standing(given)
        if now.status is not None:
            found.append(
                EdgeRow(
                    id=id,
                    source=source,
                    target=target,
                    kind=EdgeKind.DECLARED,
                    status=now.status,
                    origin=now.origin,
                    probability=0.0,
                    value=0.0,
                    relation=now.relation,
                    direction=now.direction,
                    together=0,
                    of=0,
                    sessions=0,
                    last_seen=None,
                    keys=(),
                    file=0.0,
                    concept=0.0,
                    temporal=0.0,
                    updated_at=now.at,
                    reason=None,
                )
            )
    return found
