"""What a pruning takes and gives back: 10,000 of 20,000 generated observations let go.

    python -m bench.retention                       # the above
    python -m bench.retention --stored 2000 --gone 1000

Prints seconds, the sizes of the files before and afterwards, and how long questions took that were asked
meanwhile. The text is made up of words at random, so that no two observations are alike.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphmem import Memory, Project
from graphmem.instant import to_iso
from graphmem.question import PieceKind
from graphmem.retention_rules import Rules

_WORDS = ("token", "session", "refresh", "login", "cart", "price", "order", "index", "cache", "queue")
_DAY = 86_400.0
_BATCH = 1_000
_MIB = 1024 * 1024


def observations(count: int, old: int, now: float) -> Iterator[dict[str, Any]]:
    """Yield `count` observations with three files each; the first `old` are over a year old."""
    draw = random.Random(7)
    for number in range(count):
        age = 400 * _DAY + (old - number) * 3_600 if number < old else (count - number) * 60
        words = [f"{draw.choice(_WORDS)}{draw.randrange(3_000)}" for _ in range(60)]
        yield {
            "id": f"o{number}",
            "session": f"s{number // 5}",
            "at": to_iso(now - age),
            "title": " ".join(words[:6]),
            "narrative": " ".join(words),
            "files_modified": [f"src/{draw.choice(_WORDS)}/{draw.randrange(400)}.py" for _ in range(3)],
            "concepts": draw.choices(_WORDS, k=2),
        }


def sizes(folder: Path) -> dict[str, float]:
    """Return the MiB of the journal, of the derived file, and of all files of a project."""
    found = {path.name: path.stat().st_size / _MIB for path in folder.iterdir() if path.is_file()}
    named = {
        name: sum(size for file, size in found.items() if file.startswith(name))
        for name in ("journal.db", "derived.db")
    }
    return named | {"all": sum(found.values())}


def asked(project: Project, done: threading.Event, took: list[float]) -> None:
    """Ask until told to end, and note the seconds each answer took."""
    while not done.is_set():
        start = time.perf_counter()
        project.impact(["src/token/7.py"])
        took.append(time.perf_counter() - start)
        done.wait(0.05)


def measured(home: Path, stored: int, gone: int) -> None:
    """Fill a project, prune it while it is asked, and print what that took."""
    now = time.time()
    with Memory(home) as memory:
        (home / "project").mkdir()
        project = memory.register(home / "project")[0]
        batch: list[dict[str, Any]] = []
        for item in observations(stored, gone, now):
            batch.append(item)
            if len(batch) == _BATCH:
                project.observe(batch)
                batch = []
        project.observe(batch)
        project.wait_visible(600.0)
        project.graph.infer()
        folder = memory.home.project_folder(project.id)
        project.close()
        project.impact(["src/token/7.py"])
        before, took, done = sizes(folder), list[float](), threading.Event()
        asker = threading.Thread(target=asked, args=(project, done, took))
        asker.start()
        start = time.perf_counter()
        pruned = project.keeping.prune(Rules({PieceKind.HISTORY: 365.0}), dry_run=False)
        seconds = time.perf_counter() - start
        done.set()
        asker.join()
        project.close()
        after = sizes(folder)
    took.sort()
    print(f"{len(pruned.plan.numbers):,} of {stored:,} observations let go in {seconds:.1f} s")
    print(f"{'MiB':12} {'before':>8} {'after':>8}")
    for name, size in before.items():
        print(f"{name:12} {size:8.1f} {after[name]:8.1f}")
    print(
        f"{len(took)} questions meanwhile: median {took[len(took) // 2] * 1000:.0f} ms, "
        f"longest {took[-1] * 1000:.0f} ms"
    )


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--stored", type=int, default=20_000)
    parser.add_argument("--gone", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measured(Path(folder), options.stored, options.gone)


if __name__ == "__main__":
    main()
