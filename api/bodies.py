"""Owns what comes in as a body: reading it within its limit, its JSON, and the shapes of the small ones.

It is not the validation of observations: those are handed on as they are, `graphmem.capture.intake` decides.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Annotated, Any, Literal, TypeVar

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from api.faults import invalid_input
from api.parameters import MOST_ITEMS, Moment
from api.problems import ProblemKind, RefusedError
from graphmem.question import MOST_WIDTH, Filters, Question
from graphmem.store.port import MAX_DEPTH

MOST_BYTES = 8 * 1024 * 1024
MOST_OBSERVATIONS = 1_000
_DRAINED_BYTES = 64 * 1024 * 1024
_DRAIN_SECONDS = 5.0
_MOST_PATHS = 2_000

PathText = Annotated[str, StringConstraints(min_length=1, max_length=8_192)]
ShortText = Annotated[str, StringConstraints(max_length=1_000)]
LongText = Annotated[str, StringConstraints(max_length=65_536)]


class Body(BaseModel):
    """What every incoming shape shares: unknown fields are accepted and ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


BodyShape = TypeVar("BodyShape", bound=Body)
Value = TypeVar("Value")


class ProjectIn(Body):
    """A project to register."""

    root: PathText = Field(description="absolute path of the repository or folder")
    slug: ShortText | None = None


class CaptureIn(Body):
    """Whether agents' work is recorded."""

    enabled: Annotated[bool, Field(strict=True)]
    session: Annotated[ShortText, StringConstraints(min_length=1)] | None = Field(
        default=None, description="only this session; the project if left out"
    )


class ImpactIn(Body):
    """A question about a set of files."""

    paths: list[PathText] = Field(min_length=1, max_length=_MOST_PATHS)
    intent: LongText | None = None
    session: ShortText | None = None
    actor: ShortText | None = None
    branch: ShortText | None = None
    as_of: Moment = None
    limit: int = Field(default=10, ge=1, le=MOST_ITEMS)


class QueryIn(Body):
    """A question in words; `budget_tokens` cuts the packed context, never the results.

    Of a long text the beginning is asked.
    """

    text: LongText
    limit: int = Field(default=20, ge=1, le=MOST_ITEMS)
    budget_tokens: int = Field(default=1_000, ge=0, le=1_000_000)
    kinds: list[ShortText] = Field(default_factory=list, max_length=50)
    types: list[ShortText] = Field(default_factory=list, max_length=50)
    since: Moment = None
    until: Moment = None
    file: PathText | None = None
    concept: ShortText | None = None
    source: ShortText | None = None
    in_session: ShortText | None = Field(default=None, description="only work of this session")
    as_of: Moment = None
    explain: bool = False
    depth: int | None = Field(default=None, ge=0, le=MAX_DEPTH, description="levels of graph expansion")
    width: int | None = Field(default=None, ge=0, le=MOST_WIDTH, description="nodes a level of expansion")
    context_window: int | None = Field(
        default=None, ge=0, le=100_000_000, description="the asker's window in tokens"
    )
    session: ShortText | None = Field(default=None, description="the asking session")

    def question(self) -> Question:
        """Return the question in the vocabulary."""
        return Question(
            text=self.text,
            limit=self.limit,
            budget_tokens=self.budget_tokens,
            filters=Filters(
                since=self.since,
                until=self.until,
                types=tuple(self.types),
                kinds=tuple(self.kinds),
                file=self.file,
                concept=self.concept,
                session=self.in_session,
                source=self.source,
            ),
            depth=self.depth,
            width=self.width,
            context_window=self.context_window,
            session=self.session,
            as_of=self.as_of,
        )


class ImportIn(Body):
    """A source to import."""

    source: Literal["git", "jsonl"]
    location: PathText = Field(description="absolute path of the repository or the file")
    ref: ShortText | None = Field(default=None, description="git only: what to start from, default HEAD")
    include: list[ShortText] = Field(
        default_factory=list, max_length=200, description="git only: globs to take although left out by rule"
    )


async def read_body(request: Request) -> bytes:
    """Return the body, counted while it comes in: a Content-Length is no promise.

    Raises:
        RefusedError: it is larger than 8 MiB.
    """
    declared = request.headers.get("content-length", "")
    too_large = declared.isdecimal() and (len(declared) > 18 or int(declared) > MOST_BYTES)
    if too_large and "expect" in request.headers:
        raise _too_large()
    chunks: list[bytes] = []
    received = 0
    loop = asyncio.get_running_loop()
    # Of a body that is too large a bounded rest is taken in and dropped: a client that is still sending
    # would otherwise meet a broken connection instead of the answer.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_DRAIN_SECONDS if too_large else None) as deadline:
            async for chunk in request.stream():
                received += len(chunk)
                if received > MOST_BYTES and not too_large:
                    too_large = True
                    deadline.reschedule(loop.time() + _DRAIN_SECONDS)
                    chunks.clear()
                if not too_large:
                    chunks.append(chunk)
                elif received > _DRAINED_BYTES:
                    break
    if too_large:
        raise _too_large()
    return b"".join(chunks)


def _too_large() -> RefusedError:
    return RefusedError(
        ProblemKind.TOO_LARGE, f"The body is over {MOST_BYTES // 1024**2} MiB: send it in smaller batches."
    )


def media_type(request: Request) -> str:
    """Return the body's media type without parameters, lower case; empty if none was named."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def is_json(named: str) -> bool:
    """Return whether a body of this media type is read as JSON; an unnamed one is."""
    return named in {"", "application/json", "text/json"} or (
        named.startswith("application/") and named.endswith("+json")
    )


def unsupported(named: str, wanted: str) -> RefusedError:
    """Return the refusal of a body of the wrong media type."""
    return RefusedError(
        ProblemKind.MEDIA_TYPE, f"A body of type {named[:100]!r} is not read here: send {wanted}."
    )


def parse_json(raw: bytes) -> Any:
    """Return the JSON value of `raw`.

    Raises:
        RefusedError: no JSON, not UTF-8, `NaN` or infinite numbers, or nested too deeply.
    """
    try:
        return json.loads(raw, parse_constant=_no_constant)
    except RecursionError as error:
        raise RefusedError(
            ProblemKind.BAD_REQUEST, "The body is nested too deeply: send plain records."
        ) from error
    except json.JSONDecodeError as error:
        raise RefusedError(
            ProblemKind.BAD_REQUEST,
            f"The body is not JSON (line {error.lineno}, column {error.colno}: {error.msg}): correct it.",
        ) from error
    except ValueError as error:
        raise RefusedError(
            ProblemKind.BAD_REQUEST, "The body is not JSON in UTF-8 with finite numbers: correct it."
        ) from error


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


async def read_shape(request: Request, shape: type[BodyShape]) -> BodyShape:
    """Return the JSON body as `shape`.

    Raises:
        RefusedError: another media type, too large, no JSON, or not of this shape.
    """
    return shaped(TypeAdapter(shape), parse_json(await read_json(request)))


async def read_json(request: Request) -> bytes:
    """Return the body of a request that must be JSON, not parsed yet: large ones are parsed off the loop.

    Raises:
        RefusedError: another media type, or too large.
    """
    named = media_type(request)
    if not is_json(named):
        raise unsupported(named, "application/json")
    return await read_body(request)


def shaped(shape: TypeAdapter[Value], value: Any) -> Value:
    """Return the JSON `value` as `shape`.

    Raises:
        RefusedError: it is not of this shape; the document names the fields.
    """
    try:
        return shape.validate_python(value)
    except ValidationError as error:
        problem = invalid_input(error.errors(include_url=False, include_input=False))
        raise RefusedError(problem.kind, problem.detail, problem.errors) from error
