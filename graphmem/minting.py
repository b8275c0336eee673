"""Owns what the names of minted edges mean: from a name at a moment to a node of `derived.db`, and back.

It is not the ledger that keeps the names (`graphmem.ledger`) nor how people write references
(`graphmem.references`). An id stays with its pair through renames, as a path is read as of the moment the id
was minted at.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from graphmem.graph import NodeName, NodeType
from graphmem.ledger import Ledger, MintRequest
from graphmem.nodes import NodeTable, number_of, row_of, table_of
from graphmem.record import storable

_TABLES = {NodeType.CONCEPT: NodeTable.CONCEPT, NodeType.CONTRACT: NodeTable.CONTRACT}
_OF_THE_PAIR = (
    "SELECT minted.id, source, target FROM minted LEFT JOIN judgement ON judgement.edge = minted.id"
    " WHERE (source = ? AND target = ?) OR (source = ? AND target = ?)"
    " ORDER BY judgement.status IS NULL, judgement.number IS NULL, judgement.number, minted.number LIMIT 1"
)


class Resolved(NamedTuple):
    """A minted edge as nodes, `source` and `target` as they were minted."""

    id: str
    source: int
    target: int


# ---- from names to nodes ---------------------------------------------------------------------------


def find(connection: sqlite3.Connection, name: NodeName, at: float) -> int | None:
    """Return the node that a name meant at a moment (epoch seconds), None for one without a row anywhere.

    A path means the file that had claimed it last by then; one that nobody had claimed by then the file that
    claimed it first.
    """
    found = observed(connection, name, at)
    if found is not None:
        return found
    row = connection.execute("SELECT id FROM named WHERE type = ? AND name = ?", name).fetchone()
    return None if row is None else number_of(NodeTable.NAMED, row[0])


def resolve(connection: sqlite3.Connection, name: NodeName, at: float) -> int:
    """Return the node that a name meant at a moment; what no observation names gets a row in `named`."""
    found = find(connection, name, at)
    if found is not None:
        return found
    added = connection.execute("INSERT INTO named (type, name) VALUES (?, ?)", name)
    return number_of(NodeTable.NAMED, int(added.lastrowid or 0))


def observed(connection: sqlite3.Connection, name: NodeName, at: float) -> int | None:
    """Return the same for files, concepts and contracts that observations name; None for every other name."""
    if name.type is NodeType.FILE:
        claims = "SELECT claim.file FROM path JOIN claim ON claim.path = path.id WHERE name = ?"
        row = connection.execute(
            f"{claims} AND at <= ? ORDER BY at DESC, seq DESC LIMIT 1", (name.name, at)
        ).fetchone()
        if row is None:
            row = connection.execute(f"{claims} ORDER BY at, seq LIMIT 1", (name.name,)).fetchone()
        return None if row is None else number_of(NodeTable.FILE, row[0])
    table = _TABLES.get(name.type)
    if table is None:
        return None
    row = connection.execute(f"SELECT id FROM {name.type} WHERE name = ?", (name.name,)).fetchone()
    return None if row is None else number_of(table, row[0])


# ---- from nodes to names ---------------------------------------------------------------------------


def moment(connection: sqlite3.Connection) -> float:
    """Return the moment at which present names mean what they mean now: that of the newest observation.

    The clock would not do: of a history that is still being imported the files of tomorrow lie before it.
    """
    row = connection.execute("SELECT MAX(at) FROM observation").fetchone()
    return 0.0 if row[0] is None else float(row[0])


def mint_request(connection: sqlite3.Connection, source: int, target: int) -> MintRequest:
    """Return what `Ledger.mint` needs to know of a pair of nodes; the moment of its names is `moment`."""
    return _request(_naming(connection, source), _naming(connection, target))


def named_request(connection: sqlite3.Connection, source: NodeName, target: NodeName) -> MintRequest:
    """Return the same for a pair of names as they are meant now."""
    nodes = [observed(connection, name, math.inf) for name in (source, target)]
    one, other = (
        _Naming(name, name, -math.inf) if node is None else _naming(connection, node)
        for name, node in zip((source, target), nodes, strict=True)
    )
    return _request(one, other)


def _request(one: _Naming, other: _Naming) -> MintRequest:
    return MintRequest(one.name, other.name, one.first, other.first, max(one.since, other.since))


class _Naming(NamedTuple):
    """A name that means the node at present, the node's first name, and since when the name means it."""

    name: NodeName
    first: NodeName
    since: float


def _naming(connection: sqlite3.Connection, node: int) -> _Naming:
    id = row_of(node)
    match table_of(node):
        case NodeTable.FILE:
            return _file_naming(connection, id)
        case NodeTable.CONCEPT | NodeTable.CONTRACT as table:
            type = NodeType.CONCEPT if table is NodeTable.CONCEPT else NodeType.CONTRACT
            row = connection.execute(f"SELECT name FROM {type} WHERE id = ?", (id,)).fetchone()
            found = NodeName(type, row[0])
        case NodeTable.NAMED:
            row = connection.execute("SELECT type, name FROM named WHERE id = ?", (id,)).fetchone()
            found = NodeName(NodeType(row[0]), row[1])
    return _Naming(found, found, -math.inf)


def _file_naming(connection: sqlite3.Connection, file: int) -> _Naming:
    # A file whose own name was taken by another is told by a former name that still means it.
    path, own, first = connection.execute(
        "SELECT path.id, path.name, first.name FROM file JOIN path AS first ON first.id = file.first_path"
        " JOIN path ON path.id = COALESCE((SELECT id FROM path AS own WHERE own.id = file.path"
        " AND own.file = file.id), (SELECT id FROM path AS known WHERE known.kin = file.kin"
        " AND known.file = file.id ORDER BY known.name LIMIT 1), file.path) WHERE file.id = ?",
        (file,),
    ).fetchone()
    claims, last = connection.execute(
        "SELECT COUNT(*), MAX(at) FROM claim WHERE path = ?", (path,)
    ).fetchone()
    since = float(last) if claims > 1 else -math.inf
    return _Naming(NodeName(NodeType.FILE, own), NodeName(NodeType.FILE, first), since)


# ---- ids -------------------------------------------------------------------------------------------


def minted_edge(connection: sqlite3.Connection, id: str) -> Resolved | None:
    """Return the minted edge of exactly this id as nodes, None for an unknown one."""
    row = connection.execute("SELECT id, source, target FROM minted WHERE id = ?", (storable(id),)).fetchone()
    return None if row is None else Resolved(*row)


def canonical(connection: sqlite3.Connection, id: str) -> Resolved | None:
    """Return the edge that speaks for the pair of this one, None for an unknown id.

    Several ids may turn out to mean one pair, when a rename becomes known late: of those with a verdict that
    was not taken back the one that was judged first speaks for it, else of those that were judged, else the
    one minted first.
    """
    edge = minted_edge(connection, id)
    return None if edge is None else edge_between(connection, edge.source, edge.target)


def edge_between(connection: sqlite3.Connection, one: int, other: int) -> Resolved | None:
    """Return the edge that speaks for a pair of nodes, in whatever order they were minted."""
    row = connection.execute(_OF_THE_PAIR, (one, other, other, one)).fetchone()
    return None if row is None else Resolved(*row)


def mint_all(
    ledger: Ledger, connection: sqlite3.Connection, pairs: Sequence[tuple[int, int]], project: str
) -> list[str]:
    """Return the id of each pair of nodes, minting where there is none, in the order and orientation given.

    `connection` writes: what is minted is resolved at once, so that the caller's own rows can name it.
    """
    known = {pair: edge_between(connection, *pair) for pair in pairs}
    new = [pair for pair, edge in known.items() if edge is None]
    naming = {node: _naming(connection, node) for node in {node for pair in new for node in pair}}
    requests = [_request(naming[source], naming[target]) for source, target in new]
    made = dict(zip(new, ledger.mint(requests, project, moment(connection)), strict=True))
    edges = ledger.edges(made.values())
    for pair, request in zip(new, requests, strict=True):
        minted = edges[made[pair]]
        # Somebody else may have minted the pair meanwhile, the other way round.
        ends = pair if minted.source == request.source else pair[::-1]
        connection.execute(
            "INSERT INTO minted (id, source, target, number) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
            (minted.id, *ends, minted.number),
        )
    return [made[pair] if (edge := known[pair]) is None else edge.id for pair in pairs]
