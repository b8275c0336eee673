"""How surely a newer statement takes an older one's place: precision and recall on pairs written by hand.

    python -m bench.supersession                  # all sets
    python -m bench.supersession --as title       # the same told as titles of observations

Each pair goes the whole way, in a memory of its own: journal, projection, `recall.standing`. The rules were
tuned on the first set, and then on the kinds that the second showed (at first sight 1.00 and .63); the third
was written after all that, and no rule was touched for it. The negative set holds only pairs that must not
replace each other.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from graphmem.derived import open_derived
from graphmem.instant import DAY
from graphmem.journal import Journal
from graphmem.model import Fact, Observation
from graphmem.postings import Postings
from graphmem.projection import catch_up
from graphmem.question import Standing
from graphmem.recall.standing import standings

SETS = Path(__file__).resolve().parent.parent / "fixtures" / "supersession"
_AT = 1_760_000_000.0


class Pair(NamedTuple):
    """Two statements, the older first, and whether the newer takes its place."""

    replaces: bool
    older: str
    newer: str


class Tally(NamedTuple):
    """Pairs rightly said to be replaced, wrongly said so, and missed."""

    right: int
    wrong: list[Pair]
    missed: list[Pair]

    @property
    def precision(self) -> float:
        """Share of the superseded that are; 1 where nothing is."""
        said = self.right + len(self.wrong)
        return self.right / said if said else 1.0

    @property
    def recall(self) -> float:
        """Share of what should be superseded that is; 1 where nothing should."""
        should = self.right + len(self.missed)
        return self.right / should if should else 1.0


def read(name: str) -> Iterator[Pair]:
    """Yield the pairs of a set."""
    for line in (SETS / f"{name}.tsv").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            label, older, newer = line.split("\t")
            yield Pair(label == "yes", older, newer)


def is_replaced(pair: Pair, told_as: str = "fact") -> bool:
    """Return whether a memory of these two says that the older no longer holds."""
    with closing(Journal(None)) as journal, closing(open_derived(None)) as database:
        journal.append(
            [_observed("older", pair.older, 0, told_as), _observed("newer", pair.newer, 30, told_as)], 0.0
        )
        catch_up(journal, database)
        with Postings(database).view() as view:
            row = view.connection.execute("SELECT seq FROM observation WHERE id = 'older'").fetchone()
            key = (row[0], 0 if told_as == "fact" else -1)
            found = standings(view, [key])[key]
    return found.standing is Standing.SUPERSEDED


def tallied(name: str, told_as: str = "fact") -> Tally:
    """Return how a set comes out."""
    right, wrong, missed = 0, list[Pair](), list[Pair]()
    for pair in read(name):
        replaced = is_replaced(pair, told_as)
        right += replaced and pair.replaces
        if replaced and not pair.replaces:
            wrong.append(pair)
        if pair.replaces and not replaced:
            missed.append(pair)
    return Tally(right, wrong, missed)


def _observed(id: str, text: str, day: float, told_as: str) -> Observation:
    at = _AT + day * DAY
    if told_as == "fact":
        return Observation(id=id, session=id, at=at, source="claude-code", title="Work", facts=(Fact(text),))
    return Observation(id=id, session=id, at=at, source="claude-code", title=text)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description="How surely newer statements replace older ones.")
    parser.add_argument("--as", dest="told_as", choices=("fact", "title"), default="fact")
    parser.add_argument("--sets", nargs="*", default=["first", "second", "negative", "third"])
    arguments = parser.parse_args()
    print(f"{'set':10} {'pairs':>6} {'replaced':>9} {'precision':>10} {'recall':>7}")
    faults: list[str] = []
    for name in arguments.sets:
        tally = tallied(name, arguments.told_as)
        pairs = sum(1 for _ in read(name))
        said = tally.right + len(tally.wrong)
        print(f"{name:10} {pairs:6} {said:9} {tally.precision:10.2f} {tally.recall:7.2f}")
        faults += [f"  {name}, wrongly: {pair.older} | {pair.newer}" for pair in tally.wrong]
        faults += [f"  {name}, missed: {pair.older} | {pair.newer}" for pair in tally.missed]
    print("\n".join(faults))


if __name__ == "__main__":
    main()
