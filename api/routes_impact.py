"""Owns the routes that answer before an edit: what else changes when this file, or this set, does.

It is not scoring: the answer is recall's, these only pass it on.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response

from api.answers import BODY, answer, json_body, problems
from api.bodies import ImpactIn, read_shape
from api.parameters import AsOf, Limit, MemoryHere, Slug, project_of
from api.problems import ProblemKind
from api.schemas import ImpactOut

router = APIRouter(prefix="/v1/projects/{project}/impact", tags=["impact"])

IMPACT_LIMIT = 10
Name = Annotated[str | None, Query(max_length=1_000)]


@router.get(
    "",
    summary="What else changes with a file",
    response_model=ImpactOut,
    responses=problems(ProblemKind.NOT_FOUND, ProblemKind.INVALID),
)
def impact_of_file(
    memory: MemoryHere,
    project: Slug,
    path: Annotated[str, Query(min_length=1, max_length=8_192, description="absolute or from the root")],
    intent: Annotated[str | None, Query(max_length=65_536, description="the task in words")] = None,
    session: Name = None,
    actor: Name = None,
    branch: Name = None,
    as_of: AsOf = None,
    limit: Limit = IMPACT_LIMIT,
) -> Response:
    """Return the impact of editing one file; a file nobody knows is a 200 with status `unknown`."""
    found = project_of(memory, project).impact(
        [path], intent=intent, session=session, actor=actor, branch=branch, as_of=as_of, limit=limit
    )
    return answer(ImpactOut.of(found))


@router.post(
    "",
    summary="What else changes with a set of files",
    response_model=ImpactOut,
    responses=problems(*BODY, ProblemKind.NOT_FOUND),
    openapi_extra=json_body(ImpactIn),
)
async def impact_of_set(request: Request, memory: MemoryHere, project: Slug) -> Response:
    """Return one answer for all the files together: `path` is null, `paths` the list."""
    body = await read_shape(request, ImpactIn)

    def ask() -> ImpactOut:
        found = project_of(memory, project).impact(
            body.paths,
            intent=body.intent,
            session=body.session,
            actor=body.actor,
            branch=body.branch,
            as_of=body.as_of,
            limit=body.limit,
        )
        shape = ImpactOut.of(found)
        return shape if shape.path is None else shape.model_copy(update={"path": None, "paths": [shape.path]})

    return answer(await run_in_threadpool(ask))
