"""Owns lending a project's graph to a question that may not wait: brought up beside it, or said to be away.

It is not the bringing up (`graphmem.curator`, `graphmem.recall.past`) nor what is asked. A load or a
promotion may take seconds on a large history; it goes on by itself while the question is answered without.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from graphmem import refreshing
from graphmem.access import Access
from graphmem.database import DamageError
from graphmem.errors import GraphMemError, UnavailableError
from graphmem.graph_content import numbering
from graphmem.opened import Opened
from graphmem.postings import View
from graphmem.recall.past import Past
from graphmem.recall.rows import EdgeRows
from graphmem.store.port import GraphFault, GraphStore

T = TypeVar("T")

_LOADING = "the graph is being brought up; ask again in a moment"
_RENAMED = "files got other names meanwhile; ask again in a moment"
_FAULTS = (UnavailableError, DamageError, GraphFault)

log = logging.getLogger(__name__)


class Borrowed(NamedTuple):
    """A graph, and the edges of its moment as rows; None for those of the table."""

    store: GraphStore
    rows: EdgeRows | None


class Lending:
    """Lends one project's graph; safe to share between threads.

    Args:
        access: the project's files.
        past: where graphs of past moments are kept.
    """

    def __init__(self, access: Access, past: Past) -> None:
        self._access = access
        self._past = past
        self._lock = threading.Lock()
        self._under_way: tuple[float, threading.Thread] | None = None

    def ask(
        self, view: View, question: Callable[[Borrowed], T], deadline: float
    ) -> tuple[T | None, str | None]:
        """Return what a question says of the graph of the view's moment, and what was missing.

        `deadline` is on the monotonic clock. Where the graph is away, or not up by then, there is no answer,
        but the reason.
        """
        if not self._is_up(view.as_of, deadline):
            return None, _LOADING
        with self._access.use() as files:
            if view.as_of != math.inf:
                moment = self._past.moment(view, files.journal.ledger)
                return question(Borrowed(moment.store, moment.rows)), None
            try:
                with files.curator.store(refreshing.left(deadline)) as store:
                    found = question(Borrowed(store, None))
                return (found, None) if _is_same(files, view, deadline) else (None, _RENAMED)
            except _FAULTS as fault:
                return None, str(fault)

    def _is_up(self, as_of: float, deadline: float) -> bool:
        """Have the graph brought up beside the question; return whether that was done in time."""
        with self._lock:
            if self._under_way is None or not self._under_way[1].is_alive() or self._under_way[0] != as_of:
                thread = threading.Thread(target=self._bring_up, args=(as_of,), name="graph up", daemon=True)
                self._under_way = as_of, thread
                thread.start()
            else:
                thread = self._under_way[1]
        thread.join(refreshing.left(deadline))
        return not thread.is_alive() and time.monotonic() < deadline

    def _bring_up(self, as_of: float) -> None:
        try:
            with self._access.use() as files:
                if as_of == math.inf:
                    refreshing.refreshed(files, refreshing.deadline())
                    with files.curator.store():
                        return
                with files.follower.view(as_of) as view:
                    self._past.moment(view, files.journal.ledger)
        except GraphMemError as fault:  # whoever asks is told by the question itself
            log.debug("the graph was not brought up: %s", fault)


def _is_same(files: Opened, view: View, deadline: float) -> bool:
    """Return whether nodes are numbered as the question's own view numbers them."""
    with files.follower.view(patience=refreshing.left(deadline)) as fresh:
        return numbering(fresh.connection) == numbering(view.connection)
