"""Owns the route that searches a project's texts and packs what it finds.

It is not the search; in this version only the text index answers, and the answer says so.
"""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response

from api.answers import BODY, answer, json_body, problems
from api.bodies import QueryIn, read_shape
from api.parameters import MOST_ITEMS, PRESENT_ONLY, MemoryHere, Slug, as_of_refused, project_of
from api.problems import ProblemKind
from api.schemas import SearchOut

router = APIRouter(prefix="/v1/projects/{project}/query", tags=["query"], dependencies=PRESENT_ONLY)


@router.post(
    "",
    summary="Search texts",
    response_model=SearchOut,
    responses=problems(*BODY, ProblemKind.NOT_HONOURED, ProblemKind.NOT_FOUND),
    openapi_extra=json_body(QueryIn),
)
async def query(request: Request, memory: MemoryHere, project: Slug) -> Response:
    """Return what matches the words, best first, and a context packed into `budget_tokens`."""
    body = await read_shape(request, QueryIn)
    if body.as_of is not None:
        raise as_of_refused()

    def ask() -> SearchOut:
        asked = project_of(memory, project)
        hits = asked.search(
            body.text,
            MOST_ITEMS if body.kinds else body.limit,
            since=body.since,
            until=body.until,
            types=tuple(body.types),
        )
        wanted = [hit for hit in hits if not body.kinds or hit.kind in body.kinds][: body.limit]
        return SearchOut.of_hits(
            wanted, budget_tokens=body.budget_tokens, explain=body.explain, degraded=asked.degraded()
        )

    return answer(await run_in_threadpool(ask))
