"""Owns which verdicts of a project teach its ranking at a moment: those on two files that count then.

It is not what they teach (`inference.lessons`) nor the rules of verdicts (`graphmem.verdicts`). What was
read is kept while the state of the derived file stays the same, so that a question costs one look at it.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import NamedTuple

from graphmem.database import chunked
from graphmem.graph import EdgeStatus
from graphmem.judgements import standings_until
from graphmem.ledger import Ledger
from graphmem.nodes import NodeTable, row_of, table_of
from graphmem.postings import View
from inference.lessons import UNTAUGHT, End, Lesson, Lessons, learned

_KEPT = 32
_STATE = ("generation", "entries", "removals", "applied", "minted", "verdicts", "stamp")
_SETTLED = "SELECT seq FROM sqlite_sequence WHERE name = 'graph_log'"
_TEACHING = (EdgeStatus.CONFIRMED, EdgeStatus.REJECTED)
_NOW = (
    "SELECT source, target, COALESCE(present, decided) FROM ("
    " SELECT minted.source, minted.target, judgement.status AS decided, judgement.number,"
    " (SELECT status FROM edge WHERE edge.id = judgement.edge) AS present"
    " FROM judgement JOIN minted ON minted.id = judgement.edge WHERE judgement.status IN (?, ?)"
    ") ORDER BY number"
)


class _Pair(NamedTuple):
    source: int
    target: int
    status: str


class _Shelf:
    """The lessons of the states that were asked about last, safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[int, ...], Lessons] = OrderedDict()

    def find(self, state: tuple[int, ...]) -> Lessons | None:
        with self._lock:
            found = self._known.get(state)
            if found is not None:
                self._known.move_to_end(state)
            return found

    def put(self, state: tuple[int, ...], lessons: Lessons) -> None:
        with self._lock:
            self._known[state] = lessons
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)


_SHELF = _Shelf()


def lessons_of(view: View, ledger: Ledger | None = None) -> Lessons:
    """Return what the verdicts that count at the view's moment teach.

    A rejected edge whose evidence has outgrown the verdict teaches nothing any more, nor does one that is
    stale or retired, nor one with an end that is gone.

    Args:
        view: the postings, cut at the moment asked about.
        ledger: the verdicts; needed for a past moment, of which nothing is taught without it.
    """
    if view.connection.execute("SELECT 1 FROM judgement LIMIT 1").fetchone() is None:
        return UNTAUGHT
    if view.as_of != math.inf:
        return UNTAUGHT if ledger is None else _learned(view, _past(view, ledger))
    meta = dict(view.connection.execute("SELECT key, value FROM meta"))
    if "generation" not in meta:
        return _learned(view, _present(view))
    # Names change with observations, and where an edge stands is settled a moment after its verdict is in.
    settled = view.connection.execute(_SETTLED).fetchone()
    state = (*(meta.get(name, 0) for name in _STATE), 0 if settled is None else settled[0])
    found = _SHELF.find(state)
    if found is None:
        found = _learned(view, _present(view))
        _SHELF.put(state, found)
    return found


def _present(view: View) -> list[_Pair]:
    return [_Pair._make(row) for row in view.connection.execute(_NOW, _TEACHING)]


def _past(view: View, ledger: Ledger) -> list[_Pair]:
    """Return what had been decided by the view's moment, the pair first judged first."""
    standings = {
        id: now for id, now in standings_until(ledger, view.as_of).items() if now.status in _TEACHING
    }
    rows = chunked(view.connection, "SELECT id, source, target FROM minted WHERE id IN ({})", standings)
    rows.sort(key=lambda row: standings[row[0]].number)
    return [_Pair(source, target, str(standings[id].status)) for id, source, target in rows]


def _learned(view: View, pairs: Iterable[_Pair]) -> Lessons:
    teaching = [
        pair
        for pair in pairs
        if pair.status in _TEACHING and table_of(pair.source) is NodeTable.FILE is table_of(pair.target)
    ]
    files = view.files({row_of(end) for pair in teaching for end in (pair.source, pair.target)})
    ends = {id: End(id, file.path) for id, file in files.items() if file.alive}
    return learned(
        Lesson(ends[one], ends[other], pair.status == EdgeStatus.CONFIRMED)
        for pair in teaching
        for one, other in ((row_of(pair.source), row_of(pair.target)),)
        if one in ends and other in ends
    )
