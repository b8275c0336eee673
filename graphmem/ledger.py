"""Owns the graph's part of the journal: minted edge ids and the verdicts on them, in the journal's own file.

It is not the rules of verdicts (`graphmem.verdicts`) nor which node a name means (`graphmem.minting`). Edges
and verdicts are numbered in the order they came; a write that returned is on the disk.
"""

from __future__ import annotations

import hashlib
import math
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

from graphmem.database import Database, chunked
from graphmem.errors import NotFoundError
from graphmem.graph import Decision, Direction, NodeName, NodeType, Relation, Verdict, VerdictKind
from graphmem.record import storable
from graphmem.verdicts import completed, is_change

_ID_BYTES = 8
_SHOWN = 3
_EDGE = "number, id, source_type, source, target_type, target, at"
_VERDICT = "number, edge, verdict, relation, direction, note, by, at, together"


class Minted(NamedTuple):
    """A minted edge: its id, and what its ends were called at that moment (epoch seconds)."""

    number: int
    id: str
    source: NodeName
    target: NodeName
    at: float

    @property
    def names(self) -> tuple[NodeName, NodeName]:
        """Both ends' names."""
        return self.source, self.target


class MintRequest(NamedTuple):
    """A pair of nodes that needs an id.

    `source` and `target` are present names, `first_source` and `first_target` the names the nodes came up
    under, None for the present ones. `since` is the moment from which both present names mean these nodes:
    an edge minted under them before is another pair's.
    """

    source: NodeName
    target: NodeName
    first_source: NodeName | None = None
    first_target: NodeName | None = None
    since: float = -math.inf


class Proposal(NamedTuple):
    """A declaration with its ends found: the edge it speaks of, or what to mint where there is none yet.

    `forward` says that the known edge's source is the declaration's.
    """

    request: MintRequest
    relation: Relation
    note: str = ""
    by: str = ""
    together: int = 0
    edge: str | None = None
    forward: bool = True


class Ledger:
    """Minted edges and verdicts of one journal; get it from `Journal.ledger`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # ---- minting --------------------------------------------------------------------------------

    def mint(self, pairs: Sequence[MintRequest], project: str, at: float) -> list[str]:
        """Return an id for each pair, the one it has or a new one, in one transaction.

        Args:
            pairs: see `MintRequest`.
            project: its id, part of what is hashed.
            at: the moment at which the names mean these nodes, epoch seconds.
        """
        if not pairs:
            return []
        with self._database.write() as connection:
            return [_mint(connection, pair, project, at).id for pair in pairs]

    def edge(self, id: str) -> Minted | None:
        """Return the minted edge of that id, or None."""
        return self.edges((id,)).get(id)

    def edges(self, ids: Iterable[str]) -> dict[str, Minted]:
        """Return the minted edges of these ids; unknown ones are left out."""
        with self._database.read() as connection:
            rows = _chunked(connection, f"SELECT {_EDGE} FROM edge WHERE id IN ({{}})", ids)
        return {row[1]: _minted(row) for row in rows}

    def edges_after(self, number: int, limit: int) -> list[Minted]:
        """Return up to `limit` minted edges above `number`, in order."""
        with self._database.read() as connection:
            rows = connection.execute(
                f"SELECT {_EDGE} FROM edge WHERE number > ? ORDER BY number LIMIT ?", (number, limit)
            ).fetchall()
        return [_minted(row) for row in rows]

    def naming_files(self, paths: Iterable[str]) -> list[Minted]:
        """Return the edges that were minted under one of these paths, in order of minting."""
        found: dict[int, Minted] = {}
        wanted = list(paths)
        with self._database.read() as connection:
            for end in ("source", "target"):
                query = f"SELECT {_EDGE} FROM edge WHERE {end}_type = 'file' AND {end} IN ({{}})"
                found.update((row[0], _minted(row)) for row in _chunked(connection, query, wanted))
        return [found[number] for number in sorted(found)]

    def prune(self, ids: Iterable[str]) -> set[str]:
        """Take back minted edges with their names, but none with a verdict; return the ids that are gone."""
        wanted = set(ids)
        if not wanted:
            return set()
        with self._database.write() as connection:
            pruned = connection.executemany(
                "DELETE FROM edge WHERE id = ? AND NOT EXISTS (SELECT 1 FROM verdict WHERE edge = edge.id)",
                [(id,) for id in sorted(wanted)],
            ).rowcount
            gone = _unknown(connection, wanted)
        if pruned > 0:
            self._database.empty_log()
        return gone

    def unknown(self, ids: Iterable[str]) -> set[str]:
        """Return those of these ids that no edge has: never minted, or taken back."""
        with self._database.read() as connection:
            return _unknown(connection, set(ids))

    def nearest(self, id: str, at_most: int = _SHOWN) -> list[Minted]:
        """Return the edges whose ids share the longest beginning with `id`, none where not a letter fits."""
        key = storable(id)
        with self._database.read() as connection:
            rows = connection.execute(
                f"SELECT * FROM (SELECT {_EDGE} FROM edge WHERE id >= ? ORDER BY id LIMIT ?) UNION"
                f" SELECT * FROM (SELECT {_EDGE} FROM edge WHERE id < ? ORDER BY id DESC LIMIT ?)",
                (key, at_most, key, at_most),
            ).fetchall()
        shared = [(_shared(key, row[1]), _minted(row)) for row in rows]
        shared = [entry for entry in shared if entry[0]]
        return [edge for _, edge in sorted(shared, key=lambda entry: (-entry[0], entry[1].id))[:at_most]]

    # ---- verdicts -------------------------------------------------------------------------------

    def judge(self, decisions: Sequence[Decision], at: float, together: Mapping[str, int]) -> set[str]:
        """Append verdicts, all or none, in one transaction; return the edges whose standing changed.

        What is no change is not stored. The rules are applied to what stands inside the transaction, so that
        of two clients' verdicts the later one counts and both are in the history.

        Args:
            decisions: on minted edges, in order.
            at: epoch seconds.
            together: how many observations hold both ends now, by edge.

        Raises:
            NotFoundError: an edge that was never minted.
            ConflictError: see `graphmem.verdicts.is_change`.
            InvalidInputError: see `graphmem.verdicts.completed`.
        """
        many = len(decisions) > 1
        with self._database.write() as connection:
            unknown = _unknown(connection, {decision.edge for decision in decisions})
            for index, decision in enumerate(decisions):
                if decision.edge in unknown:
                    raise NotFoundError(
                        f"{place_of(index, many)}There is no edge {decision.edge!r}; list them with "
                        "`graphmem edges`."
                    )
            whole = [completed(decision, field_of(index, many)) for index, decision in enumerate(decisions)]
            return _append(connection, whole, at, together)

    def declare(self, proposals: Sequence[Proposal], project: str, named_at: float, at: float) -> list[str]:
        """Mint what has no id yet and append the declarations, all or none; return an edge for each.

        Args:
            proposals: in order; of several on one pair the last one counts.
            project: see `mint`.
            named_at: the moment at which the names mean the nodes, epoch seconds.
            at: when it was declared, epoch seconds.

        Raises:
            ConflictError: an edge is retired.
        """
        edges: list[str] = []
        decisions: list[Decision] = []
        together: dict[str, int] = {}
        with self._database.write() as connection:
            for proposal in proposals:
                edge, forward = proposal.edge, proposal.forward
                if edge is None or _by_id(connection, edge) is None:
                    minted = _mint(connection, proposal.request, project, named_at)
                    edge, forward = minted.id, minted.source == proposal.request.source
                direction = Direction.FORWARD if forward else Direction.BACKWARD
                edges.append(edge)
                together[edge] = proposal.together
                decisions.append(
                    Decision(
                        edge, VerdictKind.DECLARE, proposal.relation, direction, proposal.note, proposal.by
                    )
                )
            _append(connection, decisions, at, together)
        return edges

    def history(self, edges: Iterable[str]) -> dict[str, tuple[Verdict, ...]]:
        """Return the verdicts on each of these edges, oldest first; edges without any are left out."""
        with self._database.read() as connection:
            found = _histories(connection, edges)
        return {edge: tuple(verdicts) for edge, verdicts in found.items()}

    def judged_after(self, number: int) -> tuple[int, set[str]]:
        """Return the number of the last verdict (at least `number`) and the edges judged after `number`."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT edge, MAX(number) FROM verdict WHERE number > ? GROUP BY edge", (number,)
            ).fetchall()
        return max((row[1] for row in rows), default=number), {row[0] for row in rows}

    def verdicts_until(self, moment: float) -> dict[str, tuple[Verdict, ...]]:
        """Return the verdicts given up to that moment (epoch seconds), oldest first, by edge."""
        with self._database.read() as connection:
            rows = connection.execute(
                f"SELECT {_VERDICT} FROM verdict WHERE at <= ? ORDER BY number", (moment,)
            ).fetchall()
        found: dict[str, list[Verdict]] = {}
        for row in rows:
            found.setdefault(row[1], []).append(_verdict(row))
        return {edge: tuple(verdicts) for edge, verdicts in found.items()}


def place_of(index: int, many: bool) -> str:
    """Return what a refusal says first: which item of many it speaks of, counted from 0."""
    return f"Item {index}: " if many else ""


def field_of(index: int, many: bool, name: str = "") -> str:
    """Return a field's name as a refusal gives it: that of an item of many is such as `3.relation`."""
    return f"{index}.{name}" if many else name


def edge_id(project: str, pair: MintRequest, number: int = 0) -> str:
    """Return the id a pair is minted under, `number` telling apart pairs of the same first names."""
    first = sorted((str(pair.first_source or pair.source), str(pair.first_target or pair.target)))
    text = "\0".join((project, *first, *([str(number)] if number else [])))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_ID_BYTES).hexdigest()


def _mint(connection: sqlite3.Connection, pair: MintRequest, project: str, at: float) -> Minted:
    names = {pair.source, pair.target}
    for number in count():
        id = edge_id(project, pair, number)
        taken = _by_id(connection, id)
        if taken is None:
            break
        if {taken.source, taken.target} == names and taken.at >= pair.since:
            return taken
    added = connection.execute(
        "INSERT INTO edge (id, source_type, source, target_type, target, at) VALUES (?, ?, ?, ?, ?, ?)",
        (id, *pair.source, *pair.target, at),
    )
    return Minted(int(added.lastrowid or 0), id, pair.source, pair.target, at)


def _append(
    connection: sqlite3.Connection,
    decisions: Sequence[Decision],
    at: float,
    together: Mapping[str, int],
) -> set[str]:
    """Append what is a change, each judged by what stands after those before it."""
    histories = _histories(connection, (decision.edge for decision in decisions))
    changed: set[str] = set()
    for index, decision in enumerate(decisions):
        history = histories.setdefault(decision.edge, [])
        support = together.get(decision.edge, 0)
        if not is_change(history, decision, place_of(index, len(decisions) > 1), support):
            continue
        verdict = Verdict(
            0,
            decision.edge,
            decision.verdict,
            decision.relation,
            decision.direction,
            decision.note,
            decision.by,
            at,
            support,
        )
        added = connection.execute(
            "INSERT INTO verdict (edge, verdict, relation, direction, note, by, at, together)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                verdict.edge,
                verdict.verdict,
                verdict.relation,
                verdict.direction,
                verdict.note,
                verdict.by,
                at,
                verdict.together,
            ),
        )
        history.append(replace(verdict, number=int(added.lastrowid or 0)))
        changed.add(decision.edge)
    return changed


def _histories(connection: sqlite3.Connection, edges: Iterable[str]) -> dict[str, list[Verdict]]:
    rows = _chunked(connection, f"SELECT {_VERDICT} FROM verdict WHERE edge IN ({{}}) ORDER BY number", edges)
    found: dict[str, list[Verdict]] = {}
    for row in rows:
        found.setdefault(row[1], []).append(_verdict(row))
    return found


def _unknown(connection: sqlite3.Connection, ids: set[str]) -> set[str]:
    return ids - {row[0] for row in _chunked(connection, "SELECT id FROM edge WHERE id IN ({})", ids)}


def _by_id(connection: sqlite3.Connection, id: str) -> Minted | None:
    row = connection.execute(f"SELECT {_EDGE} FROM edge WHERE id = ?", (id,)).fetchone()
    return None if row is None else _minted(row)


def _chunked(connection: sqlite3.Connection, query: str, values: Iterable[str]) -> list[tuple[Any, ...]]:
    """Run a query with `IN ({})` over texts from outside."""
    return chunked(connection, query, map(storable, values))


def _minted(row: Sequence[Any]) -> Minted:
    number, id, source_type, source, target_type, target, at = row
    return Minted(
        number, id, NodeName(NodeType(source_type), source), NodeName(NodeType(target_type), target), at
    )


def _verdict(row: Sequence[Any]) -> Verdict:
    number, edge, verdict, relation, direction, note, by, at, together = row
    return Verdict(
        number,
        edge,
        VerdictKind(verdict),
        None if relation is None else Relation(relation),
        None if direction is None else Direction(direction),
        note,
        by,
        at,
        together,
    )


def _shared(one: str, other: str) -> int:
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
