"""The shapes of the graph mirror its vocabulary, have the interface's names, and survive JSON."""

from __future__ import annotations

import dataclasses
import json

import pytest

from api import schemas_graph as shapes
from api.schemas import ImpactOut, Shape
from graphmem import graph, model
from graphmem.drift import ChangedFile, Drift, LostContract, OutdatedConsumer
from graphmem.graph import NodeType

AT = 1_777_636_800.0
EVIDENCE = model.Evidence(7, 9, 5, AT, ("turn-81",))
TOKEN = graph.Node(NodeType.FILE, "src/auth/token.ts")
SESSION = graph.Node(NodeType.FILE, "src/checkout/session.ts", model.FileStatus.GONE)
EDGE = graph.Edge(
    id="5f0c",
    kind=graph.EdgeKind.CO_CHANGES,
    source=TOKEN,
    target=SESSION,
    status=graph.EdgeStatus.CONFIRMED,
    origin=graph.Origin.INFERRED,
    probability=0.712345678,
    value=1.83456789,
    evidence=EVIDENCE,
    score=model.SignalScores(0.123456, 0.2, 0.0),
    updated_at=AT,
    relation=graph.Relation.DEPENDS_ON,
    direction=graph.Direction.BACKWARD,
    verdicts=(
        graph.Verdict(
            3, "5f0c", graph.VerdictKind.CONFIRM, graph.Relation.DEPENDS_ON, graph.Direction.BACKWARD,
            "same format", "mei", AT, 7,
        ),
    ),
    reason="the file is gone",
    similar=("a81e",),
)  # fmt: skip
NEIGHBOUR = graph.Neighbour(SESSION, 0.5, "5f0c", EVIDENCE)
MODULE = graph.Module(
    "m-1", "auth / jwt", 0, None, 2, (TOKEN, SESSION), "Fix it.", ("src/auth/token.ts",), ("GET /x",),
    ("turn-81",), 0.82, AT,
)  # fmt: skip
RECORDS: dict[type[Shape], object] = {
    shapes.NodeOut: TOKEN,
    shapes.EdgeOut: EDGE,
    shapes.EdgePageOut: graph.EdgePage((EDGE,), "next"),
    shapes.DependentsOut: graph.Dependents(
        TOKEN, False, "undecided", (graph.Dependent(SESSION, 2, ("5f0c", "a81e")),), (NEIGHBOUR,),
        (NEIGHBOUR,), (), "the graph is away",
    ),
    shapes.LinkPathsOut: graph.LinkPaths(
        TOKEN, SESSION, (graph.LinkPath(0.71, (EDGE,), (TOKEN, SESSION)),), True, None
    ),
    shapes.ModuleOut: MODULE,
    shapes.ModulePageOut: graph.ModulePage((MODULE,), None, 3),
    shapes.OverviewOut: graph.Overview(
        "two modules", 3, (graph.ModuleState("m-1", "auth / jwt", 2, AT, "active", ("rotate",)),), ("x",)
    ),
    shapes.HealthOut: graph.Health(
        graph.HealthCounts(1, 1, 1, 1, 1), (SESSION,), ((TOKEN, SESSION),), (TOKEN,),
        (graph.ModuleName("m-1", "auth / jwt"),), (EDGE,), Drift(
            {"changed_files": 1}, (ChangedFile(TOKEN, 2, 5, 1.0),), (LostContract("POST /login", 2.0),),
            (OutdatedConsumer(TOKEN, "POST /v1/login", "POST /v2/login", 3.0),), (EDGE,), (SESSION,), "main",
            complete=False,
        ),
    ),
}  # fmt: skip
OTHER_NAMES = {"source": "from", "target": "to"}


@pytest.mark.parametrize("shape", RECORDS, ids=lambda shape: shape.__name__)
def test_a_shape_of_the_graph_holds_every_field_of_its_record(shape: type[Shape]) -> None:
    record = RECORDS[shape]
    dumped = shape.of(record).model_dump(mode="json")
    assert dataclasses.is_dataclass(record)
    names = {OTHER_NAMES.get(field.name, field.name) for field in dataclasses.fields(record)}
    assert dumped.keys() >= names
    assert json.loads(json.dumps(dumped)) == dumped


@pytest.mark.parametrize("shape", RECORDS, ids=lambda shape: shape.__name__)
def test_a_shape_of_the_graph_is_read_back_from_its_json(shape: type[Shape]) -> None:
    made = shape.of(RECORDS[shape])
    assert shape.model_validate_json(made.model_dump_json()) == made
    assert shape.model_validate(made.model_dump(mode="json")) == made


def test_an_edge_has_the_names_and_values_of_the_interface() -> None:
    edge = shapes.EdgeOut.of(EDGE).model_dump(mode="json")
    assert edge["from"] == {
        "ref": "file:src/auth/token.ts", "type": "file", "name": "src/auth/token.ts", "status": "known",
    }  # fmt: skip
    assert edge["to"]["status"] == "gone"
    assert (edge["kind"], edge["status"], edge["origin"]) == ("co_changes", "confirmed", "inferred")
    assert (edge["relation"], edge["direction"], edge["proposed_relation"]) == (
        "depends_on",
        "backward",
        None,
    )
    assert (edge["probability"], edge["value"], edge["updated_at"]) == (
        0.7123,
        1.8346,
        "2026-05-01T12:00:00Z",
    )
    assert edge["verdicts"] == [
        {"verdict": "confirm", "by": "mei", "at": "2026-05-01T12:00:00Z", "note": "same format",
         "relation": "depends_on", "direction": "backward"}
    ]  # fmt: skip
    assert edge["evidence"]["of"] == 9


def test_a_run_of_the_inference_says_what_became_of_edges() -> None:
    run = graph.Inferred(created=4, updated=1, retired=2, modules=3, took_ms=31.23456)
    assert shapes.InferOut.of_run(run).model_dump(mode="json") == {
        "edges": {"created": 4, "updated": 1, "retired": 2}, "modules": 3, "took_ms": 31.2346,
        "degraded": None,
    }  # fmt: skip


def test_an_impact_names_the_module_of_its_file() -> None:
    impact = model.Impact(
        path="a.ts", status=model.FileStatus.KNOWN, reason=None, warning=None, as_of=AT,
        module=graph.ModuleName("m-1", "auth / jwt"),
    )  # fmt: skip
    assert ImpactOut.of(impact).model_dump(mode="json")["module"] == {"id": "m-1", "label": "auth / jwt"}
