"""Owns the JSON shapes of corroboration: what was read of the code, and the edges beside it.

It is not the edges themselves (`api.schemas_graph`). Each class is built from its record of
`graphmem.code_facts` by `of`.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator

from api.schemas import Instant, Score, Shape
from api.schemas_graph import EdgeOut


def _counted(value: object) -> object:
    """Return (name, count) pairs as a mapping."""
    return dict(value) if isinstance(value, tuple) else value


Counted = Annotated[dict[str, int], BeforeValidator(_counted)]


class ReadingOut(Shape):
    """What the last reading of the code found; `stale` says why the code may be another by now.

    `read` counts files by language, `unread` those of such a language that could not be read, by reason.
    """

    at: Instant
    commit: str | None
    took_ms: Score
    read: Counted
    unread: Counted
    imports: int
    elsewhere: int
    complete: bool
    stale: str | None


class CorroborationCountsOut(Shape):
    """How many co-changing pairs, and imports, there are of each sort; the lists are cut, these are not."""

    seen: int
    hidden: int
    hidden_tests: int
    noise: int
    unknown: int
    silent: int


class SilentImportOut(Shape):
    """An import whose two files were never changed together, and how often each was changed."""

    importer: str
    imported: str
    importer_changes: int
    imported_changes: int
    with_test: bool


class CorroborationOut(Shape):
    """Co-changing pairs beside the imports in the code; `reading` is null while nobody has looked.

    Static facts are no evidence: they change no probability and make no edge.
    """

    reading: ReadingOut | None
    counts: CorroborationCountsOut
    hidden: list[EdgeOut]
    hidden_tests: list[EdgeOut]
    silent: list[SilentImportOut]
    degraded: str | None
