"""Questions in words to the story: what has to change, what holds, what is told, and strange texts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory, Project
from graphmem.graph import NodeType
from graphmem.instant import from_iso
from graphmem.question import Filters, Question, Standing

STORY = Path(__file__).resolve().parents[2] / "fixtures" / "story"
EXPECTED: dict[str, Any] = json.loads((STORY / "expectations.json").read_text(encoding="utf-8"))
CASE = EXPECTED["consequences"]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    folder = tmp_path_factory.mktemp("asked")
    (folder / "lantern-shop").mkdir()
    with Memory(folder / "memory", clock=lambda: from_iso(EXPECTED["asked_at"])) as memory:
        project, _ = memory.register(str(folder / "lantern-shop"))
        project.import_jsonl(str(STORY / "observations.jsonl"))
        assert project.wait_visible()
        project.graph.infer()
        yield project


@pytest.mark.parametrize("text", CASE["texts"])
def test_what_has_to_change_names_exactly_the_files_that_do(shop: Project, text: str) -> None:
    answer = shop.query(Question(text))
    assert answer.nodes_first
    named = [node.name for node in answer.nodes if node.type is NodeType.FILE]
    assert sorted(named) == CASE["files"]
    assert not set(CASE["never"]) & set(named)


def test_a_newer_value_comes_first_and_the_older_last_with_its_successor(shop: Project) -> None:
    answer = shop.query(Question("access_token TTL"))
    held = [piece for piece in answer.pieces if "TTL" in piece.text]
    assert [piece.id for piece in held] == ["shop-050", "shop-001"]
    assert held[0].standing is Standing.CURRENT
    assert held[1].standing is Standing.SUPERSEDED
    assert held[1].successor is not None and held[1].successor.id == "shop-050"
    assert answer.pieces[-1] == held[1]
    assert "3600 -> 900" in answer.context.replace("→", "->") and "is 3600" not in answer.context


def test_before_the_newer_value_was_known_the_older_one_holds(shop: Project) -> None:
    answer = shop.query(Question("access_token TTL", as_of=from_iso("2026-04-01T00:00:00Z")))
    first = next(piece for piece in answer.pieces if "TTL" in piece.text)
    assert (first.id, first.standing) == ("shop-001", Standing.CURRENT)
    assert all(piece.at <= from_iso("2026-04-01T00:00:00Z") for piece in answer.pieces)


@pytest.mark.parametrize("budget", [0, 1, 30, 100, 1_000])
def test_a_context_never_exceeds_its_budget_and_results_stay(shop: Project, budget: int) -> None:
    answer = shop.query(Question("access token", budget_tokens=budget))
    assert answer.tokens <= budget
    assert answer.pieces


def test_filters_hold_for_everything_that_is_found(shop: Project) -> None:
    asked = Filters(since=from_iso("2026-05-01T00:00:00Z"), kinds=("fact",))
    found = shop.query(Question("token", filters=asked)).pieces
    assert found
    assert all(piece.at >= from_iso("2026-05-01T00:00:00Z") and piece.kind == "fact" for piece in found)


@pytest.mark.parametrize("text", ["", "  \n\t", "\u3000"])
def test_an_empty_question_finds_nothing_and_says_what_to_do(shop: Project, text: str) -> None:
    answer = shop.query(Question(text))
    assert (answer.pieces, answer.nodes, answer.context) == ((), (), "")
    assert answer.degraded == "the question is empty: say in a few words what to look for"


STRANGE = (
    "!!!",
    "🧪🔥",
    "the of and",
    "的 了 和",
    '"',
    "a AND",
    "NEAR(",
    "x' OR 1=1 --",
    "MATCH (n) DETACH DELETE n",
    "مرحبا token",
    "\x00\ud800 token",
    "token " * 20_000,
    "表" * 100_000,
)


@pytest.mark.parametrize("text", STRANGE, ids=range(len(STRANGE)))
def test_no_text_is_a_fault_and_none_does_anything(shop: Project, text: str) -> None:
    before = shop.stats().observations
    answer = shop.query(Question(text))
    assert answer.degraded is not None
    assert shop.stats().observations == before


def test_a_long_question_is_cut_and_says_so(shop: Project) -> None:
    answer = shop.query(Question("access token " + "wombat " * 5_000))
    assert answer.degraded is not None and "first 8,000 characters" in answer.degraded
    assert answer.pieces


def test_only_a_question_without_a_word_is_told_that_it_holds_none(shop: Project) -> None:
    for text, is_told in (("!!!", True), ("🧪🔥", True), ("nowheremet", False), ("token", False)):
        degraded = shop.query(Question(text)).degraded or ""
        assert ("no word to search by" in degraded) is is_told, text
