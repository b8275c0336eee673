"""The table of projects: what counts as one project, how it is named and found, under which roots."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest

from graphmem.errors import ConflictError, HomeError, InvalidInputError, NotFoundError, StorageError
from graphmem.home import Home
from graphmem.registry import Registry, RootKind


class Repository(Protocol):
    path: Path

    def git(self, *arguments: str) -> str: ...

    def commit(self, title: str, files: dict[str, str | bytes | None] | None = None) -> str: ...


Build = Callable[..., Repository]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home-of-the-memory")
    home.prepare()
    return home


@pytest.fixture
def registry(home: Home) -> Iterator[Registry]:
    registry = Registry(home, lambda: 1_767_225_600.0)
    yield registry
    registry.close()


@pytest.fixture
def app(git_repository: Build) -> Repository:
    built = git_repository("app")
    built.commit("first", {"src/a.ts": "x"})
    return built


# ---- one project ---------------------------------------------------------------------------------


def test_a_root_is_registered_once_and_keeps_its_id(registry: Registry, home: Home, app: Repository) -> None:
    first, created = registry.register(app.path)
    assert created
    assert (first.slug, first.root, first.roots) == ("app", str(app.path), (str(app.path),))
    assert first.created_at == 1_767_225_600.0
    assert re.fullmatch(r"[0-9a-f]{16}", first.id), "a safe folder name everywhere"
    assert registry.register(app.path) == (first, False)
    registry.close()
    again = Registry(home)
    try:
        assert again.projects() == [first]
        assert again.identity(first.id) == str(app.path / ".git")
        assert again.owner(str(app.path / ".git")) == first.id
    finally:
        again.close()


@pytest.mark.parametrize(
    "place", ["src", ".git", "../beside", ".worktrees/x", ".claude/worktrees/z", "../link"]
)
@pytest.mark.parametrize("first", [True, False])
def test_every_place_of_a_repository_is_the_same_project(
    registry: Registry, app: Repository, tmp_path: Path, place: str, first: bool
) -> None:
    app.git("worktree", "add", "--quiet", "-b", "one", "../beside")
    app.git("worktree", "add", "--quiet", "-b", "two", ".worktrees/x")
    app.git("worktree", "add", "--quiet", "-b", "three", ".claude/worktrees/z")
    (tmp_path / "link").symlink_to(app.path)
    other = os.path.normpath(app.path / place)
    order = [other, str(app.path)] if first else [str(app.path), other]
    made = [registry.register(root) for root in order]
    assert made[0][0].id == made[1][0].id
    assert [created for _, created in made] == [True, False]
    info = made[1][0]
    trees = {str(tmp_path / "beside"), str(app.path / ".worktrees/x"), str(app.path / ".claude/worktrees/z")}
    assert {str(app.path), *trees} <= set(info.roots)
    spelled = tmp_path / "link" if place == "../link" and first else app.path
    assert (info.slug, info.root) == (spelled.name, str(spelled))
    for inside in (other, f"{other}/src/new.ts", str(app.path / "src/a.ts")):
        assert registry.by_reference(inside).id == info.id


def test_two_repositories_of_one_name_are_two_projects_told_apart(
    registry: Registry, git_repository: Build
) -> None:
    one, other = git_repository("one/app"), git_repository("two/app")
    first, second = registry.register(one.path)[0], registry.register(other.path)[0]
    assert first.id != second.id
    assert first.slug == "app" and re.fullmatch(r"app-[0-9a-f]{6}", second.slug)
    assert registry.by_reference(str(one.path)).id == first.id
    assert registry.by_reference(str(other.path)).id == second.id


def test_a_clone_is_a_project_of_its_own(registry: Registry, app: Repository, tmp_path: Path) -> None:
    app.git("clone", "--quiet", ".", str(tmp_path / "clone"))
    assert registry.register(app.path)[0].id != registry.register(tmp_path / "clone")[0].id


def test_a_submodule_is_a_project_of_its_own(
    registry: Registry, app: Repository, git_repository: Build
) -> None:
    library = git_repository("library")
    library.commit("first", {"lib.c": "x"})
    app.git("submodule", "--quiet", "add", str(library.path), "vendor/lib")
    whole = registry.register(app.path)[0]
    with pytest.raises(NotFoundError, match="register"):
        registry.by_reference(str(app.path / "vendor/lib/lib.c"))
    part = registry.register(app.path / "vendor/lib")[0]
    assert part.id != whole.id and part.slug == "lib"
    assert registry.by_reference(str(app.path / "vendor/lib/lib.c")).id == part.id
    assert registry.by_reference(str(app.path / "vendor/x")).id == whole.id


@pytest.mark.parametrize(("hidden", "slug"), [("app.git", "app"), ("trees/.bare", "trees")])
def test_a_bare_repository_and_its_worktrees_are_one_project(
    registry: Registry, app: Repository, tmp_path: Path, hidden: str, slug: str
) -> None:
    (tmp_path / "trees").mkdir()
    app.git("clone", "--quiet", "--bare", ".", str(tmp_path / hidden))
    app.git("-C", str(tmp_path / hidden), "worktree", "add", "--quiet", str(tmp_path / "trees/main"), "main")
    bare = registry.register(tmp_path / hidden)[0]
    assert bare.slug == slug and bare.root == str(tmp_path / hidden)
    assert registry.register(tmp_path / "trees/main/src") == (
        registry.project(bare.id),
        False,
    )
    assert str(tmp_path / "trees/main") in registry.roots(bare.id)


def test_folders_outside_git_are_projects_by_their_real_path(registry: Registry, tmp_path: Path) -> None:
    (tmp_path / "plain/inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "plain")
    plain = registry.register(tmp_path / "plain")[0]
    assert registry.register(tmp_path / "link") == (registry.project(plain.id), False)
    assert registry.by_reference(str(tmp_path / "plain/inner/x.ts")).id == plain.id
    assert registry.by_reference(str(tmp_path / "link/inner")).id == plain.id
    inner, created = registry.register(tmp_path / "plain/inner")
    assert created
    assert registry.by_reference(str(tmp_path / "plain/inner/x.ts")).id == inner.id
    assert registry.by_reference(str(tmp_path / "plain/inner-not")).id == plain.id


def test_a_repository_inside_a_plain_project_is_not_part_of_it(
    registry: Registry, tmp_path: Path, git_repository: Build
) -> None:
    (tmp_path / "plain").mkdir()
    plain = registry.register(tmp_path / "plain")[0]
    inner = git_repository("plain/app")
    with pytest.raises(NotFoundError):
        registry.by_reference(str(inner.path / "a.ts"))
    assert registry.by_reference(str(tmp_path / "plain/notes.md")).id == plain.id


# ---- a project whose place changes ---------------------------------------------------------------


def test_a_moved_repository_is_the_same_project(registry: Registry, app: Repository, tmp_path: Path) -> None:
    before = registry.register(app.path)[0]
    shutil.move(app.path, tmp_path / "renamed")
    assert registry.by_reference(str(tmp_path / "renamed/src/a.ts")).id == before.id
    after, created = registry.register(tmp_path / "renamed")
    assert (after.id, created) == (before.id, False)
    assert after.root == str(tmp_path / "renamed") and after.slug == "app"
    assert set(after.roots) == {str(tmp_path / "renamed"), str(app.path)}


def test_a_copy_of_a_repository_is_another_project_even_when_the_first_is_gone(
    registry: Registry, app: Repository, tmp_path: Path
) -> None:
    before = registry.register(app.path)[0]
    shutil.copytree(app.path, tmp_path / "copy", symlinks=True)
    assert registry.register(tmp_path / "copy")[0].id != before.id
    shutil.copytree(app.path, tmp_path / "second", symlinks=True)
    shutil.rmtree(app.path)
    assert registry.register(tmp_path / "second")[1]


def test_a_new_repository_in_the_place_of_a_moved_one_is_the_one_of_that_place(
    registry: Registry, git_repository: Build, app: Repository, tmp_path: Path
) -> None:
    before = registry.register(app.path)[0]
    shutil.move(app.path, tmp_path / "aside")
    git_repository("app")
    assert registry.register(app.path)[0].id == before.id, "the path is the identity"
    assert registry.register(tmp_path / "aside")[1]


def test_a_folder_that_comes_under_git_stays_the_project(
    registry: Registry, tmp_path: Path, git_repository: Build
) -> None:
    (tmp_path / "young").mkdir()
    before = registry.register(tmp_path / "young")[0]
    (tmp_path / "young").rmdir()
    young = git_repository("young")
    assert registry.by_reference(str(young.path)).id == before.id
    assert registry.register(young.path) == (registry.project(before.id), False)
    assert registry.identity(before.id) == str(young.path / ".git")
    shutil.rmtree(young.path / ".git")
    assert registry.register(young.path) == (registry.project(before.id), False)
    assert registry.identity(before.id) == str(young.path)


# ---- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("app", r"app"),
        ("My App", r"my-app"),
        ("web_shop.v2", r"web_shop\.v2"),
        ("商城", r"project-[0-9a-f]{6}"),
        ("购物", r"project-[0-9a-f]{6}"),
        ("商城-app", r"app-[0-9a-f]{6}"),
        ("Eink\u00e4ufe", r"einkaufe-[0-9a-f]{6}"),
        ("🧪", r"project-[0-9a-f]{6}"),
        ("...", r"project-[0-9a-f]{6}|project"),
        ("-rf", r"rf"),
        ("x" * 200, r"x{40}-[0-9a-f]{6}"),
        ("a b\nc'\"&?#%", r"a-b-c"),
    ],
)
def test_a_slug_is_made_from_the_folders_name(
    registry: Registry, tmp_path: Path, name: str, slug: str
) -> None:
    (tmp_path / "x" / name).mkdir(parents=True)
    info = registry.register(tmp_path / "x" / name)[0]
    assert re.fullmatch(slug, info.slug)
    assert registry.by_reference(info.slug).id == info.id
    assert registry.by_reference(name).id == info.id, "the folder's own name works too"


def test_names_that_collapse_to_one_slug_stay_apart(registry: Registry, tmp_path: Path) -> None:
    names = ["商城", "购物", "a-b", "a b", "A-B", "a/b", "ä-b", "x/商城"]
    for name in names:
        (tmp_path / name).mkdir(parents=True)
    made = [registry.register(tmp_path / name)[0] for name in names]
    assert len({info.id for info in made}) == len({info.slug.casefold() for info in made}) == len(names)
    assert all(re.fullmatch(r"[a-z0-9._-]+", info.slug) for info in made)


def test_a_slug_can_be_chosen_and_belongs_to_one_root(registry: Registry, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    one = registry.register(tmp_path / "one", "Shop")[0]
    assert one.slug == "Shop" and registry.by_reference("shop").id == one.id
    for slug in ("Shop", "shop", "SHOP"):
        with pytest.raises(ConflictError, match=str(tmp_path / "one")):
            registry.register(tmp_path / "two", slug)
    assert [info.slug for info in registry.projects()] == ["Shop"], "nothing was registered on the way"
    assert registry.register(tmp_path / "one", "shop") == (one, False)
    assert registry.register(tmp_path / "one", "another")[0].slug == "Shop"


@pytest.mark.parametrize("slug", ["", " ", "a b", "../x", "a/b", ".", "-x", "商城", "x" * 65, "a\n", "a\0"])
def test_a_slug_that_cannot_be_one_is_refused(registry: Registry, tmp_path: Path, slug: str) -> None:
    with pytest.raises(InvalidInputError, match="not usable") as refusal:
        registry.register(tmp_path, slug)
    assert refusal.value.field == "slug"
    assert registry.projects() == []


# ---- roots that are refused ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "root",
    [
        *("", "relative", "./x", "~", "/", "//", "/..", "C:\\app"),
        *("{tmp}/gone", "{tmp}/file", "{tmp}/file/x", "{tmp}/dangling", "{tmp}/nul\0", "{tmp}/\udcff"),
        *("{home}", "{home}/", "{home}/../{homename}", "{link}"),
    ],
)
def test_a_root_that_cannot_be_a_project_is_refused(
    registry: Registry, tmp_path: Path, own_world: Path, root: str
) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "dangling").symlink_to(tmp_path / "gone")
    (tmp_path / "link").symlink_to(own_world)
    places = {"tmp": tmp_path, "home": own_world, "homename": own_world.name, "link": tmp_path / "link"}
    with pytest.raises(InvalidInputError) as refusal:
        registry.register(root.format(**places))
    assert refusal.value.field == "root"
    assert str(refusal.value).endswith(".") and str(refusal.value).isprintable()
    assert registry.projects() == []


def test_a_home_folder_under_git_swallows_no_project(
    registry: Registry, git_repository: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    dotfiles = git_repository("me")
    monkeypatch.setenv("HOME", str(dotfiles.path))
    (dotfiles.path / "app").mkdir()
    app = registry.register(dotfiles.path / "app")[0]
    whole = registry.register(dotfiles.path)[0]
    assert app.root == str(dotfiles.path / "app") and whole.id != app.id
    assert registry.by_reference(str(dotfiles.path / "app/x.ts")).id == app.id


# ---- references ----------------------------------------------------------------------------------


def test_an_unknown_slug_is_answered_with_the_nearest(registry: Registry, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="none is registered yet"):
        registry.by_reference("shop")
    for name in ("web-shop", "gateway", "docs"):
        (tmp_path / name).mkdir()
        registry.register(tmp_path / name)
    with pytest.raises(NotFoundError, match="did you mean web-shop"):
        registry.by_reference("web-shp")


def test_a_folders_name_that_several_projects_share_names_none(registry: Registry, tmp_path: Path) -> None:
    for name in ("a/商城", "b/商城"):
        (tmp_path / name).mkdir(parents=True)
        registry.register(tmp_path / name)
    with pytest.raises(NotFoundError, match=r"project-\w+ or project-\w+"):
        registry.by_reference("商城")


@pytest.mark.parametrize(
    "reference", ["", " ", "a\0b", "/a\0b", "\udcff", "/\udcff", "/", "/gone/x", "../x", "x" * 9999]
)
def test_a_reference_to_nothing_is_not_found(registry: Registry, app: Repository, reference: str) -> None:
    registry.register(app.path)
    with pytest.raises(NotFoundError) as refusal:
        registry.by_reference(reference)
    assert "\0" not in str(refusal.value) and "\udcff" not in str(refusal.value)


def test_a_path_that_is_gone_belongs_to_the_longest_root_around_it(
    registry: Registry, app: Repository
) -> None:
    info = registry.register(app.path)[0]
    registry.add_root(info.id, "/gone/copy")
    assert registry.by_reference("/gone/copy/src/a.ts").id == info.id
    with pytest.raises(NotFoundError):
        registry.by_reference("/gone/copyist/a.ts")


# ---- learned roots -------------------------------------------------------------------------------


def test_the_kind_of_a_learned_root_is_told_by_the_disk(
    registry: Registry, home: Home, app: Repository, tmp_path: Path
) -> None:
    info = registry.register(app.path)[0]
    app.git("worktree", "add", "--quiet", "../beside")
    app.git("clone", "--quiet", ".", "../clone")
    for root in (tmp_path / "beside", tmp_path / "clone", "/gone/copy", "C:\\app", app.path):
        registry.add_root(info.id, str(root))
        registry.add_root(info.id, str(root))
    with sqlite3.connect(home.registry_file) as look:
        kinds = dict(look.execute("SELECT path, kind FROM roots"))
    look.close()
    assert kinds == {
        str(app.path): RootKind.MAIN,
        str(tmp_path / "beside"): RootKind.WORKTREE,
        str(tmp_path / "clone"): RootKind.CLONE,
        "/gone/copy": RootKind.LEARNED,
        "C:\\app": RootKind.LEARNED,
    }
    assert registry.roots(info.id)[0] == str(app.path)


def test_roots_belong_to_existing_projects_and_are_text(registry: Registry, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        registry.add_root("no-such-id", "/x")
    with pytest.raises(NotFoundError):
        registry.project("no-such-id")
    info = registry.register(tmp_path)[0]
    with pytest.raises(InvalidInputError, match="UTF-8"):
        registry.add_root(info.id, "/x\udcff")


# ---- the file ------------------------------------------------------------------------------------


def test_the_table_is_for_its_owner_only(registry: Registry, home: Home, tmp_path: Path) -> None:
    registry.register(tmp_path)
    files = list(home.path.glob("registry.db*"))
    assert files
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_a_table_of_a_newer_version_is_refused(home: Home) -> None:
    Registry(home).close()
    with sqlite3.connect(home.registry_file) as future:
        future.execute("PRAGMA user_version = 99")
    future.close()
    with pytest.raises(StorageError, match="newer GraphMem"):
        Registry(home)


def test_a_damaged_table_is_said(home: Home) -> None:
    home.registry_file.write_bytes(b"this is not a database, it only stands in its place" * 50)
    with pytest.raises(StorageError, match="damaged"):
        Registry(home)


def test_a_table_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.prepare()
    home.registry_file.mkdir()
    with pytest.raises(HomeError, match="can't be made"):
        Registry(home)


def test_many_threads_registering_one_root_make_one_project(registry: Registry, app: Repository) -> None:
    made: list[tuple[str, bool]] = []
    barrier = threading.Barrier(6)

    def register() -> None:
        barrier.wait()
        info, created = registry.register(app.path)
        made.append((info.id, created))

    threads = [threading.Thread(target=register) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({project for project, _ in made}) == 1
    assert sorted(created for _, created in made) == [False] * 5 + [True]
