"""Owns the named filters of one project: a corpus is a name for "what is known under this filter".

It is not what such a filter finds: nothing found is kept, a corpus is asked anew each time and so is always
current (`graphmem.project_corpora`). Like all that people decide, it lies in the journal.
"""

from __future__ import annotations

import json
import re
import sqlite3
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from typing import Any

from graphmem.database import Database
from graphmem.errors import ConflictError, InvalidInputError, NotFoundError
from graphmem.question import Filters, PieceKind

MIGRATION = """
    CREATE TABLE corpus (
        name TEXT PRIMARY KEY COLLATE NOCASE, filter TEXT NOT NULL, created_at REAL NOT NULL
    ) WITHOUT ROWID;
    """
MOST = 500
"""So many corpora a project may have."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_ONE_ONLY = ("file", "concept", "session", "source")


@dataclass(frozen=True, slots=True)
class Corpus:
    """A named filter and when it was made (epoch seconds)."""

    name: str
    filters: Filters
    created_at: float


@dataclass(frozen=True, slots=True)
class CorpusPage:
    """A page of corpora by name, with how many pieces match each; `next_cursor` is None on the last one."""

    items: tuple[tuple[Corpus, int], ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class CorpusText:
    """What a corpus says at `built_at` (epoch seconds): a text of so many `tokens`.

    `pieces` match the filter, `told` of them are in the text, the others are `left_out`.
    """

    corpus: Corpus
    text: str
    tokens: int
    pieces: int
    told: int
    built_at: float
    degraded: str | None = None

    @property
    def left_out(self) -> int:
        """How many pieces match and are not in the text."""
        return self.pieces - self.told


class Corpora:
    """The corpora of one journal; get it from `Journal.corpora`.

    Raises:
        StorageError: from every method, when the disk is full, damaged or not writable.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, name: str, filters: Filters, at: float) -> tuple[Corpus, bool]:
        """Store a corpus; return it and whether it is new. The same one again is no change.

        Raises:
            InvalidInputError: the name is not usable, or the filter is not.
            ConflictError: the name is taken by another filter, or there are too many.
        """
        checked_name(name)
        checked(filters)
        with self._database.write() as connection:
            known = _get(connection, name)
            if known is not None:
                if known.filters != filters:
                    raise ConflictError(
                        f"The corpus {known.name} exists with another filter; remove it first, or take "
                        "another name."
                    )
                return known, False
            if connection.execute("SELECT COUNT(*) FROM corpus").fetchone()[0] >= MOST:
                raise ConflictError(f"There are {MOST} corpora already; remove one that is not needed.")
            connection.execute("INSERT INTO corpus VALUES (?, ?, ?)", (name, _encoded(filters), at))
        return Corpus(name, filters, at), True

    def get(self, name: str) -> Corpus:
        """Return one corpus; capital letters make no difference.

        Raises:
            NotFoundError: there is none of that name; `candidates` are the nearest.
        """
        with self._database.read() as connection:
            found = _get(connection, name)
            if found is None:
                raise _unknown(connection, name)
        return found

    def listed(self, limit: int, after: str | None = None) -> list[Corpus]:
        """Return up to `limit` corpora by name, those after `after`."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT name, filter, created_at FROM corpus WHERE ?1 IS NULL OR name > ?1"
                " ORDER BY name LIMIT ?2",
                (after, limit),
            ).fetchall()
        return [Corpus(name, _decoded(filters), at) for name, filters, at in rows]

    def remove(self, name: str) -> None:
        """Take a corpus out; what it finds stays.

        Raises:
            NotFoundError: there is none of that name.
        """
        with self._database.write() as connection:
            if not connection.execute("DELETE FROM corpus WHERE name = ?", (name,)).rowcount:
                raise _unknown(connection, name)


# ---- names and filters --------------------------------------------------------------------------


def checked_name(name: str) -> str:
    """Return a name that is usable.

    Raises:
        InvalidInputError: it is not 1 to 64 of A-Z, a-z, 0-9, ".", "_", "-", the first a letter or digit.
    """
    if not _NAME.fullmatch(name):
        raise InvalidInputError(
            f"The name {name!r} is not usable; take 1 to 64 of A-Z, a-z, 0-9, '.', '_' and '-', "
            "beginning with a letter or digit.",
            "name",
        )
    return name


def checked(filters: Filters) -> Filters:
    """Return a filter that is usable.

    Raises:
        InvalidInputError: a kind is none of a piece, or the time ends before it begins.
    """
    strange = next((kind for kind in filters.kinds if kind not in set(PieceKind)), None)
    if strange is not None:
        raise InvalidInputError(
            f"{strange!r} is no kind of statement; take one or more of {', '.join(PieceKind)}.",
            "filter.kinds",
        )
    if filters.since is not None and filters.until is not None and filters.until <= filters.since:
        raise InvalidInputError(
            "`until` must be later than `since`; otherwise nothing can match.", "filter.until"
        )
    return filters


def within(corpus: Filters, asked: Filters) -> Filters | None:
    """Return what passes both filters, or None where nothing can.

    `asked.kinds` may name results that are no pieces, such as files: a corpus of certain kinds has none.

    Raises:
        InvalidInputError: both name one file, concept, session or source, and not the same.
    """
    for name in _ONE_ONLY:
        given, more = getattr(corpus, name), getattr(asked, name)
        if None not in (given, more) and given != more:
            raise InvalidInputError(f"This corpus is about the {name} {given!r}; leave out `{name}`.", name)
    types = _both(corpus.types, asked.types)
    pieces = asked.kinds if not corpus.kinds or "observation" not in asked.kinds else ()
    kinds = _both(corpus.kinds, pieces)
    since = max((at for at in (corpus.since, asked.since) if at is not None), default=None)
    until = min((at for at in (corpus.until, asked.until) if at is not None), default=None)
    if types is None or kinds is None or (since is not None and until is not None and until <= since):
        return None
    single = {name: getattr(corpus, name) or getattr(asked, name) for name in _ONE_ONLY}
    return Filters(since=since, until=until, types=types, kinds=kinds, **single)


def _both(some: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return what is in both, where nothing named is everything; None where that is nothing."""
    if not some or not others:
        return some or others
    return tuple(each for each in some if each in others) or None


# ---- rows ---------------------------------------------------------------------------------------


def _get(connection: sqlite3.Connection, name: str) -> Corpus | None:
    row = connection.execute("SELECT name, filter, created_at FROM corpus WHERE name = ?", (name,)).fetchone()
    return None if row is None else Corpus(row[0], _decoded(row[1]), row[2])


def _unknown(connection: sqlite3.Connection, name: str) -> NotFoundError:
    names = [row[0] for row in connection.execute("SELECT name FROM corpus ORDER BY name")]
    nearest = tuple(get_close_matches(name, names, n=3, cutoff=0.4) or names[:3])
    there = f"there is {', '.join(nearest)}" if nearest else "there is none yet"
    return NotFoundError(
        f"There is no corpus {name!r}; {there} (`graphmem corpus list` lists all).", candidates=nearest
    )


def _encoded(filters: Filters) -> str:
    given = {name: value for name, value in asdict(filters).items() if value not in (None, ())}
    return json.dumps(given, ensure_ascii=False, sort_keys=True)


def _decoded(text: str) -> Filters:
    given: dict[str, Any] = json.loads(text)
    given |= {name: tuple(given.get(name, ())) for name in ("types", "kinds")}
    return Filters(**given)
