"""Owns the last word on errors: every one leaves as a problem document, and the unforeseen are logged.

It is not the kinds and sentences (those are in `api.problems`). The boundary is pure ASGI and outermost.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic_core import ErrorDetails
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.problems import (
    MEDIA_TYPE,
    Problem,
    ProblemKind,
    RefusedError,
    problem_of,
    problem_of_status,
)
from graphmem.errors import GraphMemError
from graphmem.model import FieldProblem

logger = logging.getLogger("graphmem.service")

_PLACES = ("body", "query", "path", "header")
_MOST_ERRORS = 100
_MOST_NAMES = 20
_METHODS = ("DELETE", "GET", "PATCH", "POST", "PUT")


def problem_response(problem: Problem) -> Response:
    """Return the response that carries the problem document."""
    headers = {"Cache-Control": "no-store"}
    if problem.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="graphmem"'
    if problem.status == 503:
        headers["Retry-After"] = "1"
    return Response(
        problem.document().model_dump_json(), problem.status, headers=headers, media_type=MEDIA_TYPE
    )


def invalid_input(errors: Sequence[ErrorDetails]) -> Problem:
    """Return the problem that lists what a shape's validation found, without repeating what was sent.

    Of a batch of thousands the first faults tell the rest.
    """
    fields = tuple(
        FieldProblem(_field(error["loc"]), f"{error['msg'].removeprefix('Value error, ')}.")
        for error in errors[:_MOST_ERRORS]
    )
    names = list(dict.fromkeys(f"`{field.field}`" for field in fields))
    named = ", ".join(names[:_MOST_NAMES])
    if len(names) > _MOST_NAMES or len(errors) > _MOST_ERRORS:
        named += " and others"
    return Problem(ProblemKind.INVALID, f"{named} can't be used as sent: see `errors`.", fields)


def _field(location: Sequence[int | str]) -> str:
    parts = location[1:] if location and location[0] in _PLACES else location
    return ".".join(str(part) for part in parts) or "body"


def install(app: FastAPI) -> None:
    """Make `app` answer every foreseen error with its problem document."""

    async def foreseen(request: Request, error: Exception) -> Response:
        match error:
            case RefusedError():
                return problem_response(error.problem)
            case RequestValidationError():
                return problem_response(invalid_input(error.errors()))
            case GraphMemError():
                return problem_response(_told(problem_of(error), error))
            case HTTPException():
                return _of_framework(request, error)
            case _:
                raise error

    for kind in (RefusedError, RequestValidationError, GraphMemError, HTTPException):
        app.add_exception_handler(kind, foreseen)


def _told(problem: Problem, error: GraphMemError) -> Problem:
    if problem.status >= 500:
        logger.error("%s", error, exc_info=error)
    return problem


def _of_framework(request: Request, error: HTTPException) -> Response:
    match error.status_code:
        case 404:
            detail = f"There is no route {request.url.path}: see /docs for those there are."
        case 405:
            allowed = _allowed(request)
            detail = (
                f"{request.method} is not allowed on {request.url.path}: use {allowed.replace(', ', ' or ')}."
            )
        case _:
            detail = str(error.detail)
    response = problem_response(problem_of_status(error.status_code, detail))
    response.headers.update(error.headers or {})
    if error.status_code == 405:
        response.headers["Allow"] = _allowed(request)
    return response


def _allowed(request: Request) -> str:
    """Return the methods this path has a route for; the framework names those of the first alone."""
    return ", ".join(
        method
        for method in _METHODS
        if any(
            route.matches({**request.scope, "method": method})[0] is Match.FULL
            for route in request.app.routes
        )
    )


class Boundary:
    """The outermost middleware: an unforeseen error is a bare 500 outside, and whole in the log."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and catch what nobody below foresaw."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def noted_send(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, noted_send)
        except ClientDisconnect:
            return
        except Exception:
            logger.exception("%s %s failed", scope["method"], scope["path"])
            if started:
                # The status is out already: only a broken connection can still say that this is no answer.
                raise
            problem = Problem(
                ProblemKind.FAULT,
                "GraphMem met a fault of its own: look into the home's folder logs, and please report it.",
            )
            await problem_response(problem)(scope, receive, send)
