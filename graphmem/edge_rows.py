"""Owns the rows of the table `edge`: what an edge is, given its pair, its evidence and the verdicts on it.

It is not which pairs are promoted (`inference.promotion`) nor when rows are made anew (`promotion`). A row is
a function of the journal alone: no clock, no numbering and no order of arrival has a part in it.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from graphmem.database import chunked
from graphmem.edge_facts import (
    EdgeFacts,
    StoredOffers,
    Support,
    read_keys,
    stored_standings,
    written_keys,
)
from graphmem.graph import EdgeKind, EdgeStatus, Origin
from graphmem.instant import to_iso
from graphmem.postings import View
from graphmem.verdicts import Standing, has_outgrown
from inference.review import value


class MintedPair(NamedTuple):
    """A minted edge: its id, its ends as nodes, and its place in the order of minting."""

    id: str
    source: int
    target: int
    number: int

    @property
    def pair(self) -> tuple[int, int]:
        """Both nodes, the lower number first."""
        return min(self.source, self.target), max(self.source, self.target)


class EdgeRow(NamedTuple):
    """A row of the table `edge`, its fields those of the table.

    `source` and `target` are nodes; `kind`, `status`, `origin`, `relation` and `direction` are values of the
    enumerations in `graphmem.graph`. `keys` are up to three numbers of observations, the newest first.
    """

    id: str
    source: int
    target: int
    kind: str
    status: str
    origin: str
    probability: float
    value: float
    relation: str | None
    direction: str | None
    together: int
    of: int
    sessions: int
    last_seen: float | None
    keys: tuple[int, ...]
    file: float
    concept: float
    temporal: float
    updated_at: float
    reason: str | None


_FADED = "too little speaks for it by now: it is listed no more"
_KEYS = EdgeRow._fields.index("keys")
_COLUMNS = ", ".join(f"edge.{name}" for name in EdgeRow._fields)
SELECT_EDGE = f"SELECT {_COLUMNS} FROM edge"
"""Beginning of a query whose rows `read_row` takes."""


class Settled(NamedTuple):
    """How many rows were created, updated and dropped."""

    created: int = 0
    updated: int = 0
    retired: int = 0

    def plus(self, other: Settled) -> Settled:
        """Return both together."""
        return Settled(*(a + b for a, b in zip(self, other, strict=True)))


def read_row(values: Sequence[Any]) -> EdgeRow:
    """Return a row of the table, read with `SELECT_EDGE`."""
    row = EdgeRow._make(values)
    return row._replace(keys=read_keys(values[_KEYS]))


# ---- the rules ---------------------------------------------------------------------------------


def edge_row(edge: MintedPair, facts: EdgeFacts) -> EdgeRow | None:
    """Return the row of an edge, None for one that is neither promoted nor judged."""
    promoted = facts.is_promoted(edge.source, edge.target)
    if facts.standing(edge.id).status is None and not promoted:
        return None
    return _row(edge, facts, promoted=promoted)


def faded_rows(connection: sqlite3.Connection, ids: Iterable[str]) -> dict[str, EdgeRow]:
    """Return what there is to say of minted edges without a row; ids that were never minted are left out.

    Such an edge is what is left when the last verdict on a pair was undone that nothing else speaks for.
    """
    rows = chunked(connection, "SELECT id, source, target, number FROM minted WHERE id IN ({})", ids)
    edges = [MintedPair._make(row) for row in rows]
    standings = stored_standings(connection, (edge.id for edge in edges))
    facts = EdgeFacts(View(connection, math.inf), StoredOffers(connection), standings)
    return {edge.id: _row(edge, facts, promoted=False)._replace(reason=_FADED) for edge in edges}


def _row(edge: MintedPair, facts: EdgeFacts, *, promoted: bool) -> EdgeRow:
    standing = facts.standing(edge.id)
    declared = standing.origin is Origin.DECLARED
    support = facts.support(edge.source, edge.target, declared=declared)
    status, reason = _status(edge, facts, standing, support, promoted=promoted)
    probability = support.probability
    return EdgeRow(
        id=edge.id,
        source=edge.source,
        target=edge.target,
        kind=support.kind or EdgeKind.DECLARED.value,
        status=status.value,
        origin=standing.origin.value,
        probability=probability,
        value=value(
            probability,
            max(support.file, support.temporal) or probability,
            facts.traffic(edge.source, edge.target),
        ),
        relation=None if standing.relation is None else standing.relation.value,
        direction=None if standing.direction is None else standing.direction.value,
        together=support.together,
        of=support.of,
        sessions=support.sessions,
        last_seen=support.last_seen,
        keys=support.keys,
        file=support.file,
        concept=support.concept,
        temporal=support.temporal,
        updated_at=max(support.last_seen or 0.0, standing.at),
        reason=reason,
    )


def _status(
    edge: MintedPair, facts: EdgeFacts, standing: Standing, support: Support, *, promoted: bool
) -> tuple[EdgeStatus, str | None]:
    match standing.status:
        case None:
            return EdgeStatus.CANDIDATE, None
        case EdgeStatus.REJECTED if promoted:
            now = facts.together(edge.source, edge.target)
            if not has_outgrown(standing, now):
                return EdgeStatus.REJECTED, None
            return EdgeStatus.CANDIDATE, (
                f"rejected on {_day(standing.at)} with {standing.together} joint observations;"
                f" now there are {now}"
            )
        case EdgeStatus.CONFIRMED if edge.source == edge.target:
            return EdgeStatus.STALE, "both ends turned out to be the same"
        case EdgeStatus.CONFIRMED:
            declared = standing.origin is Origin.DECLARED
            for node in (edge.source, edge.target):
                trouble = facts.trouble(node, declared=declared)
                if trouble is not None:
                    return EdgeStatus.STALE, trouble
            if not declared and support.kind is None:
                return EdgeStatus.STALE, "no observation holds both ends any more"
            return EdgeStatus.CONFIRMED, None
        case decided:
            return decided, None


def _day(at: float) -> str:
    return to_iso(at)[:10]


def edge_rows(edges: Iterable[MintedPair], facts: EdgeFacts) -> dict[str, EdgeRow | None]:
    """Return the row of each edge, None where it has none.

    Of several ids of one pair that one has the row which speaks for it, see `minting.canonical`.
    """
    by_pair: dict[tuple[int, int], list[MintedPair]] = {}
    for edge in edges:
        by_pair.setdefault(edge.pair, []).append(edge)
    facts.expect(node for pair in by_pair for node in pair)
    rows: dict[str, EdgeRow | None] = {}
    for alike in by_pair.values():
        speaking = min(alike, key=partial(_rank, facts))
        rows.update(dict.fromkeys(edge.id for edge in alike))
        rows[speaking.id] = edge_row(speaking, facts)
    return rows


def _rank(facts: EdgeFacts, edge: MintedPair) -> tuple[bool, float, int]:
    standing = facts.standing(edge.id)
    return standing.status is None, standing.number or math.inf, edge.number


# ---- the table ---------------------------------------------------------------------------------


def settle(connection: sqlite3.Connection, ids: Iterable[str]) -> Settled:
    """Write the rows of the pairs of these edges as they are now; a row that stays the same is not touched.

    Ids that were taken back lose their row. The other ids of each pair are settled too.
    """
    wanted = list(dict.fromkeys(ids))
    edges = minted_alike(connection, wanted)
    standings = stored_standings(connection, (edge.id for edge in edges))
    facts = EdgeFacts(View(connection, math.inf), StoredOffers(connection), standings)
    return _write(connection, dict.fromkeys(wanted) | edge_rows(edges, facts))


def minted_alike(connection: sqlite3.Connection, ids: Iterable[str]) -> list[MintedPair]:
    """Return the minted edges of these ids, and all others of the same pairs, in no certain order."""
    named = chunked(connection, "SELECT source, target FROM minted WHERE id IN ({})", ids)
    pairs = {(min(pair), max(pair)) for pair in named}
    found: dict[str, MintedPair] = {}
    for pair in pairs:
        rows = connection.execute(
            "SELECT id, source, target, number FROM minted WHERE source = ? AND target = ? UNION ALL"
            " SELECT id, source, target, number FROM minted WHERE source = ? AND target = ?",
            (*pair, *pair[::-1]),
        )
        found.update((row[0], MintedPair._make(row)) for row in rows)
    return list(found.values())


def _write(connection: sqlite3.Connection, rows: Mapping[str, EdgeRow | None]) -> Settled:
    stored = {
        values[0]: read_row(values)
        for values in chunked(connection, f"{SELECT_EDGE} WHERE id IN ({{}})", rows)
    }
    changed = {id: row for id, row in rows.items() if row != stored.get(id)}
    dropped = [(id,) for id, row in changed.items() if row is None]
    connection.executemany("DELETE FROM edge WHERE id = ?", dropped)
    written = [row for row in changed.values() if row is not None]
    marks = ", ".join("?" * len(EdgeRow._fields))
    connection.executemany(
        f"INSERT OR REPLACE INTO edge ({', '.join(EdgeRow._fields)}) VALUES ({marks})",
        [row._replace(keys=written_keys(row.keys)) for row in written],  # type: ignore[arg-type]
    )
    connection.executemany("INSERT INTO graph_log (edge) VALUES (?)", [(id,) for id in sorted(changed)])
    created = sum(row.id not in stored for row in written)
    return Settled(created, len(written) - created, len(dropped))
