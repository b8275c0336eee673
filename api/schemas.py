"""Owns the JSON shapes that leave GraphMem, over HTTP and from the command line's `--json`.

It is not the shapes that come in (those are `api.bodies`), nor validation of observations (that is
`graphmem.capture.intake`). Each class is built from its record of the vocabulary by `of`; times are ISO
8601 in UTC, probabilities and scores are rounded to four digits. `model_dump(mode="json")` gives plain data,
and `model_validate` reads it back.
"""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import AfterValidator, AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

from graphmem import model
from graphmem.instant import to_iso


def _iso(at: object) -> object:
    return to_iso(at) if isinstance(at, int | float) else at


def _four_digits(value: float) -> float:
    return round(value, 4)


Instant = Annotated[
    str,
    BeforeValidator(_iso),
    Field(description="ISO 8601, UTC", json_schema_extra={"format": "date-time"}),
]
Probability = Annotated[float, AfterValidator(_four_digits), Field(ge=0.0, le=1.0)]
Score = Annotated[float, AfterValidator(_four_digits)]


class Shape(BaseModel):
    """What every outgoing shape shares: it mirrors a record of the vocabulary, field by field."""

    model_config = ConfigDict(frozen=True, from_attributes=True, serialize_by_alias=True)

    @classmethod
    def of(cls, record: object) -> Self:
        """Return the shape of `record`, the vocabulary's record of the same name."""
        return cls.model_validate(record)


class ProjectOut(Shape):
    """A registered project; `root` is where it was registered, `roots` every known place of it."""

    id: str
    slug: str
    root: str
    roots: list[str]
    created_at: Instant
    observations: int


class ProjectPageOut(Shape):
    """A page of projects, by slug."""

    items: list[ProjectOut]
    next_cursor: str | None = None


class FactOut(Shape):
    """One statement of an observation; `state` only for tasks."""

    text: str
    kind: model.FactKind
    state: model.TaskState | None
    scope: model.Scope


class RenameOut(Shape):
    """A file that moved."""

    old: str = Field(validation_alias=AliasChoices("old", "from"), serialization_alias="from")
    new: str = Field(validation_alias=AliasChoices("new", "to"), serialization_alias="to")


class ObservationOut(Shape):
    """One stored observation; `files_added` is the part of `files_modified` it created.

    A `provisional` one is still being worked on; `turn` is the same for all parts of one prompt's work.
    """

    id: str
    session: str
    source: str
    actor: str
    branch: str | None
    type: str
    title: str
    intent: str
    narrative: str
    facts: list[FactOut]
    concepts: list[str]
    files_read: list[str]
    files_modified: list[str]
    files_added: list[str]
    files_deleted: list[str]
    renames: list[RenameOut]
    at: Instant
    reference: str | None
    notes: list[str]
    turn: str = ""
    provisional: bool = False
    confirmed: bool = False


class ObservationPageOut(Shape):
    """A page of observations, newest first."""

    items: list[ObservationOut]
    next_cursor: str | None


class FieldErrorOut(Shape):
    """One reason for a refusal: the field's name and a sentence with the remedy."""

    field: str
    message: str


class RejectionOut(Shape):
    """A refused item of a batch, by its index."""

    index: int
    errors: list[FieldErrorOut]


class ReceiptOut(Shape):
    """What became of the observations that were sent; `ids` in the order given, refused ones left out."""

    accepted: int
    duplicates: int
    rejected: list[RejectionOut]
    ids: list[str]
    notes: list[str]


class EvidenceOut(Shape):
    """Why two files belong together: `together` of `of` observations, in `sessions` distinct sessions."""

    together: int
    of_count: int = Field(validation_alias="of", serialization_alias="of")
    sessions: int
    last_seen: Instant | None
    observations: list[str]


class SignalScoresOut(Shape):
    """The three signals' own scores in 0..1, before they are combined."""

    file: Score
    concept: Score
    temporal: Score


class AffectedOut(Shape):
    """A file that may need a change too; `read`: by the session that asks."""

    path: str
    probability: Probability
    tier: model.Tier
    relation: str | None
    direction: str | None
    edge_id: str | None
    evidence: EvidenceOut
    score: SignalScoresOut
    signals: list[str]
    noise: model.Noise | None
    read: bool


class NextFileOut(Shape):
    """A file of the following piece of work that is not in this one."""

    path: str
    probability: Probability


class ActiveSessionOut(Shape):
    """Another session that touched the file or a first neighbour in the last two hours."""

    session: str
    actor: str
    path: str
    at: Instant


class DomainOut(Shape):
    """A concept that recent work on the file was about."""

    concept: str
    sessions: int
    last_seen: Instant


class RecentObservationOut(Shape):
    """An observation of the recent window, in short."""

    id: str
    title: str
    at: Instant
    concepts: list[str]


class RecentOut(Shape):
    """What happened around the file in the last `window_days` days."""

    window_days: int
    sessions: int
    domains: list[DomainOut]
    observations: list[RecentObservationOut]


class ContractUseOut(Shape):
    """A connection point at stake; `superseded_by` names the newer one where texts say so."""

    name: str
    used_by: list[str]
    last_seen: Instant
    superseded_by: str | None


class ModuleRefOut(Shape):
    """The community the file belongs to."""

    id: str
    label: str


class ImpactOut(Shape):
    """The answer before an edit; `path` is null and `paths` the list when several files were asked about."""

    path: str | None
    paths: list[str]
    status: model.FileStatus
    reason: str | None
    warning: str | None
    affected: list[AffectedOut]
    next: list[NextFileOut]
    active: list[ActiveSessionOut]
    recent: RecentOut
    contracts: list[ContractUseOut]
    module: ModuleRefOut | None
    concepts: list[str]
    degraded: str | None
    as_of: Instant


class LinkOut(Shape):
    """A pair of files that change together; `a` sorts before `b`."""

    a: str
    b: str
    probability: Probability
    evidence: EvidenceOut


class SessionOut(Shape):
    """One run of an agent, or an author's sitting: what it set out to do, did, and left open."""

    id: str
    actor: str
    source: str
    branch: str | None
    started_at: Instant
    ended_at: Instant
    observations: int
    set_out: str
    files: list[str]
    done: list[str]
    left_open: list[str]


class SessionPageOut(Shape):
    """A page of sessions, most recent first."""

    items: list[SessionOut]
    next_cursor: str | None


class LeftOutOut(Shape):
    """How many files an import left out, for which reason."""

    reason: str
    count: int


class ImportReportOut(Shape):
    """What an import did; `remarks` are sentences for the screen, `problems` name what was not taken."""

    source: str
    location: str
    seen: int
    accepted: int
    duplicates: int
    rejected: int
    left_out: Annotated[list[LeftOutOut], BeforeValidator(lambda pairs: [_left_out(pair) for pair in pairs])]
    remarks: list[str]
    problems: list[str]
    stopped: bool
    took_ms: Score


def _left_out(pair: object) -> object:
    return dict(zip(("reason", "count"), pair, strict=True)) if isinstance(pair, tuple) else pair
