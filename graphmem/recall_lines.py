"""Owns which pieces a packed context holds, read from its lines alone, as an agent would read them.

It is not the packing (`graphmem.recall.packing`) and takes nobody's word for what was packed. A line names a
piece by its words; where it also holds an id or a date, these must be the piece's. docs/recall-sets.md says
what counts as an entry.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from graphmem.instant import to_iso
from graphmem.model import Observation
from graphmem.recall_set import OWN_TEXT, PieceName
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


class Catalogue:
    """All that could be shown, to find it in a context."""

    def __init__(self, observations: Iterable[Observation]) -> None:
        self._facts: dict[tuple[str, str], PieceName] = {}
        wordings: dict[_Wording, None] = {}
        for each in observations:
            date = to_iso(each.at)[:10]
            own = PieceName(each.id, OWN_TEXT)
            told = [each.title, *_SENTENCE.split(each.narrative), *_SENTENCE.split(each.intent)]
            wordings |= {_Wording(_flat(words), own, date): None for words in told if _flat(words)}
            for ord, fact in enumerate(each.facts):
                name = PieceName(each.id, ord)
                self._facts.setdefault((each.id, _flat(fact.text)), name)
                wordings[_Wording(_flat(fact.text), name, date)] = None
        self._wordings = sorted(wordings, key=lambda each: -len(each.words))

    def piece(self, id: str, words: str) -> PieceName:
        """Return the piece of an observation that a result's line is: its fact, or else its own text."""
        return self._facts.get((id, _flat(words)), PieceName(id, OWN_TEXT))

    def shown(self, context: str) -> tuple[Shown, ...]:
        """Return the pieces of a context, each once; an entry that is no known piece counts as one, too.

        A piece before `superseded by` (已被) is marked, unless it stands elsewhere without. Lines that are no
        entries (the head, further sentences of the piece above) name none.
        """
        found: dict[PieceName, bool] = {}
        strange = 0
        for line in context.splitlines():
            if _ENTRY.match(line) is None:
                continue
            old, new = _parted(line)
            told = [(name, bool(new)) for name in self._named(old)]
            told += [(name, False) for name in self._named(new)]
            for name, marked in told:
                found[name] = marked and found.get(name, True)
            strange += not told
        shown = [Shown(name, marked) for name, marked in found.items()]
        return (*shown, *(Shown(None) for _ in range(strange)))

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
