"""The outgoing shapes mirror the vocabulary, field by field, and survive the way through JSON."""

from __future__ import annotations

import dataclasses
import json

import pytest

from api import schemas, schemas_stats
from graphmem import figures, model

EVIDENCE = model.Evidence(7, 9, 5, 1_777_636_800.0, ("turn-81",))
SCORE = model.SignalScores(0.123456, 0.2, 0.0)
AFFECTED = model.Affected(
    "b.ts", 0.712345678, model.Tier.LIKELY, EVIDENCE, SCORE, ("co_changes",), model.Noise.LOCK
)
RECORDS = {
    schemas.ProjectOut: model.ProjectInfo("id", "shop", "/src/shop", ("/src/shop",), 1.0, 3),
    schemas.ObservationOut: model.Observation(
        id="o1",
        session="s1",
        at=1_777_636_800.25,
        facts=(model.Fact("x", model.FactKind.TASK, model.TaskState.OPEN, model.Scope.ACTOR),),
        renames=(model.Rename("a", "b"),),
        notes=("cut",),
    ),
    schemas.ReceiptOut: model.Receipt(
        1, 2, (model.Rejection(0, (model.FieldProblem("at", "too late"),)),), ("o1",), ("note",)
    ),
    schemas.ImpactOut: model.Impact(
        path="a.ts",
        status=model.FileStatus.KNOWN,
        reason=None,
        warning="mind b.ts",
        as_of=1_777_636_800.0,
        affected=(AFFECTED,),
        next=(model.NextFile("c.ts", 0.33333333),),
        active=(model.ActiveSession("s2", "mei", "a.ts", 2.0),),
        recent=model.Recent(
            30, 1, (model.Domain("auth", 1, 3.0),), (model.RecentObservation("o1", "t", 4.0, ("auth",)),)
        ),
        contracts=(model.ContractUse("GET /x", ("checkout",), 5.0, "GET /y"),),
        concepts=("auth",),
    ),
    schemas.LinkOut: model.Link("a.ts", "b.ts", 0.5, EVIDENCE),
    schemas.SessionOut: model.SessionSummary(
        "s1", "mei", "api", "main", 1.0, 2.0, 3, "do it", ("a.ts",), ("done",), ("left",)
    ),
    schemas_stats.StatsOut: figures.ProjectStats(1, 2, 3, 4, 5, 6, None, 2.0, 7, 8, 9, 10, 11, 12),
    schemas.ImportReportOut: model.ImportReport("git", "/x", left_out=(("vendored", 3),), remarks=("r",)),
}  # fmt: skip


@pytest.mark.parametrize("shape", RECORDS, ids=lambda shape: shape.__name__)
def test_a_shape_holds_every_field_of_its_record(shape: type[schemas.Shape]) -> None:
    record = RECORDS[shape]
    dumped = shape.of(record).model_dump(mode="json")
    assert dataclasses.is_dataclass(record)
    assert dumped.keys() >= {field.name for field in dataclasses.fields(record)}
    assert json.loads(json.dumps(dumped)) == dumped


@pytest.mark.parametrize("shape", RECORDS, ids=lambda shape: shape.__name__)
def test_a_shape_is_read_back_from_its_json(shape: type[schemas.Shape]) -> None:
    made = shape.of(RECORDS[shape])
    assert shape.model_validate_json(made.model_dump_json()) == made
    assert shape.model_validate(made.model_dump(mode="json")) == made


def test_times_are_iso_and_figures_have_four_digits() -> None:
    impact = schemas.ImpactOut.of(RECORDS[schemas.ImpactOut]).model_dump(mode="json")
    assert impact["as_of"] == "2026-05-01T12:00:00Z"
    first = impact["affected"][0]
    assert (first["probability"], first["score"]["file"]) == (0.7123, 0.1235)
    assert first["evidence"]["last_seen"] == "2026-05-01T12:00:00Z"
    assert (first["tier"], first["noise"]) == ("likely", "lock file")
    observation = schemas.ObservationOut.of(RECORDS[schemas.ObservationOut]).model_dump(mode="json")
    assert observation["at"] == "2026-05-01T12:00:00.250Z"
    assert observation["renames"] == [{"from": "a", "to": "b"}]
    assert schemas_stats.StatsOut.of(RECORDS[schemas_stats.StatsOut]).first_at is None
    report = schemas.ImportReportOut.of(RECORDS[schemas.ImportReportOut]).model_dump(mode="json")
    assert report["left_out"] == [{"reason": "vendored", "count": 3}]
