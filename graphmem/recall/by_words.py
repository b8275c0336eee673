"""Owns the answer to a question by its words alone, without vectors and without the graph.

It is not how questions are answered as a rule (`graphmem.recall.inquiry`).
"""

from __future__ import annotations

from graphmem.journal import Journal
from graphmem.postings import View
from graphmem.question import Answer, Question
from graphmem.recall.asking import is_chinese
from graphmem.recall.lexical import matches
from graphmem.recall.packing import pack
from graphmem.recall.pieces import pieces_of

_DEGRADED = "answered by words alone: without vectors and the graph"


def answer_by_words(view: View, journal: Journal, question: Question, now: float) -> Answer:
    """Return the pieces that hold words of the question, best first; `now` in epoch seconds."""
    hits = matches(view, question.text, question.filters, question.limit).hits
    scores = {(hit.seq, hit.ord): hit.score for hit in hits}
    pieces = pieces_of(view, journal, list(scores), scores, now)
    packed = pack(pieces, (), question.budget_tokens, chinese=is_chinese(question.text))
    return Answer(tuple(pieces), (), packed.text, packed.tokens, _DEGRADED)
