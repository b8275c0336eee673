"""One file is one file: however its path is written, wherever the work was done, whatever it was called."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory, Project
from graphmem.errors import InvalidInputError
from graphmem.model import FileStatus, ObservationFilter

Build = Callable[..., Any]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "home of the memory") as memory:
        yield memory


@pytest.fixture
def shop(memory: Memory, git_repository: Build) -> tuple[Project, Any]:
    """A registered repository whose history was imported."""
    repository = git_repository("shop")
    repository.touch("Begin", "src/a.ts", "src/b.ts", "README.md")
    project, _ = memory.register(repository.path)
    project.import_git(str(repository.path))
    return project, repository


def tell(project: Project, *items: dict[str, Any]) -> None:
    receipt = project.observe(items)
    assert (receipt.rejected, receipt.accepted) == ((), len(items))
    assert project.wait_visible()


def touches(project: Project, path: str) -> list[str]:
    """The sessions that touched a file, one entry an observation, the oldest first."""
    found = project.observations(ObservationFilter(file=path), limit=200).items
    return [observation.session for observation in reversed(found) if observation.source != "git"]


def names(project: Project) -> set[str]:
    """Every name any observation uses."""
    found: set[str] = set()
    for observation in project.observations(limit=200).items:
        found.update(observation.files_modified, observation.files_read)
    return found


# ---- one spelling or another -------------------------------------------------------------------


def test_root_subfolder_and_absolute_path_are_one_file_with_three_touches(shop: tuple[Project, Any]) -> None:
    project, repository = shop
    root = str(repository.path)
    tell(
        project,
        {"session": "1", "cwd": root, "files_modified": ["src/a.ts"]},
        {"session": "2", "cwd": f"{root}/src", "files_modified": ["a.ts"]},
        {"session": "3", "files_modified": [f"{root}/src/a.ts"]},
    )
    assert touches(project, "src/a.ts") == ["1", "2", "3"]
    assert project.stats().files == 3


def test_a_repository_that_moves_while_it_is_open_is_read_from_its_new_place(
    memory: Memory, shop: tuple[Project, Any]
) -> None:
    project, repository = shop
    old = str(repository.path)
    assert project.impact([f"{old}/src/a.ts"]).path == "src/a.ts"
    new = f"{old} in its new place"
    os.rename(old, new)
    found = memory.project(f"{new}/src")
    assert (found.info.slug, found.info.root) == (project.info.slug, new)
    assert found.info.roots[0] == new
    assert found.impact([f"{new}/src/a.ts"]).status is FileStatus.KNOWN
    assert found.impact([f"{new}/src/new.ts"]).path == "src/new.ts"


def test_an_event_and_git_may_use_different_normal_forms(memory: Memory, git_repository: Build) -> None:
    composed, decomposed = (unicodedata.normalize(form, "doc/café.md") for form in ("NFC", "NFD"))
    repository = git_repository()
    repository.touch("Begin", composed, "b.md")
    project, _ = memory.register(repository.path)
    project.import_git(str(repository.path))
    tell(project, {"session": "mac", "files_modified": [decomposed]})
    assert touches(project, composed) == touches(project, decomposed) == ["mac"]
    assert project.stats().files == 2
    assert project.impact([decomposed]).path == composed


def test_git_that_holds_both_normal_forms_has_two_files(memory: Memory, git_repository: Build) -> None:
    composed, decomposed = (unicodedata.normalize(form, "é.md") for form in ("NFC", "NFD"))
    repository = git_repository()
    repository.touch("One", composed)
    repository.touch("Two", decomposed)
    if len(list(repository.path.glob("*.md"))) < 2:
        pytest.skip("platform: this file system holds one normal form only")
    project, _ = memory.register(repository.path)
    project.import_git(str(repository.path))
    tell(project, {"session": "c", "files_read": [composed]}, {"session": "d", "files_read": [decomposed]})
    assert (touches(project, composed), touches(project, decomposed)) == (["c"], ["d"])
    assert project.stats().files == 2


@pytest.mark.parametrize("name", ["src/模块.py", "Einkäufe/t.ts", "🧪 a b.txt", 'q"uote.py', "tab\there.py"])
def test_a_name_that_git_would_quote_is_its_real_self(
    memory: Memory, git_repository: Build, name: str
) -> None:
    repository = git_repository()
    for number in range(3):
        repository.touch(f"Change {number}", name, "plain.py")
    project, _ = memory.register(repository.path)
    project.import_git(str(repository.path))
    assert project.impact(["plain.py"]).affected[0].path == name
    assert project.impact([name]).affected[0].path == "plain.py"
    tell(project, {"session": "s", "files_modified": [f"{repository.path}/{name}"]})
    assert touches(project, name) == ["s"]


def test_a_backslash_separates_unless_a_file_is_named_so(memory: Memory, git_repository: Build) -> None:
    repository = git_repository()
    repository.touch("Begin", "src/a.ts", "a\\b")
    project, _ = memory.register(repository.path)
    project.import_git(str(repository.path))
    tell(
        project,
        {"session": "1", "files_modified": ["src\\a.ts"]},
        {"session": "2", "files_modified": [".\\src\\..\\src\\a.ts"]},
        {"session": "3", "files_modified": ["a\\b"]},
        {"session": "4", "files_modified": ["new\\c.ts"]},
    )
    assert touches(project, "src/a.ts") == ["1", "2"]
    assert touches(project, "a\\b") == ["3"]
    assert touches(project, "new/c.ts") == ["4"]
    assert names(project) == {"src/a.ts", "a\\b", "new/c.ts"}


def test_windows_paths_of_a_copy_on_another_machine_are_the_same_files(shop: tuple[Project, Any]) -> None:
    project, _ = shop
    tell(
        project,
        {"session": "1", "files_modified": ["C:\\Users\\mei\\shop\\src\\a.ts"]},
        {"session": "2", "files_modified": ["c:/users/MEI/shop/src/a.ts"]},
        {"session": "3", "cwd": "C:\\Users\\mei\\shop\\src", "files_modified": ["b.ts"]},
    )
    assert touches(project, "src/a.ts") == ["1", "2"]
    assert touches(project, "src/b.ts") == ["3"]
    assert project.stats().files == 3


def test_a_path_a_redactor_changed_is_dropped_and_makes_no_hub(shop: tuple[Project, Any]) -> None:
    project, _ = shop
    receipt = project.observe(
        [
            {"files_modified": ["src/a.ts", "notes/REDACTED.md"]},
            {"files_modified": ["doc/[REDACTED].md"], "title": "t"},
        ]
    )
    assert receipt.accepted == 2
    assert any("redactor" in note for note in receipt.notes)
    assert project.wait_visible()
    assert not any("REDACTED" in name for name in names(project))
    with pytest.raises(InvalidInputError):
        project.impact(["notes/REDACTED.md"])


# ---- one place or another ----------------------------------------------------------------------


@pytest.mark.parametrize("learned_by", ["the memory", "events"])
def test_worktrees_are_one_project_and_their_branch_an_attribute(
    memory: Memory, shop: tuple[Project, Any], tmp_path: Path, learned_by: str
) -> None:
    project, repository = shop
    places = [
        repository.path / ".worktrees" / "x",
        tmp_path / "beside",
        repository.path / ".claude" / "worktrees" / "z",
    ]
    for number, place in enumerate(places):
        repository.git("worktree", "add", "--quiet", "-b", f"branch-{number}", str(place))
        if learned_by == "the memory":
            found, created = memory.register(place)
            assert (found.id, created) == (project.id, False)
    tell(
        project,
        *(
            {
                "session": f"s{number}",
                "branch": f"branch-{number}",
                "cwd": str(place),
                "files_modified": ["src/a.ts"] if number else [f"{place}/src/a.ts"],
            }
            for number, place in enumerate(places)
        ),
    )
    assert touches(project, "src/a.ts") == ["s0", "s1", "s2"]
    assert touches(project, str(places[1] / "src" / "a.ts")) == ["s0", "s1", "s2"]
    assert project.stats().files == 3
    branches = {item.session: item.branch for item in project.observations(limit=200).items}
    assert [branches[f"s{number}"] for number in range(3)] == ["branch-0", "branch-1", "branch-2"]
    assert {memory.project(str(place)).id for place in places} == {project.id}


def test_an_agent_may_stay_in_the_main_checkout_and_edit_a_worktree(
    shop: tuple[Project, Any], tmp_path: Path
) -> None:
    project, repository = shop
    repository.git("worktree", "add", "--quiet", "-b", "feature", str(tmp_path / "feature"))
    tell(
        project,
        {"session": "1", "cwd": str(repository.path), "files_modified": [f"{tmp_path}/feature/src/a.ts"]},
        {"session": "2", "cwd": str(repository.path), "files_modified": ["../feature/src/a.ts"]},
        {"session": "3", "cwd": str(repository.path), "files_added": [f"{tmp_path}/feature/src/new.ts"]},
    )
    assert touches(project, "src/a.ts") == ["1", "2"]
    assert touches(project, "src/new.ts") == ["3"]


def test_a_link_to_the_repository_is_the_repository_and_a_linked_file_is_itself(
    memory: Memory, shop: tuple[Project, Any], tmp_path: Path
) -> None:
    project, repository = shop
    (tmp_path / "link").symlink_to(repository.path)
    (repository.path / "alias.ts").symlink_to("src/a.ts")
    found, created = memory.register(tmp_path / "link")
    assert (found.id, created) == (project.id, False)
    tell(
        project,
        {"session": "1", "files_modified": [f"{tmp_path}/link/src/a.ts"]},
        {"session": "2", "cwd": f"{tmp_path}/link", "files_modified": ["src/a.ts"]},
        {"session": "3", "files_modified": [f"{repository.path}/alias.ts"]},
    )
    assert touches(project, "src/a.ts") == ["1", "2"]
    assert touches(project, "alias.ts") == ["3"]


def test_many_spellings_under_many_homes_are_few_files(shop: tuple[Project, Any]) -> None:
    project, _ = shop
    homes = [f"/home/user{n}/code/shop" for n in range(10)] + [f"/Users/u{n}/src/shop" for n in range(10)]
    spellings = [f"{home}/src/{name}.ts" for home in homes for name in "ab"]
    tell(project, *({"session": "s", "files_modified": [path]} for path in spellings))
    assert project.stats().files == 3
    assert len(touches(project, "src/a.ts")) == len(touches(project, "src/b.ts")) == 20
    assert len(project.info.roots) >= 20


def test_projects_of_the_same_name_are_two_and_told_apart(
    memory: Memory, git_repository: Build, tmp_path: Path
) -> None:
    made = []
    for number, place in enumerate(("one", "two")):
        (tmp_path / place).mkdir()
        repository = git_repository(f"{place}/app")
        repository.touch("Begin", "src/main.ts", f"src/only{number}.ts")
        project, created = memory.register(repository.path)
        assert created
        project.import_git(str(repository.path))
        made.append(project)
    assert made[0].info.slug != made[1].info.slug
    assert [entry.path for entry in made[0].impact(["src/main.ts"], limit=200).affected] == ["src/only0.ts"]
    with pytest.raises(InvalidInputError, match="outside"):
        made[0].impact([f"{made[1].info.root}/src/main.ts"])


@pytest.mark.parametrize(("one", "two"), [("a-b", "a/b"), ("项目一", "项目二"), ("a b", "a_b")])
def test_folders_whose_names_collapse_are_two_projects(
    memory: Memory, tmp_path: Path, one: str, two: str
) -> None:
    projects = []
    for name in (one, two):
        (tmp_path / "t" / name).mkdir(parents=True, exist_ok=True)
        projects.append(memory.register(tmp_path / "t" / name)[0])
        tell(projects[-1], {"cwd": str(tmp_path / "t" / name), "files_modified": [f"{len(projects)}.py"]})
    assert len({project.id for project in projects}) == len({project.info.slug for project in projects}) == 2
    assert [names(project) for project in projects] == [{"1.py"}, {"2.py"}]
    assert memory.project(str(tmp_path / "t" / one / "x.py")).id == projects[0].id
    assert memory.project(str(tmp_path / "t" / two / "x.py")).id == projects[1].id


def test_a_repository_that_is_a_project_of_its_own_is_no_copy_of_another(
    memory: Memory, shop: tuple[Project, Any], tmp_path: Path
) -> None:
    project, repository = shop
    repository.git("clone", "--quiet", str(repository.path), str(tmp_path / "fork"))
    fork, created = memory.register(tmp_path / "fork")
    assert created
    receipt = project.observe([{"files_modified": [f"{tmp_path}/fork/src/a.ts"]}])
    assert receipt.rejected
    tell(fork, {"session": "mine", "files_modified": [f"{tmp_path}/fork/src/a.ts"]})
    assert touches(fork, "src/a.ts") == ["mine"]


# ---- one name after another --------------------------------------------------------------------


def test_a_rename_by_git_and_one_by_an_observation_carry_the_history_on(
    memory: Memory, git_repository: Build
) -> None:
    repository = git_repository()
    for number in range(5):
        repository.touch(f"Change {number}", "a/x", "a/y")
    repository.git("mv", "a", "b")
    repository.commit("Move")
    project, _ = memory.register(repository.path)
    project.import_git(str(repository.path))
    tell(project, {"session": "agent", "renames": [{"from": "b/x", "to": "c/x"}], "files_modified": ["c/x"]})
    answer = project.impact(["c/x"])
    found = {entry.path: entry.evidence.together for entry in answer.affected}
    assert found["b/y"] >= 5
    assert "c/x" not in found and "a/x" not in found
    for old in ("a/x", "b/x"):
        assert project.impact([old]).reason == "now named c/x"
        assert touches(project, old) == ["agent"]
    tell(
        project,
        {"session": "new", "files_added": ["a/x"]},
        {"session": "new", "files_modified": ["a/x", "z"]},
    )
    assert {e.path for e in project.impact(["a/x"]).affected if e.evidence.together} == {"z"}


def test_a_folder_deleted_while_nothing_ran_is_gone_and_back_when_it_is_back(
    shop: tuple[Project, Any],
) -> None:
    project, repository = shop
    for number in range(4):
        tell(
            project, {"session": f"s{number}", "files_modified": ["src/a.ts", "README.md", "never/there.ts"]}
        )
    (repository.path / "src").rename(repository.path.parent / "elsewhere")
    gone = project.impact(["src/a.ts"])
    assert (gone.status, gone.warning) == (FileStatus.GONE, None)
    assert gone.reason is not None and "disk" in gone.reason
    answer = project.impact(["README.md"], limit=200)
    assert [entry.path for entry in answer.affected] == ["never/there.ts"]
    (repository.path.parent / "elsewhere").rename(repository.path / "src")
    assert project.impact(["src/a.ts"]).status is FileStatus.KNOWN
    assert "src/a.ts" in [entry.path for entry in project.impact(["README.md"], limit=200).affected]


def test_a_file_deleted_in_git_is_gone_and_revived_when_added_again(
    memory: Memory, git_repository: Build
) -> None:
    repository = git_repository()
    for number in range(3):
        repository.touch(f"Change {number}", "a.py", "b.py")
    repository.git("rm", "--quiet", "b.py")
    repository.commit("Remove")
    project, _ = memory.register(repository.path)
    project.import_git(str(repository.path))
    assert project.impact(["b.py"]).status is FileStatus.GONE
    assert [entry.path for entry in project.impact(["a.py"], limit=200).affected] == []
    repository.touch("Back", "b.py")
    project.import_git(str(repository.path))
    assert project.impact(["b.py"]).status is FileStatus.KNOWN
    assert [entry.path for entry in project.impact(["a.py"], limit=200).affected] == ["b.py"]


def test_bytes_that_are_no_utf8_are_one_file_for_git_and_for_events(
    memory: Memory, git_repository: Build
) -> None:
    repository = git_repository()
    raw = os.path.join(os.fsencode(repository.path), b"caf\xe9.txt")
    try:
        with open(raw, "wb") as file:
            file.write(b"x\n")
    except OSError:
        pytest.skip("platform: this file system takes UTF-8 names only")
    repository.touch("Begin", "plain.txt")
    project, _ = memory.register(repository.path)
    project.import_git(str(repository.path))
    assert project.impact(["plain.txt"]).affected[0].path == "caf\\xe9.txt"
    tell(project, {"session": "s", "files_modified": [os.fsdecode(raw)]})
    assert touches(project, os.fsdecode(b"caf\xe9.txt")) == ["s"]
    assert project.stats().files == 2
