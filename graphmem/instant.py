"""Owns the one form of time in GraphMem: seconds since 1970 in UTC as a float, and its ISO 8601 text.

It is not a clock: callers that need the present moment pass it in or read `time.time` themselves.
"""

from __future__ import annotations

from datetime import UTC, datetime

DAY = 86_400.0
HOUR = 3_600.0


def to_iso(at: float) -> str:
    """Return `at` (epoch seconds) as ISO 8601 in UTC, with milliseconds only where there are some."""
    moment = datetime.fromtimestamp(round(at, 3), UTC)
    spec = "milliseconds" if moment.microsecond else "seconds"
    return moment.isoformat(timespec=spec).replace("+00:00", "Z")


def from_iso(text: str) -> float:
    """Return the epoch seconds of an ISO 8601 text; a text without an offset is read as UTC.

    Raises:
        ValueError: the text is no ISO 8601 time.
    """
    moment = datetime.fromisoformat(text.strip())
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
