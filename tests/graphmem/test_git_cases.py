"""Histories that misled other tools, from the repository to the answer: what is said about a file."""

from __future__ import annotations

import shutil
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory
from graphmem.errors import SourceError
from graphmem.model import FileStatus, Impact

HOUR = 3_600


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory-home") as memory:
        yield memory


@pytest.fixture
def learn(memory: Memory) -> Callable[..., Any]:
    """Import a repository, or its news, and return the project once all of it can be asked about."""

    def run(repository: Any, location: Path | None = None, **options: Any) -> Any:
        project, _ = memory.register(str(location or repository.path))
        project.report = project.import_git(str(location or repository.path), **options)
        assert project.wait_visible(60)
        return project

    return run


def together(impact: Impact) -> dict[str, int]:
    """Files that changed together with the one asked about, and how often."""
    counts = {entry.path: entry.evidence.together for entry in impact.affected}
    return {path: count for path, count in counts.items() if count}


# ---- renames -----------------------------------------------------------------------------------


def test_a_folder_that_moved_keeps_what_its_files_had_in_common(
    git_repository: Callable[..., Any], learn: Callable[..., Any]
) -> None:
    repository = git_repository()
    for number in range(5):
        repository.touch(f"Change {number}", "a/x", "a/y")
    repository.git("mv", "a", "b")
    repository.commit("Move the folder")
    project = learn(repository)
    found = together(project.impact(["b/x"]))
    assert set(found) == {"b/y"}
    assert found["b/y"] >= 5
    assert project.impact(["a/x"]).status is not FileStatus.UNKNOWN

    repository.commit("Something new", {"a/x": "new and different\n"})
    learn(repository)
    assert together(project.impact(["a/x"])) == {}
    assert project.impact(["a/x"]).status is FileStatus.KNOWN
    assert set(together(project.impact(["b/x"]))) == {"b/y"}


def test_a_chain_of_renames_is_one_file(
    git_repository: Callable[..., Any], learn: Callable[..., Any]
) -> None:
    repository = git_repository()
    for name, moved in (("a", "b"), ("b", "c"), ("c", None)):
        for number in range(3):
            repository.touch(f"Change {name} {number}", f"{name}.py", "other.py")
        if moved:
            repository.git("mv", f"{name}.py", f"{moved}.py")
            repository.commit(f"Move {name}")
    project = learn(repository)
    found = together(project.impact(["other.py"]))
    assert set(found) == {"c.py"}
    assert found["c.py"] == 9
    assert "c.py" not in together(project.impact(["c.py"]))


# ---- commits that say nothing about pairs --------------------------------------------------------


@pytest.mark.parametrize("what", ["one commit of 400 files", "line ends of 200 files"])
def test_a_bulk_commit_makes_no_pair(
    git_repository: Callable[..., Any], learn: Callable[..., Any], what: str
) -> None:
    repository = git_repository()
    count = 400 if what.startswith("one") else 200
    if count == 200:
        for start in range(0, count, 20):
            files = {f"src/f{number}.py": "line\nline\n" for number in range(start, start + 20)}
            repository.commit(f"Begin {start}", files)
    flipped = {f"src/f{number}.py": "line\r\nline\r\n" for number in range(count)}
    repository.commit("All at once", flipped)
    repository.touch("Real work", "src/f0.py", "src/f199.py")
    repository.touch("Real work again", "src/f0.py", "src/f199.py")
    answer = learn(repository).impact(["src/f0.py"], limit=200)
    neighbours = [entry.path for entry in answer.affected]
    assert neighbours[0] == "src/f199.py"
    strangers = {path for path in together(answer) if int(path[5:-3]) >= 20}
    assert strangers == {"src/f199.py"}


@pytest.mark.parametrize("depth", [1, 10])
def test_the_boundary_of_a_shallow_clone_makes_no_pair(
    git_repository: Callable[..., Any], learn: Callable[..., Any], tmp_path: Path, depth: int
) -> None:
    repository = git_repository("origin")
    for number in range(15):
        repository.touch(f"Change {number}", "a.py", "b.py")
        repository.touch(f"Alone {number}", "lonely.py")
    clone = tmp_path / "clone"
    url = f"file://{repository.path}"
    repository.git("clone", "--quiet", f"--depth={depth}", url, str(clone))
    project = learn(repository, clone)
    assert any(f"Shallow, {depth} commit" in remark for remark in project.report.remarks)
    assert project.impact(["lonely.py"]).status is FileStatus.KNOWN
    assert together(project.impact(["lonely.py"])) == {}
    pairs = together(project.impact(["a.py"]))
    # Of the ten, five change the pair, and the first of those is the boundary.
    assert pairs == ({} if depth == 1 else {"b.py": 4})


def test_a_lock_file_is_never_in_the_first_three_of_a_warning(
    git_repository: Callable[..., Any], learn: Callable[..., Any]
) -> None:
    repository = git_repository()
    for number in range(100):
        match number % 5:
            case 0 | 1 | 2:
                repository.touch(f"Bump {number}", "package.json", "package-lock.json")
            case 3:
                repository.touch(f"Build {number}", "package.json", "build.js", "config.js", "ci.yml")
            case _:
                repository.touch(f"Code {number}", "src/a.js")
    answer = learn(repository).impact(["package.json"])
    shown = [line for line in (answer.warning or "").splitlines() if ".js" in line or ".yml" in line]
    assert not any("package-lock.json" in line for line in shown[:3])
    assert "package-lock.json" not in [entry.path for entry in answer.affected if entry.noise is None]


# ---- time --------------------------------------------------------------------------------------


def test_knowledge_begins_at_commit_time(
    git_repository: Callable[..., Any], learn: Callable[..., Any]
) -> None:
    repository = git_repository()
    start = 1_700_000_000
    for number in range(3):
        files: dict[str, Any] = {"a.py": f"{number}\n", "b.py": f"{number}\n"}
        at = start + number * HOUR
        repository.commit(f"Written long before {number}", files, at=at, author_at=at - 24 * HOUR)
    project = learn(repository)
    assert together(project.impact(["a.py"], as_of=start - 1)) == {}
    assert together(project.impact(["a.py"], as_of=start + HOUR)) == {"b.py": 2}
    assert together(project.impact(["a.py"])) == {"b.py": 3}


# ---- files that go and come back -----------------------------------------------------------------


@pytest.mark.parametrize("folder", [False, True], ids=["singly", "by folder"])
def test_a_deleted_file_is_gone_and_comes_back_when_it_is_added_again(
    git_repository: Callable[..., Any], learn: Callable[..., Any], folder: bool
) -> None:
    repository = git_repository()
    for number in range(6):
        repository.touch(f"Change {number}", "keep.py", "old/gone.py", "old/also.py")
    project = learn(repository)
    assert set(together(project.impact(["keep.py"]))) == {"old/gone.py", "old/also.py"}

    # While nothing was running.
    if folder:
        shutil.rmtree(repository.path / "old")
    else:
        (repository.path / "old" / "gone.py").unlink()
    repository.commit("Clean up")
    learn(repository)
    answer = project.impact(["keep.py"])
    assert set(together(answer)) == (set() if folder else {"old/also.py"})
    assert "old/gone.py" not in (answer.warning or "")
    assert project.impact(["old/gone.py"]).status is FileStatus.GONE

    repository.touch("Bring it back", "keep.py", "old/gone.py")
    learn(repository)
    assert project.impact(["old/gone.py"]).status is FileStatus.KNOWN
    assert together(project.impact(["keep.py"]))["old/gone.py"] >= 6


# ---- names -------------------------------------------------------------------------------------


def test_odd_names_can_be_asked_about(git_repository: Callable[..., Any], learn: Callable[..., Any]) -> None:
    names = ["src/模块.py", "Einkäufe/t.ts", "🧪 a b.txt", "a\\b", "-x.py"]
    repository = git_repository()
    for number in range(3):
        repository.touch(f"Change {number}", *names)
    project = learn(repository)
    for name in names:
        assert set(together(project.impact([name]))) == set(names) - {name}


def test_both_forms_of_a_name_lead_to_one_file(
    git_repository: Callable[..., Any], learn: Callable[..., Any]
) -> None:
    repository = git_repository()
    decomposed = unicodedata.normalize("NFD", "café.md")
    for number in range(3):
        repository.touch(f"Change {number}", decomposed, "menu.md")
    project = learn(repository)
    assert set(together(project.impact(["menu.md"]))) == {"café.md"}
    assert (
        set(together(project.impact([decomposed])))
        == set(together(project.impact(["café.md"])))
        == {"menu.md"}
    )


def test_bytes_that_are_no_text_stop_nothing(
    git_repository: Callable[..., Any], learn: Callable[..., Any]
) -> None:
    repository = git_repository()
    who = b"J\xf6rg <j@example.invalid> 1700000000 +0000\n"
    head = b"commit refs/heads/main\nauthor " + who + b"committer " + who + b"data 6\nGr\xfc\xdfe\n"
    files = b"".join(b'M 100644 inline "%s"\ndata 2\nx\n' % name for name in (b"caf\xe9.md", b"menu.md"))
    repository.git("fast-import", "--quiet", "--done", input=head + files + b"done\n")
    project = learn(repository)
    assert set(together(project.impact(["menu.md"]))) == {"caf\\xe9.md"}
    assert project.observations().items[0].title == "Gr\ufffd\ufffde"


# ---- vendored code, and the same change twice ----------------------------------------------------


def test_vendored_files_are_out_by_default_and_in_on_demand(
    git_repository: Callable[..., Any], learn: Callable[..., Any]
) -> None:
    repository = git_repository()
    for number in range(4):
        repository.touch(f"Update {number}", "go.mod", "vendor/x/x.go", "web/node_modules/y/y.js", "a.min.js")
    project = learn(repository)
    assert together(project.impact(["go.mod"])) == {}
    assert dict(project.report.left_out) == {"vendor/": 1, "node_modules/": 1, "*.min.js": 1}
    learn(repository, include=["vendor/**"])
    assert project.impact(["vendor/x/x.go"]).status is FileStatus.KNOWN


def test_a_rebased_and_a_picked_commit_support_a_pair_once(
    git_repository: Callable[..., Any], learn: Callable[..., Any]
) -> None:
    repository = git_repository()
    repository.touch("Begin", "start.py")
    repository.git("checkout", "--quiet", "-b", "side")
    for number in range(3):
        repository.touch(f"Change {number}", "a.py", "b.py")
    project = learn(repository)
    repository.git("checkout", "--quiet", "main")
    repository.touch("Meanwhile", "other.py")
    repository.git("cherry-pick", "side~2")
    repository.git("checkout", "--quiet", "side")
    repository.git("rebase", "--quiet", "main")
    learn(repository)
    assert together(project.impact(["a.py"])) == {"b.py": 3}
    assert project.stats().observations == 5


# ---- nothing to import, and a repository that breaks ---------------------------------------------


@pytest.mark.parametrize("state", ["empty", "staged", "orphan"])
def test_a_repository_without_commits_leaves_the_memory_empty(
    git_repository: Callable[..., Any], memory: Memory, state: str
) -> None:
    repository = git_repository()
    if state == "orphan":
        repository.commit("On main", {"a.py": "1\n"})
        repository.git("checkout", "--quiet", "--orphan", "fresh")
    if state == "staged":
        repository.write({"a.py": "1\n"})
        repository.git("add", ".")
    project, _ = memory.register(str(repository.path))
    with pytest.raises(SourceError, match="has no commits yet; commit something first"):
        project.import_git(str(repository.path))
    assert project.stats().observations == 0
    assert project.impact(["a.py"]).status is FileStatus.UNKNOWN


def test_what_came_before_a_corrupt_object_is_kept(
    git_repository: Callable[..., Any], memory: Memory
) -> None:
    repository = git_repository()
    for number in range(3):
        repository.touch(f"Change {number}", "a.py", "b.py")
    repository.touch("Broken", "deep/c.py")
    tree = repository.git("rev-parse", "HEAD:deep")
    (repository.path / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    project, _ = memory.register(str(repository.path))
    with pytest.raises(SourceError, match="git fsck"):
        project.import_git(str(repository.path))
    assert project.wait_visible(60)
    assert together(project.impact(["a.py"])) == {"b.py": 3}
