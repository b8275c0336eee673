"""Every kind of repository is read, none is written to, and one that can't be read gets a sentence."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from graphmem.capture.git import GitImporter
from graphmem.errors import SourceError


def titles(run: Any) -> list[str]:
    return [item.title for item in run.new]


def fault(location: str | Path, ref: str = "HEAD") -> str:
    with pytest.raises(SourceError) as caught:
        list(GitImporter(str(location), ref=ref).batches())
    return str(caught.value)


def tree(path: Path) -> dict[str, tuple[int, int]]:
    """Every file beneath a folder with its size and time of change."""
    return {
        str(file.relative_to(path)): (file.lstat().st_size, file.lstat().st_mtime_ns)
        for file in path.rglob("*")
    }


# ---- kinds of repositories ---------------------------------------------------------------------


def test_a_bare_repository_a_worktree_a_folder_inside_and_a_git_folder_are_read_alike(
    git_repository: Callable[..., Any], imports: Any, tmp_path: Path
) -> None:
    repository = git_repository()
    repository.commit("Begin", {"src/deep/a.py": "1\n", ".mailmap": "Anna <author@example.invalid>\n"})
    repository.commit("Go on", {"src/deep/a.py": "2\n"})
    repository.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare.git"))
    repository.git("worktree", "add", "--quiet", "-b", "other", str(tmp_path / "tree"))
    (tmp_path / "link").symlink_to(repository.path)
    places = ["repository", "repository/src/deep", "repository/.git", "bare.git", "tree", "tree/src", "link"]
    runs = [imports(GitImporter(str(tmp_path / place))) for place in places]
    assert all(run.new == runs[0].new for run in runs)
    assert runs[0].new[1].files_modified == ("src/deep/a.py",)
    assert runs[0].new[1].actor == "Anna"


def test_a_worktree_is_read_from_its_own_head(
    git_repository: Callable[..., Any], imports: Any, tmp_path: Path
) -> None:
    repository = git_repository()
    repository.commit("Begin", {"a.py": "1\n"})
    repository.git("worktree", "add", "--quiet", "-b", "other", str(tmp_path / "tree"))
    (tmp_path / "tree" / "b.py").write_text("1\n")
    repository.git("-C", str(tmp_path / "tree"), "add", ".")
    repository.git("-C", str(tmp_path / "tree"), "commit", "--quiet", "--message", "Over there")
    assert titles(imports(GitImporter(str(tmp_path / "tree")))) == ["Begin", "Over there"]
    assert titles(imports(GitImporter(str(repository.path)))) == ["Begin"]


def test_submodules_are_projects_of_their_own(git_repository: Callable[..., Any], imports: Any) -> None:
    part, whole = git_repository("part"), git_repository("whole")
    part.commit("Part", {"p.py": "1\n"})
    whole.commit("Begin", {"a.py": "1\n"})
    whole.git("submodule", "add", "--quiet", str(part.path), "part")
    whole.commit("Add the part")
    part.commit("Part two", {"p.py": "2\n"})
    whole.git("-C", "part", "pull", "--quiet")
    whole.commit("Raise the part")
    whole.git("rm", "--quiet", "--cached", "part")
    whole.write({"part/.git": None})
    whole.commit("Take it in")
    run = imports(GitImporter(str(whole.path)))
    assert [(item.title, item.files_modified, item.files_deleted) for item in run.new] == [
        ("Begin", ("a.py",), ()),
        ("Add the part", (".gitmodules",), ()),
        ("Raise the part", (), ()),
        ("Take it in", ("part/p.py",), ()),
    ]
    assert any("3 changes of submodules left out" in remark for remark in run.report.remarks)
    assert titles(imports(GitImporter(str(whole.path / ".git" / "modules" / "part")))) == ["Part", "Part two"]


def test_a_repository_in_the_newer_hash_is_read(tmp_path: Path, git_repository: Any, imports: Any) -> None:
    repository = git_repository("modern", "--object-format=sha256")
    repository.commit("Begin", {"a.py": "1\n"})
    sha = repository.commit("Go on", {"a.py": "2\n"})
    first = imports(GitImporter(str(repository.path)))
    assert titles(first) == ["Begin", "Go on"]
    assert first.new[1].reference == sha
    assert len(sha) == 64
    assert imports(GitImporter(str(repository.path)), first).report.seen == 0


# ---- shallow and partial clones ----------------------------------------------------------------


@pytest.fixture
def long_history(git_repository: Callable[..., Any]) -> Any:
    repository = git_repository("origin")
    for number in range(15):
        changed = {f"f{n}.py": f"{number}\n" for n in range(2)}
        fresh = {f"g{number}.py": f"{number}\n"}
        repository.commit(f"Number {number}", changed | fresh)
    repository.git("config", "uploadpack.allowFilter", "true")
    return repository


@pytest.mark.parametrize(("depth", "said"), [(1, "Shallow, 1 commit:"), (10, "Shallow, 10 commits:")])
def test_the_boundary_of_a_shallow_clone_is_a_snapshot(
    long_history: Any, imports: Any, tmp_path: Path, depth: int, said: str
) -> None:
    url = f"file://{long_history.path}"
    long_history.git("clone", "--quiet", f"--depth={depth}", url, str(tmp_path / "clone"))
    run = imports(GitImporter(str(tmp_path / "clone")))
    assert [item.type for item in run.new] == ["snapshot", *["commit"] * (depth - 1)]
    assert len(run.new[0].files_added) == 2 + 15 - depth + 1
    assert run.new[0].files_added == run.new[0].files_modified
    assert [remark for remark in run.report.remarks if remark.startswith(said)]
    assert imports(GitImporter(str(tmp_path / "clone")), run).new == []


def test_a_deepened_clone_brings_what_came_before(long_history: Any, imports: Any, tmp_path: Path) -> None:
    url, clone = f"file://{long_history.path}", str(tmp_path / "clone")
    long_history.git("clone", "--quiet", "--depth=3", url, clone)
    first = imports(GitImporter(clone))
    long_history.git("-C", clone, "fetch", "--quiet", "--depth=8")
    second = imports(GitImporter(clone), first)
    assert [(item.type, item.title) for item in second.new] == [
        ("snapshot", "Number 7"),
        *[("commit", f"Number {number}") for number in range(8, 13)],
    ]
    long_history.git("-C", clone, "fetch", "--quiet", "--unshallow")
    third = imports(GitImporter(clone), second)
    assert titles(third) == [f"Number {number}" for number in range(8)]
    assert not any("Shallow" in remark for remark in third.report.remarks)


def test_a_partial_clone_is_read_without_the_network(long_history: Any, imports: Any, tmp_path: Path) -> None:
    long_history.git("mv", "f0.py", "moved.py")
    long_history.commit("Move")
    clone = tmp_path / "clone"
    url = f"file://{long_history.path}"
    long_history.git("clone", "--quiet", "--bare", "--filter=blob:none", url, str(clone))
    long_history.path.rename(tmp_path / "out of reach")
    before = tree(clone)
    run = imports(GitImporter(str(clone)))
    assert run.fault is None
    assert len(run.new) == 16
    assert [(rename.old, rename.new) for rename in run.new[-1].renames] == [("f0.py", "moved.py")]
    assert any(remark.startswith("Partial clone") for remark in run.report.remarks)
    assert tree(clone) == before


# ---- what can't be read ------------------------------------------------------------------------


def test_a_repository_without_commits_gets_one_sentence(git_repository: Callable[..., Any]) -> None:
    repository = git_repository()
    assert fault(repository.path) == f"{repository.path} has no commits yet; commit something first."
    repository.write({"a.py": "1\n"})
    repository.git("add", ".")
    assert fault(repository.path) == f"{repository.path} has no commits yet; commit something first."
    assert "has no commits yet" in fault(repository.path, "main")


def test_an_orphan_branch_is_told_from_an_empty_repository(
    git_repository: Callable[..., Any], imports: Any
) -> None:
    repository = git_repository()
    repository.commit("Begin", {"a.py": "1\n"})
    repository.git("checkout", "--quiet", "--orphan", "fresh")
    assert fault(repository.path) == (
        f"The branch 'fresh' of {repository.path} has no commits yet; commit something first, or name"
        " another branch (main)."
    )
    assert titles(imports(GitImporter(str(repository.path), ref="main"))) == ["Begin"]
    repository.commit("Fresh start", {"b.py": "1\n"})
    assert titles(imports(GitImporter(str(repository.path)))) == ["Fresh start"]


def test_what_is_no_repository_is_named(tmp_path: Path, git_repository: Callable[..., Any]) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "file").write_text("x")
    (tmp_path / "dead").mkdir()
    (tmp_path / "dead" / ".git").write_text("gitdir: /nowhere/at/all\n")
    assert "is not a git repository" in fault(tmp_path / "plain")
    assert "is not a git repository" in fault(tmp_path / "dead")
    assert "is not a folder" in fault(tmp_path / "file")
    assert "does not exist" in fault(tmp_path / "absent")
    assert "does not exist" in fault("nul\0byte")
    assert "does not exist" in fault("-c")


@pytest.mark.parametrize("ref", ["no-such", "v1.0", "0" * 40, "main~5", "HEAD@{99}", "main:a.py"])
def test_a_ref_that_names_no_commit_is_named(git_repository: Callable[..., Any], ref: str) -> None:
    repository = git_repository()
    repository.commit("Begin", {"a.py": "1\n"})
    said = fault(repository.path, ref)
    assert ref in said
    assert str(repository.path) in said


@pytest.mark.parametrize("ref", ["", " ", "--all", "-n1", "a\0b", "a\nb", "\ud800"])
def test_a_ref_that_is_no_name_is_refused(git_repository: Callable[..., Any], ref: str) -> None:
    repository = git_repository()
    repository.commit("Begin", {"a.py": "1\n"})
    assert "can't be the name of a branch" in fault(repository.path, ref)


@pytest.mark.parametrize("what", ["missing", "damaged"])
@pytest.mark.parametrize("kind", ["tip", "commit", "tree", "blob"])
def test_a_corrupt_object_ends_the_import_with_gits_own_words(
    git_repository: Callable[..., Any], imports: Any, kind: str, what: str
) -> None:
    repository = git_repository()
    for number in range(4):
        repository.commit(f"Number {number}", {"a.py": f"{number}\n" * 20})
    repository.write({"b.py": "2\n" * 20 + "more\n", "a.py": None})
    # Similar content under a new name makes git look into both.
    repository.commit("Move and change")
    names = {"tip": "HEAD", "commit": "HEAD~2", "tree": "HEAD^{tree}", "blob": "HEAD:b.py"}
    object = repository.git("rev-parse", names[kind])
    file = repository.path / ".git" / "objects" / object[:2] / object[2:]
    file.chmod(0o644)
    if what == "missing":
        file.unlink()
    else:
        file.write_bytes(b"not an object")
    run = imports(GitImporter(str(repository.path)))
    assert "fsck" in str(run.fault)
    assert object[:12] in str(run.fault)
    if kind in ("tree", "blob"):
        assert titles(run) == [f"Number {number}" for number in range(4)]
        assert "4 commits" in str(run.fault)


def test_after_the_repair_the_import_goes_on(git_repository: Callable[..., Any], imports: Any) -> None:
    repository = git_repository()
    repository.commit("First", {"a.py": "1\n"})
    repository.commit("Second", {"b/b.py": "1\n"})
    object = repository.git("rev-parse", "HEAD:b")
    file = repository.path / ".git" / "objects" / object[:2] / object[2:]
    aside = repository.path / "aside"
    file.rename(aside)
    broken = imports(GitImporter(str(repository.path)))
    assert broken.fault is not None
    assert titles(broken) == ["First"]
    aside.rename(file)
    assert titles(imports(GitImporter(str(repository.path)), broken)) == ["Second"]


def test_another_owners_repository_is_named_with_the_remedy(
    git_repository: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, imports: Any
) -> None:
    repository = git_repository()
    repository.commit("Begin", {"a.py": "1\n"})
    if os.geteuid():
        pytest.skip("platform: only the superuser may give a file away")
    for path in (repository.path, repository.path / ".git"):
        os.chown(path, 12_345, 12_345)
    assert "safe.directory" in fault(repository.path)
    repository.git("config", "--global", "--add", "safe.directory", str(repository.path))
    try:
        assert titles(imports(GitImporter(str(repository.path)))) == ["Begin"]
    finally:
        repository.git("config", "--global", "--unset-all", "safe.directory")


# ---- the world around --------------------------------------------------------------------------

HOSTILE = """
[user]
    name = Somebody Else
    email = else@example.invalid
[core]
    quotePath = true
    pager = false
    abbrev = 4
    logAllRefUpdates = always
    fsmonitor = /bin/false
[color]
    ui = always
    diff = always
[log]
    showSignature = true
    showRoot = false
    follow = true
    decorate = full
    abbrevCommit = true
    date = relative
    diffMerges = separate
    mailmap = false
[diff]
    renames = false
    renameLimit = 1
    noprefix = true
    mnemonicPrefix = true
    relative = true
    external = /bin/false
    ignoreSubmodules = all
    orderFile = /nowhere/order
    submodule = diff
    wordRegex = .
[format]
    pretty = oneline
    notes = true
[pretty]
    tformat = %h
[i18n]
    logOutputEncoding = latin1
[gpg]
    program = /bin/false
[notes]
    displayRef = *
[alias]
    log = log --oneline
"""


@pytest.fixture
def hostile_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    settings = tmp_path / "hostile.gitconfig"
    settings.write_text(HOSTILE)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    for name, value in {
        "GIT_DIR": "/nowhere/.git",
        "GIT_WORK_TREE": "/nowhere",
        "GIT_INDEX_FILE": "/nowhere/index",
        "GIT_OBJECT_DIRECTORY": "/nowhere/objects",
        "GIT_NAMESPACE": "elsewhere",
        "GIT_LITERAL_PATHSPECS": "0",
        "GIT_EXTERNAL_DIFF": "/bin/false",
        "GIT_PAGER": "/bin/false",
        "GIT_TRACE": "1",
        "GIT_CONFIG_PARAMETERS": "'log.showroot=false'",
        "LC_ALL": "C",
        "LANGUAGE": "de",
        "PAGER": "/bin/false",
    }.items():
        monkeypatch.setenv(name, value)
    yield


def test_no_setting_and_no_variable_changes_the_outcome(
    git_repository: Callable[..., Any], imports: Any, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    repository = git_repository()
    repository.commit("Beginn: Einkäufe", {"src/Einkäufe.py": "x\n" * 30, "b.py": "b\n"}, author="Jörg")
    repository.git("mv", "src/Einkäufe.py", "src/模块.py")
    repository.commit("Umbenannt", {"b.py": "c\n"}, author="Jörg")
    repository.git("notes", "add", "--message", "a note")
    repository.git("tag", "v1")
    expected = imports(GitImporter(str(repository.path))).new
    request.getfixturevalue("hostile_settings")
    for place in ("", "src"):
        assert imports(GitImporter(str(repository.path / place))).new == expected


def test_nothing_is_written_into_the_repository(git_repository: Callable[..., Any], imports: Any) -> None:
    repository = git_repository()
    repository.commit("Begin", {"a.py": "1\n"})
    repository.commit("Go on", {"a.py": "2\n"})
    repository.write({"a.py": "not committed\n", "cafe\u0301.txt": "new\n"})
    before = tree(repository.path)
    assert len(imports(GitImporter(str(repository.path))).new) == 2
    assert tree(repository.path) == before
