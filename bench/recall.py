"""How well pieces are found: the share of questions whose right text comes first, or among the first five.

    python -m bench.recall            # paraphrase.json and identifiers.json of GRAPHMEM_DATA/recall
    python -m bench.recall --json

By words alone, by vectors alone, and fused, for each kind of question; each set is a memory of its own. What
words weigh beside meaning was looked at on all of these questions, so they are no proof of it; `odd` are
those of odd number. The last column leaves out one question at a time and tells the lowest MRR.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from graphmem.derived import open_derived
from graphmem.embedding.port import Embedder, Tongue
from graphmem.embedding.store import ENGLISH_SPACE, MANY_SPACE, Similar
from graphmem.journal import Journal
from graphmem.model import Observation
from graphmem.postings import Postings, View
from graphmem.projection import catch_up
from graphmem.question import Filters
from graphmem.recall.blending import blended, piece_of
from graphmem.recall.lexical import Lexical, matches
from graphmem.recall.tongue import is_english
from inference.fusion import Usual
from inference.thresholds import Thresholds, background

SETS = ("paraphrase", "identifiers")
METHODS = ("words", "vectors", "fused")


class Asked(NamedTuple):
    """A question of a set: its kind, its words, the name of the one right text."""

    kind: str
    text: str
    relevant: str


class Rank(NamedTuple):
    """Where the right text of a question came, 0 for not at all."""

    set: str
    number: int
    kind: str
    method: str
    rank: int


@dataclass(frozen=True, slots=True)
class Figures:
    """What one method reached on some questions; `lowest_mrr` with any one of them left out."""

    set: str
    kind: str
    method: str
    questions: int
    first: float
    among_five: float
    mrr: float
    lowest_mrr: float


def main(embedders: Sequence[Embedder] = ()) -> None:
    """Run and print; the models are given by whoever has them, without any only words are told."""
    parser = argparse.ArgumentParser(description="How well pieces are found by words and by vectors.")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    arguments = parser.parse_args()
    data = os.environ.get("GRAPHMEM_DATA")
    if data is None:
        sys.exit("Set GRAPHMEM_DATA to the public data's folder.")
    ranks = [rank for name in SETS for rank in measure(name, Path(data) / "recall", embedders)]
    figures = list(summaries(ranks))
    if arguments.json:
        print(json.dumps([asdict(each) for each in figures], indent=2))
        return
    print(f"{'set':12} {'kind':6} {'method':8} {'n':>3} {'R@1':>5} {'R@5':>5} {'MRR':>6} {'lowest':>6}")
    for each in figures:
        print(
            f"{each.set:12} {each.kind:6} {each.method:8} {each.questions:3} {each.first:5.2f}"
            f" {each.among_five:5.2f} {each.mrr:6.3f} {each.lowest_mrr:6.3f}"
        )


def measure(name: str, folder: Path, embedders: Sequence[Embedder]) -> Iterator[Rank]:
    """Ask every question of a set, by each method there is."""
    held: dict[str, Any] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    asked = [Asked(each["kind"], each["query"], each["relevant"]) for each in held["queries"]]
    yield from ranked(name, held["docs"], asked, embedders)


def ranked(
    name: str, texts: Mapping[str, str], questions: Sequence[Asked], embedders: Sequence[Embedder]
) -> Iterator[Rank]:
    """Make a memory of the texts and ask it."""
    told = [
        Observation(id=key, session="bench", at=1_000.0 + place, source="bench", title="", narrative=text)
        for place, (key, text) in enumerate(texts.items())
    ]
    with tempfile.TemporaryDirectory() as folder, closing(Journal(Path(folder) / "journal.db")) as journal:
        journal.append(told, 0.0)
        with closing(open_derived(None)) as database:
            catch_up(journal, database)
            with Postings(database).view() as view:
                shelf = Shelf(view, texts, embedders)
                for number, question in enumerate(questions):
                    for method, found in shelf.answers(question.text).items():
                        place = found.index(question.relevant) + 1 if question.relevant in found else 0
                        yield Rank(name, number, question.kind, method, place)


class Shelf:
    """The texts of a set as a memory holds them, with their vectors in each model's space."""

    def __init__(self, view: View, texts: Mapping[str, str], embedders: Sequence[Embedder]) -> None:
        self._view = view
        self._ids: dict[int, str] = dict(view.connection.execute("SELECT seq, id FROM observation"))
        self._seqs = np.array(sorted(self._ids), np.int64)
        bodies = [texts[self._ids[seq]] for seq in self._seqs.tolist()]
        self._english = np.array([is_english(body) for body in bodies], np.bool_)
        self._models = {embedder.tongue: embedder for embedder in embedders}
        self._vectors = {tongue: model.encode(bodies) for tongue, model in self._models.items()}
        self._grounds: dict[Tongue, Thresholds] = {}
        for tongue, vectors in self._vectors.items():
            kept = vectors[self._english] if tongue is Tongue.ENGLISH else vectors
            self._grounds[tongue] = background(kept, ["history"] * len(kept), range(len(kept)))

    def answers(self, text: str) -> dict[str, list[str]]:
        """Return the ids that each method finds, best first."""
        words = matches(self._view, text, Filters())
        found = {"words": self._named(text, words, None)}
        if self._models:
            similar = self._similar(text)
            found["vectors"] = self._named(text, Lexical((), 0), similar)
            found["fused"] = self._named(text, words, similar)
        return found

    def _named(self, text: str, words: Lexical, similar: Similar | None) -> list[str]:
        places = {Tongue.ENGLISH: ENGLISH_SPACE, Tongue.MANY: MANY_SPACE}
        usual: dict[int, Usual] = {places[tongue]: ground.usual for tongue, ground in self._grounds.items()}
        found = blended(text, words, similar, usual)
        return list(dict.fromkeys(self._ids[piece_of(piece.key)[0]] for piece in found))

    def _similar(self, text: str) -> Similar:
        """Compare English with English in the space made for it where there is one, all else in the other."""
        apart = is_english(text) and Tongue.ENGLISH in self._models
        parts = []
        if apart:
            parts.append(self._part(text, Tongue.ENGLISH, ENGLISH_SPACE, self._english))
        if Tongue.MANY in self._models:
            rest = ~self._english if apart else np.ones(len(self._seqs), np.bool_)
            parts.append(self._part(text, Tongue.MANY, MANY_SPACE, rest))
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        return Similar(*columns)

    def _part(self, text: str, tongue: Tongue, space: int, chosen: npt.NDArray[np.bool_]) -> Similar:
        aim = self._grounds[tongue].aim(self._models[tongue].encode([text])[0])
        scores = (self._vectors[tongue][chosen] @ aim).astype(np.float32)
        seqs = self._seqs[chosen]
        return Similar(seqs, np.full(len(seqs), -1, np.int32), scores, np.full(len(seqs), space, np.int8))


def summaries(ranks: Sequence[Rank]) -> Iterator[Figures]:
    """Yield the figures of each set and method: by kind, of the odd questions, of all."""
    for name in SETS:
        for method in METHODS:
            mine = [rank for rank in ranks if rank.set == name and rank.method == method]
            for kind in dict.fromkeys(rank.kind for rank in mine):
                yield _figures(name, kind, method, [rank.rank for rank in mine if rank.kind == kind])
            if mine:
                yield _figures(name, "odd", method, [rank.rank for rank in mine if rank.number % 2])
                yield _figures(name, "all", method, [rank.rank for rank in mine])


def _figures(name: str, kind: str, method: str, ranks: Sequence[int]) -> Figures:
    inverse = [1.0 / rank if rank else 0.0 for rank in ranks]
    count, whole = len(ranks), sum(inverse)
    return Figures(
        set=name,
        kind=kind,
        method=method,
        questions=count,
        first=sum(rank == 1 for rank in ranks) / count if count else 0.0,
        among_five=sum(0 < rank <= 5 for rank in ranks) / count if count else 0.0,
        mrr=whole / count if count else 0.0,
        lowest_mrr=min(((whole - each) / (count - 1) for each in inverse), default=0.0) if count > 1 else 0.0,
    )


if __name__ == "__main__":
    main()
