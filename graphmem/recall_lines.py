"""Owns which pieces a packed context holds, read from its lines alone, as an agent would read them.

It is not the packing (`graphmem.recall.packing`) and takes nobody's word for what was packed. A line names a
piece by its words; where it also holds an id or a date, these must be the piece's. docs/recall-sets.md says
what counts as an entry.
"""

from __future__ import annotations

import html
import re
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

from graphmem.instant import to_iso
from graphmem.model import Observation
from graphmem.recall_set import OWN_TEXT, PieceName, SetQuestion
from inference.recall_metrics import Shown

_READ = 160
"""A line may be cut; so many characters of a piece name it."""
_LEAST = 12
"""So many characters name a piece that was cut."""
_BLANK = re.compile(r"\s+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。!?;])|\n+")
_QUOTED = re.compile(r'"[^"]*"')
_CUT = re.compile(r'"([^"]*)…"')
_MARK = re.compile(r"superseded by|已被")
_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_ENTRY = re.compile(r"(?:[-*•]|\d+[.)]|\[\d+\])\s")


class _Wording(NamedTuple):
    words: str
    name: PieceName
    date: str


class Entry(NamedTuple):
    """An entry of a context: its text, unescaped, and the pieces on it."""

    text: str
    shown: tuple[Shown, ...]


class Catalogue:
    """All that could be shown, to find it in a context."""

    def __init__(self, observations: Iterable[Observation]) -> None:
        wordings: dict[_Wording, None] = {}
        for each in observations:
            date = to_iso(each.at)[:10]
            own = PieceName(each.id, OWN_TEXT)
            told = [each.title, *_SENTENCE.split(each.narrative), *_SENTENCE.split(each.intent)]
            wordings |= {_Wording(_flat(words), own, date): None for words in told if _flat(words)}
            for ord, fact in enumerate(each.facts):
                name = PieceName(each.id, ord)
                wordings[_Wording(_flat(fact.text), name, date)] = None
        self._wordings = sorted(wordings, key=lambda each: -len(each.words))

    def entries(self, context: str) -> list[Entry]:
        """Return the entries of a context with their pieces; an entry that is no known piece has one of None.

        A piece before `superseded by` (已被) is marked. A line that is no entry belongs to the one above, and
        what stands above the first is the head.
        """
        found: list[Entry] = []
        for line in context.splitlines():
            if _ENTRY.match(line) is not None:
                found.append(Entry(html.unescape(line), self._told(line)))
            elif found:
                found[-1] = found[-1]._replace(text=f"{found[-1].text}\n{html.unescape(line)}")
        return found

    def _told(self, line: str) -> tuple[Shown, ...]:
        old, new = _parted(line)
        told = [Shown(name, bool(new)) for name in self._named(old)]
        told += [Shown(name) for name in self._named(new)]
        return tuple(told) or (Shown(None),)

    def _named(self, part: str) -> list[PieceName]:
        """Return the pieces whose words stand in a part of a line, the longest words first."""
        left = _plain(part)
        cut = [_plain(words) for words in _CUT.findall(part) if len(words) >= _LEAST]
        held = [each for each in self._wordings if each.words in left or _begins(each.words, cut)]
        names: list[PieceName] = []
        for each in _agreeing(held, part):
            if each.words in left or _begins(each.words, cut):
                # What is inside longer words, as a title inside a fact, is not told by itself.
                left = left.replace(each.words, "\0", 1)
                if each.name not in names:
                    names.append(each.name)
        return names


def shown_for(question: SetQuestion, entries: Iterable[Entry]) -> tuple[Shown, ...]:
    """Return the pieces of a context as they count for a question, each once.

    A piece is marked if it is on every entry. An expected piece whose entry holds no word of the answer (a
    title without the narrative) counts as an entry that says nothing.
    """
    wanted = frozenset[PieceName]().union(*question.needs)
    found: dict[Hashable, bool] = {}
    empty = 0
    for entry in entries:
        says = not question.answer or any(
            words.casefold() in entry.text.casefold() for words in question.answer
        )
        for piece, marked in entry.shown:
            if piece is None or (piece in wanted and not says):
                empty += 1
            else:
                found[piece] = marked and found.get(piece, True)
    return (*(Shown(piece, marked) for piece, marked in found.items()), *(Shown(None) for _ in range(empty)))


def _agreeing(held: Sequence[_Wording], part: str) -> list[_Wording]:
    named = {each.name.observation for each in held if _holds(part, each.name.observation)}
    if named:
        return [each for each in held if each.name.observation in named]
    dates = set(_DATE.findall(_QUOTED.sub("", part)))
    return [each for each in held if not dates or each.date in dates]


def _holds(part: str, id: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(id)}(?![\w-])", part) is not None


def _begins(words: str, cut: Sequence[str]) -> bool:
    return any(words.startswith(beginning) for beginning in cut)


def _parted(line: str) -> tuple[str, str]:
    """Return what stands before and behind the mark of a superseded piece; a mark inside quotes is none."""
    for mark in _MARK.finditer(line):
        if line.count('"', 0, mark.start()) % 2 == 0:
            return line[: mark.start()], line[mark.end() :]
    return line, ""


def _plain(text: str) -> str:
    return _BLANK.sub(" ", html.unescape(text)).strip()


def _flat(words: str) -> str:
    return _BLANK.sub(" ", words).strip()[:_READ]
