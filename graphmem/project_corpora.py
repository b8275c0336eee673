"""Owns the corpora of one project as a library user sees them: named filters, what they say, questions there.

It is not search (a corpus narrows it down) and keeps nothing that is found: a corpus is read anew each time,
so what is stored or forgotten shows at once. Get it from `Project.corpora`. Safe to share between threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from graphmem.access import Access, check_limit
from graphmem.corpora import Corpus, CorpusPage, CorpusText, within
from graphmem.errors import InvalidInputError
from graphmem.opened import Opened
from graphmem.postings import View
from graphmem.question import Answer, Filters, Question
from graphmem.recall.impact import unfinished
from graphmem.recall.knowledge import MOST_TOKENS, Said, count_pieces, knowledge
from graphmem.recall.page import decode_cursor, encode_cursor
from graphmem.record import storable

DEFAULT_TOKENS = 2_000
_VISIBLE = 1.0
"""So many seconds a text waits for what was stored just now."""


class ProjectCorpora:
    """The corpora of one project.

    Args:
        access: the project's files.
        resolve: names files relative to the root, see `Project.resolve`.
        ask: answers a question, see `Project.query`.
    """

    def __init__(
        self,
        access: Access,
        resolve: Callable[[Sequence[str]], tuple[str, ...]],
        ask: Callable[[Question], Answer],
    ) -> None:
        self._access = access
        self._resolve = resolve
        self._ask = ask

    def create(self, name: str, filters: Filters) -> tuple[Corpus, bool]:
        """Store a corpus; return it and whether it is new. The same one again is no change.

        Raises:
            InvalidInputError: the name or the filter is not usable, or its file lies outside the root.
            ConflictError: the name is taken by another filter.
        """
        whole = replace(
            filters,
            types=tuple(map(storable, filters.types)),
            file=None if filters.file is None else self._resolve([filters.file])[0],
            concept=_stored(filters.concept),
            session=_stored(filters.session),
            source=_stored(filters.source),
        )
        with self._access.use() as files:
            return files.journal.corpora.create(name, whole, self._access.clock())

    def corpus(self, name: str) -> Corpus:
        """Return one corpus.

        Raises:
            NotFoundError: there is none of that name.
        """
        with self._access.use() as files:
            return files.journal.corpora.get(name)

    def count(self, corpus: Corpus) -> int:
        """Return how many pieces match just now."""
        return self._access.ask(lambda view, _: count_pieces(view, corpus.filters))

    def listed(self, limit: int = 20, cursor: str | None = None) -> CorpusPage:
        """Return a page of corpora by name, with how many pieces match each.

        Raises:
            InvalidInputError: the cursor or limit is not usable.
        """
        check_limit(limit)
        after = None if cursor is None else decode_cursor(cursor, str)[1]

        def answer(view: View, files: Opened) -> CorpusPage:
            found = files.journal.corpora.listed(limit + 1, after)
            items = tuple((corpus, count_pieces(view, corpus.filters)) for corpus in found[:limit])
            more = len(found) > limit
            return CorpusPage(items, encode_cursor(0.0, items[-1][0].name) if more else None)

        return self._access.ask(answer)

    def remove(self, name: str) -> None:
        """Take a corpus out; what it finds stays.

        Raises:
            NotFoundError: there is none of that name.
        """
        with self._access.use() as files:
            files.journal.corpora.remove(name)

    def text(self, name: str, budget_tokens: int = DEFAULT_TOKENS) -> CorpusText:
        """Return what a corpus says now, in at most `budget_tokens` tokens.

        Raises:
            NotFoundError: there is none of that name.
            InvalidInputError: the budget is below 0 or above 100,000.
        """
        if not 0 <= budget_tokens <= MOST_TOKENS:
            raise InvalidInputError(
                f"A budget of {budget_tokens} tokens is out of range; take 0 to {MOST_TOKENS}.",
                "budget_tokens",
            )
        now = self._access.clock()

        def answer(view: View, files: Opened) -> tuple[Corpus, Said, str | None]:
            corpus = files.journal.corpora.get(name)
            behind = files.follower.behind()
            said = knowledge(view, files.journal, corpus.name, corpus.filters, budget_tokens, now)
            return corpus, said, None if behind is None else unfinished(*behind)

        with self._access.use() as files:
            files.follower.wait(_VISIBLE)
            corpus, said, degraded = self._access.ask(answer)
        packed = said.packed
        return CorpusText(corpus, packed.text, packed.tokens, said.pieces, len(packed.told), now, degraded)

    def query(self, name: str, question: Question) -> Answer:
        """Answer a question within a corpus: only by what passes its filter and the question's own.

        Raises:
            NotFoundError: there is none of that name.
            InvalidInputError: both filters name a file, concept, session or source, and not the same.
        """
        asked = question.filters
        if asked.file is not None:
            asked = replace(asked, file=self._resolve([asked.file])[0])
        filters = within(self.corpus(name).filters, asked)
        if filters is None:
            return Answer((), (), "", 0)
        return self._ask(replace(question, filters=filters))


def _stored(text: str | None) -> str | None:
    return None if text is None else storable(text)
