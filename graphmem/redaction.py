"""Owns the service's side of the privacy gate: what is stored or logged holds no secret and nothing private.

It is not the table of shapes (`graphmem.secret_shapes`), which the hook program reads too. Texts only: a
path, an id, a session or a source's own name stays as it is, as files that lose their names would be one.
"""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import replace

from graphmem.capture.intake import MAX_TEXT
from graphmem.model import Observation
from graphmem.secret_shapes import redact

_LONGEST_WORD = 1_000


def redacted(observation: Observation) -> tuple[Observation, Counter[str]]:
    """Return the observation with secrets as typed placeholders, and how many of each kind there were.

    One that is clean comes back as it is. Facts and concepts that were private as a whole are left out.
    """
    texts = (observation.title, observation.intent, observation.narrative, observation.branch or "")
    more = (*(fact.text for fact in observation.facts), *observation.concepts, *observation.notes)
    together = "\n".join((*texts, *more))
    counts: Counter[str] = Counter()
    if len(together) <= MAX_TEXT // 4 and not redact(together)[1]:
        return observation, counts

    def clean(text: str) -> str:
        kept, found = redact(_whole_words(text))
        counts.update(found)
        return kept.strip() if found else kept

    facts = (replace(fact, text=clean(fact.text)) for fact in observation.facts)
    cleaned = replace(
        observation,
        title=clean(observation.title),
        intent=clean(observation.intent),
        narrative=clean(observation.narrative),
        branch=clean(observation.branch) if observation.branch else observation.branch,
        facts=tuple(fact for fact in facts if fact.text),
        concepts=tuple(dict.fromkeys(kept for concept in observation.concepts if (kept := clean(concept)))),
        notes=tuple(clean(note) for note in observation.notes),
    )
    return cleaned, counts


def without_secrets(text: str) -> str:
    """Return a text from outside as it may be stored."""
    return redact(_whole_words(text))[0]


def _whole_words(text: str) -> str:
    """Leave out the last word of a text that was cut: half a secret has no shape to know it by."""
    if len(text) <= MAX_TEXT // 4 or len(text.encode()) < MAX_TEXT - 3:
        return text
    words = text[-_LONGEST_WORD:].split()
    return text if len(words) < 2 else text[: len(text) - len(words[-1])]


class DiscreetFormatter(logging.Formatter):
    """Writes log records, what they tell of a fault included, without secrets."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record's text as it may be written."""
        return redact(super().format(record))[0]
