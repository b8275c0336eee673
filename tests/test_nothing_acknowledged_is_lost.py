"""What was acknowledged survives: a killed process, a lost or damaged derived file, any number of times."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory, Project
from graphmem.instant import from_iso
from graphmem.model import ObservationFilter

ROOT = Path(__file__).resolve().parents[1]
STORY = ROOT / "fixtures" / "story" / "observations.jsonl"
NOW = from_iso("2026-05-29T16:00:00Z")
PATHS = ("src/auth/token.ts", "src/cart/store.ts", "src/search/suggest.ts", "src/payment/paypal_legacy.ts")

WRITER = """
import itertools, sys
from graphmem import Memory

memory = Memory(sys.argv[1])
project, _ = memory.register(sys.argv[2])
for number in itertools.count(int(sys.argv[3])):
    ids = [f"o-{number}-{part}" for part in range(int(sys.argv[4]))]
    files = [f"src/a{number % 7}.py", "src/b.py"]
    receipt = project.observe([{"id": id, "title": f"change {id}", "files_modified": files} for id in ids])
    print(*receipt.ids, flush=True)
"""


@contextmanager
def writer(home: Path, root: Path, first: int, batch: int) -> Iterator[subprocess.Popen[str]]:
    """A real process that observes without end and prints each acknowledgement."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(home), str(root), str(first), str(batch)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        assert process.stdout
        process.stdout.close()


@pytest.mark.parametrize("batch", [1, 25])
@pytest.mark.parametrize("acknowledgements", [1, 12])
def test_a_process_killed_after_an_acknowledgement_loses_none(
    tmp_path: Path, acknowledgements: int, batch: int
) -> None:
    home, root = tmp_path / "home", tmp_path / "shop"
    root.mkdir()
    acknowledged: list[str] = []
    for life in range(2):
        with writer(home, root, 1000 * life, batch) as process:
            assert process.stdout
            for _ in range(acknowledgements):
                acknowledged += process.stdout.readline().split()
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
    assert len(acknowledged) == 2 * acknowledgements * batch
    moment = time.time()
    with Memory(home, clock=lambda: moment) as memory:
        project = memory.project(str(root))
        assert project.wait_visible()
        for id in acknowledged:
            assert project.observation(id).title == f"change {id}"
        assert project.stats().observations == project.info.observations >= len(acknowledged)
        before = answers(project, ("src/b.py", "src/a0.py"))
        project.rebuild()
        assert answers(project, ("src/b.py", "src/a0.py")) == before


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that holds the story, closed."""
    folder = tmp_path_factory.mktemp("told")
    (folder / "shop").mkdir()
    with Memory(folder / "home", clock=lambda: NOW) as memory:
        project, _ = memory.register(str(folder / "shop"), "shop")
        project.observe([json.loads(line) for line in STORY.read_text(encoding="utf-8").splitlines()])
        assert project.wait_visible()
    return folder / "home"


@pytest.fixture
def home(told: Path, tmp_path: Path) -> Path:
    """A copy of that home, times included, for one test to damage."""
    subprocess.run(["cp", "-Rp", str(told), str(tmp_path / "home")], check=True)
    return tmp_path / "home"


def derived_of(home: Path) -> Path:
    (found,) = home.glob("projects/*/derived.db")
    return found


def answers(project: Project, paths: tuple[str, ...] = PATHS) -> list[object]:
    """Everything a user can ask that comes out of the derived file."""
    stats = replace(project.stats(), derived_bytes=0, journal_bytes=0, alerts_given=0)
    return [
        stats,
        *(project.impact([path], as_of=NOW, limit=100) for path in paths),
        *(project.observations(ObservationFilter(file=path), limit=100) for path in paths),
        project.sessions(limit=100),
        project.search("token 购物车", limit=20),
        project.strongest_links(20),
        project.busiest_files(20),
    ]


def asked(home: Path) -> list[object]:
    with Memory(home, clock=lambda: NOW) as memory:
        project = memory.project("shop")
        assert project.wait_visible()
        return answers(project)


def delete(path: Path) -> None:
    path.unlink()


def fill_with_noise(path: Path) -> None:
    path.write_bytes(random.Random(7).randbytes(path.stat().st_size))


def fill_all_but_the_head_with_noise(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:4096] + random.Random(7).randbytes(len(content) - 4096))


def cut_in_half(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def cut_to_nothing(path: Path) -> None:
    os.truncate(path, 0)


def put_a_text_there(path: Path) -> None:
    path.write_text("this is no database\n" * 500, encoding="utf-8")


DAMAGES = [
    delete,
    fill_with_noise,
    fill_all_but_the_head_with_noise,
    cut_in_half,
    cut_to_nothing,
    put_a_text_there,
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_lost_or_damaged_derived_file_is_rebuilt_to_the_same_answers(
    home: Path, damage: Callable[[Path], None]
) -> None:
    before = asked(home)
    damage(derived_of(home))
    assert asked(home) == before
    assert asked(home) == before, "and it stays so"


@pytest.mark.parametrize("damage", DAMAGES[1:3])
def test_damage_that_leaves_size_and_time_as_they_were_is_met_when_asked(
    home: Path, damage: Callable[[Path], None]
) -> None:
    before = asked(home)
    derived = derived_of(home)
    status = derived.stat()
    damage(derived)
    os.utime(derived, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert asked(home) == before


def test_the_derived_file_of_an_older_day_catches_up(home: Path) -> None:
    old = derived_of(home).read_bytes()
    with Memory(home, clock=lambda: NOW) as memory:
        project = memory.project("shop")
        project.observe([{"id": "late", "title": "later", "files_modified": list(PATHS[:2]), "at": NOW - 60}])
        assert project.wait_visible()
        before = answers(project)
    derived_of(home).write_bytes(old)
    assert asked(home) == before


def test_start_up_does_not_replay_the_journal(home: Path) -> None:
    counts = []
    for _ in range(3):
        with Memory(home, clock=lambda: NOW) as memory:
            project = memory.project("shop")
            project.impact([PATHS[0]])
            counts.append((project.applied(), project.stats().observations))
    assert counts == [(79, 79)] * 3


def test_start_up_after_a_kill_carries_over_only_what_is_new(tmp_path: Path) -> None:
    home, root = tmp_path / "home", tmp_path / "shop"
    root.mkdir()
    with Memory(home) as memory:
        project, _ = memory.register(str(root))
        project.observe([{"id": f"first-{n}", "files_modified": ["src/b.py"]} for n in range(50)])
        assert project.wait_visible()
    with writer(home, root, 0, 1) as process:
        assert process.stdout
        process.stdout.readline()
    with Memory(home) as memory:
        project = memory.project(str(root))
        assert project.wait_visible()
        assert project.applied() == project.info.observations


def test_a_forgotten_observation_stays_forgotten_after_a_rebuild(home: Path) -> None:
    with Memory(home, clock=lambda: NOW) as memory:
        memory.project("shop").forget("shop-077")
        before = answers(memory.project("shop"))
    delete(derived_of(home))
    assert asked(home) == before
    with Memory(home, clock=lambda: NOW) as memory:
        receipt = memory.project("shop").observe([{"id": "shop-077", "title": "again"}])
        assert (receipt.accepted, receipt.duplicates) == (0, 1)


def test_a_service_killed_after_its_answer_loses_none(
    start_service: Callable[..., Any], tmp_path: Path
) -> None:
    acknowledged: list[str] = []
    for life in range(2):
        service = start_service(tmp_path / "home")
        project = service.project(tmp_path / "shop")
        for number in range(8):
            batch = [
                {"id": f"{life}-{number}-{part}", "title": "x", "files_read": ["a"]} for part in range(5)
            ]
            answer = service.client.post(f"{project}/observations", json=batch)
            assert answer.status_code == 201
            acknowledged += answer.json()["ids"]
        os.kill(service.process.pid, signal.SIGKILL)
        service.process.wait()
    service = start_service(tmp_path / "home")
    project = service.project(tmp_path / "shop")
    for id in acknowledged:
        assert service.client.get(f"{project}/observations/{id}").status_code == 200
    assert service.client.get(f"{project}/stats").json()["observations"] == len(acknowledged) == 80
