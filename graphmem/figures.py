"""Owns the figures of a project as records: counts, sizes, and how what agents were told turned out.

It is not how they are counted (that is `graphmem.recall.survey` and `graphmem.captured`).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NoteStats:
    """How many notes agents were given, and how they turned out.

    Of a note that `helped` a named file was opened or changed later in its turn; `missed` are turns in which
    a file was changed later that no note had named.
    """

    given: int = 0
    opened: int = 0
    changed: int = 0
    helped: int = 0
    missed: int = 0


@dataclass(frozen=True, slots=True)
class VectorStats:
    """How many vectors are kept, in how many bytes; `behind` are missing yet, `fault` says why they wait."""

    count: int = 0
    bytes: int = 0
    behind: int = 0
    fault: str | None = None


NO_VECTORS = VectorStats()


@dataclass(frozen=True, slots=True)
class ProjectStats:
    """Counts and sizes of one project; sizes in bytes.

    `alerts_given` are the notes agents were given before an edit, `tokens_injected` all they were told
    unasked, `redacted` what was kept out, by kind.
    """

    observations: int
    sessions: int
    files: int
    files_gone: int
    concepts: int
    contracts: int
    first_at: float | None
    last_at: float | None
    bulk_observations: int
    noise_files: int
    journal_bytes: int
    derived_bytes: int
    alerts_given: int
    behind: int
    notes: NoteStats = NoteStats()
    tokens_injected: int = 0
    redacted: tuple[tuple[str, int], ...] = ()
    vectors: VectorStats = NO_VECTORS
