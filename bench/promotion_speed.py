"""How long promotion takes: over everything, after one more commit, and what marking adds to an import.

    python -m bench.promotion_speed                  # 10,000 generated commits
    python -m bench.promotion_speed FILE.jsonl.gz    # the commits of a history

Seconds of this process' own work (`process_time`), so that other load on the machine counts little; the full
run is also given as it is waited for. The import is the way from the journal into `derived.db`, once on a new
file, where nothing needs to be marked, and once with marks.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from graphmem import Memory
from graphmem.database import Database
from graphmem.derived import open_derived
from graphmem.journal import Journal
from graphmem.model import Observation
from graphmem.projection import catch_up
from graphmem.promotion import promote

COMMITS = 10_000
FOLDERS = 250
FILES = 8
AUTHORS = 20
MORE = 20
HOUR = 3_600.0
SEED = 7


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description="How long promotion takes.")
    parser.add_argument("history", nargs="?", help="a history file; default: generated commits")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "journal.db" if arguments.history is None else imported(arguments.history, folder)
        with closing(Journal(path)) as journal:
            if arguments.history is None:
                journal.append(list(generated()), 0.0)
            measure(journal, folder)


def measure(journal: Journal, folder: Path) -> None:
    """Time everything on fresh derived files."""
    print(f"observations           {journal.count():8}")
    with closing(open_derived(folder / "plain.db")) as database:
        plain, _ = timed(lambda: catch_up(journal, database))
        print(f"import                 {plain:8.2f} s")
    with closing(open_derived(folder / "marked.db")) as database:
        promote(journal, database, "bench")
        marked, _ = timed(lambda: catch_up(journal, database))
        print(f"import with marks      {marked:8.2f} s  ({100 * (marked / plain - 1):+.0f} %)")
        full, waited = timed(lambda: promote(journal, database, "bench"))
        print(f"promotion of all       {full:8.2f} s  ({waited:.2f} s waited for, at most 20 wanted)")
        print(f"edges                  {count(database, 'edge'):8}  of {count(database, 'offer')} offers")
        seconds = [one_more(journal, database, number) for number in range(MORE)]
        print(f"one more commit        {statistics.median(seconds):8.3f} s  (median of {MORE})")


def one_more(journal: Journal, database: Database, number: int) -> float:
    """Add a commit that changes what one of the last hundred changed; return what promoting it took."""
    with database.read() as connection:
        seq, at = connection.execute(
            "SELECT seq, at FROM observation WHERE size BETWEEN 1 AND 10 ORDER BY at DESC, seq DESC"
            " LIMIT 1 OFFSET ?",
            (5 * number,),
        ).fetchone()
    (before,) = journal.numbered((seq,)).values()
    files = before.files_modified or before.files_deleted
    more = Observation(id=f"more-{number}", session=f"more-{number}", at=at + 1, files_modified=files)
    journal.append([more], 0.0)
    catch_up(journal, database)
    return timed(lambda: promote(journal, database, "bench"))[0]


def timed(run: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds of own work and the seconds waited for."""
    worked, waited = time.process_time(), time.perf_counter()
    run()
    return time.process_time() - worked, time.perf_counter() - waited


def count(database: Database, table: str) -> int:
    """Return the number of rows of a table."""
    with database.read() as connection:
        return int(connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0])


def generated(commits: int = COMMITS) -> Iterator[Observation]:
    """Yield commits: sittings of authors in one folder each, some folders busier, a changelog at times."""
    chance = random.Random(SEED)
    at, number = 0.0, 0
    weights = [1.0 / (place + 1) for place in range(FOLDERS)]
    while number < commits:
        author = chance.randrange(AUTHORS)
        (folder,) = chance.choices(range(FOLDERS), weights)
        at += chance.expovariate(1.0 / (8 * HOUR))
        for _ in range(min(chance.randint(1, 5), commits - number)):
            number += 1
            at += chance.uniform(60.0, HOUR)
            names = chance.sample(range(FILES), min(FILES, 1 + int(chance.expovariate(0.6))))
            files = [f"src/part{folder}/file{name}.py" for name in names]
            if chance.random() < 0.1:
                files.append("CHANGELOG.md")
            yield Observation(
                id=f"c{number}",
                session=f"{author}-{int(at // (24 * HOUR))}",
                at=at,
                actor=f"author {author}",
                title=f"Change part{folder} for the {chance.choice(('parser', 'cache', 'login', 'report'))}",
                files_modified=tuple(files),
            )


def imported(history: str, folder: Path) -> Path:
    """Import a history file and return where its journal lies."""
    (folder / "root").mkdir()
    with Memory(folder / "memory") as memory:
        project, _ = memory.register(folder / "root")
        project.import_jsonl(history)
    (journal,) = (folder / "memory").rglob("journal.db")
    return journal


if __name__ == "__main__":
    main()
