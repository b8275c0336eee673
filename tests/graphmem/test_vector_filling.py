"""Vectors in the background: whatever happens, they end as the passages' own, and forgotten ones are gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem import Memory, Project
from graphmem.captured import Batch
from graphmem.embedding.passages import passages
from graphmem.embedding.port import EmbedderError, Space, Tongue, Vectors
from graphmem.model import Fact, Observation

ROOT = Path(__file__).resolve().parents[2]


@dataclass(slots=True)
class WordModel:
    """A model whose vectors count the words of a text, each at a place of its own."""

    tongue: Tongue
    version: str = "1"
    gone: bool = False
    asked: int = 0
    space: Space = field(init=False)

    def __post_init__(self) -> None:
        self.space = Space(f"words-{self.tongue}", self.version, 64)

    def encode(self, texts: Sequence[str]) -> Vectors:
        if self.gone:
            raise EmbedderError("The model's file is missing; install it anew.")
        self.asked += len(texts)
        made = np.zeros((len(texts), 64), np.float32)
        for row, text in enumerate(texts):
            for word in f"{self.version} {text}".split():
                made[row, zlib.crc32(word.encode()) % 64] += 1.0
        return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)


@dataclass(slots=True)
class TwoModels:
    english: WordModel | None = field(default_factory=lambda: WordModel(Tongue.ENGLISH))
    many: WordModel | None = field(default_factory=lambda: WordModel(Tongue.MANY))
    degraded: str | None = None


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


@pytest.fixture
def models() -> TwoModels:
    return TwoModels()


@pytest.fixture
def memory(tmp_path: Path, models: TwoModels) -> Iterator[Memory]:
    with Memory(tmp_path / "home", embedders=models) as opened:
        yield opened


@pytest.fixture
def shop(memory: Memory, root: Path) -> Project:
    return memory.register(root)[0]


def item(id: str, title: str, **more: object) -> dict[str, object]:
    return {"id": id, "title": title, **more}


def found(project: Project, text: str) -> dict[tuple[int, int], float]:
    with project._access.use() as files:
        similar = files.vectors.similar(text)
    keys = zip(similar.seqs.tolist(), similar.ords.tolist(), strict=True)
    return dict(zip(keys, similar.scores.tolist(), strict=True))


def tell(project: Project, observation: Observation) -> None:
    """Store an observation as live capture does, in the place of what was told under its id before."""
    with project._access.use() as files:
        files.journal.captured.settle(Batch(observations=[observation]), observation.at)
        files.follower.notify()


def wanted(project: Project) -> set[tuple[int, int]]:
    return project._access.ask(lambda view, _: {(p.seq, p.ord) for p in passages(view)})


def files_of(home: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(home.rglob("vectors*")) if path.is_file())


def test_what_was_stored_is_found_by_what_it_says(shop: Project) -> None:
    shop.observe([item("a", "tokens expire", facts=["The limit is 30"]), item("b", "登录 页面")])
    assert shop.wait_vectors()
    assert shop.vectors_behind() is None
    assert found(shop, "1 tokens expire")[1, -1] > 0.9
    assert found(shop, "登录 页面")[2, -1] > 0.9
    assert set(found(shop, "tokens")) == wanted(shop) == {(1, -1), (1, 0), (2, -1)}


def test_a_forgotten_observation_is_not_in_the_files(
    shop: Project, memory: Memory, models: TwoModels
) -> None:
    shop.observe([item("a", "alpha beta gamma"), item("b", "delta")])
    assert shop.wait_vectors()
    assert models.english is not None
    row = models.english.encode(["alpha beta gamma"])[0].astype(np.float16).tobytes()
    assert row in files_of(memory.home.path)
    shop.forget("a")
    assert row not in files_of(memory.home.path)
    assert set(found(shop, "delta")) == {(2, -1)}


def test_what_is_still_being_worked_on_waits_until_it_settles(shop: Project, models: TwoModels) -> None:
    draft = Observation("a", "s1", 1.0, title="alpha draft", provisional=True)
    tell(shop, draft)
    assert shop.wait_vectors()
    assert found(shop, "alpha") == {}
    tell(shop, replace(draft, title="alpha settled", provisional=False))
    assert shop.wait_vectors()
    assert found(shop, "1 alpha settled")[1, -1] > 0.9


def test_a_model_that_is_gone_is_named_and_stops_nothing(shop: Project, models: TwoModels) -> None:
    assert models.english is not None
    models.english.gone = True
    shop.observe([item("a", "alpha")])
    assert not shop.wait_vectors()
    assert "missing; install it anew" in str(shop.vectors_behind())
    assert shop.search("alpha")
    models.english.gone = False
    with shop._access.use() as files:
        files.vectors.fault = None
    assert shop.wait_vectors()
    assert shop.vectors_behind() is None


def test_without_models_there_are_no_vectors_and_nobody_waits(tmp_path: Path, root: Path) -> None:
    with Memory(tmp_path / "home") as memory:
        shop, _ = memory.register(root)
        shop.observe([item("a", "alpha")])
        assert not shop.wait_vectors()
        assert found(shop, "alpha") == {}
        assert shop.vectors_behind() is None
    assert files_of(tmp_path / "home") == b""


def test_vectors_of_another_model_are_filled_anew(tmp_path: Path, root: Path) -> None:
    with Memory(tmp_path / "home", embedders=TwoModels()) as memory:
        shop, _ = memory.register(root)
        shop.observe([item("a", "alpha"), item("b", "beta")])
        assert shop.wait_vectors()
    newer = TwoModels(WordModel(Tongue.ENGLISH, "2"), WordModel(Tongue.MANY, "2"))
    with Memory(tmp_path / "home", embedders=newer) as memory:
        shop = memory.project("shop")
        assert shop.wait_vectors()
        assert found(shop, "alpha")[1, -1] == pytest.approx(1.0, abs=1e-2)
    assert sorted(path.name for path in (tmp_path / "home").rglob("*.f16")) == [
        "vectors-words-english-2-64.f16",
        "vectors-words-many-2-64.f16",
    ]


def test_a_restart_makes_no_vector_twice(tmp_path: Path, root: Path) -> None:
    models = TwoModels()
    for _ in range(2):
        with Memory(tmp_path / "home", embedders=models) as memory:
            shop, _ = memory.register(root)
            shop.observe([item("a", "alpha"), item("b", "beta")])
            assert shop.wait_vectors()
    assert models.english is not None
    assert models.english.asked == 2


def test_questions_are_answered_while_vectors_are_filled(shop: Project) -> None:
    faults: list[Exception] = []
    asked = threading.Event()

    def ask() -> None:
        try:
            for _ in range(40):
                assert all(-1.01 < score < 1.01 for score in found(shop, "alpha 7").values())
        except Exception as fault:
            faults.append(fault)
        asked.set()

    shop.observe([item(f"o{number}", f"alpha {number}") for number in range(300)])
    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shop.wait_vectors()
    assert faults == []
    assert set(found(shop, "alpha")) == wanted(shop)


KILLED = """
import importlib.util, pathlib, sys
spec = importlib.util.spec_from_file_location("filling_under_test", sys.argv[1])
module = importlib.util.module_from_spec(spec)
sys.modules["filling_under_test"] = module
spec.loader.exec_module(module)
from graphmem import Memory
memory = Memory(sys.argv[2], embedders=module.TwoModels())
shop, _ = memory.register(sys.argv[3])
shop.observe([module.item(f"o{n}", f"alpha {n}") for n in range(400)])
with shop._access.use() as files:
    while files.vectors.store.count() < 40:
        pass
print("filling", flush=True)
sys.stdin.read()
"""


def test_a_killed_filling_goes_on_after_the_restart(tmp_path: Path, root: Path) -> None:
    command = [sys.executable, "-c", KILLED, __file__, str(tmp_path / "home"), str(root)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "filling\n"
        os.kill(process.pid, signal.SIGKILL)
    with Memory(tmp_path / "home", embedders=TwoModels()) as memory:
        shop = memory.project("shop")
        assert shop.wait_vectors()
        assert set(found(shop, "alpha")) == wanted(shop)
        assert len(wanted(shop)) == 400
        assert found(shop, "alpha 7")[8, -1] == pytest.approx(1.0, abs=1e-2)


WORDS = st.sampled_from(["alpha", "beta gamma", "登录 页面", "delta", ""])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("tell"), st.integers(0, 4), WORDS, st.booleans()),
        st.tuples(st.just("forget"), st.integers(0, 4), st.just(""), st.just(False)),
        st.tuples(st.just("restart"), st.just(0), st.just(""), st.just(False)),
    ),
    max_size=8,
)


@settings(max_examples=8, deadline=None)
@given(STEPS)
def test_any_order_ends_with_the_passages_of_a_rebuild(steps: list[tuple[str, int, str, bool]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home, root = Path(folder) / "home", Path(folder) / "shop"
        root.mkdir()
        memory = Memory(home, embedders=TwoModels())
        try:
            shop, _ = memory.register(root)
            for step, number, words, flag in steps:
                known = {each.id for each in shop.observations(limit=200).items}
                match step:
                    case "tell":
                        facts = (Fact(f"We use {words} always"),) if words and flag else ()
                        tell(
                            shop,
                            Observation(
                                f"o{number}", "s1", 1.0, title=f"work {words}", facts=facts, turn=f"t{number}"
                            ),
                        )
                    case "forget" if f"o{number}" in known:
                        shop.forget(f"o{number}")
                    case "restart":
                        memory.close()
                        memory = Memory(home, embedders=TwoModels())
                        shop = memory.project("shop")
            assert shop.wait_vectors()
            before = found(shop, "work alpha")
            for path in home.rglob("vectors*"):
                assert path.exists()
            memory.close()
            for path in home.rglob("vectors*"):
                path.unlink()
            memory = Memory(home, embedders=TwoModels())
            shop = memory.project("shop")
            assert shop.wait_vectors()
            assert set(before) == wanted(shop)
            assert found(shop, "work alpha") == pytest.approx(before, abs=1e-3)
        finally:
            memory.close()
