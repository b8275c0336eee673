"""Owns the words of the alert: one short note for an agent, or none.

It is not the decision what is affected (that is `impact`). File names are data from outside: they are
quoted so that nothing in them can end the line, imitate markup or speak in the note's own voice.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from graphmem.instant import to_iso
from graphmem.model import Affected

MAX_BYTES = 600
_LINES = 3
_ESCAPED = frozenset('<>`"')
_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS = frozenset("\u200c\u200d")
_BLANK = re.compile(r"(?<=\s)\s|^\s|\s$|[^\S ]")
# Two names of this size, the evidence, the first and the last line always fit together.
_NAME_BYTES = 160
_FRONT_BYTES = 60


def quoted(name: str) -> str:
    """Return a file name as one harmless word: odd characters escaped, overlong ones cut in the middle."""
    blanks = {found.start() for found in _BLANK.finditer(name)}
    pieces = [
        f"\\u{ord(char):04x}" if place in blanks or _is_odd(char) else char for place, char in enumerate(name)
    ]
    if len("".join(pieces).encode()) > _NAME_BYTES:
        front = _within(pieces, _FRONT_BYTES)
        back = _within(pieces[::-1], _NAME_BYTES - _FRONT_BYTES - len("…".encode()))[::-1]
        pieces = [*front, "…", *back]
    safe = "".join(pieces)
    return f'"{safe}"' if " " in safe else safe


def _is_odd(char: str) -> bool:
    return char in _ESCAPED or (unicodedata.category(char) in _CATEGORIES and char not in _JOINERS)


def _within(pieces: Sequence[str], size: int) -> list[str]:
    """Return as many of the first pieces as fit into `size` bytes."""
    ends = accumulate(len(piece.encode()) for piece in pieces)
    return [piece for piece, end in zip(pieces, ends, strict=True) if end <= size]


def warning(
    subject: Sequence[str],
    strong: Sequence[Affected],
    weaker: int,
    confirmed: Mapping[str, str] | None = None,
) -> str | None:
    """Return the note on the strong entries (best first), at most 600 bytes, or None when there are none.

    Args:
        subject: the files asked about.
        strong: entries at or above the threshold, and confirmed ones.
        weaker: how many more files are linked, but not strongly enough to name.
        confirmed: what each confirmed path has to do with the subject, such as "depends on it, confirmed".
    """
    if not strong:
        return None
    known = confirmed or {}
    tail = _Tail(bool(known), all(entry.path in known for entry in strong))
    lines = [_head(subject, bool(known))]
    for entry in strong[:_LINES]:
        words = [known[entry.path]] if entry.path in known else []
        if entry.evidence.together or not words:
            words.append(_evidence(entry))
        line = f"- {quoted(entry.path)} ({'; '.join(words)})"
        if _size([*lines, line, tail.line(len(strong), weaker)]) <= MAX_BYTES:
            lines.append(line)
    if len(lines) == 1:
        return None
    lines.append(tail.line(len(strong) - (len(lines) - 1), weaker))
    return "\n".join(lines)


def _head(subject: Sequence[str], confirmed: bool) -> str:
    head = quoted(subject[0]) if len(subject) == 1 else f"these {len(subject)} files"
    if confirmed:
        return f"A change of {head} may concern:"
    return f"{head} {'usually changes' if len(subject) == 1 else 'usually change'} together with:"


class _Tail(NamedTuple):
    """The last line: where the entries come from, and how many are not named."""

    some_confirmed: bool
    all_confirmed: bool

    def line(self, unnamed: int, weaker: int) -> str:
        more = []
        if unnamed > 0:
            more.append(f"{unnamed} more {'confirmed' if self.all_confirmed else 'likely'}")
        if weaker > 0:
            more.append(f"{weaker} weak")
        suffix = f"; and {', '.join(more)}" if more else ""
        if self.all_confirmed:
            return f"Confirmed by verdicts{suffix}."
        otherwise = "Confirmed where said, else likely" if self.some_confirmed else "Likely"
        return f"{otherwise}, from recorded history{suffix}."


def _evidence(entry: Affected) -> str:
    found = entry.evidence
    seen = f", last {to_iso(found.last_seen)[:10]}" if found.last_seen is not None else ""
    sessions = f"{found.sessions} session{'' if found.sessions == 1 else 's'}"
    return f"{found.together} of {found.of} times, {sessions}{seen}"


def _size(lines: Sequence[str]) -> int:
    return len("\n".join(lines).encode())
