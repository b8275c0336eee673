"""Owns how answers leave a route: the shape as JSON, and the error shapes that the OpenAPI document names.

It is not the shapes (`api.schemas`) nor the problems (`api.problems`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from starlette.responses import Response

from api.problems import MEDIA_TYPE, ProblemKind
from api.schemas import Shape

REFERENCE = "#/components/schemas/{model}"
_ALWAYS = (ProblemKind.SIGNED_OUT, ProblemKind.FOREIGN, ProblemKind.FAULT, ProblemKind.UNAVAILABLE)
BODY = (ProblemKind.BAD_REQUEST, ProblemKind.TOO_LARGE, ProblemKind.MEDIA_TYPE, ProblemKind.INVALID)


def answer(shape: Shape, status: int = 200) -> Response:
    """Return `shape` as a JSON response; built once, without the framework's second validation."""
    return Response(
        shape.model_dump_json(), status, {"Cache-Control": "no-store"}, media_type="application/json"
    )


def problems(*kinds: ProblemKind, always: Iterable[ProblemKind] = _ALWAYS) -> dict[int | str, dict[str, Any]]:
    """Return the error answers of a route for the OpenAPI document: its own and those every route has."""
    content = {MEDIA_TYPE: {"schema": {"$ref": REFERENCE.format(model="ProblemOut")}}}
    found: dict[int | str, dict[str, Any]] = {}
    for kind in sorted({*kinds, *always}, key=lambda kind: (kind.status, kind)):
        known = found.setdefault(kind.status, {"description": kind.heading, "content": content})
        if kind.heading not in known["description"]:
            known["description"] += f"; {kind.heading[0].lower()}{kind.heading[1:]}"
    return found


def json_body(
    *shapes: type[BaseModel],
    list_of: type[BaseModel] | None = None,
    others: Mapping[str, dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """Return the OpenAPI entry of a request body: one of `shapes` as JSON, or an array of `list_of`.

    `others` are what is taken besides, by media type.
    """
    choices: list[dict[str, Any]] = [_reference(shape) for shape in shapes]
    if list_of is not None:
        choices.append({"type": "array", "items": _reference(list_of)})
    schema = choices[0] if len(choices) == 1 else {"anyOf": choices}
    return {
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": schema}, **(others or {})},
        }
    }


def _reference(shape: type[BaseModel]) -> dict[str, Any]:
    return {"$ref": REFERENCE.format(model=shape.__name__)}


def component_schemas(shapes: Iterable[type[BaseModel]]) -> dict[str, Any]:
    """Return the JSON schemas of incoming shapes by name, for the document's components."""
    _, definitions = models_json_schema([(shape, "validation") for shape in shapes], ref_template=REFERENCE)
    found: dict[str, Any] = definitions.get("$defs", {})
    return found
