"""Owns which passages of a project get vectors, and their texts.

A passage is an observation's own text (`ord` -1: title and narrative, or intent where there is none) or one
of its facts by itself. It is not where vectors are kept (`graphmem.embedding.store`).

Only so many passages have one. Being read must change nothing, so "used" can't mean found or shown: what is
stated to last goes first (decisions, preferences, conventions, what two sessions stated), then the newest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from graphmem.database import chunked
from graphmem.journal import Journal
from graphmem.postings import View

MOST_PASSAGES = 50_000
LONGEST = 2_000
"""Characters of a passage that are read."""

_WANTED = """
    WITH lasting AS (
        SELECT fact.text FROM fact JOIN observation ON observation.seq = fact.seq
        GROUP BY fact.text HAVING COUNT(DISTINCT session) > 1
    )
    SELECT seq, ord, told FROM (
        SELECT seq, -1 AS ord, told, at, 1 AS later FROM observation
        UNION ALL
        SELECT fact.seq, ord, told, fact.at,
            kind NOT IN ('decision', 'preference', 'convention')
                AND fact.text NOT IN (SELECT text FROM lasting)
        FROM fact JOIN observation ON observation.seq = fact.seq
        ORDER BY later, at DESC, seq DESC, ord LIMIT ?
    ) ORDER BY at DESC, seq DESC, ord
"""


class Passage(NamedTuple):
    """A passage's key, and the telling of its observation."""

    seq: int
    ord: int
    told: int


def passages(view: View, at_most: int = MOST_PASSAGES) -> list[Passage]:
    """Return the passages that get vectors, the newest first."""
    return [Passage(*row) for row in view.connection.execute(_WANTED, (at_most,))]


def texts(view: View, journal: Journal, chosen: Sequence[Passage]) -> dict[Passage, str | None]:
    """Return the texts of passages; None for what is still being worked on, and so waits until it settles.

    Those that are gone or were told anew since are left out.
    """
    numbers = [passage.seq for passage in chosen]
    told = dict(chunked(view.connection, "SELECT seq, told FROM observation WHERE seq IN ({})", numbers))
    facts = {
        (seq, ord): text
        for seq, ord, text in chunked(
            view.connection, "SELECT seq, ord, text FROM fact WHERE seq IN ({})", numbers
        )
    }
    observations = journal.numbered(dict.fromkeys(numbers))
    found: dict[Passage, str | None] = {}
    for passage in chosen:
        observation = observations.get(passage.seq)
        if observation is None or told.get(passage.seq) != passage.told:
            continue
        if observation.provisional:
            found[passage] = None
        elif passage.ord < 0:
            body = observation.narrative or observation.intent
            found[passage] = f"{observation.title}\n{body}".strip()[:LONGEST]
        elif (passage.seq, passage.ord) in facts:
            found[passage] = facts[passage.seq, passage.ord][:LONGEST]
    return found
