"""Owns taking mentions out of `touch` that changed neither a name nor a life, and how busy a file is then.

It is not the lineage (that is `genealogy`, which tells a story again where these rules don't reach).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from graphmem.derived import HEAT_CHANGES
from inference.activity import busyness
from inference.lineage import Change


def lift(connection: sqlite3.Connection, numbers: Iterable[int]) -> tuple[set[int], set[int]]:
    """Delete those mentions of observations without which the story of their kin is the same.

    Returns:
        The kins whose story has to be told again without these observations, which are left as they were,
        and the files from which mentions were taken.
    """
    rows: dict[int, list[tuple[int, float, int, int]]] = {}
    again: set[int] = set()
    for seq in numbers:
        for kin, old, *touch in connection.execute(
            "SELECT file.kin, old_path, touch.file, touch.at, touch.seq, ord FROM touch"
            " JOIN file ON file.id = touch.file WHERE touch.seq = ?",
            (seq,),
        ):
            rows.setdefault(kin, []).append((touch[0], touch[1], touch[2], touch[3]))
            if old is not None:
                again.add(kin)
    again |= {
        kin for kin, touches in rows.items() if _is_told(connection, kin, {row[1:3] for row in touches})
    }
    files: set[int] = set()
    for kin in rows.keys() - again:
        delete = "DELETE FROM touch WHERE file = ? AND at = ? AND seq = ? AND ord = ?"
        connection.executemany(delete, rows[kin])
        files.update(row[0] for row in rows[kin])
        _date(connection, kin)
    return again, files


def _is_told(connection: sqlite3.Connection, kin: int, places: Iterable[tuple[float, int]]) -> bool:
    """Return whether a name or a life in this kin changed at one of these places (time, observation)."""
    query = (
        "SELECT 1 FROM file JOIN state ON state.file = file.id WHERE kin = ?1 AND at = ?2 AND seq = ?3"
        " UNION ALL SELECT 1 FROM path JOIN claim ON claim.path = path.id"
        " WHERE kin = ?1 AND at = ?2 AND seq = ?3 LIMIT 1"
    )
    return any(connection.execute(query, (kin, *place)).fetchone() for place in places)


def _date(connection: sqlite3.Connection, kin: int) -> None:
    """Note the newest mention that is left; a kin that held a change of its story keeps one."""
    last = "SELECT at, seq FROM touch WHERE file = ? ORDER BY at DESC, seq DESC LIMIT 1"
    files = connection.execute("SELECT id FROM file WHERE kin = ?", (kin,)).fetchall()
    newest = max(row for file in files for row in connection.execute(last, file))
    connection.execute("UPDATE kin SET at = ?, seq = ? WHERE id = ?", (*newest, kin))


def warm(connection: sqlite3.Connection, files: Iterable[int]) -> None:
    """Sum up how busy these files are, always in order of time: sums of floats depend on the order."""
    for file in files:
        changes = connection.execute(
            "SELECT at FROM touch WHERE file = ? AND change != ? AND repeated = 0"
            " ORDER BY at DESC, seq DESC LIMIT ?",
            (file, Change.READ, HEAT_CHANGES),
        ).fetchall()
        last = changes[0][0] if changes else 0.0
        heat = busyness((at for (at,) in changes), last)
        connection.execute("UPDATE file SET heat = ?, heat_at = ? WHERE id = ?", (heat, last, file))
