"""The promise that the graph is a projection: whatever becomes of its files, no answer changes."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory, Project
from graphmem.graph import (
    Decision,
    Declaration,
    Direction,
    EdgeFilter,
    EdgeKind,
    EdgeStatus,
    Relation,
    VerdictKind,
)
from graphmem.instant import from_iso

STORY = Path(__file__).resolve().parents[1] / "fixtures" / "story"
ASKED_AT = from_iso(json.loads((STORY / "expectations.json").read_text(encoding="utf-8"))["asked_at"])
TOKEN, SESSION, STORE = "src/auth/token.ts", "src/checkout/session.ts", "src/cart/store.ts"

Damage = Callable[[Path], None]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "shop").mkdir()
    return tmp_path / "home"


@pytest.fixture
def told(home: Path, tmp_path: Path) -> dict[str, Any]:
    """The answers after the story and some verdicts; the memory is closed."""
    with Memory(home, clock=lambda: ASKED_AT) as memory:
        project, _ = memory.register(tmp_path / "shop")
        project.import_jsonl(str(STORY / "observations.jsonl"))
        project.wait_visible()
        project.graph.infer()
        first, second, third, *_ = project.graph.edges().items
        project.graph.judge(
            [
                Decision(first.id, VerdictKind.CONFIRM, Relation.DEPENDS_ON, Direction.BACKWARD, by="mei"),
                Decision(second.id, VerdictKind.CONFIRM, Relation.TESTS, Direction.BACKWARD, by="mei"),
                Decision(third.id, VerdictKind.REJECT, note="only tests", by="mei"),
            ]
        )
        project.graph.declare(
            [
                Declaration("src/cart/store.ts", "src/checkout/session.ts", Relation.DEPENDS_ON),
                Declaration("contract:POST /api/v2/auth/session", TOKEN, Relation.IMPLEMENTS),
            ]
        )
        project.graph.infer()
        return answers(project)


@pytest.fixture
def again(home: Path, tmp_path: Path) -> Iterator[Callable[[], Project]]:
    """Opens the memory anew; it is closed when the test ends."""
    opened: list[Memory] = []

    def open_project() -> Project:
        opened.append(Memory(home, clock=lambda: ASKED_AT))
        return opened[-1].project(str(tmp_path / "shop"))

    yield open_project
    for memory in opened:
        memory.close()


def answers(project: Project) -> dict[str, Any]:
    """Everything the graph has a part in, as it is told."""
    graph = project.graph
    every = EdgeFilter(statuses=tuple(EdgeStatus), kinds=tuple(EdgeKind))
    edges = graph.edges(every, limit=200).items
    names = [TOKEN, SESSION, STORE, "contract:POST /api/v2/auth/session"]
    modules = graph.modules(limit=200)
    return {
        "edges": edges,
        "queue": [graph.edges(EdgeFilter(order=order)).items for order in ("value", "probability", "recent")],
        "dependents": [graph.dependents(name) for name in names],
        "dependencies": [graph.dependencies(name) for name in names],
        "paths": [graph.path(a, b) for a in names for b in names if a < b],
        "modules": modules,
        "each module": [graph.module(module.id) for module in modules.items],
        "overview": graph.overview(1_000),
        "health": graph.health(200),
        "impact": project.impact([TOKEN]),
    }


def graph_files(home: Path) -> list[Path]:
    return sorted((home / "projects").glob("*/graph*"))


def missing(home: Path) -> None:
    for path in graph_files(home):
        path.unlink()


def random_bytes(home: Path) -> None:
    for path in graph_files(home):
        path.write_bytes(random.Random(7).randbytes(max(path.stat().st_size, 4_096)))


def changed_inside(home: Path) -> None:
    (path,) = [path for path in graph_files(home) if path.name == "graph.kuzu"]
    with path.open("r+b") as file:
        for place in range(0, path.stat().st_size, 16_384):
            file.seek(place + 100)
            file.write(random.Random(place).randbytes(512))


def truncated(home: Path) -> None:
    for path in graph_files(home):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(home: Path) -> None:
    for path in graph_files(home):
        path.write_bytes(b"")


def bad_log(home: Path) -> None:
    (path,) = [path for path in graph_files(home) if path.name == "graph.kuzu"]
    path.with_name("graph.kuzu.wal").write_bytes(random.Random(3).randbytes(9_000))


def folders_in_their_place(home: Path) -> None:
    for path in graph_files(home):
        path.unlink()
        path.mkdir()
        (path / "inside").write_text("not a graph", encoding="utf-8")


def another_kind_of_file(home: Path) -> None:
    (journal,) = (home / "projects").glob("*/journal.db")
    for path in graph_files(home):
        shutil.copy(journal, path)


def derived_too(home: Path) -> None:
    missing(home)
    for path in (home / "projects").glob("*/derived.db*"):
        path.unlink()


DAMAGES: list[Damage] = [
    missing,
    random_bytes,
    changed_inside,
    truncated,
    empty,
    bad_log,
    folders_in_their_place,
    another_kind_of_file,
    derived_too,
]


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_no_answer_changes_whatever_becomes_of_the_graphs_files(
    damage: Damage, home: Path, told: dict[str, Any], again: Callable[[], Project]
) -> None:
    assert graph_files(home)
    damage(home)
    project = again()
    project.wait_visible()
    now = answers(project)
    for question, answer in told.items():
        assert now[question] == answer, question


@pytest.mark.slow
def test_a_graph_that_vanishes_under_an_open_memory_is_answered_from_and_rebuilt_later(
    home: Path, told: dict[str, Any], again: Callable[[], Project]
) -> None:
    project = again()
    assert answers(project) == told
    missing(home)
    project.rebuild()
    project.wait_visible()
    now = answers(project)
    assert now["dependents"] == told["dependents"]
    assert now["modules"] == told["modules"]


@pytest.mark.slow
def test_with_the_graph_held_by_another_program_walks_say_so_and_lists_still_answer(
    home: Path, told: dict[str, Any], again: Callable[[], Project]
) -> None:
    (path,) = [path for path in graph_files(home) if path.name == "graph.kuzu"]
    hold = (
        "import kuzu, sys\n"
        "database = kuzu.Database(sys.argv[1], max_db_size=1 << 34, buffer_pool_size=1 << 26)\n"
        "kuzu.Connection(database)\n"
        "print('held', flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        project = again()
        found = project.graph.dependents(TOKEN)
        assert found.degraded is not None and "graph is away" in found.degraded
        assert not found.complete and found.confirmed == () and found.likely == ()
        linked = project.graph.path(TOKEN, SESSION)
        assert linked.degraded is not None and linked.paths == ()
        assert project.graph.modules().degraded is not None
        assert project.graph.overview(1_000).degraded is not None
        assert (
            project.graph.edges(EdgeFilter(statuses=tuple(EdgeStatus), kinds=tuple(EdgeKind)), 200).items
            == (told["edges"])
        )
        assert replace(project.impact([TOKEN])) == told["impact"]
        holder.communicate()


@pytest.mark.slow
def test_what_was_forgotten_is_in_no_file_of_the_graph(
    home: Path, told: dict[str, Any], again: Callable[[], Project]
) -> None:
    secret = "zanzibar-quetzal-4711"
    project = again()
    project.observe([{"id": "gone", "title": secret, "files_modified": [f"src/{secret}.ts", TOKEN]}])
    project.wait_visible()
    project.graph.dependents(TOKEN)
    project.forget("gone")
    project.graph.dependents(TOKEN)
    project.close()
    files = [path for path in (home / "projects").rglob("*") if path.is_file()]
    assert [path.name for path in files if secret.encode() in path.read_bytes()] == []
