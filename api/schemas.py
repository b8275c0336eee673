"""Owns the JSON shapes that leave GraphMem, over HTTP and from the command line's `--json`.

It is not the shapes that come in (those are `api.bodies`), nor validation of observations (that is
`graphmem.capture.intake`). Each class is built from a record of the vocabulary by `of`; times are ISO 8601
in UTC, probabilities and scores are rounded to four digits. `model_dump(mode="json")` gives plain data.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from graphmem import model
from graphmem.instant import to_iso

Instant = Annotated[
    str, Field(description="ISO 8601, UTC", json_schema_extra={"format": "date-time"})
]
Probability = Annotated[float, Field(ge=0.0, le=1.0)]

_DIGITS = 4


def _iso(at: float | None) -> str | None:
    return None if at is None else to_iso(at)


class Shape(BaseModel):
    """What every outgoing shape shares: fixed fields, no surprises."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ProjectOut(Shape):
    """A registered project."""

    id: str
    slug: str
    root: str
    roots: list[str]
    created_at: Instant
    observations: int

    @classmethod
    def of(cls, info: model.ProjectInfo) -> Self:
        """Return the shape of a registered project."""
        return cls(
            id=info.id,
            slug=info.slug,
            root=info.root,
            roots=list(info.roots),
            created_at=to_iso(info.created_at),
            observations=info.observations,
        )


class ProjectPageOut(Shape):
    """A page of projects, by slug."""

    items: list[ProjectOut]
    next_cursor: str | None


class FactOut(Shape):
    """One statement of an observation; `state` only for tasks."""

    text: str
    kind: model.FactKind
    state: model.TaskState | None
    scope: model.Scope

    @classmethod
    def of(cls, fact: model.Fact) -> Self:
        """Return the shape of a fact."""
        return cls(text=fact.text, kind=fact.kind, state=fact.state, scope=fact.scope)


class RenameOut(Shape):
    """A file that moved."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, serialize_by_alias=True)

    old: str = Field(alias="from")
    new: str = Field(alias="to")

    @classmethod
    def of(cls, rename: model.Rename) -> Self:
        """Return the shape of a rename."""
        return cls(old=rename.old, new=rename.new)


class ObservationOut(Shape):
    """One stored observation, in the form in which it can be sent again."""

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

    @classmethod
    def of(cls, observation: model.Observation) -> Self:
        """Return the shape of a stored observation."""
        return cls(
            id=observation.id,
            session=observation.session,
            source=observation.source,
            actor=observation.actor,
            branch=observation.branch,
            type=observation.type,
            title=observation.title,
            intent=observation.intent,
            narrative=observation.narrative,
            facts=[FactOut.of(fact) for fact in observation.facts],
            concepts=list(observation.concepts),
            files_read=list(observation.files_read),
            files_modified=list(observation.files_modified),
            files_added=list(observation.files_added),
            files_deleted=list(observation.files_deleted),
            renames=[RenameOut.of(rename) for rename in observation.renames],
            at=to_iso(observation.at),
            reference=observation.reference,
            notes=list(observation.notes),
        )


class ObservationPageOut(Shape):
    """A page of observations, newest first."""

    items: list[ObservationOut]
    next_cursor: str | None

    @classmethod
    def of(cls, page: model.ObservationPage) -> Self:
        """Return the shape of a page of observations."""
        return cls(items=[ObservationOut.of(item) for item in page.items], next_cursor=page.next_cursor)


class FieldErrorOut(Shape):
    """One reason for a refusal: the field's name and a sentence with the remedy."""

    field: str
    message: str

    @classmethod
    def of(cls, problem: model.FieldProblem) -> Self:
        """Return the shape of one reason."""
        return cls(field=problem.field, message=problem.message)


class RejectionOut(Shape):
    """A refused item of a batch."""

    index: int
    errors: list[FieldErrorOut]

    @classmethod
    def of(cls, rejection: model.Rejection) -> Self:
        """Return the shape of a refused item."""
        return cls(index=rejection.index, errors=[FieldErrorOut.of(error) for error in rejection.errors])


class ReceiptOut(Shape):
    """What became of the observations that were sent; `ids` in the order given, refused ones left out."""

    accepted: int
    duplicates: int
    rejected: list[RejectionOut]
    ids: list[str]
    notes: list[str]

    @classmethod
    def of(cls, receipt: model.Receipt, notes: Iterable[str] = ()) -> Self:
        """Return the shape of a receipt, with `notes` of the way in added to its own."""
        return cls(
            accepted=receipt.accepted,
            duplicates=receipt.duplicates,
            rejected=[RejectionOut.of(item) for item in receipt.rejected],
            ids=list(receipt.ids),
            notes=[*receipt.notes, *notes],
        )


class EvidenceOut(Shape):
    """Why two files belong together: `together` of `of` observations, in `sessions` distinct sessions."""

    together: int
    of_: int = Field(alias="of")
    sessions: int
    last_seen: Instant | None
    observations: list[str]

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, serialize_by_alias=True)

    @classmethod
    def of(cls, evidence: model.Evidence) -> Self:
        """Return the shape of an evidence."""
        return cls(
            together=evidence.together,
            of_=evidence.of,
            sessions=evidence.sessions,
            last_seen=_iso(evidence.last_seen),
            observations=list(evidence.observations),
        )


class ScoreOut(Shape):
    """The three signals' own scores."""

    file: float
    concept: float
    temporal: float

    @classmethod
    def of(cls, score: model.SignalScores) -> Self:
        """Return the shape of the signals' scores."""
        return cls(
            file=round(score.file, _DIGITS),
            concept=round(score.concept, _DIGITS),
            temporal=round(score.temporal, _DIGITS),
        )


class AffectedOut(Shape):
    """A file that may need a change too."""

    path: str
    probability: Probability
    tier: model.Tier
    relation: str | None
    direction: str | None
    edge_id: str | None
    evidence: EvidenceOut
    score: ScoreOut
    signals: list[str]
    noise: model.Noise | None

    @classmethod
    def of(cls, affected: model.Affected) -> Self:
        """Return the shape of an affected file."""
        return cls(
            path=affected.path,
            probability=round(affected.probability, _DIGITS),
            tier=affected.tier,
            relation=affected.relation,
            direction=affected.direction,
            edge_id=affected.edge_id,
            evidence=EvidenceOut.of(affected.evidence),
            score=ScoreOut.of(affected.score),
            signals=list(affected.signals),
            noise=affected.noise,
        )


class NextFileOut(Shape):
    """A file of the following piece of work."""

    path: str
    probability: Probability


class ActiveSessionOut(Shape):
    """Another session at work on the file or its first neighbours."""

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
    """A recent observation, in short."""

    id: str
    title: str
    at: Instant
    concepts: list[str]


class RecentOut(Shape):
    """What happened around the file lately."""

    window_days: int
    sessions: int
    domains: list[DomainOut]
    observations: list[RecentObservationOut]

    @classmethod
    def of(cls, recent: model.Recent) -> Self:
        """Return the shape of the recent work."""
        return cls(
            window_days=recent.window_days,
            sessions=recent.sessions,
            domains=[
                DomainOut(concept=item.concept, sessions=item.sessions, last_seen=to_iso(item.last_seen))
                for item in recent.domains
            ],
            observations=[
                RecentObservationOut(
                    id=item.id, title=item.title, at=to_iso(item.at), concepts=list(item.concepts)
                )
                for item in recent.observations
            ],
        )


class ContractUseOut(Shape):
    """A connection point at stake."""

    name: str
    used_by: list[str]
    last_seen: Instant
    superseded_by: str | None

    @classmethod
    def of(cls, use: model.ContractUse) -> Self:
        """Return the shape of a contract's use."""
        return cls(
            name=use.name,
            used_by=list(use.used_by),
            last_seen=to_iso(use.last_seen),
            superseded_by=use.superseded_by,
        )


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
    as_of: Instant

    @classmethod
    def of(cls, impact: model.Impact) -> Self:
        """Return the shape of an impact answer."""
        return cls(
            path=impact.path,
            paths=list(impact.paths),
            status=impact.status,
            reason=impact.reason,
            warning=impact.warning,
            affected=[AffectedOut.of(item) for item in impact.affected],
            next=[
                NextFileOut(path=item.path, probability=round(item.probability, _DIGITS))
                for item in impact.next
            ],
            active=[
                ActiveSessionOut(session=item.session, actor=item.actor, path=item.path, at=to_iso(item.at))
                for item in impact.active
            ],
            recent=RecentOut.of(impact.recent),
            contracts=[ContractUseOut.of(item) for item in impact.contracts],
            module=None,
            concepts=list(impact.concepts),
            as_of=to_iso(impact.as_of),
        )


class LinkOut(Shape):
    """A pair of files that change together."""

    a: str
    b: str
    probability: Probability
    evidence: EvidenceOut

    @classmethod
    def of(cls, link: model.Link) -> Self:
        """Return the shape of a link."""
        return cls(
            a=link.a,
            b=link.b,
            probability=round(link.probability, _DIGITS),
            evidence=EvidenceOut.of(link.evidence),
        )


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

    @classmethod
    def of(cls, session: model.SessionSummary) -> Self:
        """Return the shape of a session."""
        return cls(
            id=session.id,
            actor=session.actor,
            source=session.source,
            branch=session.branch,
            started_at=to_iso(session.started_at),
            ended_at=to_iso(session.ended_at),
            observations=session.observations,
            set_out=session.set_out,
            files=list(session.files),
            done=list(session.done),
            left_open=list(session.left_open),
        )


class SessionPageOut(Shape):
    """A page of sessions, most recent first."""

    items: list[SessionOut]
    next_cursor: str | None

    @classmethod
    def of(cls, page: model.SessionPage) -> Self:
        """Return the shape of a page of sessions."""
        return cls(items=[SessionOut.of(item) for item in page.items], next_cursor=page.next_cursor)
