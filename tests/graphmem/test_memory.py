"""The memory as a whole: many projects, few of them open, one owner of a home, faults that stay local."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory, Project
from graphmem.errors import ConflictError, HomeError, InvalidInputError, NotFoundError, StorageError
from graphmem.memory import MAX_OPEN
from graphmem.model import FileStatus, ObservationFilter

ROOT = Path(__file__).resolve().parents[2]
Tell = Callable[..., Any]


@pytest.fixture
def many(memory: Memory, tmp_path: Path) -> Callable[[int], list[Project]]:
    """Projects in folders of their own."""

    def register(count: int) -> list[Project]:
        made = []
        for number in range(count):
            (tmp_path / "many" / f"p{number}").mkdir(parents=True)
            made.append(memory.register(tmp_path / "many" / f"p{number}")[0])
        return made

    return register


def followers() -> int:
    return sum(thread.name.startswith("follow ") for thread in threading.enumerate())


# ---- projects ----------------------------------------------------------------------------------


def test_a_folder_is_registered_once_and_found_by_slug_and_path(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "shop" / "src").mkdir(parents=True)
    project, created = memory.register(tmp_path / "shop")
    again, anew = memory.register(str(tmp_path / "shop"))
    assert (created, anew, again.id) == (True, False, project.id)
    for reference in ("shop", str(tmp_path / "shop"), str(tmp_path / "shop" / "src" / "a.py")):
        assert memory.project(reference).id == project.id
    assert [info.slug for info in memory.projects()] == ["shop"]
    with pytest.raises(NotFoundError):
        memory.project("shpo")
    with pytest.raises(NotFoundError):
        memory.project(str(tmp_path / "elsewhere"))


def test_a_slug_belongs_to_one_root(memory: Memory, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    memory.register(tmp_path / "one", "mine")
    with pytest.raises(ConflictError, match="mine belongs to the project at"):
        memory.register(tmp_path / "two", "mine")
    with pytest.raises(InvalidInputError):
        memory.register("relative/folder")
    assert [info.slug for info in memory.projects()] == ["mine"]


def test_two_projects_of_one_name_never_see_each_other(memory: Memory, tmp_path: Path, tell: Tell) -> None:
    made = {}
    for mark in ("wombat", "quokka"):
        (tmp_path / mark / "app").mkdir(parents=True)
        made[mark] = memory.register(tmp_path / mark / "app")[0]
        for number in range(4):
            tell(
                made[mark],
                {
                    "id": f"same-{number}",
                    "session": f"same-{number}",
                    "title": f"Change the {mark} login",
                    "concepts": [mark],
                    "files_modified": ["src/main.py", f"src/{mark}.py"],
                },
            )
    slugs = [info.slug for info in memory.projects()]
    assert len(set(slugs)) == 2 and all(slug.startswith("app") for slug in slugs)
    for mark, other in (("wombat", "quokka"), ("quokka", "wombat")):
        project = made[mark]
        seen = [
            project.impact(["src/main.py"], limit=200),
            project.impact([f"src/{other}.py"]).affected,
            project.observations(limit=200),
            project.observations(ObservationFilter(concept=other)),
            project.sessions(),
            project.session("same-1"),
            project.search("login"),
            project.search(other),
            project.strongest_links(),
            project.busiest_files(),
            project.observation("same-1"),
        ]
        assert other not in repr(seen)
        assert f"src/{mark}.py" in repr(seen)
        with pytest.raises(InvalidInputError, match="outside"):
            project.impact([str(tmp_path / other / "app" / "src" / "main.py")])
    made["wombat"].forget("same-1")
    assert made["quokka"].observation("same-1").title == "Change the quokka login"


# ---- few open at once --------------------------------------------------------------------------


@pytest.mark.slow
def test_many_projects_are_used_and_few_stay_open(many: Any, memory: Memory, tell: Tell) -> None:
    projects = many(20)
    for number, project in enumerate(projects):
        tell(project, {"id": "o", "files_modified": [f"{number}.py", "hub.py"]})
        assert followers() <= MAX_OPEN
    for number, project in enumerate(projects):
        assert project.impact(["hub.py"]).affected[0].path == f"{number}.py"
        assert project.applied() == 1
    assert followers() == MAX_OPEN
    assert [info.observations for info in memory.projects()] == [1] * 20
    memory.close()
    assert followers() == 0


@pytest.mark.slow
def test_forty_projects_are_used_by_many_threads(many: Any, memory: Memory) -> None:
    projects = many(40)

    def work(seed: int) -> list[tuple[int, str]]:
        order = random.Random(seed)
        stored = []
        for turn in range(15):
            number = order.randrange(40)
            (id,) = (
                projects[number]
                .observe([{"id": f"{seed}-{turn}", "files_modified": [f"{number}.py", "hub.py"]}])
                .ids
            )
            stored.append((number, id))
            assert projects[order.randrange(40)].impact(["hub.py"]).affected is not None
        return stored

    with ThreadPoolExecutor(8) as pool:
        stored = [entry for entries in pool.map(work, range(8)) for entry in entries]
    for number, project in enumerate(projects):
        mine = [id for place, id in stored if place == number]
        assert project.wait_visible()
        assert project.stats().observations == project.info.observations == project.applied() == len(mine)
        assert {observation.id for observation in project.observations(limit=200).items} == set(mine)
    assert followers() <= MAX_OPEN


def test_the_list_of_projects_opens_none(many: Any, memory: Memory, open_memory: Any, tell: Tell) -> None:
    for project in many(3):
        tell(project, {"title": "t"}, {"title": "u"})
    memory.close()
    again = open_memory()
    assert [info.observations for info in again.projects()] == [2, 2, 2]
    assert followers() == 0


# ---- one owner ---------------------------------------------------------------------------------


def test_a_second_memory_on_the_same_home_is_told_who_holds_it(memory: Memory, open_memory: Any) -> None:
    with pytest.raises(HomeError, match="in use by this process itself"):
        open_memory()
    memory.close()
    open_memory().close()


def test_another_process_is_named(memory: Memory) -> None:
    code = (
        "import sys\nfrom graphmem import Memory\nfrom graphmem.errors import HomeError\n"
        "try: Memory(sys.argv[1])\nexcept HomeError as fault: print(fault)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(memory.home.path)], cwd=ROOT, capture_output=True, text=True
    )
    assert f"process {os.getpid()} (library)" in done.stdout, done.stderr
    assert "graphmem stop" in done.stdout


def test_a_closed_memory_is_closed_for_all_who_hold_a_part_of_it(
    memory: Memory, shop: Project, tell: Tell, tmp_path: Path, open_memory: Any
) -> None:
    tell(shop, {"id": "a", "files_modified": ["a.py"]})
    memory.close()
    memory.close()
    with open_memory() as other:
        for late in (
            lambda: shop.observe([{"title": "late"}]),
            lambda: shop.impact(["a.py"]),
            lambda: shop.observation("a"),
            lambda: memory.project("shop"),
            lambda: memory.projects(),
            lambda: memory.register(tmp_path / "shop"),
        ):
            with pytest.raises(StorageError, match="closed; open"):
                late()
        assert other.project("shop").stats().observations == 1


def test_closing_a_memory_that_threads_use_ends_them_with_a_sentence(
    memory: Memory, shop: Project, open_memory: Any
) -> None:
    started = threading.Barrier(5)
    stored: list[str] = []

    def use(number: int) -> str:
        started.wait(20)
        for turn in range(100_000):
            try:
                stored.extend(shop.observe([{"id": f"{number}-{turn}", "files_modified": ["a.py"]}]).ids)
                shop.impact(["a.py"])
            except StorageError as fault:
                return str(fault)
        return "never closed"

    with ThreadPoolExecutor(4) as pool:
        users = [pool.submit(use, number) for number in range(4)]
        started.wait(20)
        while len(stored) < 20:
            threading.Event().wait(0.005)
        memory.close()
        assert all("is closed; open" in user.result() for user in users)
    with open_memory() as again:
        project = again.project("shop")
        for id in stored:
            assert project.observation(id).id == id
        assert project.wait_visible()
        assert project.applied() == project.info.observations


def test_a_memory_is_a_context(tmp_path: Path) -> None:
    with Memory(tmp_path / "home") as memory:
        (tmp_path / "shop").mkdir()
        assert memory.register(tmp_path / "shop")[0].observe([{"title": "t"}]).accepted == 1
    with Memory(tmp_path / "home") as memory:
        assert memory.project("shop").info.observations == 1


# ---- faults ------------------------------------------------------------------------------------


def test_a_home_that_is_a_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("x")
    with pytest.raises(HomeError, match=r"home .*is not a folder"):
        Memory(tmp_path / "home")


@pytest.mark.skipif(os.geteuid() == 0, reason="platform: root may write everywhere")
def test_a_home_that_may_not_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir(mode=0o500)
    with pytest.raises(HomeError, match="permissions forbid it"):
        Memory(tmp_path / "home")


def test_a_home_on_a_disk_that_takes_nothing_is_said() -> None:
    if not os.path.isdir("/proc/self"):
        pytest.skip("platform: needs a file system that can't be written to")
    with pytest.raises(HomeError, match=r"/proc/.*can't be written to because"):
        Memory("/proc/graphmem")


def test_a_journal_of_a_newer_version_stops_that_project_alone(
    memory: Memory, many: Any, open_memory: Any, tell: Tell
) -> None:
    newer, fine = many(2)
    for project in (newer, fine):
        tell(project, {"id": "a", "title": "t"})
    memory.close()
    raw = sqlite3.connect(memory.home.project_folder(newer.id) / "journal.db")
    raw.execute("PRAGMA user_version = 9")
    raw.close()
    again = open_memory()
    for ask in (
        lambda: again.project("p0").observe([{"title": "t"}]),
        lambda: again.project("p0").impact(["a.py"]),
        lambda: again.project("p0").stats(),
    ):
        with pytest.raises(StorageError, match=r"journal\.db was written by a newer GraphMem \(format 9"):
            ask()
    assert again.project("p1").observation("a").title == "t"
    assert [(info.slug, info.observations) for info in again.projects()] == [("p0", 0), ("p1", 1)]


def test_a_damaged_journal_stops_that_project_alone_and_is_left_as_it_is(
    memory: Memory, many: Any, open_memory: Any, tell: Tell
) -> None:
    broken, fine = many(2)
    for project in (broken, fine):
        tell(project, {"id": "a", "title": "t"})
    memory.close()
    journal = memory.home.project_folder(broken.id) / "journal.db"
    journal.write_bytes(random.Random(1).randbytes(20_000))
    before = journal.read_bytes()
    again = open_memory()
    with pytest.raises(StorageError, match=r"journal\.db is damaged"):
        again.project("p0").impact(["a.py"])
    assert again.project("p1").info.observations == 1
    assert journal.read_bytes() == before


def test_a_project_whose_folder_was_removed_begins_empty(
    memory: Memory, shop: Project, open_memory: Any, tell: Tell
) -> None:
    tell(shop, {"title": "t"})
    memory.close()
    shutil.rmtree(memory.home.project_folder(shop.id))
    again = open_memory()
    assert again.project("shop").impact(["a.py"]).status is FileStatus.UNKNOWN
    assert again.project("shop").info.observations == 0


FULL = """
import resource, signal, sys
from pathlib import Path
from graphmem import Memory
from graphmem.errors import GraphMemError, StorageError

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
NONE = resource.RLIM_INFINITY
with Memory(sys.argv[1]) as memory:
    project, _ = memory.register(sys.argv[2])
    project.observe([{"id": "before", "files_modified": ["a.py", "b.py"]}])
    assert project.wait_visible()
    resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, NONE))
    stored = 0
    try:
        while True:
            project.observe([{"id": f"o{stored}", "title": "x" * 9_000, "files_modified": ["a.py"]}])
            stored += 1
    except StorageError as fault:
        print(fault)
    print(project.observation("before").id, project.impact(["a.py"]).status.value)
    resource.setrlimit(resource.RLIMIT_FSIZE, (NONE, NONE))
    print(project.observe([{"id": "after", "title": "room again"}]).accepted)
    print(stored)
"""


@pytest.mark.slow
def test_a_full_disk_is_said_and_what_was_acknowledged_stays(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path / "home"), str(tmp_path / "shop")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    sentence, asked, after, stored = done.stdout.strip().splitlines()
    assert "journal.db" in sentence and sentence.endswith("try again.")
    assert (asked, after) == ("before known", "1")
    with Memory(tmp_path / "home") as memory:
        project = memory.project("shop")
        for id in ("before", "after", *(f"o{number}" for number in range(int(stored)))):
            assert project.observation(id).id == id
        assert project.wait_visible()
        assert project.stats().observations == int(stored) + 2
