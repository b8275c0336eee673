"""Owns the routes that take, list, show, judge and forget observations.

It is not validation: what an observation may hold is decided by `graphmem.capture.intake`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response

from api.answers import BODY, answer, json_body, problems
from api.bodies import MOST_OBSERVATIONS, is_json, media_type, parse_json, read_body, read_shape, unsupported
from api.bodies_retention import ObservationVerdictIn
from api.observation_xml import read_observations
from api.parameters import (
    DEFAULT_LIMIT,
    PRESENT_ONLY,
    AsOf,
    Cursor,
    Limit,
    MemoryHere,
    Since,
    Slug,
    Until,
    project_of,
)
from api.problems import ProblemKind, RefusedError
from api.schemas import ObservationPageOut, ReceiptOut
from api.schemas_retention import JudgedObservationOut
from graphmem import Project
from graphmem.capture.intake import ObservationIn
from graphmem.model import ObservationFilter, Receipt

router = APIRouter(prefix="/v1/projects/{project}/observations", tags=["observations"])

VISIBLE_SECONDS = 30.0
_XML_TYPES = frozenset({"application/xml", "text/xml"})
Wait = Literal["visible", "vectors"]
ObservationId = Annotated[str, Path(description="the client's id where one was given", max_length=1_000)]
Name = Annotated[str | None, Query(max_length=8_192)]


@router.post(
    "",
    summary="Store observations",
    status_code=201,
    response_model=ReceiptOut,
    dependencies=PRESENT_ONLY,
    responses=problems(*BODY, ProblemKind.NOT_HONOURED, ProblemKind.NOT_FOUND, ProblemKind.STORAGE),
    openapi_extra=json_body(
        ObservationIn,
        others={
            "application/xml": {"schema": {"type": "string", "description": "claude-mem's <observation>"}}
        },
    ),
)
async def store(
    request: Request,
    memory: MemoryHere,
    project: Slug,
    wait: Annotated[Wait | None, Query(description="answer only when questions see them")] = None,
) -> Response:
    """Store one observation, or an array of up to 1,000; durable before the answer.

    Sent twice under the same id, one is stored once. In an array the good ones are stored and the refused
    listed by index; a single one that is refused is a 422.
    """
    named = media_type(request)
    if not is_json(named) and named not in _XML_TYPES:
        raise unsupported(named, "application/json or application/xml")
    raw = await read_body(request)
    shape = await run_in_threadpool(_stored, memory, project, named, raw, wait)
    request.app.state.counters.observations(shape.accepted, shape.duplicates, len(shape.rejected))
    return answer(shape, 201)


def _stored(memory: MemoryHere, slug: str, named: str, raw: bytes, wait: Wait | None) -> ReceiptOut:
    project = project_of(memory, slug)
    items, is_batch = _items(named, raw)
    if len(items) > MOST_OBSERVATIONS:
        raise RefusedError(
            ProblemKind.TOO_LARGE,
            f"{len(items)} observations are more than the {MOST_OBSERVATIONS} a request may hold: "
            "send them in smaller batches.",
        )
    receipt = project.observe(items)
    if not is_batch and receipt.rejected:
        raise _refused(receipt)
    shape = ReceiptOut.of(receipt)
    return shape.model_copy(update={"notes": [*shape.notes, *_waited(project, wait)]})


def _items(named: str, raw: bytes) -> tuple[Sequence[Mapping[str, Any]], bool]:
    if named in _XML_TYPES:
        return read_observations(raw)
    value = parse_json(raw)
    match value:
        case list():
            return value, True
        case dict():
            return [value], False
    raise RefusedError(
        ProblemKind.INVALID, "The body is neither an observation nor an array of them: send a JSON object."
    )


def _refused(receipt: Receipt) -> RefusedError:
    errors = receipt.rejected[0].errors
    named = ", ".join(dict.fromkeys(f"`{error.field}`" for error in errors))
    return RefusedError(
        ProblemKind.INVALID, f"The observation was not stored because of {named}: see `errors`.", errors
    )


def _waited(project: Project, wait: Wait | None) -> list[str]:
    if wait is None:
        return []
    notes = []
    if not project.wait_visible(VISIBLE_SECONDS):
        notes.append(f"stored, but not yet visible to questions after {VISIBLE_SECONDS:.0f} s")
    if wait == "vectors" and not project.wait_vectors(VISIBLE_SECONDS):
        why = project.vectors_behind() or "there is no model that makes vectors"
        notes.append(f"stored, but without all vectors: {why}")
    return notes


@router.get(
    "",
    summary="List observations, newest first",
    response_model=ObservationPageOut,
    responses=problems(ProblemKind.NOT_FOUND, ProblemKind.INVALID),
)
def list_observations(
    memory: MemoryHere,
    project: Slug,
    file: Name = None,
    concept: Name = None,
    session: Name = None,
    type: Name = None,
    since: Since = None,
    until: Until = None,
    as_of: AsOf = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Response:
    """Return a page of observations that match every filter given; a file is also found by earlier names."""
    where = ObservationFilter(
        file=file, concept=concept, session=session, type=type, since=since, until=until, as_of=as_of
    )
    page = project_of(memory, project).observations(where, limit, cursor)
    return answer(ObservationPageOut.of(page))


@router.get(
    "/{id:path}",
    summary="Show one observation",
    response_model=JudgedObservationOut,
    dependencies=PRESENT_ONLY,
    responses=problems(ProblemKind.NOT_HONOURED, ProblemKind.NOT_FOUND),
)
def show(memory: MemoryHere, project: Slug, id: ObservationId) -> Response:
    """Return the observation with this id, whole, with the verdicts on it."""
    return answer(_judged(project_of(memory, project), id))


@router.post(
    "/{id:path}/verdict",
    summary="Judge an observation",
    response_model=JudgedObservationOut,
    dependencies=PRESENT_ONLY,
    responses=problems(
        *BODY, ProblemKind.NOT_HONOURED, ProblemKind.NOT_FOUND, ProblemKind.CONFLICT, ProblemKind.STORAGE
    ),
    openapi_extra=json_body(ObservationVerdictIn),
)
async def judge(request: Request, memory: MemoryHere, project: Slug, id: ObservationId) -> Response:
    """Confirm that the observation holds, or take that back; confirming twice is no change."""
    body = await read_shape(request, ObservationVerdictIn)

    def store() -> JudgedObservationOut:
        found = project_of(memory, project)
        found.keeping.judge([body.saying(id)])
        return _judged(found, id)

    return answer(await run_in_threadpool(store))


def _judged(project: Project, id: str) -> JudgedObservationOut:
    return JudgedObservationOut.of_judged(project.observation(id), project.keeping.said(id))


@router.delete(
    "/{id:path}",
    summary="Forget an observation everywhere",
    status_code=204,
    response_class=Response,
    dependencies=PRESENT_ONLY,
    responses=problems(ProblemKind.NOT_HONOURED, ProblemKind.NOT_FOUND, ProblemKind.STORAGE),
)
def forget(memory: MemoryHere, project: Slug, id: ObservationId) -> Response:
    """Forget the observation; sent again under the same id it is a duplicate and stays forgotten."""
    project_of(memory, project).forget(id)
    return Response(status_code=204)
