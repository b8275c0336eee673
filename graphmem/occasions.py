"""Owns what counts as one in `derived.db`: the parts of a turn are one occasion, under the first's number.

It is not how parts come about (`assembly`) nor what occasions say (`postings`). The first part by time, then
by number, is the lead: its row has the size of the whole turn, the others have size 0 and make no pairs, but
their touches and concepts name the lead as their occasion. A file or concept counts once in a turn, a file
where it was first changed, or first read where nothing of the turn changed it; further mentions are marked.
The commit that lands a turn (`landing`) counts as its last part, whenever it was made.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from graphmem.database import chunked
from graphmem.genealogy import REPEATED
from graphmem.lifting import warm
from inference.cochange import MAX_SIZE
from inference.lineage import Change

NO_PAIRS = frozenset({"snapshot"})
"""Types of observations that say nothing about what belongs together."""
_PART = "SELECT seq, type, size, pairs, occasion FROM observation"
_ELSEWHERE = 2
"""`repeated` of what counts in another part of the turn."""

Turn = tuple[int, str]
"""A session's row and the turn's name in it."""


class _Part(NamedTuple):
    seq: int
    type: str
    size: int
    pairs: int
    occasion: int


def pairs_up(size: int, types: Iterable[str]) -> bool:
    """Return whether an occasion of that many changed files links them."""
    return size <= MAX_SIZE and NO_PAIRS.isdisjoint(types)


def turns_of(connection: sqlite3.Connection, numbers: Iterable[int]) -> set[Turn]:
    """Return the turns that these observations are parts of, or landed."""
    if connection.execute("SELECT 1 FROM observation WHERE turn != '' LIMIT 1").fetchone() is None:
        return set()
    wanted = list(numbers)
    query = "SELECT DISTINCT session, turn FROM {} WHERE turn != '' AND seq IN ({{}})"
    tables = ("observation", "landing")
    rows = (row for table in tables for row in chunked(connection, query.format(table), wanted))
    return {(session, turn) for session, turn in rows}


def parts_of(connection: sqlite3.Connection, turns: Iterable[Turn]) -> list[int]:
    """Return the observations that are parts of these turns, and those that landed them."""
    return [part.seq for turn in turns for part in _parts(connection, turn)]


def count_turn(connection: sqlite3.Connection, turn: Turn) -> None:
    """Make what is stored of a turn count as one; the same whatever was there before."""
    parts = _parts(connection, turn)
    if parts:
        _count(connection, parts)


def count_alone(connection: sqlite3.Connection, seq: int) -> None:
    """Make what is left of an observation an occasion of its own, as it was before it landed a turn."""
    row = connection.execute(f"{_PART} WHERE seq = ?", (seq,)).fetchone()
    if row is not None:
        _count(connection, [_Part._make(row)])


def _count(connection: sqlite3.Connection, parts: Sequence[_Part]) -> None:
    lead = parts[0].seq
    changed = _count_touches(connection, parts)
    _count_concepts(connection, parts)
    pairs = pairs_up(changed, (part.type for part in parts))
    wanted = {part.seq: (0, 0, lead) for part in parts} | {lead: (changed, int(pairs), lead)}
    connection.executemany(
        "UPDATE observation SET size = ?, pairs = ?, occasion = ? WHERE seq = ?",
        [(*wanted[part.seq], part.seq) for part in parts if part[2:] != wanted[part.seq]],
    )
    more = len(parts) - 1 - sum(part.occasion != part.seq for part in parts)
    connection.execute("UPDATE meta SET value = value + ? WHERE key = 'parts'", (more,))


def _parts(connection: sqlite3.Connection, turn: Turn) -> list[_Part]:
    rows = connection.execute(
        f"{_PART} WHERE session = ? AND turn = ? AND turn != '' ORDER BY at, seq", turn
    ).fetchall()
    if rows:
        landed = "WHERE seq IN (SELECT seq FROM landing WHERE session = ? AND turn = ?)"
        rows += connection.execute(f"{_PART} {landed}", turn)
    return [_Part._make(row) for row in rows]


def _count_touches(connection: sqlite3.Connection, parts: Sequence[_Part]) -> int:
    """Mark which touches of a turn count; return how many files it changed."""
    query = "SELECT file, at, seq, ord, change, repeated, occasion FROM touch WHERE seq = ? ORDER BY ord"
    rows = [row for part in parts for row in connection.execute(query, (part.seq,))]
    lead = parts[0].seq
    counting: dict[int, tuple[int, int]] = {}
    for is_read in (False, True):
        for file, _, seq, ord, change, repeated, _ in rows:
            if (change == Change.READ) is is_read and repeated != REPEATED:
                counting.setdefault(file, (seq, ord))
    updates = []
    for file, at, seq, ord, _, repeated, occasion in rows:
        marked = repeated if repeated == REPEATED else 0 if counting[file] == (seq, ord) else _ELSEWHERE
        if (marked, lead) != (repeated, occasion):
            updates.append((marked, lead, file, at, seq, ord))
    connection.executemany(
        "UPDATE touch SET repeated = ?, occasion = ? WHERE file = ? AND at = ? AND seq = ? AND ord = ?",
        updates,
    )
    warm(connection, {row[2] for row in updates})
    if len(parts) == 1:
        # As it was stored: by names, of which two may be one file's.
        return sum(row[4] != Change.READ for row in rows)
    place = {(row[2], row[3]): row[4] for row in rows}
    return sum(place[seq, ord] != Change.READ for seq, ord in counting.values())


def _count_concepts(connection: sqlite3.Connection, parts: Sequence[_Part]) -> None:
    """Mark which part's word counts for each concept: that of the highest weight, the first of equal ones."""
    query = "SELECT concept, seq, weight, occasion, repeated FROM concept_use WHERE seq = ?"
    rows = [row for part in parts for row in connection.execute(query, (part.seq,))]
    lead = parts[0].seq
    counting: dict[int, tuple[float, int]] = {}
    for concept, seq, weight, _, _ in rows:
        if concept not in counting or weight > counting[concept][0]:
            counting[concept] = weight, seq
    uses: Counter[int] = Counter()
    updates = []
    for concept, seq, _, occasion, repeated in rows:
        marked = 0 if counting[concept][1] == seq else _ELSEWHERE
        if (marked, lead) != (repeated, occasion):
            updates.append((marked, lead, seq, concept))
            uses[concept] += (marked == 0) - (repeated == 0)
    connection.executemany(
        "UPDATE concept_use SET repeated = ?, occasion = ? WHERE seq = ? AND concept = ?", updates
    )
    connection.executemany(
        "UPDATE concept SET uses = uses + ? WHERE id = ?", [(more, id) for id, more in uses.items() if more]
    )
