"""Owns the rows of facts in `derived.db`: one for each fact of an observation, and the index of their words.

It is not what a fact says (that is `facts`), not what it claims (`statement_rows`) and not who is told of it
(that is `recall.reminders`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from graphmem.journal import Entry
from graphmem.speech.facts import reading
from graphmem.statement_rows import insert_statements, remove_statements, sameness
from graphmem.text import index_text


def insert_facts(connection: sqlite3.Connection, entries: Sequence[Entry]) -> None:
    """Put in the facts of observations and what their texts claim; those without any cost nothing."""
    read = [tuple(reading(fact) for fact in entry.observation.facts) for entry in entries]
    insert_statements(connection, entries, read)
    for entry, readings in zip(entries, read, strict=True):
        observation = entry.observation
        for place, said in enumerate(readings):
            row = connection.execute(
                "INSERT INTO fact (seq, ord, kind, state, scope, text, subject, attribute, value, tentative,"
                " everywhere, at, actor, same) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    entry.seq,
                    place,
                    said.kind,
                    said.state,
                    said.scope,
                    said.text,
                    said.subject,
                    said.attribute,
                    said.value,
                    said.tentative,
                    said.everywhere,
                    observation.at,
                    observation.actor,
                    sameness(said.text),
                ),
            )
            connection.execute(
                "INSERT INTO fact_text (rowid, words) VALUES (?, ?)", (row.lastrowid, index_text(said.text))
            )


def remove_facts(connection: sqlite3.Connection, numbers: Sequence[int]) -> bool:
    """Take out the facts of observations and what they claim; return whether there were any facts."""
    remove_statements(connection, numbers)
    keys = [(seq,) for seq in numbers]
    connection.executemany("DELETE FROM fact_text WHERE rowid IN (SELECT id FROM fact WHERE seq = ?)", keys)
    return connection.executemany("DELETE FROM fact WHERE seq = ?", keys).rowcount > 0


def wipe_facts(connection: sqlite3.Connection) -> None:
    """Take the words of removed facts out of the index's old segments too."""
    connection.execute("INSERT INTO fact_text (fact_text) VALUES ('optimize')")
