"""Owns what is known of pairs of nodes at one moment: names, lives, offers, joint observations, verdicts.

It is not what an edge becomes by it (that is `edge_rows`) nor where offers come from (`promotion`). The same
facts are read of the present from the tables and of a past moment from what was worked out for it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol

from graphmem.database import chunked
from graphmem.graph import Direction, EdgeKind, EdgeStatus, NodeName, NodeType, Origin, Relation
from graphmem.instant import to_iso
from graphmem.nodes import NodeTable, number_of, row_of, table_of
from graphmem.postings import View
from graphmem.verdicts import Standing
from inference.activity import cooled
from inference.cochange import KEYS, pair_evidence
from inference.concepts import cosine
from inference.evidence import FileHistory
from inference.lineage import Change
from inference.promotion import CO_CHANGES, FOLLOWED_BY, READ_FOR, Offer, kept, merged, orientation
from inference.sequence import follow_sightings, read_sightings
from inference.topics import ABOUT, RELATED, kept_topics

_UNDECIDED = Standing()
TOPICS = (ABOUT, RELATED)
_HOLDING = {
    NodeTable.FILE: "SELECT occasion FROM touch WHERE file = ? AND touch.at <= ? AND repeated = 0",
    NodeTable.CONCEPT: "SELECT occasion FROM concept_use WHERE concept = ? AND at <= ? AND repeated = 0",
    NodeTable.CONTRACT: "SELECT occasion FROM contract_use JOIN observation USING (seq)"
    " WHERE contract = ? AND at <= ?",
}
_LAST_CHANGE = (
    "SELECT at FROM touch WHERE file = ? AND at <= ? AND change != ? AND repeated = 0"
    " ORDER BY at DESC, seq DESC LIMIT 1"
)
_NAMES = {
    NodeTable.CONCEPT: "SELECT id, 'concept', name FROM concept WHERE id IN ({})",
    NodeTable.CONTRACT: "SELECT id, 'contract', name FROM contract WHERE id IN ({})",
    NodeTable.NAMED: "SELECT id, type, name FROM named WHERE id IN ({})",
}


class Support(NamedTuple):
    """What speaks for a pair, see `inference.promotion.Offer`; `kind` is None when nothing does."""

    kind: str | None = None
    probability: float = 0.0
    file: float = 0.0
    concept: float = 0.0
    temporal: float = 0.0
    together: int = 0
    of: int = 0
    sessions: int = 0
    last_seen: float | None = None
    keys: tuple[int, ...] = ()


class Offers(Protocol):
    """All offers of one moment."""

    def incident(self, node: int) -> list[Offer]:
        """Return what a node offers and where it is offered, in any order."""


class StoredOffers:
    """The offers in the table `offer`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def incident(self, node: int) -> list[Offer]:
        """See `Offers.incident`."""
        rows = self._connection.execute(
            "SELECT * FROM offer WHERE source = ? UNION ALL SELECT * FROM offer WHERE target = ?",
            (node, node),
        )
        return [Offer._make((*row[:10], read_keys(row[10]))) for row in rows]


class ListedOffers:
    """Offers that were worked out for one question."""

    def __init__(self, offers: Iterable[Offer]) -> None:
        self._incident: dict[int, list[Offer]] = {}
        for offer in offers:
            self._incident.setdefault(offer.source, []).append(offer)
            self._incident.setdefault(offer.target, []).append(offer)

    def incident(self, node: int) -> list[Offer]:
        """See `Offers.incident`."""
        return self._incident.get(node, [])


def stored_standings(connection: sqlite3.Connection, edges: Iterable[str]) -> dict[str, Standing]:
    """Return where those of these edges stand that were ever judged, from the table `judgement`."""
    rows = chunked(
        connection,
        "SELECT edge, status, origin, relation, direction, together, at, number FROM judgement"
        " WHERE edge IN ({})",
        edges,
    )
    return {
        row[0]: Standing(
            None if row[1] is None else EdgeStatus(row[1]),
            Origin(row[2]),
            None if row[3] is None else Relation(row[3]),
            None if row[4] is None else Direction(row[4]),
            *row[5:],
        )
        for row in rows
    }


def read_keys(stored: str) -> tuple[int, ...]:
    """Return the numbers of observations as they are stored in `offer.keys` and `edge.keys`."""
    return tuple(map(int, stored.split()))


def written_keys(keys: Iterable[int]) -> str:
    """Return numbers of observations as they are stored."""
    return " ".join(map(str, keys))


class EdgeFacts:
    """The facts of one moment, read once each.

    Args:
        view: the postings at that moment.
        offers: all offers of that moment.
        standings: where edges stand that were judged by then.
    """

    def __init__(self, view: View, offers: Offers, standings: Mapping[str, Standing]) -> None:
        self._view = view
        self._offers = offers
        self._standings = standings
        self._names: dict[int, NodeName | None] = {}
        self._alive: dict[int, bool] = {}
        self._partners: dict[int, dict[int, list[Offer]]] = {}
        self._kept: dict[int, frozenset[tuple[int, int]]] = {}
        self._changes: dict[int, int] = {}
        self._warm: dict[int, tuple[float, float]] = {}
        self._histories: dict[int, FileHistory] = {}

    def standing(self, edge: str) -> Standing:
        """Return where an edge stands by the verdicts on it."""
        return self._standings.get(edge, _UNDECIDED)

    # ---- promotion ------------------------------------------------------------------------------

    def partners(self, node: int) -> dict[int, list[Offer]]:
        """Return the offers of each partner of a node, in both directions."""
        found = self._partners.get(node)
        if found is None:
            found = self._partners[node] = {}
            for offer in self._offers.incident(node):
                partner = offer.target if offer.source == node else offer.source
                found.setdefault(partner, []).append(offer)
        return found

    def between(self, one: int, other: int) -> list[Offer]:
        """Return what two nodes offer each other."""
        return self.partners(one).get(other, [])

    def keeps(self, node: int) -> frozenset[tuple[int, int]]:
        """Return the pairs (lower number, higher number) that a node keeps."""
        found = self._kept.get(node)
        if found is None:
            partners = self.partners(node)
            names = self.refs(partners)
            offers = [offer for given in partners.values() for offer in given]
            # Each kind by itself: a file's concepts must not crowd out its files.
            found = kept(node, (offer for offer in offers if offer.kind not in TOPICS), names)
            for kind in TOPICS:
                found |= kept_topics(node, (offer for offer in offers if offer.kind == kind), names)
            self._kept[node] = found
        return found

    def orientation(self, pair: tuple[int, int]) -> tuple[int, int]:
        """Return (source, target) for a promoted pair that is seen first; a file comes before a concept."""
        tables = {table_of(node): node for node in pair}
        if tables.keys() == {NodeTable.FILE, NodeTable.CONCEPT}:
            return tables[NodeTable.FILE], tables[NodeTable.CONCEPT]
        return orientation(self.between(*pair), self.refs(pair))

    def is_promoted(self, one: int, other: int) -> bool:
        """Return whether both ends keep the pair."""
        pair = min(one, other), max(one, other)
        return pair in self.keeps(one) and pair in self.keeps(other)

    def promoted(self, node: int) -> list[tuple[int, int]]:
        """Return the promoted pairs of a node, in order."""
        return [pair for pair in sorted(self.keeps(node)) if self.is_promoted(*pair)]

    # ---- nodes ----------------------------------------------------------------------------------

    def expect(self, nodes: Iterable[int]) -> None:
        """Read the names and lives of these nodes at once."""
        new = [node for node in dict.fromkeys(nodes) if node not in self._names]
        self._names.update(dict.fromkeys(new))
        ids: dict[NodeTable, list[int]] = {}
        for node in new:
            ids.setdefault(table_of(node), []).append(row_of(node))
        for file in self._view.files(ids.pop(NodeTable.FILE, ())).values():
            node = number_of(NodeTable.FILE, file.id)
            self._names[node] = NodeName(NodeType.FILE, file.path)
            self._alive[node] = file.alive
        for table, rows in ids.items():
            for id, type, name in chunked(self._view.connection, _NAMES[table], rows):
                self._names[number_of(table, id)] = NodeName(NodeType(type), name)

    def refs(self, nodes: Iterable[int]) -> dict[int, str]:
        """Return the references of these nodes, an empty one for what nobody knows at this moment."""
        wanted = list(nodes)
        self.expect(wanted)
        return {node: "" if (name := self._names[node]) is None else str(name) for node in wanted}

    def trouble(self, node: int, *, declared: bool) -> str | None:
        """Return why a confirmed edge with this end is stale, or None when the end is in order."""
        self.expect((node,))
        name = self._names[node]
        if table_of(node) is NodeTable.FILE and name is not None:
            return None if self._alive[node] else f"{name.name} is gone{self._since(node)}"
        lost = name is None or (table_of(node) is NodeTable.NAMED and name.type is not NodeType.FEATURE)
        if declared or not lost:
            return None
        return f"no observation names {'an end' if name is None else name.name} any more"

    def _since(self, node: int) -> str:
        at = self._view.gone_since(row_of(node))
        return "" if at is None else f" since {to_iso(at)[:10]}"

    def changes(self, node: int) -> int:
        """Return how many observations changed a file, or are about a concept; 0 for other nodes."""
        found = self._changes.get(node)
        if found is None:
            match table_of(node):
                case NodeTable.FILE:
                    found = self._view.changes(row_of(node))
                case NodeTable.CONCEPT:
                    found = self._view.frequencies((row_of(node),)).get(row_of(node), 0)
                case _:
                    found = 0
            self._changes[node] = found
        return found

    def traffic(self, one: int, other: int) -> float:
        """Return how busy two nodes are together: of files as of the later one's last change, else counted.

        No clock has a part in it, so what both histories say is all there is to it.
        """
        if not NodeTable.FILE is table_of(one) is table_of(other):
            return float(self.changes(one) + self.changes(other))
        (heat, at), (beside, then) = self._warmth(one), self._warmth(other)
        last = max(at, then)
        return cooled(heat, at, last) + cooled(beside, then, last)

    def _warmth(self, node: int) -> tuple[float, float]:
        """Return how busy a file was when it was changed last, and when that was."""
        found = self._warm.get(node)
        if found is None:
            id = row_of(node)
            key = (id, self._view.as_of, Change.READ)
            row = self._view.connection.execute(_LAST_CHANGE, key).fetchone()
            found = (0.0, 0.0) if row is None else (self._view.heat((id,), row[0])[id], row[0])
            self._warm[node] = found
        return found

    # ---- pairs ----------------------------------------------------------------------------------

    def together(self, one: int, other: int) -> int:
        """Return how many observations, bulk ones aside, hold both nodes."""
        return len(self._joint(one, other))

    def _joint(self, one: int, other: int) -> list[tuple[int, float, int]]:
        """Return number, time and session of the observations that hold both, newest first."""
        tables = table_of(one), table_of(other)
        if NodeTable.NAMED in tables:
            return []
        query = (
            "SELECT seq, at, session FROM observation WHERE pairs = 1"
            f" AND seq IN ({_HOLDING[tables[0]]} INTERSECT {_HOLDING[tables[1]]}) ORDER BY at DESC, seq DESC"
        )
        until = self._view.as_of
        return self._view.connection.execute(query, (row_of(one), until, row_of(other), until)).fetchall()

    def support(self, source: int, target: int, *, declared: bool = False) -> Support:
        """Return what speaks for a pair: its offers, else whatever observations hold both ends.

        Failing that, what one end's work was followed by the other's, unless the pair was `declared` anyway.
        """
        given = self.between(source, target)
        best: Offer | None = merged(given, source, target) if given else None
        if best is None and NodeTable.NAMED not in (table_of(source), table_of(target)):
            best = self._joint_support(source, target)
            files = NodeTable.FILE is table_of(source) is table_of(target)
            if best is None and files and not declared:
                sequels = self._sequels(source, target)
                best = merged(sequels, source, target) if sequels else None
        if best is None:
            return Support()
        return Support(
            best.kind,
            best.probability,
            best.file,
            best.probability if best.kind in TOPICS else self._likeness(best),
            best.temporal,
            best.together,
            best.of,
            best.sessions,
            best.last_seen,
            best.keys,
        )

    def _likeness(self, offer: Offer) -> float:
        files = [row_of(node) for node in (offer.source, offer.target) if table_of(node) is NodeTable.FILE]
        if len(files) < 2:
            return offer.probability
        profiles = self._view.profiles(files)
        return cosine(profiles[files[0]], profiles[files[1]])

    def _joint_support(self, source: int, target: int) -> Offer | None:
        """Return the evidence of a pair that nobody offers; the firm score is its probability."""
        joint = self._joint(source, target)
        if not joint:
            return None
        files = NodeTable.FILE is table_of(source) is table_of(target)
        file, firm = self._scores(source, target) if files else (0.0, 0.0)
        return Offer(
            source,
            target,
            _joint_kind(source, target),
            probability=firm,
            file=file,
            temporal=0.0,
            together=len(joint),
            of=max(len(joint), self.changes(source)),
            sessions=len({session for _, _, session in joint}),
            last_seen=joint[0][1],
            keys=tuple(seq for seq, _, _ in joint[:KEYS]),
        )

    def _scores(self, source: int, target: int) -> tuple[float, float]:
        """Return the higher geom and firm score of two files, see `inference.cochange`."""
        geom = firm = 0.0
        for one, other in ((source, target), (target, source)):
            pairs = pair_evidence(self._history(one))
            geom = max(geom, pairs.scores.get(row_of(other), 0.0))
            firm = max(firm, pairs.firm.get(row_of(other), 0.0))
        return geom, firm

    def _sequels(self, source: int, target: int) -> list[Offer]:
        """Return how often one of two files was changed after the other was read or changed."""
        found = []
        for one, other in ((source, target), (target, source)):
            history = self._history(one)
            sightings = {READ_FOR: read_sightings(history), FOLLOWED_BY: follow_sightings(history)}
            for kind, seen in sightings.items():
                if row_of(other) in seen:
                    sighted = seen[row_of(other)]
                    found.append(
                        Offer(
                            one,
                            other,
                            kind,
                            probability=0.0,
                            file=0.0,
                            temporal=0.0,
                            together=sighted.together,
                            of=sighted.of,
                            sessions=sighted.sessions,
                            last_seen=sighted.last_seen,
                            keys=sighted.keys,
                        )
                    )
        return found

    def _history(self, node: int) -> FileHistory:
        found = self._histories.get(node)
        if found is None:
            found = self._histories[node] = self._view.history(row_of(node))
        return found


def _joint_kind(one: int, other: int) -> str:
    concepts = (table_of(one), table_of(other)).count(NodeTable.CONCEPT)
    return (CO_CHANGES, EdgeKind.ABOUT.value, EdgeKind.RELATED.value)[concepts]
