"""Owns the way of a question in words: words and vectors find pieces, the graph adds, what holds goes first.

It is not any of the steps (`lexical`, `blending`, `linking`, `standing`, `packing`), only their order and the
time they have: whatever is not done in time is left out, and the answer says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from graphmem.embedding.store import Similar
from graphmem.instant import DAY
from graphmem.journal import Journal
from graphmem.postings import View
from graphmem.question import Answer, Filters, FoundNode, Piece, Question, Standing
from graphmem.recall.asking import is_chinese
from graphmem.recall.blending import blended, key_of, piece_of
from graphmem.recall.expansion import EXPANDED, Expansion, Hit
from graphmem.recall.filtering import allowed, piece_kinds
from graphmem.recall.lexical import Lexical, matches
from graphmem.recall.linking import Lend, linked
from graphmem.recall.packing import Added, pack
from graphmem.recall.pieces import claims_of, pieces_of
from graphmem.recall.sentences import worth_reading
from graphmem.recall.standing import Key
from graphmem.recall.switches import EVERYTHING, Switches
from graphmem.recall.widening import widening
from graphmem.references import Missing, none_missing
from graphmem.text import tokens
from inference.fusion import Fused, placed
from inference.thresholds import Thresholds

TIME = 1.0
"""Seconds a question has."""
LONGEST = 8_000
"""Of a longer question the beginning is asked, so many characters."""
_LINE = 240
_SHARE_OF_SEARCH = 0.6
_CANDIDATES = 200
_NO_WORDS = "the question holds no word to search by"
_LATE = "a second was not enough: not everything was searched"
_CUT = f"the question was cut to its first {LONGEST:,} characters"
_NO_VECTORS = "no model: searched by words alone, without vectors"

Alike = Callable[[str], Similar | None]
"""Compares a text with all passages; None where there is no model, or none can be had."""


@dataclass(frozen=True, slots=True)
class Sources:
    """What a question is answered from.

    `lend` lends the graph, `missing` tells which paths are on the disk no more, `lacks` are sentences on what
    the memory lacks just now.
    """

    view: View
    journal: Journal
    alike: Alike
    lend: Lend
    missing: Missing = none_missing
    lacks: tuple[str, ...] = ()


def inquire(
    sources: Sources,
    question: Question,
    now: float,
    deadline: float,
    switches: Switches = EVERYTHING,
) -> Answer:
    """Return what answers a question.

    Args:
        sources: what it is answered from; the view is cut at the moment asked about.
        question: what is asked, its text not blank.
        now: the present moment, or the one asked about, in epoch seconds.
        deadline: on the monotonic clock.
        switches: what an evaluation leaves out.
    """
    asked = replace(question, text=question.text[:LONGEST])
    late = deadline - (1.0 - _SHARE_OF_SEARCH) * TIME
    widened = widening(sources.view, asked.text, asked.session, now)
    words = matches(
        sources.view,
        " ".join((asked.text, *widened)),
        asked.filters,
        _CANDIDATES,
        lambda: time.monotonic() > late,
    )
    similar = sources.alike(asked.text)
    pieces, told = _found(sources, asked, words, similar, now, switches)
    if widened:
        pieces = [replace(piece, parts={**piece.parts, "widened": float(len(widened))}) for piece in pieces]
    best = _hits(pieces)
    expanded = EXPANDED if switches.expansion else frozenset()
    found = linked(sources.view, sources.lend, best, asked, deadline, sources.missing, expanded)
    added = found.added if switches.expansion else Expansion()
    brought = _brought(sources, added, pieces, now)
    nodes = _wanted(added.nodes, asked.filters)
    nodes, chosen = _within(question.limit, nodes, [*pieces, *brought], nodes_first=found.nodes_first)
    listed, further = worth_reading(sources.journal, chosen, asked.text)
    packed = pack(
        [piece for piece in listed if piece.via or (piece.seq, piece.ord) in told],
        nodes,
        question.budget_tokens,
        chinese=is_chinese(asked.text),
        nodes_first=found.nodes_first,
        added=Added(added.ceiling, further, claims_of(sources.view, [(one.seq, one.ord) for one in listed])),
    )
    lacks = (
        *sources.lacks,
        _CUT if len(question.text) > LONGEST else None,
        None if words.complete else _LATE,
        _NO_VECTORS if similar is None else None,
        None if tokens(asked.text) else _NO_WORDS,
        added.cut,
        added.degraded,
    )
    degraded = "; ".join(dict.fromkeys(lack for lack in lacks if lack)) or None
    shown = tuple(replace(piece, text=_shortened(piece.text)) for piece in listed)
    return Answer(shown, nodes, packed.text, packed.tokens, degraded, found.nodes_first)


def _found(
    sources: Sources,
    question: Question,
    words: Lexical,
    similar: Similar | None,
    now: float,
    switches: Switches,
) -> tuple[list[Piece], frozenset[Key]]:
    """Return the pieces that words and vectors found, superseded ones last, and which are to be told.

    What no longer holds is listed and never told.
    """
    view, where = sources.view, question.filters
    fused = blended(question.text, words, similar, allowed=allowed(view, where))[:_CANDIDATES]
    keys = [piece_of(one.key) for one in fused]
    scores = {piece_of(one.key): one.score for one in fused}
    kinds = piece_kinds(where)
    by_key: dict[int, Piece] = {}
    for piece in pieces_of(view, sources.journal, keys, scores, now):
        if kinds is None or piece.kind in kinds:
            made = piece if switches.supersession else replace(piece, standing=Standing.CURRENT)
            by_key[key_of(piece.seq, piece.ord)] = made
    ordered = placed(
        [one for one in fused if one.key in by_key],
        {key: max(0.0, (now - piece.at) / DAY) for key, piece in by_key.items()},
        frozenset(key for key, piece in by_key.items() if piece.standing is Standing.SUPERSEDED),
        frozenset(key for key, piece in by_key.items() if piece.standing is Standing.TENTATIVE),
    )
    found = [_scored(by_key[one.key], one) for one in ordered]
    told = Thresholds().told([piece.kind for piece in found], ordered)
    return found, frozenset(
        (piece.seq, piece.ord)
        for piece, stands_out in zip(found, told, strict=True)
        if stands_out and piece.standing is not Standing.SUPERSEDED
    )


def _scored(piece: Piece, fused: Fused) -> Piece:
    return replace(piece, score=fused.score, parts=fused.parts())


def _hits(pieces: Sequence[Piece]) -> list[Hit]:
    best: dict[int, float] = {}
    for piece in pieces:
        best.setdefault(piece.seq, piece.score)
    return [Hit(seq, score) for seq, score in best.items()]


def _brought(sources: Sources, added: Expansion, found: Sequence[Piece], now: float) -> list[Piece]:
    """Return the pieces that the graph adds, each with the way that brought it in."""
    known = {piece.seq for piece in found}
    ways = {(one.seq, -1): one for one in added.pieces if one.seq not in known}
    least = min((piece.score for piece in found), default=1.0)
    scores = {key: least - 1.0 + one.weight for key, one in ways.items()}
    made = pieces_of(sources.view, sources.journal, list(ways), scores, now)
    return [replace(piece, via=ways[piece.seq, piece.ord].via) for piece in made]


def _shortened(text: str) -> str:
    return text if len(text) <= _LINE else text[: _LINE - 1] + "…"


def _within(
    limit: int, nodes: tuple[FoundNode, ...], pieces: Sequence[Piece], *, nodes_first: bool
) -> tuple[tuple[FoundNode, ...], list[Piece]]:
    """Return as many results as are wanted: nodes and observations, an observation with all its pieces."""
    room = limit - len(nodes[:limit]) if nodes_first else limit
    listed = frozenset(list(dict.fromkeys(piece.seq for piece in pieces))[:room])
    return nodes[: limit - (0 if nodes_first else len(listed))], [
        piece for piece in pieces if piece.seq in listed
    ]


def _wanted(nodes: Sequence[FoundNode], where: Filters) -> tuple[FoundNode, ...]:
    return tuple(node for node in nodes if not where.kinds or node.type.value in where.kinds)
