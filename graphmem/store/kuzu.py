"""Owns the graph of one project in Kùzu: `GraphStore` over a file that can be deleted at any time.

It is not the Cypher (`kuzu_schema`), the engine and its faults (`kuzu_engine`), when it is open
(`kuzu_lending`), nor what is on the disk (`kuzu_files`).
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from graphmem.graph import EdgeStatus, Relation
from graphmem.store import kuzu_schema as cypher
from graphmem.store.arcs import Arc
from graphmem.store.bounds import checked_depth, more_neighbours
from graphmem.store.cycles import shortest_cycles
from graphmem.store.kuzu_changes import carry_out, plan
from graphmem.store.kuzu_engine import CutShort, Engine, Limits, Speaker
from graphmem.store.kuzu_files import loading_beside, remove
from graphmem.store.kuzu_lending import Lender, make_tables
from graphmem.store.kuzu_walks import onwards, walk, ways
from graphmem.store.port import (
    MAX_DEPTH,
    OPEN_STATUSES,
    TIMEOUT_MS,
    Beside,
    GraphChange,
    GraphContent,
    GraphCounts,
    GraphFull,
    GraphModule,
    GraphSlow,
    Level,
    Mark,
    Surroundings,
    Through,
    Towards,
    Walk,
    Ways,
)

_MIB = 1 << 20
_LOADING_BYTES = 512 * _MIB
_PATIENT_MS = 10_000
"""Questions whose answers have no place to say what they leave out may take longer than others."""
_PAGE = 2_000


class KuzuStore:
    """The graph in the file at `path`, safe to share between threads; made where there is none.

    Args:
        path: the file; its log and its seal lie beside it.
        buffer_bytes: pages kept in memory at most; a large file gets twice its size, and a load takes more
            for a moment.
        threads: threads of one question.
        max_bytes: how large the file may grow.
        timeout_ms: milliseconds after which a question is cut short.

    Raises:
        GraphFull: not writable, disk full, or in use by another program.
        GraphFault: the file is damaged, changed from outside, or of another version.
    """

    def __init__(
        self,
        path: Path,
        *,
        buffer_bytes: int = 64 * _MIB,
        threads: int = 2,
        max_bytes: int = 1 << 34,
        timeout_ms: int = TIMEOUT_MS,
    ) -> None:
        self._path = path
        self._timeout_ms = timeout_ms
        self._loading = Limits(max(buffer_bytes, _LOADING_BYTES), threads, max_bytes)
        self._writing = threading.Lock()
        self._lender = Lender(path, Limits(buffer_bytes, threads, max_bytes))

    def mark(self) -> Mark | None:
        """See `GraphStore.mark`; None also for a file that has grown too large, so that it is loaded anew."""
        with self._asking() as speaker:
            rows = [] if self._lender.outgrown else speaker.rows(cypher.MARK)
        return Mark(*rows[0]) if rows else None

    def load(self, content: GraphContent, mark: Mark) -> None:
        """See `GraphStore.load`; the old graph answers until the new one is whole."""
        from graphmem.store.kuzu_loading import fill

        with self._writing:
            beside = loading_beside(self._path)
            remove(beside)
            try:
                engine = Engine(beside, self._loading)
                try:
                    make_tables(engine)
                    fill(engine.writer, content, mark)
                finally:
                    whole = engine.close()
                if not whole:
                    raise GraphFull(f"The graph {self._path} can't be written whole; check free space.")
                self._lender.replace(beside)
            finally:
                remove(beside)

    def apply(self, change: GraphChange, mark: Mark) -> None:
        """See `GraphStore.apply`."""
        with self._writing:
            with self._lender.looking() as speaker:
                planned = plan(speaker, change)
            with self._lender.changing() as speaker:
                carry_out(speaker, planned, mark)

    def set_modules(self, modules: Sequence[GraphModule]) -> None:
        """See `GraphStore.set_modules`."""
        from graphmem.store.kuzu_modules import plan_modules, put_modules

        with self._writing:
            with self._lender.looking() as speaker:
                planned = plan_modules(speaker, modules)
            with self._lender.changing() as speaker:
                put_modules(speaker, planned)

    def walk(self, node: int, towards: Towards, depth: int = MAX_DEPTH, limit: int = 200) -> Walk:
        """See `GraphStore.walk`."""
        checked_depth(depth)
        with self._lender.asking(self._timeout_ms) as speaker:
            return walk(speaker, node, towards, depth, limit)

    def beside(
        self, node: int, statuses: Sequence[EdgeStatus] = OPEN_STATUSES, limit: int = 200
    ) -> Surroundings:
        """See `GraphStore.beside`."""
        asked = [str(status) for status in statuses]
        try:
            with self._lender.asking(self._timeout_ms) as speaker:
                rows = speaker.rows(cypher.BESIDE, node=node, statuses=asked, most=limit + 1)
        except CutShort as short:
            return Surroundings(cut=str(short))
        found = tuple(
            Beside(target if source == node else source, edge, EdgeStatus(status), probability)
            for source, target, edge, status, probability in rows
        )
        return Surroundings(found[:limit], more_neighbours(limit) if len(found) > limit else None)

    def onwards(self, level: Sequence[int], seen: Collection[int], through: Through, width: int = 5) -> Level:
        """See `GraphStore.onwards`."""
        with self._lender.asking(self._timeout_ms) as speaker:
            return onwards(speaker, level, seen, through, width)

    def ways(self, start: int, end: int, at_most: int = 3) -> Ways:
        """See `GraphStore.ways`."""
        with self._lender.asking(self._timeout_ms) as speaker:
            return Ways() if start == end else ways(speaker, start, end, at_most)

    def cycles(self, at_most: int = 20) -> Ways:
        """See `GraphStore.cycles`."""
        with self._asking() as speaker:
            rows = speaker.rows(cypher.DEPENDENCIES, relation=str(Relation.DEPENDS_ON))
        return shortest_cycles((Arc(*row) for row in rows), at_most)

    def orphans(self, limit: int = 200) -> tuple[int, ...]:
        """See `GraphStore.orphans`."""
        found: list[int] = []
        last = -1
        with self._asking() as speaker:
            while len(found) < limit:
                # Page by page: asked in one, the engine would hold all edges in memory.
                page = [row[0] for row in speaker.rows(cypher.LIVING, after=last, most=_PAGE)]
                if not page:
                    break
                linked = {row[0] for row in speaker.rows(cypher.LINKED, after=last, last=page[-1])}
                found += (number for number in page if number not in linked)
                last = page[-1]
        return tuple(found[:limit])

    def members(self, module: str, limit: int = 10_000) -> tuple[int, ...]:
        """See `GraphStore.members`."""
        with self._asking() as speaker:
            return tuple(row[0] for row in speaker.rows(cypher.MEMBERS, module=module, most=limit))

    def module_of(self, nodes: Sequence[int], level: int = 0) -> dict[int, str]:
        """See `GraphStore.module_of`."""
        with self._asking() as speaker:
            rows = speaker.rows(cypher.MODULES_OF, nodes=list(nodes), level=level)
        return dict(rows)

    def observations_of(self, nodes: Sequence[int], limit: int = 20) -> tuple[int, ...]:
        """See `GraphStore.observations_of`."""
        asked = sorted(set(nodes))
        with self._asking() as speaker:
            rows = speaker.rows(cypher.OBSERVED, nodes=asked, wanted=len(asked), most=limit)
        return tuple(row[0] for row in rows)

    def counts(self) -> GraphCounts:
        """See `GraphStore.counts`."""
        with self._asking() as speaker:
            return GraphCounts(*(speaker.rows(count)[0][0] for count in cypher.COUNTS))

    def close(self) -> None:
        """See `GraphStore.close`; questions under way are answered first."""
        with self._writing:
            self._lender.close()

    @contextmanager
    def _asking(self) -> Iterator[Speaker]:
        try:
            with self._lender.asking(_PATIENT_MS) as speaker:
                yield speaker
        except CutShort as short:
            raise GraphSlow(f"The graph {self._path} gave no answer: it {short}; ask again.") from short
