"""Owns the bodies about what is kept and let go: a verdict on an observation, and a pruning.

It is not what they come to, nor how a body is read within its limit (`api.bodies`).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from api.bodies import Body
from api.bodies_graph import By, Note
from graphmem.confirmations import Judgement, Saying
from graphmem.question import PieceKind
from graphmem.retention_rules import Rules


class RetentionIn(Body):
    """A pruning; a dry run unless `dry_run` is false. What is left out is as the service's settings say."""

    dry_run: Annotated[bool, Field(strict=True)] = True
    days: dict[PieceKind, Annotated[float, Field(ge=1, le=100_000)]] | None = Field(
        default=None, description="limits of age by kind: preference, convention, task (done), fact, history"
    )
    max_bytes: Annotated[int, Field(strict=True, ge=1)] | None = Field(
        default=None, description="what the project's files may take"
    )

    def rules(self) -> Rules | None:
        """Return the rules that were given, None for the service's own."""
        if self.days is None and self.max_bytes is None:
            return None
        return Rules(self.days or {}, self.max_bytes)


class ObservationVerdictIn(Body):
    """A verdict on an observation: it holds, or its confirmation is taken back."""

    verdict: Literal["confirm", "undo"]
    note: Note = ""
    by: By = Field(default="", description="who says so")

    def saying(self, id: str) -> Saying:
        """Return what was decided about the observation of that id."""
        return Saying(id, Judgement(self.verdict), self.note, self.by)
