"""Owns the seam between the command line and the memory: one protocol, answered by service or files.

It is not the memory and holds no rules of its own. Every answer is the HTTP shape as plain data
(`api.schemas`), whoever gives it; the twins are `api.backend_local` and `api.backend_remote`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, Self

from api.backend_corpora import CorporaBackend
from api.backend_graph import GraphBackend
from api.backend_graph import Shape as Shape
from api.backend_keeping import KeepingBackend

Progress = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True)
class ImpactQuestion:
    """What is asked before an edit; `as_of` is ISO 8601, several paths are asked about as one set."""

    paths: tuple[str, ...]
    intent: str | None = None
    session: str | None = None
    actor: str | None = None
    as_of: str | None = None
    limit: int = 10


@dataclass(frozen=True, slots=True)
class ObservationQuestion:
    """Which observations to list; times are ISO 8601."""

    file: str | None = None
    concept: str | None = None
    session: str | None = None
    type: str | None = None
    since: str | None = None
    until: str | None = None
    as_of: str | None = None
    limit: int = 20
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class SearchQuestion:
    """What is asked in words; times are ISO 8601, `in_session` a filter, `session` the asker's."""

    text: str
    limit: int = 20
    since: str | None = None
    until: str | None = None
    types: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    file: str | None = None
    concept: str | None = None
    source: str | None = None
    in_session: str | None = None
    session: str | None = None
    as_of: str | None = None
    budget_tokens: int = 1_000
    context_window: int | None = None
    depth: int | None = None
    width: int | None = None
    explain: bool = False


@dataclass(frozen=True, slots=True)
class HistorySource:
    """What to import: `kind` is `git` or `jsonl`, `location` an absolute path."""

    kind: str
    location: str
    ref: str | None = None
    include: tuple[str, ...] = ()


class Backend(Protocol):
    """Answers in HTTP's shapes; faults are `graphmem.errors`. `project` is a slug."""

    where: str
    """Who answers, for a person: the service and its address, or the files and their folder."""

    @property
    def graph(self) -> GraphBackend:
        """The questions about the graph."""

    @property
    def keeping(self) -> KeepingBackend:
        """What is kept and let go."""

    @property
    def corpora(self) -> CorporaBackend:
        """Named filters, and questions within them."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...

    def projects(self) -> Shape:
        """Return the page of all projects, by slug."""

    def project(self, reference: str) -> Shape:
        """Return the project of that slug or folder's name, or around that absolute path; NotFoundError."""

    def register(self, root: str) -> Shape:
        """Return the project of that root, made known if it is new."""

    def impact(self, project: str, question: ImpactQuestion) -> Shape:
        """Return what else changes, an `ImpactOut`."""

    def observations(self, project: str, question: ObservationQuestion) -> Shape:
        """Return a page of observations, newest first."""

    def observation(self, project: str, id: str) -> Shape:
        """Return one observation; NotFoundError."""

    def sessions(self, project: str, limit: int, cursor: str | None) -> Shape:
        """Return a page of sessions, most recent first."""

    def session(self, project: str, id: str) -> Shape:
        """Return one session; NotFoundError."""

    def search(self, project: str, question: SearchQuestion) -> Shape:
        """Return what answers a question in words, a `SearchOut`."""

    def stats(self, project: str) -> Shape:
        """Return counts and sizes, a `StatsOut`."""

    def captures(self, project: str, session: str | None) -> Shape:
        """Return whether work is recorded, a `CaptureOut`."""

    def set_capturing(self, project: str, on: bool, session: str | None) -> Shape:
        """Switch recording for the project or for one session, and return a `CaptureOut`."""

    def import_history(self, project: str, source: HistorySource, progress: Progress) -> Shape:
        """Import and return the `ImportReportOut`; KeyboardInterrupt stops cleanly and is raised again."""
