"""Owns the probability from which an entry is likely, as this project's own past has it.

It is not the arithmetic (`inference.calibration`) nor the prediction that is held against the past.
"""

from __future__ import annotations

from graphmem.journal import Journal
from inference.ranking import WARNING_THRESHOLD


def threshold_at(journal: Journal | None, as_of: float) -> float:
    """Return the threshold of a moment (epoch seconds, infinite for the present)."""
    del journal, as_of
    return WARNING_THRESHOLD
