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


def value(probability: float, shown: float, traffic: float) -> float:
    """Return what a verdict is expected to change: how unsure, times how often the answer comes up.

    How unsure is p (1 - p), the variance of the reviewer's answer; how often is the two files' traffic times
    the share of it in which one speaks for the other.

    Args:
        probability: that both ends change together again, 0..1.
        shown: how strongly one end names the other where it is asked about, 0..1.
        traffic: how busy both ends are together (see `inference.activity`), at least 0.
    """
    return probability * (1.0 - probability) * shown * traffic


def gain(worth: float, similar: int) -> float:
    """Return the value of asking once for an edge and `similar` others that ask the same: more, not as often.

    One answer settles them all, though each is a smaller surprise than the one before: 1 + ln(1 + similar).
    """
    return worth * (1.0 + math.log1p(similar))
