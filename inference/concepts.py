"""Owns concept likeness: how near two files are by the concepts their occasions were about.

It is not concept extraction (texts never reach inference): concepts are integers with weights here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping


def idf(total: int, holding: int) -> float:
    """Return the inverse document frequency ln(1 + total / (1 + holding)) of a concept, always positive."""
    return math.log1p(total / (1 + holding))


def cosine(a: Mapping[int, float], b: Mapping[int, float]) -> float:
    """Return the cosine of two profiles (concept to non-negative weight), 0 when one of them is empty."""
    return _cosine(a, _norm(a), b)


def concept_scores(
    queried: Iterable[Mapping[int, float]], profiles: Mapping[int, Mapping[int, float]]
) -> dict[int, float]:
    """Return for each file of `profiles` its highest cosine with one of the queried profiles, zeros left out.

    All profiles are idf-weighted by the caller.
    """
    best: dict[int, float] = {}
    for profile in queried:
        norm = _norm(profile)
        if norm == 0.0:
            continue
        for file, other in profiles.items():
            score = _cosine(profile, norm, other)
            if score > best.get(file, 0.0):
                best[file] = score
    return best


def _norm(profile: Mapping[int, float]) -> float:
    return math.sqrt(math.fsum(weight * weight for weight in profile.values()))


def _cosine(a: Mapping[int, float], norm: float, b: Mapping[int, float]) -> float:
    shared = a.keys() & b.keys()
    if not shared:
        return 0.0
    product = norm * _norm(b)
    # Exact sums: the same answer in whatever order concepts were numbered.
    return min(1.0, math.fsum(a[concept] * b[concept] for concept in shared) / product) if product else 0.0
