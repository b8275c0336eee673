"""Owns reading `derived.db` as steps of a chronicle: observations in order of time, with what they did.

It is not the chronicle (`inference.chronicle`), nor who keeps one in step (`chronicler`).
"""

from __future__ import annotations

import math
import sqlite3
import sys
import zlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from graphmem.database import chunked
from inference.chronicle import State, Step
from inference.lineage import Change

_BATCH = 200
_BETWEEN = "FROM observation WHERE at > ? AND at <= ?"
_HEADS = (
    f"SELECT seq, occasion, at, session, actor, size, pairs, branch, committed {_BETWEEN} ORDER BY at, seq"
)
_TOUCHES = "SELECT seq, change, file FROM touch WHERE repeated = 0 AND seq IN ({}) ORDER BY seq, ord"
_CONCEPTS = (
    "SELECT seq, concept, weight FROM concept_use WHERE repeated = 0 AND seq IN ({}) ORDER BY seq, concept"
)
_STATES = (
    "SELECT state.seq, state.file, name, alive FROM state JOIN path ON path.id = state.path"
    " WHERE state.seq IN ({}) ORDER BY state.seq, state.file"
)
_STANDING = (
    "SELECT state.file, name, alive FROM state JOIN path ON path.id = state.path WHERE state.at <= ?"
    " ORDER BY state.file, state.at, state.seq"
)


class _Head(NamedTuple):
    seq: int
    occasion: int
    at: float
    session: int
    actor: int
    size: int
    pairs: int
    branch: str | None
    committed: int


def steps(connection: sqlite3.Connection, after: float, until: float) -> Iterator[Step]:
    """Yield the observations of `after < at <= until` (epoch seconds) as steps, in order of time and number.

    The first has the names of all files known before, where something is left out in front of it.
    """
    standing = _standing(connection, after)
    cursor = connection.execute(_HEADS, (after, until))
    while batch := cursor.fetchmany(_BATCH):
        for step in _steps(connection, list(map(_Head._make, batch))):
            yield step._replace(states=(*standing, *step.states)) if standing else step
            standing = ()


def further_steps(connection: sqlite3.Connection, after: float, until: float) -> Iterator[Step]:
    """Yield such steps for whoever has all that comes before."""
    cursor = connection.execute(_HEADS, (after, until))
    while batch := cursor.fetchmany(_BATCH):
        yield from _steps(connection, list(map(_Head._make, batch)))


def count_steps(connection: sqlite3.Connection, after: float, until: float, at_most: int) -> int:
    """Return how many steps those are, `at_most` when there are more."""
    query = f"SELECT COUNT(*) FROM (SELECT 1 {_BETWEEN} LIMIT ?)"
    return int(connection.execute(query, (after, until, at_most)).fetchone()[0])


def start_of(connection: sqlite3.Connection, until: float, at_most: int) -> float:
    """Return the moment after which at most so many observations lie up to `until`, -infinity for all."""
    query = "SELECT at FROM observation WHERE at <= ? ORDER BY at DESC, seq DESC LIMIT 1 OFFSET ?"
    row = connection.execute(query, (until, at_most)).fetchone()
    return -math.inf if row is None else float(row[0])


def branch_number(branch: str | None) -> int:
    """Return the number that a step has for a branch, 0 for none."""
    return 0 if branch is None else zlib.crc32(branch.encode())


def _standing(connection: sqlite3.Connection, until: float) -> tuple[State, ...]:
    if until == -math.inf:
        return ()
    rows = connection.execute(_STANDING, (until,))
    return tuple({file: State(file, name, bool(alive)) for file, name, alive in rows}.values())


def _steps(connection: sqlite3.Connection, heads: Sequence[_Head]) -> Iterator[Step]:
    numbers = [head.seq for head in heads]
    edited: dict[int, list[int]] = {}
    read: dict[int, list[int]] = {}
    for seq, change, file in chunked(connection, _TOUCHES, numbers):
        (read if change == Change.READ else edited).setdefault(seq, []).append(file)
    concepts: dict[int, list[tuple[int, float]]] = {}
    for seq, concept, weight in chunked(connection, _CONCEPTS, numbers):
        concepts.setdefault(seq, []).append((concept, weight))
    states: dict[int, list[State]] = {}
    for seq, file, name, alive in chunked(connection, _STATES, numbers):
        states.setdefault(seq, []).append(State(file, name, bool(alive)))
    words = dict(chunked(connection, "SELECT seq, words FROM task WHERE seq IN ({})", numbers))
    for head in heads:
        yield Step(
            key=head.seq,
            occasion=head.occasion,
            at=head.at,
            session=head.session,
            actor=head.actor,
            size=head.size,
            edited=tuple(edited.get(head.seq, ())),
            read=tuple(read.get(head.seq, ())),
            words=tuple(map(sys.intern, words[head.seq].split())),
            concepts=tuple(concepts.get(head.seq, ())),
            states=tuple(states.get(head.seq, ())),
            committed=bool(head.committed),
            branch=branch_number(head.branch),
            links=bool(head.pairs),
        )
