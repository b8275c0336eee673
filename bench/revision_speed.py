"""How long it takes to tell an open turn anew: into the journal, and from there into `derived.db`.

    python -m bench.revision_speed                  # after 30,000 generated commits
    python -m bench.revision_speed FILE.jsonl.gz    # after the commits of a history

Two sessions work at the same time on the files changed most, with one more file at each telling, as a turn
grows. Milliseconds of this process' own work, so that other load on the machine counts little, and as they
are waited for; the journal's part waits for the disk.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from contextlib import closing
from functools import partial
from pathlib import Path

from bench.promotion_speed import generated, imported, timed
from graphmem.captured import Batch
from graphmem.database import Database
from graphmem.derived import open_derived
from graphmem.journal import Journal
from graphmem.model import Observation
from graphmem.postings import Postings
from graphmem.projection import catch_up
from graphmem.promotion import promote
from graphmem.recall.survey import busiest_files

COMMITS = 30_000
TURNS = 10
FILES = 20


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description="How long it takes to tell an open turn anew.")
    parser.add_argument("history", nargs="?", help="a history file; default: generated commits")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "journal.db" if arguments.history is None else imported(arguments.history, folder)
        with closing(Journal(path)) as journal, closing(open_derived(folder / "derived.db")) as database:
            if arguments.history is None:
                journal.append(list(generated(COMMITS)), 0.0)
            catch_up(journal, database)
            promote(journal, database, "bench")
            measure(journal, database)


def measure(journal: Journal, database: Database) -> None:
    """Tell turns anew and print what that took."""
    with Postings(database).view() as view:
        files = tuple(busiest_files(view, FILES, lambda paths: set()))
        (now,) = view.connection.execute("SELECT MAX(at) FROM observation").fetchone()
    print(f"observations           {journal.count():8}")
    stored: list[tuple[float, float]] = []
    projected: list[tuple[float, float]] = []
    for turn in range(TURNS):
        for telling in range(1, FILES + 1):
            for session in ("one", "other"):
                told = Observation(
                    id=f"{session}-{turn}",
                    session=session,
                    at=now + turn * 60.0 + telling,
                    source="bench",
                    title="Tell the parser of the new cache",
                    narrative="Working on it. " * telling,
                    files_modified=files[:telling],
                    turn=f"{session}-{turn}",
                    provisional=telling < FILES,
                )
                batch = Batch(observations=(told,))
                stored.append(timed(partial(journal.captured.settle, batch, told.at)))
                projected.append(timed(partial(catch_up, journal, database)))
    for name, taken in (("journal", stored), ("derived file", projected)):
        own, waited = (sorted(1_000.0 * seconds for seconds in column) for column in zip(*taken, strict=True))
        print(
            f"{name:22} {statistics.median(own):8.1f} ms  (p99 {statistics.quantiles(own, n=100)[98]:.1f};"
            f" waited for {statistics.median(waited):.1f} ms; of {len(taken)} tellings)"
        )


if __name__ == "__main__":
    main()
