"""Owns the JSON shapes of what is kept and let go: an observation with its verdicts, and what pruning does.

It is not the other shapes (`api.schemas`), what comes in (`api.bodies_retention`), nor what decides what may
go (`graphmem.retention`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from api.schemas import Instant, ObservationOut, Shape
from graphmem.confirmations import Judgement, Said
from graphmem.model import Observation


class ObservationVerdictOut(Shape):
    """What somebody decided about an observation, and when."""

    verdict: Judgement
    by: str
    at: Instant
    note: str


class JudgedObservationOut(ObservationOut):
    """One observation, whole, with the verdicts on it, oldest first."""

    verdicts: list[ObservationVerdictOut]

    @classmethod
    def of_judged(cls, observation: Observation, verdicts: Iterable[Said]) -> Self:
        """Return the shape of an observation and what was said about it."""
        fields = ObservationOut.of(observation).model_dump(by_alias=False)
        return cls(**fields, verdicts=[ObservationVerdictOut.of(said) for said in verdicts])
