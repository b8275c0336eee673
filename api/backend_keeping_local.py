"""Owns the answers about keeping and letting go from the files, for as long as no service runs on the home.

It is not the service's client (`api.backend_keeping_remote`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from api.backend_keeping import PruneQuestion, Shape
from api.schemas_retention import JudgedObservationOut, RetentionOut
from graphmem.retention_rules import Rules

if TYPE_CHECKING:
    from graphmem import Memory
    from graphmem.confirmations import Saying


class LocalKeeping:
    """Answers from `memory`, which its owner closes."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def observation(self, project: str, id: str) -> Shape:
        """Return one observation with the verdicts on it."""
        found = self._memory.project(project)
        judged = JudgedObservationOut.of_judged(found.observation(id), found.keeping.said(id))
        return judged.model_dump(mode="json")

    def judge(self, project: str, saying: Saying) -> Shape:
        """Store a verdict on an observation and return it."""
        self._memory.project(project).keeping.judge([saying])
        return self.observation(project, saying.id)

    def forget(self, project: str, id: str) -> None:
        """Forget an observation everywhere."""
        self._memory.project(project).forget(id)

    def prune(self, project: str, question: PruneQuestion) -> Shape:
        """Return what the rules let go, and let it go where it is no dry run."""
        given = question.days is not None or question.max_bytes is not None
        rules = Rules(question.days or {}, question.max_bytes) if given else None
        found = self._memory.project(project).keeping.prune(rules, dry_run=question.dry_run)
        return RetentionOut.of_pruned(found).model_dump(mode="json")
