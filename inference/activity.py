"""Owns how busy a file is: its changes, each counting half after ninety days.

It is not co-change; a busy file is a likelier companion of any other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

HALF_LIFE = 90 * 86_400.0
"""Seconds after which a change counts half."""


def busyness(changes: Iterable[float], now: float) -> float:
    """Return the sum of 2^(-age / 90 days) over changes at these times (epoch seconds) up to `now`."""
    return math.fsum(math.exp2((at - now) / HALF_LIFE) for at in changes if at <= now)


def cooled(heat: float, since: float, now: float) -> float:
    """Return what is left at `now` of a busyness that was summed up at `since`."""
    return heat * math.exp2(min(0.0, since - now) / HALF_LIFE)
