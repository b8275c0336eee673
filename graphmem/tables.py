"""Owns how texts name database tables: SQL, and the few phrasings that leave no doubt.

It is not an SQL parser. Where a word could as well be prose or a table on a screen, it is left out. Every
pattern looks at a bounded window around a keyword, so that a hostile text costs time in proportion to its
length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from graphmem.text import HAN

_WINDOW = 90
_QUOTE = "[`\"'“‘「]"
_UNQUOTE = "[`\"'”’」]"
_TABLE_NAME = r"[A-Za-z][A-Za-z0-9_]{1,60}(?:\.[A-Za-z][A-Za-z0-9_]{1,60})?"
_QUOTED_NAME = re.compile(rf"\s?{_QUOTE}({_TABLE_NAME}){_UNQUOTE}")
_SQL = re.compile(
    r"(?<![A-Za-z_])(?:(?:CREATE(?:\s(?:TEMP|TEMPORARY|UNLOGGED))?|ALTER|DROP|TRUNCATE)\s{1,3}TABLE"
    r"(?:\s{1,3}IF\s{1,3}(?:NOT\s{1,3})?EXISTS)?|INSERT\s{1,3}INTO|REFERENCES|DELETE\s{1,3}FROM"
    rf"|SELECT\s[^;\n]{{1,160}}?\sFROM)\s{{1,3}}[`\"\[]?({_TABLE_NAME})"
)
_LOWER_SQL = re.compile(
    r"(?<![a-z_])(?:create|alter|drop|truncate)\s{1,3}table(?:\s{1,3}if\s{1,3}(?:not\s{1,3})?exists)?\s{1,3}"
    rf"(?:[`\"]({_TABLE_NAME})[`\"]|({_TABLE_NAME})\s?\()",
    re.IGNORECASE,
)
_SQL_WORDS = ("table", "insert", "references", "delete", "select")
_TABLE_WORD = re.compile(r"(?<![A-Za-z_\-])(tables?)(?![A-Za-z_\-])", re.IGNORECASE)
_NAMES_BEFORE = re.compile(
    r"(?<![A-Za-z0-9_`.])"
    r"(`?[A-Za-z][A-Za-z0-9_]{1,60}`?(?:\s?(?:,|、|and|和|与)\s?`?[A-Za-z][A-Za-z0-9_]{1,60}`?){0,4})"
    r"(?:\sdatabase)?\s$"
)
_LISTED_NAME = re.compile(r"(`?)([A-Za-z][A-Za-z0-9_]*)`?")
_NAME_AFTER = re.compile(r"\s([a-z][a-z0-9_]{2,60})(?![A-Za-z0-9_\-]|\.[a-z])")
_PLACE_BEFORE = re.compile(
    r"(?:^|\b(?:in|into|to|from|on|of|database|db|for|drop|alter|rename|query))\s?$", re.IGNORECASE
)
_HAN_TABLE = re.compile(
    r"(?<![A-Za-z0-9_.\-/])[`\"“]?([A-Za-z][A-Za-z0-9_]{1,60})[`\"”]?\s?(?:数据)?表(?![格示达明单现面头项情演决述态])"
)
_HAN_TABLE_BEFORE = re.compile(
    rf"(?:数据表|数据库表|(?<![{HAN}])表)\s?[`\"“]?([A-Za-z][A-Za-z0-9_]{{1,60}})(?![A-Za-z0-9_./\-])"
)
_DATABASE = re.compile(
    r"\b(?:database|db|schemas?|migrations?|migrated?|sql|columns?|rows?|foreign keys?|index(?:es)?"
    r"|postgres\w*|mysql|sqlite|orm|alembic)\b|数据库|迁移|字段|索引|主键|外键",
    re.IGNORECASE,
)
_DATABASE_FILE = re.compile(
    r"(?:^|/)(?:migrations?|db|database|schemas?|alembic)/|\.sql$|(?:^|/)schema\.\w+$", re.IGNORECASE
)
_NO_TABLE_WORDS = """
a access address adds all also always an and another any are as at be both but by can cells class classes
column columns comes component components contains content contents count css data database databases
details does each every existing exists expression fields first footer footers for foreign from gets goes
grows has hash have header headers holds html if in includes indexes into is it items its join joins js
keeps keys lacks less level levels lines links list lists lives locks lookup makes markdown migrations
more my name names needs new not of old on one options or other our outs pages pivot plus process
properties react renders results rows schema schemas sets settings several shows since so some sorts
statement statements status stores styles such symbols syntax tables tags than that the their these this
those three to two types updates us uses various views was were which with words works your
"""
_NO_TABLE = frozenset(_NO_TABLE_WORDS.split())


@dataclass(frozen=True, slots=True)
class TableName:
    """A table named between two places of a text."""

    label: str
    start: int
    end: int


def table_names(text: str, database_around: bool = False) -> Iterator[TableName]:
    """Yield the tables a text names.

    Single plain words count only where the text, or the caller by `database_around`, speaks of a database.
    """
    lower = text.lower()
    if any(word in lower for word in _SQL_WORDS):
        yield from _sql_tables(text)
    if "table" in lower:
        yield from _english_tables(text, database_around or _DATABASE.search(text) is not None)
    if "表" in text:
        yield from _chinese_tables(text)


def is_table_name(label: str) -> bool:
    """Say whether a word can name a table: it is no word of sentences or of tables on a screen."""
    return label.lower() not in _NO_TABLE


def is_database_file(path: str) -> bool:
    """Say whether a path is a schema, a migration or another piece of SQL."""
    return _DATABASE_FILE.search(path) is not None


def _sql_tables(text: str) -> Iterator[TableName]:
    for pattern in (_SQL, _LOWER_SQL):
        for match in pattern.finditer(text):
            yield from _names(match, match.lastindex or 1)


def _english_tables(text: str, database_around: bool) -> Iterator[TableName]:
    for word in _TABLE_WORD.finditer(text):
        if quoted := _QUOTED_NAME.match(text, word.end()):
            yield from _names(quoted, 1)
            continue
        floor = max(0, word.start() - _WINDOW)
        before = text[floor : word.start()]
        if listed := _NAMES_BEFORE.search(before):
            for name in _LISTED_NAME.finditer(before, listed.start(1), listed.end(1)):
                if name[1] or "_" in name[2] or (database_around and _is_plural(name[2])):
                    yield from _names(name, 2, floor)
        if word[1].islower() and (after := _NAME_AFTER.match(text, word.end())):
            placed = database_around and _is_plural(after[1]) and _PLACE_BEFORE.search(before)
            if "_" in after[1] or placed:
                yield from _names(after, 1)


def _chinese_tables(text: str) -> Iterator[TableName]:
    for pattern in (_HAN_TABLE, _HAN_TABLE_BEFORE):
        for match in pattern.finditer(text):
            yield from _names(match, 1)


def _names(match: re.Match[str], group: int, floor: int = 0) -> Iterator[TableName]:
    if is_table_name(match[group]):
        yield TableName(match[group], floor + match.start(group), floor + match.end(group))


def _is_plural(word: str) -> bool:
    return len(word) > 3 and word.islower() and word.endswith("s") and not word.endswith(("ss", "us", "is"))
