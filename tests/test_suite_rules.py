"""What the shared fixtures promise: a world of their own, and no test that is quietly left out."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CONFTEST = Path(__file__).resolve().parent / "conftest.py"
TESTS = """
import pytest

def test_needs_data(data_folder):
    assert data_folder.file("present.txt").read_text() == "here"

def test_needs_more_data(data_folder):
    data_folder.file("absent.txt")

def test_needs_a_library():
    pytest.importorskip("no_such_library_anywhere")

def test_needs_another_system():
    pytest.skip("platform: only where nobody is root")

def test_always_runs():
    assert True
"""


def outcome(folder: Path, **environment: str) -> dict[str, str]:
    """Run the small suite above under the real conftest and return each test's outcome."""
    (folder / "conftest.py").write_bytes(CONFTEST.read_bytes())
    (folder / "test_small.py").write_text(TESTS, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "--rootdir", ".", "test_small.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        env={name: value for name, value in os.environ.items() if name != "GRAPHMEM_DATA"} | environment,
    )
    words = (line.split() for line in done.stdout.splitlines() if line.startswith("test_small.py::"))
    return {parts[0].removeprefix("test_small.py::"): parts[1] for parts in words}


def test_without_the_data_its_tests_are_skipped(tmp_path: Path) -> None:
    found = outcome(tmp_path)
    assert found["test_needs_data"] == found["test_needs_more_data"] == "SKIPPED"
    assert found["test_needs_a_library"] == "SKIPPED"
    assert found["test_always_runs"] == "PASSED"


def test_with_the_data_nothing_may_be_missing(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "present.txt").write_text("here", encoding="utf-8")
    assert outcome(tmp_path, GRAPHMEM_DATA=str(data)) == {
        "test_needs_data": "PASSED",
        "test_needs_more_data": "FAILED",
        "test_needs_a_library": "FAILED",
        "test_needs_another_system": "SKIPPED",
        "test_always_runs": "PASSED",
    }


def test_a_data_folder_that_does_not_exist_fails(tmp_path: Path) -> None:
    assert outcome(tmp_path, GRAPHMEM_DATA=str(tmp_path / "nowhere"))["test_needs_data"] == "ERROR"


def test_nothing_of_the_callers_settings_reaches_a_test(own_world: Path) -> None:
    assert os.environ["HOME"] == str(own_world)
    assert "GRAPHMEM_HOME" not in os.environ
    assert "GIT_DIR" not in os.environ
    assert "XDG_DATA_HOME" not in os.environ


def test_the_git_builder_makes_the_same_history_each_time(git_repository: Callable[..., Any]) -> None:
    hashes = []
    for name in ("one", "two"):
        repository = git_repository(name)
        repository.commit("first", {"a.txt": "a\n", "模块/b.txt": "b\n"})
        repository.git("mv", "a.txt", "c.txt")
        hashes.append(repository.commit("second", author="Mei 梅"))
        log = repository.git("-c", "core.quotePath=false", "log", "-M", "--name-status", "--format=%an|%s")
        assert "Mei 梅|second" in log
        assert "R100\ta.txt\tc.txt" in log
        assert "A\t模块/b.txt" in log
    assert hashes[0] == hashes[1]


def test_a_git_command_that_fails_fails_the_test_with_gits_words(git_repository: Callable[..., Any]) -> None:
    with pytest.raises(pytest.fail.Exception, match="no-such-branch"):
        git_repository().git("checkout", "no-such-branch")
