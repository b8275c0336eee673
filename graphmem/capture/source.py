"""Owns the seam between a source of history and the memory: what an importer yields and how it adds up.

It is not storage: an importer knows no journal. Whoever drives it stores each batch durably together with
the batch's cursor, in one transaction, and hands that cursor back next time.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from graphmem.model import ImportReport, Observation, Receipt

MAX_PROBLEMS = 200
_PLACE = re.compile(r"(?:line|item) (\d+)")


@dataclass(frozen=True, slots=True)
class Remark:
    """Something to say on the screen; equal remarks of several batches add up.

    `one` and `many` are the sentence for a count of one and for any other, with `{count}` where the number
    stands; without it the sentence is said once, whatever the count.
    """

    one: str
    many: str
    count: int = 1

    def sentence(self) -> str:
        """Return the sentence for the count."""
        template = self.one if self.count == 1 else self.many
        return template.replace("{count}", f"{self.count:,}")


@dataclass(frozen=True, slots=True)
class Batch:
    """A piece of a source, in order.

    `items` are finished observations, or raw mappings that the intake still has to judge; `positions[i]`
    is the line that `items[i]` came from (1-based, empty where there are no lines). `cursor` is opaque text
    for the place behind this batch. `done` of `total` (None: not known yet) commits or lines are dealt
    with; `seen` of them in this batch, those that gave no item included. `left_out` counts paths by rule,
    each path once in a run. `problems` are sentences about what could not be taken.
    """

    items: tuple[Observation | Mapping[str, object], ...]
    cursor: str
    done: int
    total: int | None
    seen: int
    positions: tuple[int, ...] = ()
    left_out: tuple[tuple[str, int], ...] = ()
    remarks: tuple[Remark, ...] = ()
    problems: tuple[str, ...] = ()


class Importer(Protocol):
    """A source of observations: a pure producer, resumable by cursor, idempotent by ids."""

    source: str
    location: str

    def batches(
        self, cursor: str | None = None, stop: threading.Event | None = None
    ) -> Generator[Batch, None, None]:
        """Yield what is new since `cursor` (None: everything), oldest first, in bounded memory.

        When `stop` is set, what has been read so far is yielded and the iteration ends; closing the
        iterator ends it at once. Either way nothing keeps running. A cursor of another source or version
        counts as None.

        Raises:
            SourceError: the source can't be read, or not further; every batch before it is good.
        """


class ImportTally:
    """What the batches of one run add up to; the driver adds each batch after storing it."""

    def __init__(self, source: str, location: str) -> None:
        self._source = source
        self._location = location
        self._seen = self._accepted = self._duplicates = self._rejected = 0
        self._left_out: Counter[str] = Counter()
        self._remarks: Counter[tuple[str, str]] = Counter()
        self._problems: list[str] = []
        self._unsaid = 0

    def add(self, batch: Batch, receipt: Receipt) -> None:
        """Count a stored batch; the receipt's rejections are named by line where the batch has lines."""
        self._seen += batch.seen
        self._accepted += receipt.accepted
        self._duplicates += receipt.duplicates
        self._rejected += len(receipt.rejected) + len(batch.problems)
        for label, count in batch.left_out:
            self._left_out[label] += count
        for remark in batch.remarks:
            self._remarks[remark.one, remark.many] += remark.count
        found = list(batch.problems)
        for rejection in receipt.rejected:
            place = batch.positions[rejection.index] if batch.positions else rejection.index
            reasons = "; ".join(f"{error.field}: {error.message.rstrip('.')}" for error in rejection.errors)
            found.append(f"{'line' if batch.positions else 'item'} {place}: {reasons}")
        self._name(sorted(found, key=_place))

    def _name(self, problems: Sequence[str]) -> None:
        room = MAX_PROBLEMS - len(self._problems)
        self._problems.extend(problems[:room])
        self._unsaid += max(0, len(problems) - room)

    def report(self, *, stopped: bool = False, took_ms: float = 0.0) -> ImportReport:
        """Return the report so far; it names at most `MAX_PROBLEMS` problems and counts the others."""
        more = (f"and {self._unsaid:,} more that are not listed",) if self._unsaid else ()
        return ImportReport(
            source=self._source,
            location=self._location,
            seen=self._seen,
            accepted=self._accepted,
            duplicates=self._duplicates,
            rejected=self._rejected,
            left_out=tuple(sorted(self._left_out.items(), key=lambda item: (-item[1], item[0]))),
            remarks=self._sentences(),
            problems=(*self._problems, *more),
            stopped=stopped,
            took_ms=took_ms,
        )

    def _sentences(self) -> tuple[str, ...]:
        said = [Remark(one, many, count).sentence() for (one, many), count in self._remarks.items()]
        if self._left_out:
            most = self._left_out.most_common(3)
            named = ", ".join(f"{label} {count:,}" for label, count in most)
            rest = ", ..." if len(self._left_out) > len(most) else ""
            total = self._left_out.total()
            said.append(
                f"{total:,} vendored or generated {'path' if total == 1 else 'paths'} left out"
                f" ({named}{rest}); an include pattern such as '{most[0][0].rstrip('/')}' takes them in."
            )
        return tuple(said)


def _place(problem: str) -> int:
    found = _PLACE.match(problem)
    return int(found[1]) if found else 0
