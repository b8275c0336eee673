"""Owns the views over a whole project: counts, the busiest files, the strongest links.

It is not about one question; nothing here is on the way of an alert.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from graphmem.captured import Captured
from graphmem.figures import NO_VECTORS, NoteStats, ProjectStats, VectorStats
from graphmem.model import Evidence, Link
from graphmem.postings import View
from graphmem.recall.predictor import Asker, predict
from inference.lineage import Change

_SEEDS = 60
_PARTNERS = 10
_LEAST_SESSIONS = 2
_YOUNG_TOGETHER = 3
_BYTES_A_TOKEN = 4


Missing = Callable[[Sequence[str]], set[str]]


@dataclass(frozen=True, slots=True)
class Sizes:
    """What only the owner of the files knows: bytes, entries not yet visible, vectors."""

    journal_bytes: int
    derived_bytes: int
    behind: int
    vectors: VectorStats = NO_VECTORS


def stats(view: View, sizes: Sizes, captured: Captured) -> ProjectStats:
    """Return counts and sizes; `captured` tells of notes and of what was kept out."""

    def count(query: str) -> int:
        return int(view.connection.execute(query).fetchone()[0])

    told = captured.help_counts()
    first, last = view.connection.execute("SELECT MIN(at), MAX(at) FROM observation").fetchone()
    return ProjectStats(
        observations=count("SELECT COUNT(*) FROM observation"),
        sessions=count("SELECT COUNT(*) FROM session"),
        files=count("SELECT COUNT(*) FROM file WHERE alive = 1"),
        files_gone=count("SELECT COUNT(*) FROM file WHERE alive = 0"),
        concepts=count("SELECT COUNT(*) FROM concept"),
        contracts=count("SELECT COUNT(*) FROM contract"),
        first_at=first,
        last_at=last,
        bulk_observations=count("SELECT COUNT(*) FROM observation WHERE pairs = 0 AND occasion = seq"),
        noise_files=count("SELECT COUNT(*) FROM file WHERE alive = 1 AND noise IS NOT NULL"),
        journal_bytes=sizes.journal_bytes,
        derived_bytes=sizes.derived_bytes,
        alerts_given=told.given,
        behind=sizes.behind,
        notes=NoteStats(told.given, told.opened, told.changed, told.helped, told.missed),
        tokens_injected=-(-told.bytes // _BYTES_A_TOKEN),
        vectors=sizes.vectors,
        redacted=tuple(sorted(captured.redactions().items())),
    )


def living_paths(view: View) -> list[str]:
    """Return the names of all files that exist, as far as observed."""
    rows = view.connection.execute(
        "SELECT path.name FROM file JOIN path ON path.id = file.path WHERE alive = 1 ORDER BY path.name"
    )
    return [row[0] for row in rows]


def busiest_files(view: View, limit: int, missing: Missing) -> list[str]:
    """Return the living files changed in most observations, noise and bulk changes left out.

    `missing` tells which of some paths are gone from the disk.
    """
    rows = view.connection.execute(
        "SELECT path.name, COUNT(DISTINCT touch.occasion) AS changes FROM touch"
        " JOIN observation ON observation.seq = touch.occasion"
        " JOIN file ON file.id = touch.file JOIN path ON path.id = file.path"
        " WHERE alive = 1 AND noise IS NULL AND pairs = 1 AND change != ? AND repeated = 0"
        " GROUP BY file.id ORDER BY changes DESC, path.name",
        (Change.READ,),
    )
    found: list[str] = []
    while len(found) < limit and (chunk := [row[0] for row in rows.fetchmany(limit)]):
        lost = missing(chunk)
        found += [path for path in chunk if path not in lost]
    return found[:limit]


def strongest_links(view: View, limit: int, now: float, missing: Missing) -> list[Link]:
    """Return the surest pairs among the busiest files, one row a pair.

    A pair needs two distinct sessions; where the history is too young to hold any, three occasions do.
    """
    found: dict[tuple[str, str], Link] = {}
    for path in busiest_files(view, _SEEDS, missing):
        file = view.file(path)
        if file is None:
            continue
        for prediction in predict(view, [file], Asker(now), _PARTNERS).ranked:
            ranked = prediction.ranked
            if prediction.file.noise is not None or ranked.together < _LEAST_SESSIONS:
                continue
            ids = tuple(head.id for head in view.heads(ranked.keys))
            evidence = Evidence(ranked.together, ranked.of, ranked.sessions, ranked.last_seen, ids)
            a, b = sorted((path, prediction.file.path))
            known = found.get((a, b))
            if known is None or ranked.probability > known.probability:
                found[a, b] = Link(a, b, ranked.probability, evidence)
    lost = missing(sorted({path for pair in found for path in pair}))
    ordered = sorted(
        (link for link in found.values() if not {link.a, link.b} & lost),
        key=lambda link: (-link.probability, -link.evidence.together, link.a, link.b),
    )
    firm = [link for link in ordered if link.evidence.sessions >= _LEAST_SESSIONS]
    return (firm or [link for link in ordered if link.evidence.together >= _YOUNG_TOGETHER])[:limit]
