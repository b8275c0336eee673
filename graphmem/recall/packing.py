"""Owns the packed context: one line a piece, best first, as many as fit a budget of tokens.

It is not ranking (that is `graphmem.recall.search`) and asks no database: hits in, text out. The pieces
are data for an agent to read, so line breaks are flattened and markup is escaped.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from graphmem.instant import to_iso
from graphmem.model import SearchHit

_LINE_CHARACTERS = 300
_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_BLANK = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def packed_tokens(text: str) -> int:
    """Return the estimated size of `text` in tokens: narrow text / 4, one a CJK character."""
    wide = len(_WIDE.findall(text))
    return wide + math.ceil((len(text) - wide) / 4)


def pack(hits: Iterable[SearchHit], budget_tokens: int) -> str:
    """Return one line for each hit, `- text (source, date)`, until `budget_tokens` would be exceeded."""
    lines: list[str] = []
    for hit in hits:
        line = _line(hit)
        if packed_tokens("\n".join([*lines, line])) > budget_tokens:
            break
        lines.append(line)
    return "\n".join(lines)


def _line(hit: SearchHit) -> str:
    words = _BLANK.sub(" ", hit.text or hit.title).strip()
    if len(words) > _LINE_CHARACTERS:
        words = words[: _LINE_CHARACTERS - 1].rstrip() + "…"
    quoted = words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f"- {quoted} ({hit.source}, {to_iso(hit.at)[:10]})"
