"""Owns the routes that say and set whether agents' work is recorded, by project and by session.

It is not the recording, nor the hooks' own route: a switch only stops what comes in from then on.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response

from api.answers import BODY, answer, json_body, problems
from api.bodies import CaptureIn, read_shape
from api.parameters import PRESENT_ONLY, MemoryHere, Slug, project_of
from api.problems import ProblemKind
from api.schemas_capture import CaptureOut

router = APIRouter(prefix="/v1/projects/{project}/capture", tags=["capture"], dependencies=PRESENT_ONLY)


@router.get(
    "",
    summary="Whether agents' work is recorded",
    response_model=CaptureOut,
    responses=problems(ProblemKind.NOT_HONOURED, ProblemKind.NOT_FOUND, ProblemKind.INVALID),
)
def show(
    memory: MemoryHere,
    project: Slug,
    session: Annotated[
        str | None, Query(min_length=1, max_length=1_000, description="of this session, too")
    ] = None,
) -> Response:
    """Return whether work is recorded: neither the project nor the named session is switched off."""
    return answer(CaptureOut(enabled=project_of(memory, project).captures(session), session=session))


@router.put(
    "",
    summary="Switch recording on or off",
    response_model=CaptureOut,
    responses=problems(*BODY, ProblemKind.NOT_HONOURED, ProblemKind.NOT_FOUND, ProblemKind.STORAGE),
    openapi_extra=json_body(CaptureIn),
)
async def switch(request: Request, memory: MemoryHere, project: Slug) -> Response:
    """Switch recording for the project, or for one session; what is recorded already stays."""
    body = await read_shape(request, CaptureIn)

    def store() -> bool:
        found = project_of(memory, project)
        found.set_capturing(body.enabled, body.session)
        return found.captures(body.session)

    return answer(CaptureOut(enabled=await run_in_threadpool(store), session=body.session))
