"""Vectors on the disk: what was stored is found, what is torn, foreign or forgotten is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from graphmem.embedding.port import Space, Tongue, Vectors
from graphmem.embedding.store import ENGLISH_SPACE, MANY_SPACE, Placed, Similar, VectorStore

ENGLISH = Space("small", "a", 8)
MANY = Space("wide", "a", 12)
JOURNAL = 7
Open = Callable[..., VectorStore]


def vectors(count: int, dimension: int, seed: int = 0) -> Vectors:
    found = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)


def placed(*numbers: int, english: bool = True) -> list[Placed]:
    return [Placed(number, -1, number, english) for number in numbers]


def scores(found: Similar) -> dict[int, float]:
    return dict(zip(found.seqs.tolist(), found.scores.tolist(), strict=True))


@pytest.fixture
def open_store(tmp_path: Path) -> Iterator[Open]:
    with ExitStack() as opened:

        def open(journal: int = JOURNAL) -> VectorStore:
            store = VectorStore(tmp_path, journal)
            opened.callback(store.close)
            store.want(ENGLISH, Tongue.ENGLISH)
            store.want(MANY, Tongue.MANY)
            return store

        yield open


def test_each_pair_is_compared_once_and_where_it_belongs(open_store: Open) -> None:
    store = open_store()
    store.put(ENGLISH, placed(1, 2), vectors(2, 8))
    store.put(MANY, [*placed(1, 2), *placed(3, english=False)], vectors(3, 12))
    english = store.similarities({ENGLISH: vectors(2, 8)[0], MANY: vectors(3, 12)[2]})
    assert dict(zip(english.seqs.tolist(), english.space.tolist(), strict=True)) == {
        1: ENGLISH_SPACE,
        2: ENGLISH_SPACE,
        3: MANY_SPACE,
    }
    assert scores(english)[1] == pytest.approx(1.0, abs=1e-2)
    assert scores(english)[3] == pytest.approx(1.0, abs=1e-2)
    other = store.similarities({MANY: vectors(3, 12)[0]})
    assert sorted(other.seqs.tolist()) == [1, 2, 3]
    assert set(other.space.tolist()) == {MANY_SPACE}


def test_vectors_are_there_after_a_restart_and_a_replaced_one_is_the_new_one(open_store: Open) -> None:
    store = open_store()
    made = vectors(3, 8)
    store.put(ENGLISH, placed(1, 2), made[:2])
    store.put(ENGLISH, placed(1), made[2:])
    before = scores(store.similarities({ENGLISH: made[2]}))
    store.close()
    after = scores(open_store().similarities({ENGLISH: made[2]}))
    assert before == after
    assert after[1] == pytest.approx(1.0, abs=1e-2)


def test_what_is_forgotten_is_not_on_the_disk_any_more(open_store: Open, tmp_path: Path) -> None:
    store = open_store()
    made = vectors(3, 8)
    store.put(ENGLISH, placed(1, 2, 3), made)
    path = tmp_path / f"vectors-{ENGLISH.key}.f16"
    secret = made[1].astype(np.float16).tobytes()
    assert secret in path.read_bytes()
    store.forget([2])
    assert secret not in path.read_bytes()
    assert sorted(store.similarities({ENGLISH: made[0]}).seqs.tolist()) == [1, 3]


@pytest.mark.parametrize("harm", ["short", "foreign", "empty", "gone"])
def test_a_file_that_is_not_what_was_written_is_set_aside(
    open_store: Open, tmp_path: Path, harm: str
) -> None:
    store = open_store()
    store.put(ENGLISH, placed(1, 2), vectors(2, 8))
    store.close()
    path = tmp_path / f"vectors-{ENGLISH.key}.f16"
    match harm:
        case "short":
            path.write_bytes(path.read_bytes()[:70])
        case "foreign":
            path.write_bytes(b"x" * path.stat().st_size)
        case "empty":
            path.write_bytes(b"")
        case _:
            path.unlink()
    again = open_store()
    assert len(again.similarities({ENGLISH: vectors(2, 8)[0]}).seqs) == 0
    assert again.told(ENGLISH) == {}
    again.put(ENGLISH, placed(1), vectors(1, 8))
    assert len(again.similarities({ENGLISH: vectors(1, 8)[0]}).seqs) == 1


def test_a_torn_vector_is_left_out_and_missing_again(open_store: Open, tmp_path: Path) -> None:
    store = open_store()
    made = vectors(2, 8)
    store.put(ENGLISH, placed(1, 2), made)
    store.close()
    path = tmp_path / f"vectors-{ENGLISH.key}.f16"
    row = made[0].astype(np.float16).tobytes()
    path.write_bytes(path.read_bytes().replace(row, bytes(reversed(row))))
    again = open_store()
    assert again.similarities({ENGLISH: made[0]}).seqs.tolist() == [2]
    assert set(again.told(ENGLISH)) == {(2, -1)}


def test_the_file_of_another_journal_or_a_broken_one_begins_anew(open_store: Open, tmp_path: Path) -> None:
    store = open_store()
    store.put(ENGLISH, placed(1), vectors(1, 8))
    store.close()
    other = open_store(journal=8)
    assert other.count() == 0
    other.put(ENGLISH, placed(1), vectors(1, 8))
    other.close()
    (tmp_path / "vectors.db").write_bytes(b"no database" * 500)
    assert open_store(journal=8).count() == 0


def test_a_new_model_answers_alone_once_it_is_whole(open_store: Open, tmp_path: Path) -> None:
    store = open_store()
    newer = Space("small", "b", 8)
    old = vectors(2, 8)
    store.put(ENGLISH, placed(1, 2), old)
    store.finish(ENGLISH)
    store.want(newer, Tongue.ENGLISH)
    store.put(newer, placed(1), vectors(1, 8, seed=5))
    both = {ENGLISH: old[0], newer: vectors(1, 8, seed=5)[0]}
    assert sorted(store.similarities(both).seqs.tolist()) == [1, 2]
    store.put(newer, placed(2), vectors(1, 8, seed=6))
    store.finish(newer)
    assert not (tmp_path / f"vectors-{ENGLISH.key}.f16").exists()
    assert scores(store.similarities(both))[1] == pytest.approx(1.0, abs=1e-2)
    assert len(store.similarities({ENGLISH: old[0]}).seqs) == 0


def test_without_vectors_of_the_question_nothing_is_similar(open_store: Open) -> None:
    store = open_store()
    store.put(ENGLISH, placed(1), vectors(1, 8))
    assert len(store.similarities({}).seqs) == 0
    assert len(store.similarities({Space("unknown", "x", 8): vectors(1, 8)[0]}).seqs) == 0
