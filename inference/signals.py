"""Owns what the histories of the queried files say, gathered once for each question.

It is not the scores themselves (`cochange`, `sequence`) nor their weighing (`combination`, `upcoming`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from inference.cochange import PairEvidence, company, joint_evidence
from inference.evidence import FileHistory, Occasion
from inference.sequence import Sequel, recency, sequels


@dataclass(frozen=True, slots=True)
class Signals:
    """What is heard of every file but the `known` ones, which were asked about.

    `pairs` are those that changed along, `sequels` those that came after, `at_hand` what the actor had in
    hand lately, `company` how much changes with the known ones at all.
    """

    known: frozenset[int]
    pairs: PairEvidence
    sequels: Mapping[int, Sequel]
    at_hand: Mapping[int, float]
    company: float

    def files(self) -> dict[int, None]:
        """Return all files heard of, in the order in which they are met, newer evidence first."""
        found = dict.fromkeys((*self.pairs.scores, *self.sequels, *self.at_hand))
        for file in self.known:
            found.pop(file, None)
        return found


def signals(histories: Sequence[FileHistory], recent: Sequence[Occasion] = ()) -> Signals:
    """Gather the signals of the queried files; `recent` are the asking actor's last occasions."""
    return Signals(
        frozenset(history.file for history in histories),
        joint_evidence(histories),
        sequels(histories),
        recency(recent),
        company(histories),
    )
