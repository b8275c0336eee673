"""Owns the route that answers a question in words: search, expansion along the graph, packed context.

It is not the search (that is `graphmem.recall.inquiry`).
"""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response

from api.answers import BODY, answer, json_body, problems
from api.bodies import QueryIn, read_shape
from api.parameters import PRESENT_ONLY, MemoryHere, Slug, project_of
from api.problems import ProblemKind
from api.schemas_recall import SearchOut

router = APIRouter(prefix="/v1/projects/{project}/query", tags=["query"], dependencies=PRESENT_ONLY)


@router.post(
    "",
    summary="Ask in words",
    response_model=SearchOut,
    responses=problems(*BODY, ProblemKind.NOT_HONOURED, ProblemKind.NOT_FOUND),
    openapi_extra=json_body(QueryIn),
)
async def query(request: Request, memory: MemoryHere, project: Slug) -> Response:
    """Return what answers, best first, and a context packed into `budget_tokens`."""
    body = await read_shape(request, QueryIn)

    def ask() -> SearchOut:
        found = project_of(memory, project).query(body.question())
        return SearchOut.of_answer(found, explain=body.explain)

    return answer(await run_in_threadpool(ask))
