"""Owns the routes that show a project at large: its modules, the digest, what deserves a look.

It is not the service's own health (`/healthz`, in `api.routes_service`).
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from api.answers import answer, problems
from api.parameters import DEFAULT_LIMIT, PRESENT_ONLY, Cursor, Limit, MemoryHere, Slug, project_of, within
from api.problems import ProblemKind
from api.schemas_graph import HealthOut, ModuleOut, ModulePageOut, OverviewOut

router = APIRouter(
    prefix="/v1/projects/{project}",
    tags=["modules"],
    dependencies=PRESENT_ONLY,
    responses=problems(ProblemKind.NOT_HONOURED, ProblemKind.NOT_FOUND, ProblemKind.INVALID),
)

DIGEST_TOKENS = 200
_FEWEST_TOKENS = 50
_MOST_TOKENS = 4_000
_MOST_LEVEL = 10

Level = Annotated[
    int,
    within(0, _MOST_LEVEL),
    Query(
        description="0, or 1 for the parts of large ones",
        json_schema_extra={"minimum": 0, "maximum": _MOST_LEVEL},
    ),
]
Budget = Annotated[
    int,
    within(_FEWEST_TOKENS, _MOST_TOKENS),
    Query(
        description="how many tokens the text may take",
        json_schema_extra={"minimum": _FEWEST_TOKENS, "maximum": _MOST_TOKENS},
    ),
]


@router.get("/modules", summary="List modules, the largest first", response_model=ModulePageOut)
def list_modules(
    memory: MemoryHere, project: Slug, level: Level = 0, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> Response:
    """Return a page of the communities of files and concepts."""
    return answer(ModulePageOut.of(project_of(memory, project).graph.modules(level, limit, cursor)))


@router.get("/modules/{id}", summary="Show one module", response_model=ModuleOut)
def show_module(memory: MemoryHere, project: Slug, id: Annotated[str, Path(max_length=1_000)]) -> Response:
    """Return the module with its members, what it is about, and where it came from."""
    return answer(ModuleOut.of(project_of(memory, project).graph.module(id)))


@router.get("/overview", summary="The project in few words", response_model=OverviewOut)
def overview(memory: MemoryHere, project: Slug, budget_tokens: Budget = DIGEST_TOKENS) -> Response:
    """Return the digest: modules with their state, work in progress, and counts of what is wrong."""
    return answer(OverviewOut.of(project_of(memory, project).graph.overview(budget_tokens)))


@router.get("/health", summary="What deserves a look", response_model=HealthOut)
def health(memory: MemoryHere, project: Slug, limit: Limit = DEFAULT_LIMIT) -> Response:
    """Return dead files, cycles, orphans, oversized modules and stale edges; the counts are whole."""
    return answer(HealthOut.of(project_of(memory, project).graph.health(limit)))
