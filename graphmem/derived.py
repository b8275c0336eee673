"""Owns `derived.db`: the tables that answer questions, and whether the file can be trusted at start-up.

It is not the truth: everything in it comes from the journal and can be deleted and rebuilt. It is not the
way rows get in (`projection`) or out (`postings`).
"""

from __future__ import annotations

import os
import secrets
import zlib
from pathlib import Path

from graphmem.database import Database, Durability

MIGRATIONS = (
    """
    CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
    INSERT INTO meta VALUES
        ('entries', 0), ('removals', 0), ('applied', 0), ('observations', 0), ('parts', 0),
        ('minted', 0), ('verdicts', 0), ('stamp', 0), ('whole', 1), ('reload', 0);
    CREATE TABLE session (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE actor (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE kin (id INTEGER PRIMARY KEY, at REAL NOT NULL, seq INTEGER NOT NULL, paths INTEGER NOT NULL);
    CREATE TABLE path (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, kin INTEGER NOT NULL, file INTEGER NOT NULL
    );
    CREATE INDEX path_kin ON path (kin);
    CREATE TABLE file (
        id INTEGER PRIMARY KEY, path INTEGER NOT NULL, first_path INTEGER NOT NULL, kin INTEGER NOT NULL,
        alive INTEGER NOT NULL, noise TEXT,
        heat REAL NOT NULL, heat_at REAL NOT NULL
    );
    CREATE INDEX file_kin ON file (kin);
    CREATE TABLE claim (
        path INTEGER NOT NULL, at REAL NOT NULL, seq INTEGER NOT NULL, file INTEGER NOT NULL,
        PRIMARY KEY (path, at, seq)
    ) WITHOUT ROWID;
    CREATE TABLE state (
        file INTEGER NOT NULL, at REAL NOT NULL, seq INTEGER NOT NULL, path INTEGER NOT NULL,
        alive INTEGER NOT NULL, PRIMARY KEY (file, at, seq)
    ) WITHOUT ROWID;
    CREATE INDEX state_seq ON state (seq);
    CREATE TABLE observation (
        seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, at REAL NOT NULL, session INTEGER NOT NULL,
        actor INTEGER NOT NULL, source TEXT NOT NULL, branch TEXT, type TEXT NOT NULL, title TEXT NOT NULL,
        size INTEGER NOT NULL, pairs INTEGER NOT NULL, committed INTEGER NOT NULL,
        turn TEXT NOT NULL, occasion INTEGER NOT NULL, told INTEGER NOT NULL
    );
    CREATE INDEX observation_told ON observation (told);
    CREATE INDEX observation_occasion ON observation (occasion);
    CREATE INDEX observation_turn ON observation (session, turn) WHERE turn != '';
    CREATE INDEX observation_turn_at ON observation (at) WHERE turn != '';
    CREATE INDEX observation_at ON observation (at, seq);
    CREATE INDEX observation_session ON observation (session, at, seq);
    CREATE INDEX observation_actor ON observation (actor, at, seq);
    CREATE TABLE task (seq INTEGER PRIMARY KEY, words TEXT NOT NULL);
    CREATE TABLE tide (number INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL);
    CREATE TABLE landing (seq INTEGER PRIMARY KEY, session INTEGER NOT NULL, turn TEXT NOT NULL);
    CREATE INDEX landing_turn ON landing (session, turn);
    CREATE TABLE touch (
        file INTEGER NOT NULL, at REAL NOT NULL, seq INTEGER NOT NULL, ord INTEGER NOT NULL,
        change INTEGER NOT NULL, repeated INTEGER NOT NULL, path INTEGER NOT NULL, old_path INTEGER,
        occasion INTEGER NOT NULL, PRIMARY KEY (file, at, seq, ord)
    ) WITHOUT ROWID;
    CREATE INDEX touch_seq ON touch (seq, ord, repeated, change);
    CREATE TABLE concept (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, uses INTEGER NOT NULL);
    CREATE TABLE concept_use (
        seq INTEGER NOT NULL, concept INTEGER NOT NULL, weight REAL NOT NULL, at REAL NOT NULL,
        occasion INTEGER NOT NULL, repeated INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (seq, concept)
    ) WITHOUT ROWID;
    CREATE INDEX concept_use_concept ON concept_use (concept, at);
    CREATE TABLE contract (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE contract_use (
        seq INTEGER NOT NULL, contract INTEGER NOT NULL, superseded_by TEXT, PRIMARY KEY (seq, contract)
    ) WITHOUT ROWID;
    CREATE INDEX contract_use_contract ON contract_use (contract, seq);
    CREATE VIRTUAL TABLE text USING fts5 (
        title, body, concepts, paths, tokenize = "unicode61 remove_diacritics 0"
    );
    CREATE TABLE fact (
        id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, ord INTEGER NOT NULL, kind TEXT NOT NULL, state TEXT,
        scope TEXT NOT NULL, text TEXT NOT NULL, subject TEXT, attribute TEXT, value TEXT,
        tentative INTEGER NOT NULL, everywhere INTEGER NOT NULL, at REAL NOT NULL, actor TEXT NOT NULL,
        same INTEGER NOT NULL, UNIQUE (seq, ord)
    );
    CREATE INDEX fact_same ON fact (same);
    CREATE INDEX fact_subject ON fact (subject, attribute, at) WHERE subject IS NOT NULL;
    CREATE INDEX fact_everywhere ON fact (at) WHERE everywhere = 1;
    CREATE INDEX fact_task ON fact (at, seq, ord) WHERE kind = 'task';
    CREATE TABLE statement (
        id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, ord INTEGER NOT NULL, part INTEGER NOT NULL,
        subject TEXT, attribute TEXT NOT NULL, value TEXT, old TEXT, old_bare TEXT, reach INTEGER NOT NULL,
        tentative INTEGER NOT NULL, actor TEXT NOT NULL, at REAL NOT NULL, text TEXT, whole INTEGER NOT NULL,
        UNIQUE (seq, ord, part)
    );
    CREATE INDEX statement_thing ON statement (attribute, subject, at);
    CREATE INDEX statement_old ON statement (old_bare, at) WHERE old_bare IS NOT NULL;
    CREATE INDEX statement_open ON statement (at) WHERE subject IS NULL;
    CREATE VIRTUAL TABLE fact_text USING fts5 (words, tokenize = "unicode61 remove_diacritics 0");
    CREATE TABLE named (
        id INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT NOT NULL, name TEXT NOT NULL, UNIQUE (type, name)
    );
    CREATE TABLE dirty (node INTEGER PRIMARY KEY, stamp INTEGER NOT NULL);
    CREATE TABLE offer (
        source INTEGER NOT NULL, target INTEGER NOT NULL, kind TEXT NOT NULL, probability REAL NOT NULL,
        file REAL NOT NULL, temporal REAL NOT NULL, together INTEGER NOT NULL, of INTEGER NOT NULL,
        sessions INTEGER NOT NULL, last_seen REAL, keys TEXT NOT NULL, PRIMARY KEY (source, target)
    ) WITHOUT ROWID;
    CREATE INDEX offer_target ON offer (target);
    CREATE TABLE minted (
        id TEXT PRIMARY KEY, source INTEGER NOT NULL, target INTEGER NOT NULL, number INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX minted_source ON minted (source, target);
    CREATE INDEX minted_target ON minted (target, source);
    CREATE TABLE judgement (
        edge TEXT PRIMARY KEY, status TEXT, origin TEXT NOT NULL, relation TEXT, direction TEXT,
        together INTEGER NOT NULL, at REAL NOT NULL, number INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE unsettled (edge TEXT PRIMARY KEY, stamp INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE edge (
        id TEXT PRIMARY KEY, source INTEGER NOT NULL, target INTEGER NOT NULL, kind TEXT NOT NULL,
        status TEXT NOT NULL, origin TEXT NOT NULL, probability REAL NOT NULL, value REAL NOT NULL,
        relation TEXT, direction TEXT, together INTEGER NOT NULL, of INTEGER NOT NULL,
        sessions INTEGER NOT NULL, last_seen REAL, keys TEXT NOT NULL, file REAL NOT NULL,
        concept REAL NOT NULL, temporal REAL NOT NULL, updated_at REAL NOT NULL, reason TEXT
    ) WITHOUT ROWID;
    CREATE INDEX edge_source ON edge (source);
    CREATE INDEX edge_target ON edge (target);
    CREATE INDEX edge_keys ON edge (keys);
    CREATE TABLE graph_log (number INTEGER PRIMARY KEY AUTOINCREMENT, edge TEXT, node INTEGER);
    CREATE TABLE module (
        id TEXT PRIMARY KEY, label TEXT NOT NULL, level INTEGER NOT NULL, parent TEXT, summary TEXT NOT NULL,
        key_files TEXT NOT NULL, contracts TEXT NOT NULL, recent TEXT NOT NULL, cohesion REAL NOT NULL,
        built_at REAL NOT NULL, fingerprint TEXT NOT NULL, lineage TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE member (
        node INTEGER NOT NULL, level INTEGER NOT NULL, module TEXT NOT NULL, PRIMARY KEY (node, level)
    ) WITHOUT ROWID;
    CREATE INDEX member_module ON member (module);
    """,
)

OPEN_SEAL = "open"
_SCHEMA = zlib.crc32("".join(MIGRATIONS).encode())
HEAT_CHANGES = 400
"""A file's busyness counts so many of its last changes."""


def open_derived(path: Path | None) -> Database:
    """Open `derived.db`, or a private one in memory for None.

    Raises:
        DamageError: the file is not what SQLite wrote.
        StorageError: newer version, disk full, not writable.
    """
    return Database(path, MIGRATIONS, Durability.NORMAL)


def seal_of(path: Path) -> str | None:
    """Return what identifies the closed file's content without reading it, or None when there is no file."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    return f"{status.st_size}:{status.st_mtime_ns}"


def adopt(database: Database, journal: int) -> None:
    """Note in a new file whose it is and in which form it is written."""
    rows = [("journal", journal), ("schema", _SCHEMA), ("generation", secrets.randbits(48))]
    with database.write() as connection:
        connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)


def belongs(database: Database, journal: int) -> bool:
    """Return whether the file follows that journal and has the present form; a new file is adopted."""
    with database.read() as connection:
        rows = dict(connection.execute("SELECT key, value FROM meta").fetchall())
    if "journal" not in rows and rows.get("applied") == 0:
        adopt(database, journal)
        return True
    return rows.get("journal") == journal and rows.get("schema") == _SCHEMA


def aside(path: Path) -> Path:
    """Return where the one damaged copy of the file is kept."""
    return path.with_name(path.name + ".damaged")


def set_aside(path: Path) -> Path:
    """Move the file out of the way, its log too, and return where it went; one such copy is kept."""
    target = aside(path)
    path.replace(target)
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    return target
