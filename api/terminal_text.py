"""Owns what keeps data from steering a terminal: control and direction characters, made visible.

It is not the look of an answer (`api.screen`), and it loads nothing, as every error passes here.
"""

from __future__ import annotations

import re

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_BREAK = re.compile("[\t\n]")


def clean(text: str) -> str:
    """Return `text` with control and direction characters made visible; tabs and line ends stay."""
    return _CONTROL.sub(_escaped, text)


def one_line(text: str) -> str:
    """Return `text` as `clean` does, on one line: a name with a line end in it must not look like two."""
    return _BREAK.sub(_escaped, clean(text))


def clean_json(text: str) -> str:
    """Return the JSON text with these characters as JSON escapes: the same data."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _escaped(found: re.Match[str]) -> str:
    number = ord(found[0])
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"
