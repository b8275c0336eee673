"""The shape of a question's answer: one result an observation, nodes beside, nothing lost on the way."""

from __future__ import annotations

import json

from api.schemas_recall import SearchOut
from graphmem.graph import NodeType
from graphmem.question import Answer, FoundNode, Hop, Layer, Piece, PieceKind, Standing, Successor

HELD = Piece(
    1,
    0,
    "o1",
    PieceKind.FACT,
    "t",
    "TTL: 900",
    2.0,
    "api",
    1.23456,
    layer=Layer.DURABLE,
    parts={"words": 1.23456},
)
OWN = Piece(1, -1, "o1", PieceKind.HISTORY, "t", "what was done", 2.0, "api", 1.0, flags=("done",))
OLD = Piece(
    2,
    0,
    "o2",
    PieceKind.FACT,
    "u",
    "TTL is 3600",
    1.0,
    "git",
    0.5,
    Standing.SUPERSEDED,
    Successor("o1", "TTL: 900", 2.0),
)
NODE = FoundNode(
    NodeType.FILE,
    "file:a.ts",
    "a.ts",
    "likely",
    0.4,
    via=(Hop("file:b.ts", "file:a.ts", "co_changes", "e1"),),
)


def dumped(answer: Answer, *, explain: bool = False) -> dict[str, list[dict[str, object]]]:
    shape = SearchOut.of_answer(answer, explain=explain)
    found: dict[str, list[dict[str, object]]] = json.loads(shape.model_dump_json())
    return found


def test_the_pieces_of_one_observation_are_one_result_its_best_first() -> None:
    first, second = dumped(Answer((HELD, OLD, OWN), (), "", 0))["results"]
    assert (first["id"], first["text"], first["kind"], first["score"]) == ("o1", "TTL: 900", "fact", 1.2346)
    assert first["pieces"] == [
        {
            "text": "what was done",
            "kind": "observation",
            "score": 1.0,
            "status": "current",
            "superseded_by": None,
        }
    ]
    assert (second["status"], second["superseded_by"]) == ("superseded", "o1")
    assert first["layer"] == "durable" and first["at"] == "1970-01-01T00:00:02Z"


def test_a_node_tells_the_way_that_brought_it_in() -> None:
    (node,) = dumped(Answer((), (NODE,), "", 0))["results"]
    assert (node["type"], node["id"], node["kind"], node["source"]) == ("file", "file:a.ts", "file", None)
    assert node["via"] == [{"from": "file:b.ts", "to": "file:a.ts", "kind": "co_changes", "edge_id": "e1"}]


def test_nodes_come_first_where_the_question_was_for_them() -> None:
    for nodes_first, order in ((True, ["file:a.ts", "o1"]), (False, ["o1", "file:a.ts"])):
        results = dumped(Answer((HELD,), (NODE,), "", 0, None, nodes_first))["results"]
        assert [result["id"] for result in results] == order


def test_parts_of_a_score_are_shown_when_asked_for() -> None:
    assert dumped(Answer((HELD,), (), "", 0))["results"][0]["explain"] is None
    assert dumped(Answer((HELD,), (), "", 0), explain=True)["results"][0]["explain"] == {"words": 1.2346}


def test_an_answer_is_read_back_from_its_json() -> None:
    made = SearchOut.of_answer(Answer((HELD, OWN, OLD), (NODE,), "text", 1, "no model"), explain=True)
    assert SearchOut.model_validate_json(made.model_dump_json(by_alias=False)) == made
