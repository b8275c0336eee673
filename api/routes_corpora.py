"""Owns the routes of corpora: making, listing, reading and removing named filters, and questions in one.

It is not the filtering (`graphmem.recall.filtering`) nor the answering of questions (`api.routes_query`).
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response

from api.answers import BODY, answer, json_body, problems
from api.bodies import QueryIn, read_shape
from api.bodies_corpora import CorpusIn
from api.parameters import DEFAULT_LIMIT, PRESENT_ONLY, Cursor, Limit, MemoryHere, Slug, project_of, within
from api.problems import ProblemKind
from api.schemas_corpora import CorpusOut, CorpusPageOut, CorpusTextOut
from api.schemas_recall import SearchOut
from graphmem.project_corpora import DEFAULT_TOKENS
from graphmem.recall.knowledge import MOST_TOKENS

router = APIRouter(
    prefix="/v1/projects/{project}/corpora",
    tags=["corpora"],
    dependencies=PRESENT_ONLY,
    responses=problems(ProblemKind.NOT_HONOURED, ProblemKind.NOT_FOUND),
)

CorpusName = Annotated[str, Path(description="the corpus' name", max_length=200)]
Budget = Annotated[
    int,
    within(0, MOST_TOKENS),
    Query(
        description="how many tokens the text may take",
        json_schema_extra={"minimum": 0, "maximum": MOST_TOKENS},
    ),
]


@router.post(
    "",
    summary="Make a corpus",
    status_code=201,
    response_model=CorpusOut,
    responses=problems(*BODY, ProblemKind.CONFLICT, ProblemKind.STORAGE)
    | {200: {"model": CorpusOut, "description": "It is there already, with the same filter"}},
    openapi_extra=json_body(CorpusIn),
)
async def create(request: Request, memory: MemoryHere, project: Slug) -> Response:
    """Give a filter a name; 201 when it is new, 200 when it is there already with the same filter."""
    body = await read_shape(request, CorpusIn)

    def store() -> Response:
        corpora = project_of(memory, project).corpora
        corpus, is_new = corpora.create(body.name, body.filter.filters())
        return answer(CorpusOut.of_corpus(corpus, corpora.count(corpus)), 201 if is_new else 200)

    return await run_in_threadpool(store)


@router.get("", summary="List corpora", response_model=CorpusPageOut, responses=problems(ProblemKind.INVALID))
def list_corpora(
    memory: MemoryHere, project: Slug, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> Response:
    """Return a page of corpora by name, with how many pieces match each just now."""
    return answer(CorpusPageOut.of_page(project_of(memory, project).corpora.listed(limit, cursor)))


@router.get(
    "/{name}",
    summary="What a corpus says",
    response_model=CorpusTextOut,
    responses=problems(ProblemKind.INVALID),
)
def show(
    memory: MemoryHere, project: Slug, name: CorpusName, budget_tokens: Budget = DEFAULT_TOKENS
) -> Response:
    """Return what is known under the corpus' filter, as a text within the budget."""
    return answer(CorpusTextOut.of_text(project_of(memory, project).corpora.text(name, budget_tokens)))


@router.delete(
    "/{name}",
    summary="Remove a corpus",
    status_code=204,
    response_class=Response,
    responses=problems(ProblemKind.STORAGE),
)
def remove(memory: MemoryHere, project: Slug, name: CorpusName) -> Response:
    """Take the name and its filter out; what was recorded stays."""
    project_of(memory, project).corpora.remove(name)
    return Response(status_code=204)


@router.post(
    "/{name}/query",
    summary="Ask within a corpus",
    response_model=SearchOut,
    responses=problems(*BODY),
    openapi_extra=json_body(QueryIn),
)
async def query(request: Request, memory: MemoryHere, project: Slug, name: CorpusName) -> Response:
    """Answer as the project's query does, from what passes the corpus' filter and the question's own."""
    body = await read_shape(request, QueryIn)

    def ask() -> SearchOut:
        found = project_of(memory, project).corpora.query(name, body.question())
        return SearchOut.of_answer(found, explain=body.explain)

    return answer(await run_in_threadpool(ask))
