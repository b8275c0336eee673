"""Owns the words of the alert: one short note for an agent, or none.

It is not the decision what is affected (that is `impact`). File names are data from outside: they are
quoted so that nothing in them can end the line, imitate markup or speak in the note's own voice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphmem.instant import to_iso
from graphmem.model import Affected

MAX_BYTES = 600
_LINES = 3
_ODD = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069<>`]|(?<=\s)\s|\s(?=$)")
_LONGEST_NAME = 120


def quoted(name: str) -> str:
    """Return a file name as one harmless word: odd characters escaped, overlong ones cut in the middle."""
    safe = _ODD.sub(lambda match: f"\\u{ord(match.group()):04x}", name)
    if len(safe) > _LONGEST_NAME:
        safe = f"{safe[:40]}…{safe[-75:]}"
    return f'"{safe}"' if " " in safe else safe


def warning(subject: Sequence[str], strong: Sequence[Affected], weaker: int) -> str | None:
    """Return the note on the strong entries (best first), at most 600 bytes, or None when there are none.

    Args:
        subject: the files asked about.
        strong: entries at or above the threshold.
        weaker: how many more files are linked, but not strongly enough to name.
    """
    if not strong:
        return None
    head = quoted(subject[0]) if len(subject) == 1 else f"these {len(subject)} files"
    verb = "usually changes" if len(subject) == 1 else "usually change"
    lines = [f"{head} {verb} together with:"]
    for entry in strong[:_LINES]:
        line = f"- {quoted(entry.path)} ({_evidence(entry)})"
        if _size([*lines, line, _tail(len(strong), weaker)]) <= MAX_BYTES:
            lines.append(line)
    if len(lines) == 1:
        return None
    lines.append(_tail(len(strong) - (len(lines) - 1), weaker))
    return "\n".join(lines)


def _tail(unnamed: int, weaker: int) -> str:
    more = []
    if unnamed > 0:
        more.append(f"{unnamed} more likely")
    if weaker > 0:
        more.append(f"{weaker} weak")
    suffix = f"; and {', '.join(more)}" if more else ""
    return f"Likely, from recorded history{suffix}."


def _evidence(entry: Affected) -> str:
    found = entry.evidence
    seen = f", last {to_iso(found.last_seen)[:10]}" if found.last_seen is not None else ""
    sessions = f"{found.sessions} session{'' if found.sessions == 1 else 's'}"
    return f"{found.together} of {found.of} times, {sessions}{seen}"


def _size(lines: Sequence[str]) -> int:
    return len("\n".join(lines).encode())
