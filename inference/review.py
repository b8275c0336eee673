"""Owns what a verdict on an edge is worth, and which edges ask the same question.

It is not the probability (`promotion`) nor the list of questions, which is read page by page.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple


class Question(NamedTuple):
    """An edge that waits for a verdict: its id and its two ends."""

    id: str
    ends: frozenset[int]


def folded(questions: Iterable[Question]) -> dict[str, str]:
    """Return for each question the one it is folded into, itself if it is asked.

    Of those that share an end only the first is asked: files that always change all together would else ask
    about every pair of theirs.

    Args:
        questions: of the same evidence, the one to ask first in front.
    """
    asked: list[Question] = []
    found: dict[str, str] = {}
    for question in questions:
        leader = next((other for other in asked if other.ends & question.ends), question)
        if leader is question:
            asked.append(question)
        found[question.id] = leader.id
    return found


def value(probability: float, changes: int) -> float:
    """Return probability times ln(1 + changes), `changes` being how often both ends were changed in all."""
    return probability * math.log1p(changes)
