"""Owns the routes about the service itself: health, metrics, signing in, its pages, the OpenAPI document.

It is not the guard: which of these need the token is decided in `api.guard`.
"""

from __future__ import annotations

import os
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from api import metrics
from api.answers import answer, problems
from api.doorkeeper import COOKIE_SECONDS, Doorkeeper
from api.lifecycle import service_url
from api.pages import first_page, routes_page
from api.parameters import PRESENT_ONLY, MemoryHere
from api.problems import ProblemKind, RefusedError
from api.schemas_service import ReadyOut, ServiceOut, SignInLinkOut
from graphmem.instant import to_iso

router = APIRouter(tags=["service"])

_OPEN = (ProblemKind.FOREIGN, ProblemKind.FAULT)


@router.get(
    "/healthz",
    summary="Whether the service lives",
    response_model=ServiceOut,
    responses=problems(ProblemKind.INVALID, always=_OPEN),
)
async def healthz(
    request: Request,
    nonce: Annotated[
        str | None, Query(max_length=200, description="answered with an HMAC by the token as `proof`")
    ] = None,
) -> Response:
    """Say who listens here. A client that holds the token too can check by `proof` that it is its own."""
    state = request.app.state
    keeper: Doorkeeper = state.doorkeeper
    return answer(
        ServiceOut(
            version=request.app.version,
            pid=os.getpid(),
            started_at=state.started_at,
            proof=None if nonce is None else keeper.proof(nonce),
        )
    )


@router.get(
    "/readyz",
    summary="Whether questions are taken",
    response_model=ReadyOut,
    responses=problems(ProblemKind.UNAVAILABLE, always=_OPEN),
)
async def readyz(request: Request) -> Response:
    """Say `ready`, or 503 while the service is stopping."""
    if request.app.state.stopping.is_set():
        raise RefusedError(ProblemKind.UNAVAILABLE, "The service is stopping: start it again, or wait.")
    return answer(ReadyOut(status="ready"))


@router.get(
    "/metrics",
    summary="Counters for Prometheus",
    response_class=Response,
    responses={
        200: {"description": "Prometheus text", "content": {"text/plain": {"schema": {"type": "string"}}}},
        **problems(),
    },
)
async def show_metrics(request: Request, memory: MemoryHere) -> Response:
    """Return the counters of this process in the text format Prometheus reads."""
    projects = len(await run_in_threadpool(memory.projects))
    return Response(request.app.state.counters.text(projects), media_type=metrics.MEDIA_TYPE)


@router.post(
    "/v1/links",
    summary="Make a one-time sign-in link",
    status_code=201,
    response_model=SignInLinkOut,
    dependencies=PRESENT_ONLY,
    responses=problems(ProblemKind.NOT_HONOURED),
)
async def make_link(request: Request) -> Response:
    """Return an address that signs a browser in, once, within two minutes; `graphmem open` uses it."""
    keeper: Doorkeeper = request.app.state.doorkeeper
    code, expires = keeper.new_code()
    return answer(
        SignInLinkOut(url=f"{service_url(keeper.port)}/open?code={code}", expires_at=to_iso(expires)), 201
    )


@router.get(
    "/open",
    summary="Sign a browser in by a one-time code",
    status_code=303,
    response_class=RedirectResponse,
    responses=problems(ProblemKind.SIGNED_OUT, ProblemKind.INVALID, always=_OPEN),
)
async def sign_in(request: Request, code: Annotated[str, Query(max_length=200)] = "") -> Response:
    """Take the code, give the cookie and lead on to `/docs`; a wrong or used code is a 401."""
    keeper: Doorkeeper = request.app.state.doorkeeper
    if not keeper.take_code(code):
        raise RefusedError(
            ProblemKind.SIGNED_OUT,
            "This sign-in link is wrong, used or too old: run `graphmem open` for a new one.",
        )
    response = RedirectResponse("/docs", 303, {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"})
    response.set_cookie(
        keeper.cookie_name, keeper.cookie_value(), COOKIE_SECONDS, path="/", httponly=True, samesite="strict"
    )
    return response


@router.get("/", summary="The first page", response_class=HTMLResponse, responses=problems())
async def index(request: Request) -> Response:
    """Return a page that says where to go."""
    return first_page(request.app.version)


@router.get(
    "/docs", summary="This documentation as a page", response_class=HTMLResponse, responses=problems()
)
async def docs(request: Request) -> Response:
    """Return every route and shape as one page that loads nothing from anywhere."""
    return routes_page(_document(request))


@router.get("/openapi.json", summary="This documentation as OpenAPI", responses=problems())
async def openapi(request: Request) -> JSONResponse:
    """Return the OpenAPI document."""
    return JSONResponse(_document(request))


def _document(request: Request) -> dict[str, Any]:
    document: dict[str, Any] = request.app.openapi()
    return document
