"""Owns the plan of a pruning: which observations a project's rules let go, and what keeps the others.

It is not the choice itself (`inference.retention`) nor the taking out (`graphmem.project_keeping`). An
observation is of one kind, that of the weightiest statement in it, or history where it holds none. Decisions,
open tasks, what somebody confirmed, and what speaks for a confirmed edge never go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from graphmem.graph import EdgeStatus
from graphmem.journal import Journal
from graphmem.nodes import NodeTable, row_of, table_of
from graphmem.postings import View
from graphmem.question import PieceKind
from graphmem.recall.listing import task_key
from graphmem.retention_rules import Rules
from inference.retention import Candidate, Told, chosen

_WEIGHT = (
    PieceKind.DECISION,
    PieceKind.PREFERENCE,
    PieceKind.CONVENTION,
    PieceKind.TASK,
    PieceKind.FACT,
    PieceKind.HISTORY,
)
_HOLDING = {
    NodeTable.FILE: "SELECT occasion FROM touch WHERE file = ?",
    NodeTable.CONCEPT: "SELECT occasion FROM concept_use WHERE concept = ?",
    NodeTable.CONTRACT: "SELECT occasion FROM contract_use JOIN observation USING (seq) WHERE contract = ?",
}


class Exemption(StrEnum):
    """Why an observation never goes."""

    DECISION = "decision"
    OPEN_TASK = "open task"
    CONFIRMED = "confirmed"
    EVIDENCE = "evidence of a confirmed edge"


@dataclass(frozen=True, slots=True)
class Going:
    """What goes of one kind: how many, about how many bytes, and the times of the oldest and the newest."""

    kind: PieceKind
    observations: int
    bytes: int
    oldest: float
    newest: float


@dataclass(frozen=True, slots=True)
class Plan:
    """What would go, oldest first, by kind, and how many others are exempt, each counted for one reason."""

    numbers: tuple[int, ...] = ()
    kinds: tuple[Going, ...] = ()
    exempt: Mapping[Exemption, int] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        """About how many bytes of the project's files go."""
        return sum(going.bytes for going in self.kinds)


@dataclass(frozen=True, slots=True)
class Pruned:
    """What a pruning does, or did where it was no dry run.

    `size_before` and `size_after` are the bytes of the project's files; a dry run estimates the latter.
    `remark` says what could not be done.
    """

    plan: Plan
    rules: Rules
    dry_run: bool
    size_before: int
    size_after: int
    remark: str | None = None


def plan(view: View, journal: Journal, rules: Rules, now: float, size: int) -> Plan:
    """Return what the rules let go at `now` (epoch seconds); `size` is the project's files' in bytes."""
    if not rules.days and (rules.max_bytes is None or size <= rules.max_bytes):
        return Plan()
    bodies = journal.body_sizes()
    # What is worked out from an observation takes room as well, about in proportion to its own.
    share = max(size, 1) / max(sum(bodies.values()), 1)
    candidates = [
        Candidate(seq, _WEIGHT[weight], at, int(bodies[seq] * share))
        for seq, at, weight in view.connection.execute(_kinds())
        if seq in bodies
    ]
    exempt = _exempt(view, journal, candidates)
    surplus = 0 if rules.max_bytes is None else size - rules.max_bytes
    days = {str(kind): limit for kind, limit in rules.days.items()}
    going = chosen(candidates, days, now, surplus, exempt.keys(), _told(view))
    counts = {reason: sum(each is reason for each in exempt.values()) for reason in Exemption}
    return Plan(tuple(each.seq for each in going), _by_kind(going), counts)


def _kinds() -> str:
    weights = " ".join(f"WHEN '{kind}' THEN {weight}" for weight, kind in enumerate(_WEIGHT))
    return (
        f"SELECT observation.seq, observation.at, MIN(CASE fact.kind {weights} ELSE {len(_WEIGHT) - 1} END)"
        " FROM observation LEFT JOIN fact ON fact.seq = observation.seq GROUP BY observation.seq"
    )


def _exempt(view: View, journal: Journal, candidates: Iterable[Candidate]) -> dict[int, Exemption]:
    """Return what never goes, with the first reason that holds."""
    found = {each.seq: Exemption.DECISION for each in candidates if each.kind == PieceKind.DECISION}
    open_tasks: dict[str, int | None] = {}
    for text, state, seq in view.connection.execute(
        "SELECT text, state, seq FROM fact WHERE kind = 'task' ORDER BY at, seq, ord"
    ):
        open_tasks[task_key(text)] = None if state == "done" else seq
    reasons = (
        (Exemption.OPEN_TASK, {seq for seq in open_tasks.values() if seq is not None}),
        (Exemption.CONFIRMED, journal.confirmations.confirmed()),
        (Exemption.EVIDENCE, _evidence(view)),
    )
    for reason, numbers in reasons:
        for seq in numbers:
            found.setdefault(seq, reason)
    return found


def _evidence(view: View) -> set[int]:
    """Return the observations that hold both ends of a confirmed edge, and those it cites."""
    found: set[int] = set()
    rows = view.connection.execute(
        "SELECT source, target, keys FROM edge WHERE status = ?", (EdgeStatus.CONFIRMED,)
    ).fetchall()
    for source, target, keys in rows:
        found.update(int(key) for key in str(keys).split() if key.isdecimal())
        if NodeTable.NAMED in (table_of(source), table_of(target)):
            continue
        both = f"{_HOLDING[table_of(source)]} INTERSECT {_HOLDING[table_of(target)]}"
        joint = view.connection.execute(
            f"SELECT seq FROM observation WHERE occasion IN ({both})", (row_of(source), row_of(target))
        )
        found.update(seq for (seq,) in joint)
    return found


def _told(view: View) -> list[Told]:
    """Return the statements that replace each other, in the order they were made."""
    tasks = view.connection.execute("SELECT text, seq FROM fact WHERE kind = 'task' ORDER BY at, seq, ord")
    claims = view.connection.execute(
        "SELECT subject, attribute, seq FROM statement WHERE subject IS NOT NULL ORDER BY at, seq, ord, part"
    )
    return [Told(f"task {task_key(text)}", seq) for text, seq in tasks] + [
        Told(f"{subject}\0{attribute}", seq) for subject, attribute, seq in claims
    ]


def _by_kind(going: Iterable[Candidate]) -> tuple[Going, ...]:
    groups: dict[str, list[Candidate]] = {}
    for each in going:
        groups.setdefault(each.kind, []).append(each)
    return tuple(
        Going(
            kind,
            len(groups[kind]),
            sum(each.size for each in groups[kind]),
            min(each.at for each in groups[kind]),
            max(each.at for each in groups[kind]),
        )
        for kind in _WEIGHT
        if kind in groups
    )
