"""Owns promotion: from what changed in `derived.db` to the offers, ids and rows of edges that follow.

It is not the rules (`inference.promotion`, `edge_rows`) nor when it runs. A run looks at the nodes in
`dirty`, or at all, and ends in exactly what a run over everything gives. What is heavy is worked out beside
the writer; a run that ends early, or dies, leaves its marks, and the next one takes them up.
"""

from __future__ import annotations

import math
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from graphmem.database import Database, chunked
from graphmem.edge_facts import EdgeFacts, StoredOffers, read_keys, written_keys
from graphmem.edge_rows import Settled, settle
from graphmem.freshness import WHOLE, WHOLE_UNDER_WAY
from graphmem.graph import EdgeStatus
from graphmem.journal import Journal
from graphmem.minting import edge_between, mint_all
from graphmem.offering import Offering
from graphmem.postings import Postings, View
from inference.promotion import Offer

LOGGED = 20_000
"""So many rows of `graph_log` are kept."""
_TRIES = 3
_NODES = 200
_LOOKED_AT = 2_000
_ROWS = 500
_MINTED = 200
_LARGE = 3

Item = TypeVar("Item")


class _Retold(Exception):
    """Nodes were numbered anew under way: what was read may name others by now."""


class _Stopped(Exception):
    """Somebody wants the run to end."""


class _Snapshot(NamedTuple):
    """The state a run starts from; `whole` says that everything is looked at."""

    stamp: int
    reload: int
    whole: bool
    dirty: frozenset[int]


def promote(
    journal: Journal,
    database: Database,
    project: str,
    ignore: tuple[str, ...] = (),
    stop: Callable[[], bool] | None = None,
) -> Settled:
    """Bring offers, ids and rows of edges up to what `derived.db` holds; return what became of the rows.

    Args:
        journal: where new ids are minted.
        database: the derived file; nobody else may be promoting in it.
        project: its id, part of what ids are made from.
        ignore: patterns of files that are left out, in the manner of gitignore.
        stop: asked now and then; when true, the run ends early.
    """
    run = _Run(journal, database, project, ignore, stop)
    if not run.begin():
        return Settled()
    for _ in range(_TRIES):
        try:
            run.go()
        except _Retold:
            continue
        except _Stopped:
            pass
        break
    return run.settled


def settle_verdicts(database: Database) -> Settled:
    """Bring the rows of edges with new verdicts up to date, the others of `unsettled` stay for `promote`."""
    waiting = "SELECT edge FROM unsettled WHERE edge IN (SELECT edge FROM judgement)"
    with database.read() as connection:
        ids = [row[0] for row in connection.execute(waiting)]
    settled = Settled()
    for chunk in _chunks(ids, _ROWS):
        settled = settled.plus(_settle(database, chunk))
    return settled


class _Run:
    """One call of `promote`."""

    def __init__(
        self,
        journal: Journal,
        database: Database,
        project: str,
        ignore: tuple[str, ...],
        stop: Callable[[], bool] | None,
    ) -> None:
        self._journal = journal
        self._database = database
        self._project = project
        self._ignore = ignore
        self._stop = stop
        self.settled = Settled()

    def begin(self) -> bool:
        """Note the ignore list and that a full run begins; return whether there is anything to do."""
        ignored = zlib.crc32("\0".join(sorted(set(self._ignore))).encode("utf-8", "surrogatepass"))
        with self._database.read() as connection:
            meta = dict(connection.execute("SELECT key, value FROM meta"))
            waiting = "SELECT 1 WHERE EXISTS (SELECT 1 FROM dirty) OR EXISTS (SELECT 1 FROM unsettled)"
            due = connection.execute(waiting).fetchone() is not None
        if meta.get("ignored", 0) == ignored and meta["whole"] != WHOLE:
            return due or meta["whole"] == WHOLE_UNDER_WAY
        with self._database.write() as connection:
            rows = [("ignored", ignored), ("whole", WHOLE_UNDER_WAY)]
            connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)
        return True

    def go(self) -> None:
        """Run once over one state of the postings."""
        with Postings(self._database).view() as view:
            start = _snapshot(view.connection)
            offering = Offering(view, self._ignore)
            targets = self._targets(view, offering, start)
            for chunk in _chunks(targets, _NODES):
                self._check()
                self._write_offers(start, {node: offering.of(node) for node in chunk})
        everything = start.whole or len(targets) > len(start.dirty)
        with self._database.read() as connection:
            query = "SELECT node FROM dirty WHERE stamp <= ?"
            affected = {row[0] for row in connection.execute(query, (start.stamp,))}
            if everything:
                affected.update(row[0] for row in connection.execute("SELECT source FROM offer"))
                affected.update(row[0] for row in connection.execute("SELECT target FROM offer"))
        ids = self._look_at(start, sorted(affected), set(targets))
        with self._database.read() as connection:
            ids |= _ids_to_settle(connection, None if everything else targets)
        for waiting in _chunks(sorted(ids), _ROWS):
            self._check()
            self.settled = self.settled.plus(_settle(self._database, waiting))
        self._end(start)

    def _targets(self, view: View, offering: Offering, start: _Snapshot) -> list[int]:
        """Return the nodes whose offers are worked out: the dirty ones, or all."""
        nodes = list(offering.nodes())
        if not start.whole and len(start.dirty) * _LARGE <= len(nodes):
            return sorted(start.dirty)
        offered = view.connection.execute("SELECT DISTINCT source FROM offer")
        return sorted({*nodes, *start.dirty, *(row[0] for row in offered)})

    def _check(self) -> None:
        if self._stop is not None and self._stop():
            raise _Stopped

    def _write_offers(self, start: _Snapshot, new: dict[int, list[Offer]]) -> None:
        """Store the offers of these nodes; whoever is or was a partner by a change is dirty from now on."""
        with self._database.write() as connection:
            _check_numbers(connection, start)
            stored: dict[int, dict[int, Offer]] = {node: {} for node in new}
            for row in chunked(connection, "SELECT * FROM offer WHERE source IN ({})", new):
                stored[row[0]][row[1]] = Offer._make((*row[:10], read_keys(row[10])))
            gone: list[tuple[int, int]] = []
            written: list[Offer] = []
            partners: set[int] = set()
            for node, offers in new.items():
                before, after = stored[node], {offer.target: offer for offer in offers}
                if before != after:
                    partners.update((*before, *after))
                    gone += [(node, target) for target in before.keys() - after.keys()]
                    written += [offer for offer in offers if before.get(offer.target) != offer]
            connection.executemany("DELETE FROM offer WHERE source = ? AND target = ?", gone)
            connection.executemany(
                "INSERT OR REPLACE INTO offer VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [(*offer[:10], written_keys(offer.keys)) for offer in written],
            )
            if not start.whole:
                marks = [(node, start.stamp) for node in partners]
                connection.executemany("INSERT OR IGNORE INTO dirty VALUES (?, ?)", marks)

    def _look_at(self, start: _Snapshot, nodes: Sequence[int], targets: set[int]) -> set[str]:
        """Mint what is promoted at these nodes and has no id; return the edges whose promotion has changed.

        At nodes that are among the targets every edge is settled anyway.
        """
        changed: set[str] = set()
        for chunk in _chunks(nodes, _LOOKED_AT):
            self._check()
            with self._database.read() as connection:
                facts = EdgeFacts(View(connection, math.inf), StoredOffers(connection), {})
                new: dict[tuple[int, int], tuple[int, int]] = {}
                for node in chunk:
                    promoted = frozenset(facts.promoted(node))
                    rows = {} if node in targets else _present_rows(connection, node)
                    for pair in promoted:
                        edge = edge_between(connection, *pair)
                        if edge is None:
                            new[pair] = facts.orientation(pair)
                        elif node not in targets and pair not in rows:
                            changed.add(edge.id)
                    changed.update(rows[pair].id for pair in rows.keys() - promoted)
                    changed.update(row.id for row in rows.values() if row.status != EdgeStatus.CANDIDATE)
                minted = sorted(new.values(), key=lambda pair: tuple(facts.refs(pair).values()))
            for pairs in _chunks(minted, _MINTED):
                with self._database.write() as connection:
                    _check_numbers(connection, start)
                    changed.update(mint_all(self._journal.ledger, connection, pairs, self._project))
        return changed

    def _end(self, start: _Snapshot) -> None:
        """Take the marks away that were there at the start."""
        with self._database.write() as connection:
            connection.execute("DELETE FROM dirty WHERE stamp <= ?", (start.stamp,))
            if start.whole:
                connection.execute(
                    "UPDATE meta SET value = 0 WHERE key = 'whole' AND value = ?", (WHOLE_UNDER_WAY,)
                )
            connection.execute(
                "DELETE FROM graph_log WHERE number <= (SELECT MAX(number) FROM graph_log) - ?", (LOGGED,)
            )


def _snapshot(connection: sqlite3.Connection) -> _Snapshot:
    meta = dict(connection.execute("SELECT key, value FROM meta"))
    dirty = frozenset(row[0] for row in connection.execute("SELECT node FROM dirty"))
    return _Snapshot(meta["stamp"], meta["reload"], meta["whole"] != 0, dirty)


def _check_numbers(connection: sqlite3.Connection, start: _Snapshot) -> None:
    reload = connection.execute("SELECT value FROM meta WHERE key = 'reload'").fetchone()[0]
    if reload != start.reload:
        raise _Retold


class _Present(NamedTuple):
    id: str
    status: str


def _present_rows(connection: sqlite3.Connection, node: int) -> dict[tuple[int, int], _Present]:
    """Return the edges that stand at a node, by pair (lower number, higher number)."""
    rows = connection.execute(
        "SELECT source, target, id, status FROM edge WHERE source = ? UNION"
        " SELECT source, target, id, status FROM edge WHERE target = ?",
        (node, node),
    )
    return {(min(row[:2]), max(row[:2])): _Present(*row[2:]) for row in rows}


def _ids_to_settle(connection: sqlite3.Connection, nodes: Iterable[int] | None) -> set[str]:
    """Return what waits in `unsettled`, with every edge of these nodes, or with every edge there is."""
    ids = {row[0] for row in connection.execute("SELECT edge FROM unsettled")}
    if nodes is None:
        ids.update(row[0] for row in connection.execute("SELECT id FROM minted UNION SELECT id FROM edge"))
        return ids
    listed = list(nodes)
    for table in ("minted", "edge"):
        for end in ("source", "target"):
            rows = chunked(connection, f"SELECT id FROM {table} WHERE {end} IN ({{}})", listed)
            ids.update(row[0] for row in rows)
    return ids


def _settle(database: Database, ids: Sequence[str]) -> Settled:
    with database.write() as connection:
        settled = settle(connection, ids)
        connection.executemany("DELETE FROM unsettled WHERE edge = ?", [(id,) for id in ids])
    return settled


def _chunks(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
