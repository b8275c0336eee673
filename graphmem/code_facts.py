"""Owns the vocabulary of corroboration: what a reading of the code found, and how it stands to the edges.

It is a tier of its own, beside the evidence: a static fact says how the code is written, an edge how the work
on it goes. Neither makes, raises or lowers the other. It is not the reading (`graphmem.imports`), where it is
kept (`graphmem.code_store`) or how it is compared (`graphmem.recall.corroboration`).
"""

from __future__ import annotations

from dataclasses import dataclass

from graphmem.graph import Edge
from graphmem.imports import ImportGraph


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read of a project's code, and of which state.

    `at` is epoch seconds, `commit` the checkout's, None outside git; the folder may have held changes that
    were not committed.
    """

    graph: ImportGraph
    at: float
    commit: str | None
    took_ms: float


@dataclass(frozen=True, slots=True)
class ReadingFigures:
    """What people see of a reading.

    `read` counts files by language, `unread` those of such a language that could not be read, by reason;
    `elsewhere` are references that name nothing of the project. `stale` says why the code may be another by
    now, None while nothing speaks for it. `complete` is false when the time was over before the end.
    """

    at: float
    commit: str | None
    took_ms: float
    read: tuple[tuple[str, int], ...]
    unread: tuple[tuple[str, int], ...]
    imports: int
    elsewhere: int
    complete: bool
    stale: str | None


@dataclass(frozen=True, slots=True)
class SilentImport:
    """An import whose two files were never changed together, though each was changed so often by itself."""

    importer: str
    imported: str
    importer_changes: int
    imported_changes: int
    with_test: bool


@dataclass(frozen=True, slots=True)
class CorroborationCounts:
    """How many there are of each.

    `seen` are co-changing pairs with an import between them, `hidden` those without, `hidden_tests` those
    without of which one is a test, `noise` those with a lock, generated or vendored file, `unknown` all the
    others: one file was not read, or its language is not. `silent` are imports that never change together.
    """

    seen: int = 0
    hidden: int = 0
    hidden_tests: int = 0
    noise: int = 0
    unknown: int = 0
    silent: int = 0


@dataclass(frozen=True, slots=True)
class Corroboration:
    """The project's co-changing pairs beside the imports in its code; the lists are cut, the counts are not.

    `hidden` are edges without an import between their files, the surest first; `hidden_tests` those of them
    of which one is a test. `reading` is None as long as nobody has looked: then all are unknown.
    """

    reading: ReadingFigures | None
    counts: CorroborationCounts = CorroborationCounts()
    hidden: tuple[Edge, ...] = ()
    hidden_tests: tuple[Edge, ...] = ()
    silent: tuple[SilentImport, ...] = ()
    degraded: str | None = None
