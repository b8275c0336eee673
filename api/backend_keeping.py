"""Owns the part of the seam that is about keeping and letting go.

It is not the rest of the seam (`api.backend`). Every answer is the HTTP shape as plain data
(`api.schemas_retention`); the twins are `api.backend_keeping_local` and `api.backend_keeping_remote`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from graphmem.confirmations import Saying

Shape = dict[str, Any]


class KeepingBackend(Protocol):
    """Answers in HTTP's shapes; faults are `graphmem.errors`. `project` is a slug."""

    def observation(self, project: str, id: str) -> Shape:
        """Return one observation with the verdicts on it; NotFoundError."""

    def judge(self, project: str, saying: Saying) -> Shape:
        """Store a verdict on an observation and return it; NotFoundError, ConflictError."""
