"""Owns what the tests of the memory share: memories with a clock, a path resolver, runs of an importer.

The path resolver's history is given as a set of names; an importer is driven as the memory drives it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from graphmem import Memory, Project, hook_program
from graphmem.capture.source import Batch, Importer, ImportTally
from graphmem.database import Database
from graphmem.derived import open_derived
from graphmem.errors import SourceError
from graphmem.graph import NodeName
from graphmem.graph_content import content, mark
from graphmem.identity import PathResolver
from graphmem.instant import from_iso
from graphmem.journal import Journal
from graphmem.model import ImportReport, Observation, Receipt
from graphmem.nodes import NodeTable, number_of
from graphmem.postings import Postings, View
from graphmem.projection import catch_up
from graphmem.recall.edges import Edges
from graphmem.references import References
from graphmem.store.memory import MemoryStore

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


@dataclass(slots=True)
class Recorded:
    """A journal and the derived file that follows it, with edges and modules put in as a test wants them."""

    journal: Journal
    database: Database

    def tell(self, *observations: Observation) -> None:
        self.journal.append(observations, 0.0)
        catch_up(self.journal, self.database)

    def view(self, as_of: float | None = None) -> AbstractContextManager[View]:
        return Postings(self.database).view(as_of)

    def number(self, reference: str) -> int:
        """Return the node of a reference; features and what nobody knows are put in by name."""
        with self.view() as view:
            references = References(view)
            name = references.name(reference, str)
            known = references.number(name)
        return self._put_in(name) if known is None else known

    def _put_in(self, name: NodeName) -> int:
        with self.database.write() as connection:
            row = connection.execute("INSERT INTO named (type, name) VALUES (?, ?)", tuple(name))
        return number_of(NodeTable.NAMED, row.lastrowid or 0)

    def edge(self, id: str, source: str, target: str, **columns: Any) -> None:
        """Put a row of the table `edge` in; whatever is not given is a candidate of two joint changes."""
        values: dict[str, Any] = {
            "kind": "co_changes",
            "status": "candidate",
            "origin": "inferred",
            "probability": 0.5,
            "value": 1.0,
            "relation": None,
            "direction": None,
            "together": 2,
            "of": 4,
            "sessions": 2,
            "last_seen": 0.0,
            "keys": "",
            "file": 0.5,
            "concept": 0.0,
            "temporal": 0.0,
            "updated_at": 0.0,
            "reason": None,
        } | columns
        values |= {"id": id, "source": self.number(source), "target": self.number(target)}
        names, places = ", ".join(values), ", ".join(f":{name}" for name in values)
        with self.database.write() as connection:
            connection.execute(f"INSERT INTO edge ({names}) VALUES ({places})", values)

    def edges(self, view: View, **more: Any) -> Edges:
        return Edges(view, self.journal.ledger, **more)

    def graph(self) -> MemoryStore:
        """Return the graph of what the derived file holds."""
        store = MemoryStore()
        with self.view() as view:
            store.load(content(view.connection), mark(view.connection))
        return store

    def module(self, id: str, label: str, *members: str, level: int = 0) -> None:
        rows = [(self.number(member), level, id) for member in members]
        with self.database.write() as connection:
            connection.execute(
                "INSERT INTO module VALUES (?, ?, ?, NULL, '', '[]', '[]', '[]', 1.0, 0.0, '', '[]')",
                (id, label, level),
            )
            connection.executemany("INSERT INTO member VALUES (?, ?, ?)", rows)


@pytest.fixture
def recorded() -> Iterator[Callable[..., Recorded]]:
    """A builder of files in memory from observations; all are closed when the test ends."""
    with ExitStack() as opened:

        def build(*observations: Observation) -> Recorded:
            journal, database = Journal(None), open_derived(None)
            opened.callback(journal.close)
            opened.callback(database.close)
            made = Recorded(journal, database)
            made.tell(*observations)
            return made

        yield build


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


# ---- the hook program ---------------------------------------------------------------------------


class HookRun(NamedTuple):
    """What one run of the program left behind."""

    status: int
    printed: str
    complaints: str


@dataclass(slots=True)
class HookClient:
    """A client with a home: fires hooks, and reads what they left there."""

    home: Path
    environment: dict[str, str] = field(default_factory=dict)

    def command(self, client: str, *more: str) -> list[str]:
        """Return the command line; a service it starts is none, if `more` names no other interpreter."""
        program = [sys.executable, "-I", "-S", hook_program.__file__, client]
        return [*program, "--home", str(self.home), "--python", shutil.which("true") or "", *more]

    def fires(self, event: object, client: str = "claude-code", *more: str, shell: str = "") -> HookRun:
        """Run the program to its end; one that does not end fails the test."""
        raw = event if isinstance(event, bytes) else json.dumps(event).encode()
        command = self.command(client, *more)
        if shell:
            command = ["sh", "-c", f'{shell}; exec "$@"', "sh", *command]
        done = subprocess.run(
            command, input=raw, capture_output=True, timeout=20, env=os.environ | self.environment
        )
        return HookRun(done.returncode, done.stdout.decode(), done.stderr.decode())

    def spooled(self) -> list[dict[str, Any]]:
        spool = self.home / "spool" / "events.jsonl"
        lines = spool.read_bytes().split(b"\n") if spool.exists() else []
        return [json.loads(line) for line in lines if line.strip()]

    def logged(self) -> list[str]:
        log = self.home / "logs" / "hook.log"
        return log.read_text(encoding="utf-8").splitlines() if log.exists() else []


@pytest.fixture
def client(tmp_path: Path) -> HookClient:
    """An agent client with a home of its own that does not exist yet."""
    return HookClient(tmp_path / "home")
