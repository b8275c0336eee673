"""Owns the bodies about what is kept and let go: a verdict on an observation, and a pruning.

It is not what they come to, nor how a body is read within its limit (`api.bodies`).
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from api.bodies import Body
from api.bodies_graph import By, Note
from graphmem.confirmations import Judgement, Saying


class ObservationVerdictIn(Body):
    """A verdict on an observation: it holds, or its confirmation is taken back."""

    verdict: Literal["confirm", "undo"]
    note: Note = ""
    by: By = Field(default="", description="who says so")

    def saying(self, id: str) -> Saying:
        """Return what was decided about the observation of that id."""
        return Saying(id, Judgement(self.verdict), self.note, self.by)
