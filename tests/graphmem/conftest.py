"""Owns what the tests of the memory share: memories with a clock, a path resolver, runs of an importer.

The path resolver's history is given as a set of names; an importer is driven as the memory drives it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory, Project
from graphmem.capture.source import Batch, Importer, ImportTally
from graphmem.errors import SourceError
from graphmem.identity import PathResolver
from graphmem.instant import from_iso
from graphmem.model import ImportReport, Observation, Receipt

NOON = from_iso("2026-05-01T12:00:00Z")


@dataclass(slots=True)
class Clock:
    """The present moment as a test sets it, in epoch seconds."""

    now: float = NOON

    def __call__(self) -> float:
        return self.now

    def passes(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def open_memory(tmp_path: Path, clock: Clock) -> Iterator[Callable[..., Memory]]:
    """A way to open a memory on the test's own home, again after it was closed; closed when the test ends."""
    with ExitStack() as opened:
        yield lambda home="home": opened.enter_context(Memory(tmp_path / home, clock=clock))


@pytest.fixture
def memory(open_memory: Callable[..., Memory]) -> Memory:
    return open_memory()


@pytest.fixture
def shop(memory: Memory, tmp_path: Path) -> Project:
    """A project at `tmp_path / "shop"`, a plain folder."""
    (tmp_path / "shop").mkdir()
    return memory.register(tmp_path / "shop")[0]


@pytest.fixture
def tell() -> Callable[..., Receipt]:
    """Observe mappings, each of which must be taken or known, and wait until questions see them."""

    def told(project: Project, *items: dict[str, Any] | Observation) -> Receipt:
        receipt = project.observe(items)
        assert receipt.rejected == ()
        assert project.wait_visible()
        return receipt

    return told


@pytest.fixture
def learned() -> list[str]:
    return []


@pytest.fixture
def resolver(learned: list[str]) -> Callable[..., PathResolver]:
    def build(
        root: str | Path, history: Iterable[str] = (), *more: str, common_dir: str | None = None
    ) -> PathResolver:
        return PathResolver([str(root), *more], set(history).__contains__, common_dir, learned.append)

    return build


@dataclass(slots=True)
class ImportRun:
    """What one run of an importer brought: `new` in order, everything `known` so far by id, and the fault."""

    report: ImportReport
    cursor: str | None
    new: list[Observation]
    known: dict[str, Observation]
    batches: list[Batch] = field(default_factory=list)
    fault: SourceError | None = None

    def named(self, title: str) -> Observation:
        """Return the one new observation of that title."""
        (found,) = [item for item in self.new if item.title == title]
        return found


@pytest.fixture
def imports() -> Callable[..., ImportRun]:
    """Run an importer to its end as the memory does: an id counts once, the cursor goes into the next run.

    `after` is an earlier run to go on from; `at_most` ends the run after so many batches, as a crash would.
    """

    def run(
        importer: Importer,
        after: ImportRun | None = None,
        *,
        stop: threading.Event | None = None,
        at_most: int | None = None,
    ) -> ImportRun:
        tally = ImportTally(importer.source, importer.location)
        done = ImportRun(tally.report(), after and after.cursor, [], dict(after.known) if after else {})
        stream = importer.batches(done.cursor, stop)
        try:
            for batch in stream:
                before = len(done.known)
                for item in batch.items:
                    assert isinstance(item, Observation)
                    if done.known.setdefault(item.id, item) is item:
                        done.new.append(item)
                accepted = len(done.known) - before
                tally.add(batch, Receipt(accepted, len(batch.items) - accepted))
                done.cursor = batch.cursor
                done.batches.append(batch)
                if len(done.batches) == at_most:
                    break
        except SourceError as fault:
            done.fault = fault
        finally:
            stream.close()
        done.report = tally.report(stopped=stop is not None and stop.is_set())
        return done

    return run


@pytest.fixture
def peak_memory() -> str:
    """Source of `peak()`: the most memory the running process ever held, in MiB.

    Linux counts what a process was forked from into its `ru_maxrss`, so the kernel's own note is read there.
    """
    return """
import resource, sys
def peak():
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024
    except FileNotFoundError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most / (1024 * 1024 if sys.platform == "darwin" else 1024)
"""
