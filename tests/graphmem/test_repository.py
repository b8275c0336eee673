"""The facts about a checkout, held against git's own answers on real repositories."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest

from graphmem.errors import SourceError
from graphmem.repository import (
    are_related,
    checkout_root,
    git_environment,
    git_output,
    is_main,
    is_repository,
    locate,
    remotes,
    worktrees,
)


class Repository(Protocol):
    path: Path

    def git(self, *arguments: str) -> str: ...

    def commit(self, title: str, files: dict[str, str | bytes | None] | None = None) -> str: ...


Build = Callable[..., Repository]


def common_dir_by_git(folder: Path) -> str:
    said = os.fsdecode(git_output(folder, ["rev-parse", "--git-common-dir"])).strip()
    return os.path.realpath(folder / said)


def check_against_git(folder: Path) -> None:
    """What is read from git's files must be what git says of the same folder."""
    checkout = locate(folder)
    assert checkout is not None
    assert checkout.common_dir == common_dir_by_git(folder)
    assert checkout.bare == (git_output(folder, ["rev-parse", "--is-bare-repository"]) == b"true\n")
    if checkout.root is not None:
        top = os.fsdecode(git_output(folder, ["rev-parse", "--show-toplevel"])).removesuffix("\n")
        assert os.path.realpath(checkout.root) == top
    try:
        branch = git_output(folder, ["symbolic-ref", "--short", "HEAD"]).decode().strip()
    except SourceError:
        branch = None  # type: ignore[assignment]
    assert checkout.branch == branch


@pytest.fixture
def repository(git_repository: Build) -> Repository:
    built = git_repository("app")
    built.commit("first", {"src/deep/er/a.ts": "x", "README.md": "x"})
    return built


# ---- where a path stands -------------------------------------------------------------------------


@pytest.mark.parametrize("below", ["", "src", "src/deep/er", "src/deep/er/a.ts", "src/gone/b.ts", "gone"])
def test_a_path_anywhere_in_a_checkout_is_placed(repository: Repository, below: str) -> None:
    checkout = locate(repository.path / below)
    assert checkout is not None
    assert checkout.common_dir == str(repository.path / ".git")
    assert checkout.root == str(repository.path)
    assert checkout.branch == "main" and not checkout.bare
    if (repository.path / below).is_dir():
        check_against_git(repository.path / below)


def test_outside_git_there_is_no_checkout(tmp_path: Path) -> None:
    assert locate(tmp_path) is None
    assert locate(tmp_path / "gone/file.ts") is None
    assert checkout_root(str(tmp_path)) is None


def test_a_repository_without_commits_is_a_checkout(git_repository: Build) -> None:
    check_against_git(git_repository("empty").path)


@pytest.mark.parametrize("branch", ["feature/深い/x", "with.dots", "main-2"])
def test_the_branch_is_named_in_full(repository: Repository, branch: str) -> None:
    repository.git("switch", "--quiet", "--create", branch)
    checkout = locate(repository.path)
    assert checkout is not None and checkout.branch == branch
    check_against_git(repository.path)


def test_a_detached_head_has_no_branch(repository: Repository) -> None:
    repository.git("switch", "--quiet", "--detach")
    checkout = locate(repository.path)
    assert checkout is not None and checkout.branch is None
    check_against_git(repository.path)


@pytest.mark.parametrize(
    "place", ["../beside", "inside", ".worktrees/x", ".claude/worktrees/z", "../模块 tree", "src/deep/tree"]
)
def test_a_worktree_belongs_to_its_repository(repository: Repository, place: str) -> None:
    repository.git("worktree", "add", "--quiet", "-b", "other", place)
    tree = Path(os.path.normpath(repository.path / place))
    checkout = locate(tree / "src")
    assert checkout is not None
    assert checkout.common_dir == str(repository.path / ".git")
    assert checkout.root == str(tree) and checkout.branch == "other"
    check_against_git(tree)
    check_against_git(tree / "src")
    assert worktrees(checkout.common_dir) == (str(repository.path), str(tree))
    assert not is_main(str(tree), checkout.common_dir)
    assert is_main(str(repository.path), checkout.common_dir)


def test_worktrees_with_relative_links_are_understood(repository: Repository) -> None:
    repository.git("worktree", "add", "--quiet", "../beside")
    tree = repository.path.parent / "beside"
    (tree / ".git").write_text("gitdir: ../app/.git/worktrees/beside\n")
    (repository.path / ".git/worktrees/beside/gitdir").write_text("../../../../beside/.git\n")
    checkout = locate(tree / "src")
    assert checkout is not None and checkout.common_dir == str(repository.path / ".git")
    assert worktrees(checkout.common_dir) == (str(repository.path), str(tree))


def test_a_worktree_that_git_has_pruned_still_belongs(repository: Repository) -> None:
    repository.git("worktree", "add", "--quiet", ".worktrees/x")
    tree = repository.path / ".worktrees/x"
    link = (tree / ".git").read_text()
    repository.git("worktree", "remove", "--force", ".worktrees/x")
    tree.mkdir(parents=True)
    (tree / ".git").write_text(link)
    checkout = locate(tree / "a.ts")
    assert checkout is not None
    assert checkout.common_dir == str(repository.path / ".git") and checkout.root == str(tree)
    assert worktrees(checkout.common_dir) == (str(repository.path),)


def test_a_removed_worktree_is_no_longer_listed(repository: Repository) -> None:
    repository.git("worktree", "add", "--quiet", "../beside")
    (repository.path.parent / "beside").rename(repository.path.parent / "moved")
    assert worktrees(str(repository.path / ".git")) == (str(repository.path),)


def test_a_submodule_is_a_checkout_of_its_own(repository: Repository, git_repository: Build) -> None:
    library = git_repository("library")
    library.commit("first", {"lib.c": "x"})
    repository.git("submodule", "--quiet", "add", str(library.path), "vendor/lib")
    inside = repository.path / "vendor/lib"
    checkout = locate(inside / "lib.c")
    assert checkout is not None
    assert checkout.root == str(inside)
    assert checkout.common_dir == str(repository.path / ".git/modules/vendor/lib")
    assert worktrees(checkout.common_dir) == (str(inside),)
    check_against_git(inside)


def test_a_repository_inside_another_is_its_own(repository: Repository, git_repository: Build) -> None:
    inner = git_repository("app/inner")
    checkout = locate(inner.path / "x/y")
    assert checkout is not None and checkout.root == str(inner.path)


def test_an_empty_git_folder_is_not_taken_for_a_repository(repository: Repository) -> None:
    (repository.path / "src/.git").mkdir()
    checkout = locate(repository.path / "src/deep")
    assert checkout is not None and checkout.root == str(repository.path)
    check_against_git(repository.path / "src")


@pytest.mark.parametrize(
    "text", [b"", b"gitdir: ", b"gitdir: nowhere\n", b"\xff\x00", b"gitdir: .\n", b"x" * 99_999]
)
def test_a_broken_link_is_passed_over(repository: Repository, text: bytes) -> None:
    (repository.path / "src/.git").write_bytes(text)
    checkout = locate(repository.path / "src/deep")
    assert checkout is not None and checkout.root == str(repository.path)


def test_a_pipe_named_git_does_not_block(repository: Repository) -> None:
    os.mkfifo(repository.path / "src/.git")
    checkout = locate(repository.path / "src/deep")
    assert checkout is not None and checkout.root == str(repository.path)


@pytest.mark.parametrize("place", ["", "refs", "objects"])
def test_a_bare_repository_has_no_root(repository: Repository, tmp_path: Path, place: str) -> None:
    repository.git("clone", "--quiet", "--bare", ".", str(tmp_path / "app.git"))
    checkout = locate(tmp_path / "app.git" / place)
    assert checkout is not None
    assert checkout.bare and checkout.root is None and checkout.branch == "main"
    assert checkout.common_dir == str(tmp_path / "app.git")
    assert worktrees(checkout.common_dir) == ()
    check_against_git(tmp_path / "app.git" / place)


@pytest.mark.parametrize("hidden", ["app.git", "trees/.bare"])
def test_worktrees_of_a_bare_repository_are_one(repository: Repository, tmp_path: Path, hidden: str) -> None:
    (tmp_path / "trees").mkdir()
    bare = tmp_path / hidden
    repository.git("clone", "--quiet", "--bare", ".", str(bare))
    (tmp_path / "trees/.git").write_text(f"gitdir: {bare}\n")
    repository.git("-C", str(bare), "worktree", "add", "--quiet", str(tmp_path / "trees/main"), "main")
    checkout = locate(tmp_path / "trees/main/src")
    assert checkout is not None
    assert checkout.common_dir == str(bare) and checkout.root == str(tmp_path / "trees/main")
    assert not checkout.bare
    outer = locate(tmp_path / "trees")
    assert outer is not None and outer.common_dir == str(bare) and outer.root is None and outer.bare
    assert worktrees(str(bare)) == (str(tmp_path / "trees/main"),)


def test_a_separate_git_folder_is_found(tmp_path: Path, git_repository: Build) -> None:
    built = git_repository("work", "--separate-git-dir", str(tmp_path / "store"))
    checkout = locate(built.path)
    assert checkout is not None
    assert checkout.common_dir == str(tmp_path / "store") and checkout.root == str(built.path)
    assert is_main(str(built.path), checkout.common_dir)
    check_against_git(built.path)


def test_the_git_folder_itself_stands_for_its_checkout(repository: Repository) -> None:
    repository.git("worktree", "add", "--quiet", "-b", "other", "../beside")
    checkout = locate(repository.path / ".git/refs")
    assert checkout is not None and checkout.root == str(repository.path)
    linked = locate(repository.path / ".git/worktrees/beside")
    assert linked is not None and linked.root == str(repository.path.parent / "beside")
    assert linked.common_dir == checkout.common_dir and linked.branch == "other"


def test_a_symlinked_repository_has_one_identity_and_the_roots_own_spelling(
    repository: Repository, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(repository.path)
    checkout = locate(tmp_path / "link/src")
    assert checkout is not None
    assert checkout.common_dir == str(repository.path / ".git")
    assert checkout.root == str(tmp_path / "link")
    assert is_main(checkout.root, checkout.common_dir)


def test_the_walk_ends_at_a_known_root(repository: Repository) -> None:
    root = str(repository.path)
    assert checkout_root(f"{root}/src/deep") == (root, f"{root}/.git")
    assert checkout_root(f"{root}/src/deep", above=root) is None


def test_neither_git_nor_its_environment_is_needed_to_place_a_path(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", str(tmp_path))
    checkout = locate(repository.path / "src")
    assert checkout is not None and checkout.root == str(repository.path)


def test_a_common_dir_is_told_from_a_folder(repository: Repository) -> None:
    assert is_repository(str(repository.path / ".git"))
    assert not is_repository(str(repository.path))
    assert not is_repository(str(repository.path / "gone"))


# ---- copies of a repository ----------------------------------------------------------------------


def test_a_clone_is_related_by_its_remote(repository: Repository, tmp_path: Path) -> None:
    repository.git("clone", "--quiet", ".", str(tmp_path / "clone"))
    repository.git("clone", "--quiet", str(tmp_path / "clone"), str(tmp_path / "second"))
    ours, clone, second = (str(tmp_path / name / ".git") for name in ("app", "clone", "second"))
    assert remotes(clone) == {str(repository.path)}
    assert are_related(ours, clone) and are_related(clone, ours)
    assert are_related(ours, second), "no remote in common, but the same first commit"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://example.invalid/team/app.git", "git@example.invalid:team/app.git", True),
        ("ssh://git@example.invalid:22/team/app", "https://user:key@Example.invalid/team/app/", True),
        ("https://example.invalid/team/app", "https://example.invalid/team/app2", False),
        ("https://example.invalid/team/app", "https://example.invalid/other/app", False),
    ],
)
def test_remotes_are_compared_by_address(git_repository: Build, one: str, other: str, same: bool) -> None:
    left, right = git_repository("left"), git_repository("right")
    left.git("remote", "add", "origin", one)
    right.git("remote", "add", "upstream", other)
    assert are_related(str(left.path / ".git"), str(right.path / ".git")) is same


def test_two_repositories_of_one_name_are_not_related(git_repository: Build) -> None:
    left, right = git_repository("one/app"), git_repository("two/app")
    left.commit("first here", {"a.ts": "1"})
    right.commit("first there", {"a.ts": "2"})
    assert not are_related(str(left.path / ".git"), str(right.path / ".git"))
    assert not are_related(
        str(git_repository("three").path / ".git"), str(git_repository("four").path / ".git")
    )


# ---- git itself ----------------------------------------------------------------------------------


def test_the_callers_git_variables_do_not_turn_the_question(
    repository: Repository, git_repository: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = git_repository("other")
    for name in ("GIT_DIR", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, str(other.path / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.path))
    monkeypatch.setenv("GIT_PAGER", "false")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    top = git_output(repository.path, ["rev-parse", "--show-toplevel"])
    assert os.fsdecode(top).strip() == str(repository.path)
    assert git_environment()["GIT_TERMINAL_PROMPT"] == "0"


def test_git_missing_is_said(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SourceError, match="git is not installed"):
        git_output(repository.path, ["status"])


def test_no_repository_is_said(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"is not a git repository; name"):
        git_output(tmp_path, ["status"])


def test_a_missing_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="does not exist"):
        git_output(tmp_path / "gone", ["status"])


def test_any_other_fault_is_said_in_gits_words(repository: Repository) -> None:
    with pytest.raises(SourceError, match="no-such-branch"):
        git_output(repository.path, ["log", "no-such-branch"])


def test_a_git_that_does_not_answer_is_ended(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "bin/git"
    slow.parent.mkdir()
    slow.write_text(
        f"#!{sys.executable}\nimport sys\nsys.stdin.close()\nimport threading\nthreading.Event().wait()\n"
    )
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", str(slow.parent))
    with pytest.raises(SourceError, match="did not answer within"):
        git_output(repository.path, ["status"], timeout=0.5)


def test_a_repository_of_another_user_is_refused_with_the_remedy(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    refused = subprocess.run(
        ["git", "-C", str(repository.path), "rev-parse", "HEAD"], capture_output=True, check=False
    )
    assert refused.returncode and b"dubious ownership" in refused.stderr
    if os.geteuid() == 0:
        owner = 65534
        for folder, folders, files in os.walk(repository.path):
            for name in (*folders, *files):
                os.chown(os.path.join(folder, name), owner, owner, follow_symlinks=False)
        os.chown(repository.path, owner, owner)
        with pytest.raises(SourceError, match=r"safe\.directory"):
            git_output(repository.path, ["rev-parse", "HEAD"])
    assert locate(repository.path) is not None


def test_settings_that_git_moved_aside_for_the_main_worktree_count(
    repository: Repository, tmp_path: Path
) -> None:
    repository.git("clone", "--quiet", "--bare", ".", str(tmp_path / "trees/.git"))
    bare = str(tmp_path / "trees/.git")
    repository.git("-C", bare, "config", "extensions.worktreeConfig", "true")
    repository.git("-C", bare, "config", "--unset", "core.bare")
    repository.git("-C", bare, "config", "--worktree", "core.bare", "true")
    checkout = locate(tmp_path / "trees/x")
    assert checkout is not None and checkout.bare and checkout.root is None


@pytest.mark.parametrize("name", [" edge ", "tree\\x", "a\nb"])
def test_a_worktree_with_an_odd_name_is_followed(repository: Repository, tmp_path: Path, name: str) -> None:
    repository.git("worktree", "add", "--quiet", "-b", "odd", str(tmp_path / name))
    checkout = locate(tmp_path / name / "src")
    assert checkout is not None
    assert checkout.common_dir == str(repository.path / ".git") and checkout.root == str(tmp_path / name)
