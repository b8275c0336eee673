"""Owns what people see of an edge: both ends by name, evidence with its observations, the verdicts on it.

It is not the list of edges with its order and pages (that is `queue`), nor where edges come from
(`graphmem.promotion`) or are read from (`rows`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from graphmem.edge_rows import EdgeRow, faded_rows
from graphmem.errors import NotFoundError, UnavailableError
from graphmem.graph import Direction, Edge, EdgeKind, EdgeStatus, Node, NodeType, Origin, Relation, Verdict
from graphmem.ledger import Ledger
from graphmem.model import Evidence, SignalScores
from graphmem.postings import View
from graphmem.proposals import NOTHING_PROPOSED, proposed
from graphmem.recall.rows import EdgeRows, TableRows
from graphmem.record import storable
from graphmem.references import Missing, References, none_missing

_LEAST_SHARED = 3
_NEAR = 12
_OFFERED = 3
_SHOWN_LENGTH = 80
_ASKED = (EdgeStatus.CANDIDATE, EdgeStatus.CONFIRMED)


Seen = Callable[[str, str], bool | None]


def never_looked(one: str, other: str) -> bool | None:
    """Return that nobody knows whether one file imports the other."""
    return None


class Edges:
    """The edges of one moment, as people see them.

    Args:
        view: the postings, cut at the moment asked about.
        ledger: the verdicts; those given later than that moment do not exist.
        missing: tells which of some paths were once seen on the disk and are there no more.
        rows: the edges of a past moment; those of the table if not given.
        seen: tells whether either of two files imports the other, None where that is not known.
    """

    def __init__(
        self,
        view: View,
        ledger: Ledger,
        missing: Missing = none_missing,
        rows: EdgeRows | None = None,
        seen: Seen = never_looked,
    ) -> None:
        self.view = view
        self.rows: EdgeRows = TableRows(view) if rows is None else rows
        self.missing = missing
        self.references = References(view, missing)
        self._ledger = ledger
        self._seen = seen

    def edge(self, id: str) -> Edge:
        """Return an edge; a former id of a pair gives the edge that the pair has now.

        Raises:
            NotFoundError: there is none of that id.
        """
        wanted = storable(id)
        found = self.by_ids((wanted,)).get(wanted)
        if found is None:
            raise self._unknown(wanted)
        return found

    def by_ids(self, ids: Iterable[str]) -> dict[str, Edge]:
        """Return these edges by the ids given; unknown ones are left out."""
        rows = self.rows.by_ids(ids)
        edges = {edge.id: edge for edge in self.of(list(rows.values()))}
        return {id: edges[row.id] for id, row in rows.items() if row.id in edges}

    def judged(self, ids: Sequence[str]) -> tuple[Edge, ...]:
        """Return minted edges in the order of their ids, also those that too little speaks for to be listed.

        Raises:
            UnavailableError: the postings do not hold all of them yet.
        """
        rows = self.rows.by_ids(ids)
        rows |= faded_rows(self.view.connection, [id for id in ids if id not in rows])
        edges = {edge.id: edge for edge in self.of(list(rows.values()))}
        if any(id not in rows or rows[id].id not in edges for id in ids):
            raise UnavailableError(
                "What was decided is kept, but edges are still being built anew; ask for them in a moment."
            )
        return tuple(edges[rows[id].id] for id in ids)

    def of(self, rows: Sequence[EdgeRow], similar: Mapping[str, Sequence[str]] | None = None) -> list[Edge]:
        """Return rows as people see them, in their order.

        Args:
            rows: a row of which an end is unknown at the view's moment is left out.
            similar: edges that were folded into one of these, by its id.
        """
        nodes = self.references.nodes(end for row in rows for end in (row.source, row.target))
        heads = self.view.heads(dict.fromkeys(key for row in rows for key in row.keys))
        observations = {head.seq: head.id for head in heads}
        histories = self._ledger.history(row.id for row in rows)
        folded = similar or {}
        return [
            _edge(
                row,
                (nodes[row.source], nodes[row.target]),
                tuple(observations[key] for key in row.keys if key in observations),
                tuple(given for given in histories.get(row.id, ()) if given.at <= self.view.as_of),
                tuple(folded.get(row.id, ())),
                self._seen_in_code(nodes[row.source], nodes[row.target]),
            )
            for row in rows
            if row.source in nodes and row.target in nodes
        ]

    def _seen_in_code(self, source: Node, target: Node) -> bool | None:
        files = source.type is target.type is NodeType.FILE
        return self._seen(source.name, target.name) if files else None

    def _unknown(self, id: str) -> NotFoundError:
        """Return the refusal of an id, with those that begin alike."""
        nearest = self._ledger.nearest(id, _NEAR)
        alike = (minted.id for minted in nearest if minted.id[:_LEAST_SHARED] == id[:_LEAST_SHARED])
        near = list(self.by_ids(alike).items())[:_OFFERED]
        candidates = tuple(candidate for candidate, _ in near)
        if self.view.as_of != math.inf:
            sentence = f"No edge {_shown(id)} was known at that moment"
        elif self._ledger.edge(id) is not None:
            sentence = f"The edge {id} has faded: what spoke for it is gone or too weak by now"
        else:
            sentence = f"There is no edge {_shown(id)}"
        if not near:
            return NotFoundError(f"{sentence}; list the others with `graphmem edges`.")
        named = ", ".join(f"{key} ({edge.source.ref} - {edge.target.ref})" for key, edge in near)
        return NotFoundError(f"{sentence}; the nearest: {named}.", candidates=candidates)


def _shown(id: str) -> str:
    return repr(id if len(id) <= _SHOWN_LENGTH else f"{id[: _SHOWN_LENGTH - 1]}…")


def _edge(
    row: EdgeRow,
    ends: tuple[Node, Node],
    observations: tuple[str, ...],
    verdicts: tuple[Verdict, ...],
    similar: tuple[str, ...],
    seen_in_code: bool | None,
) -> Edge:
    asked = row.relation is None and row.status in _ASKED
    guess = proposed(*ends) if asked else NOTHING_PROPOSED
    return Edge(
        id=row.id,
        kind=EdgeKind(row.kind),
        source=ends[0],
        target=ends[1],
        status=EdgeStatus(row.status),
        origin=Origin(row.origin),
        probability=row.probability,
        value=row.value,
        evidence=Evidence(row.together, row.of, row.sessions, row.last_seen, observations),
        score=SignalScores(row.file, row.concept, row.temporal),
        updated_at=row.updated_at,
        relation=None if row.relation is None else Relation(row.relation),
        direction=None if row.direction is None else Direction(row.direction),
        proposed_relation=guess.relation,
        proposed_direction=guess.direction,
        proposed_because=guess.because,
        verdicts=verdicts,
        reason=row.reason,
        similar=similar,
        seen_in_code=seen_in_code,
    )
