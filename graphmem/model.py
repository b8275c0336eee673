"""Owns the vocabulary: the frozen records that travel between capture, journal, recall and the ways in.

It is not validation (that is `graphmem.capture.intake`) nor the HTTP shapes (that is `api.schemas`).
Times are epoch seconds in UTC (see `graphmem.instant`); paths are relative to the project root,
`/`-separated and NFC unless git itself holds another form.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class FactKind(StrEnum):
    """What a fact is about; `FACT` is the default."""

    PREFERENCE = "preference"
    CONVENTION = "convention"
    TASK = "task"
    DECISION = "decision"
    FACT = "fact"


class TaskState(StrEnum):
    """Whether a task is still to be done."""

    OPEN = "open"
    DONE = "done"


class Scope(StrEnum):
    """Whom a fact binds: everybody in the project, or the actor who stated it."""

    PROJECT = "project"
    ACTOR = "actor"


class FileStatus(StrEnum):
    """What the memory knows of a file."""

    KNOWN = "known"
    UNKNOWN = "unknown"
    GONE = "gone"


class Tier(StrEnum):
    """How sure an impact entry is: a verdict, at or above the warning threshold, or below it."""

    CONFIRMED = "confirmed"
    LIKELY = "likely"
    POSSIBLE = "possible"


class Noise(StrEnum):
    """Why a file is damped: it changes along with everything, or nobody writes it by hand."""

    LOCK = "lock file"
    VENDORED = "vendored"
    GENERATED = "generated"


@dataclass(frozen=True, slots=True)
class Fact:
    """One statement; `state` only for tasks."""

    text: str
    kind: FactKind = FactKind.FACT
    state: TaskState | None = None
    scope: Scope = Scope.PROJECT


@dataclass(frozen=True, slots=True)
class Rename:
    """A file that moved within one observation."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Observation:
    """One finished unit of work, normalised: what was read, what was changed, and why.

    `files_added` is the part of `files_modified` that was created by this work; the target of a rename
    is not in it. A path stands in at most one of `files_modified`, `files_deleted` and `renames`, but for
    a former name created anew, which is in `files_added` too.
    `reference` is the source's own name of it, such as a commit's hash. `turn` is the same for all parts of
    one prompt's work, which count as one. A `provisional` one is still being worked on: it is told anew,
    under the same id, until it is final. `confirmed` is filled in on reading: somebody said that it holds.
    """

    id: str
    session: str
    at: float
    source: str = "api"
    actor: str = ""
    branch: str | None = None
    type: str = "change"
    title: str = ""
    intent: str = ""
    narrative: str = ""
    facts: tuple[Fact, ...] = ()
    concepts: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    files_added: tuple[str, ...] = ()
    files_deleted: tuple[str, ...] = ()
    renames: tuple[Rename, ...] = ()
    reference: str | None = None
    notes: tuple[str, ...] = ()
    turn: str = ""
    provisional: bool = False
    confirmed: bool = False


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """One reason for a refusal: the field's name and a sentence with the remedy."""

    field: str
    message: str


@dataclass(frozen=True, slots=True)
class Rejection:
    """An item of a batch that was refused, by its index."""

    index: int
    errors: tuple[FieldProblem, ...]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a batch; `ids` names every stored or already known item, in the order given."""

    accepted: int = 0
    duplicates: int = 0
    rejected: tuple[Rejection, ...] = ()
    ids: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProjectInfo:
    """A registered project; `root` is where it was registered, `roots` every known place of it."""

    id: str
    slug: str
    root: str
    roots: tuple[str, ...]
    created_at: float
    observations: int = 0


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why two nodes belong together: how often, of how many, in how many sessions, when last, seen where."""

    together: int
    of: int
    sessions: int
    last_seen: float | None
    observations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SignalScores:
    """The three signals' own scores, each in 0..1, before they are combined."""

    file: float
    concept: float
    temporal: float


@dataclass(frozen=True, slots=True)
class Affected:
    """A file that may need a change too; `probability` is P(modified in the same observation).

    `read`: the session that asks has read it.
    """

    path: str
    probability: float
    tier: Tier
    evidence: Evidence
    score: SignalScores
    signals: tuple[str, ...] = ()
    noise: Noise | None = None
    relation: str | None = None
    direction: str | None = None
    edge_id: str | None = None
    read: bool = False


@dataclass(frozen=True, slots=True)
class NextFile:
    """A file of the following piece of work that is not in this one."""

    path: str
    probability: float


@dataclass(frozen=True, slots=True)
class ActiveSession:
    """Another session that touched the file or a first neighbour in the last two hours."""

    session: str
    actor: str
    path: str
    at: float


@dataclass(frozen=True, slots=True)
class Domain:
    """A concept that recent work on the file was about."""

    concept: str
    sessions: int
    last_seen: float


@dataclass(frozen=True, slots=True)
class RecentObservation:
    """An observation of the recent window, in short."""

    id: str
    title: str
    at: float
    concepts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recent:
    """What happened around the file in the last `window_days` days, by concept domain."""

    window_days: int = 30
    sessions: int = 0
    domains: tuple[Domain, ...] = ()
    observations: tuple[RecentObservation, ...] = ()


@dataclass(frozen=True, slots=True)
class ContractUse:
    """A connection point at stake; `superseded_by` names the newer one where texts say so."""

    name: str
    used_by: tuple[str, ...]
    last_seen: float
    superseded_by: str | None = None


@dataclass(frozen=True, slots=True)
class ModuleName:
    """A module in short."""

    id: str
    label: str


@dataclass(frozen=True, slots=True)
class Impact:
    """The answer before an edit. `path` is null and `paths` the list when several files were asked about.

    `degraded` says what the answer lacks while the derived file is being rebuilt.
    """

    path: str | None
    status: FileStatus
    reason: str | None
    warning: str | None
    as_of: float
    paths: tuple[str, ...] = ()
    affected: tuple[Affected, ...] = ()
    next: tuple[NextFile, ...] = ()
    active: tuple[ActiveSession, ...] = ()
    recent: Recent = field(default_factory=Recent)
    contracts: tuple[ContractUse, ...] = ()
    module: ModuleName | None = None
    concepts: tuple[str, ...] = ()
    degraded: str | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """A pair of files that change together, for overviews; `a` sorts before `b`."""

    a: str
    b: str
    probability: float
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class ObservationFilter:
    """What to list; times are epoch seconds, `since` inclusive, `until` exclusive."""

    file: str | None = None
    concept: str | None = None
    session: str | None = None
    type: str | None = None
    since: float | None = None
    until: float | None = None
    as_of: float | None = None


@dataclass(frozen=True, slots=True)
class ObservationPage:
    """A page of observations, newest first; `next_cursor` is null on the last one."""

    items: tuple[Observation, ...]
    next_cursor: str | None


SESSION_FILES = 20


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """One run of an agent, or an author's sitting: what it set out to do, did, and left open.

    `files` are those touched last, at most `SESSION_FILES`.
    """

    id: str
    actor: str
    source: str
    branch: str | None
    started_at: float
    ended_at: float
    observations: int
    set_out: str
    files: tuple[str, ...]
    done: tuple[str, ...] = ()
    left_open: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionPage:
    """A page of sessions, most recent first."""

    items: tuple[SessionSummary, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did; `remarks` are sentences for the screen, `problems` lines that were not taken."""

    source: str
    location: str
    seen: int = 0
    accepted: int = 0
    duplicates: int = 0
    rejected: int = 0
    left_out: tuple[tuple[str, int], ...] = ()
    remarks: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    stopped: bool = False
    took_ms: float = 0.0
