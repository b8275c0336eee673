"""Owns the door: a mapping from outside becomes a normalised `Observation`, or is refused with reasons.

It is not storage and not the HTTP body limit. Texts are cut, odd characters replaced, both noted; a wrong
type, a time out of range or a path outside the root is refused with the field's name. Path identity itself
is `graphmem.identity`.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from graphmem.errors import InvalidInputError
from graphmem.instant import DAY, HOUR, from_iso, to_iso
from graphmem.model import Fact, FactKind, FieldProblem, Observation, Rejection, Rename, Scope, TaskState
from graphmem.record import storable

MAX_TEXT = 64 * 1024
MAX_FILES = 2_000
MAX_CONCEPTS = 200
MAX_ID = 200
MAX_NAME = 200
MAX_PATH = 4_096

Resolve = Callable[[str, str | None], str | None]


def _bounded(least: int, most: int) -> AfterValidator:
    """Bound a text's length here: pydantic's own bound refuses lone surrogates, which are to be replaced."""

    def check(text: str) -> str:
        if not least <= len(text) <= most:
            raise ValueError(f"must have {least} to {most} characters")
        return text

    return AfterValidator(check)


Name = Annotated[str, _bounded(0, MAX_NAME)]
Id = Annotated[str, _bounded(1, MAX_ID)]
RawPath = Annotated[str, _bounded(0, MAX_PATH)]
Files = Annotated[list[RawPath], Field(max_length=MAX_FILES)]


def _epoch(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, (str, int, float, datetime)):
        raise ValueError("must be an ISO 8601 time such as 2026-05-01T12:00:00Z")
    if isinstance(value, str):
        try:
            return from_iso(value)
        except (ValueError, OverflowError):
            raise ValueError("must be an ISO 8601 time such as 2026-05-01T12:00:00Z") from None
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    return value


def _fact(value: object) -> object:
    return {"text": value} if isinstance(value, str) else value


class FactIn(BaseModel):
    """A fact as it comes in: a text, or a text with its kind."""

    model_config = ConfigDict(extra="ignore", strict=True)
    text: str
    kind: Annotated[FactKind, Field(strict=False)] = FactKind.FACT
    state: Annotated[TaskState | None, Field(strict=False)] = None
    scope: Annotated[Scope, Field(strict=False)] = Scope.PROJECT


class RenameIn(BaseModel):
    """A rename as it comes in."""

    model_config = ConfigDict(extra="ignore", strict=True)
    old: RawPath = Field(alias="from")
    new: RawPath = Field(alias="to")


class ObservationIn(BaseModel):
    """An observation as it comes in, by HTTP, as a JSON line or from the library."""

    model_config = ConfigDict(extra="allow", strict=True)
    id: Id | None = None
    session: Name | None = None
    source: Name = "api"
    actor: Name = ""
    branch: Name | None = None
    type: Name = "change"
    title: str = ""
    intent: str = ""
    narrative: str = ""
    facts: list[Annotated[FactIn, BeforeValidator(_fact)]] = Field(default=[], max_length=MAX_CONCEPTS)
    concepts: list[Name] = Field(default=[], max_length=MAX_CONCEPTS)
    files_read: Files = []
    files_modified: Files = []
    files_added: Files = []
    files_deleted: Files = []
    renames: list[RenameIn] = Field(default=[], max_length=MAX_FILES)
    at: Annotated[float | None, BeforeValidator(_epoch)] = None
    cwd: RawPath | None = None
    reference: Name | None = None


class RefusedError(Exception):
    """An item that can't be taken, with every reason found."""

    def __init__(self, problems: tuple[FieldProblem, ...]) -> None:
        super().__init__("; ".join(f"{problem.field}: {problem.message}" for problem in problems))
        self.problems = problems


class Intake:
    """Turns mappings into observations for one project.

    Args:
        resolve: path identity; takes the raw path and `cwd`, returns None for a path that names no file.
        now: the present moment in epoch seconds.
        taken: told of every observation of a batch before the next one is judged.
    """

    def __init__(
        self, resolve: Resolve, now: float, taken: Callable[[Observation], None] = lambda observation: None
    ) -> None:
        self._resolve = resolve
        self._now = now
        self._taken = taken

    def accept(self, item: Mapping[str, object]) -> Observation:
        """Return the normalised observation.

        Raises:
            RefusedError: a wrong type, a time out of range, a path outside the root, or nothing in it.
        """
        try:
            parsed = ObservationIn.model_validate(item)
        except ValidationError as error:
            raise RefusedError(_reasons(error)) from None
        notes = [f"unknown field {_shown(name)!r} ignored" for name in sorted(parsed.model_extra or {})[:20]]
        at = self._moment(parsed.at)
        paths = self._paths(parsed, notes)
        actor = bounded_text("actor", parsed.actor, notes)
        observation = Observation(
            id=bounded_text("id", parsed.id, notes) if parsed.id else "",
            session=bounded_text("session", parsed.session or "", notes) or _default_session(actor, at),
            at=at,
            source=bounded_text("source", parsed.source, notes),
            actor=actor,
            branch=bounded_text("branch", parsed.branch, notes) if parsed.branch else None,
            type=bounded_text("type", parsed.type, notes),
            title=bounded_text("title", parsed.title, notes).strip(),
            intent=bounded_text("intent", parsed.intent, notes).strip(),
            narrative=bounded_text("narrative", parsed.narrative, notes).strip(),
            facts=tuple(
                Fact(
                    bounded_text(f"facts.{index}", fact.text, notes).strip(),
                    fact.kind,
                    fact.state,
                    fact.scope,
                )
                for index, fact in enumerate(parsed.facts)
                if fact.text.strip()
            ),
            concepts=tuple(
                dict.fromkeys(
                    c
                    for concept in parsed.concepts
                    if (c := bounded_text("concepts", concept, notes).strip())
                )
            ),
            reference=bounded_text("reference", parsed.reference, notes) if parsed.reference else None,
            **paths,
        )
        if not _says_something(observation):
            problem = FieldProblem("title", "one of title, narrative, facts or a file is required; give one")
            raise RefusedError((problem,))
        return replace(
            observation,
            id=observation.id or f"obs-{uuid.uuid4().hex}",
            notes=tuple(dict.fromkeys(notes)),
        )

    def accept_all(
        self, items: Sequence[Mapping[str, object] | Observation]
    ) -> tuple[list[Observation], list[Rejection]]:
        """Judge a batch: finished observations pass, the good mappings too, the bad ones by index."""
        taken: list[Observation] = []
        rejected: list[Rejection] = []
        for index, item in enumerate(items):
            if isinstance(item, Observation):
                taken.append(item)
                continue
            try:
                taken.append(self.accept(item))
                self._taken(taken[-1])
            except RefusedError as refusal:
                rejected.append(Rejection(index, refusal.problems))
        return taken, rejected

    def _moment(self, at: float | None) -> float:
        if at is None:
            return math.floor(self._now * 1_000) / 1_000
        if not 0 <= at <= self._now + DAY:
            raise RefusedError((FieldProblem("at", "must lie between 1970 and a day from now; correct it"),))
        return at

    def _paths(self, parsed: ObservationIn, notes: list[str]) -> dict[str, Any]:
        problems: list[FieldProblem] = []

        def resolve(field: str, raw: str) -> str | None:
            clean = bounded_text(field, raw, notes) if "\x00" in raw else raw
            try:
                path = self._resolve(clean, parsed.cwd)
            except InvalidInputError as error:
                problems.append(FieldProblem("cwd" if error.field == "cwd" else field, str(error)))
                return None
            if path is None:
                notes.append(f"{field}: a path that a redactor changed was dropped")
            return path

        def resolved(field: str, raw: list[str]) -> dict[str, None]:
            found = (resolve(f"{field}.{index}", path) for index, path in enumerate(raw))
            return dict.fromkeys(path for path in found if path is not None)

        added = resolved("files_added", parsed.files_added)
        modified = resolved("files_modified", parsed.files_modified) | added
        deleted = resolved("files_deleted", parsed.files_deleted)
        read = resolved("files_read", parsed.files_read)
        renames: list[Rename] = []
        for index, rename in enumerate(parsed.renames):
            old = resolve(f"renames.{index}.from", rename.old)
            new = resolve(f"renames.{index}.to", rename.new)
            if old and new and old != new:
                renames.append(Rename(old, new))
        if problems:
            raise RefusedError(tuple(dict.fromkeys(problems)))
        targets = {rename.new for rename in renames}
        moved = targets | {rename.old for rename in renames}
        # A former name is a file of its own again where this work says that it added one.
        anew = (moved - targets) & added.keys()
        elsewhere = (moved | deleted.keys()) - anew
        return {
            "files_read": tuple(read),
            "files_modified": tuple(path for path in modified if path not in elsewhere),
            "files_added": tuple(path for path in added if path not in elsewhere),
            "files_deleted": tuple(path for path in deleted if path not in moved),
            "renames": tuple(renames),
        }


def bounded_text(field: str, text: str, notes: list[str]) -> str:
    """Return a text fit to be stored: NUL and lone surrogates replaced, cut at 64 KiB, both noted."""
    sound = storable(text)
    if sound != text:
        text = sound
        notes.append(f"{field}: NUL or a lone surrogate was replaced")
    if len(text) > MAX_TEXT // 4 and len(encoded := text.encode()) > MAX_TEXT:
        text = encoded[:MAX_TEXT].decode("utf-8", "ignore")
        notes.append(f"{field}: cut to 64 KiB")
    return text


def _shown(name: str) -> str:
    return storable(name)[:60]


def _default_session(actor: str, at: float) -> str:
    """Name the session of an observation that gives none: one an hour and actor."""
    return f"{actor or 'unknown'}@{to_iso(at // HOUR * HOUR)[:13]}"


def _reasons(error: ValidationError) -> tuple[FieldProblem, ...]:
    problems = []
    for detail in error.errors(include_url=False, include_context=False, include_input=False)[:20]:
        field = ".".join(str(part) for part in detail["loc"]) or "observation"
        problems.append(FieldProblem(field, f"{detail['msg'].removeprefix('Value error, ')}; correct it"))
    return tuple(problems)


def _says_something(observation: Observation) -> bool:
    return bool(
        observation.title
        or observation.narrative
        or observation.facts
        or observation.files_read
        or observation.files_modified
        or observation.files_deleted
        or observation.renames
    )
