"""Owns which commit lands which turn: the same work seen again counts with the turn, not beside it.

A commit is what has a `reference` and is no part of a turn. It lands a turn of which it changed the very
same files, as lineage knows them, whatever the change was. Of the turns (each at its last part) and the
commits of one set of files, in order of time, a commit lands the turn right before it, at most `WITHIN`
earlier; where no turn is there, the turn right after it, if that ends at most `LEEWAY` later, as agents
commit before they say what they did. So a commit lands one turn at most, and a turn is landed by the first
commit that may.

It is not how the two are counted as one (`occasions`). Only equal sets count: a commit of the files of
several turns, or of some of one's, is an occasion of its own; so is one of a turn longer than a day.
Everything here is a function of what is stored, whatever came first; without turns nothing is looked at.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from graphmem.database import chunked
from graphmem.instant import DAY
from graphmem.occasions import NO_PAIRS, Turn, turns_of
from inference.lineage import Change

WITHIN = DAY
"""A commit comes at most so long after the last part of the turn it lands, in seconds."""
LEEWAY = 600.0
"""A turn goes on for at most so long after the commit that lands it, in seconds."""

_LONGEST = DAY
_BACK = 2 * WITHIN + LEEWAY
"""What lies further back than that has no say in what a commit lands."""
_ALIKE = (
    "SELECT DISTINCT touch.seq FROM touch CROSS JOIN observation USING (seq)"
    " WHERE file = ? AND touch.at BETWEEN ? AND ? AND change != ? AND {}"
)
_COMMITTED = "committed = 1 AND turn = ''"
_NEAR = _ALIKE.format(_COMMITTED)
_TOLD = _ALIKE.format("turn != ''")


class Unit(NamedTuple):
    """A turn, or a commit, whose `turn` is None: its time, and what tells it from others of the same time."""

    at: float
    is_commit: bool
    id: str
    turn: Turn | None = None


class Landings(NamedTuple):
    """What has changed: each commit with the turn it lands now, and the turns it landed or lands."""

    now: dict[int, Turn | None]
    turns: set[Turn]


class Landing:
    """The landings behind one open transaction.

    Whatever changes is to be noted as it was and as it is then, all that is told again of a family of names
    among it; `changes` looks at all that may differ.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._suspects: set[int] = set()

    def note(self, numbers: Iterable[int], turns: Iterable[Turn]) -> None:
        """Note the commits among these observations, and those near these turns or near such commits."""
        if not self._has_turn():
            return
        commits = f"SELECT seq, at FROM observation WHERE seq IN ({{}}) AND {_COMMITTED}"
        for seq, at in chunked(self._connection, commits, numbers):
            self._suspects.add(seq)
            if self._has_turn(at - 2 * _BACK, at + 2 * _BACK):
                self._suspect([seq], at)
        for turn in turns:
            parts = self._connection.execute(
                "SELECT seq, at FROM observation WHERE session = ? AND turn = ? AND turn != ''", turn
            ).fetchall()
            if parts:
                self._suspect([seq for seq, _ in parts], max(at for _, at in parts))

    def changes(self) -> Landings:
        """Return what is landed otherwise than it is stored."""
        found = Landings({}, set())
        for seq in sorted(self._suspects):
            row = self._connection.execute("SELECT session, turn FROM landing WHERE seq = ?", (seq,))
            before, now = row.fetchone(), self._landed(seq)
            if before != now:
                found.now[seq] = now
                found.turns.update(turn for turn in (before, now) if turn is not None)
        return found

    def settle(self, landings: Landings) -> None:
        """Store what `changes` returned."""
        self._connection.executemany("DELETE FROM landing WHERE seq = ?", [(seq,) for seq in landings.now])
        rows = [(seq, *turn) for seq, turn in landings.now.items() if turn is not None]
        self._connection.executemany("INSERT INTO landing VALUES (?, ?, ?)", rows)

    def _has_turn(self, first: float = -1.0e18, last: float = 1.0e18) -> bool:
        query = "SELECT 1 FROM observation WHERE turn != '' AND at BETWEEN ? AND ? LIMIT 1"
        return self._connection.execute(query, (first, last)).fetchone() is not None

    def _suspect(self, numbers: Sequence[int], at: float) -> None:
        """Note the commits that may be alike to these observations: what is alike shares every file."""
        files = self._changed(numbers)
        if files:
            reach = min(files), at - LEEWAY, at + _BACK, Change.READ
            self._suspects.update(seq for (seq,) in self._connection.execute(_NEAR, reach))

    def _changed(self, numbers: Iterable[int]) -> frozenset[int]:
        query = f"SELECT DISTINCT file FROM touch WHERE change != {Change.READ:d} AND seq IN ({{}})"
        return frozenset(file for (file,) in chunked(self._connection, query, numbers))

    def _landed(self, seq: int) -> Turn | None:
        """Return the turn that an observation lands, as things stand."""
        own = self._unit(seq)
        if own is None or not self._has_turn(own.at - WITHIN, own.at + LEEWAY):
            return None
        files = self._changed((seq,))
        if not files:
            return None
        reach = min(files), own.at - _BACK - _LONGEST, own.at + LEEWAY, Change.READ
        alike = {own}
        for (other,) in self._connection.execute(_NEAR, reach).fetchall():
            unit = self._unit(other)
            if unit is not None and self._changed((other,)) == files:
                alike.add(unit)
        told = [other for (other,) in self._connection.execute(_TOLD, reach).fetchall()]
        for turn in turns_of(self._connection, told):
            last = self._last(turn, files)
            if last is not None:
                alike.add(last)
        return landed(own, sorted(alike, key=lambda unit: unit[:3]))

    def _unit(self, seq: int) -> Unit | None:
        row = self._connection.execute(
            f"SELECT at, id, type FROM observation WHERE seq = ? AND {_COMMITTED}", (seq,)
        ).fetchone()
        return None if row is None or row[2] in NO_PAIRS else Unit(row[0], True, row[1])

    def _last(self, turn: Turn, files: frozenset[int]) -> Unit | None:
        """Return a turn at its last part, None for one that changed other files or took too long."""
        parts = self._connection.execute(
            "SELECT seq, at, id FROM observation WHERE session = ? AND turn = ? AND turn != ''"
            " ORDER BY at, id",
            turn,
        ).fetchall()
        if not parts:  # a commit that landed it was told of, and the turn itself has left
            return None
        _, at, id = parts[-1]
        if at - parts[0][1] > _LONGEST or self._changed(part[0] for part in parts) != files:
            return None
        return Unit(at, False, id, turn)


def landed(commit: Unit, alike: Sequence[Unit]) -> Turn | None:
    """Return the turn that a commit lands; `alike` are turns and commits of its files in order of time."""
    place = alike.index(commit)
    before = _before(alike, place)
    if before is not None:
        taken = place > 1 and _after(alike, place - 2) is not None
        return None if taken else before
    return _after(alike, place)


def _before(alike: Sequence[Unit], place: int) -> Turn | None:
    """Return the turn right before a commit."""
    if place == 0 or alike[place].at - alike[place - 1].at > WITHIN:
        return None
    return alike[place - 1].turn


def _after(alike: Sequence[Unit], place: int) -> Turn | None:
    """Return the turn that a commit was made in: the one right after it, where none is right before it."""
    if not alike[place].is_commit or place + 1 == len(alike) or _before(alike, place) is not None:
        return None
    return alike[place + 1].turn if alike[place + 1].at - alike[place].at <= LEEWAY else None
