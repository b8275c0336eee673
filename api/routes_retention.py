"""Owns the route that prunes a project: what its rules let go, shown first and taken out when asked.

It is not the rules (`graphmem.retention`), nor forgetting a single observation (`api.routes_observations`).
"""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response

from api.answers import BODY, answer, json_body, problems
from api.bodies import read_shape
from api.bodies_retention import RetentionIn
from api.parameters import PRESENT_ONLY, MemoryHere, Slug, project_of
from api.problems import ProblemKind
from api.schemas_retention import RetentionOut

router = APIRouter(prefix="/v1/projects/{project}", tags=["retention"], dependencies=PRESENT_ONLY)


@router.post(
    "/retention",
    summary="Prune by age and size",
    response_model=RetentionOut,
    responses=problems(
        *BODY,
        ProblemKind.NOT_HONOURED,
        ProblemKind.NOT_FOUND,
        ProblemKind.STORAGE,
        ProblemKind.UNAVAILABLE,
    ),
    openapi_extra=json_body(RetentionIn),
)
async def prune(request: Request, memory: MemoryHere, project: Slug) -> Response:
    """Say what the rules let go; with `dry_run` false forget it and give its room back to the disk."""
    body = await read_shape(request, RetentionIn)

    def store() -> RetentionOut:
        found = project_of(memory, project).keeping.prune(body.rules(), dry_run=body.dry_run)
        return RetentionOut.of_pruned(found)

    return answer(await run_in_threadpool(store))
