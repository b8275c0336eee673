"""How long a search takes beside its two parts done plainly, in pairs within one run.

    python -m bench.search_speed                  # 50,000 observations, one fact each
    python -m bench.search_speed --observations 5000

Plainly: one product of all vectors (float32, 384 numbers) with the question's, and one query of the full-text
index. The search: the same product, the pieces that hold the question's words, and both made one list. It is
not what the models take for a question's vector, nor what is told of the pieces found (`Project.query`).
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np

from graphmem.database import Database
from graphmem.derived import open_derived
from graphmem.embedding.port import Vectors
from graphmem.embedding.store import ENGLISH_SPACE, Similar
from graphmem.journal import Journal
from graphmem.model import Fact, Observation
from graphmem.postings import Postings, View
from graphmem.projection import catch_up
from graphmem.question import Filters
from graphmem.recall.blending import blended
from graphmem.recall.lexical import matches
from graphmem.text import match_query

OBSERVATIONS = 50_000
QUESTIONS = 60
_DIMENSION = 384
_VOCABULARY = 20_000
_SYLLABLES = (
    "ba be bi co cu da de do fa fi ga go ha ka ki la le lo ma me mi mo na ne no pa po ra re ri ro sa se"
)
_BATCH = 1_000


class Pair(NamedTuple):
    """Seconds that one question took plainly, and as a search."""

    plain: float
    search: float


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description="How long a search takes beside its parts done plainly.")
    parser.add_argument("--observations", type=int, default=OBSERVATIONS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        paths = Path(name, "journal.db"), Path(name, "derived.db")
        with closing(Journal(paths[0])) as journal, closing(open_derived(paths[1])) as database:
            fill(journal, database, arguments.observations)
            tell(arguments.observations, measure(database, arguments.observations, QUESTIONS))


def fill(journal: Journal, database: Database, count: int) -> None:
    """Make a memory of generated observations."""
    told = generated(count)
    while batch := [observation for observation, _ in zip(told, range(_BATCH), strict=False)]:
        journal.append(batch, 0.0)
        catch_up(journal, database)


def generated(count: int) -> Iterator[Observation]:
    """Yield observations of realistic length: a title, sixty words of narrative, one fact of twelve."""
    chance = random.Random(11)
    names = words()
    for number in range(count):
        yield Observation(
            id=f"o{number}",
            session=f"s{number // 8}",
            at=1_000_000.0 + 600.0 * number,
            source="bench",
            title=" ".join(drawn(chance, names, 8)),
            narrative=" ".join(drawn(chance, names, 60)),
            facts=(Fact(" ".join(drawn(chance, names, 12))),),
        )


def words() -> list[str]:
    """Return distinct words, the frequent ones first."""
    parts = _SYLLABLES.split()
    size = len(parts)
    return [
        parts[at % size] + parts[at // size % size] + parts[at // size**2 % size] + "n"
        for at in range(_VOCABULARY)
    ]


def drawn(chance: random.Random, names: Sequence[str], count: int) -> list[str]:
    """Return words with the frequencies of a language: the n-th about 1/n as often as the first."""
    return [names[int(len(names) ** chance.random()) - 1] for _ in range(count)]


def measure(database: Database, count: int, questions: int) -> list[Pair]:
    """Ask each question both ways, one after the other, the first few unmeasured."""
    chance, names = random.Random(5), words()
    made = np.random.default_rng(3)
    vectors = made.normal(size=(2 * count, _DIMENSION)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    pairs = []
    with Postings(database).view() as view:
        for number in range(-3, questions):
            text = " ".join(drawn(chance, names, 4 + number % 6))
            aim = vectors[chance.randrange(len(vectors))]
            begun = time.perf_counter()
            plainly(view, text, vectors, aim)
            between = time.perf_counter()
            searched(view, text, vectors, aim)
            pair = Pair(between - begun, time.perf_counter() - between)
            if number >= 0:
                pairs.append(pair)
    return pairs


def plainly(view: View, text: str, vectors: Vectors, aim: Vectors) -> int:
    """Do the product and one query of the index; return how many rows there were."""
    scores = vectors @ aim
    rows = view.connection.execute(
        "SELECT rowid FROM text WHERE text MATCH ? ORDER BY rank LIMIT 20", (match_query(text),)
    ).fetchall()
    return len(rows) + int(scores.argmax() >= 0)


def searched(view: View, text: str, vectors: Vectors, aim: Vectors) -> int:
    """Search; return how many pieces there were."""
    places = np.arange(len(vectors))
    similar = Similar(
        1 + places // 2,
        (places % 2 - 1).astype(np.int32),
        vectors @ aim,
        np.full(len(vectors), ENGLISH_SPACE, np.int8),
    )
    return len(blended(text, matches(view, text, Filters()), similar))


def tell(count: int, pairs: Sequence[Pair]) -> None:
    """Print both ways in milliseconds, and the ratio within the pairs."""
    print(f"observations {count}, facts {count}, questions {len(pairs)}")
    for name, values, unit in (
        ("plainly", [1_000.0 * pair.plain for pair in pairs], "ms"),
        ("search", [1_000.0 * pair.search for pair in pairs], "ms"),
        ("ratio", [pair.search / pair.plain for pair in pairs], "x"),
    ):
        high = sorted(values)[int(0.95 * (len(values) - 1))]
        print(f"{name:8} p50 {statistics.median(values):7.2f} {unit}  p95 {high:7.2f} {unit}")


if __name__ == "__main__":
    main()
