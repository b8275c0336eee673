"""Owns co-change: how likely a file is changed in the same occasion as the queried one, with the evidence.

It is not the final probability (that is `inference.ranking`, which adds concepts, order and surroundings).
The formula is *geom*: a relative frequency in which the k-th last change of the queried file counts .93^k
and an occasion of n files counts min(1, 3/(n-1)). Decay by touches orders better than decay by calendar,
and the size weight keeps hubs such as lock files from being everybody's neighbour. Constants were measured
on twelve histories (MAP .476 against .427 of plain rule confidence).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter

from inference.evidence import FileHistory, Occasion

DECAY = 0.93
"""Weight of a change against the one after it."""
FULL_SIZE = 4
"""Up to this many files in an occasion its pairs count fully, then 3 / (n - 1)."""
SHRINK = 0.25
"""Added to the denominator, so that a single sighting is no certainty."""
FIRM_SHRINK = 2.0
"""The same for the firm score: two files that changed together in the one change known of the queried one
did so again in .47 of cases, not in the .80 that geom says; five of five in .94."""
MAX_SIZE = 100
"""An occasion with more files than this is bulk work and says nothing about pairs."""
TOUCHES = 100
"""Older changes weigh under .001 and are left out."""
KEYS = 3
"""Occasions named as evidence."""

POWERS = tuple(DECAY**k for k in range(TOUCHES))


@dataclass(frozen=True, slots=True)
class Joint:
    """What speaks for one candidate: the score in 0..1 and the occasions behind it (see `Ranked`)."""

    score: float
    together: int
    of: int
    sessions: int
    last_seen: float
    keys: tuple[int, ...]


@dataclass(frozen=True)
class PairEvidence:
    """The scores of all candidates, of `of` occasions, and the occasions they are from, the newest first.

    `scores` are geom, which orders; `firm` are the same sums shrunk harder, which say how sure that is.
    """

    scores: Mapping[int, float]
    firm: Mapping[int, float]
    linking: Sequence[Occasion]
    of: int

    @cached_property
    def occasions(self) -> Mapping[int, Sequence[Occasion]]:
        """The occasions behind each candidate, the newest first: only what is shown needs them."""
        found: dict[int, list[Occasion]] = {file: [] for file in self.scores}
        for occasion in self.linking:
            for file in occasion.edited:
                if file in found:
                    found[file].append(occasion)
        return {file: seen[:TOUCHES] for file, seen in found.items()}


_place = itemgetter(Occasion._fields.index("at"), Occasion._fields.index("key"))


def newest_first(occasions: Iterable[Occasion]) -> list[Occasion]:
    """Return the last hundred occasions, the newest first; the key orders those of the same time."""
    return sorted(occasions, key=_place, reverse=True)[:TOUCHES]


def size_weight(size: int) -> float:
    """Return how much an occasion of `size` files says about a pair in it: 0 for one file and for bulk."""
    if not 1 < size <= MAX_SIZE:
        return 0.0
    return min(1.0, (FULL_SIZE - 1) / (size - 1))


_WEIGHTS = tuple(size_weight(size) for size in range(MAX_SIZE + 1))


def geom_sums(edits: Iterable[Occasion]) -> dict[int, float]:
    """Return the decayed sums of geom over these occasions, the newest first, for every file in them."""
    sums: dict[int, float] = {}
    for power, occasion in zip(POWERS, edits, strict=False):
        if 1 < occasion.size <= MAX_SIZE:
            weight = power * _WEIGHTS[occasion.size]
            for file in occasion.edited:
                sums[file] = sums.get(file, 0.0) + weight
    return sums


def pair_evidence(history: FileHistory) -> PairEvidence:
    """Score every file that changed along with the queried one; the queried file itself is left out.

    Bulk occasions and those that changed only the queried file weigh in the denominator alone.
    """
    edits = newest_first(history.edits)
    sums = geom_sums(edits)
    sums.pop(history.file, None)
    total = sum(POWERS[: len(edits)])
    geom, firm = total + SHRINK, total + FIRM_SHRINK
    return PairEvidence(
        {file: value / geom for file, value in sums.items()},
        {file: value / firm for file, value in sums.items()},
        [edit for edit in edits if 1 < edit.size <= MAX_SIZE],
        len(edits),
    )


def company(histories: Sequence[FileHistory]) -> float:
    """Return the decayed mean of ln(size) over the occasions that changed the queried files, 0 when none did.

    0 means that they always change alone; sizes count up to the bulk limit.
    """
    total = value = 0.0
    for history in histories:
        for power, occasion in zip(POWERS, newest_first(history.edits), strict=False):
            total += power
            value += power * math.log(min(max(occasion.size, 1), MAX_SIZE))
    return value / total if total > 0.0 else 0.0


def joint_evidence(histories: Sequence[FileHistory]) -> PairEvidence:
    """Score candidates against several known files: noisy-or of the scores, each occasion counted once.

    The queried files themselves are left out. Independence of the known files is assumed; measured MAP .458.
    """
    if len(histories) == 1:
        return pair_evidence(histories[0])
    missing: dict[int, tuple[float, float]] = {}
    linking: dict[int, Occasion] = {}
    for history in histories:
        single = pair_evidence(history)
        for file, score in single.scores.items():
            silent, unsure = missing.get(file, (1.0, 1.0))
            missing[file] = silent * (1.0 - score), unsure * (1.0 - single.firm[file])
        linking.update((edit.key, edit) for edit in single.linking)
    known = {history.file for history in histories}
    return PairEvidence(
        {file: 1.0 - silent for file, (silent, _) in missing.items() if file not in known},
        {file: 1.0 - unsure for file, (_, unsure) in missing.items() if file not in known},
        sorted(linking.values(), key=_place, reverse=True),
        len({edit.key for history in histories for edit in newest_first(history.edits)}),
    )


def joint(evidence: PairEvidence, file: int) -> Joint | None:
    """Return the score and evidence of one candidate, or None when it never changed along."""
    seen = evidence.occasions.get(file)
    if not seen:
        return None
    return Joint(
        score=evidence.scores[file],
        together=len(seen),
        of=evidence.of,
        sessions=len({occasion.session for occasion in seen}),
        last_seen=seen[0].at,
        keys=tuple(occasion.key for occasion in seen[:KEYS]),
    )


def file_scores(history: FileHistory) -> dict[int, Joint]:
    """Return score and evidence of every file that ever changed along with the queried one."""
    evidence = pair_evidence(history)
    found = ((file, joint(evidence, file)) for file in evidence.scores)
    return {file: record for file, record in found if record is not None}
