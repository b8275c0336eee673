"""The program runs its own packages, wherever it is started and whatever lies around."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

FOREIGN = 'raise SystemExit("foreign code ran")\n'


def package(folder: Path, name: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text(FOREIGN, encoding="utf-8")


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A project with packages named as ours."""
    folder = tmp_path / "project"
    for name in ("api", "inference", "graphmem"):
        package(folder, name)
    return folder


@pytest.mark.parametrize("names", [("api",), ("inference",), ("graphmem",), ("api", "inference", "graphmem")])
def test_the_console_script_runs_inside_a_project_with_packages_of_the_same_names(
    graphmem: Any, tmp_path: Path, names: tuple[str, ...]
) -> None:
    for name in names:
        package(tmp_path / "project", name)
    outcome = graphmem("--help", cwd=tmp_path / "project")
    assert (outcome.status, outcome.err) == (0, "")
    assert "impact" in outcome.out


@pytest.mark.parametrize("name", ["inference", "graphmem"])
@pytest.mark.parametrize("start", [("-m", "api"), ("-c", "from api.entry import main; main()")])
def test_started_as_a_module_it_starts_again_without_the_current_folder(
    graphmem: Any, tmp_path: Path, name: str, start: tuple[str, str]
) -> None:
    package(tmp_path / "project", name)
    done = subprocess.run(
        [graphmem.installation.python, *start, "projects", "--json"],
        cwd=tmp_path / "project",
        env=graphmem.environment(),
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert '"items": []' in done.stdout


def test_a_script_beside_foreign_packages_starts_again_without_its_folder(
    graphmem: Any, tmp_path: Path
) -> None:
    package(tmp_path / "tools", "inference")
    script = tmp_path / "tools" / "run.py"
    script.write_text("from api.entry import main\nmain()\n", encoding="utf-8")
    done = subprocess.run(
        [graphmem.installation.python, script, "--help"],
        env=graphmem.environment(),
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command", [(), ("doctor",), ("impact", "a.py")])
@pytest.mark.parametrize("spelled", ["{folder}", "{folder}/", ".", "", "/nowhere:{folder}"])
def test_a_search_path_that_shadows_it_is_named_with_the_remedy(
    graphmem: Any, foreign: Path, spelled: str, command: tuple[str, ...]
) -> None:
    outcome = graphmem(
        *command, cwd=foreign, environment={"PYTHONPATH": f"{spelled.format(folder=foreign)}:"}
    )
    assert outcome.status == 1
    assert outcome.out == ""
    assert outcome.err.count("\n") == 1
    for words in ("PYTHONPATH", str(foreign), "pipx install graphmem", "uv tool install graphmem"):
        assert words in outcome.err


def test_as_a_module_a_search_path_that_shadows_it_is_named_too(graphmem: Any, tmp_path: Path) -> None:
    package(tmp_path / "project", "inference")
    done = subprocess.run(
        [graphmem.installation.python, "-m", "api", "--help"],
        cwd=tmp_path / "project",
        env=graphmem.environment(PYTHONPATH=str(tmp_path / "project")),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "'inference'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_shadow_in_the_environment_itself_is_named(graphmem: Any, tmp_path: Path) -> None:
    package(tmp_path / "other", "inference")
    code = f"import sys; sys.path.insert(1, {str(tmp_path / 'other')!r}); from api.entry import main; main()"
    done = subprocess.run(
        [graphmem.installation.python, "-P", "-c", code],
        env=graphmem.environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert str(tmp_path / "other" / "inference") in done.stderr
    assert "pipx install graphmem" in done.stderr


def test_a_module_file_of_the_same_name_shadows_as_a_package_does(graphmem: Any, tmp_path: Path) -> None:
    (tmp_path / "inference.py").write_text(FOREIGN, encoding="utf-8")
    outcome = graphmem("--help", cwd=tmp_path, environment={"PYTHONPATH": str(tmp_path)})
    assert outcome.status == 1
    assert str(tmp_path / "inference.py") in outcome.err


def test_a_folder_of_the_same_name_that_is_no_package_is_no_shadow(graphmem: Any, tmp_path: Path) -> None:
    (tmp_path / "inference").mkdir()
    (tmp_path / "inference" / "model.py").write_text(FOREIGN, encoding="utf-8")
    outcome = graphmem("--help", cwd=tmp_path, environment={"PYTHONPATH": str(tmp_path)})
    assert (outcome.status, outcome.err) == (0, "")


def test_the_restart_keeps_arguments_and_flags(graphmem: Any, tmp_path: Path) -> None:
    package(tmp_path / "project", "inference")
    done = subprocess.run(
        [
            graphmem.installation.python,
            "-W",
            "error",
            "-m",
            "api",
            "impact",
            "a b.py",
            os.fsencode("\udcff.py"),
        ],
        cwd=tmp_path / "project",
        env=graphmem.environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "no repository and no known project" in done.stderr
