"""Owns what a verdict on an edge is worth: how probable it is and how busy its ends are.

It is not the probability (`promotion`).
"""

from __future__ import annotations

import math


def value(probability: float, changes: int) -> float:
    """Return probability times ln(1 + changes), `changes` being how often both ends were changed in all."""
    return probability * math.log1p(changes)
