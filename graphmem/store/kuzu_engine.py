"""Owns the engine: its limits, its connections, prepared statements, time limits, faults as sentences.

It is not what is said to it. Only this module and `kuzu_loading` name the engine's library, and both import
it when they are first used: a question that needs no graph does not pay for it.
"""

from __future__ import annotations

import ctypes
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphmem.store.bounds import took_longer
from graphmem.store.port import GraphFault, GraphFull

if TYPE_CHECKING:
    import kuzu

ENGINE_FAULTS = (RuntimeError, LookupError, ValueError, ArithmeticError, MemoryError, OSError)
"""What the engine's C++ exceptions become on their way through its bindings."""
_KEPT = 4
# The engine reports a write that stopped in the middle with whatever error came before.
_FULL = ("No space left", "File too large", "Disk quota", "Cannot write to file")
_WRITING_MS = 600_000
_CHANGES_IN_LOG = 32
"""Each change holds some .6 MB of the page memory until it is carried from the log into the file."""
_CLOSE_AT_ONCE = "CALL force_checkpoint_on_close=false"
"""Closing empties the log by itself otherwise, and never ends when that failed before on a full disk."""
_M_PERTURB = -6
_NO_TEXT = 0x5A
_TOO_LARGE = "needed more memory than a graph may take"

log = logging.getLogger(__name__)


class CutShort(Exception):
    """A question met its limit of time or memory; `str()` is the sentence for its answer."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one graph may take: bytes of pages in memory, threads a question, bytes on the disk."""

    buffer_bytes: int
    threads: int
    max_bytes: int

    def for_file(self, path: Path) -> Limits:
        """Return the limits for this file: emptying the log takes the pages of a whole table at once."""
        size = path.stat().st_size if path.is_file() else 0
        return replace(self, buffer_bytes=max(self.buffer_bytes, 2 * size))


class Speaker:
    """One connection; used by one thread at a time."""

    def __init__(self, database: kuzu.Database, path: Path, threads: int) -> None:
        import kuzu

        self._path = path
        self._prepare = kuzu.PreparedStatement
        self._prepared: dict[str, kuzu.PreparedStatement] = {}
        self._connection = kuzu.Connection(database, num_threads=threads)
        self._allowed = 0
        self._deadline: float | None = None

    def allow(self, milliseconds: int | None) -> None:
        """Give everything asked from now on so much time in all; None is for writes."""
        self._allowed = milliseconds or 0
        self._deadline = None if milliseconds is None else time.monotonic() + milliseconds / 1_000
        self._connection.set_query_timeout(_WRITING_MS)

    def rows(self, cypher: str, **parameters: object) -> list[list[Any]]:
        """Return the rows of a statement from `kuzu_schema`.

        Raises:
            CutShort: the time or memory of a question is used up.
            GraphFault: the engine failed.
        """
        if self._deadline is not None:
            left = int(1_000 * (self._deadline - time.monotonic()))
            if left <= 0:
                raise CutShort(took_longer(self._allowed))
            self._connection.set_query_timeout(left)
        try:
            statement = self._prepared.get(cypher)
            if statement is None:
                statement = self._prepared[cypher] = self._prepare(self._connection, cypher)
                if not statement.is_success():
                    raise RuntimeError(statement.get_error_message())
            result = self._connection.execute(statement, parameters)
            if isinstance(result, list):
                result = result[-1]
            return [list(row) for row in result.get_all()]
        except ENGINE_FAULTS as fault:
            self._prepared.pop(cypher, None)
            if self._deadline is not None:
                self._cut_short(fault)
            raise fault_of(self._path, fault) from fault

    def _cut_short(self, fault: BaseException) -> None:
        said = str(fault)
        if "Interrupted" in said:
            raise CutShort(took_longer(self._allowed)) from fault
        if "buffer pool is full" in said:
            raise CutShort(_TOO_LARGE) from fault

    def copy(self, cypher: str, rows: object) -> None:
        """Run a COPY of `kuzu_schema`'s tables from `rows`, an Arrow table.

        Raises:
            GraphFault: the engine failed.
        """
        with faults(self._path):
            self._connection.execute(cypher, {"rows": rows})

    def close(self) -> None:
        """Let go of the connection."""
        self._prepared.clear()
        self._connection.close()


class Engine:
    """An open graph file: one writer, and speakers lent to questions.

    Raises:
        GraphFull: not writable, disk full, or in use by another program.
        GraphFault: no graph file, or one that can't be read.
    """

    def __init__(self, path: Path, limits: Limits) -> None:
        import kuzu

        overwrite_freed_memory()
        self.path = path
        self._limits = limits
        self._in_log = 0
        self._free: list[Speaker] = []
        with faults(path):
            self._database = kuzu.Database(
                str(path),
                buffer_pool_size=limits.buffer_bytes,
                max_num_threads=limits.threads,
                max_db_size=limits.max_bytes,
                auto_checkpoint=False,
            )
            try:
                self._writer = self._speaker()
                self._writer.rows(_CLOSE_AT_ONCE)
            except BaseException:
                self._database.close()
                raise

    def _speaker(self) -> Speaker:
        return Speaker(self._database, self.path, self._limits.threads)

    @contextmanager
    def asking(self, milliseconds: int) -> Iterator[Speaker]:
        """Lend a speaker for one question of so much time."""
        try:
            speaker = self._free.pop()
        except IndexError:
            with faults(self.path):
                speaker = self._speaker()
        try:
            speaker.allow(milliseconds)
            yield speaker
        finally:
            if len(self._free) < _KEPT:
                self._free.append(speaker)
            else:
                speaker.close()

    @property
    def writer(self) -> Speaker:
        """The one connection that writes, for the one thread that does."""
        self._writer.allow(None)
        return self._writer

    @contextmanager
    def changing(self) -> Iterator[Speaker]:
        """Yield the writer inside one transaction; after a fault the file can't be trusted any more.

        A rollback loses relations of nodes deleted in the transaction (0.11.3), so nobody may go on.
        """
        writer = self.writer
        writer.rows("BEGIN TRANSACTION")
        yield writer
        writer.rows("COMMIT")
        self._in_log += 1

    @property
    def log_is_long(self) -> bool:
        """Whether the log should be emptied, by closing, before the next change."""
        return self._in_log >= _CHANGES_IN_LOG

    def close(self) -> bool:
        """Write everything into the file and let go of it; return whether that went well."""
        whole = True
        try:
            self.writer.rows("CHECKPOINT")
        except GraphFault as fault:
            log.warning("%s", fault)
            whole = False
        for speaker in (*self._free, self._writer):
            speaker.close()
        self._free.clear()
        try:
            self._database.close()
        except ENGINE_FAULTS as fault:
            log.warning("%s", fault_of(self.path, fault))
            whole = False
        _give_back()
        return whole


def engine_version() -> str:
    """Return the engine's name and version, as a seal holds it."""
    import kuzu

    return f"kuzu-{kuzu.Database.get_version()}"


@contextmanager
def faults(path: Path) -> Iterator[None]:
    """Turn the engine's exceptions into GraphFault."""
    try:
        yield
    except ENGINE_FAULTS as fault:
        raise fault_of(path, fault) from fault


def fault_of(path: Path, fault: BaseException) -> GraphFault:
    """Return what the engine's exception means, in one sentence."""
    said = " ".join(str(fault).split()).rstrip(".")[:200]
    if any(words in said for words in _FULL):
        return GraphFull(f"The disk that holds {path} is full; free some space and try again.")
    if "Permission denied" in said or "Read-only file system" in said:
        return GraphFull(f"{path} can't be written; check the folder's permissions.")
    if "Could not set lock" in said:
        return GraphFull(f"{path} is in use by another program; end it and try again.")
    return GraphFault(f"The graph {path} can't be used ({said}); it must be built anew.")


def _give_back() -> None:
    """Hand freed memory back to the system: glibc keeps some 50 MB of each graph that was closed."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


@cache
def overwrite_freed_memory() -> None:
    """Have memory overwritten when it is freed and before it is given out, from now on (glibc only).

    The engine (0.11.3) writes whole pages of which it fills a part: what stood in the memory before, such as
    a text that was forgotten, would be in its file.
    """
    adjust = getattr(ctypes.CDLL(None), "mallopt", None)
    if adjust is not None:
        adjust(_M_PERTURB, _NO_TEXT)
