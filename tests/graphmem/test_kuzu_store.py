"""What only a graph in files can meet: damage, another process, a full disk, an end in the middle, room."""

from __future__ import annotations

import ctypes
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from graphmem.graph import Direction, EdgeKind, EdgeStatus, NodeType, Relation
from graphmem.store.files import GraphFiles
from graphmem.store.kuzu import KuzuStore
from graphmem.store.port import (
    GraphContent,
    GraphEdge,
    GraphFault,
    GraphFull,
    GraphModule,
    GraphNode,
    GraphObservation,
    GraphSlow,
    Mark,
    Towards,
)

ROOT = Path(__file__).resolve().parents[2]
MARK = Mark(3, 1, 1)
NODES = [GraphNode(number, NodeType.FILE, f"f{number}") for number in range(0, 400, 4)]
PRELUDE = """
import resource, sys, threading
from pathlib import Path
from graphmem.graph import *
from graphmem.store.kuzu import KuzuStore
from graphmem.store.port import *
path = Path(sys.argv[1])
def edge(id, source, target, probability):
    return GraphEdge(id, source, target, EdgeKind.ABOUT, EdgeStatus.CANDIDATE, probability)
def say(*words):
    print(*words, flush=True)
"""


def edge(id: str, source: int, target: int, probability: float = 0.5) -> GraphEdge:
    confirmed = (EdgeStatus.CONFIRMED, probability, Relation.TESTS, Direction.FORWARD)
    return GraphEdge(id, source, target, EdgeKind.ABOUT, *confirmed)


CONTENT = GraphContent(
    NODES,
    [edge(f"e{number}", 4 * number, 4 * number + 4) for number in range(90)],
    [GraphObservation(1, 1.0, "t", "s", (0, 4))],
    [GraphModule("m", "l", 0, None, (0, 4))],
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "graph.kuzu"


@pytest.fixture
def filled(path: Path) -> Path:
    """The path of a closed graph with some content."""
    store = KuzuStore(path)
    store.load(CONTENT, MARK)
    store.close()
    return path


def wal(path: Path) -> Path:
    return path.with_name(path.name + ".wal")


def scripted(path: Path, script: str, **more: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PRELUDE + script, str(path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        **more,
    )


def killed_after(path: Path, script: str, lines: int) -> list[str]:
    """Run a script and end it without mercy once it has said so many lines; return them."""
    with scripted(path, script) as process:
        assert process.stdout is not None
        said = [process.stdout.readline().strip() for _ in range(lines)]
        process.kill()
    assert process.returncode == -signal.SIGKILL, said
    return said


def test_nothing_is_imported_before_a_graph_is_opened() -> None:
    script = (
        "import sys, graphmem.store.kuzu, graphmem.store.memory, graphmem.store.files\n"
        "print(sorted({'kuzu', 'pyarrow', 'numpy'} & set(sys.modules)))"
    )
    said = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert said.stdout.strip() == "[]"


def test_a_graph_that_is_opened_again_answers_the_same(filled: Path) -> None:
    for _ in range(3):
        store = KuzuStore(filled)
        assert (store.mark(), store.members("m"), store.observations_of([0, 4])) == (MARK, (0, 4), (1,))
        assert [found.node for found in store.walk(0, Towards.DEPENDENCIES).reached] == [4, 8, 12]
        store.close()


def test_the_graph_is_a_graph_to_whoever_looks_into_the_file(filled: Path) -> None:
    import kuzu

    database = kuzu.Database(str(filled), read_only=True, buffer_pool_size=64 << 20, max_db_size=1 << 32)
    connection = kuzu.Connection(database)

    def ask(cypher: str) -> list[list[Any]]:
        return list(connection.execute(cypher).get_all())

    tables = {row[0] for row in ask("CALL show_tables() RETURN name")}
    assert {"File", "Concept", "Contract", "Feature", "Module", "Session", "Observation"} <= tables
    assert {"TOUCHED", "MENTIONS", "IN_SESSION", "EDGE", "DEPENDS", "MEMBER_OF"} <= tables
    assert ask("MATCH (a:File {name: 'f0'})-[e:EDGE]->(b) RETURN e.id, b.name") == [["e0", "f4"]]
    touched = "MATCH (s:Session)<-[:IN_SESSION]-(o:Observation)-[:TOUCHED]->(f:File) RETURN s.name, f.name"
    assert sorted(ask(touched)) == [["s", "f0"], ["s", "f4"]]
    connection.close()
    database.close()


# ---- damage --------------------------------------------------------------------------------------


def _flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for place in random.Random(1).sample(range(len(content)), 2_000):
        content[place] ^= 0xFF
    path.write_bytes(content)


def _directory(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "inside").write_text("x")


def _other_version(path: Path) -> None:
    seal = path.with_suffix(".seal")
    seal.write_text("99" + seal.read_text().removeprefix("1"))


DAMAGE: dict[str, Callable[[Path], object]] = {
    "no bytes": lambda path: path.write_bytes(b""),
    "random bytes": lambda path: path.write_bytes(random.Random(1).randbytes(path.stat().st_size)),
    "few random bytes": lambda path: path.write_bytes(b"\x00\xff"),
    "text": lambda path: path.write_text("hello\n" * 1_000),
    "half of it": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "one page": lambda path: path.write_bytes(path.read_bytes()[:4_096]),
    "a byte short": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "flipped bytes": _flipped,
    "a folder": _directory,
    "the file gone, its seal left": lambda path: path.rename(path.with_name("elsewhere")),
    "a link to nowhere": lambda path: (path.unlink(), path.symlink_to(path.parent / "nowhere")),
    "another version": _other_version,
    "a torn seal": lambda path: path.with_suffix(".seal").write_bytes(b"\xff1"),
    "no seal": lambda path: path.with_suffix(".seal").unlink(),
    "a log from elsewhere": lambda path: wal(path).write_bytes(random.Random(1).randbytes(5_000)),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_file_is_a_fault_and_can_be_set_aside(
    filled: Path, damage: Callable[[Path], object]
) -> None:
    damage(filled)
    if os.path.lexists(filled):
        with pytest.raises(GraphFault, match=r"^The graph .*; it must be built anew\.$"):
            KuzuStore(filled)
        GraphFiles(filled.parent).set_aside()
    store = KuzuStore(filled)
    assert store.mark() is None
    store.load(CONTENT, MARK)
    assert store.counts().edges == 90
    store.close()


CHANGING = """
store = KuzuStore(path)
for number in range(1, 1_000):
    change = GraphChange(edges=[edge("e0", 0, 4, number / 1_000), edge(f"n{number}", 4, 8, 0.5)])
    store.apply(change, Mark(3, number, number))
    say(number)
"""


@pytest.mark.parametrize("changes", [1, 7, 40])
def test_a_process_killed_among_changes_leaves_a_true_mark_or_a_fault(filled: Path, changes: int) -> None:
    said = killed_after(filled, CHANGING, changes)
    assert said[-1] == str(changes)
    try:
        store = KuzuStore(filled)
    except GraphFault as fault:
        assert str(fault).endswith("must be built anew.")
        return
    mark = store.mark()
    assert mark is not None
    assert mark.change >= changes
    (first,) = [near for near in store.beside(0).beside if near.edge == "e0"]
    assert round(first.probability * 1_000) == mark.change
    assert store.counts().edges == 90 + mark.change
    store.close()


LEFT_OPEN = """
store = KuzuStore(path)
store.apply(GraphChange(edges=[edge("new", 0, 8, 0.9)]), Mark(3, 2, 2))
say("changed")
threading.Event().wait()
"""
LOG_DAMAGE: dict[str, Callable[[Path], object]] = {
    "random bytes": lambda log: log.write_bytes(random.Random(1).randbytes(log.stat().st_size)),
    "flipped bytes": _flipped,
    "half of it": lambda log: log.write_bytes(log.read_bytes()[: log.stat().st_size // 2]),
    "no bytes": lambda log: log.write_bytes(b""),
    "nothing": lambda log: log.unlink(),
}


def test_a_change_survives_the_process_that_made_it(filled: Path) -> None:
    killed_after(filled, LEFT_OPEN, 1)
    assert wal(filled).stat().st_size > 0
    store = KuzuStore(filled)
    assert (store.mark(), store.beside(0).beside[0].edge) == (Mark(3, 2, 2), "new")
    store.close()


@pytest.mark.parametrize("damage", LOG_DAMAGE.values(), ids=LOG_DAMAGE)
def test_a_damaged_log_does_not_lose_a_change_silently(
    filled: Path, damage: Callable[[Path], object]
) -> None:
    killed_after(filled, LEFT_OPEN, 1)
    if damage is _flipped:
        wal(filled).write_bytes(bytes(byte ^ 0x55 for byte in wal(filled).read_bytes()))
    else:
        damage(wal(filled))
    with pytest.raises(GraphFault, match="built anew"):
        KuzuStore(filled)


LOADING = """
store = KuzuStore(path)
def slowly():
    for number in range(300_000):
        if number % 50_000 == 0:
            say("edge", number)
        yield edge(f"x{number}", 0, 4, 0.5)
nodes = [GraphNode(number, NodeType.FILE, "f") for number in (0, 4)]
store.load(GraphContent(nodes, slowly()), Mark(9, 9, 9))
say("loaded")
threading.Event().wait()
"""


@pytest.mark.parametrize("lines", [1, 3, 6])
def test_a_process_killed_while_loading_leaves_the_old_graph(filled: Path, lines: int) -> None:
    killed_after(filled, LOADING, lines)
    store = KuzuStore(filled)
    assert (store.mark(), store.counts().edges) == (MARK, 90)
    store.load(CONTENT, Mark(4, 4, 4))
    assert store.mark() == Mark(4, 4, 4)
    store.close()
    assert sorted(found.name for found in filled.parent.iterdir()) == ["graph.kuzu", "graph.seal"]


# ---- other processes, the disk -------------------------------------------------------------------


def test_a_file_that_another_process_holds_is_left_alone(filled: Path) -> None:
    with scripted(
        filled, 'store = KuzuStore(path)\nsay("open")\nsys.stdin.read()', stdin=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        with pytest.raises(GraphFull, match="in use by another program"):
            KuzuStore(filled)
        other.kill()
    store = KuzuStore(filled)
    assert store.mark() == MARK
    store.close()


FULL = """
limit = int(sys.argv[2])
store = KuzuStore(path)
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
nodes = [GraphNode(number, NodeType.FILE, f"f{number}" * 20) for number in range(0, 40_000, 4)]
try:
    store.load(GraphContent(nodes), Mark(9, 9, 9))
except GraphFull as fault:
    say("full", fault)
say(store.mark().change, store.counts().edges)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="platform: no limit of file sizes")
def test_a_load_onto_a_full_disk_says_so_and_keeps_the_old_graph(filled: Path) -> None:
    limit = str(filled.stat().st_size // 4)
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + FULL, str(filled), limit],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    said = done.stdout.splitlines()
    assert said[0].startswith("full The disk that holds"), done.stderr
    assert said[1] == "1 90"
    assert not filled.with_name("graph.kuzu.loading").exists()


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="platform: root may write anywhere"
)
def test_a_folder_that_can_not_be_written_is_no_damage(filled: Path) -> None:
    filled.parent.chmod(0o500)
    filled.chmod(0o400)
    try:
        with pytest.raises(GraphFull, match="can't be written"):
            KuzuStore(filled)
    finally:
        filled.parent.chmod(0o700)


# ---- time, room, closing -------------------------------------------------------------------------


def test_a_question_without_time_says_that_it_was_cut(path: Path) -> None:
    store = KuzuStore(path, timeout_ms=0)
    store.load(CONTENT, MARK)
    cut = "took longer than 0 ms"
    assert store.walk(0, Towards.DEPENDENCIES).cut == cut
    assert store.beside(0).cut == cut
    assert store.ways(0, 8).cut == cut
    assert (store.mark(), store.counts().edges, store.members("m")) == (MARK, 90, (0, 4))
    store.close()


def test_a_question_that_can_not_say_it_was_cut_is_no_damage(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = KuzuStore(filled)
    monkeypatch.setattr("graphmem.store.kuzu._PATIENT_MS", 0)
    with pytest.raises(GraphSlow, match="took longer than 0 ms; ask again"):
        store.members("m")
    monkeypatch.undo()
    assert store.members("m") == (0, 4)
    store.close()


def test_closing_waits_for_questions_under_way(filled: Path) -> None:
    store = KuzuStore(filled, timeout_ms=60_000)
    begun = threading.Barrier(5)

    def ask() -> set[object]:
        answers: set[object] = set()
        begun.wait(20)
        while True:
            try:
                answers.add(store.beside(0))
            except GraphFault as fault:
                assert "closed" in str(fault)
                return answers

    with ThreadPoolExecutor(4) as threads:
        asked = [threads.submit(ask) for _ in range(4)]
        begun.wait(20)
        store.close()
        assert set().union(*(answer.result() for answer in asked)) <= {ask_once(filled)}


def ask_once(path: Path) -> object:
    store = KuzuStore(path, timeout_ms=60_000)
    try:
        return store.beside(0)
    finally:
        store.close()


def test_a_file_that_has_outgrown_its_content_wants_to_be_loaded_anew(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphmem.store.kuzu_lending._ROOM", 1)
    monkeypatch.setattr("graphmem.store.kuzu_lending._GROWTH", 0.5)
    store = KuzuStore(filled)
    assert store.mark() is None
    assert store.counts().edges == 90
    monkeypatch.setattr("graphmem.store.kuzu_lending._GROWTH", 2)
    store.load(CONTENT, MARK)
    assert store.mark() == MARK
    store.close()
    store = KuzuStore(filled)
    assert store.mark() == MARK
    store.close()


ROOM = """
paths = [path.with_name(f"many{number}.kuzu") for number in range(24)]
for other in paths:
    other.write_bytes(path.read_bytes())
stores = []
import os, shutil
for other in paths:
    shutil.copy2(path, other)
    shutil.copy2(path.with_suffix(".seal"), other.with_suffix(".seal"))
    stores.append(KuzuStore(other, timeout_ms=60_000))
for _ in range(2):
    for store in stores:
        assert store.beside(0).beside[0].edge == "e0"
        store.apply(GraphChange(edges=[edge("e0", 0, 4, 0.7)]), Mark(3, 2, 2))
for store in stores:
    store.close()
say(int(peak()))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="platform: memory is counted in other units")
def test_many_graphs_at_once_share_a_bounded_room(filled: Path, peak_memory: str) -> None:
    with scripted(filled, peak_memory + ROOM) as process:
        said, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    assert int(said) < 800, "24 graphs at 55 MB each would take 1,300"


def test_files_copied_with_their_times_are_the_same_graph(filled: Path, tmp_path: Path) -> None:
    shutil.copytree(tmp_path, tmp_path / "copy", copy_function=shutil.copy2)
    store = KuzuStore(tmp_path / "copy" / filled.name)
    assert store.mark() == MARK
    store.close()


def test_memory_that_is_freed_beside_an_open_graph_keeps_no_text(tmp_path: Path) -> None:
    GraphFiles(tmp_path).open().close()
    system = ctypes.CDLL(None)
    system.malloc.restype, system.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    system.free.argtypes = [ctypes.c_void_p]
    size = 30_000
    for _ in range(20):
        place = system.malloc(size)
        ctypes.memset(place, ord("z"), size)
        system.free(place)
        again = system.malloc(size)
        held = ctypes.string_at(again, size)
        system.free(again)
        # Only glibc can be told to.
        assert b"zzzz" not in held or not hasattr(system, "mallopt")
