"""`make` on a machine that lacks something: one clear sentence, and nothing half done."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHELL_TOOLS = ("make", "sh", "sed", "rm", "touch", "echo", "cat")


@pytest.fixture
def bare_machine(tmp_path: Path) -> Path:
    """A checkout's folder and a PATH with a shell and make, but no Python; returns the checkout."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in SHELL_TOOLS:
        found = shutil.which(name)
        assert found, f"{name} is needed to build the project"
        (tools / name).symlink_to(found)
    checkout = tmp_path / "my checkout"
    checkout.mkdir()
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, checkout)
    return checkout


def put_python(checkout: Path, name: str, script: str) -> None:
    program = checkout.parent / "bin" / name
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)


def make(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": str(checkout.parent / "bin"), "HOME": os.environ["HOME"]}
    return subprocess.run(
        ["make", *arguments],
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.parametrize("target", ["demo", "test", "quick", "lint", "evaluate", "train"])
def test_without_python_each_target_says_what_is_needed(bare_machine: Path, target: str) -> None:
    done = make(bare_machine, target)
    assert done.returncode != 0
    assert "GraphMem needs Python 3.11 or newer and none was found" in done.stderr
    assert not (bare_machine / ".venv").exists()


def test_an_old_python_is_not_taken(bare_machine: Path) -> None:
    for name in ("python3", "python3.11"):
        put_python(bare_machine, name, "exit 1")
    assert "GraphMem needs Python 3.11 or newer" in make(bare_machine, "demo").stderr


def test_a_python_without_its_venv_part_names_the_package(bare_machine: Path) -> None:
    put_python(bare_machine, "python3", 'case "$2" in *ensurepip*) exit 1;; esac')
    done = make(bare_machine, "demo")
    assert done.returncode != 0
    assert "python3-venv" in done.stderr
    assert not (bare_machine / ".venv").exists()


def test_a_whole_python_is_preferred_to_an_earlier_one_without_venv(bare_machine: Path) -> None:
    put_python(bare_machine, "python3.13", 'case "$2" in *ensurepip*) exit 1;; esac')
    put_python(
        bare_machine, "python3", 'case "$1" in -V) echo "Python 3.12.9";; -m) echo "asked: $*"; exit 1;; esac'
    )
    done = make(bare_machine, "demo")
    assert "Making .venv with Python 3.12.9" in done.stdout
    assert "asked: -m venv --clear .venv" in done.stdout


def test_plain_make_tells_the_targets(bare_machine: Path) -> None:
    done = make(bare_machine)
    assert done.returncode == 0
    assert "make demo [REPO=/path]" in done.stdout
    assert "make test" in done.stdout


def test_the_check_of_every_change_calls_make_test_from_any_folder(
    bare_machine: Path, tmp_path: Path
) -> None:
    (bare_machine / ".ci").mkdir()
    run = bare_machine / ".ci" / "run"
    shutil.copy(ROOT / ".ci" / "run", run)
    (bare_machine / "Makefile").write_text("test:\n\t@pwd; echo data=$$GRAPHMEM_DATA\n", encoding="utf-8")
    bash = shutil.which("bash")
    assert bash
    barred = ("GRAPHMEM_DATA", "MAKE", "MFLAGS")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(barred)}
    command = [bash, str(run)]
    alone = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert alone.stdout.splitlines()[:2] == [str(bare_machine), "data="]
    (tmp_path / "shared" / "data").mkdir(parents=True)
    beside = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert f"data={tmp_path / 'shared' / 'data'}" in beside.stdout
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
