"""Owns the routes that walk the graph: what depends on a node, why two are linked; and `/infer`.

It is not the walking: that is done below, over confirmed relations only.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from api.answers import answer, problems
from api.parameters import (
    DEFAULT_LIMIT,
    PRESENT_ONLY,
    AsOf,
    Limit,
    MemoryHere,
    Slug,
    project_of,
    within,
)
from api.problems import ProblemKind
from api.schemas_graph import DependentsOut, InferOut, LinkPathsOut

router = APIRouter(prefix="/v1/projects/{project}", tags=["graph"])

MOST_HOPS = 3
_LONGEST = 8_192
_NODE = "a node reference, or the path of a file"
_WALKED = problems(ProblemKind.NOT_FOUND, ProblemKind.UNKNOWN_NAME, ProblemKind.INVALID)

Node = Annotated[str, Query(min_length=1, max_length=_LONGEST, description=_NODE)]
Depth = Annotated[
    int,
    within(1, MOST_HOPS),
    Query(description="how many hops", json_schema_extra={"minimum": 1, "maximum": MOST_HOPS}),
]


@router.get("/dependents", summary="What depends on a node", response_model=DependentsOut, responses=_WALKED)
def dependents(
    memory: MemoryHere,
    project: Slug,
    node: Node,
    depth: Depth = MOST_HOPS,
    limit: Limit = DEFAULT_LIMIT,
    as_of: AsOf = None,
) -> Response:
    """Return what depends on the node by confirmed relations, and its direct neighbours otherwise."""
    return answer(DependentsOut.of(project_of(memory, project).graph.dependents(node, depth, limit, as_of)))


@router.get(
    "/dependencies", summary="What a node depends on", response_model=DependentsOut, responses=_WALKED
)
def dependencies(
    memory: MemoryHere,
    project: Slug,
    node: Node,
    depth: Depth = MOST_HOPS,
    limit: Limit = DEFAULT_LIMIT,
    as_of: AsOf = None,
) -> Response:
    """Return what the node depends on by confirmed relations, and its direct neighbours otherwise."""
    return answer(DependentsOut.of(project_of(memory, project).graph.dependencies(node, depth, limit, as_of)))


@router.get(
    "/path",
    summary="Why two nodes are linked",
    response_model=LinkPathsOut,
    dependencies=PRESENT_ONLY,
    responses=problems(
        ProblemKind.NOT_HONOURED, ProblemKind.UNKNOWN_NAME, ProblemKind.NOT_FOUND, ProblemKind.INVALID
    ),
)
def path(
    memory: MemoryHere,
    project: Slug,
    source: Annotated[str, Query(alias="from", min_length=1, max_length=_LONGEST, description=_NODE)],
    target: Annotated[str, Query(alias="to", min_length=1, max_length=_LONGEST, description=_NODE)],
) -> Response:
    """Return up to three ways from one node to the other, each step with its evidence."""
    return answer(LinkPathsOut.of(project_of(memory, project).graph.path(source, target)))


@router.post(
    "/infer",
    summary="Suggest edges and form modules now",
    response_model=InferOut,
    dependencies=PRESENT_ONLY,
    responses=problems(
        ProblemKind.NOT_HONOURED, ProblemKind.NOT_FOUND, ProblemKind.STORAGE, ProblemKind.UNAVAILABLE
    ),
)
def infer(memory: MemoryHere, project: Slug) -> Response:
    """Run at once what otherwise runs by itself, and say what it changed."""
    return answer(InferOut.of_run(project_of(memory, project).graph.infer()))
