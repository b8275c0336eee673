"""Owns the packed context: which pieces and nodes fit a budget of tokens, in which order, how much of each.

It is not ranking (that is `graphmem.recall.inquiry`), nor the words of a line (`context_lines`), and asks no
database: pieces in, text out.

The order is preference, convention, open task, decision, fact, history; the best of each kind first. A
decision stands before facts because it says what was meant, of which a fact is only how things stood then,
and behind tasks because it needs nothing done. What is superseded comes last, a line each with what took its
place.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from graphmem.model import Tier
from graphmem.question import FoundNode, Piece, PieceKind, Standing
from graphmem.recall.context_lines import (
    CHINESE,
    ENGLISH,
    Size,
    Words,
    further_lines,
    node_line,
    piece_line,
)
from graphmem.recall.folding import Fold, folded

FULL_HEAD = 150
"""From this budget on the head says all it can."""
_INDEX_FROM = 200
_FEW = 5
_SENTENCES = 3
_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_PLACE = {kind: place for place, kind in enumerate(PieceKind)}
_TIERS = (None, Tier.CONFIRMED, Tier.LIKELY, Tier.POSSIBLE)


class Packed(NamedTuple):
    """A context: its text, its tokens, the keys (`seq`, `ord`) of the pieces in it, the references of nodes.

    Pieces that were folded into one line are all in it.
    """

    text: str
    tokens: int
    told: tuple[tuple[int, int], ...] = ()
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Added:
    """What a context may hold besides the pieces themselves.

    `ceiling` are the tokens that everything with a way (`via`) may take, None for no less than the budget.
    `further` are sentences of a piece, by its key, to follow its line where there is room. `claims` tell
    pieces that state the same, see `graphmem.recall.folding`. `heads` are first lines in place of the usual
    ones, the longest first.
    """

    ceiling: int | None = None
    further: Mapping[tuple[int, int], Sequence[str]] = field(default_factory=dict)
    claims: Mapping[tuple[int, int], Hashable] | None = None
    heads: tuple[str, ...] = ()


NOTHING_ADDED = Added()


def packed_tokens(text: str) -> int:
    """Return the estimated size of `text` in tokens: narrow text / 4, one a CJK character."""
    wide = len(_WIDE.findall(text))
    return wide + math.ceil((len(text) - wide) / 4)


def pack(
    pieces: Sequence[Piece],
    nodes: Sequence[FoundNode],
    budget_tokens: int,
    *,
    chinese: bool = False,
    nodes_first: bool = False,
    added: Added = NOTHING_ADDED,
) -> Packed:
    """Return the context of at most `budget_tokens` tokens; "" where nothing fits or there is nothing.

    Args:
        pieces: best first, those that deserve to be told.
        nodes: likewise; what is confirmed is told before what is likely, and that before what is possible.
        budget_tokens: see `packed_tokens`; never exceeded, whatever the texts.
        chinese: whether its own words are Chinese.
        nodes_first: whether the question was for nodes.
        added: what else may go in.
    """
    words = CHINESE if chinese else ENGLISH
    current, old = _piece_entries(pieces, words, added)
    graded = sorted(nodes, key=lambda node: _TIERS.index(node.tier))
    of_nodes = [_Entry((node_line(node, words),), bool(node.via), node=node.ref) for node in graded]
    entries = [*of_nodes, *current, *old] if nodes_first else [*current, *of_nodes, *old]
    heads = added.heads or words.heads[budget_tokens < FULL_HEAD :]
    # Quoted as it is, a line can stand alone where there is no room for a head.
    for head in (*heads, ""):
        sheet = _Sheet(head, budget_tokens, added.ceiling)
        sheet.fill(entries)
        if sheet.chosen:
            return sheet.packed()
    return Packed("", 0)


# ---- what there is to tell ----------------------------------------------------------------------


class _Entry(NamedTuple):
    """A line in growing sizes, whether a way brought it in, what may follow it, and what it tells of."""

    lines: tuple[str, ...]
    by_way: bool
    further: tuple[str, ...] = ()
    keys: tuple[tuple[int, int], ...] = ()
    node: str | None = None


def _piece_entries(pieces: Sequence[Piece], words: Words, added: Added) -> tuple[list[_Entry], list[_Entry]]:
    """Return the pieces that hold and those that are superseded, in the order in which they are told."""
    found = [fold for fold in folded(pieces, added.claims) if _can_be_told(fold.piece)]
    found.sort(key=lambda fold: (_PLACE[fold.piece.kind], -fold.piece.score))
    parts: tuple[list[_Entry], list[_Entry]] = ([], [])
    for fold in found:
        parts[fold.piece.standing is Standing.SUPERSEDED].append(_piece_entry(fold, words, added))
    return parts


def _can_be_told(piece: Piece) -> bool:
    """Return whether a piece says anything; what is out of date only does with what took its place."""
    if piece.standing is Standing.SUPERSEDED and piece.successor is None:
        return False
    return bool((piece.text or piece.title).strip())


def _piece_entry(fold: Fold, words: Words, added: Added) -> _Entry:
    lines = tuple(dict.fromkeys(piece_line(fold, size, words) for size in Size))
    further: tuple[str, ...] = ()
    if fold.piece.kind is PieceKind.HISTORY and fold.piece.standing is not Standing.SUPERSEDED:
        sentences = added.further.get((fold.piece.seq, fold.piece.ord), ())
        further = tuple(further_lines(sentences, lines[-1])[:_SENTENCES])
    return _Entry(lines, bool(fold.piece.via), further, fold.keys)


# ---- what fits ----------------------------------------------------------------------------------


class _Amount(NamedTuple):
    """Characters of a text by what they count for; texts joined by a line break are added up with `and_`."""

    wide: int = 0
    narrow: int = 0

    @property
    def tokens(self) -> int:
        return self.wide + math.ceil(self.narrow / 4)

    def and_(self, line: _Amount) -> _Amount:
        return _Amount(self.wide + line.wide, self.narrow + line.narrow + 1)

    def without(self, line: _Amount) -> _Amount:
        return _Amount(self.wide - line.wide, self.narrow - line.narrow - 1)


def _amount(text: str) -> _Amount:
    wide = len(_WIDE.findall(text))
    return _Amount(wide, len(text) - wide)


class _Sheet:
    """A context in the making: a head and the chosen entries, each in one of its sizes."""

    def __init__(self, head: str, budget: int, ceiling: int | None) -> None:
        self.chosen: dict[int, int] = {}
        self._head = head
        self._budget = budget
        self._ceiling = budget if ceiling is None else ceiling
        self._entries: Sequence[_Entry] = ()
        self._followed: dict[int, list[str]] = {}
        # A text without a head begins without a line break.
        self._all = _amount(head) if head else _Amount(0, -1)
        self._by_way = _Amount()

    def fill(self, entries: Sequence[_Entry]) -> None:
        """Choose entries in order: first as many as fit, then more of each, then what follows the lines."""
        self._entries = entries
        start = Size.INDEX if self._budget >= _INDEX_FROM else Size.SHORT
        for number, entry in enumerate(entries):
            place = min(list(Size).index(start), len(entry.lines) - 1)
            for size in range(place, -1, -1):
                if self._put(number, _amount(entry.lines[size])):
                    self.chosen[number] = size
                    break
        for number in self.chosen:
            self._widen(number)
        if len(self.chosen) <= _FEW and 2 * self._all.tokens <= self._budget:
            for number in self.chosen:
                self._follow(number)

    def packed(self) -> Packed:
        """Return the context."""
        lines = [self._head] if self._head else []
        told: dict[tuple[int, int], None] = {}
        nodes: list[str] = []
        for number, size in self.chosen.items():
            entry = self._entries[number]
            lines += [entry.lines[size], *self._followed.get(number, ())]
            told.update(dict.fromkeys(entry.keys))
            if entry.node is not None:
                nodes.append(entry.node)
        text = "\n".join(lines)
        return Packed(text, packed_tokens(text), tuple(told), tuple(nodes))

    def _put(self, number: int, line: _Amount, instead: _Amount | None = None) -> bool:
        """Count a line in, besides all or in place of one; False, and no change, if it is too long."""
        whole, way = self._all, self._by_way
        by_way = self._entries[number].by_way
        if instead is not None:
            whole, way = whole.without(instead), way.without(instead) if by_way else way
        whole, way = whole.and_(line), way.and_(line) if by_way else way
        if whole.tokens > self._budget or way.tokens > self._ceiling:
            return False
        self._all, self._by_way = whole, way
        return True

    def _widen(self, number: int) -> None:
        lines = self._entries[number].lines
        for size in range(self.chosen[number] + 1, len(lines)):
            if not self._put(number, _amount(lines[size]), _amount(lines[self.chosen[number]])):
                break
            self.chosen[number] = size

    def _follow(self, number: int) -> None:
        for line in self._entries[number].further:
            if not self._put(number, _amount(line)):
                break
            self._followed.setdefault(number, []).append(line)
