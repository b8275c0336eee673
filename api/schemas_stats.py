"""Owns the JSON shapes of a project's counts and sizes.

It is not how they are counted (that is `graphmem.recall.survey`).
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator

from api.schemas import Instant, Shape


class NoteStatsOut(Shape):
    """How many notes agents were given, and of how many a named file was opened or changed later in the turn.

    `missed` are turns in which a file was changed later that no note had named.
    """

    given: int
    opened: int
    changed: int
    helped: int
    missed: int


class VectorStatsOut(Shape):
    """How many vectors are kept, in how many bytes; `behind` are missing yet, `fault` says why they wait."""

    count: int
    bytes: int
    behind: int
    fault: str | None


class StatsOut(Shape):
    """Counts and sizes of one project; sizes in bytes, `behind` observations not yet in the answers.

    `alerts_given` are notes given before an edit, `redacted` counts by kind what was kept out.
    """

    observations: int
    sessions: int
    files: int
    files_gone: int
    concepts: int
    contracts: int
    first_at: Instant | None
    last_at: Instant | None
    bulk_observations: int
    noise_files: int
    journal_bytes: int
    derived_bytes: int
    alerts_given: int
    tokens_injected: int = 0
    behind: int
    notes: NoteStatsOut
    redacted: Annotated[dict[str, int], BeforeValidator(dict)]
    vectors: VectorStatsOut
