"""`bench.recall`: figures by set, kind and method, and what words alone reach on the public sets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from bench.recall import Asked, Rank, main, ranked, summaries
from graphmem.embedding.port import Space, Tongue, Vectors
from graphmem.text import tokens

TEXTS = {
    "cache": "Raised the cache TTL to 900 seconds",
    "pay": "支付超时需要重试",
    "mail": "Moved mail templates",
}
QUESTIONS = [
    Asked("kw", "cache TTL", "cache"),
    Asked("zh-zh", "支付重试", "pay"),
    Asked("kw", "zebra", "mail"),
]


class Letters:
    """A model that counts words, enough to be near a text that shares some."""

    def __init__(self, tongue: Tongue) -> None:
        self.tongue = tongue
        self.space = Space("letters", "1", 64)

    def encode(self, texts: Sequence[str]) -> Vectors:
        made = np.zeros((len(texts), 64), np.float32)
        for row, text in enumerate(texts):
            for token in tokens(text):
                made[row, sum(map(ord, token)) % 64] += 1.0
        lengths = np.linalg.norm(made, axis=1, keepdims=True)
        return np.asarray(made / np.maximum(lengths, 1.0), np.float32)


def test_without_a_model_words_alone_are_measured() -> None:
    ranks = list(ranked("paraphrase", TEXTS, QUESTIONS, ()))
    assert [(rank.method, rank.rank) for rank in ranks] == [("words", 1), ("words", 1), ("words", 0)]


def test_with_models_each_method_is_measured_across_spaces() -> None:
    models = (Letters(Tongue.ENGLISH), Letters(Tongue.MANY))
    ranks = list(ranked("paraphrase", TEXTS, QUESTIONS[:2], models))
    assert [rank.method for rank in ranks] == ["words", "vectors", "fused"] * 2
    assert [rank.rank for rank in ranks if rank.method == "fused"] == [1, 1]


def test_figures_are_means_and_the_lowest_without_one_question() -> None:
    ranks = [Rank("paraphrase", number, "kw", "words", rank) for number, rank in enumerate((1, 2, 0, 1))]
    whole = {each.kind: each for each in summaries(ranks)}["all"]
    assert (whole.questions, whole.first, whole.among_five) == (4, 0.5, 0.75)
    assert whole.mrr == pytest.approx(2.5 / 4)
    assert whole.lowest_mrr == pytest.approx(0.5)


def test_identifiers_are_found_first_by_words(
    data_folder: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert data_folder.file("recall/identifiers.json").is_file()
    monkeypatch.setattr("sys.argv", ["recall", "--json"])
    main()
    figures = {(each["set"], each["kind"]): each for each in json.loads(capsys.readouterr().out)}
    assert figures["identifiers", "all"]["first"] == 1.0
    assert figures["paraphrase", "all"]["among_five"] >= 0.6
