"""Owns the JSON shapes of corpora: a named filter, and what it says.

It is not the shape of an answer to a question in one (that is `api.schemas_recall`), nor what comes in
(`api.bodies_corpora`).
"""

from __future__ import annotations

from typing import Self

from api.schemas import Instant, Shape
from graphmem.corpora import Corpus, CorpusPage, CorpusText
from graphmem.instant import to_iso
from graphmem.question import Filters, PieceKind


class CorpusFilterOut(Shape):
    """What belongs to a corpus: everything that passes all that is given."""

    since: Instant | None
    until: Instant | None
    types: list[str]
    kinds: list[PieceKind]
    file: str | None
    concept: str | None
    session: str | None
    source: str | None

    @classmethod
    def of_filters(cls, filters: Filters) -> Self:
        """Return the shape of a filter."""
        return cls(
            since=None if filters.since is None else to_iso(filters.since),
            until=None if filters.until is None else to_iso(filters.until),
            types=list(filters.types),
            kinds=[PieceKind(kind) for kind in filters.kinds],
            file=filters.file,
            concept=filters.concept,
            session=filters.session,
            source=filters.source,
        )


class CorpusOut(Shape):
    """A corpus; `pieces` is how many statements and observations match just now."""

    name: str
    filter: CorpusFilterOut
    created_at: Instant
    pieces: int

    @classmethod
    def of_corpus(cls, corpus: Corpus, pieces: int) -> Self:
        """Return the shape of a corpus."""
        return cls(
            name=corpus.name,
            filter=CorpusFilterOut.of_filters(corpus.filters),
            created_at=to_iso(corpus.created_at),
            pieces=pieces,
        )


class CorpusPageOut(Shape):
    """A page of corpora, by name."""

    items: list[CorpusOut]
    next_cursor: str | None

    @classmethod
    def of_page(cls, page: CorpusPage) -> Self:
        """Return the shape of a page."""
        return cls(
            items=[CorpusOut.of_corpus(corpus, pieces) for corpus, pieces in page.items],
            next_cursor=page.next_cursor,
        )


class CorpusTextOut(CorpusOut):
    """What a corpus says at `built_at`: `told` of its `pieces` are in `text`, the others `left_out`."""

    text: str
    tokens: int
    told: int
    left_out: int
    built_at: Instant
    degraded: str | None

    @classmethod
    def of_text(cls, said: CorpusText) -> Self:
        """Return the shape of what a corpus says."""
        return cls(
            name=said.corpus.name,
            filter=CorpusFilterOut.of_filters(said.corpus.filters),
            created_at=to_iso(said.corpus.created_at),
            pieces=said.pieces,
            text=said.text,
            tokens=said.tokens,
            told=said.told,
            left_out=said.left_out,
            built_at=to_iso(said.built_at),
            degraded=said.degraded,
        )
