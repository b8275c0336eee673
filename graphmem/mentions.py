"""Owns how texts name events and settings, and brings them and the tables under one shape.

It is not about HTTP endpoints (that is `graphmem.endpoints`) nor about what replaces what (that is
`graphmem.contracts`). A word that could as well be prose is left out. Every pattern looks at a bounded
window around a keyword, so that a hostile text costs time in proportion to its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from graphmem.tables import is_table_name, table_names


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
# What is read or needed and ends like this is one without quotes too.
_NEEDED_BEFORE = re.compile(
    r"(?:\b(?:reads?|needs?|requires?|expects?|sets?|unset|missing|honou?rs?)\s|(?:读取|设置|需要|依赖|缺少)\s?)$",
    re.IGNORECASE,
)
_NEEDED = re.compile(
    r".*_(?:URL|URI|DSN|KEY|TOKEN|SECRET|HOST|PORT|PATH|DIR|HOME|TIMEOUT|TTL|LIMIT|LEVEL|MODE|ENV|ENABLED|DISABLED)$"
)
_NO_SETTING = re.compile(
    r"(?:ERR|ERROR|HTTP|SQLITE|E)_|.*_(?:ERROR|EXCEPTION)$|(?:PRIMARY|FOREIGN)_KEY$|NOT_NULL$"
)

# Keys of a configuration, such as `session.ttl`: a plain word could be prose, and a file's name is none.
_KEY = r"[a-z][A-Za-z0-9]{0,40}(?:[._\-][A-Za-z0-9]{1,40}){1,6}"
_KEY_AFTER = re.compile(
    rf"(?<![A-Za-z0-9_.\-/])(?:config(?:uration)?(?:\s(?:key|option|entry|value|setting))?|setting\skey"
    rf"|(?:the|a|new|old|this)\ssetting|配置(?:项|键|参数)?)(?:\s?[:：]\s?|\s|(?<=[\u4e00-\u9fff]))(?P<open>{_QUOTE})?(?P<key>{_KEY})"
    rf"(?(open){_UNQUOTE}|(?![A-Za-z0-9_(/\-]|\.[A-Za-z]))",
    re.IGNORECASE,
)
_KEY_BEFORE = re.compile(
    rf"(?P<open>{_QUOTE})?(?<![A-Za-z0-9_./\-])(?P<key>{_KEY})(?(open){_UNQUOTE}|(?![A-Za-z0-9_(/\-]))"
    rf"\s?(?:config(?:uration)?\s(?:key|option|entry|value|setting)|setting(?![A-Za-z])|配置(?:项|键|参数))",
    re.IGNORECASE,
)
_KEY_WORDS = ("config", "setting", "配置")

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
    r"\.(?:tsx?|jsx?|mjs|pyi?|go|rs|java|kt|rb|php|cpp|cs|vue|css|scss|html?|json|ya?ml|toml|mdx?|rst|ac|txt|sql|sh|lock|log|csv|xml|cfg|ini|env|svg|png|com|org|io|net)$"
)
_BROWSER_OBJECTS = frozenset(
    {"window", "document", "event", "events", "e", "console", "process", "self", "this", "os", "sys"}
)


def mentions(text: str, database_around: bool = False) -> Iterator[Mention]:
    """Yield the tables (see `graphmem.tables`), events and settings of a text."""
    # Most texts name none of these: the plain tests keep a commit title at a few microseconds.
    if "_" in text:
        yield from _settings(text)
    if any(char in text for char in "._-") and any(word in text.lower() for word in _KEY_WORDS):
        yield from _keys(text)
    for table in table_names(text, database_around):
        yield Mention(Kind.TABLE, table.label, table.start, table.end)
    if any(char in text for char in "._:`\"'“‘「-/"):
        yield from _events(text)


def named(kind: Kind, label: str, start: int, end: int) -> Mention | None:
    """Give the mention, or None for what can't be the name of a table or an event."""
    match kind:
        case Kind.TABLE:
            fits = is_table_name(label)
        case Kind.EVENT:
            fits = _is_event(label)
        case Kind.SETTING:
            fits = _is_key(label) or (
                _SETTING.fullmatch(label) is not None and _NO_SETTING.match(label) is None
            )
    return Mention(kind, label, start, end) if fits else None


def _settings(text: str) -> Iterator[Mention]:
    for match in _SETTING.finditer(text):
        if _NO_SETTING.match(match.group()):
            continue
        before = text[max(0, match.start() - 40) : match.start()]
        after = text[match.end() : match.end() + 24]
        quoted = before.endswith("`") and after[:1] == "`"
        needed = _NEEDED.match(match.group()) and _NEEDED_BEFORE.search(before)
        if quoted or needed or _SETTING_BEFORE.search(before) or _SETTING_AFTER.match(after):
            yield Mention(Kind.SETTING, match.group(), match.start(), match.end())


def _keys(text: str) -> Iterator[Mention]:
    for pattern in (_KEY_AFTER, _KEY_BEFORE):
        for match in pattern.finditer(text):
            if _is_key(match["key"]) and (match["open"] or "." in match["key"]):
                yield Mention(Kind.SETTING, match["key"], match.start("key"), match.end("key"))


def _is_key(label: str) -> bool:
    """Say whether it is written as a key of a configuration is, and is neither file nor attribute."""
    return (
        re.fullmatch(_KEY, label) is not None
        and _FILE_END.search(label) is None
        and label.split(".")[0] not in _BROWSER_OBJECTS
    )


def _event(label: str, start: int, end: int) -> Iterator[Mention]:
    if mention := named(Kind.EVENT, label, start, end):
        yield mention


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


def _is_event(label: str) -> bool:
    """Say whether it is neither a file, nor an object's attribute, nor a single plain word."""
    humps = sum(1 for at, char in enumerate(label) if char.isupper() and at and not label[at - 1].isupper())
    if (
        _FILE_END.search(label)
        or label.split(".")[0] in _BROWSER_OBJECTS
        or (label.startswith("on") and humps)
    ):
        return False
    return any(char in label for char in "._:-/") or (label[0].isupper() and humps > 0)
