"""How long the work in memory takes to read, and to follow what is new, told anew, or asked of the past.

    python -m bench.chronicle_speed                  # after 10,000 generated commits
    python -m bench.chronicle_speed FILE.jsonl.gz    # after the commits of a history

Milliseconds of this process' own work, so that other load on the machine counts little; not what it takes to
project an observation (`bench.revision_speed`), only to bring the work in memory in step after it.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

from bench.promotion_speed import generated, imported, timed
from graphmem.captured import Batch
from graphmem.chronicler import Chronicler
from graphmem.database import Database
from graphmem.derived import open_derived
from graphmem.journal import Journal
from graphmem.model import Observation
from graphmem.postings import Postings, View
from graphmem.projection import catch_up

COMMITS = 10_000
TELLINGS = 50


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description="How long it takes to hold a project's work in memory.")
    parser.add_argument("history", nargs="?", help="a history file; default: generated commits")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "journal.db" if arguments.history is None else imported(arguments.history, folder)
        with closing(Journal(path)) as journal, closing(open_derived(folder / "derived.db")) as database:
            if arguments.history is None:
                journal.append(list(generated(COMMITS)), 0.0)
            catch_up(journal, database)
            measure(journal, database)


def measure(journal: Journal, database: Database) -> None:
    """Read the work, let it grow and look back, and print what each took."""
    print(f"observations           {journal.count():8}")
    postings = Postings(database, Chronicler().at)
    tell("read whole", [followed(postings)])
    taken: dict[str, list[float]] = {"one more": [], "told anew": []}
    for observation in upcoming(postings):
        for name, told in (("one more", observation), ("told anew", replace(observation, title="Again"))):
            journal.captured.settle(Batch(observations=[told]), told.at)
            catch_up(journal, database)
            taken[name].append(followed(postings))
    for name, times in taken.items():
        tell(name, times)
    tell("nothing new", [followed(postings) for _ in range(TELLINGS)])
    with postings.view() as view:
        query = "SELECT at FROM observation ORDER BY at DESC LIMIT ?"
        moments = [at for (at,) in view.connection.execute(query, (TELLINGS,))]
    tell("a first past moment", [followed(postings, moments[0])])
    tell("the moment before", [followed(postings, moment) for moment in moments[1:]])


def upcoming(postings: Postings) -> Iterator[Observation]:
    """Yield turns that change again what the last observations changed, each under way."""
    with postings.view() as view:
        work = view.connection.execute(
            "SELECT seq, at FROM observation WHERE size BETWEEN 1 AND 10 ORDER BY at DESC LIMIT ?",
            (TELLINGS,),
        ).fetchall()
        query = "SELECT name FROM touch JOIN path ON path.id = touch.path WHERE seq = ?"
        files = [tuple({name for (name,) in view.connection.execute(query, (seq,))}) for seq, _ in work]
    for number, names in enumerate(files):
        at = work[0][1] + 60.0 * (number + 1)
        yield Observation(
            id=f"turn-{number}",
            session="bench",
            at=at,
            source="bench",
            title="Tell the parser of the new cache",
            files_modified=names,
            turn=f"turn-{number}",
            provisional=True,
        )


def followed(postings: Postings, moment: float | None = None) -> float:
    """Bring the work in memory in step; return the seconds of own work that took."""
    with postings.view(moment) as view:
        return timed(partial(_total, view))[0]


def _total(view: View) -> int:
    with view.chronicle() as chronicle:
        return 0 if chronicle is None else chronicle.total()


def tell(name: str, taken: list[float]) -> None:
    """Print the median and the longest."""
    times = [1_000.0 * seconds for seconds in taken]
    print(f"{name:22} {statistics.median(times):8.2f} ms  (longest {max(times):.2f})")


if __name__ == "__main__":
    main()
