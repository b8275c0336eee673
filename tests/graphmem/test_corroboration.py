"""Edges beside imports in the code: seen, hidden, silent, unknown; never evidence; kept, stale, forgotten."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory, Project
from graphmem.code_facts import CorroborationCounts
from graphmem.code_store import NAME
from graphmem.errors import InvalidInputError, SourceError
from graphmem.graph import EdgeFilter, EdgeOrder

Tell = Callable[..., Any]
FILES = {
    "src/cart.py": "from src import money",
    "src/money.py": "",
    "src/clock.py": "",
    "src/label.ts": "import './brand'",
    "src/brand.ts": "",
    "tests/test_money.py": "",
    "src/rare.py": "import src.clock",
    "notes.md": "",
}
TOGETHER = [
    ["src/cart.py", "src/money.py", "src/clock.py", "tests/test_money.py", "notes.md"],
    ["src/label.ts"],
    ["src/brand.ts"],
    ["src/rare.py"],
]


@pytest.fixture
def worked(shop: Project, tell: Tell, tmp_path: Path, clock: Any) -> Project:
    """A project with its code on the disk, changed over four sessions."""
    for path, text in FILES.items():
        place = tmp_path / "shop" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    work = [
        {
            "id": f"{session}-{number}",
            "session": f"s{session}-{number}",
            "at": clock.now - 100_000.0 * (20 - 4 * session - number),
            "title": f"Change {number}",
            "files_modified": files,
        }
        for session in range(4)
        for number, files in enumerate(TOGETHER)
    ]
    tell(shop, *work)
    shop.graph.infer()
    return shop


def seen(project: Project) -> dict[tuple[str, str], bool | None]:
    page = project.graph.edges(EdgeFilter(order=EdgeOrder.PROBABILITY), limit=200)
    return {tuple(sorted((edge.source.name, edge.target.name))): edge.seen_in_code for edge in page.items}  # type: ignore[misc]


def pairs(edges: Any) -> set[tuple[str, ...]]:
    return {tuple(sorted((edge.source.name, edge.target.name))) for edge in edges}


def test_before_anybody_looks_everything_is_unknown(worked: Project) -> None:
    found = worked.code.corroboration()
    assert found.reading is None
    assert found.counts == CorroborationCounts(unknown=len(seen(worked)))
    assert set(seen(worked).values()) == {None}


def test_edges_are_seen_hidden_or_unknown_after_a_reading(worked: Project) -> None:
    found = worked.code.read()
    assert pairs(found.hidden) == {("src/cart.py", "src/clock.py"), ("src/clock.py", "src/money.py")}
    assert pairs(found.hidden_tests) == {
        (f"src/{name}.py", "tests/test_money.py") for name in ("cart", "clock", "money")
    }
    assert found.counts == CorroborationCounts(seen=1, hidden=2, hidden_tests=3, unknown=4, silent=2)
    assert seen(worked)["src/cart.py", "src/money.py"] is True
    assert seen(worked)["src/clock.py", "src/money.py"] is False
    assert seen(worked)["notes.md", "src/cart.py"] is None
    edge = found.hidden[0]
    assert worked.graph.edge(edge.id) == edge
    assert edge.seen_in_code is False


def test_imports_that_never_change_together_are_told_with_their_changes(worked: Project) -> None:
    found = worked.code.read()
    told = [(item.importer, item.imported, item.importer_changes) for item in found.silent]
    assert told == [("src/label.ts", "src/brand.ts", 4), ("src/rare.py", "src/clock.py", 4)]


def test_what_the_code_says_makes_no_edge_and_moves_no_probability(worked: Project) -> None:
    def standing() -> list[tuple[str, float, float]]:
        page = worked.graph.edges(limit=200)
        return [(edge.id, edge.probability, edge.value) for edge in page.items]

    before = standing(), worked.impact(["src/cart.py"]).affected
    worked.code.read()
    worked.graph.infer()
    assert (standing(), worked.impact(["src/cart.py"]).affected) == before
    assert ("src/brand.ts", "src/label.ts") not in seen(worked)


def test_a_past_moment_is_not_told_what_the_code_says_today(worked: Project, clock: Any) -> None:
    worked.code.read()
    page = worked.graph.edges(EdgeFilter(as_of=clock.now), limit=200)
    assert {edge.seen_in_code for edge in page.items} == {None}


@pytest.mark.parametrize("place", ["src/clock.py", "./src/clock.py"])
def test_a_file_narrows_the_answer_to_its_pairs(worked: Project, place: str) -> None:
    found = worked.code.read(place)
    assert found.counts == CorroborationCounts(hidden=2, hidden_tests=1, unknown=1, silent=1)


def test_a_folder_narrows_the_answer_and_the_root_does_not(worked: Project, tmp_path: Path) -> None:
    whole = worked.code.read(str(tmp_path / "shop"))
    assert worked.code.corroboration(".").counts == worked.code.corroboration().counts == whole.counts
    assert worked.code.corroboration("tests").counts.hidden == 0
    assert worked.code.corroboration("tests").counts.hidden_tests == 3


def test_lists_are_cut_and_counts_are_not(worked: Project) -> None:
    found = worked.code.read(limit=1)
    assert (len(found.hidden), len(found.hidden_tests), len(found.silent)) == (1, 1, 1)
    assert (found.counts.hidden, found.counts.hidden_tests, found.counts.silent) == (2, 3, 2)


@pytest.mark.parametrize(
    ("place", "limit", "field"), [("/elsewhere/x.py", 20, "path"), ("", 20, "path"), (None, 0, "limit")]
)
def test_a_question_that_makes_no_sense_is_refused(
    worked: Project, place: str | None, limit: int, field: str
) -> None:
    for ask in (worked.code.read, worked.code.corroboration):
        with pytest.raises(InvalidInputError) as refused:
            ask(place, limit)
        assert refused.value.field == field


def test_a_project_whose_folder_is_away_says_so_and_keeps_the_last_reading(
    worked: Project, tmp_path: Path
) -> None:
    worked.code.read()
    (tmp_path / "shop").rename(tmp_path / "away")
    with pytest.raises(SourceError, match=r"folder .*shop is not there"):
        worked.code.read()
    assert worked.code.corroboration().reading is not None


def test_a_reading_outlives_the_process_and_says_when_it_is_stale(
    worked: Project,
    memory: Memory,
    open_memory: Callable[..., Memory],
    tell: Tell,
    clock: Any,
    tmp_path: Path,
) -> None:
    before = worked.code.read()
    memory.close()
    again = open_memory().project(str(tmp_path / "shop"))
    assert again.code.corroboration() == before
    clock.passes(60.0)
    tell(again, {"id": "later", "session": "s9", "title": "More", "files_modified": ["src/cart.py"]})
    reading = again.code.corroboration().reading
    assert reading is not None
    assert reading.stale == "1 file was changed since"


def test_a_reading_of_a_repository_is_stale_after_the_next_commit(
    memory: Memory, git_repository: Callable[..., Any]
) -> None:
    built = git_repository("shop")
    built.touch("One", "a.py", "b.py")
    project, _ = memory.register(built.path)
    project.import_git(str(built.path))
    first = project.code.read().reading
    assert first is not None
    assert first.commit == built.git("rev-parse", "HEAD").strip()
    assert first.stale is None
    built.touch("Two", "a.py")
    second = project.code.corroboration().reading
    assert second is not None
    assert second.stale is not None
    assert first.commit[:10] in second.stale


def test_a_reading_that_is_stopped_keeps_the_last_one(worked: Project) -> None:
    before = worked.code.read().reading
    stop = threading.Event()
    stop.set()
    assert worked.code.read(stop=stop).reading == before


@pytest.mark.parametrize("damage", [b"", b"no database at all, but long enough to be taken for one" * 40])
def test_a_damaged_or_missing_file_is_as_if_nobody_had_looked(
    worked: Project, memory: Memory, open_memory: Callable[..., Memory], tmp_path: Path, damage: bytes
) -> None:
    worked.code.read()
    memory.close()
    (kept,) = (tmp_path / "home").rglob(NAME)
    kept.write_bytes(damage)
    again = open_memory().project(str(tmp_path / "shop"))
    assert again.code.corroboration().reading is None
    assert again.code.read().counts.seen == 1


def test_what_is_forgotten_leaves_the_reading_too(
    worked: Project, memory: Memory, tell: Tell, tmp_path: Path
) -> None:
    (tmp_path / "shop" / "src" / "hushhush.py").write_text("from src import money", encoding="utf-8")
    tell(worked, {"id": "quiet", "session": "s8", "title": "Quiet", "files_modified": ["src/hushhush.py"]})
    assert worked.code.read().counts.silent == 3
    worked.forget("quiet")
    assert worked.code.corroboration().counts.silent == 2
    memory.close()
    held = [path for path in (tmp_path / "home").rglob(f"{NAME}*") if b"hushhush" in path.read_bytes()]
    assert held == []


def test_a_file_that_is_gone_from_the_disk_is_unknown(worked: Project, tmp_path: Path) -> None:
    (tmp_path / "shop" / "src" / "clock.py").unlink()
    shutil.rmtree(tmp_path / "shop" / "tests")
    found = worked.code.read()
    assert found.reading is not None
    assert dict(found.reading.unread) == {"missing": 2}
    assert (found.counts.seen, found.counts.hidden, found.counts.hidden_tests) == (1, 0, 0)
