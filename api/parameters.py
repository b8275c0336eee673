"""Owns the parameters routes have in common: times, limits, cursors, the project of the path, `as_of`.

It is not bodies (those are `api.bodies`). Wrong values become problem documents that name the parameter.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any

from fastapi import Depends, Path, Query, Request
from pydantic import AfterValidator, BeforeValidator, WithJsonSchema

from api.problems import ProblemKind, RefusedError
from graphmem import Memory, Project
from graphmem.errors import NotFoundError
from graphmem.instant import from_iso
from graphmem.model import FieldProblem

DEFAULT_LIMIT = 20
MOST_ITEMS = 200
_LAST_MOMENT = from_iso("9998-12-31")
# In a query an unescaped `+` arrives as a blank, which a time with an offset does not survive.
_BLANK_OFFSET = re.compile(r" (\d\d:?\d\d)$")


def moment(value: Any) -> Any:
    """Return the epoch seconds of an ISO 8601 text; None stays None.

    Raises:
        ValueError: not a text, no ISO 8601 time, or outside 1970 to 9998.
    """
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError("give an ISO 8601 time such as 2026-05-01T12:00:00Z")
    try:
        at = from_iso(_BLANK_OFFSET.sub(r"+\1", value))
    except (ValueError, OverflowError) as error:
        raise ValueError("give an ISO 8601 time such as 2026-05-01T12:00:00Z") from error
    if not 0.0 <= at <= _LAST_MOMENT:
        raise ValueError("give a time between 1970 and 9998")
    return at


_MOMENT_SCHEMA = WithJsonSchema({"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]})
Moment = Annotated[float | None, BeforeValidator(moment), _MOMENT_SCHEMA]
Limit = Annotated[int, Query(ge=1, le=MOST_ITEMS, description="how many at most")]
Cursor = Annotated[str | None, Query(max_length=1_000, description="`next_cursor` of the page before")]
Since = Annotated[Moment, Query(description="from this time on, ISO 8601")]
Until = Annotated[Moment, Query(description="before this time, ISO 8601")]
AsOf = Annotated[Moment, Query(description="answer from what was known at this time, ISO 8601")]


def within(least: int, most: int) -> AfterValidator:
    """Bound a number, with both ends in the refusal; the OpenAPI document is told by the parameter itself."""

    def check(number: int) -> int:
        if not least <= number <= most:
            raise ValueError(f"must be {least} to {most}")
        return number

    return AfterValidator(check)


def some_of(kind: type[StrEnum]) -> BeforeValidator:
    """Read a parameter that is repeated, or a list with commas, as values of `kind`, each once."""
    allowed = ", ".join(kind)

    def read(value: Any) -> Any:
        if not isinstance(value, Sequence) or isinstance(value, str):
            return value
        words = [word.strip() for item in value for word in str(item).split(",")]
        strange = next((word for word in words if word not in set(kind)), None)
        if strange is not None:
            raise ValueError(f"give one or more of {allowed}")
        return [kind(word) for word in dict.fromkeys(words)]

    return BeforeValidator(read)


async def memory_of(request: Request) -> Memory:
    """Return the memory this service keeps."""
    memory: Memory = request.app.state.memory
    return memory


MemoryHere = Annotated[Memory, Depends(memory_of)]
Slug = Annotated[str, Path(description="the project's slug", max_length=200)]


def project_of(memory: Memory, slug: str) -> Project:
    """Return the project with this slug; asks the registry, so call it off the event loop.

    Raises:
        NotFoundError: no project has this slug.
    """
    # The facade also takes folders; over HTTP a project is named by its slug only.
    if "/" in slug:
        raise NotFoundError(f"{slug!r} is not a slug: GET /v1/projects lists those there are.")
    return memory.project(slug)


async def refuse_as_of(request: Request) -> None:
    """Refuse `as_of` on a route that can only answer from the present.

    Raises:
        RefusedError: the parameter is there.
    """
    if "as_of" in request.query_params:
        raise as_of_refused()


def as_of_refused() -> RefusedError:
    """Return the refusal of an `as_of` that would not be honoured."""
    sentence = (
        "This route answers from the present only: leave out `as_of`, or ask impact, observations, edges, "
        "dependents or dependencies."
    )
    return RefusedError(ProblemKind.NOT_HONOURED, sentence, [FieldProblem("as_of", sentence)])


PRESENT_ONLY = [Depends(refuse_as_of)]
