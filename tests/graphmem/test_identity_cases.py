"""Path identity on real repositories: worktrees, links, clones, submodules, odd names as git holds them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pytest

from graphmem.errors import InvalidInputError
from graphmem.home import Home
from graphmem.identity import PathResolver
from graphmem.registry import Registry


class Repository(Protocol):
    path: Path

    def git(self, *arguments: str) -> str: ...

    def commit(self, title: str, files: dict[str, str | bytes | None] | None = None) -> str: ...


Build = Callable[..., Repository]


@dataclass
class World:
    """A project as the memory sees it: registered, its history what git lists, its roots stored."""

    registry: Registry
    repository: Repository
    id: str
    history: set[str] = field(default_factory=set)

    def resolver(self) -> PathResolver:
        return PathResolver(
            self.registry.roots(self.id),
            self.history.__contains__,
            self.registry.identity(self.id),
            lambda root: self.registry.add_root(self.id, root),
            lambda common_dir: self.registry.owner(common_dir) not in (None, self.id),
        )

    def names(self, events: Iterable[tuple[str, str | None]]) -> list[str | None]:
        resolver = self.resolver()
        return [resolver.resolve(raw, cwd) for raw, cwd in events]


def listed(repository: Repository) -> set[str]:
    """The paths of the index as the git importer reads them: NUL-separated, never quoted."""
    raw = subprocess.run(["git", "ls-files", "-z"], cwd=repository.path, capture_output=True, check=True)
    return {name.decode("utf-8", "backslashreplace") for name in raw.stdout.split(b"\0") if name}


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    home = Home(tmp_path / "home-of-the-memory")
    home.prepare()
    registry = Registry(home)
    yield registry
    registry.close()


@pytest.fixture
def world(registry: Registry, git_repository: Build) -> Callable[..., World]:
    def build(files: Iterable[str | bytes] = ("src/a.ts", "lib/b.ts", "README.md"), name: str = "r") -> World:
        repository = git_repository(name)
        for file in files:
            target = os.path.join(os.fsencode(repository.path), os.fsencode(file))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as out:
                out.write(b"x\n")
        repository.commit("first")
        info, _ = registry.register(repository.path)
        return World(registry, repository, info.id, listed(repository))

    return build


# ---- the first table of the cases ----------------------------------------------------------------


def test_three_spellings_of_one_event_are_one_name(world: Callable[..., World]) -> None:
    made = world()
    root = made.repository.path
    names = made.names([("src/a.ts", str(root)), ("a.ts", str(root / "src")), (str(root / "src/a.ts"), None)])
    assert names == ["src/a.ts"] * 3


WORKTREES = [".worktrees/x", "../beside", ".claude/worktrees/z", "nested/deep/tree", "../模块 tree"]


@pytest.mark.parametrize("added", ["before the first event", "after the resolver was made"])
@pytest.mark.parametrize("place", WORKTREES)
def test_a_worktree_anywhere_is_the_same_project(world: Callable[..., World], place: str, added: str) -> None:
    made = world()
    resolver = made.resolver()
    made.repository.git("worktree", "add", "--quiet", "-b", "tree", place)
    if added.startswith("before"):
        resolver = made.resolver()
    tree = Path(os.path.normpath(made.repository.path / place))
    (tree / "new.ts").write_text("x")
    events = [
        (str(tree / "src/a.ts"), None),
        ("src/a.ts", str(tree)),
        ("a.ts", str(tree / "src")),
        (f"{place}/src/a.ts", str(made.repository.path)),
        (f"{place}/src/a.ts", None),
        (f"../{os.path.relpath(tree, made.repository.path)}/src/a.ts", str(made.repository.path / "src")),
    ]
    assert [resolver.resolve(*event) for event in events] == ["src/a.ts"] * len(events)
    assert resolver.resolve(str(tree / "new.ts")) == "new.ts"
    assert resolver.resolve("newer.ts", str(tree)) == "newer.ts"
    assert str(tree) in made.registry.roots(made.id)
    shutil.rmtree(tree)
    made.repository.git("worktree", "prune")
    for reader in (resolver, made.resolver()):
        assert reader.resolve(str(tree / "src/a.ts")) == "src/a.ts"
        assert reader.resolve(str(tree / "gone.ts")) == "gone.ts", "a stored root outlives its folder"


def test_a_worktree_itself_is_no_file(world: Callable[..., World]) -> None:
    made = world()
    made.repository.git("worktree", "add", "--quiet", ".worktrees/x")
    for raw in (".worktrees/x", str(made.repository.path / ".worktrees/x")):
        with pytest.raises(InvalidInputError, match="root itself"):
            made.resolver().resolve(raw)


def test_two_repositories_of_one_name_never_share_a_file(world: Callable[..., World]) -> None:
    one, other = world(name="one/app"), world(name="two/app")
    assert one.id != other.id
    for mine, theirs in ((one, other), (other, one)):
        foreign = str(theirs.repository.path / "src/a.ts")
        with pytest.raises(InvalidInputError, match="outside"):
            mine.resolver().resolve(foreign)
        with pytest.raises(InvalidInputError, match="outside"):
            mine.resolver().resolve("src/a.ts", str(theirs.repository.path))
        assert mine.registry.roots(mine.id) == (str(mine.repository.path),)


def test_a_symlinked_repository_is_one_project(world: Callable[..., World], tmp_path: Path) -> None:
    made = world()
    (tmp_path / "link").symlink_to(made.repository.path)
    (tmp_path / "via").symlink_to(tmp_path)
    events = [
        (str(tmp_path / "link/src/a.ts"), None),
        ("src/a.ts", str(tmp_path / "link")),
        ("a.ts", str(tmp_path / "link/src")),
        (str(tmp_path / "via/r/src/a.ts"), None),
        ("../link/src/a.ts", str(made.repository.path)),
    ]
    assert made.names(events) == ["src/a.ts"] * len(events)
    assert made.resolver().resolve(str(tmp_path / "link/new/x.ts")) == "new/x.ts"
    assert made.resolver().resolve("x.ts", str(tmp_path / "link/src")) == "src/x.ts"


def test_a_project_registered_by_its_link_takes_both_spellings(
    registry: Registry, git_repository: Build, tmp_path: Path
) -> None:
    repository = git_repository("r")
    (tmp_path / "link").symlink_to(repository.path)
    info = registry.register(tmp_path / "link")[0]
    made = World(registry, repository, info.id)
    events = [(str(tmp_path / "link/src/a.ts"), None), (str(repository.path / "src/a.ts"), None)]
    assert made.names(events) == ["src/a.ts"] * 2


def test_a_symlinked_file_keeps_its_own_path_and_a_symlinked_folder_does_not(
    registry: Registry, git_repository: Build
) -> None:
    repository = git_repository("r")
    repository.commit("first", {"src/real.ts": "x"})
    (repository.path / "src/alias.ts").symlink_to("real.ts")
    (repository.path / "out.ts").symlink_to("/etc/hostname")
    (repository.path / "mirror").symlink_to("src")
    (repository.path / "away").symlink_to("/etc")
    repository.commit("links")
    made = World(registry, repository, registry.register(repository.path)[0].id, listed(repository))
    root = repository.path
    assert made.names([("src/alias.ts", None), (str(root / "src/alias.ts"), None)]) == ["src/alias.ts"] * 2
    assert made.names([("out.ts", None), ("mirror", None)]) == ["out.ts", "mirror"]
    assert made.names([("mirror/real.ts", None), ("real.ts", str(root / "mirror"))]) == ["src/real.ts"] * 2
    assert made.names([("mirror/new.ts", None)]) == ["src/new.ts"]
    assert made.names([("away/hosts", None)]) == ["away/hosts"], "what lies beyond has only this name here"


NAMES: list[str | bytes] = [
    "src/模块.py",
    "Eink\u00e4ufe/t.ts",
    "🧪 a b.txt",
    "quo\"te's.ts",
    "two\nlines.ts",
    "tab\t.ts",
    "-dash.ts",
    "back\\slash.ts",
    "src\\windows\\looking.ts",
    "%20.ts",
    " edge ",
    "[REDACTED]/real.md",
    b"latin-\xe9.ts",
    b"gbk-\xc4\xa3\xbf\xe9/x.py",
]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_name_as_git_holds_it_is_met_by_every_spelling(
    world: Callable[..., World], name: str | bytes
) -> None:
    made = world([name])
    (stored,) = made.history
    event = os.fsdecode(name)
    root = str(made.repository.path)
    folder = os.path.dirname(event)
    events = [
        (stored, None),
        (event, None),
        (f"./{event}", None),
        (f"{root}/{event}", None),
        (os.path.basename(event), f"{root}/{folder}".rstrip("/")),
    ]
    assert made.names(events) == [stored] * len(events)
    made.history.clear()  # before the import, the disk alone tells
    assert made.names(events[1:4]) == [stored] * 3


def test_git_holding_both_normal_forms_has_two_files(world: Callable[..., World]) -> None:
    composed, decomposed = "caf\u00e9.md", "cafe\u0301.md"
    made = world([composed, decomposed])
    if len(made.history) == 2:  # a file system that normalises has one
        assert made.names([(composed, None), (decomposed, None)]) == [composed, decomposed]
    alone = world([composed], name="alone")
    (stored,) = alone.history
    assert (
        alone.names([(composed, None), (decomposed, None), (f"{alone.repository.path}/{decomposed}", None)])
        == [stored] * 3
    )


def test_many_spellings_under_many_roots_are_few_files(world: Callable[..., World], tmp_path: Path) -> None:
    """As in real data: one project seen in several homes, worktrees and clones, most of them gone by now."""
    files = [f"pkg{number % 5}/part/f{number}.go" for number in range(40)] + ["go.mod", "cmd/main.go"]
    made = world(files)
    trees = []
    for number in range(4):
        made.repository.git("worktree", "add", "--quiet", "--detach", f"../tree{number}")
        trees.append(tmp_path / f"tree{number}")
    made.repository.git("clone", "--quiet", ".", str(tmp_path / "clone"))
    gone = [
        "/Users/dev/src/r",
        "/home/dev/code/r",
        "C:\\Users\\dev\\r",
        "/srv/dev/r",
        "/tmp/gone-r/r.worktrees/x",
    ]
    roots = [str(made.repository.path), *map(str, trees), str(tmp_path / "clone"), *gone]
    events: list[tuple[str, str | None]] = []
    for root in roots:
        separator = "\\" if "\\" in root else "/"
        events += [(root + separator + file.replace("/", separator), None) for file in files]
    # The agent's working folder stays in the main checkout while it edits the trees beside it.
    events += [(f"../tree1/{file}", str(made.repository.path)) for file in files]
    resolver = made.resolver()
    names = {resolver.resolve(*event) for event in events}
    assert names == set(files)
    assert len(made.registry.roots(made.id)) == len(roots)
    # Later, elsewhere: everything but the table of roots is gone.
    shutil.rmtree(made.repository.path)
    made.history.clear()
    assert made.names([(f"{root}/new.go", None) for root in roots]) == ["new.go"] * len(roots)


# ---- clones, submodules, neighbours --------------------------------------------------------------


def test_a_clone_elsewhere_is_the_same_project_until_it_is_one_of_its_own(
    world: Callable[..., World], tmp_path: Path
) -> None:
    made = world()
    made.repository.git("clone", "--quiet", ".", str(tmp_path / "clone"))
    made.repository.git("clone", "--quiet", ".", str(tmp_path / "claimed"))
    made.registry.register(tmp_path / "claimed")
    resolver = made.resolver()
    assert resolver.resolve(str(tmp_path / "clone/src/a.ts")) == "src/a.ts"
    assert resolver.resolve(str(tmp_path / "clone/new.ts")) == "new.ts"
    with pytest.raises(InvalidInputError, match="outside"):
        resolver.resolve(str(tmp_path / "claimed/src/a.ts"))


@pytest.mark.parametrize("below", ["", "packages/ui/"])
def test_another_project_stays_another_when_its_folder_is_gone(
    world: Callable[..., World], tmp_path: Path, below: str
) -> None:
    one, other = world(name="one/app"), world(name="two/app")
    (tmp_path / "plain").mkdir()
    one.registry.register(tmp_path / "plain")
    shutil.rmtree(other.repository.path)
    (tmp_path / "plain").rmdir()
    for root in (other.repository.path, tmp_path / "plain"):
        with pytest.raises(InvalidInputError, match="outside"):
            one.resolver().resolve(f"{root}/{below}src/a.ts")
    assert one.registry.roots(one.id) == (str(one.repository.path),)


def test_a_copy_without_git_is_no_copy(world: Callable[..., World], tmp_path: Path) -> None:
    made = world()
    shutil.copytree(made.repository.path, tmp_path / "export", ignore=shutil.ignore_patterns(".git"))
    with pytest.raises(InvalidInputError, match="outside"):
        made.resolver().resolve(str(tmp_path / "export/src/a.ts"))


def test_a_file_of_a_submodule_has_its_path_in_the_whole(
    world: Callable[..., World], git_repository: Build
) -> None:
    library = git_repository("library")
    library.commit("first", {"src/a.ts": "x"})
    made = world()
    made.repository.git("submodule", "--quiet", "add", str(library.path), "vendor/lib")
    made.history = listed(made.repository)
    inside = made.repository.path / "vendor/lib"
    assert (
        made.names([(str(inside / "src/a.ts"), None), ("src/a.ts", str(inside))])
        == ["vendor/lib/src/a.ts"] * 2
    )
    part = World(made.registry, library, made.registry.register(inside)[0].id, {"src/a.ts"})
    assert (
        part.names([(str(inside / "src/a.ts"), None), ("../src/a.ts", str(inside / "src"))])
        == ["src/a.ts"] * 2
    )
    with pytest.raises(InvalidInputError, match="outside"):
        part.resolver().resolve(str(made.repository.path / "src/a.ts"))


def test_a_foreign_repository_inside_keeps_its_files_apart(
    world: Callable[..., World], git_repository: Build
) -> None:
    made = world()
    git_repository("r/tmp/other").commit("first", {"src/a.ts": "y"})
    assert made.names([(str(made.repository.path / "tmp/other/src/a.ts"), None)]) == ["tmp/other/src/a.ts"]
    assert made.names([("src/a.ts", str(made.repository.path / "tmp/other"))]) == ["tmp/other/src/a.ts"]


def test_worktrees_of_a_bare_repository_are_one_project(
    world: Callable[..., World], registry: Registry, tmp_path: Path
) -> None:
    made = world()
    made.repository.git("clone", "--quiet", "--bare", ".", str(tmp_path / "b.git"))
    bare = World(registry, made.repository, registry.register(tmp_path / "b.git")[0].id, made.history)
    resolver = bare.resolver()
    for name in ("one", "two"):
        made.repository.git("-C", str(tmp_path / "b.git"), "worktree", "add", "--quiet", str(tmp_path / name))
        assert resolver.resolve(str(tmp_path / name / "src/a.ts")) == "src/a.ts"
        assert resolver.resolve("new.ts", str(tmp_path / name)) == "new.ts"
    assert resolver.resolve("src/a.ts") == "src/a.ts"


def test_a_folder_outside_git_resolves_without_git(
    registry: Registry, tmp_path: Path, git_repository: Build
) -> None:
    (tmp_path / "plain/src").mkdir(parents=True)
    info = registry.register(tmp_path / "plain")[0]
    learned: list[str] = []
    resolver = PathResolver(info.roots, {"src/a.ts"}.__contains__, registry.identity(info.id), learned.append)
    assert resolver.resolve(f"{tmp_path}/plain/src/a.ts") == "src/a.ts"
    assert resolver.resolve("b.ts", f"{tmp_path}/plain/src") == "src/b.ts"
    git_repository("other").commit("first", {"src/a.ts": "x"})
    with pytest.raises(InvalidInputError, match="outside"):
        resolver.resolve(f"{tmp_path}/other/src/a.ts")
    assert learned == []


def test_resolution_needs_neither_git_nor_the_right_to_read(
    world: Callable[..., World], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = world()
    made.repository.git("worktree", "add", "--quiet", "../beside")
    other = tmp_path / "other"
    other.mkdir()
    subprocess.run(["git", "init", "--quiet"], cwd=other, check=True)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert made.names([(str(tmp_path / "beside/src/a.ts"), None)]) == ["src/a.ts"]
    with pytest.raises(InvalidInputError, match="outside"):
        made.resolver().resolve(str(other / "src/a.ts"))


def test_a_working_folder_that_becomes_a_worktree_is_seen_as_one(world: Callable[..., World]) -> None:
    made = world()
    resolver = made.resolver()
    cwd = made.repository.path / "trees/x"
    assert resolver.resolve("new.ts", str(cwd)) == "trees/x/new.ts"
    made.repository.git("worktree", "add", "--quiet", "trees/x")
    assert resolver.resolve("new.ts", str(cwd)) == "new.ts"
