"""Owns the routes of corroboration: reading the project's code, and what the imports in it say of the edges.

It is not the reading (`graphmem.imports`) nor the comparison: these only pass them on.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from starlette.responses import Response

from api.answers import answer, problems
from api.faults import problem_response
from api.imports import Imports
from api.parameters import DEFAULT_LIMIT, PRESENT_ONLY, Limit, MemoryHere, Slug, project_of
from api.problems import ProblemKind
from api.routes_imports import FIRST_NEWS_SECONDS, MEDIA_TYPE, ImportAnswer
from api.schemas_code import CorroborationOut

router = APIRouter(
    prefix="/v1/projects/{project}/corroboration", tags=["corroboration"], dependencies=PRESENT_ONLY
)

_LONGEST = 8_192
_ASKED = (ProblemKind.NOT_HONOURED, ProblemKind.NOT_FOUND, ProblemKind.INVALID)

Within = Annotated[
    str | None,
    Query(min_length=1, max_length=_LONGEST, description="a file or folder that one end is or lies in"),
]


@router.get(
    "",
    summary="Which edges are seen in the code, and which are hidden",
    response_model=CorroborationOut,
    responses=problems(*_ASKED),
)
def corroboration(
    memory: MemoryHere, project: Slug, path: Within = None, limit: Limit = DEFAULT_LIMIT
) -> Response:
    """Return co-changing pairs without an import, and imports that never co-change, by the last reading."""
    return answer(CorroborationOut.of(project_of(memory, project).code.corroboration(path, limit)))


@router.post(
    "",
    summary="Read the imports in the project's code",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "Lines of JSON: `progress` lines, then one with the `report` or a `problem`",
            "content": {MEDIA_TYPE: {"schema": {"type": "string"}}},
        },
        **problems(*_ASKED, ProblemKind.SOURCE, ProblemKind.STORAGE, ProblemKind.UNAVAILABLE),
    },
)
async def corroborate(
    request: Request, memory: MemoryHere, project: Slug, path: Within = None, limit: Limit = DEFAULT_LIMIT
) -> Response:
    """Read which file imports which, as the code lies on the disk; a client that goes away stops it."""
    asked = await run_in_threadpool(project_of, memory, project)
    imports: Imports = request.app.state.imports
    read = partial(asked.code.read, path, limit)
    run = imports.start(lambda progress, stop: read(progress=progress, stop=stop))
    await run.first_news(FIRST_NEWS_SECONDS)
    if run.problem is not None:
        return problem_response(run.problem)
    return ImportAnswer(run)
