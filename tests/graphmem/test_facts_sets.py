"""Two sets of sentences, labelled by hand: what the rules keep of them, and how much they let in by mistake.

The rules were tuned on the first set; the second was written before they had been run on it.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from graphmem.facts import FactReading, statements
from graphmem.model import FactKind

SETS = Path(__file__).resolve().parent / "fact_sets"


class Labelled(NamedTuple):
    label: str
    text: str


class Score(NamedTuple):
    """By kind: how many should be found, and the shares of the found and of the wanted that are right."""

    wanted: int
    precision: float
    recall: float


def labelled(name: str) -> list[Labelled]:
    lines = (SETS / name).read_text(encoding="utf-8").splitlines()
    return [Labelled(*line.split("\t")) for line in lines if line and not line.startswith("#")]


def label(said: FactReading) -> str:
    """Say what a statement was read as, in the words of the sets."""
    kind = said.state.value if said.state is not None else said.kind.value
    parts = [kind, said.subject, said.attribute, said.value] if said.kind is FactKind.FACT else [kind]
    return ("~" if said.tentative else "") + "|".join(map(str, parts))


def kind_of(text: str) -> str:
    return text.removeprefix("~").partition("|")[0]


def scores(lines: list[Labelled]) -> dict[str, Score]:
    """Count kinds only; `none` is right where nothing was found."""
    wanted: Counter[str] = Counter()
    found: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for line in lines:
        kinds = [kind_of(label(said)) for said in statements(line.text)] or ["none"]
        wanted[kind_of(line.label)] += 1
        found.update(kinds)
        right[kind_of(line.label)] += kind_of(line.label) in kinds
    return {
        kind: Score(count, right[kind] / max(1, found[kind]), right[kind] / count)
        for kind, count in wanted.items()
    }


@pytest.mark.parametrize("line", labelled("first.tsv"), ids=lambda line: line.text[:40])
def test_each_sentence_of_the_first_set_is_read_as_labelled(line: Labelled) -> None:
    assert [label(said) for said in statements(line.text)] == ([] if line.label == "none" else [line.label])


def test_the_first_set_holds_both_languages_each_kind_and_enough_that_must_give_nothing() -> None:
    lines = labelled("first.tsv")
    chinese = [line for line in lines if any("\u4e00" <= char <= "\u9fff" for char in line.text)]
    counts = scores(lines)
    assert len(lines) >= 120
    assert 0.4 <= len(chinese) / len(lines) <= 0.6
    assert counts["none"].wanted >= 40
    assert set(counts) == {"none", "preference", "convention", "open", "done", "decision", "fact"}
