"""Owns the way from the journal into `derived.db`: observations become touches, concepts, contracts, text.

It is not the truth and not the reading side. Any order of arrival ends in the state a rebuild gives: what
arrives late is put in its place in time, and where names are involved the lineage of the related paths is
told again from their first mention.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from graphmem.concepts import observation_concepts
from graphmem.contracts import read_contracts
from graphmem.database import Database
from graphmem.fact_rows import insert_facts, remove_facts, wipe_facts
from graphmem.freshness import Freshness
from graphmem.genealogy import Disturbance, Genealogy, MentionRow
from graphmem.journal import Entry, Journal, Removal
from graphmem.judgements import carry, drop_unknown, follow_names
from graphmem.ledger import Ledger
from graphmem.model import Observation
from graphmem.nodes import NodeTable, number_of
from graphmem.text import index_text
from inference.cochange import MAX_SIZE
from inference.lineage import Change, Mention

_BATCH = 500
_NO_PAIRS = frozenset({"snapshot"})


@dataclass(frozen=True, slots=True)
class Watermark:
    """How far the projection is: the journal's last entry, removal, minted edge and verdict that are in."""

    entries: int
    removals: int
    minted: int = 0
    verdicts: int = 0

    def has_reached(self, other: Watermark) -> bool:
        """Return whether everything that is in at `other` is in here too."""
        return (
            self.entries >= other.entries
            and self.removals >= other.removals
            and self.minted >= other.minted
            and self.verdicts >= other.verdicts
        )


def watermark(database: Database) -> Watermark:
    """Return how far `derived.db` follows the journal."""
    with database.read() as connection:
        rows = dict(connection.execute("SELECT key, value FROM meta").fetchall())
    return Watermark(rows["entries"], rows["removals"], rows["minted"], rows["verdicts"])


def applied(connection: sqlite3.Connection) -> int:
    """Return how many entries were ever carried into this file; a start-up that replays would raise it."""
    return int(connection.execute("SELECT value FROM meta WHERE key = 'applied'").fetchone()[0])


def catch_up(
    journal: Journal,
    database: Database,
    progress: Callable[[int], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> bool:
    """Carry what is new in the journal into `derived.db`, in batches; return whether there was anything."""
    did = False
    while not (stop is not None and stop()):
        mark = watermark(database)
        removals = journal.removals_after(mark.removals)
        entries = journal.entries_after(mark.entries, _BATCH)
        if entries or removals:
            project(database, entries, removals, journal.ledger)
        # The names of an edge can only be looked up once whatever names them is in.
        carried = len(entries) < _BATCH and carry(journal, database)
        if not (entries or removals or carried):
            return did
        did = True
        if progress is not None:
            progress(len(entries))
    return did


def project(
    database: Database,
    entries: Sequence[Entry],
    removals: Sequence[Removal] = (),
    ledger: Ledger | None = None,
) -> None:
    """Apply entries and removals in one transaction and move the watermark.

    `ledger` holds the edges that were carried into this file, None where there can't be any.
    """
    ordered = sorted(entries, key=lambda entry: (entry.observation.at, entry.seq))
    with database.write() as connection:
        freshness = Freshness(connection)
        claimed: set[str] = set()
        unused: list[int] = []
        if removals:
            numbers = [removal.seq for removal in removals]
            freshness.around(numbers)
            freshness.reload()
            disturbance = _remove(connection, numbers)
            freshness.disturbed(disturbance)
            claimed |= disturbance.claimed
            unused = _drop_unused(connection)
            freshness.vanished(unused)
            _mark(connection, "removals", max(removal.number for removal in removals))
        if ordered:
            disturbance = _insert(connection, ordered)
            freshness.disturbed(disturbance)
            claimed |= disturbance.claimed
            freshness.around(entry.seq for entry in ordered)
            _mark(connection, "entries", max(entry.told for entry in ordered))
            _count(connection, "applied", len(ordered))
            _count(connection, "observations", len(ordered))
        if ledger is not None:
            if removals:
                drop_unknown(connection, ledger)
            follow_names(connection, ledger, claimed, unused)


def _mark(connection: sqlite3.Connection, key: str, value: int) -> None:
    connection.execute("UPDATE meta SET value = MAX(value, ?) WHERE key = ?", (value, key))


def _count(connection: sqlite3.Connection, key: str, more: int) -> None:
    connection.execute("UPDATE meta SET value = value + ? WHERE key = ?", (more, key))


def _insert(connection: sqlite3.Connection, entries: Sequence[Entry]) -> Disturbance:
    sessions = _intern(connection, "session", (entry.observation.session for entry in entries))
    actors = _intern(connection, "actor", (entry.observation.actor for entry in entries))
    rows: list[MentionRow] = []
    observations: list[tuple[object, ...]] = []
    for entry in entries:
        observation = entry.observation
        mentions = mentions_of(observation)
        rows.extend(MentionRow(observation.at, entry.seq, ord, m) for ord, m in enumerate(mentions))
        size = sum(mention.change is not Change.READ for mention in mentions)
        pairs = size <= MAX_SIZE and observation.type not in _NO_PAIRS
        observations.append(
            (
                entry.seq,
                observation.id,
                observation.at,
                sessions[observation.session],
                actors[observation.actor],
                observation.source,
                observation.branch,
                observation.type,
                observation.title,
                size,
                int(pairs),
                int(observation.reference is not None),
            )
        )
    connection.executemany(
        "INSERT INTO observation VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", observations
    )
    genealogy = Genealogy(connection)
    genealogy.insert(rows)
    _insert_concepts(connection, entries)
    _insert_contracts(connection, entries)
    insert_facts(connection, entries)
    connection.executemany(
        "INSERT INTO text (rowid, title, body, concepts, paths) VALUES (?, ?, ?, ?, ?)",
        [(entry.seq, *_texts(entry.observation)) for entry in entries],
    )
    return genealogy.disturbance


def mentions_of(observation: Observation) -> list[Mention]:
    """Return the paths of an observation as mentions, each file at most once where the names agree."""
    added = frozenset(observation.files_added)
    mentions = [Mention(Change.RENAMED, rename.new, rename.old) for rename in observation.renames]
    mentions += [Mention(Change.DELETED, path) for path in observation.files_deleted]
    mentions += [
        Mention(Change.ADDED if path in added else Change.MODIFIED, path)
        for path in observation.files_modified
    ]
    changed = {mention.path for mention in mentions}
    mentions += [Mention(Change.READ, path) for path in observation.files_read if path not in changed]
    return mentions


def _texts(observation: Observation) -> tuple[str, str, str, str]:
    body = "\n".join((observation.intent, observation.narrative, *(fact.text for fact in observation.facts)))
    paths = (*observation.files_modified, *observation.files_deleted, *(r.new for r in observation.renames))
    listed = paths[:MAX_SIZE] + observation.files_read[:MAX_SIZE]
    return (
        index_text(observation.title),
        index_text(body),
        index_text(" ".join(observation.concepts)),
        index_text(" ".join(listed)),
    )


def _insert_concepts(connection: sqlite3.Connection, entries: Sequence[Entry]) -> None:
    found = {entry.seq: observation_concepts(entry.observation) for entry in entries}
    names = {name for weights in found.values() for name in weights}
    connection.executemany(
        "INSERT INTO concept (name, uses) VALUES (?, 0) ON CONFLICT (name) DO NOTHING",
        [(name,) for name in sorted(names)],
    )
    ids = _ids(connection, "concept", names)
    times = {entry.seq: entry.observation.at for entry in entries}
    uses = [
        (seq, ids[name], weight, times[seq])
        for seq, weights in found.items()
        for name, weight in weights.items()
    ]
    connection.executemany("INSERT INTO concept_use VALUES (?, ?, ?, ?)", uses)
    counts: dict[int, int] = {}
    for _, concept, _, _ in uses:
        counts[concept] = counts.get(concept, 0) + 1
    connection.executemany(
        "UPDATE concept SET uses = uses + ? WHERE id = ?", [(count, id) for id, count in counts.items()]
    )


def _insert_contracts(connection: sqlite3.Connection, entries: Sequence[Entry]) -> None:
    found = {entry.seq: read_contracts(entry.observation) for entry in entries}
    ids = _intern(connection, "contract", (use.name for uses in found.values() for use in uses))
    connection.executemany(
        "INSERT INTO contract_use VALUES (?, ?, ?) ON CONFLICT (seq, contract) DO UPDATE"
        " SET superseded_by = COALESCE(superseded_by, excluded.superseded_by)",
        [(seq, ids[use.name], use.superseded_by) for seq, uses in found.items() for use in uses],
    )


def _intern(connection: sqlite3.Connection, table: str, names: Iterable[str]) -> dict[str, int]:
    distinct = dict.fromkeys(names)
    connection.executemany(
        f"INSERT INTO {table} (name) VALUES (?) ON CONFLICT (name) DO NOTHING", [(name,) for name in distinct]
    )
    return _ids(connection, table, distinct)


def _ids(connection: sqlite3.Connection, table: str, names: Iterable[str]) -> dict[str, int]:
    select = f"SELECT id FROM {table} WHERE name = ?"
    return {name: connection.execute(select, (name,)).fetchone()[0] for name in names}


def _remove(connection: sqlite3.Connection, numbers: Sequence[int]) -> Disturbance:
    keys = [(seq,) for seq in numbers]
    genealogy = Genealogy(connection)
    genealogy.remove(numbers)
    connection.executemany(
        "UPDATE concept SET uses = uses - 1 WHERE id IN (SELECT concept FROM concept_use WHERE seq = ?)", keys
    )
    for table, column in (("concept_use", "seq"), ("contract_use", "seq"), ("text", "rowid")):
        connection.executemany(f"DELETE FROM {table} WHERE {column} = ?", keys)
    if remove_facts(connection, numbers):
        wipe_facts(connection)
    gone = connection.executemany("DELETE FROM observation WHERE seq = ?", keys).rowcount
    _count(connection, "observations", -gone)
    connection.execute("DELETE FROM session WHERE id NOT IN (SELECT session FROM observation)")
    connection.execute("DELETE FROM actor WHERE id NOT IN (SELECT actor FROM observation)")
    # A forgotten name must not linger in old index segments either.
    connection.execute("INSERT INTO text (text) VALUES ('optimize')")
    return genealogy.disturbance


def _drop_unused(connection: sqlite3.Connection) -> list[int]:
    """Forget the names of concepts and contracts that nothing uses any more; return their nodes."""
    gone: list[int] = []
    for table, node_table, unused in (
        ("concept", NodeTable.CONCEPT, "uses = 0"),
        ("contract", NodeTable.CONTRACT, "id NOT IN (SELECT contract FROM contract_use)"),
    ):
        rows = connection.execute(f"SELECT id FROM {table} WHERE {unused}").fetchall()
        gone += [number_of(node_table, id) for (id,) in rows]
        connection.executemany(f"DELETE FROM {table} WHERE id = ?", rows)
    return gone
