"""Owns the answers about corpora from the files, for as long as no service runs on the home.

It is not the service's client (`api.backend_corpora_remote`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from api.backend_corpora import CorpusFilter, CorpusQuestion, Shape
from api.schemas_corpora import CorpusOut, CorpusPageOut, CorpusTextOut
from api.schemas_recall import SearchOut
from graphmem.instant import from_iso
from graphmem.question import Filters, Question

if TYPE_CHECKING:
    from graphmem import Memory
    from graphmem.project_corpora import ProjectCorpora


class LocalCorpora:
    """Answers from `memory`, which its owner closes."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def create(self, project: str, name: str, chosen: CorpusFilter) -> Shape:
        """Store a corpus and return it."""
        filters = Filters(
            since=None if chosen.since is None else from_iso(chosen.since),
            until=None if chosen.until is None else from_iso(chosen.until),
            types=chosen.types,
            kinds=chosen.kinds,
            file=chosen.file,
            concept=chosen.concept,
            session=chosen.session,
            source=chosen.source,
        )
        corpora = self._corpora(project)
        corpus, _ = corpora.create(name, filters)
        return CorpusOut.of_corpus(corpus, corpora.count(corpus)).model_dump(mode="json")

    def listed(self, project: str, limit: int, cursor: str | None) -> Shape:
        """Return a page of corpora, by name."""
        return CorpusPageOut.of_page(self._corpora(project).listed(limit, cursor)).model_dump(mode="json")

    def text(self, project: str, name: str, budget_tokens: int) -> Shape:
        """Return what a corpus says."""
        return CorpusTextOut.of_text(self._corpora(project).text(name, budget_tokens)).model_dump(mode="json")

    def ask(self, project: str, question: CorpusQuestion) -> Shape:
        """Return the answer to a question within a corpus."""
        asked = Question(question.text, question.limit, question.budget_tokens)
        found = self._corpora(project).query(question.name, asked)
        return SearchOut.of_answer(found).model_dump(mode="json")

    def remove(self, project: str, name: str) -> None:
        """Take a corpus out."""
        self._corpora(project).remove(name)

    def _corpora(self, project: str) -> ProjectCorpora:
        return self._memory.project(project).corpora
