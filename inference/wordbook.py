"""Owns which words the work on each file was told with: counts that a task's words are held against.

It is not the taking apart of texts: words arrive distinct, folded and without what says nothing. Counts are
integers in sixtieths of a piece of work, so that taking one out again gives back exactly what was before.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

UNIT = 60
FULL_SIZE = 3
"""Work on up to so many files counts fully for each of them, then 3 / n."""
MAX_SIZE = 30
"""Work on more files than these tells nothing of a single one."""
SATURATION = 1.2
"""k1 of BM25 (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009)."""
LENGTH = 0.75
"""b of BM25."""
NEAREST = 40
"""So many of the pieces of work told most alike are looked at."""
LEAST_LIKENESS = 0.12
_LATEST = 300
_HELD_BY_FEW = 400


class Wordbook:
    """Files and pieces of work by the words they were told with; what was added last can be taken out."""

    def __init__(self) -> None:
        self._holders: dict[str, dict[int, int]] = {}
        self._lengths: dict[int, int] = {}
        self._length = 0
        self._told: dict[str, list[int]] = {}
        self._pieces = 0
        self._norms: dict[int, float] = {}
        self._last_nearest: tuple[tuple[str, ...], list[tuple[float, int]]] | None = None

    def add(self, piece: int, words: Sequence[str], files: Collection[int]) -> None:
        """Count a piece of work under its number, told in distinct words, that changed these files."""
        if not words or not 1 <= len(files) <= MAX_SIZE:
            return
        self._last_nearest = None
        # What a word was worth when the work was done; later work doesn't reach back.
        self._norms[piece] = math.sqrt(math.fsum(self.rarity(word) ** 2 for word in words)) or 1.0
        self._pieces += 1
        weight = _weight(len(files))
        for word in words:
            self._told.setdefault(word, []).append(piece)
            holders = self._holders.setdefault(word, {})
            for file in files:
                holders[file] = holders.get(file, 0) + weight
        for file in files:
            self._lengths[file] = self._lengths.get(file, 0) + weight * len(words)
        self._length += weight * len(words) * len(files)

    def take_out(self, piece: int, words: Sequence[str], files: Collection[int]) -> None:
        """Undo the last `add`, whose arguments these were."""
        if not words or not 1 <= len(files) <= MAX_SIZE:
            return
        self._last_nearest = None
        del self._norms[piece]
        self._pieces -= 1
        weight = _weight(len(files))
        for word in words:
            _popped(self._told, word)
            holders = self._holders[word]
            for file in files:
                _lessen(holders, file, weight)
            if not holders:
                del self._holders[word]
        for file in files:
            _lessen(self._lengths, file, weight * len(words))
        self._length -= weight * len(words) * len(files)

    def rarity(self, word: str) -> float:
        """Return ln(1 + pieces / (1 + pieces told with the word))."""
        return math.log1p(self._pieces / (1 + len(self._told.get(word, ()))))

    def rarest(self, words: Iterable[str], at_most: int) -> list[str]:
        """Return the words that tell most, the rarest first; those never used are left out."""
        known = [word for word in dict.fromkeys(words) if word in self._told]
        return sorted(known, key=lambda word: len(self._told[word]))[:at_most]

    def holders(self, words: Iterable[str]) -> dict[int, float]:
        """Return the files whose work was told with any of the rare ones among these words, scored."""
        found: dict[int, float] = {}
        for word in words:
            holders = self._holders.get(word, {})
            if len(holders) <= _HELD_BY_FEW:
                rarity = self._file_rarity(holders)
                for file, count in holders.items():
                    found[file] = found.get(file, 0.0) + rarity * count / (count + UNIT)
        return found

    def relevance(self, words: Iterable[str], files: Sequence[int]) -> list[float]:
        """Return the BM25 score of each file for these words."""
        mean = self._length / max(1, len(self._lengths)) or 1.0
        flat = SATURATION * (1.0 - LENGTH) * UNIT
        steep = SATURATION * LENGTH * UNIT / mean
        room = [flat + steep * self._lengths.get(file, 0) for file in files]
        scores = [0.0] * len(files)
        places = {file: place for place, file in enumerate(files)}
        for word in words:
            holders = self._holders.get(word)
            if not holders:
                continue
            rarity = self._file_rarity(holders) * (SATURATION + 1.0)
            # The shorter of both is gone through.
            if len(holders) < len(places) == len(files):
                met = [(places[file], count) for file, count in holders.items() if file in places]
            else:
                met = [(place, holders[file]) for place, file in enumerate(files) if file in holders]
            for place, count in met:
                scores[place] += rarity * count / (count + room[place])
        return scores

    def nearest(self, words: Collection[str]) -> list[tuple[float, int]]:
        """Return the pieces of work told most alike, as (likeness in 0..1, piece), the most alike first."""
        # Who finds candidates by it asks again to describe them.
        last, asked = self._last_nearest, tuple(words)
        if last is not None and last[0] == asked:
            return list(last[1])
        sums: dict[int, float] = {}
        total = 0.0
        for word in words:
            square = self.rarity(word) ** 2
            total += square
            for piece in self._told.get(word, ())[-_LATEST:]:
                sums[piece] = sums.get(piece, 0.0) + square
        own = math.sqrt(total) or 1.0
        alike = [(value / (own * self._norms[piece]), piece) for piece, value in sums.items()]
        alike = [entry for entry in alike if entry[0] >= LEAST_LIKENESS]
        found = sorted(alike, reverse=True)[:NEAREST]
        self._last_nearest = asked, found
        return list(found)

    def _file_rarity(self, holders: Mapping[int, int]) -> float:
        return math.log1p(len(self._lengths) / (1 + len(holders)))


def _weight(size: int) -> int:
    return round(UNIT * min(1.0, FULL_SIZE / size))


def _lessen(counts: dict[int, int], key: int, by: int) -> None:
    left = counts.get(key, 0) - by
    if left:
        counts[key] = left
    else:
        counts.pop(key, None)


def _popped(lists: dict[str, list[int]], key: str) -> None:
    entries = lists[key]
    entries.pop()
    if not entries:
        del lists[key]
