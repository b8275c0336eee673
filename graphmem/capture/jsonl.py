"""Owns the import of a file of JSON lines: observations as they are, history lines as commits.

It is not the judge of observations (`graphmem.capture.intake`), which whoever drives the import asks. A line
without an id gets one from its content, so importing a file again, grown or moved, adds only what is new.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Generator, Mapping

from graphmem.capture.history_line import content_id, history_observation, is_history_line
from graphmem.capture.jsonl_lines import JsonLines, JsonRecord, LineFault, open_lines
from graphmem.capture.source import Batch, Remark
from graphmem.errors import InvalidInputError, SourceError
from graphmem.model import Observation

BATCH_LINES = 500
BATCH_BYTES = 8 * 1024 * 1024
BATCH_SECONDS = 2.0

_EMPTY = Remark("The file has no lines.", "The file has no lines.")


class JsonlImporter:
    """Reads one file; see `graphmem.capture.source.Importer` for the contract.

    The cursor says how far a run came; the next run reads from the beginning all the same, since a line
    that was cut off then may be complete now, and ids catch what is known.

    Args:
        location: the file, plain or gzip.
        clock: the present moment in epoch seconds, for times in the future.
    """

    source = "jsonl"

    def __init__(self, location: str | os.PathLike[str], *, clock: Callable[[], float] = time.time) -> None:
        self.location = os.path.abspath(location)
        self._clock = clock

    def batches(
        self, cursor: str | None = None, stop: threading.Event | None = None
    ) -> Generator[Batch, None, None]:
        """Yield the lines of the file; at least one batch, which may be empty.

        Raises:
            SourceError: no such file, not readable, a damaged gzip stream; the lines before it are yielded.
        """
        with open_lines(self.location) as lines:
            gathered = _Gathered(lines, self._clock())
            try:
                for entry in lines:
                    gathered.put(entry)
                    if gathered.full():
                        yield gathered.batch()
                    if stop is not None and stop.is_set():
                        break
            except SourceError:
                yield gathered.batch()
                raise
            yield gathered.batch()


class _Gathered:
    """What has been read of the lines and not yet been handed on."""

    def __init__(self, lines: JsonLines, now: float) -> None:
        self._lines = lines
        self._now = now
        self._begin()

    def _begin(self) -> None:
        self._items: list[Observation | Mapping[str, object]] = []
        self._positions: list[int] = []
        self._problems: list[str] = []
        self._bytes = 0
        self._begun = time.monotonic()

    def put(self, entry: JsonRecord | LineFault | None) -> None:
        """Add a record or a fault; a line with nothing in it is only passed."""
        match entry:
            case LineFault():
                self._problems.append(entry.sentence)
            case JsonRecord():
                self._bytes += entry.size
                self._add(entry)

    def _add(self, record: JsonRecord) -> None:
        value = record.value
        item: Observation | Mapping[str, object]
        if is_history_line(value):
            try:
                item = history_observation(value, self._now)
            except InvalidInputError as fault:
                self._problems.append(f"line {record.line}: {fault.field}: {fault}")
                return
        else:
            item = value if value.get("id") else {**value, "id": content_id(value)}
        self._items.append(item)
        self._positions.append(record.line)

    def full(self) -> bool:
        """Return whether it is time to hand on."""
        many = len(self._items) + len(self._problems) >= BATCH_LINES or self._bytes >= BATCH_BYTES
        return many or (bool(self._items) and time.monotonic() - self._begun > BATCH_SECONDS)

    def batch(self) -> Batch:
        """Return what has been read since the last batch."""
        batch = Batch(
            items=tuple(self._items),
            cursor=json.dumps({"line": self._lines.line}),
            done=self._lines.line,
            total=self._lines.total,
            seen=len(self._items) + len(self._problems),
            positions=tuple(self._positions),
            remarks=(_EMPTY,) if self._lines.line == 0 else (),
            problems=tuple(self._problems),
        )
        self._begin()
        return batch
