"""The shipped ranking models: what is whole runs on one thread, what is not is left alone and said once."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphmem import ranking_model
from graphmem.ranking_card import (
    CARD,
    FILES,
    VERSION,
    Card,
    Columns,
    Curve,
    UnusableModelError,
    file_of,
    read_card,
)
from graphmem.ranking_model import FOLDER, PRESENT, RankingModel, open_model, switch, why_absent

COLUMNS = Columns(("geom", "heat"), ("titles",))
CURVE = Curve((0.1, 0.9), (0.05, 0.8))
# What nine of ten changes that held both files say, all of it: part of it alone is nothing that happens.
TOGETHER = ("geom", "geom_share", "geom_actor", "firm", "seldom_year", "seldom_half_year", "plain_quarter")
TOGETHER += ("confidence", "npmi", "weighted")
WEIGHTS = {"order.onnx": (1.0, 2.0), "order-task.onnx": (1.0, 2.0, 4.0)}
WEIGHTS |= {"chance.onnx": (1.0, -1.0), "chance-task.onnx": (1.0, -1.0, 0.5)}


def graph(weights: tuple[float, ...], operator: str = "MatMul") -> bytes:
    """A model that sums up columns by weights, in the format of the shipped ones."""
    from onnx import TensorProto, helper

    count = len(weights)
    floats = TensorProto.FLOAT
    held = helper.make_tensor("weights", floats, [count, 1], weights)
    node = helper.make_node(operator, ["rows", "weights"], ["scores"])
    taken = helper.make_tensor_value_info("rows", floats, [None, count])
    given = helper.make_tensor_value_info("scores", floats, None)
    made = helper.make_graph([node], "sum", [taken], [given], [held])
    versions = [helper.make_opsetid("", 15)]
    model = helper.make_model(made, opset_imports=versions, ir_version=8)
    content: bytes = model.SerializeToString()
    return content


def write(folder: Path, contents: dict[str, bytes]) -> None:
    """Write models with a card that describes them, whatever they are."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    card = Card(
        version=VERSION,
        made=date(2026, 2, 1),
        cutoff=date(2026, 1, 1),
        columns=COLUMNS,
        digests={name: hashlib.sha256(content).hexdigest() for name, content in contents.items()},
        curves=(CURVE, CURVE),
        figures={},
    )
    (folder / CARD).write_text(card.as_json(), encoding="utf-8")


@pytest.fixture
def whole() -> dict[str, bytes]:
    return {name: graph(weights) for name, weights in WEIGHTS.items()}


@pytest.fixture
def folder(tmp_path: Path, whole: dict[str, bytes]) -> Path:
    place = tmp_path / "ranker"
    write(place, whole)
    return place


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process as one that has loaded nothing and said nothing yet."""
    monkeypatch.setattr(ranking_model, "_LOADED", type(ranking_model._LOADED)())


# ---- whole models --------------------------------------------------------------------------------


def test_each_model_answers_for_its_own_columns(folder: Path) -> None:
    model = open_model(folder, COLUMNS)
    rows = np.array([[1, 2, 3], [0, -1, 5], [4, 0, 0]], np.float32)
    assert model.columns(False) == ("geom", "heat")
    assert model.columns(True) == ("geom", "heat", "titles")
    assert model.order(rows[:, :2], False).tolist() == [5.0, -2.0, 4.0]
    assert model.order(rows, True).tolist() == [17.0, 18.0, 4.0]
    assert model.chance(rows, True) == pytest.approx(1 / (1 + np.exp(-np.array([0.5, 3.5, 4.0]))), abs=1e-6)
    assert model.curve(False) == CURVE


def test_no_rows_have_no_scores_and_far_ones_stay_in_bounds(folder: Path) -> None:
    model = open_model(folder, COLUMNS)
    assert model.order(np.zeros((0, 2), np.float32), False).shape == (0,)
    far = np.array([[3e8, 0], [-3e8, 0]], np.float32)
    assert model.chance(far, False).tolist() == [1.0, 0.0]


def test_a_process_loads_once_whoever_asks_first(folder: Path, process: None) -> None:
    found: list[RankingModel | None] = []
    asking = [
        threading.Thread(target=lambda: found.append(RankingModel.load(folder, COLUMNS))) for _ in range(8)
    ]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert len(found) == 8
    assert found[0] is not None
    assert len({id(model) for model in found}) == 1


def test_threads_that_ask_together_get_the_answers_they_would_get_alone(folder: Path) -> None:
    model = open_model(folder, COLUMNS)
    rows = np.arange(4_000, dtype=np.float32).reshape(-1, 2)
    alone = model.order(rows, False).tolist()
    found: list[list[float]] = []
    asking = [
        threading.Thread(target=lambda: found.append(model.order(rows, False).tolist())) for _ in range(8)
    ]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert found == [alone] * 8


def test_an_answer_is_worked_out_on_the_asking_thread_alone(folder: Path) -> None:
    code = f"""
import os, pathlib
import numpy as np
from graphmem.ranking_card import Columns
from graphmem.ranking_model import open_model
import onnxruntime
count = lambda: len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 1
before = count()
model = open_model(pathlib.Path({str(folder)!r}), Columns({COLUMNS.plain!r}, {COLUMNS.task!r}))
model.order(np.ones((50_000, 2), np.float32), False)
print(count() - before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("0", "")


def test_the_library_is_imported_only_when_a_model_is_asked_for() -> None:
    code = "import sys, graphmem.ranking_model; print('onnxruntime' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("False", "")


def test_models_that_are_not_wanted_are_not_looked_for(folder: Path, process: None) -> None:
    switch(False)
    assert RankingModel.load(folder, COLUMNS) is None
    assert "switched off" in (why_absent(folder, COLUMNS) or "")
    switch(True)
    assert RankingModel.load(folder, COLUMNS) is not None
    assert why_absent(folder, COLUMNS) is None


# ---- models that are no such thing ---------------------------------------------------------------

Spoil = Callable[[Path, dict[str, bytes]], None]


def rewritten(**changes: object) -> Spoil:
    """The card with other values for some of its keys."""

    def spoil(folder: Path, contents: dict[str, bytes]) -> None:
        card = json.loads((folder / CARD).read_text(encoding="utf-8"))
        (folder / CARD).write_text(json.dumps({**card, **changes}), encoding="utf-8")

    return spoil


def curved(said: list[float], came_true: list[float]) -> Spoil:
    """The card with such curves."""
    return rewritten(curves={key: {"said": said, "came_true": came_true} for key in ("plain", "task")})


def replaced(name: str, content: Callable[[bytes], bytes], described: bool) -> Spoil:
    """A model's file with other content, which the card may describe as if it had to be so."""

    def spoil(folder: Path, contents: dict[str, bytes]) -> None:
        other = content(contents[name])
        if described:
            write(folder, {**contents, name: other})
        else:
            (folder / name).write_bytes(other)

    return spoil


def without(name: str) -> Spoil:
    return lambda folder, contents: (folder / name).unlink()


def as_folder(name: str) -> Spoil:
    def spoil(folder: Path, contents: dict[str, bytes]) -> None:
        (folder / name).unlink()
        (folder / name).mkdir()

    return spoil


def text(content: str) -> Spoil:
    return lambda folder, contents: (folder / CARD).write_text(content, encoding="utf-8") and None


NOISE = np.random.default_rng(5).bytes(5_000)
BAD: dict[str, tuple[Spoil, str]] = {
    "no card": (without(CARD), "card.json is missing"),
    "a folder for a card": (as_folder(CARD), "card.json can't be read"),
    "an empty card": (text(""), "card.json can't be read"),
    "half a card": (text('{"version": 1, "columns"'), "card.json can't be read"),
    "a deep card": (text("[" * 100_000), "card.json can't be read"),
    "a list for a card": (text("[1]"), "its version is None"),
    "a card of nothing but a version": (text('{"version": 1}'), "card.json is not whole"),
    "a later version": (rewritten(version=VERSION + 1), f"its version is {VERSION + 1}"),
    "a version in words": (rewritten(version="1"), "its version is '1'"),
    "no such day": (rewritten(made="2026-02-30"), "card.json is not whole"),
    "columns that are no names": (rewritten(columns={"plain": [1, 2], "task": []}), "is not whole"),
    "columns in another order": (
        rewritten(columns={"plain": ["heat", "geom"], "task": ["titles"]}),
        "made for other columns",
    ),
    "fewer columns": (rewritten(columns={"plain": ["geom"], "task": ["titles"]}), "made for other columns"),
    "no digests": (rewritten(sha256={}), "card.json is not whole"),
    "no curves": (rewritten(curves={}), "card.json is not whole"),
    "a curve that falls": (
        curved([0.1, 0.2], [0.5, 0.4]),
        "card.json is not whole",
    ),
    "a curve of no numbers": (
        curved([0.1], [float("nan")]),
        "card.json is not whole",
    ),
    "no model": (without("chance-task.onnx"), "chance-task.onnx is missing"),
    "a folder for a model": (as_folder("order.onnx"), "order.onnx can't be read"),
    "a truncated model": (replaced("order.onnx", lambda b: b[:-20], False), "not the file that its card"),
    "a model with one bit turned": (
        replaced("chance.onnx", lambda b: b[:40] + bytes([b[40] ^ 1]) + b[41:], False),
        "not the file that its card",
    ),
    "an empty model": (replaced("order.onnx", lambda b: b"", False), "not the file that its card"),
    "an empty model that is described": (replaced("order.onnx", lambda b: b"", True), "can't be run"),
    "random bytes that are described": (replaced("order.onnx", lambda b: NOISE, True), "can't be run"),
    "a truncated model that is described": (replaced("order.onnx", lambda b: b[:-20], True), "can't be run"),
    "another number of columns": (
        replaced("order.onnx", lambda b: graph((1.0, 2.0, 3.0)), True),
        "order.onnx does not take 2 columns",
    ),
    "scores that are no numbers": (
        replaced("chance-task.onnx", lambda b: graph((float("nan"), 1.0, 1.0)), True),
        "gives scores that are no numbers",
    ),
    "endless scores": (
        replaced("order-task.onnx", lambda b: graph((float("inf"), 1.0, 1.0)), True),
        "gives scores that are no numbers",
    ),
    "an answer of another shape": (
        replaced("order.onnx", lambda b: graph((1.0, 2.0), "Gemm").replace(b"Gemm", b"Rows"), True),
        "can't be run",
    ),
    "more scores than rows": (
        replaced("order.onnx", lambda b: wide(), True),
        "does not give one score for each row",
    ),
    "an operator that nobody knows": (
        replaced("order.onnx", lambda b: graph((1.0, 2.0), "Divine"), True),
        "can't be run",
    ),
}


def wide() -> bytes:
    """A model that gives back its rows, two scores for each."""
    from onnx import TensorProto, helper

    taken = helper.make_tensor_value_info("rows", TensorProto.FLOAT, [None, 2])
    given = helper.make_tensor_value_info("scores", TensorProto.FLOAT, None)
    made = helper.make_graph([helper.make_node("Identity", ["rows"], ["scores"])], "same", [taken], [given])
    versions = [helper.make_opsetid("", 15)]
    content: bytes = helper.make_model(made, opset_imports=versions, ir_version=8).SerializeToString()
    return content


@pytest.mark.parametrize("kind", BAD)
def test_what_is_not_as_it_should_be_is_left_alone_and_said_once(
    kind: str, folder: Path, whole: dict[str, bytes], process: None, caplog: pytest.LogCaptureFixture
) -> None:
    spoil, cause = BAD[kind]
    spoil(folder, whole)
    with caplog.at_level(logging.INFO, logger="graphmem"):
        assert [RankingModel.load(folder, COLUMNS) for _ in range(3)] == [None] * 3
    reason = why_absent(folder, COLUMNS)
    assert [record.getMessage() for record in caplog.records] == [reason]
    assert reason is not None
    assert cause in reason
    assert reason.endswith("so the closed form ranks; install GraphMem again.")
    assert reason.count("\n") == 0


def test_without_the_library_the_remedy_is_to_install_it(
    folder: Path, process: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert RankingModel.load(folder, COLUMNS) is None
    assert (why_absent(folder, COLUMNS) or "").endswith("install it with `pip install onnxruntime`.")


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(None, id="a folder that an uninstallation left behind"),
        pytest.param("", id="another package of that name"),
        pytest.param("def InferenceSession(", id="a file cut off"),
        pytest.param("import numpy; numpy.core.no_such_name", id="built for another numpy"),
        pytest.param("raise RuntimeError('no such processor')", id="a start that fails"),
    ],
)
def test_a_library_that_is_none_gives_no_model_and_one_sentence(
    folder: Path, tmp_path: Path, source: str | None
) -> None:
    package = tmp_path / "installed" / "onnxruntime"
    package.mkdir(parents=True)
    if source is not None:
        (package / "__init__.py").write_text(source, encoding="utf-8")
    code = f"""
import importlib.machinery, pathlib, sys
from graphmem.ranking_card import Columns
from graphmem.ranking_model import RankingModel, why_absent
class Installed(importlib.machinery.PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name == "onnxruntime":
            return importlib.machinery.PathFinder.find_spec(name, [{str(package.parent)!r}])
sys.meta_path.insert(0, Installed)
asked = pathlib.Path({str(folder)!r}), Columns({COLUMNS.plain!r}, {COLUMNS.task!r})
print(RankingModel.load(*asked))
print(why_absent(*asked))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    answer, _, reason = done.stdout.strip().partition("\n")
    assert (done.returncode, answer) == (0, "None"), done.stderr
    assert "onnxruntime" in reason and "closed form ranks; install it" in reason
    assert "\n" not in reason and done.stderr.count("\n") == 1


def test_a_second_fault_of_a_process_is_told_to_who_asks_and_not_logged(
    tmp_path: Path, process: None, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("one", "two"):
        assert RankingModel.load(tmp_path / name, COLUMNS) is None
        assert str(tmp_path / name) in (why_absent(tmp_path / name, COLUMNS) or "")
    assert len(caplog.records) == 1


# ---- what is shipped -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shipped() -> Iterator[Any]:
    return read_card(FOLDER)


def test_the_shipped_files_are_those_of_the_card(shipped: Card) -> None:
    held = {name: hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() for name in FILES}
    assert held == shipped.digests
    assert {path.name for path in FOLDER.iterdir()} == {CARD, *FILES}


def test_the_card_says_when_of_what_and_how_good(shipped: Card) -> None:
    assert shipped.columns == PRESENT
    assert shipped.cutoff <= shipped.made
    assert shipped.figures["histories"]
    page = (Path(ranking_model.__file__).parents[1] / "docs" / "model-card.md").read_text(encoding="utf-8")
    assert shipped.made.isoformat() in page
    assert shipped.cutoff.isoformat() in page
    assert "Apache-2.0" in page


def test_the_shipped_models_run_and_tell_strong_evidence_from_none() -> None:
    model = open_model(FOLDER, PRESENT)
    for with_task in (False, True):
        columns = model.columns(with_task)
        rows = np.zeros((2, len(columns)), np.float32)
        rows[:, columns.index("geom_best")] = 0.9
        rows[:, columns.index("query_changes")] = np.log1p(10.0)
        for name in {*TOGETHER, "geom_told"} & set(columns):
            rows[1, columns.index(name)] = 0.9
        rows[1, columns.index("together")] = np.log1p(9.0)
        rows[1, columns.index("same_folder")] = 1.0
        assert np.diff(model.order(rows, with_task))[0] > 0
        assert np.diff(model.chance(rows, with_task))[0] > 0
        curve = model.curve(with_task)
        assert curve.came_true[-1] > 0.5


def test_the_library_of_the_models_leaves_nothing_in_the_temporary_folder(tmp_path: Path) -> None:
    # What it leaves there is of its own telling its makers that it runs.
    program = "from graphmem.ranking_model import RankingModel; print(RankingModel.load() is not None)"
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(ranking_model.__file__).parents[1],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == "True"
    assert list(tmp_path.iterdir()) == []


def test_names_of_files_follow_what_the_models_are_for() -> None:
    assert {file_of(role, told) for role in ("order", "chance") for told in (False, True)} == set(FILES)


def test_a_fault_names_its_cause_and_a_remedy() -> None:
    fault = UnusableModelError("card.json is missing")
    assert (fault.cause, fault.remedy) == ("card.json is missing", "install GraphMem again")
