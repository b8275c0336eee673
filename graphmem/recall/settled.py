"""Owns what is settled about the files around some queried ones: their edges, and what verdicts say of them.

It is not the ranking (`predictor`) nor the answer (`impact`). Verdicts count from their own time on: a past
moment knows those given by then.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable

from graphmem.edge_rows import EdgeRow
from graphmem.graph import Direction, EdgeKind, EdgeStatus, Relation
from graphmem.ledger import Ledger
from graphmem.model import Evidence, SignalScores
from graphmem.nodes import NodeTable, number_of, row_of, table_of
from graphmem.postings import View
from graphmem.recall.rows import TableRows
from graphmem.store.arcs import arcs_of
from graphmem.store.port import GraphEdge
from graphmem.verdicts import standing

RULED_OUT = frozenset({EdgeStatus.REJECTED, EdgeStatus.RETIRED})
_ORDER = {
    status: place for place, status in enumerate(("confirmed", "candidate", "stale", "rejected", "retired"))
}
_DOES = {
    Relation.DEPENDS_ON: "depends on it",
    Relation.TESTS: "tests it",
    Relation.DOCUMENTS: "documents it",
    Relation.CONFIGURES: "configures it",
    Relation.IMPLEMENTS: "implements it",
}
_END = "SELECT id, source, target, kind, status, probability, relation, direction FROM edge WHERE {} IN ({})"


def edges_around(view: View, files: Collection[int], ledger: Ledger | None) -> dict[int, GraphEdge]:
    """Return for each other file the edge between it and one of these; of several the best that stands.

    An edge somebody still stands by goes before one that was ruled out: what another of the queried files
    has to do with the file is not settled by that.

    Args:
        view: the postings, cut at the moment asked about.
        files: rows of the queried files.
        ledger: the verdicts; asked for a past moment only, of which edges without a verdict are left out.
    """
    known = {number_of(NodeTable.FILE, file) for file in files}
    if view.as_of == math.inf:
        edges = _of_now(view, known)
    else:
        edges = [] if ledger is None else _judged_by(view, known, ledger)
    found: dict[int, GraphEdge] = {}
    for edge in sorted(edges, key=lambda edge: (_ORDER[edge.status], -edge.probability, edge.id)):
        other = edge.target if edge.source in known else edge.source
        if other not in known and table_of(other) is NodeTable.FILE:
            found.setdefault(row_of(other), edge)
    return found


def clause(edge: GraphEdge, other: int) -> str | None:
    """Return what a confirmed edge makes of the other file, as a clause; None where that depends on nothing.

    What the queried file depends on itself need not follow a change of it.
    """
    dependents = {arc.source for arc in arcs_of(edge)}
    if not dependents or edge.relation is None:
        return "linked"
    if number_of(NodeTable.FILE, other) not in dependents:
        return None
    return _DOES[edge.relation]


def stored(view: View, edges: Iterable[GraphEdge]) -> dict[str, EdgeRow]:
    """Return the rows of these edges, which hold evidence; of a past moment none is known."""
    ids = [edge.id for edge in edges]
    return TableRows(view).by_ids(ids) if ids and view.as_of == math.inf else {}


def support_of(row: EdgeRow | None, observations: dict[int, str]) -> tuple[Evidence, SignalScores]:
    """Return evidence and scores of a row, none without one; `observations` names them by number."""
    if row is None:
        return Evidence(0, 0, 0, None, ()), SignalScores(0.0, 0.0, 0.0)
    seen = tuple(observations[key] for key in row.keys if key in observations)
    evidence = Evidence(row.together, row.of, row.sessions, row.last_seen, seen)
    return evidence, SignalScores(row.file, row.concept, row.temporal)


def _of_now(view: View, nodes: Collection[int]) -> list[GraphEdge]:
    places = ",".join("?" * len(nodes))
    rows = [
        row
        for end in ("source", "target")
        for row in view.connection.execute(_END.format(end, places), tuple(nodes))
    ]
    return [
        GraphEdge(
            id,
            source,
            target,
            EdgeKind(kind),
            EdgeStatus(status),
            probability,
            None if relation is None else Relation(relation),
            None if direction is None else Direction(direction),
        )
        for id, source, target, kind, status, probability, relation, direction in rows
    ]


def _judged_by(view: View, nodes: Collection[int], ledger: Ledger) -> list[GraphEdge]:
    """Return the edges that had been decided on by the view's moment; how probable they were is not known."""
    places = ",".join("?" * len(nodes))
    ends = view.connection.execute(
        f"SELECT id, source, target FROM minted WHERE source IN ({places})"
        f" UNION SELECT id, source, target FROM minted WHERE target IN ({places})",
        (*nodes, *nodes),
    ).fetchall()
    histories = ledger.history(row[0] for row in ends)
    found: list[GraphEdge] = []
    for id, source, target in ends:
        now = standing([given for given in histories.get(id, ()) if given.at <= view.as_of])
        if now.status is not None:
            edge = GraphEdge(
                id, source, target, EdgeKind.DECLARED, now.status, 0.0, now.relation, now.direction
            )
            found.append(edge)
    return found
