"""Owns the routes of the review queue: list edges, show one, judge one or many, declare one or many.

It is not what a verdict comes to, nor the scoring: these only pass questions and decisions on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response

from api.answers import BODY, answer, json_body, problems
from api.bodies import read_json, read_shape
from api.bodies_graph import DeclarationIn, VerdictIn, VerdictOnIn, read_declarations, read_verdicts
from api.parameters import (
    DEFAULT_LIMIT,
    PRESENT_ONLY,
    AsOf,
    Cursor,
    Limit,
    MemoryHere,
    Slug,
    project_of,
    some_of,
)
from api.problems import ProblemKind
from api.schemas_graph import EdgeListOut, EdgeOut, EdgePageOut
from graphmem.errors import InvalidInputError
from graphmem.graph import EdgeFilter, EdgeKind, EdgeOrder, EdgeStatus

router = APIRouter(prefix="/v1/projects/{project}/edges", tags=["edges"])

EdgeId = Annotated[str, Path(max_length=1_000, description="as the lists give it")]
Statuses = Annotated[
    list[EdgeStatus],
    some_of(EdgeStatus),
    Query(
        default_factory=lambda: [EdgeStatus.CANDIDATE],
        description="repeated, or with commas; candidates unless given",
    ),
]
Kinds = Annotated[
    list[EdgeKind],
    some_of(EdgeKind),
    Query(
        default_factory=list,
        description="repeated, or with commas; all but those with a concept unless given",
    ),
]
_PLACE = re.compile(r"^\w+\[(\d+)\]\.?")
_JUDGED = problems(
    *BODY,
    ProblemKind.NOT_HONOURED,
    ProblemKind.NOT_FOUND,
    ProblemKind.CONFLICT,
    ProblemKind.STORAGE,
    ProblemKind.UNAVAILABLE,
)


@router.get(
    "",
    summary="The review queue",
    response_model=EdgePageOut,
    responses=problems(ProblemKind.NOT_FOUND, ProblemKind.UNKNOWN_NAME, ProblemKind.INVALID),
)
def list_edges(
    memory: MemoryHere,
    project: Slug,
    status: Statuses,
    kind: Kinds,
    node: Annotated[
        str | None, Query(min_length=1, max_length=8_192, description="only edges of this node")
    ] = None,
    order: Annotated[EdgeOrder, Query(description="highest first")] = EdgeOrder.VALUE,
    as_of: AsOf = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Response:
    """Return a page of edges, by default the candidates whose verdict is worth most."""
    where = EdgeFilter(statuses=tuple(status), kinds=tuple(kind), node=node, order=order, as_of=as_of)
    return answer(EdgePageOut.of(project_of(memory, project).graph.edges(where, limit, cursor)))


@router.post(
    "",
    summary="Declare edges",
    status_code=201,
    response_model=EdgeOut | EdgeListOut,
    dependencies=PRESENT_ONLY,
    responses=problems(
        *BODY,
        ProblemKind.NOT_HONOURED,
        ProblemKind.UNKNOWN_NAME,
        ProblemKind.NOT_FOUND,
        ProblemKind.CONFLICT,
        ProblemKind.STORAGE,
        ProblemKind.UNAVAILABLE,
    ),
    openapi_extra=json_body(DeclarationIn, list_of=DeclarationIn),
)
async def declare(request: Request, memory: MemoryHere, project: Slug) -> Response:
    """Declare one edge, or an array of up to 5,000, all or none; they are confirmed from then on.

    One is answered with the edge, an array with `items` in its order.
    """
    raw = await read_json(request)

    def store() -> Response:
        declarations, is_batch = read_declarations(raw)
        with _placed_as_sent():
            edges = project_of(memory, project).graph.declare(declarations)
        return answer(EdgeListOut.of_edges(edges) if is_batch else EdgeOut.of(edges[0]), 201)

    return await run_in_threadpool(store)


@router.post(
    "/verdicts",
    summary="Judge many edges",
    response_model=EdgeListOut,
    dependencies=PRESENT_ONLY,
    responses=_JUDGED,
    openapi_extra=json_body(list_of=VerdictOnIn),
)
async def judge_many(request: Request, memory: MemoryHere, project: Slug) -> Response:
    """Store an array of verdicts, up to 5,000, all or none, and return the edges in its order."""
    raw = await read_json(request)

    def store() -> Response:
        decisions = read_verdicts(raw)
        with _placed_as_sent():
            edges = project_of(memory, project).graph.judge(decisions)
        return answer(EdgeListOut.of_edges(edges))

    return await run_in_threadpool(store)


@router.get(
    "/{id}",
    summary="Show one edge",
    response_model=EdgeOut,
    responses=problems(ProblemKind.NOT_FOUND, ProblemKind.INVALID),
)
def show(memory: MemoryHere, project: Slug, id: EdgeId, as_of: AsOf = None) -> Response:
    """Return the edge with its evidence, the parts of its score, and all verdicts on it."""
    return answer(EdgeOut.of(project_of(memory, project).graph.edge(id, as_of)))


@router.post(
    "/{id}/verdict",
    summary="Judge an edge",
    response_model=EdgeOut,
    dependencies=PRESENT_ONLY,
    responses=_JUDGED,
    openapi_extra=json_body(VerdictIn),
)
async def judge(request: Request, memory: MemoryHere, project: Slug, id: EdgeId) -> Response:
    """Confirm, reject, retire, or take the last verdict back; the same verdict twice is no change."""
    body = await read_shape(request, VerdictIn)

    def store() -> EdgeOut:
        (edge,) = project_of(memory, project).graph.judge([body.decision(id)])
        return EdgeOut.of(edge)

    return answer(await run_in_threadpool(store))


@contextmanager
def _placed_as_sent() -> Iterator[None]:
    """Name a refused field by its place in the array, `3.relation`, as faults of its shape are named."""
    try:
        yield
    except InvalidInputError as error:
        field = error.field and _PLACE.sub(r"\1.", error.field)
        raise type(error)(str(error), field, candidates=error.candidates) from error
