"""Owns when the engine of a graph is open: lent to questions and writes, parked when others need the room.

It is not what is asked or written. An open graph takes some 55 MB before it holds anything, as the engine
keeps an index in memory for each kind of node; so only the last few that were used stay open in a process,
and a parked one is opened again in some 40 ms when it is asked.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from graphmem.store.kuzu_engine import Engine, Limits, Speaker, engine_version
from graphmem.store.kuzu_files import check_seal, put_in_place, remove, write_seal
from graphmem.store.kuzu_schema import TABLES
from graphmem.store.port import GraphFault, GraphFull

MOST_OPEN = 6
"""So many graphs of a process are open at once; more only while all of them are being asked."""
_ROOM = 32 << 20
_GROWTH = 4
"""A file of more bytes and times its first size is outgrown: the room of old rows is not all used again."""
_PATIENCE = 1.0
"""Seconds a change waits for the questions under way before it leaves the log as long as it is."""

log = logging.getLogger(__name__)


class Lender:
    """The one way to the engine of the graph at `path`; makes an empty graph where there is none.

    `outgrown` says that the file was too large for what it holds when it was opened, until it is replaced.

    Raises:
        GraphFull: not writable, disk full, or in use by another program.
        GraphFault: the file is damaged, changed from outside, or of another version.
    """

    def __init__(self, path: Path, limits: Limits) -> None:
        self._path = path
        self._limits = limits
        self._state = threading.Condition(threading.Lock())
        self._engine: Engine | None = None
        self._borrowers = 0
        self._held = False
        self._closed = False
        self._fault: GraphFault | None = None
        self._loaded = 0
        self.outgrown = False
        with self._borrowed():
            pass

    @contextmanager
    def asking(self, milliseconds: int) -> Iterator[Speaker]:
        """Lend a speaker for one question of so much time."""
        with self._borrowed() as engine, engine.asking(milliseconds) as speaker:
            yield speaker

    @contextmanager
    def looking(self) -> Iterator[Speaker]:
        """Lend the writer outside a transaction, to look at what a change meets."""
        with self._borrowed() as engine:
            yield engine.writer

    @contextmanager
    def changing(self) -> Iterator[Speaker]:
        """Lend the writer inside one transaction; a change that fails is the end of this graph."""
        with self._borrowed() as engine:
            try:
                with engine.changing() as speaker:
                    yield speaker
                self._seal()
                if engine.log_is_long:
                    self._empty_log()
            except GraphFault as fault:
                self._give_up(fault)
                raise
            except BaseException:
                self._give_up(None)
                raise

    def replace(self, beside: Path) -> None:
        """Let the closed file `beside` take the place of this one, after the questions under way."""
        with self._state:
            if self._closed:
                raise self._shut()
        self._alone(borrowers=0, seconds=None)
        try:
            self._let_go()
            put_in_place(beside, self._path)
            self._loaded = self._path.stat().st_size
            self._seal()
            self._fault, self.outgrown = None, False
        finally:
            self._among_others()

    def park(self) -> bool:
        """Close the engine unless it is in use; return whether it is closed."""
        if not self._state.acquire(blocking=False):
            return False
        try:
            if self._borrowers or self._held:
                return False
            self._let_go()
            return True
        finally:
            self._state.release()

    def close(self) -> None:
        """Close for good, questions under way first; a second call does nothing."""
        with self._state:
            self._closed = True
            self._state.wait_for(lambda: not self._borrowers and not self._held)
            self._let_go()
        _berths.leave(self)

    def _empty_log(self) -> None:
        """Close the engine for a moment, while nobody asks: it can't be asked on after it emptied its log.

        Some questions bring it down then (0.11.3), and with others about it would wait for seconds.
        """
        if self._alone(borrowers=1, seconds=_PATIENCE):
            try:
                self._let_go()
            finally:
                self._among_others()

    def _alone(self, borrowers: int, seconds: float | None) -> bool:
        """Keep new borrowers waiting until only so many are left; return whether that came in time."""
        with self._state:
            self._held = True
            alone = self._state.wait_for(lambda: self._borrowers <= borrowers, seconds)
            if not alone:
                self._held = False
                self._state.notify_all()
            return alone

    def _among_others(self) -> None:
        with self._state:
            self._held = False
            self._state.notify_all()

    @contextmanager
    def _borrowed(self) -> Iterator[Engine]:
        with self._state:
            self._state.wait_for(lambda: not self._held)
            if self._closed:
                raise self._shut()
            if self._fault is not None:
                raise GraphFault(str(self._fault)) from self._fault
            engine = self._engine or self._open()
            self._engine = engine
            self._borrowers += 1
        try:
            _berths.take(self)
            yield engine
        finally:
            with self._state:
                self._borrowers -= 1
                self._state.notify_all()

    def _open(self) -> Engine:
        fresh = not self._path.exists() and not self._path.is_symlink()
        if fresh:
            remove(self._path)
        else:
            self._loaded = check_seal(self._path, engine_version())
            self.outgrown = self._path.stat().st_size > max(_ROOM, _GROWTH * self._loaded)
        engine = Engine(self._path, self._limits.for_file(self._path))
        if fresh:
            make_tables(engine)
        self._seal()
        return engine

    def _seal(self) -> None:
        write_seal(self._path, engine_version(), self._loaded)

    def _let_go(self) -> None:
        engine, self._engine = self._engine, None
        if engine is None:
            return
        if engine.close() and self._fault is None:
            try:
                self._seal()
            except GraphFull as fault:
                # Without a seal that fits, the file is built anew at the next opening.
                log.warning("%s", fault)

    def _give_up(self, fault: GraphFault | None) -> None:
        with self._state:
            self._fault = GraphFault(
                f"A change of the graph {self._path} failed"
                + (f" ({fault})" if fault is not None else "")
                + "; it must be built anew."
            )

    def _shut(self) -> GraphFault:
        return GraphFault(f"The graph {self._path} is closed; open the memory again.")


def make_tables(engine: Engine) -> None:
    """Make the tables of an empty file."""
    with engine.changing() as speaker:
        for table in TABLES:
            speaker.rows(table)


class _Berths:
    """The open graphs of this process, the last used last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lenders: dict[Lender, None] = {}

    def take(self, lender: Lender) -> None:
        with self._lock:
            self._lenders.pop(lender, None)
            self._lenders[lender] = None
            idle = list(self._lenders)[:-MOST_OPEN]
        for other in idle:
            if other.park():
                self.leave(other)

    def leave(self, lender: Lender) -> None:
        with self._lock:
            self._lenders.pop(lender, None)


_berths = _Berths()
