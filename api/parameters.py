"""Owns the parameters routes have in common: times, limits, cursors, the project of the path, `as_of`.

It is not bodies (those are `api.bodies`). Wrong values become problem documents that name the parameter.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import Depends, Path, Query, Request
from pydantic import BeforeValidator, WithJsonSchema

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
    sentence = "This route answers from the present only: leave out `as_of`, or ask impact or observations."
    return RefusedError(ProblemKind.NOT_HONOURED, sentence, [FieldProblem("as_of", sentence)])


PRESENT_ONLY = [Depends(refuse_as_of)]
