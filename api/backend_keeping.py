"""Owns the part of the seam that is about keeping and letting go.

It is not the rest of the seam (`api.backend`). Every answer is the HTTP shape as plain data
(`api.schemas_retention`); the twins are `api.backend_keeping_local` and `api.backend_keeping_remote`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from graphmem.confirmations import Saying
    from graphmem.question import PieceKind

Shape = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PruneQuestion:
    """What to prune by; without limits by the settings of whoever answers."""

    days: Mapping[PieceKind, float] | None = None
    max_bytes: int | None = None
    dry_run: bool = True


class KeepingBackend(Protocol):
    """Answers in HTTP's shapes; faults are `graphmem.errors`. `project` is a slug."""

    def observation(self, project: str, id: str) -> Shape:
        """Return one observation with the verdicts on it; NotFoundError."""

    def judge(self, project: str, saying: Saying) -> Shape:
        """Store a verdict on an observation and return it; NotFoundError, ConflictError."""

    def forget(self, project: str, id: str) -> None:
        """Forget an observation everywhere; NotFoundError."""

    def prune(self, project: str, question: PruneQuestion) -> Shape:
        """Return what the rules let go, and let it go where it is no dry run: a `RetentionOut`."""
