"""Owns the reading of `derived.db`: files by name, their occasions and concepts, as of any past moment.

It is not the scoring (that is `inference`) and not the answers (that is `graphmem.recall`). A `View` is one
consistent state of the file; everything later than its `as_of` does not exist for it. The parts of a turn are
read as one occasion, under the number of the first (see `graphmem.occasions`).
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

from graphmem.database import Database, chunked
from graphmem.derived import HEAT_CHANGES
from graphmem.instant import DAY
from graphmem.model import Noise
from graphmem.noise import noise_of
from inference.activity import busyness, cooled
from inference.chronicle import (
    EDITS,
    FOLLOWED,
    LATER,
    NO_PAIR_SIZE,
    PROFILE_OCCASIONS,
    RECENT,
    Chronicle,
)
from inference.evidence import FileHistory, Occasion
from inference.lineage import Change

_READ = Change.READ.value
_HEAD = "observation.seq, observation.at, observation.session, observation.actor, observation.size, pairs"


Chronicles = Callable[["View"], AbstractContextManager[Chronicle | None]]


class FileView(NamedTuple):
    """A file as the view sees it."""

    id: int
    path: str
    alive: bool
    noise: Noise | None


@dataclass(frozen=True, slots=True)
class ObservationView:
    """The head of an observation: who did what when, without its texts."""

    seq: int
    id: str
    at: float
    session: str
    actor: str
    title: str


class Postings:
    """Reads one project's `derived.db`; its views know the work in memory that `chronicles` gives for one."""

    def __init__(self, database: Database, chronicles: Chronicles | None = None) -> None:
        self._database = database
        self._chronicles = chronicles

    @contextmanager
    def view(self, as_of: float | None = None) -> Iterator[View]:
        """Yield one consistent state, cut at `as_of` (epoch seconds) if given."""
        with self._database.read() as connection:
            yield View(connection, math.inf if as_of is None else as_of, self._chronicles)


class View:
    """One consistent state of the postings."""

    def __init__(
        self, connection: sqlite3.Connection, as_of: float, chronicles: Chronicles | None = None
    ) -> None:
        self._chronicles = chronicles
        self.connection = connection
        self.as_of = as_of
        self._now = as_of == math.inf
        self._total: int | None = None
        self._profiles: dict[int, dict[int, float]] = {}

    def chronicle(self) -> AbstractContextManager[Chronicle | None]:
        """Lend the same work in memory for one question; None where it is not held, or not yet."""
        return nullcontext() if self._chronicles is None else self._chronicles(self)

    def file(self, path: str) -> FileView | None:
        """Return the file that `path` meant at this moment, old names included."""
        if self._now:
            row = self.connection.execute("SELECT file FROM path WHERE name = ?", (path,)).fetchone()
        else:
            row = self.connection.execute(
                "SELECT claim.file FROM path JOIN claim ON claim.path = path.id WHERE name = ? AND at <= ?"
                " ORDER BY at DESC, seq DESC LIMIT 1",
                (path, self.as_of),
            ).fetchone()
        return None if row is None else self.files([row[0]]).get(row[0])

    def knows(self, path: str) -> bool:
        """Return whether any observation named exactly this path."""
        return self.connection.execute("SELECT 1 FROM path WHERE name = ?", (path,)).fetchone() is not None

    def uses(self, path: str) -> int:
        """Return how many observations named exactly this path."""
        row = self.connection.execute(
            "SELECT COUNT(DISTINCT seq) FROM path JOIN file ON file.kin = path.kin"
            " JOIN touch ON touch.file = file.id AND path.id IN (touch.path, touch.old_path) WHERE name = ?",
            (path,),
        ).fetchone()
        return int(row[0])

    def files(self, ids: Iterable[int]) -> dict[int, FileView]:
        """Return these files; one that no observation had mentioned yet is left out."""
        if self._now:
            rows = self._chunked(
                "SELECT file.id, path.name, alive, noise FROM file JOIN path ON path.id = file.path"
                " WHERE file.id IN ({})",
                ids,
            )
            return {row[0]: FileView(row[0], row[1], bool(row[2]), _noise(row[3])) for row in rows}
        past = ((id, self._past(id)) for id in ids)
        return {id: view for id, view in past if view is not None}

    def _chunked(self, query: str, ids: Iterable[int]) -> list[tuple[Any, ...]]:
        return chunked(self.connection, query, ids)

    def _past(self, id: int) -> FileView | None:
        row = self.connection.execute(
            "SELECT name, alive FROM state JOIN path ON path.id = state.path WHERE state.file = ? AND at <= ?"
            " ORDER BY at DESC, seq DESC LIMIT 1",
            (id, self.as_of),
        ).fetchone()
        return None if row is None else FileView(id, row[0], bool(row[1]), noise_of(row[0]))

    def gone_since(self, file: int) -> float | None:
        """Return when a file ceased to exist, or None while it exists."""
        row = self.connection.execute(
            "SELECT at, alive FROM state WHERE file = ? AND at <= ? ORDER BY at DESC, seq DESC LIMIT 1",
            (file, self.as_of),
        ).fetchone()
        return None if row is None or row[1] else float(row[0])

    def history(self, file: int) -> FileHistory:
        """Return what inference needs to know of a file: occasions newest first, followers, concepts."""
        edits = self._heads(file, "change != ?")
        reads = self._heads(file, "change = ?")
        follow = self._following(edits[:FOLLOWED])
        later = [self._later_in_session(head) for head in reads[:FOLLOWED]]
        heads = [*edits, *reads, *(head for head in follow if head is not None)]
        heads += [head for heads_of_one in later for head in heads_of_one]
        members = self._members([head.seq for head in heads if head.pairs])
        return FileHistory(
            file=file,
            edits=tuple(_occasion(head, members) for head in edits),
            reads=tuple(_occasion(head, members) for head in reads),
            followers=tuple(() if head is None else (_occasion(head, members),) for head in follow),
            concepts=self.profiles((file,))[file],
            read_followers=tuple(tuple(_occasion(head, members) for head in heads) for heads in later),
        )

    def _heads(self, file: int, role: str) -> list[_Head]:
        rows = self.connection.execute(
            f"SELECT {_HEAD} FROM touch JOIN observation ON observation.seq = touch.occasion"
            f" WHERE touch.file = ? AND touch.at <= ? AND repeated = 0 AND {role}"
            " ORDER BY touch.at DESC, touch.seq DESC LIMIT ?",
            (file, self.as_of, Change.READ, EDITS),
        )
        return sorted(map(_Head._make, rows), key=lambda head: (head.at, head.seq), reverse=True)

    def _following(self, heads: Sequence[_Head]) -> list[_Head | None]:
        """Return what came next: in the same session, or as the actor's next work within a day."""
        if not heads:
            return []
        first = (
            "SELECT seq FROM observation AS next WHERE next.{0} = this.{0}"
            " AND (next.at, seq) > (this.at, number) AND next.at <= {1} AND size > 0"
            " ORDER BY next.at, seq LIMIT 1"
        )
        query = (
            f"WITH this (number, at, session, actor) AS (VALUES {','.join(['(?, ?, ?, ?)'] * len(heads))})"
            f" SELECT number, COALESCE(({first.format('session', '?')}),"
            f" ({first.format('actor', 'MIN(?, this.at + ?)')})) FROM this"
        )
        places = (value for head in heads for value in (head.seq, head.at, head.session, head.actor))
        following = dict(self.connection.execute(query, (*places, self.as_of, self.as_of, DAY)).fetchall())
        numbers = (seq for seq in following.values() if seq is not None)
        rows = self._chunked(
            "SELECT seq, at, session, actor, size, pairs FROM observation WHERE seq IN ({})", numbers
        )
        found = {row[0]: _Head._make(row) for row in rows}
        return [found.get(following[head.seq]) for head in heads]

    def _later_in_session(self, head: _Head) -> list[_Head]:
        rows = self.connection.execute(
            "SELECT seq, at, session, actor, size, pairs FROM observation WHERE session = ?"
            " AND (at > ? OR (at = ? AND seq > ?)) AND at <= ? AND size > 0 ORDER BY at, seq LIMIT ?",
            (head.session, head.at, head.at, head.seq, self.as_of, LATER),
        )
        return [_Head._make(row) for row in rows]

    def recent_of(self, actor: str) -> tuple[Occasion, ...]:
        """Return the last changing occasions of an actor, newest first."""
        rows = self.connection.execute(
            "SELECT seq, at, session, actor, size, pairs FROM observation"
            " WHERE actor = (SELECT id FROM actor WHERE name = ?) AND at <= ? AND size > 0"
            " ORDER BY at DESC, seq DESC LIMIT ?",
            (actor, self.as_of, RECENT),
        )
        heads = [_Head._make(row) for row in rows]
        members = self._members([head.seq for head in heads if head.pairs])
        return tuple(_occasion(head, members) for head in heads)

    def _changes(self, file: int, limit: int) -> list[float]:
        rows = self.connection.execute(
            "SELECT at FROM touch WHERE file = ? AND at <= ? AND change != ? AND repeated = 0"
            " ORDER BY at DESC, seq DESC LIMIT ?",
            (file, self.as_of, Change.READ, limit),
        )
        return [row[0] for row in rows]

    def changes(self, file: int) -> int:
        """Return how many observations changed a file, the parts of a turn as one."""
        row = self.connection.execute(
            "SELECT COUNT(*) FROM touch WHERE file = ? AND at <= ? AND change != ? AND repeated = 0",
            (file, self.as_of, Change.READ),
        ).fetchone()
        return int(row[0])

    def heat(self, files: Iterable[int], now: float) -> dict[int, float]:
        """Return how busy each file is at `now`, see `inference.activity`."""
        found: dict[int, float] = {}
        rows = self._chunked("SELECT id, heat, heat_at FROM file WHERE id IN ({})", files)
        for id, heat, since in rows:
            if since > self.as_of:
                # Summed up as of the last change, as it is stored: sums of floats depend on their terms.
                changes = self._changes(id, HEAT_CHANGES)
                since = changes[0] if changes else 0.0
                heat = busyness(changes, since)
            found[id] = cooled(heat, since, now)
        return found

    def _members(self, numbers: Sequence[int]) -> dict[int, tuple[list[int], list[int]]]:
        members: dict[int, tuple[list[int], list[int]]] = {seq: ([], []) for seq in numbers}
        parts = self._parts(members)
        rows = chunked(
            self.connection,
            "SELECT seq, change, file FROM touch WHERE at <= ? AND seq IN ({}) AND repeated = 0"
            " ORDER BY seq, ord",
            parts,
            (self.as_of,),
        )
        if len(parts) > len(members):
            places = {seq: place for place, seq in enumerate(parts)}
            rows.sort(key=lambda row: places[row[0]])
        for seq, change, file in rows:
            members[parts[seq]][change == _READ].append(file)
        return members

    def _parts(self, occasions: Iterable[int]) -> dict[int, int]:
        """Return the observations that these occasions consist of, with the occasion, in order of time."""
        parts = {seq: seq for seq in occasions}
        counted = self.connection.execute("SELECT value FROM meta WHERE key = 'parts'").fetchone()
        if counted[0] > 0:
            more = "SELECT seq, occasion FROM observation WHERE occasion IN ({}) AND seq != occasion"
            parts.update(self._chunked(f"{more} ORDER BY at, seq", parts))
        return parts

    def profiles(self, files: Iterable[int]) -> dict[int, dict[int, float]]:
        """Return for each file the concepts of its last occasions, summed weights by concept."""
        wanted = list(dict.fromkeys(files))
        new = [file for file in wanted if file not in self._profiles]
        if new:
            occasions = {file: self._last_occasions(file) for file in new}
            uses = self.concepts(dict.fromkeys(seq for seqs in occasions.values() for seq in seqs))
            for file, seqs in occasions.items():
                weights: dict[int, float] = {}
                for seq in seqs:
                    for concept, weight in uses[seq].items():
                        weights[concept] = weights.get(concept, 0.0) + weight
                self._profiles[file] = weights
        return {file: self._profiles[file] for file in wanted}

    def _last_occasions(self, file: int) -> list[int]:
        rows = self.connection.execute(
            "SELECT touch.occasion FROM touch JOIN observation ON observation.seq = touch.occasion"
            " WHERE file = ? AND touch.at <= ? AND repeated = 0 AND pairs = 1"
            " ORDER BY touch.at DESC, touch.seq DESC LIMIT ?",
            (file, self.as_of, PROFILE_OCCASIONS),
        )
        return [row[0] for row in rows]

    def frequencies(self, concepts: Iterable[int]) -> dict[int, int]:
        """Return in how many observations each concept stands."""
        uses = dict(self._chunked("SELECT id, uses FROM concept WHERE id IN ({})", concepts))
        if self._now:
            return uses
        late = self._is_late()
        when = "at > ?" if late else "at <= ?"
        count = f"SELECT COUNT(*) FROM concept_use WHERE concept = ? AND {when} AND repeated = 0"
        counted = {id: self.connection.execute(count, (id, self.as_of)).fetchone()[0] for id in uses}
        return {id: uses[id] - after for id, after in counted.items()} if late else counted

    def _is_late(self) -> bool:
        """Return whether it is quicker to count what came after this moment than what came before."""
        first, last = self.connection.execute(
            "SELECT (SELECT MIN(at) FROM observation), (SELECT MAX(at) FROM observation)"
        ).fetchone()
        return first is not None and self.as_of > (first + last) / 2

    def concept_names(self, concepts: Iterable[int]) -> dict[int, str]:
        """Return the names of concepts."""
        return dict(self._chunked("SELECT id, name FROM concept WHERE id IN ({})", concepts))

    def total(self) -> int:
        """Return the number of observations, the parts of a turn as one."""
        if self._total is None:
            counts = dict(self.connection.execute("SELECT key, value FROM meta"))
            self._total = int(counts["observations"] - counts["parts"])
            if not self._now:
                after = "SELECT COUNT(*) FROM observation WHERE at > ? AND occasion = seq"
                self._total -= self.connection.execute(after, (self.as_of,)).fetchone()[0]
        return self._total

    def heads(self, numbers: Iterable[int]) -> list[ObservationView]:
        """Return the heads of these observations, in the order given."""
        wanted = list(numbers)
        rows = self._chunked(
            "SELECT seq, observation.id, at, session.name, actor.name, title FROM observation"
            " JOIN session ON session.id = session JOIN actor ON actor.id = actor WHERE seq IN ({})",
            wanted,
        )
        found = {row[0]: ObservationView(*row) for row in rows}
        return [found[seq] for seq in wanted if seq in found]

    def concepts(self, numbers: Iterable[int]) -> dict[int, dict[int, float]]:
        """Return the concepts of these observations with their weights, by observation."""
        wanted = list(numbers)
        found: dict[int, dict[int, float]] = {seq: {} for seq in wanted}
        parts = self._parts(wanted)
        rows = chunked(
            self.connection,
            "SELECT seq, concept, weight FROM concept_use WHERE at <= ? AND seq IN ({}) AND repeated = 0"
            " ORDER BY seq, concept",
            parts,
            (self.as_of,),
        )
        if len(parts) > len(found):
            rows.sort(key=lambda row: (parts[row[0]], row[1]))
        for seq, concept, weight in rows:
            found[parts[seq]][concept] = weight
        return found

    def committed(self, numbers: Iterable[int]) -> set[int]:
        """Return those of these occasions that a history recorded, turns that a commit landed among them."""
        query = "SELECT occasion FROM observation WHERE committed = 1 AND at <= ? AND occasion IN ({})"
        rows = chunked(self.connection, query, numbers, (self.as_of,))
        return {seq for (seq,) in rows}

    def is_sitting(self, session: str) -> bool:
        """Return whether all that is known of a session is what a history recorded."""
        query = (
            "SELECT 1 FROM observation WHERE session = (SELECT id FROM session WHERE name = ?)"
            " AND committed = 0 AND at <= ? LIMIT 1"
        )
        return self.connection.execute(query, (session, self.as_of)).fetchone() is None

    def contracts(self, numbers: Iterable[int]) -> list[int]:
        """Return the contracts that these observations name, each once."""
        rows = self._chunked(
            "SELECT DISTINCT contract FROM contract_use WHERE seq IN ({})", self._parts(numbers)
        )
        return list(dict.fromkeys(row[0] for row in rows))


class _Head(NamedTuple):
    seq: int
    at: float
    session: int
    actor: int
    size: int
    pairs: int


def _occasion(head: _Head, members: dict[int, tuple[list[int], list[int]]]) -> Occasion:
    edited, read = members.get(head.seq, ((), ()))
    size = head.size if head.pairs else NO_PAIR_SIZE
    return Occasion(head.seq, head.at, head.session, head.actor, size, tuple(edited), tuple(read))


def _noise(value: str | None) -> Noise | None:
    return None if value is None else Noise(value)
