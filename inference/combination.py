"""Owns the formula: how the three signals and what is known of a candidate become one probability.

It is not the gathering of them (that is `inference.ranking`). The signals are independent hints at one
link, so its strength is their noisy-or, s = 1 - (1 - firm)(1 - a concept)(1 - b read)(1 - c followed), with
the firm co-change score (see `inference.cochange`). The odds of a joint change grow with those of s and are
raised where the candidate is busy, was in the actor's hands lately, is named alike or lies beside:

    ln odds = intercept + link ln((s + floor) / (1 + room - s)) + busy ln(1 + touches)
              + at_hand ln(1 + recency) + alike [same stem] + beside [same folder]
              + company (mean ln size of the queried file's occasions)

The last term is the same for all candidates of a question: it says how often anything else changes at all,
and makes the number a probability without touching the order. `bench/combination.py` derives the weights on
29 histories, none of which is among those that figures are reported for, and prints what each part gives:
first the order (a choice among the candidates of a question), then scale, company and intercept. Histories
of git know no reads; the weight of `read` comes from 209 recorded sessions of agents, where it lifts the
recall@10 at the first read of a file from .389 to .405 (.5 and more add nothing and cost precision).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Weights:
    """The numbers of the formula; all but the intercept are at least 0, so more evidence never lowers it."""

    concept: float
    read: float
    followed: float
    floor: float
    room: float
    link: float
    busy: float
    at_hand: float
    alike: float
    beside: float
    company: float
    intercept: float


WEIGHTS = Weights(
    concept=0.02,
    read=0.3,
    followed=0.02,
    floor=0.03,
    room=0.5,
    link=1.51,
    busy=0.07,
    at_hand=1.28,
    alike=0.98,
    beside=0.31,
    company=0.6,
    intercept=0.31,
)


class Candidate(NamedTuple):
    """A file that may change along, with everything the formula looks at.

    `file_score`, `firm_score`, `concept`, `read` and `followed` are the signals' scores in 0..1; `touches` is
    how busy it is (see `inference.evidence.Standing`), `at_hand` its weight among the actor's last
    occasions. `company` is the queried file's (see `inference.cochange.company`).
    """

    file: int
    file_score: float = 0.0
    firm_score: float = 0.0
    concept: float = 0.0
    read: float = 0.0
    followed: float = 0.0
    touches: float = 0.0
    at_hand: float = 0.0
    alike: bool = False
    beside: bool = False
    company: float = 0.0


PRIOR = 20.0
"""How many notes a probability is worth against how notes turned out: weak evidence, as what was named is
looked at because it was named."""


def strength(firm: float, concept: float, read: float, followed: float, weights: Weights = WEIGHTS) -> float:
    """Return how strong a link is by the three signals (each 0..1): at least the firm score, at most 1."""
    silent = (1.0 - firm) * (1.0 - weights.concept * concept)
    return 1.0 - silent * (1.0 - weights.read * read) * (1.0 - weights.followed * followed)


def terms(candidate: Candidate, weights: Weights = WEIGHTS) -> tuple[float, float, float, float, float]:
    """Return what the odds are a weighted sum of: link, busy, at hand, alike, beside."""
    link = strength(candidate.firm_score, candidate.concept, candidate.read, candidate.followed, weights)
    return (
        math.log((link + weights.floor) / (1.0 + weights.room - link)),
        math.log1p(candidate.touches),
        math.log1p(candidate.at_hand),
        float(candidate.alike),
        float(candidate.beside),
    )


def probability(candidate: Candidate, weights: Weights = WEIGHTS) -> float:
    """Return P(the candidate is changed in the occasion that changes the queried file), in 0..1."""
    link, busy, at_hand, alike, beside = terms(candidate, weights)
    score = weights.intercept + weights.link * link + weights.busy * busy + weights.at_hand * at_hand
    score += weights.alike * alike + weights.beside * beside + weights.company * candidate.company
    return 1.0 / (1.0 + math.exp(-score))


def tempered(chance: float, shown: int, taken: int) -> float:
    """Return a probability (0..1) after its file was named `shown` times in notes and taken up in `taken`."""
    return (PRIOR * chance + taken) / (PRIOR + shown) if shown else chance
