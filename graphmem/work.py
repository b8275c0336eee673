"""Owns the last work on a project's files in short: what each observation changed and what it was about.

It is not any one file's history (`graphmem.postings`). Bulk changes and snapshots, which say nothing about
what belongs together, are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from graphmem.database import chunked
from graphmem.postings import View
from inference.lineage import Change

WORKS = 20_000
"""So many of the last observations are looked at."""

_LAST = (
    "SELECT seq, at, id, title FROM observation WHERE pairs = 1 AND size > 0 AND at <= ?"
    " ORDER BY at DESC, seq DESC LIMIT ?"
)


class Work(NamedTuple):
    """An observation that changed files, by their ids."""

    seq: int
    at: float
    id: str
    title: str
    files: tuple[int, ...]


class Contract(NamedTuple):
    """A contract that an observation named, and what that observation says replaced it."""

    seq: int
    name: str
    superseded_by: str | None


class WorkLog:
    """The last observations of a view that changed files, newest first."""

    def __init__(self, view: View) -> None:
        self._view = view
        limits = (view.as_of, WORKS)
        files: dict[int, list[int]] = {}
        for seq, file in view.connection.execute(
            f"SELECT last.seq, touch.file FROM ({_LAST}) AS last"
            " JOIN observation AS part ON part.occasion = last.seq JOIN touch ON touch.seq = part.seq"
            " WHERE change != ? AND repeated = 0 AND touch.at <= ? ORDER BY last.seq, part.at, part.id, ord",
            (*limits, Change.READ, view.as_of),
        ):
            files.setdefault(seq, []).append(file)
        self.works = tuple(
            Work(seq, at, id, title, tuple(files.get(seq, ())))
            for seq, at, id, title in view.connection.execute(_LAST, limits)
        )

    def concepts(self, works: Iterable[Work]) -> Iterator[tuple[Work, Mapping[str, float]]]:
        """Yield what each of these observations was about, concept to weight."""
        listed = list(works)
        uses = self._view.concepts(work.seq for work in listed)
        names = self._view.concept_names({concept for weights in uses.values() for concept in weights})
        for work in listed:
            yield work, {names[concept]: weight for concept, weight in uses[work.seq].items()}

    def uses(self, concepts: Iterable[str]) -> dict[str, int]:
        """Return in how many observations each of these concepts stands."""
        rows = chunked(self._view.connection, "SELECT name, uses FROM concept WHERE name IN ({})", concepts)
        return dict(rows)

    def contracts(self, works: Iterable[Work]) -> list[Contract]:
        """Return the contracts that these observations named, in their order, then by name."""
        order = {work.seq: place for place, work in enumerate(works)}
        rows = chunked(
            self._view.connection,
            "SELECT occasion, name, superseded_by FROM observation JOIN contract_use USING (seq)"
            " JOIN contract ON contract.id = contract WHERE occasion IN ({})",
            order,
        )
        return sorted(map(Contract._make, rows), key=lambda found: (order[found.seq], found.name))
