"""Owns the columns that hold a task's words against a candidate: past titles, path, the last joint one.

It is not the counting of words (`wordbook`) nor their taking apart, which is the caller's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from inference.chronicle import Chronicle
from inference.cochange import DECAY, size_weight
from inference.table import Column, Table

UNLIKE = 0.1
"""What a change that was told quite otherwise counts, beside one told the same, which counts 1 more."""
SHRINK = 0.1
_EDITS = 61
TASK_WORDS = 16
"""So many of the task's words are used: those that tell most."""


def task(table: Table) -> dict[str, Column]:
    """Return the columns of a question whose task is told."""
    chronicle, words = table.chronicle, table.question.words
    telling = chronicle.words.rarest(words, TASK_WORDS)
    relevance = np.array(chronicle.words.relevance(telling, table.files), float)
    told = titles(chronicle, telling)
    total = table.column(told[file][0] if file in told else 0.0 for file in table.files)
    rarity = {word: chronicle.words.rarity(word) for word in words}
    whole = sum(rarity.values()) or 1.0
    overlap = [_overlap(rarity, chronicle.words_of(trail)) / whole for trail in table.trails]
    stems = [_overlap(rarity, chronicle.path_words(trail.name.stem)) / whole for trail in table.trails]
    letters = frozenset[str]().union(*(_letters(word) for word in words))
    return {
        "task_words": relevance,
        "task_words_share": relevance / (float(relevance.max(initial=0.0)) + 1e-6),
        "titles": total,
        "title_best": table.column(told[file][1] if file in told else 0.0 for file in table.files),
        "titles_share": total / (max((sums for sums, _ in told.values()), default=0.0) + 1e-6),
        "path_overlap": np.array(overlap),
        "stem_overlap": np.array(stems),
        "stem_letters": table.column(_shared(trail.name.stem, letters) for trail in table.trails),
        **_joint_titles(table, rarity),
    }


def titles(chronicle: Chronicle, words: Sequence[str]) -> dict[int, tuple[float, float]]:
    """Return for each file that work told alike changed: the sum of squared likenesses, and the highest."""
    found: dict[int, tuple[float, float]] = {}
    for likeness, piece in chronicle.words.nearest(words):
        files = chronicle.step(piece).edited
        share = likeness * likeness * min(1.0, 3.0 / len(files))
        for file in files:
            total, best = found.get(file, (0.0, 0.0))
            found[file] = total + share, max(best, likeness)
    return found


def _overlap(rarity: Mapping[str, float], words: frozenset[str]) -> float:
    # Most share no word with a task.
    if words.isdisjoint(rarity):
        return 0.0
    return sum(worth for word, worth in rarity.items() if word in words)


@lru_cache(maxsize=16_384)
def _letters(text: str) -> frozenset[str]:
    return frozenset(text[at : at + 3] for at in range(len(text) - 2))


def _shared(stem: str, letters: frozenset[str]) -> float:
    own = _letters(stem)
    return len(own & letters) / len(own) if len(own) > 1 else 0.0


def _joint_titles(table: Table, rarity: Mapping[str, float]) -> dict[str, Column]:
    """Return how alike the task and the joint changes were told.

    `joint_title` is of the last one, -1 where there was none; `geom_told` is geom with each change of the
    queried file counting as much as it was told alike.
    """
    chronicle = table.chronicle
    norm = math.sqrt(sum(worth * worth for worth in rarity.values())) or 1.0
    found, told = table.filled(-1.0), table.filled(0.0)
    rows = {file: row for row, file in enumerate(table.files)}
    total, power = SHRINK, 1.0
    for place in table.asked.edits[:-_EDITS:-1]:
        likeness = _likeness(chronicle, rarity, norm, chronicle.told[place])
        occasion = chronicle.occasions[place]
        alike = power * (UNLIKE + likeness)
        weight = alike * size_weight(occasion.size)
        total += alike
        power *= DECAY
        for file in occasion.edited:
            row = rows.get(file)
            if row is not None:
                told[row] += weight
                if found[row] < 0.0:
                    found[row] = likeness
    return {"joint_title": found, "geom_told": told / total}


def _likeness(chronicle: Chronicle, rarity: Mapping[str, float], norm: float, words: Sequence[str]) -> float:
    shared = sum(rarity[word] ** 2 for word in words if word in rarity)
    if not shared:
        return 0.0
    other = math.sqrt(sum(chronicle.words.rarity(word) ** 2 for word in words)) or 1.0
    return shared / (norm * other)
