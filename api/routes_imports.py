"""Owns the route that imports a history through the running service, its progress streamed as it goes.

It is not the importers; see `api.imports` for how one runs and ends.
"""

from __future__ import annotations

import os

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from api.answers import BODY, json_body, problems
from api.bodies import ImportIn, read_shape
from api.faults import problem_response
from api.imports import ImportRun, Imports, Work
from api.parameters import PRESENT_ONLY, MemoryHere, Slug, project_of
from api.problems import ProblemKind
from graphmem import Project
from graphmem.errors import InvalidInputError

router = APIRouter(prefix="/v1/projects/{project}/imports", tags=["imports"], dependencies=PRESENT_ONLY)

MEDIA_TYPE = "application/x-ndjson"
FIRST_NEWS_SECONDS = 0.5


@router.post(
    "",
    summary="Import a history",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "Lines of JSON: `progress` lines, then one with the `report` or a `problem`",
            "content": {MEDIA_TYPE: {"schema": {"type": "string"}}},
        },
        **problems(
            *BODY,
            ProblemKind.NOT_HONOURED,
            ProblemKind.NOT_FOUND,
            ProblemKind.SOURCE,
            ProblemKind.STORAGE,
        ),
    },
    openapi_extra=json_body(ImportIn),
)
async def import_history(request: Request, memory: MemoryHere, project: Slug) -> Response:
    """Import from a git repository or a JSONL file on this machine; a client that goes away stops it.

    A source that can't be read is a problem by status when that shows at once, else by the last line.
    """
    body = await read_shape(request, ImportIn)
    if not os.path.isabs(body.location):
        raise InvalidInputError("The location is not absolute: give it in full.", "location")
    if body.source != "git" and (body.ref is not None or body.include):
        raise InvalidInputError("`ref` and `include` are for git only: leave them out.", "ref")
    imports: Imports = request.app.state.imports
    run = imports.start(_work(await run_in_threadpool(project_of, memory, project), body))
    await run.first_news(FIRST_NEWS_SECONDS)
    if run.problem is not None:
        return problem_response(run.problem)
    return ImportAnswer(run)


class ImportAnswer(StreamingResponse):
    """The lines of one import; it stops the import when its client goes away, before the first line too."""

    def __init__(self, run: ImportRun) -> None:
        super().__init__(run.lines(), media_type=MEDIA_TYPE, headers={"Cache-Control": "no-store"})
        self._run = run

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the lines."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._run.stop.set()


def _work(project: Project, body: ImportIn) -> Work:
    match body.source:
        case "git":
            return lambda progress, stop: project.import_git(
                body.location,
                ref=body.ref or "HEAD",
                include=tuple(body.include),
                progress=progress,
                stop=stop,
            )
        case "jsonl":
            return lambda progress, stop: project.import_jsonl(body.location, progress=progress, stop=stop)
