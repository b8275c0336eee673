"""Owns the way from the journal into `derived.db`: observations become touches, concepts, contracts, text.

It is not the truth and not the reading side. Any order of arrival ends in the state a rebuild gives: what
arrives late is put in its place in time, and where names are involved the lineage of the related paths is
told again from their first mention.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from graphmem.database import Database, chunked
from graphmem.fact_rows import insert_facts, remove_facts, wipe_facts
from graphmem.freshness import Freshness
from graphmem.genealogy import Genealogy, MentionRow
from graphmem.journal import Entry, Journal, Removal
from graphmem.judgements import carry, drop_unknown, follow_names
from graphmem.landing import Landing, Landings
from graphmem.ledger import Ledger
from graphmem.model import Observation
from graphmem.occasions import Turn, count_alone, count_turn, pairs_up, parts_of, turns_of
from graphmem.task_words import task_words
from graphmem.text import index_text
from graphmem.tide import Reach
from graphmem.word_rows import drop_unused, insert_words, intern, remove_words
from inference.cochange import MAX_SIZE
from inference.lineage import Change, Mention

_BATCH = 500


@dataclass(frozen=True, slots=True)
class Watermark:
    """How far the projection is: the journal's last entry, removal, minted edge and verdict that are in."""

    entries: int
    removals: int
    minted: int = 0
    verdicts: int = 0

    def has_reached(self, other: Watermark) -> bool:
        """Return whether everything that is in at `other` is in here too."""
        return (
            self.entries >= other.entries
            and self.removals >= other.removals
            and self.minted >= other.minted
            and self.verdicts >= other.verdicts
        )


def watermark(database: Database) -> Watermark:
    """Return how far `derived.db` follows the journal."""
    with database.read() as connection:
        rows = dict(connection.execute("SELECT key, value FROM meta").fetchall())
    return Watermark(rows["entries"], rows["removals"], rows["minted"], rows["verdicts"])


def applied(connection: sqlite3.Connection) -> int:
    """Return how many entries were ever carried into this file; a start-up that replays would raise it."""
    return int(connection.execute("SELECT value FROM meta WHERE key = 'applied'").fetchone()[0])


def catch_up(
    journal: Journal,
    database: Database,
    progress: Callable[[int], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> bool:
    """Carry what is new in the journal into `derived.db`, in batches; return whether there was anything."""
    did = False
    while not (stop is not None and stop()):
        mark = watermark(database)
        removals = journal.removals_after(mark.removals)
        entries = journal.entries_after(mark.entries, _BATCH)
        if entries or removals:
            project(database, entries, removals, journal.ledger)
        # The names of an edge can only be looked up once whatever names them is in.
        carried = len(entries) < _BATCH and carry(journal, database)
        if not (entries or removals or carried):
            return did
        did = True
        if progress is not None:
            progress(len(entries))
    return did


def project(
    database: Database,
    entries: Sequence[Entry],
    removals: Sequence[Removal] = (),
    ledger: Ledger | None = None,
) -> None:
    """Apply entries and removals in one transaction and move the watermark; what is told anew is replaced.

    `ledger` holds the edges that were carried into this file, None where there can't be any.
    """
    ordered = sorted(entries, key=lambda entry: (entry.observation.at, entry.seq))
    with database.write() as connection:
        freshness = Freshness(connection)
        forgotten = [removal.seq for removal in removals]
        told_anew = "SELECT seq FROM observation WHERE seq IN ({})"
        leaving = forgotten + [seq for (seq,) in chunked(connection, told_anew, (e.seq for e in ordered))]
        turns = turns_of(connection, leaving) | _turns_joined(connection, ordered)
        affected = {*leaving, *parts_of(connection, turns)}
        freshness.around(affected)
        reach = Reach(connection)
        reach.note(affected)
        landing = Landing(connection)
        landing.note(leaving, turns)
        traces = _take_out(connection, leaving)
        genealogy = _put_in(connection, ordered, leaving)
        told = {*genealogy.told, *(entry.seq for entry in ordered)}
        turns |= turns_of(connection, told)
        landing.note(told, turns)
        landed = _land(connection, landing, freshness)
        turns |= landed.turns
        for turn in sorted(turns):
            count_turn(connection, turn)
        unused = _sweep(connection, traces)
        freshness.disturbed(genealogy.disturbance)
        freshness.vanished(unused)
        affected = {*(entry.seq for entry in ordered), *landed.now, *parts_of(connection, turns)}
        freshness.around(affected)
        reach.note({*affected, *told})
        reach.mark()
        if removals:
            freshness.reload()
            _wipe(connection)
            _mark(connection, "removals", max(removal.number for removal in removals))
        if ordered:
            _mark(connection, "entries", max(entry.told for entry in ordered))
            _count(connection, "applied", len(ordered))
        if ledger is not None:
            if removals:
                drop_unknown(connection, ledger)
            follow_names(connection, ledger, genealogy.disturbance.claimed, unused)


def _mark(connection: sqlite3.Connection, key: str, value: int) -> None:
    connection.execute("UPDATE meta SET value = MAX(value, ?) WHERE key = ?", (value, key))


def _count(connection: sqlite3.Connection, key: str, more: int) -> None:
    connection.execute("UPDATE meta SET value = value + ? WHERE key = ?", (more, key))


def _turns_joined(connection: sqlite3.Connection, entries: Sequence[Entry]) -> set[Turn]:
    """Return the turns in this file of which these entries are further parts."""
    named = {(entry.observation.session, entry.observation.turn) for entry in entries}
    query = "SELECT id FROM session WHERE name = ?"
    return {
        (number, turn)
        for session, turn in named
        if turn
        for (number,) in connection.execute(query, (session,)).fetchall()
    }


def _land(connection: sqlite3.Connection, landing: Landing, freshness: Freshness) -> Landings:
    """Store what is landed otherwise now; commits that land nothing any more count by themselves."""
    changes = landing.changes()
    freshness.around({*changes.now, *parts_of(connection, changes.turns)})
    landing.settle(changes)
    for seq, turn in changes.now.items():
        if turn is None:
            count_alone(connection, seq)
    return changes


def _put_in(connection: sqlite3.Connection, entries: Sequence[Entry], leaving: Sequence[int]) -> Genealogy:
    """Insert observations; the mentions of those that leave are taken out along with it."""
    sessions = intern(connection, "session", (entry.observation.session for entry in entries))
    actors = intern(connection, "actor", (entry.observation.actor for entry in entries))
    rows: list[MentionRow] = []
    observations: list[tuple[object, ...]] = []
    for entry in entries:
        observation = entry.observation
        mentions = mentions_of(observation)
        rows.extend(MentionRow(observation.at, entry.seq, ord, m) for ord, m in enumerate(mentions))
        size = sum(mention.change is not Change.READ for mention in mentions)
        observations.append(
            (
                entry.seq,
                observation.id,
                observation.at,
                sessions[observation.session],
                actors[observation.actor],
                observation.source,
                observation.branch,
                observation.type,
                observation.title,
                size,
                int(pairs_up(size, (observation.type,))),
                int(observation.reference is not None),
                observation.turn,
                entry.seq,
                entry.told,
            )
        )
    places = ", ".join("?" * 15)
    connection.executemany(f"INSERT INTO observation VALUES ({places})", observations)
    _count(connection, "observations", len(observations))
    genealogy = Genealogy(connection)
    genealogy.replace(leaving, rows)
    insert_words(connection, entries)
    insert_facts(connection, entries)
    connection.executemany(
        "INSERT INTO text (rowid, title, body, concepts, paths) VALUES (?, ?, ?, ?, ?)",
        [(entry.seq, *_texts(entry.observation)) for entry in entries],
    )
    connection.executemany(
        "INSERT INTO task VALUES (?, ?)", [(entry.seq, _task(entry.observation)) for entry in entries]
    )
    return genealogy


def mentions_of(observation: Observation) -> list[Mention]:
    """Return the paths of an observation as mentions, each file at most once where the names agree."""
    added = frozenset(observation.files_added)
    mentions = [Mention(Change.RENAMED, rename.new, rename.old) for rename in observation.renames]
    mentions += [Mention(Change.DELETED, path) for path in observation.files_deleted]
    mentions += [
        Mention(Change.ADDED if path in added else Change.MODIFIED, path)
        for path in observation.files_modified
    ]
    changed = {mention.path for mention in mentions}
    mentions += [Mention(Change.READ, path) for path in observation.files_read if path not in changed]
    return mentions


def _texts(observation: Observation) -> tuple[str, str, str, str]:
    body = "\n".join((observation.intent, observation.narrative, *(fact.text for fact in observation.facts)))
    paths = (*observation.files_modified, *observation.files_deleted, *(r.new for r in observation.renames))
    listed = paths[:MAX_SIZE] + observation.files_read[:MAX_SIZE]
    return (
        index_text(observation.title),
        index_text(body),
        index_text(" ".join(observation.concepts)),
        index_text(" ".join(listed)),
    )


def _task(observation: Observation) -> str:
    return " ".join(task_words(f"{observation.title}\n{observation.intent}"))


class _Traces(NamedTuple):
    """What may be used by nothing any more: rows of sessions and actors, nodes of concepts and contracts."""

    sessions: set[int]
    actors: set[int]
    words: set[int]


def _take_out(connection: sqlite3.Connection, numbers: Sequence[int]) -> _Traces:
    """Delete all of observations but their mentions; return what has to be swept then."""
    heads = "SELECT session, actor, occasion != seq FROM observation WHERE seq IN ({})"
    rows = chunked(connection, heads, numbers)
    words = remove_words(connection, numbers)
    keys = [(seq,) for seq in numbers]
    connection.executemany("DELETE FROM text WHERE rowid = ?", keys)
    connection.executemany("DELETE FROM task WHERE seq = ?", keys)
    remove_facts(connection, numbers)
    connection.executemany("DELETE FROM observation WHERE seq = ?", keys)
    _count(connection, "observations", -len(rows))
    _count(connection, "parts", -sum(row[2] for row in rows))
    return _Traces({row[0] for row in rows}, {row[1] for row in rows}, words)


def _sweep(connection: sqlite3.Connection, traces: _Traces) -> list[int]:
    """Forget the names that nothing uses any more; return the nodes among them."""
    for table, ids in (("session", traces.sessions), ("actor", traces.actors)):
        connection.executemany(
            f"DELETE FROM {table} WHERE id = ?1"
            f" AND NOT EXISTS (SELECT 1 FROM observation WHERE {table} = ?1)",
            [(id,) for id in ids],
        )
    return drop_unused(connection, traces.words)


def _wipe(connection: sqlite3.Connection) -> None:
    """Take forgotten words out of old segments of the indexes too."""
    connection.execute("INSERT INTO text (text) VALUES ('optimize')")
    wipe_facts(connection)
