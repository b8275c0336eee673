"""Owns what a question takes from its session: whose words it lacks, and which words these are.

It is not search. A question is widened only where it says little by itself and points at something ("and
where is it stored?", 那个接口呢), and only by what its own session was about last.
"""

from __future__ import annotations

import re

from graphmem.postings import View
from graphmem.text import STOP_WORDS, tokens

_POINTS = re.compile(
    r"\b(?:it|its|that|this|these|those|they|them|there|one|ones|same|he|she|his|her|above|previous|again)\b"
    r"|[它这那其该此他她]|上面|刚才|之前|同样",
    re.IGNORECASE,
)
_MOST_WORDS = 4
"""A question with more telling words than this says enough by itself."""
_RECENT = 3
_AGE = 12 * 3_600.0


def widening(view: View, text: str, session: str | None, now: float) -> tuple[str, ...]:
    """Return words of the session's last work to search with too; empty where the question needs none.

    `now` in epoch seconds: work of the session that is older than half a day is another occasion.
    """
    if session is None or not points_back(text):
        return ()
    rows = view.connection.execute(
        "SELECT title FROM observation JOIN session ON session.id = observation.session"
        " WHERE session.name = ? AND at <= ? AND at > ?"
        " ORDER BY at DESC, observation.seq DESC LIMIT ?",
        (session, min(view.as_of, now), now - _AGE, _RECENT),
    ).fetchall()
    asked = frozenset(tokens(text))
    words = dict.fromkeys(
        word for (title,) in rows for word in tokens(title) if word not in STOP_WORDS and word not in asked
    )
    return tuple(words)[:8]


def points_back(text: str) -> bool:
    """Return whether a question is short and points at something that it does not name."""
    telling = [word for word in dict.fromkeys(tokens(text)) if word not in STOP_WORDS]
    return len(telling) <= _MOST_WORDS and (not telling or _POINTS.search(text) is not None)
