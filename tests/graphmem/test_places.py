"""Which project an agent's folders and files belong to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from graphmem import Memory
from graphmem.places import Places


def test_a_checkout_an_agent_works_in_becomes_a_project(
    memory: Memory, git_repository: Callable[..., Any]
) -> None:
    root = git_repository("app").path
    (root / "src").mkdir()
    found = Places(memory).of_folder(str(root / "src"))
    assert found is not None
    assert found.info.root == str(root)
    assert len(memory.projects()) == 1


def test_a_folder_outside_every_checkout_becomes_none(memory: Memory, tmp_path: Path) -> None:
    places = Places(memory)
    for folder in (str(tmp_path), str(tmp_path / "missing"), "", "relative", None, "C:\\work", "/", "/x\0y"):
        assert places.of_folder(folder) is None
    assert memory.projects() == []


def test_a_folder_that_was_registered_by_hand_needs_no_checkout(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "plain" / "deep").mkdir(parents=True)
    project, _ = memory.register(tmp_path / "plain")
    found = Places(memory).of_folder(str(tmp_path / "plain" / "deep"))
    assert found is not None
    assert found.id == project.id


def test_a_file_belongs_to_the_project_it_lies_in_not_to_that_of_the_folder(
    memory: Memory, git_repository: Callable[..., Any]
) -> None:
    here, there, stranger = (git_repository(name).path for name in ("here", "there", "stranger"))
    mine, other = memory.register(here)[0], memory.register(there)[0]
    places = Places(memory)

    def owner(path: str) -> str | None:
        found = places.of_file(path, str(here))
        return None if found is None else found.id

    assert owner("src/a.py") == owner(str(here / "src" / "a.py")) == mine.id
    assert owner(str(there / "a.py")) == owner("../there/a.py") == other.id
    assert owner(str(stranger / "a.py")) is owner("/etc/hosts") is None
    assert owner("C:\\shop\\a.py") == mine.id


def test_a_worktree_is_its_repository(memory: Memory, git_repository: Callable[..., Any]) -> None:
    repository = git_repository("app")
    repository.commit("begin", {"a.py": "1\n"})
    project, _ = memory.register(repository.path)
    repository.git("worktree", "add", "-q", str(repository.path / ".claude" / "worktrees" / "z"))
    found = Places(memory).of_folder(str(repository.path / ".claude" / "worktrees" / "z"))
    assert found is not None
    assert found.id == project.id
