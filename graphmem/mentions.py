"""Owns how texts name tables, events and settings: the few phrasings that leave no doubt.

It is not about HTTP endpoints (that is `graphmem.endpoints`) nor about what replaces what (that is
`graphmem.contracts`). A word that could as well be prose is left out. Every pattern looks at a bounded
window around a keyword, so that a hostile text costs time in proportion to its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a connection point is, apart from an endpoint."""

    TABLE = "table"
    EVENT = "event"
    SETTING = "setting"


@dataclass(frozen=True, slots=True)
class Mention:
    """A connection point named between two places of a text."""

    kind: Kind
    label: str
    start: int
    end: int

    @property
    def name(self) -> str:
        """The kind and the label, such as `table orders`."""
        return f"{self.kind} {self.label}"


_WINDOW = 90
_QUOTE = "[`\"'“‘「]"
_UNQUOTE = "[`\"'”’」]"

# Settings.
_SETTING = re.compile(r"(?<![A-Za-z0-9_])[A-Z][A-Z0-9]{0,30}(?:_[A-Z0-9]{1,30}){1,8}(?![A-Za-z0-9_])")
_SETTING_BEFORE = re.compile(
    r"(?:(?:process\.env|import\.meta\.env)\.|getenv\(\s?[\"']|environ(?:\.get\(|\[)\s?[\"']|\$\{?|export\s"
    r"|(?:env(?:ironment)?(?:\s(?:var|variable)s?)?|setting|环境变量|配置项|配置)\s?[:：]?\s?[\"'“]?)$",
    re.IGNORECASE,
)
_SETTING_AFTER = re.compile(
    r"\s?=(?![=>])|:\s?[\"'`]?(?:\d|true\b|false\b|on\b|off\b)"
    r"|[\"'”]?\s?(?:env(?:ironment)?\b|setting\b|环境变量|配置项)"
)
_NO_SETTING = re.compile(
    r"(?:ERR|ERROR|HTTP|SQLITE|E)_|.*_(?:ERROR|EXCEPTION)$|(?:PRIMARY|FOREIGN)_KEY$|NOT_NULL$"
)

# Tables.
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
_NAME_AFTER = re.compile(r"\s([a-z][a-z0-9_]{2,60})(?![A-Za-z0-9_\-]|\.[a-z])")
_PLACE_BEFORE = re.compile(
    r"(?:^|\b(?:in|into|to|from|on|of|database|db|for|drop|alter|rename|query))\s?$", re.IGNORECASE
)
_HAN_TABLE = re.compile(
    r"(?<![A-Za-z0-9_.\-/])[`\"“]?([A-Za-z][A-Za-z0-9_]{1,60})[`\"”]?\s?(?:数据)?表(?![格示达明单现面头项情演决述态])"
)
_HAN_TABLE_BEFORE = re.compile(
    r"(?:数据表|数据库表|(?<![一-鿿])表)\s?[`\"“]?([A-Za-z][A-Za-z0-9_]{1,60})(?![A-Za-z0-9_./\-])"
)
_DATABASE = re.compile(
    r"\b(?:database|db|schemas?|migrations?|migrated?|sql|columns?|rows?|foreign keys?|index(?:es)?"
    r"|postgres\w*|mysql|sqlite|orm|alembic)\b|数据库|迁移|字段|索引|主键|外键",
    re.IGNORECASE,
)
_DATABASE_FILE = re.compile(
    r"(?:^|/)(?:migrations?|db|database|schemas?|alembic)/|\.sql$|(?:^|/)schema\.\w+$", re.IGNORECASE
)
_NO_TABLE = frozenset(
    [
        "a",
        "all",
        "also",
        "an",
        "and",
        "another",
        "any",
        "are",
        "as",
        "at",
        "be",
        "both",
        "but",
        "by",
        "can",
        "class",
        "classes",
        "column",
        "columns",
        "component",
        "components",
        "contents",
        "content",
        "count",
        "data",
        "database",
        "databases",
        "details",
        "each",
        "every",
        "existing",
        "expression",
        "exists",
        "fields",
        "first",
        "footer",
        "footers",
        "for",
        "foreign",
        "from",
        "has",
        "have",
        "header",
        "headers",
        "hash",
        "if",
        "in",
        "into",
        "is",
        "it",
        "items",
        "its",
        "join",
        "joins",
        "keys",
        "level",
        "levels",
        "lines",
        "links",
        "list",
        "lists",
        "lookup",
        "markdown",
        "more",
        "my",
        "name",
        "names",
        "new",
        "not",
        "of",
        "old",
        "on",
        "one",
        "or",
        "other",
        "our",
        "outs",
        "pages",
        "pivot",
        "plus",
        "properties",
        "rows",
        "schema",
        "schemas",
        "several",
        "since",
        "so",
        "some",
        "statement",
        "statements",
        "styles",
        "such",
        "symbols",
        "syntax",
        "tables",
        "tags",
        "than",
        "that",
        "the",
        "their",
        "these",
        "this",
        "those",
        "three",
        "to",
        "two",
        "types",
        "updates",
        "us",
        "various",
        "was",
        "were",
        "which",
        "with",
        "words",
        "your",
        "react",
        "css",
        "html",
        "as",
        "js",
        "less",
        "always",
        "does",
        "shows",
        "stores",
        "contains",
        "holds",
        "keeps",
        "uses",
        "needs",
        "gets",
        "lacks",
        "grows",
        "locks",
        "lives",
        "goes",
        "comes",
        "works",
        "renders",
        "sorts",
        "includes",
        "adds",
        "makes",
        "sets",
        "settings",
        "options",
        "results",
        "views",
        "cells",
        "indexes",
        "migrations",
        "process",
        "status",
        "access",
        "address",
    ]
)

# Events.
_EVENT_WORD = re.compile(
    r"(?<![A-Za-z_\-.])(events?|topics?|emit(?:s|ted|ting)?|publish(?:es|ed|ing)?|subscrib(?:e|es|ed|ing) to"
    r"|consum(?:e|es|ed|ing)|dispatch(?:es|ed|ing)?|listen(?:s|ed|ing)? (?:to|for|on))(?![A-Za-z_\-.])"
    r"|事件|主题|发布|发出|发送|触发|订阅|监听|消费",
    re.IGNORECASE,
)
_EVENT_NAME = r"[A-Za-z][A-Za-z0-9_]{1,40}(?:[.:/\-][A-Za-z0-9_]{1,40}){0,6}"
_EVENT_AFTER = re.compile(
    rf"\s?(?:(?:the|an?|一个|了)\s?)?((?:event|topic|事件|主题|消息)s?\s?)?[:：]?\s?(?:({_QUOTE})({_EVENT_NAME}){_UNQUOTE}"
    r"|([a-z][a-z0-9_]{1,40}(?:\.[a-z][a-z0-9_]{1,40}){1,5})(?![A-Za-z0-9_(/\-]|\.[A-Za-z]))"
)
_EVENT_BEFORE = re.compile(
    rf"(?:{_QUOTE}({_EVENT_NAME}){_UNQUOTE}|(?<![A-Za-z0-9_./\-])([a-z][a-z0-9]{{1,30}}(?:[._][a-z0-9]{{1,30}}){{1,6}}))\s?$"
)
# A name after a mere verb (`emits order.paid`) must say that something happened.
_HAPPENED = re.compile(
    r"(?:ed|paid|sent|sold|lost|built|done|made|won|set|read|seen|given|begun|left|put|out|up)$"
)
_EVENT_NOUNS = frozenset({"event", "events", "topic", "topics", "事件", "主题"})
_FILE_END = re.compile(
    r"\.(?:tsx?|jsx?|mjs|pyi?|go|rs|java|kt|rb|php|cpp|cs|vue|css|scss|html?|json|ya?ml|toml|md|txt|sql|sh|lock|log|csv|xml|cfg|ini|env|svg|png|com|org|io|net)$"
)
_BROWSER_OBJECTS = frozenset(
    {"window", "document", "event", "events", "e", "console", "process", "self", "this", "os", "sys"}
)


def mentions(text: str, database_around: bool = False) -> Iterator[Mention]:
    """Yield tables, events and settings of a text.

    Single plain words count as tables only where the text, or the caller by `database_around`, speaks of a
    database.
    """
    # Most texts name none of these: the plain tests keep a commit title at a few microseconds.
    if "_" in text:
        yield from _settings(text)
    lower = text.lower()
    if any(word in lower for word in _SQL_WORDS):
        yield from _sql_tables(text)
    if "table" in lower:
        yield from _named_tables(text, database_around or _DATABASE.search(text) is not None)
    if "表" in text:
        yield from _han_tables(text)
    if any(char in text for char in "._:`\"'“‘「-/"):
        yield from _events(text)


def is_database_file(path: str) -> bool:
    """Say whether a path is a schema, a migration or another piece of SQL."""
    return _DATABASE_FILE.search(path) is not None


def _settings(text: str) -> Iterator[Mention]:
    for match in _SETTING.finditer(text):
        if _NO_SETTING.match(match.group()):
            continue
        before = text[max(0, match.start() - 40) : match.start()]
        after = text[match.end() : match.end() + 24]
        quoted = before.endswith("`") and after[:1] == "`"
        if quoted or _SETTING_BEFORE.search(before) or _SETTING_AFTER.match(after):
            yield Mention(Kind.SETTING, match.group(), match.start(), match.end())


def _sql_tables(text: str) -> Iterator[Mention]:
    for pattern in (_SQL, _LOWER_SQL):
        for match in pattern.finditer(text):
            group = match.lastindex or 1
            yield from _table(match[group], match.start(group), match.end(group))


def _named_tables(text: str, database_around: bool) -> Iterator[Mention]:
    for word in _TABLE_WORD.finditer(text):
        if quoted := _QUOTED_NAME.match(text, word.end()):
            yield from _table(quoted[1], quoted.start(1), quoted.end(1))
            continue
        floor = max(0, word.start() - _WINDOW)
        before = text[floor : word.start()]
        if names := _NAMES_BEFORE.search(before):
            for name in re.finditer(r"(`?)([A-Za-z][A-Za-z0-9_]*)`?", names[1]):
                if name[1] or "_" in name[2] or (database_around and _is_plural(name[2])):
                    yield from _table(
                        name[2], floor + names.start(1) + name.start(2), floor + names.start(1) + name.end(2)
                    )
        if word[1].islower() and (after := _NAME_AFTER.match(text, word.end())):
            placed = database_around and _is_plural(after[1]) and _PLACE_BEFORE.search(before)
            if "_" in after[1] or placed:
                yield from _table(after[1], after.start(1), after.end(1))


def _han_tables(text: str) -> Iterator[Mention]:
    for pattern in (_HAN_TABLE, _HAN_TABLE_BEFORE):
        for match in pattern.finditer(text):
            yield from _table(match[1], match.start(1), match.end(1))


def _table(label: str, start: int, end: int) -> Iterator[Mention]:
    if label.lower() not in _NO_TABLE and not label.isdigit():
        yield Mention(Kind.TABLE, label, start, end)


def _is_plural(word: str) -> bool:
    return len(word) > 3 and word.islower() and word.endswith("s") and not word.endswith(("ss", "us", "is"))


def _events(text: str) -> Iterator[Mention]:
    for word in _EVENT_WORD.finditer(text):
        is_noun = word.group().lower() in _EVENT_NOUNS
        if after := _EVENT_AFTER.match(text, word.end()):
            group = 3 if after[3] else 4
            if is_noun or after[1] or _HAPPENED.search(after[group]):
                yield from _event(after[group], after.start(group), after.end(group))
        if is_noun:
            floor = max(0, word.start() - _WINDOW)
            if before := _EVENT_BEFORE.search(text[floor : word.start()]):
                group = 1 if before[1] else 2
                yield from _event(before[group], floor + before.start(group), floor + before.end(group))


def _event(label: str, start: int, end: int) -> Iterator[Mention]:
    """Yield the event unless its name is a file, an object's attribute, or a single plain word."""
    humps = sum(1 for at, char in enumerate(label) if char.isupper() and at and not label[at - 1].isupper())
    joined = any(char in label for char in "._:-/")
    if (
        _FILE_END.search(label)
        or label.split(".")[0] in _BROWSER_OBJECTS
        or (label.startswith("on") and humps)
    ):
        return
    if joined or (label[0].isupper() and humps):
        yield Mention(Kind.EVENT, label, start, end)
