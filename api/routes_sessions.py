"""Owns the routes that list and show sessions: what each set out to do, did, and left open.

It is not the putting together of a session from its observations; that is recall's.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from starlette.responses import Response

from api.answers import answer, problems
from api.parameters import DEFAULT_LIMIT, PRESENT_ONLY, Cursor, Limit, MemoryHere, Slug, project_of
from api.problems import ProblemKind
from api.schemas import SessionOut, SessionPageOut

router = APIRouter(
    prefix="/v1/projects/{project}/sessions",
    tags=["sessions"],
    dependencies=PRESENT_ONLY,
    responses=problems(ProblemKind.NOT_HONOURED, ProblemKind.NOT_FOUND, ProblemKind.INVALID),
)


@router.get("", summary="List sessions, most recent first", response_model=SessionPageOut)
def list_sessions(
    memory: MemoryHere, project: Slug, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> Response:
    """Return a page of sessions."""
    return answer(SessionPageOut.of(project_of(memory, project).sessions(limit, cursor)))


@router.get("/{id:path}", summary="Show one session", response_model=SessionOut)
def show(memory: MemoryHere, project: Slug, id: Annotated[str, Path(max_length=1_000)]) -> Response:
    """Return what the session with this id set out to do, did, and left open."""
    return answer(SessionOut.of(project_of(memory, project).session(id)))
