"""Owns the route that agent clients' hooks call: raw hook JSON in, that client's JSON out, and never a fault.

It is not what is answered (that is `graphmem.live`). A hook must not disturb the agent: whatever goes wrong
after the door is logged, and the client gets its empty answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import re
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import JSONResponse

from api.answers import problems
from api.bodies import read_body
from api.problems import ProblemKind
from graphmem.clients.roster import ADAPTERS
from graphmem.errors import GraphMemError, NotFoundError
from graphmem.live import Live
from graphmem.spool import counts

router = APIRouter(prefix="/hooks", tags=["hooks"])

_PATIENCE = 0.1
_DELIVERY = re.compile(r"[0-9a-f]{32}")
logger = logging.getLogger("graphmem.hooks")


@router.post(
    "/{client}",
    summary="Take an agent client's hook call",
    responses={
        200: {
            "description": "What the client is to print or take; `{}` says nothing",
            "content": {"application/json": {"schema": {"type": "object"}}},
        },
        **problems(ProblemKind.NOT_FOUND, ProblemKind.TOO_LARGE),
    },
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": "The hook's JSON as the client gives it",
            "content": {"application/json": {"schema": {"type": "object"}}},
        }
    },
)
async def take_hook(
    request: Request,
    client: Annotated[str, Path(max_length=60, description=f"one of {', '.join(sorted(ADAPTERS))}")],
) -> JSONResponse:
    """Record what happened and return what the agent is told, in the client's own JSON.

    A body that is no JSON object, and any fault of ours, are a 200 with `{}`: a hook must never disturb the
    agent.
    """
    live: Live | None = request.app.state.live
    body = await read_body(request)
    if client not in ADAPTERS:
        raise NotFoundError(
            f"There is no client {client!r}; known are {', '.join(sorted(ADAPTERS))}.",
            candidates=tuple(sorted(ADAPTERS)),
        )
    if live is None:
        return _said({})
    delivery = request.headers.get("x-graphmem-event", "")
    if not _DELIVERY.fullmatch(delivery):
        delivery = secrets.token_hex(16)
    async with _in_turn(request.app.state.hooks_in_turn):
        return _said(
            await run_in_threadpool(
                _taken, live, client, body, delivery, _moment(request), _kept_out(request)
            )
        )


@asynccontextmanager
async def _in_turn(lock: asyncio.Lock) -> AsyncIterator[None]:
    """Let one call be worked out at a time: several at once only hold each other up.

    One that takes long, as where a project is opened first, is passed by the others.
    """
    mine = False
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_PATIENCE):
            mine = await lock.acquire()
    try:
        yield
    finally:
        if mine:
            lock.release()


def _taken(
    live: Live, client: str, body: bytes, delivery: str, at: float | None, kept_out: dict[str, int]
) -> dict[str, object]:
    try:
        raw = json.loads(body)
    except (ValueError, RecursionError):
        logger.warning("a hook call of %s was no JSON and was passed over", client)
        return {}
    if not isinstance(raw, dict):
        logger.warning("a hook call of %s was no JSON object and was passed over", client)
        return {}
    try:
        return live.receive(client, raw, delivery, at, kept_out)
    except GraphMemError as error:
        logger.warning("a hook call of %s was answered with nothing: %s", client, error)
    except Exception:  # a hook must not disturb the agent, whatever befalls us
        logger.exception("a hook call of %s was answered with nothing", client)
    return {}


def _moment(request: Request) -> float | None:
    try:
        return float(request.headers["x-graphmem-at"])
    except (KeyError, ValueError):
        return None


def _kept_out(request: Request) -> dict[str, int]:
    """Return the counts of what the hook program took out of an event that it sent reduced."""
    try:
        return counts(json.loads(request.headers.get("x-graphmem-redacted", "{}")))
    except (ValueError, RecursionError):
        return {}


def _said(answer: dict[str, Any]) -> JSONResponse:
    return JSONResponse(answer, headers={"Cache-Control": "no-store"})
