"""A model that was whole when it was loaded and fails at a question: the closed form answers, said once."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graphmem import ranking_model
from graphmem.chronicler import Chronicler
from graphmem.model import Observation
from graphmem.postings import Postings
from graphmem.ranking_card import CARD, FILES, file_of, read_card
from graphmem.ranking_model import FOLDER, PRESENT, RankingModel, why_absent
from graphmem.recall.predictor import LEAST_WORK, Asker, Predictions, predict

FILE_COUNT = 30


def failing(columns: int) -> bytes:
    """A model that answers for up to eight rows, and fails where there are more."""
    from onnx import TensorProto, helper

    floats, whole = TensorProto.FLOAT, TensorProto.INT64
    nodes = [
        helper.make_node("MatMul", ["rows", "weights"], ["scores"]),
        helper.make_node("Shape", ["rows"], ["shape"]),
        helper.make_node("Slice", ["shape", "start", "end"], ["count"]),
        helper.make_node("Gather", ["places", "count"], ["place"]),
        helper.make_node("Add", ["scores", "place"], ["sums"]),
    ]
    held = [
        helper.make_tensor("weights", floats, [columns, 1], [1.0] * columns),
        helper.make_tensor("start", whole, [1], [0]),
        helper.make_tensor("end", whole, [1], [1]),
        helper.make_tensor("places", floats, [9], [0.0] * 9),
    ]
    taken = helper.make_tensor_value_info("rows", floats, [None, columns])
    given = helper.make_tensor_value_info("sums", floats, None)
    made = helper.make_graph(nodes, "few", [taken], [given], held)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    content: bytes = model.SerializeToString()
    return content


@pytest.fixture
def process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A process whose models are those that fail, which has loaded and said nothing yet."""
    contents = {
        file_of(role, told): failing(len(PRESENT.names(told)))
        for role in ("order", "chance")
        for told in (False, True)
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    digests = {name: hashlib.sha256(contents[name]).hexdigest() for name in FILES}
    card = replace(read_card(FOLDER), digests=digests)
    (tmp_path / CARD).write_text(card.as_json(), encoding="utf-8")
    monkeypatch.setattr(ranking_model, "FOLDER", tmp_path)
    monkeypatch.setattr(ranking_model, "_LOADED", type(ranking_model._LOADED)())
    return tmp_path


def work(number: int) -> Observation:
    files = tuple(f"src/f{(number + step) % FILE_COUNT}.py" for step in range(4))
    return Observation(f"o{number}", f"s{number}", 1e9 + number * 1e4, title="cart", files_modified=files)


def asked(memory: Any, words: tuple[str, ...] = ()) -> Predictions:
    with Postings(memory.database, Chronicler().at).view() as view:
        file = view.file("src/f1.py")
        assert file is not None
        return predict(view, [file], Asker(2e9, None, words), 20)


@pytest.mark.parametrize("words", [(), ("cart",)], ids=["plain", "with a task"])
def test_the_closed_form_answers_where_a_model_fails_at_a_question_and_that_is_said_once(
    recorded: Callable[..., Any], process: Path, caplog: pytest.LogCaptureFixture, words: tuple[str, ...]
) -> None:
    memory = recorded(*map(work, range(LEAST_WORK + 20)))
    assert RankingModel.load() is not None
    with caplog.at_level(logging.WARNING):
        first, second = asked(memory, words), asked(memory, words)
    assert not first.is_ranked
    assert first.ranked
    assert [entry.file.path for entry in second.ranked] == [entry.file.path for entry in first.ranked]
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 1
    assert "can't be run" in said[0]
    assert str(process) in said[0]
    assert why_absent() == said[0]
