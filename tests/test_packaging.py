"""The wheel: everything is in it, and it works away from the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("inference", "graphmem", "api")
STORY = "graphmem_story/observations.jsonl"
QUESTIONS = "graphmem_questions/questions.jsonl"
CACHES = shutil.ignore_patterns("__pycache__", "*.pyc")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of the tree with what is installed here."""
    tree = tmp_path_factory.mktemp("tree")
    for folder in (*PACKAGES, "fixtures"):
        shutil.copytree(ROOT / folder, tree / folder, ignore=CACHES)
    for name in ("pyproject.toml", "README.md", "LICENSE", *(path.name for path in ROOT.glob("*.py"))):
        shutil.copy(ROOT / name, tree)
    build = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", build, "out"], cwd=tree, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (built,) = (tree / "out").glob("*.whl")
    return built


@pytest.mark.slow
def test_the_wheel_holds_every_module_the_data_and_the_licence(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    wanted = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert wanted <= held
    assert {STORY, QUESTIONS} <= held
    assert any(name.endswith("licenses/LICENSE") for name in held)
    assert not any(name.startswith(("tests/", "fixtures/", "bench/")) for name in held)


@pytest.mark.slow
def test_the_installed_wheel_tells_its_story_away_from_the_checkout(
    wheel: Path, tmp_path: Path, installation: Any
) -> None:
    library = tmp_path / "library"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(library)
    start = f"import sys; sys.path.insert(0, {str(library)!r}); from graphmem_start import main; main()"
    # The installation's own path entry to the checkout comes last, so what is missing here would be found
    # there: the check that everything comes from one place is the program's own (`graphmem doctor`).
    environment = {**os.environ, "GRAPHMEM_HOME": str(tmp_path / "home")}
    runs = {}
    for command in ("demo", "doctor"):
        runs[command] = subprocess.run(
            [str(installation.python), "-P", "-c", start, command],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert runs[command].returncode == 0, runs[command].stderr
    assert "79 observations" in runs["demo"].stdout
    assert f"come from {library}" in runs["doctor"].stdout
