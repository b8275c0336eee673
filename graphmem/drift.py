"""Owns where the memory and the code have moved apart, as far as the history itself tells.

It is not the working tree (`graphmem.working_tree`), and no judgement: what is told here deserves a look.
Nothing is retired by it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from graphmem.graph import Edge, EdgeStatus, Node
from graphmem.nodes import NodeTable, row_of
from graphmem.postings import View
from graphmem.recall.activity import replacement
from inference.lineage import Change

MUCH = 10
"""A confirmed edge is looked at again once each of its ends changed so often since it was decided,"""
APART = 0.05
"""and less than this share of the changes of the end that changed less were changes of both."""
LEAST_CHANGES = 3
"""A file is listed once it changed so often since the last statement about it."""
_COUNTED = 20
_FILES = 5
_NAMED = 2


class Recorded(Protocol):
    """A piece of what was recorded, by its observation's number and its place in it."""

    @property
    def seq(self) -> int:
        """The observation's number."""

    @property
    def ord(self) -> int:
        """-1 for the observation's own text, else the place of the fact."""


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that was changed since the last statement in work on it, made at `since` (epoch seconds)."""

    node: Node
    statements: int
    changes: int
    since: float


@dataclass(frozen=True, slots=True)
class OutdatedConsumer:
    """A file whose work last named `contract`, which `superseded_by` took the place of."""

    node: Node
    contract: str
    superseded_by: str
    last_seen: float


@dataclass(frozen=True, slots=True)
class LostContract:
    """A contract whose text no longer occurs in the working tree; `last_seen` in epoch seconds."""

    name: str
    last_seen: float


@dataclass(frozen=True, slots=True)
class Drift:
    """Where memory and code moved apart; the lists are cut, the counts are not.

    `changed_files` are listed most changed first, `off_branch` are files that `branch`, the one checked out,
    does not hold. `complete` is false when the working tree was not looked through whole.
    """

    counts: Mapping[str, int]
    changed_files: tuple[ChangedFile, ...] = ()
    lost_contracts: tuple[LostContract, ...] = ()
    outdated_consumers: tuple[OutdatedConsumer, ...] = ()
    apart_edges: tuple[Edge, ...] = ()
    off_branch: tuple[Node, ...] = ()
    branch: str | None = None
    complete: bool = True


class ChangedRow(NamedTuple):
    """A row of `changed_files`: the file's number, and the numbers of `ChangedFile`."""

    file: int
    statements: int
    changes: int
    since: float


class ConsumerRow(NamedTuple):
    """A row of `outdated_consumers`: the file's number, and what `OutdatedConsumer` says."""

    file: int
    contract: str
    superseded_by: str
    last_seen: float


class ApartRow(NamedTuple):
    """A confirmed edge whose ends changed without each other: how often each did, and how often both."""

    id: str
    first: int
    second: int
    together: int


# ---- pieces -------------------------------------------------------------------------------------


def changed_since(view: View, pieces: Iterable[Recorded]) -> dict[tuple[int, int], str]:
    """Return what to say of pieces whose files were changed later, by (seq, ord).

    Of an observation the first five files count, those it changed first. Changes are counted up to twenty.
    """
    wanted: dict[int, list[int]] = {}
    for piece in pieces:
        wanted.setdefault(piece.seq, []).append(piece.ord)
    if not wanted:
        return {}
    rows = view.connection.execute(
        "SELECT own.seq, path.name, file.alive, (SELECT COUNT(*) FROM (SELECT 1 FROM touch AS later"
        " WHERE later.file = own.file AND (later.at, later.seq) > (own.at, own.seq) AND later.at <= ?"
        f" AND later.repeated = 0 AND later.change != {Change.READ:d} AND later.occasion != own.occasion"
        f" LIMIT {_COUNTED})) AS changes"
        " FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY seq ORDER BY change ="
        f" {Change.READ:d}, ord) AS place FROM touch WHERE seq IN ({','.join('?' * len(wanted))})) AS own"
        " JOIN file ON file.id = own.file JOIN path ON path.id = file.path"
        f" WHERE own.place <= {_FILES} ORDER BY own.seq, changes DESC, path.name",
        (view.as_of, *wanted),
    )
    said: dict[int, list[str]] = {}
    for seq, name, alive, changes in rows:
        if not changes:
            continue
        if not alive and view.as_of == math.inf:
            said.setdefault(seq, []).append(f"{name} is gone")
        else:
            times = "once" if changes == 1 else f"{changes}{'+' if changes == _COUNTED else ''} times"
            said.setdefault(seq, []).append(f"{name} changed {times} since")
    return {
        (seq, ord): "; ".join(said[seq][:_NAMED])
        for seq, places in wanted.items()
        if seq in said
        for ord in places
    }


# ---- the whole memory ---------------------------------------------------------------------------


def changed_files(view: View) -> list[ChangedRow]:
    """Return living files that changed since the last statement in work on them, most changed first."""
    rows = view.connection.execute(
        "SELECT told.file, told.statements, told.since, (SELECT COUNT(*) FROM (SELECT 1 FROM touch AS later"
        " WHERE later.file = told.file AND later.at > told.since AND later.repeated = 0"
        f" AND later.change != {Change.READ:d} LIMIT 1000)) AS changes"
        " FROM (SELECT touch.file, MAX(touch.at) AS since, COUNT(*) AS statements FROM fact"
        " JOIN touch ON touch.seq = fact.seq WHERE touch.repeated = 0"
        f" AND touch.change != {Change.READ:d} GROUP BY touch.file) AS told"
        " JOIN file ON file.id = told.file AND alive = 1 AND noise IS NULL"
        " WHERE changes >= ? ORDER BY changes DESC, told.file",
        (LEAST_CHANGES,),
    )
    return [ChangedRow(file, statements, changes, since) for file, statements, since, changes in rows]


def outdated_consumers(view: View) -> list[ConsumerRow]:
    """Return living files whose work last named a contract that was replaced, and not its successor since."""
    replaced = view.connection.execute(
        "SELECT DISTINCT contract.id, name FROM contract_use JOIN contract ON contract.id = contract"
        " WHERE superseded_by IS NOT NULL ORDER BY name"
    ).fetchall()
    found: list[ConsumerRow] = []
    for contract, name in replaced:
        told = view.connection.execute(
            "SELECT superseded_by, at FROM contract_use JOIN observation USING (seq) WHERE contract = ?"
            " AND at <= ? ORDER BY at DESC, seq DESC",
            (contract, view.as_of),
        ).fetchall()
        successor = replacement(view, name, told)
        if successor is None:
            continue
        # What says that it was replaced has not used it.
        last = _last_used(view, "contract = ? AND superseded_by IS NULL", contract)
        after = _last_used(view, "contract = (SELECT id FROM contract WHERE name = ?)", successor[0])
        found += [
            ConsumerRow(file, name, successor[0], at)
            for file, at in sorted(last.items())
            if after.get(file, -math.inf) < at
        ]
    return found


def _last_used(view: View, condition: str, value: object) -> dict[int, float]:
    """Return for each living file when work that changed it last named a contract; bulk work aside."""
    rows = view.connection.execute(
        "SELECT touch.file, MAX(touch.at) FROM contract_use JOIN touch USING (seq)"
        " JOIN observation USING (seq) JOIN file ON file.id = touch.file"
        f" WHERE {condition} AND touch.change != {Change.READ:d} AND touch.at <= ? AND pairs = 1"
        " AND alive = 1 GROUP BY touch.file",
        (value, view.as_of),
    )
    return dict(rows.fetchall())


def apart_edges(view: View) -> list[ApartRow]:
    """Return confirmed edges of files whose ends changed much without each other since they were decided."""
    rows = view.connection.execute(
        "SELECT edge.id, source, target, judgement.at FROM edge JOIN judgement ON judgement.edge = edge.id"
        " WHERE edge.status = ? AND edge.source % 4 = ? AND edge.target % 4 = ? ORDER BY edge.id",
        (EdgeStatus.CONFIRMED, NodeTable.FILE, NodeTable.FILE),
    ).fetchall()
    found: list[ApartRow] = []
    changes: dict[tuple[int, float], set[int]] = {}
    for id, source, target, at in rows:
        first, second = (_occasions(view, row_of(end), at, changes) for end in (source, target))
        if min(len(first), len(second)) < MUCH:
            continue
        together = len(first & second)
        if together < APART * min(len(first), len(second)):
            found.append(ApartRow(id, len(first), len(second), together))
    return found


def _occasions(view: View, file: int, since: float, known: dict[tuple[int, float], set[int]]) -> set[int]:
    if (file, since) not in known:
        rows = view.connection.execute(
            "SELECT occasion FROM touch WHERE file = ? AND at > ? AND at <= ? AND repeated = 0"
            f" AND change != {Change.READ:d}",
            (file, since, view.as_of),
        )
        known[file, since] = {occasion for (occasion,) in rows}
    return known[file, since]


def apart_reason(row: ApartRow) -> str:
    """Return in words why an edge is to be looked at again."""
    together = f"together {row.together}" if row.together else "never together"
    return (
        f"since it was decided its ends changed {row.first} and {row.second} times, {together}: retire it, "
        "or undo and confirm it anew"
    )
