"""Owns the search by words: which pieces hold a question's words, English, Chinese and identifiers alike.

It is not vector search, and it neither fuses nor ranks by age or standing. SQLite's full-text index finds the
candidates by the question's rarest words; they are then scored here, observations and facts on one scale, in
a way that is sane for a memory of three observations too.
"""

from __future__ import annotations

import math
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from graphmem.aliases import other_names
from graphmem.database import chunked
from graphmem.postings import View
from graphmem.question import Filters, PieceKind
from graphmem.recall.filtering import conditions, piece_kinds
from graphmem.text import MOST_QUERY_TOKENS, STOP_WORDS, tokens

OBSERVATION_ORD = -1

MOST_CANDIDATES = 200
"""So many observations and so many facts are looked at closely."""

_MOST_TERMS = 24
_MOST_ROWS = 20_000
_COMMON = 0.1
_FEW = 1_000
_ALIAS = 0.5
_SATURATION = 1.2
_LENGTH = 0.5
_USUAL_LENGTH = 50
_OPCODES = 2_000
_NAMED_WITHIN = 2_000


class LexicalHit(NamedTuple):
    """A piece that holds some of the words: `ord` -1 is the observation itself, else its fact.

    `score` is BM25 in units of a piece that holds every word of the question once, 0 to about 2; `held` the
    part of the question's weight in words that stand in it, 0 to 1.
    """

    seq: int
    ord: int
    score: float
    held: float


@dataclass(frozen=True, slots=True)
class Lexical:
    """What the words found, best first; `documents` is the number of pieces there are.

    `complete` is False where time ran out first.
    """

    hits: tuple[LexicalHit, ...]
    documents: int
    complete: bool = True


class _Term(NamedTuple):
    token: str
    weight: float
    asked: bool
    held: int


def matches(
    view: View,
    text: str,
    where: Filters,
    at_most: int = MOST_CANDIDATES,
    overdue: Callable[[], bool] | None = None,
) -> Lexical:
    """Return the pieces that hold words of `text` or other names of the concepts it names.

    `overdue` is asked now and then while SQLite works; once it says yes, what was found so far is the answer.
    Any text is fine; one without a word finds nothing.
    """
    connection = view.connection
    if overdue is not None:
        connection.set_progress_handler(overdue, _OPCODES)
    hits: list[LexicalHit] = []
    documents = 0
    try:
        documents = _documents(view)
        terms = _terms(view, text, documents)
        for search in (_observations, _facts):
            hits += search(view, terms, where, at_most)
    except sqlite3.OperationalError as fault:
        if fault.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
            raise
        return Lexical(_ordered(hits, at_most), documents, complete=False)
    finally:
        if overdue is not None:
            connection.set_progress_handler(None, 0)
    return Lexical(_ordered(hits, at_most), documents)


def _ordered(hits: list[LexicalHit], at_most: int) -> tuple[LexicalHit, ...]:
    return tuple(sorted(hits, key=lambda hit: (-hit.score, -hit.seq, hit.ord))[:at_most])


def _documents(view: View) -> int:
    """Return about how many pieces there are; exact for a past moment and where nothing was ever removed."""
    if view.as_of == math.inf:
        query = (
            "SELECT COALESCE((SELECT MAX(seq) FROM observation), 0) + COALESCE((SELECT MAX(id) FROM fact), 0)"
        )
        values: tuple[float, ...] = ()
    else:
        query = "SELECT (SELECT COUNT(*) FROM observation WHERE at <= ?) + COUNT(*) FROM fact WHERE at <= ?"
        values = (view.as_of, view.as_of)
    return int(view.connection.execute(query, values).fetchone()[0])


def _terms(view: View, text: str, documents: int) -> list[_Term]:
    """Return the question's words with their weights, the rarest first; other names count half."""
    asked = list(dict.fromkeys(tokens(text)))
    asked = ([token for token in asked if token not in STOP_WORDS] or asked)[:MOST_QUERY_TOKENS]
    others = dict.fromkeys(token for name in other_names(text[:_NAMED_WITHIN]) for token in tokens(name))
    known = STOP_WORDS.union(asked)
    shares = [(token, 1.0) for token in asked]
    shares += [(token, _ALIAS) for token in others if token not in known]
    most = max(_FEW, int(_COMMON * documents))
    found = []
    for token, share in shares:
        held = _holding(view, token, most)
        rarity = math.log1p((documents - min(held, documents) + 0.5) / (held + 0.5))
        found.append(_Term(token, share * rarity, share == 1.0, held))
    return sorted(found, key=lambda term: term.held)


def _holding(view: View, token: str, most: int) -> int:
    """Return how many pieces hold a word, at most about twice `most`."""
    at = "" if view.as_of == math.inf else f" AND at <= {view.as_of!r}"
    query = (
        "SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM text {0} WHERE text MATCH ?1{2} LIMIT ?2))"
        " + (SELECT COUNT(*) FROM (SELECT 1 FROM fact_text {1} WHERE fact_text MATCH ?1{2} LIMIT ?2))"
    ).format(
        at and "JOIN observation ON observation.seq = text.rowid",
        at and "JOIN fact ON fact.id = fact_text.rowid",
        at,
    )
    return int(view.connection.execute(query, (f'"{token}"', most)).fetchone()[0])


def _expression(terms: Sequence[_Term]) -> str:
    """Return the question for the index: the rarest words, as many as keep the rows to be looked at few."""
    wanted: list[_Term] = []
    rows = 0
    for term in terms[:_MOST_TERMS]:
        rows += term.held
        if wanted and rows > _MOST_ROWS:
            break
        if term.held:
            wanted.append(term)
    return " OR ".join(f'"{term.token}"' for term in wanted)


def _observations(view: View, terms: Sequence[_Term], where: Filters, at_most: int) -> list[LexicalHit]:
    expression = _expression(terms)
    if not expression or PieceKind.HISTORY not in piece_kinds(where):
        return []
    found, values = conditions(view, where)
    query = "SELECT text.rowid FROM text {} WHERE text MATCH ? {} ORDER BY {} LIMIT ?"
    if found:
        joined, order = "JOIN observation ON observation.seq = text.rowid", "bm25(text)"
        query = query.format(joined, "AND " + " AND ".join(found), order)
    else:
        query = query.format("", "", "rank")
    rows = view.connection.execute(query, (expression, *values, at_most))
    texts = chunked(
        view.connection,
        "SELECT rowid, title, title || ' ' || body || ' ' || concepts || ' ' || paths FROM text"
        " WHERE rowid IN ({})",
        [seq for (seq,) in rows],
    )
    of_facts: dict[int, Counter[str]] = defaultdict(Counter)
    stated = "SELECT seq, words FROM fact_text JOIN fact ON fact.id = fact_text.rowid WHERE seq IN ({})"
    for seq, words in chunked(view.connection, stated, [seq for seq, *_ in texts]):
        of_facts[seq].update(words.split())
    # A title counts twice; what facts say is found as them.
    own = [Counter(title.split()) + Counter(words.split()) - of_facts[seq] for seq, title, words in texts]
    return _scored([(seq, OBSERVATION_ORD) for seq, *_ in texts], own, terms)


def _facts(view: View, terms: Sequence[_Term], where: Filters, at_most: int) -> list[LexicalHit]:
    expression = _expression(terms)
    kinds = piece_kinds(where) - {PieceKind.HISTORY}
    if not expression or not kinds:
        return []
    found, values = conditions(view, where)
    query = "SELECT fact_text.rowid FROM fact_text {} WHERE fact_text MATCH ? {} ORDER BY {} LIMIT ?"
    if len(kinds) < len(PieceKind) - 1:
        found.append(f"fact.kind IN ({','.join('?' * len(kinds))})")
        values += sorted(kinds)
    if found:
        joined = "JOIN fact ON fact.id = fact_text.rowid JOIN observation ON observation.seq = fact.seq"
        query = query.format(joined, "AND " + " AND ".join(found), "bm25(fact_text)")
    else:
        query = query.format("", "", "rank")
    rows = view.connection.execute(query, (expression, *values, at_most))
    texts = chunked(
        view.connection,
        "SELECT seq, ord, words FROM fact_text JOIN fact ON fact.id = fact_text.rowid"
        " WHERE fact_text.rowid IN ({})",
        [id for (id,) in rows],
    )
    held = [Counter(words.split()) for _, _, words in texts]
    return _scored([(seq, ord) for seq, ord, _ in texts], held, terms)


def _scored(
    keys: Sequence[tuple[int, int]], texts: Sequence[Counter[str]], terms: Sequence[_Term]
) -> list[LexicalHit]:
    """Score bags of words by BM25 (Robertson and Zaragoza 2009, 3.1) as shares of the question's weight."""
    whole = sum(term.weight for term in terms if term.asked) or 1.0
    found = []
    for key, text in zip(keys, texts, strict=True):
        spread = _SATURATION * (1.0 - _LENGTH + _LENGTH * text.total() / _USUAL_LENGTH)
        score = held = 0.0
        for term in terms:
            times = text[term.token]
            if times:
                score += term.weight * times * (_SATURATION + 1.0) / (times + spread)
                held += term.weight if term.asked else 0.0
        if score > 0.0:
            found.append(LexicalHit(*key, score / whole, held / whole))
    return found
