"""Owns the graph of past moments: promoted in memory when asked for, the last one kept for further questions.

It is not the promotion (`graphmem.past_promotion`). What was known at a moment changes when something arrives
late or is forgotten; then it is promoted anew.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

from graphmem.judgements import standings_until
from graphmem.ledger import Ledger
from graphmem.past_promotion import promoted_at
from graphmem.postings import View
from graphmem.recall.rows import ListedRows
from graphmem.store.memory import MemoryStore
from graphmem.store.port import GraphStore, Mark

_COUNTED = ("generation", "entries", "removals", "minted", "verdicts")


@dataclass(frozen=True, slots=True)
class Moment:
    """The edges of a moment as rows, and as a graph to walk."""

    rows: ListedRows
    store: GraphStore


class Past:
    """The past of one project, safe to share between threads."""

    def __init__(self, project: str, ignore: tuple[str, ...]) -> None:
        self._project = project
        self._ignore = ignore
        self._lock = threading.Lock()
        self._key: tuple[float, ...] = ()
        self._last: Moment | None = None

    def moment(self, view: View, ledger: Ledger) -> Moment:
        """Return the edges of the view's moment."""
        meta = dict(view.connection.execute("SELECT key, value FROM meta"))
        key = (view.as_of, *(float(meta.get(name, 0)) for name in _COUNTED))
        with self._lock:
            if self._last is None or self._key != key:
                self._key, self._last = key, self._promoted(view, ledger)
            return self._last

    def clear(self) -> None:
        """Let go of the moment that is kept."""
        with self._lock:
            self._key, self._last = (), None

    def _promoted(self, view: View, ledger: Ledger) -> Moment:
        standings = standings_until(ledger, view.as_of)
        found = promoted_at(view, standings, self._project, self._ignore)
        store = MemoryStore()
        store.load(found.content, Mark(0, 0, 0))
        return Moment(ListedRows(found.rows, dict(found.former)), store)
