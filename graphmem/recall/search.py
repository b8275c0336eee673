"""Owns the search by words: the pre-tokenised text index, English, Chinese and identifiers alike.

It is not vector search and expands nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphmem.aliases import other_names
from graphmem.journal import Journal
from graphmem.model import Observation, SearchHit
from graphmem.postings import View
from graphmem.text import match_query, tokens

_WEIGHTS = "4.0, 1.0, 2.0, 1.0"
_LINE = 240
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。!?;])|\n+")


def search(
    view: View,
    journal: Journal,
    text: str,
    limit: int,
    since: float | None = None,
    until: float | None = None,
    types: Sequence[str] = (),
) -> list[SearchHit]:
    """Return the best matches, of equals the newest first; `score` is BM25, higher is better."""
    expression = match_query(" ".join((text, *other_names(text))))
    if not expression:
        return []
    conditions, values = ["text MATCH ?", "at <= ?"], [expression, min(view.as_of, 1e15)]
    if since is not None:
        conditions.append("at >= ?")
        values.append(since)
    if until is not None:
        conditions.append("at < ?")
        values.append(until)
    if types:
        conditions.append(f"type IN ({','.join('?' * len(types))})")
        values += types
    rows = view.connection.execute(
        f"SELECT seq, -bm25(text, {_WEIGHTS}) AS score"
        " FROM text JOIN observation ON observation.seq = text.rowid"
        f" WHERE {' AND '.join(conditions)} ORDER BY score DESC, at DESC, observation.id LIMIT ?",
        (*values, limit),
    ).fetchall()
    found = journal.numbered(row[0] for row in rows)
    wanted = frozenset(tokens(text))
    return [_hit(found[seq], score, wanted) for seq, score in rows if seq in found]


def _hit(observation: Observation, score: float, wanted: frozenset[str]) -> SearchHit:
    return SearchHit(
        id=observation.id,
        title=observation.title,
        text=_best_line(observation, wanted),
        kind="observation",
        score=score,
        at=observation.at,
        source=observation.source,
    )


def _best_line(observation: Observation, wanted: frozenset[str]) -> str:
    """Return the fact or sentence that holds most of the wanted words; the title when none holds any."""
    lines = [fact.text for fact in observation.facts]
    for body in (observation.intent, observation.narrative):
        lines += [line.strip() for line in _SENTENCE.split(body[:8_000]) if line.strip()]
    held = {line: len(wanted & frozenset(tokens(line[:1_000]))) for line in lines[:60]}
    best = max(held, key=held.__getitem__, default="")
    if best and not held[best] and observation.title:
        best = observation.title
    chosen = best or observation.title or ", ".join(observation.files_modified[:3])
    return chosen if len(chosen) <= _LINE else chosen[: _LINE - 1] + "…"
