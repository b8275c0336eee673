"""Owns the rows of concepts and contracts in `derived.db`: which observation speaks of which.

It is not what a text speaks of (`concepts`, `contracts`) nor what counts as one occasion (`occasions`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from graphmem.concepts import observation_concepts
from graphmem.contracts import read_contracts
from graphmem.database import chunked
from graphmem.journal import Entry
from graphmem.nodes import NodeTable, number_of, row_of, table_of

_UNUSED = {
    NodeTable.CONCEPT: "SELECT id FROM concept WHERE uses = 0 AND id IN ({})",
    NodeTable.CONTRACT: "SELECT id FROM contract WHERE id IN ({})"
    " AND NOT EXISTS (SELECT 1 FROM contract_use WHERE contract = contract.id)",
}


def insert_words(connection: sqlite3.Connection, entries: Sequence[Entry]) -> None:
    """Put in what observations speak of."""
    _insert_concepts(connection, entries)
    _insert_contracts(connection, entries)


def remove_words(connection: sqlite3.Connection, numbers: Sequence[int]) -> set[int]:
    """Take out what observations speak of; return the nodes that nobody may speak of any more."""
    spoken: set[int] = set()
    for table in (NodeTable.CONCEPT, NodeTable.CONTRACT):
        name = table.name.lower()
        rows = chunked(connection, f"SELECT DISTINCT {name} FROM {name}_use WHERE seq IN ({{}})", numbers)
        spoken.update(number_of(table, id) for (id,) in rows)
    keys = [(seq,) for seq in numbers]
    connection.executemany(
        "UPDATE concept SET uses = uses - 1"
        " WHERE id IN (SELECT concept FROM concept_use WHERE seq = ? AND repeated = 0)",
        keys,
    )
    for name in ("concept_use", "contract_use"):
        connection.executemany(f"DELETE FROM {name} WHERE seq = ?", keys)
    return spoken


def drop_unused(connection: sqlite3.Connection, nodes: Iterable[int]) -> list[int]:
    """Forget the names of those of these concepts and contracts that nothing uses; return their nodes."""
    gone: list[int] = []
    listed = sorted(nodes)
    for table, query in _UNUSED.items():
        wanted = (row_of(node) for node in listed if table_of(node) is table)
        rows = chunked(connection, query, wanted)
        connection.executemany(f"DELETE FROM {table.name.lower()} WHERE id = ?", rows)
        gone += [number_of(table, id) for (id,) in rows]
    return gone


def _insert_concepts(connection: sqlite3.Connection, entries: Sequence[Entry]) -> None:
    found = {entry.seq: observation_concepts(entry.observation) for entry in entries}
    names = {name for weights in found.values() for name in weights}
    connection.executemany(
        "INSERT INTO concept (name, uses) VALUES (?, 0) ON CONFLICT (name) DO NOTHING",
        [(name,) for name in sorted(names)],
    )
    ids = ids_of(connection, "concept", names)
    times = {entry.seq: entry.observation.at for entry in entries}
    uses = [
        (seq, ids[name], weight, times[seq])
        for seq, weights in found.items()
        for name, weight in weights.items()
    ]
    connection.executemany(
        "INSERT INTO concept_use (seq, concept, weight, at, occasion) VALUES (?1, ?2, ?3, ?4, ?1)", uses
    )
    counts: dict[int, int] = {}
    for _, concept, _, _ in uses:
        counts[concept] = counts.get(concept, 0) + 1
    connection.executemany(
        "UPDATE concept SET uses = uses + ? WHERE id = ?", [(count, id) for id, count in counts.items()]
    )


def _insert_contracts(connection: sqlite3.Connection, entries: Sequence[Entry]) -> None:
    found = {entry.seq: read_contracts(entry.observation) for entry in entries}
    ids = intern(connection, "contract", (use.name for uses in found.values() for use in uses))
    connection.executemany(
        "INSERT INTO contract_use VALUES (?, ?, ?) ON CONFLICT (seq, contract) DO UPDATE"
        " SET superseded_by = COALESCE(superseded_by, excluded.superseded_by)",
        [(seq, ids[use.name], use.superseded_by) for seq, uses in found.items() for use in uses],
    )


def intern(connection: sqlite3.Connection, table: str, names: Iterable[str]) -> dict[str, int]:
    """Return the numbers of these names in a table, new ones put in."""
    distinct = dict.fromkeys(names)
    connection.executemany(
        f"INSERT INTO {table} (name) VALUES (?) ON CONFLICT (name) DO NOTHING", [(name,) for name in distinct]
    )
    return ids_of(connection, table, distinct)


def ids_of(connection: sqlite3.Connection, table: str, names: Iterable[str]) -> dict[str, int]:
    """Return the numbers of names that are in a table."""
    select = f"SELECT id FROM {table} WHERE name = ?"
    return {name: connection.execute(select, (name,)).fetchone()[0] for name in names}
