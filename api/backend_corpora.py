"""Owns the part of the seam that is about corpora.

It is not the rest of the seam (`api.backend`). Every answer is the HTTP shape as plain data
(`api.schemas_corpora`); the twins are `api.backend_corpora_local` and `api.backend_corpora_remote`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

Shape = dict[str, Any]


@dataclass(frozen=True, slots=True)
class CorpusFilter:
    """What belongs to a corpus; times are ISO 8601, what is empty narrows nothing down."""

    since: str | None = None
    until: str | None = None
    types: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    file: str | None = None
    concept: str | None = None
    session: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class CorpusQuestion:
    """What is asked in the corpus of that name."""

    name: str
    text: str
    limit: int = 20
    budget_tokens: int = 1_000


class CorporaBackend(Protocol):
    """Answers in HTTP's shapes; faults are `graphmem.errors`. `project` is a slug."""

    def create(self, project: str, name: str, chosen: CorpusFilter) -> Shape:
        """Store a corpus and return it; ConflictError, InvalidInputError."""

    def listed(self, project: str, limit: int, cursor: str | None) -> Shape:
        """Return a page of corpora, by name."""

    def text(self, project: str, name: str, budget_tokens: int) -> Shape:
        """Return what a corpus says, a `CorpusTextOut`; NotFoundError."""

    def ask(self, project: str, question: CorpusQuestion) -> Shape:
        """Return the answer to a question within a corpus, a `SearchOut`; NotFoundError."""

    def remove(self, project: str, name: str) -> None:
        """Take a corpus out; NotFoundError."""
