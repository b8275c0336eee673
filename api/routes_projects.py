"""Owns the routes that list and register projects, and a project's counts.

It is not identity: whether two folders are one project is decided by `graphmem.registry`.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response

from api.answers import BODY, answer, json_body, problems
from api.bodies import ProjectIn, read_shape
from api.parameters import DEFAULT_LIMIT, PRESENT_ONLY, Cursor, Limit, MemoryHere, Slug, project_of
from api.problems import ProblemKind
from api.schemas import ProjectOut, ProjectPageOut
from api.schemas_stats import StatsOut
from graphmem.errors import InvalidInputError, NotFoundError

router = APIRouter(prefix="/v1/projects", tags=["projects"], dependencies=PRESENT_ONLY)


@router.get(
    "",
    summary="List projects, by slug",
    response_model=ProjectPageOut,
    responses=problems(ProblemKind.NOT_HONOURED, ProblemKind.INVALID),
)
def list_projects(
    memory: MemoryHere,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
    path: Annotated[
        str | None, Query(max_length=8_192, description="only the project this absolute path is in")
    ] = None,
) -> Response:
    """Return a page of projects; with `path` the one project that holds it, or none."""
    if path is not None:
        return answer(ProjectPageOut(items=_holding(memory, path)))
    known = sorted(memory.projects(), key=lambda info: (info.slug, info.id))
    if cursor is not None:
        if all(info.slug != cursor for info in known):
            raise InvalidInputError("The cursor is not one of this list: begin again without it.", "cursor")
        known = [info for info in known if info.slug > cursor]
    page = known[:limit]
    return answer(
        ProjectPageOut(
            items=[ProjectOut.of(info) for info in page],
            next_cursor=page[-1].slug if len(known) > limit else None,
        )
    )


def _holding(memory: MemoryHere, path: str) -> list[ProjectOut]:
    if not path.startswith("/"):
        raise InvalidInputError("`path` is not absolute: give it in full.", "path")
    try:
        return [ProjectOut.of(memory.project(path).info)]
    except NotFoundError:
        return []


@router.post(
    "",
    summary="Register a project",
    status_code=201,
    response_model=ProjectOut,
    responses={
        200: {"model": ProjectOut, "description": "Known already"},
        **problems(*BODY, ProblemKind.NOT_HONOURED, ProblemKind.CONFLICT),
    },
    openapi_extra=json_body(ProjectIn),
)
async def register_project(request: Request, memory: MemoryHere) -> Response:
    """Make a repository or folder known; one that is known already, by its root's identity, is returned."""
    body = await read_shape(request, ProjectIn)
    project, created = await run_in_threadpool(memory.register, body.root, body.slug)
    info = await run_in_threadpool(lambda: project.info)
    return answer(ProjectOut.of(info), 201 if created else 200)


@router.get(
    "/{project}/stats",
    summary="Counts and sizes of a project",
    response_model=StatsOut,
    responses=problems(ProblemKind.NOT_HONOURED, ProblemKind.NOT_FOUND),
)
def stats(memory: MemoryHere, project: Slug) -> Response:
    """Return counts, sizes in bytes, alerts given, and how many observations the answers are behind."""
    return answer(StatsOut.of(project_of(memory, project).stats()))
