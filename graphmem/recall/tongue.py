"""Owns what can be told of a text's language by its letters, and which of its words are identifiers.

It is not segmentation (that is `graphmem.text`) and not which contract a text names (`graphmem.contracts`).
"""

from __future__ import annotations

import re

_LATIN_END = "\u024f"
_FEW_FOREIGN = 40
"""A text with one foreign letter in so many still counts as English: a name, a unit, a label in quotes."""

_LETTER = re.compile(r"[^\W\d_]")
_DIGIT = re.compile(r"\d")
_CODE = re.compile(r"`[^`\n]{1,200}`|[A-Za-z0-9_]\(\)")
_CHUNK = re.compile(r"[A-Za-z0-9_./:#@$~\\-]+")
_EDGES = ".:/-\\~"
_INSIDE = re.compile(
    r"\d"
    r"|[A-Za-z0-9]_[A-Za-z0-9]|^_+[A-Za-z]|[A-Za-z]_$"  # snake_case
    r"|[a-z][A-Z]|[A-Z]{2}[a-z]{2}"  # camelCase, HTTPClient
    r"|[A-Za-z0-9]\.[A-Za-z0-9]|::"  # dotted
    r"|^--[a-z]|^[@$#]\w|^X-[A-Z]"  # an option, a scope, a variable, a header
)
_PATH = re.compile(r"^(?:[A-Za-z]:|~|\.{1,2})?[/\\]\w|\w[/\\][\w.-]{1,80}[/\\]|\w[/\\]$")
_WORDS_ALL_THE_SAME = """
a.k.a bitbucket devops dynamodb e.g ebpf elasticsearch github gitlab graphql i.e ios javascript linkedin
macos mariadb mongodb mysql nosql oauth openai openapi paypal postgresql pytorch rabbitmq readme sqlite
stackoverflow tensorflow typescript urls apis ids webassembly websocket websockets youtube
"""
_NO_IDENTIFIERS = frozenset(_WORDS_ALL_THE_SAME.split())
"""Names written like identifiers that are words of everyday speech, in lower case."""


def is_english(text: str) -> bool:
    """Return whether a text may be compared in a space made for English alone.

    Judged by letters: hardly any outside plain Latin. Texts of identifiers only, and those without any
    letter, count as English; other languages in plain Latin letters can't be told apart and do too.
    """
    if text.isascii():
        return True
    letters = _LETTER.findall(text)
    beyond = len([letter for letter in letters if letter > _LATIN_END])
    marked = len([letter for letter in letters if "\x7f" < letter <= _LATIN_END])
    return _FEW_FOREIGN * beyond <= len(letters) and 4 * marked <= len(letters) + 4


def has_identifier(text: str) -> bool:
    """Return whether a question asks for something by its literal name.

    That is a digit, a path, quoted code, a call, or an identifier: camelCase, snake_case, dotted, an option,
    a scope. Linear in the text's length.
    """
    return bool(_DIGIT.search(text) or _CODE.search(text) or identifiers(text, 1))


def identifiers(text: str, most: int = 16) -> tuple[str, ...]:
    """Return the first `most` distinct words of a text that are literal names, as they are written."""
    found: dict[str, None] = {}
    for match in _CHUNK.finditer(text):
        chunk = match.group()
        word = chunk.rstrip(_EDGES).lstrip(":")
        known = word.casefold() in _NO_IDENTIFIERS
        if word and not known and (_INSIDE.search(word) or _PATH.search(chunk)):
            found[word] = None
            if len(found) >= most:
                break
    return tuple(found)
