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
from graphmem.question import PieceKind
from graphmem.retention import Pruned


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


class GoingOut(Shape):
    """What goes of one kind; `bytes` is about what it takes, with what is worked out from it."""

    kind: PieceKind
    observations: int
    bytes: int
    oldest: Instant
    newest: Instant


class RetentionOut(Shape):
    """What a pruning does, or did where `dry_run` is false.

    `days` and `max_bytes` are the rules it went by, `exempt` counts what never goes by reason. A dry run
    estimates `size_after`; `remark` says what could not be done.
    """

    dry_run: bool
    days: dict[PieceKind, float]
    max_bytes: int | None
    observations: int
    bytes: int
    kinds: list[GoingOut]
    exempt: dict[str, int]
    size_before: int
    size_after: int
    remark: str | None

    @classmethod
    def of_pruned(cls, pruned: Pruned) -> Self:
        """Return the shape of a pruning."""
        return cls(
            dry_run=pruned.dry_run,
            days=dict(pruned.rules.days),
            max_bytes=pruned.rules.max_bytes,
            observations=len(pruned.plan.numbers),
            bytes=pruned.plan.bytes,
            kinds=[GoingOut.of(going) for going in pruned.plan.kinds],
            exempt={str(reason): count for reason, count in pruned.plan.exempt.items()},
            size_before=pruned.size_before,
            size_after=pruned.size_after,
            remark=pruned.remark,
        )
