"""Owns the modules: from the edges in `derived.db` to the tables `module` and `member`, and to the graph.

It is not how communities are found (`inference.communities`), what is said of them (`module_texts`), nor when
this runs. Modules are made of files, by edges between files that are candidates or confirmed; concepts are
only told to the module that most of their work is in. What they are depends on what they were, so that is
kept in the journal (`module_memory`): a rebuild gives the same modules under the same ids.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from graphmem.database import Database
from graphmem.grouping import WHOLE, Module, group
from graphmem.journal import Journal
from graphmem.module_memory import Memory, keep, recall
from graphmem.postings import Postings
from graphmem.store.port import GraphModule

_TRIES = 3
_COLUMNS = (
    "id, label, level, parent, summary, key_files, contracts, recent, cohesion, built_at, fingerprint,"
    " lineage"
)


def regroup(journal: Journal, database: Database, project: str) -> int | None:
    """Find the modules anew and write them to `derived.db` and into the journal.

    Returns the number of modules when the graph has to be told of a change; None when it has not, or when
    `derived.db` holds less than they were found from: it is being rebuilt.

    Args:
        journal: where ids and summaries are kept.
        database: the derived file; its edges are promoted.
        project: its id, part of what new ids are made from.
    """
    for _ in range(_TRIES):
        with Postings(database).view() as view:
            start = _Start.read(view.connection)
            memory = recall(journal)
            if start.grouped == start.state or not start.reaches(memory, journal):
                return None
            found = group(view, memory, project)
        kept = tuple(module.kept for module in found.modules)
        new = Memory(found.at, start.entries, start.removals, found.links, kept)
        if new != memory:
            keep(journal, new)
        with database.write() as connection:
            before = _Start.read(connection)
            if before.reload != start.reload:
                continue  # nodes were numbered anew meanwhile
            changed = _write(connection, found.modules)
            state = _Start.read(connection).state if before.state == start.state else start.state
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('grouped', ?)", (state,))
        return sum(module.level == WHOLE for module in kept) if changed else None
    return None


def has_modules(database: Database) -> bool:
    """Return whether modules were ever found in this `derived.db`; a new one has none to show."""
    with database.read() as connection:
        return connection.execute("SELECT 1 FROM meta WHERE key = 'grouped'").fetchone() is not None


def graph_modules(connection: sqlite3.Connection) -> list[GraphModule]:
    """Return all modules as the graph holds them, whole ones before parts."""
    members: dict[str, list[int]] = {}
    for module, node in connection.execute("SELECT module, node FROM member ORDER BY node"):
        members.setdefault(module, []).append(node)
    rows = connection.execute("SELECT id, label, level, parent FROM module ORDER BY level, id")
    return [
        GraphModule(id, label, level, parent, tuple(members.get(id, ()))) for id, label, level, parent in rows
    ]


class _Start(NamedTuple):
    """How far `derived.db` is, and whether modules were found from just that."""

    entries: int
    removals: int
    whole: int
    reload: int
    state: int
    grouped: int | None

    @classmethod
    def read(cls, connection: sqlite3.Connection) -> _Start:
        meta = dict(connection.execute("SELECT key, value FROM meta"))
        log = connection.execute("SELECT COALESCE(MAX(number), 0) FROM graph_log").fetchone()[0]
        seen = [log, *(meta[key] for key in ("entries", "removals", "minted", "verdicts", "stamp"))]
        state = zlib.crc32(repr(seen).encode())
        return cls(
            meta["entries"], meta["removals"], meta["whole"], meta["reload"], state, meta.get("grouped")
        )

    def reaches(self, memory: Memory, journal: Journal) -> bool:
        """Return whether everything is there that the kept modules were found from."""
        last = journal.head()[0]  # what was forgotten since is not waited for
        return (
            self.whole == 0 and self.entries >= min(memory.entries, last) and self.removals >= memory.removals
        )


def _write(connection: sqlite3.Connection, modules: Sequence[Module]) -> bool:
    """Put the modules in place of those that are there; return whether the graph has to be told."""
    before, held = _rows(connection), graph_modules(connection)
    rows = sorted(map(_row, modules))
    if before == rows and _members(connection) == _nodes(modules):
        return False
    connection.execute("DELETE FROM module")
    connection.execute("DELETE FROM member")
    connection.executemany(f"INSERT INTO module ({_COLUMNS}) VALUES ({','.join('?' * 12)})", rows)
    connection.executemany("INSERT INTO member (node, level, module) VALUES (?, ?, ?)", _nodes(modules))
    if graph_modules(connection) == held:
        return False
    # A row for neither edge nor node: the graph has to be told of the modules.
    connection.execute("INSERT INTO graph_log (edge, node) VALUES (NULL, NULL)")
    return True


def _rows(connection: sqlite3.Connection) -> list[tuple[Any, ...]]:
    return connection.execute(f"SELECT {_COLUMNS} FROM module ORDER BY id").fetchall()


def _members(connection: sqlite3.Connection) -> list[tuple[int, int, str]]:
    return connection.execute("SELECT node, level, module FROM member ORDER BY node, level").fetchall()


def _nodes(modules: Sequence[Module]) -> list[tuple[int, int, str]]:
    return sorted((node, module.kept.level, module.kept.id) for module in modules for node in module.members)


def _row(module: Module) -> tuple[str | int | float | None, ...]:
    kept, current = module.kept, module.current
    return (
        kept.id,
        kept.told.label,
        kept.level,
        kept.parent,
        module.summary,
        _listed(current.key_files),
        _listed(current.contracts),
        _listed(current.recent),
        module.cohesion,
        kept.built_at,
        _print_of_files(kept.files),
        _listed(kept.lineage),
    )


def _listed(texts: Sequence[str]) -> str:
    return json.dumps(texts, ensure_ascii=False)


def _print_of_files(files: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(files).encode("utf-8", "surrogatepass")).hexdigest()
