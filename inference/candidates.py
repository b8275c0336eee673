"""Owns who is a candidate: the living files worth ranking for a question.

It is not their order (`inference.ranker`): whoever could be right comes in, at some two hundred at most.
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import nsmallest

from inference.chronicle import Chronicle
from inference.naming import named
from inference.table import SMALL, Hearing, Question
from inference.task_columns import TASK_WORDS, titles

HOT = 60
"""So many of the last occasions say what is being worked on now."""
BY_PAIRS = 120
BESIDE = 25
AT_HAND = 25
AFTER = 25
ALONG = 15
BY_TASK = 20


def candidates(chronicle: Chronicle, question: Question, hearing: Hearing) -> list[int]:
    """Return the living files worth ranking, each once: seen together, at hand, beside, alike, busy, told.

    The first come from the evidence, in its order; the order says nothing to the model. Equals go by path,
    not by the order in which a chronicle came to hold them, as steps may have been taken out in between.
    """
    name = named(question.path)
    found: dict[int, None] = {}
    scores = hearing.heard.pairs.scores
    found.update(dict.fromkeys(sorted(scores, key=scores.__getitem__, reverse=True)[:BY_PAIRS]))
    found.update(dict.fromkeys(list(hearing.heard.sequels)[:AFTER]))
    at_hand = hearing.heard.at_hand
    found.update(dict.fromkeys(sorted(at_hand, key=lambda file: -at_hand[file])[:AT_HAND]))
    found.update(dict.fromkeys(_latest(chronicle, chronicle.by_folder.get(name.folder, {}))))
    found.update(dict.fromkeys(_latest(chronicle, chronicle.by_stem.get(name.stem, {}))))
    along = chronicle.along.get(name.folder, {})
    found.update(dict.fromkeys(_highest(chronicle, along, ALONG)))
    found.update(dict.fromkeys(_hot(chronicle)[:ALONG]))
    if question.words:
        telling = chronicle.words.rarest(question.words, TASK_WORDS)
        held = chronicle.words.holders(telling)
        found.update(dict.fromkeys(_highest(chronicle, held, BY_TASK)))
        told = titles(chronicle, telling)
        best = sorted(told, key=lambda file: -told[file][0])
        found.update(dict.fromkeys(best[:BY_TASK]))
    if question.file is not None:
        found.pop(question.file, None)
    files = chronicle.files
    return [file for file in found if files[file].alive and file not in question.beside]


def _latest(chronicle: Chronicle, files: Mapping[int, None]) -> list[int]:
    trails = [chronicle.files[file] for file in files]
    living = [(-t.edits[-1] if t.edits else 1, t.path, t.file) for t in trails if t.alive]
    return [file for _, _, file in nsmallest(BESIDE, living)]


def _highest(chronicle: Chronicle, scores: Mapping[int, float], at_most: int) -> list[int]:
    """Return the files with the highest scores, equals by path."""
    trails = chronicle.files
    rows = [(-score, trails[file].path, file) for file, score in scores.items()]
    return [file for _, _, file in nsmallest(at_most, rows)]


def _hot(chronicle: Chronicle) -> list[int]:
    """Return the files of the last occasions, those changed most often first."""
    counts: dict[int, int] = {}
    for occasion in reversed(chronicle.occasions[-HOT:]):
        if occasion.size <= SMALL:
            for file in occasion.edited:
                counts[file] = counts.get(file, 0) + 1
    return sorted(counts, key=lambda file: -counts[file])
