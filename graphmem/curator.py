"""Owns keeping one project's graph up: promotion, modules, and the store that follows them.

It is not what is promoted (`graphmem.promotion`), how modules come about (`graphmem.modules`) or what a store
is (`graphmem.store.port`). All writing to the graph happens here, one step at a time; one thread a project
does it in the background, and a question brings up what is missing before it is answered. After a run in the
background that thread also holds the threshold of warnings against the past (`graphmem.calibration`).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from graphmem import calibration, graph_content
from graphmem.database import Database
from graphmem.edge_rows import Settled
from graphmem.errors import GraphMemError, UnavailableError
from graphmem.follower import PATIENCE, Follower
from graphmem.graph import Inferred
from graphmem.journal import Journal
from graphmem.modules import graph_modules, has_modules, regroup
from graphmem.promotion import promote, settle_verdicts
from graphmem.store.files import GraphFiles
from graphmem.store.port import NOT_CURED, GraphChange, GraphFault, GraphStore
from graphmem.traffic import Traffic

DEBOUNCE = 30.0
"""Seconds between two runs in the background; imports are followed at once."""
IDLE = 600.0
"""Seconds after which a graph that nobody asks is closed."""
_PAUSES = (0.1, 1.0, 5.0)
_LONG = 600.0
_NEXT_TRY = 60.0
_UNDER_WAY = "the graph is being built from the history; ask again in a moment"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Curation:
    """What one project's curator works by.

    `ignore` are globs of files that get no edges, `rebuilding` lets one project at a time load a graph, so
    that a fault that hits all of them does not become a storm. `traffic` tells when somebody is being served.
    """

    project: str
    ignore: tuple[str, ...]
    rebuilding: threading.Lock
    traffic: Traffic


class Curator:
    """The graph of one project and the thread that keeps it up.

    Args:
        journal: where ids of edges and modules are minted.
        follower: the derived file that is promoted from.
        folder: where the graph's files lie.
        curation: what it works by.
    """

    def __init__(self, journal: Journal, follower: Follower, folder: Path, curation: Curation) -> None:
        self._journal = journal
        self._follower = follower
        self._files = GraphFiles(folder)
        self._curation = curation
        self._state = threading.Condition()
        self._work = threading.RLock()
        self._store: GraphStore | None = None
        self._asked_at = time.monotonic()
        # A command that opens the project for one question need not wait for a run of its own.
        self._ran_at = time.monotonic()
        self._noticed = True
        self._hurry = False
        self._stopping = False
        self._fault: GraphFault | None = None
        self._tries_from = 0.0
        self._thread = threading.Thread(target=self._run, name=f"curate {folder.name}", daemon=True)
        self._thread.start()

    # ---- in the background ----------------------------------------------------------------------

    def notice(self, *, hurry: bool = False) -> None:
        """Say that something was stored; with `hurry` (after an import) it is followed at once."""
        with self._state:
            self._noticed = True
            self._hurry = self._hurry or hurry
            self._state.notify_all()

    def _run(self) -> None:
        while self._await_work():
            try:
                if self._follower.wait(PATIENCE, until=lambda: self._stopping):
                    self.infer(fully=False)
                    self._calibrate()
                    continue
            except GraphMemError as fault:
                log.warning("the graph could not be brought up: %s", fault)
            except Exception:  # the thread must outlive a fault of ours, or no edge is suggested any more
                log.exception("the graph could not be brought up")
            # What was noticed still waits to be followed.
            self.notice()

    def _await_work(self) -> bool:
        """Wait until a run is due; False when it is time to end. A graph nobody asks is closed meanwhile."""
        while not self._stopping:
            with self._state:
                due = self._ran_at + DEBOUNCE - time.monotonic()
                if self._noticed and (self._hurry or due <= 0):
                    self._noticed = self._hurry = False
                    self._ran_at = time.monotonic()
                    return True
                if not self._stopping:
                    self._state.wait(max(due, 0.01) if self._noticed else IDLE / 10)
            if time.monotonic() - self._asked_at > IDLE:
                self._close_store()
        return False

    def _calibrate(self) -> None:
        if self._follower.behind() is None and calibration.is_due(self._journal):
            traffic = self._curation.traffic
            with traffic.turn() as mine:
                if mine:
                    calibration.calibrate(
                        self._journal, self._follower.view, lambda: traffic.gives_way(self._pause)
                    )
                    self._follower.release_past()
                else:  # another project is at it: look again with the next run
                    self.notice()

    def _pause(self, seconds: float) -> bool:
        with self._state:
            return self._state.wait_for(lambda: self._stopping, seconds)

    # ---- promotion ------------------------------------------------------------------------------

    def infer(self, *, fully: bool = True) -> Inferred:
        """Promote, group modules and bring the graph up, now; `fully` False leaves a closed graph closed.

        Raises:
            UnavailableError: the derived file is being replaced.
            StorageError: it can't be written.
        """
        started = time.monotonic()
        with self._working(_LONG), self._follower.file() as database:
            counts = self._promote(database)
            degraded = None
            if not self._stopping:
                regroup(self._journal, database, self._curation.project)
            if not self._stopping and (fully or self._store is not None):
                try:
                    self._bring_up(database)
                except GraphFault as fault:
                    degraded = _away(fault)
            with database.read() as connection:
                modules = connection.execute("SELECT COUNT(*) FROM module WHERE level = 0").fetchone()[0]
        took = (time.monotonic() - started) * 1000.0
        return Inferred(counts.created, counts.updated, counts.retired, modules, took, degraded)

    def _promote(self, database: Database, stop: Callable[[], bool] | None = None) -> Settled:
        if self._follower.behind() is not None:
            # Half a history has other names: ids minted under these would stay in the journal for ever.
            return Settled()
        curation = self._curation
        ends = stop or (lambda: self._stopping)
        return promote(self._journal, database, curation.project, curation.ignore, ends)

    def settle(self) -> None:
        """Bring what was just decided into the edges and, if it is open, into the graph."""
        with self._working(_LONG), self._follower.file() as database:
            settle_verdicts(database)
            if self._store is None:
                return
            try:
                self._bring_up(database)
            except GraphFault as fault:
                log.warning("%s The graph follows later", fault)

    def refresh(self, patience: float = PATIENCE) -> None:
        """Promote what has come in since the last run, so that edges show it.

        Raises:
            UnavailableError: a run takes longer than `patience` (seconds), and goes on in the background; or
                the derived file is being replaced.
            DamageError: the derived file proved damaged and is built anew.
        """
        deadline = time.monotonic() + patience
        late = False

        def ends() -> bool:
            nonlocal late
            late = late or time.monotonic() > deadline
            return late or self._stopping

        with self._working(patience), self._follower.file() as database:
            self._promote(database, ends)
            if late:
                self.notice(hurry=True)
                raise UnavailableError(_UNDER_WAY)
            if not has_modules(database):
                regroup(self._journal, database, self._curation.project)

    @contextmanager
    def _working(self, patience: float) -> Iterator[None]:
        if not self._work.acquire(timeout=patience):
            raise UnavailableError(_UNDER_WAY)
        try:
            yield
        finally:
            self._work.release()

    # ---- the store ------------------------------------------------------------------------------

    @contextmanager
    def store(self, patience: float = PATIENCE) -> Iterator[GraphStore]:
        """Yield the graph as of now.

        Raises:
            UnavailableError: it is away, with the reason, or in use for longer than `patience` (seconds);
                what it would have told can't be said.
            DamageError: the derived file proved damaged and is built anew.
        """
        self._asked_at = time.monotonic()
        with self._working(patience), self._follower.file() as database:
            try:
                store = self._bring_up(database)
            except GraphFault as fault:
                raise UnavailableError(_away(fault)) from fault
        try:
            yield store
        except GraphFault as fault:
            self._give_up(store, fault)
            raise UnavailableError(_away(fault)) from fault

    def _bring_up(self, database: Database) -> GraphStore:
        """Open the graph if need be and carry over what it lacks; damage is rebuilt, at most three times."""
        if self._stopping:
            raise UnavailableError("the project is being closed; ask again")
        if self._fault is not None and time.monotonic() < self._tries_from:
            raise self._fault
        last = GraphFault("The graph was never opened.")
        for pause in _PAUSES:
            try:
                store = self._follow(database)
            except NOT_CURED as fault:
                self._rest(fault)
                raise
            except GraphFault as fault:
                log.warning("%s It is set aside and rebuilt", fault)
                self._close_store()
                self._files.set_aside()
                last = fault
                with self._state:
                    self._state.wait_for(lambda: self._stopping, pause)
            else:
                self._fault = None
                return store
        self._rest(last)
        raise last

    def _rest(self, fault: GraphFault) -> None:
        self._fault = fault
        self._tries_from = time.monotonic() + _NEXT_TRY

    def _follow(self, database: Database) -> GraphStore:
        store = self._store = self._store or self._files.open()
        held = store.mark()
        with database.read() as connection:
            wanted = graph_content.mark(connection)
            if held == wanted:
                return store
            change = None if held is None else graph_content.change(connection, held)
            if held is not None and change is not None:
                if graph_content.has_new_modules(connection, held):
                    # The mark reaches the change of the modules only once they are in.
                    store.apply(change, wanted._replace(change=held.change))
                    store.set_modules(graph_modules(connection))
                    change = GraphChange()
                store.apply(change, wanted)
                return store
            with self._curation.rebuilding:
                store.load(graph_content.content(connection), wanted)
        return store

    def _give_up(self, store: GraphStore, fault: GraphFault) -> None:
        """Set a graph that failed a question aside, unless somebody did already or it would not help."""
        if isinstance(fault, NOT_CURED):
            log.warning("%s", fault)
            return
        log.warning("%s It is set aside and rebuilt", fault)
        with self._work:
            if self._store is store:
                self._close_store()
                self._files.set_aside()

    def _close_store(self) -> None:
        with self._work:
            store, self._store = self._store, None
            if store is not None:
                store.close()

    def wipe(self) -> None:
        """Leave nothing of what was forgotten in the graph, in edges or in what is said of modules."""
        with self._work:
            self._close_store()
            self._files.remove()
            # A derived file that is just being replaced holds no modules yet.
            with suppress(UnavailableError), self._follower.file() as database:
                self._promote(database)
                regroup(self._journal, database, self._curation.project)
        self._journal.empty_log()

    def state(self) -> GraphState:
        """Return how the graph stands, without opening it."""
        with self._work:
            return GraphState(
                size_bytes=self._files.size_bytes(),
                is_open=self._store is not None,
                fault=None if self._fault is None else str(self._fault),
                set_aside=self._files.was_set_aside(),
            )

    def close(self) -> None:
        """End the thread and close the graph."""
        with self._state:
            if self._stopping:
                return
            self._stopping = True
            self._state.notify_all()
        self._thread.join()
        self._close_store()


@dataclass(frozen=True, slots=True)
class GraphState:
    """How a project's graph stands, for `doctor`."""

    size_bytes: int
    is_open: bool
    fault: str | None
    set_aside: bool


def _away(fault: GraphFault) -> str:
    return f"the graph is away: {fault}"
