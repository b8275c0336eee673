"""Owns the vectors of one project: which passage has one in which space, and the cosines with a question.

It is not the models, and not which passages there are (`graphmem.embedding.passages`). `vectors.db` says what
stands in which slot, one file a space holds the vectors. Vectors reach the disk before their rows do, and a
row carries the sum of its vector, so that whatever is torn, foreign or damaged is left out and filled anew.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
import zlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from graphmem.database import DamageError, Database, Durability, NewerFormatError, chunked
from graphmem.derived import set_aside
from graphmem.embedding.held import Held, Key
from graphmem.embedding.port import Space, Tongue, Vectors
from graphmem.embedding.vector_file import VectorFile

MIGRATIONS = (
    """
    CREATE TABLE owner (journal INTEGER NOT NULL);
    CREATE TABLE space (
        id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, model TEXT NOT NULL, version TEXT NOT NULL,
        dimension INTEGER NOT NULL, tongue TEXT NOT NULL, token TEXT NOT NULL, whole INTEGER NOT NULL
    );
    CREATE TABLE slot (
        space INTEGER NOT NULL, slot INTEGER NOT NULL, seq INTEGER NOT NULL, ord INTEGER NOT NULL,
        told INTEGER NOT NULL, english INTEGER NOT NULL, sum INTEGER NOT NULL,
        PRIMARY KEY (space, slot), UNIQUE (space, seq, ord)
    ) WITHOUT ROWID;
    """,
)
ENGLISH_SPACE = 0
MANY_SPACE = 1
IDLE = 600.0
"""Seconds after which vectors that nobody asks leave the memory."""

log = logging.getLogger(__name__)


class Similar(NamedTuple):
    """Passages, each once, and their cosines with a question; all of shape (n,), in no order.

    `space` is `ENGLISH_SPACE` or `MANY_SPACE`, where the pair was compared: cosines of the two are on scales
    of their own.
    """

    seqs: npt.NDArray[np.int64]
    ords: npt.NDArray[np.int32]
    scores: npt.NDArray[np.float32]
    space: npt.NDArray[np.int8]


class Placed(NamedTuple):
    """A passage to be stored: its key, the telling it was read from, whether it is English."""

    seq: int
    ord: int
    told: int
    english: bool


class _Known(NamedTuple):
    id: int
    space: Space
    tongue: Tongue
    whole: bool
    file: VectorFile


class VectorStore:
    """The vectors of the project in `folder`, which follows the journal of that identity.

    A file of another journal, damaged or of a newer version is set aside, and all is filled anew.

    Raises:
        StorageError: the disk is full or not writable.
    """

    def __init__(self, folder: Path, journal: int) -> None:
        self._folder = folder
        self._lock = threading.RLock()
        self._held: dict[tuple[int, bool], Held] = {}
        self._asked_at = 0.0
        self._path = folder / "vectors.db"
        self._database = self._open(journal)
        self._spaces = self._known()

    def _open(self, journal: int) -> Database:
        try:
            database = Database(self._path, MIGRATIONS, Durability.FULL)
            try:
                with database.write() as connection:
                    row = connection.execute("SELECT journal FROM owner").fetchone()
                    if row is None:
                        connection.execute("INSERT INTO owner VALUES (?)", (journal,))
                if (row is None or row[0] == journal) and database.sound():
                    return database
                raise DamageError(f"{self._path} does not belong to this journal.", self._path)
            except BaseException:
                database.close()
                raise
        except (DamageError, NewerFormatError) as fault:
            log.warning("%s It is set aside, and vectors are filled anew", fault)
        set_aside(self._path)
        for path in self._folder.glob("vectors-*.f16"):
            path.unlink()
        database = Database(self._path, MIGRATIONS, Durability.FULL)
        with database.write() as connection:
            connection.execute("INSERT INTO owner VALUES (?)", (journal,))
        return database

    def _known(self) -> dict[str, _Known]:
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT id, key, model, version, dimension, tongue, token, whole,"
                " COALESCE((SELECT MAX(slot) + 1 FROM slot WHERE space = space.id), 0) FROM space"
            ).fetchall()
        found = {}
        for id, key, model, version, dimension, tongue, token, whole, slots in rows:
            file = VectorFile(self._folder / f"vectors-{key}.f16", dimension, token)
            if not file.is_mine(slots):
                self._begin_anew(id, file)
                file = VectorFile(file.path, dimension, token)
                whole = 0
            space = Space(model, version, dimension)
            found[key] = _Known(id, space, Tongue(tongue), bool(whole), file)
        return found

    def _begin_anew(self, id: int, file: VectorFile) -> None:
        log.warning("%s is short, damaged or another's; it is set aside and filled anew", file.path)
        if file.path.exists():
            file.path.replace(file.path.with_name(file.path.name + ".damaged"))
        with self._database.write() as connection:
            connection.execute("DELETE FROM slot WHERE space = ?", (id,))
            connection.execute("UPDATE space SET whole = 0 WHERE id = ?", (id,))

    # ---- filling --------------------------------------------------------------------------------

    def want(self, space: Space, tongue: Tongue) -> None:
        """Make room for a space; others of its tongue stay until it is whole."""
        with self._lock:
            if space.key in self._spaces:
                return
            token = secrets.token_hex(16)
            path = self._folder / f"vectors-{space.key}.f16"
            path.unlink(missing_ok=True)
            VectorFile(path, space.dimension, token)
            with self._database.write() as connection:
                connection.execute(
                    "INSERT INTO space (key, model, version, dimension, tongue, token, whole)"
                    " VALUES (?, ?, ?, ?, ?, ?, 0)",
                    (space.key, space.model, space.version, space.dimension, tongue, token),
                )
            self._spaces = self._known()

    def told(self, space: Space) -> dict[Key, tuple[int, bool]]:
        """Return, by (seq, ord), the telling each vector was made from, and whether it is English."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT seq, ord, told, english FROM slot WHERE space = ?", (self._spaces[space.key].id,)
            )
            return {(seq, ord): (told, bool(english)) for seq, ord, told, english in rows}

    def put(self, space: Space, placed: Sequence[Placed], vectors: Vectors) -> None:
        """Store vectors of length 1, shape (placed, dimension); those of the same passages are replaced.

        Raises:
            StorageError: the disk is full or not writable; nothing is stored.
        """
        if not placed:
            return
        with self._lock:
            known = self._spaces[space.key]
            keys = [(each.seq, each.ord) for each in placed]
            self._take_out(known, keys)
            slots = self._free(known, len(placed))
            halves = known.file.write(slots, vectors)
            rows = [
                (known.id, slot, *each, zlib.crc32(half.tobytes()))
                for slot, each, half in zip(slots, placed, halves, strict=True)
            ]
            with self._database.write() as connection:
                connection.executemany("INSERT INTO slot VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
            for english in (False, True):
                held = self._held.get((known.id, english))
                chosen = [number for number, each in enumerate(placed) if each.english is english]
                if held is not None and chosen:
                    held.add([keys[number] for number in chosen], halves[chosen].astype(np.float32))

    def _free(self, known: _Known, count: int) -> list[int]:
        with self._database.read() as connection:
            taken = {
                slot for (slot,) in connection.execute("SELECT slot FROM slot WHERE space = ?", (known.id,))
            }
        if not taken or len(taken) == max(taken) + 1:
            return list(range(len(taken), len(taken) + count))
        return [slot for slot in range(len(taken) + count) if slot not in taken][:count]

    def _take_out(self, known: _Known, keys: Collection[Key]) -> None:
        """Overwrite the vectors of these passages on the disk, then drop their rows."""
        wanted = set(keys)
        with self._database.read() as connection:
            query = "SELECT seq, ord, slot FROM slot WHERE space = ? AND seq IN ({})"
            rows = chunked(connection, query, (seq for seq, _ in keys), (known.id,))
        slots = [slot for seq, ord, slot in rows if (seq, ord) in wanted]
        if slots:
            known.file.blank(slots)
            with self._database.write() as connection:
                connection.executemany(
                    "DELETE FROM slot WHERE space = ? AND slot = ?", [(known.id, slot) for slot in slots]
                )
        for english in (False, True):
            held = self._held.get((known.id, english))
            if held is not None:
                held.drop(wanted)

    def drop(self, space: Space, keys: Collection[Key]) -> None:
        """Take out the vectors of these passages in one space: zeros on the disk when this returns."""
        with self._lock:
            self._take_out(self._spaces[space.key], keys)

    def forget(self, numbers: Collection[int]) -> None:
        """Leave nothing of these observations in any space, in the log, or in files that were set aside."""
        gone = set(numbers)
        with self._lock:
            for known in self._spaces.values():
                keys = [key for key in self.told(known.space) if key[0] in gone]
                if keys:
                    self._take_out(known, keys)
            self._database.empty_log()
            for path in self._folder.glob("vectors*.damaged"):
                path.unlink()

    def finish(self, space: Space) -> None:
        """Say that a space holds all passages: it answers from now on, others of its tongue are removed."""
        with self._lock:
            done = self._spaces[space.key]
            if done.whole:
                return
            others = [
                each for each in self._spaces.values() if each.tongue is done.tongue and each.id != done.id
            ]
            with self._database.write() as connection:
                connection.execute("UPDATE space SET whole = 1 WHERE id = ?", (done.id,))
                for each in others:
                    connection.execute("DELETE FROM slot WHERE space = ?", (each.id,))
                    connection.execute("DELETE FROM space WHERE id = ?", (each.id,))
            for each in others:
                each.file.path.unlink(missing_ok=True)
                for english in (False, True):
                    self._held.pop((each.id, english), None)
            self._spaces = self._known()

    # ---- questions ------------------------------------------------------------------------------

    def similarities(self, question: Mapping[Space, Vectors]) -> Similar:
        """Return the cosine of a question with every passage, each pair in the space that suits it.

        Args:
            question: its vector of length 1, shape (dimension,), in each space it may be compared in. One in
                a space of English says that the question is English: English passages are compared there,
                all others among many languages. A space that is not kept here is left out; of two for the
                same languages the one that is whole answers.
        """
        chosen: dict[Tongue, _Known] = {}
        with self._lock:
            for space in question:
                known = self._spaces.get(space.key)
                if known is not None:
                    before = chosen.get(known.tongue)
                    if before is None or (known.whole and not before.whole):
                        chosen[known.tongue] = known
            self._asked_at = time.monotonic()
            parts: list[tuple[_Known, bool, int]] = []
            english, many = chosen.get(Tongue.ENGLISH), chosen.get(Tongue.MANY)
            if english is not None:
                parts.append((english, True, ENGLISH_SPACE))
            if many is not None:
                parts.append((many, False, MANY_SPACE))
                if english is None:
                    parts.append((many, True, MANY_SPACE))
            blocks = [(self._block(known, of), known.space, place) for known, of, place in parts]
        found = [
            (held.scored(np.asarray(question[space], np.float32)), place) for held, space, place in blocks
        ]
        answers = [Similar(*scored, np.full(len(scored.seqs), place, np.int8)) for scored, place in found]
        columns = zip(nothing(), *answers, strict=True)
        return Similar(*(np.concatenate(column) for column in columns))

    def _block(self, known: _Known, english: bool) -> Held:
        """Return the vectors in memory, read from the disk if need be; what is torn is dropped."""
        held = self._held.get((known.id, english))
        if held is not None:
            return held
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT seq, ord, slot, sum FROM slot WHERE space = ? AND english = ? ORDER BY slot",
                (known.id, english),
            ).fetchall()
        slots = known.file.read()
        whole = [row for row in rows if row[2] < len(slots) and zlib.crc32(slots[row[2]].data) == row[3]]
        if len(whole) < len(rows):
            log.warning(
                "%s held %d torn vectors; they are filled anew", known.file.path, len(rows) - len(whole)
            )
            sound = {(seq, ord) for seq, ord, _, _ in whole}
            self._take_out(known, [(seq, ord) for seq, ord, _, _ in rows if (seq, ord) not in sound])
        held = Held(known.space.dimension)
        if whole:
            held.add(
                [(seq, ord) for seq, ord, _, _ in whole], slots[[row[2] for row in whole]].astype(np.float32)
            )
        self._held[known.id, english] = held
        return held

    def rest(self) -> None:
        """Let go of the memory when nobody asked for ten minutes."""
        with self._lock:
            if time.monotonic() - self._asked_at > IDLE:
                self._held.clear()

    def count(self) -> int:
        """Return the number of vectors in all spaces."""
        with self._database.read() as connection:
            return int(connection.execute("SELECT COUNT(*) FROM slot").fetchone()[0])

    def size_bytes(self) -> int:
        """Return the bytes of all files."""
        with self._lock:
            files = sum(known.file.size_bytes() for known in self._spaces.values())
            return files + self._database.size_bytes()

    def close(self) -> None:
        """Close the files."""
        with self._lock:
            self._held.clear()
            self._database.close()


def nothing() -> Similar:
    """Return the answer that holds no passage."""
    return Similar(
        np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32), np.zeros(0, np.int8)
    )
