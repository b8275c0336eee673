"""The house rules a machine can hold: who may import whom, sizes, names, what may not be in the tree."""

from __future__ import annotations

import ast
import os
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("inference", "graphmem", "api")
STANDARD = frozenset(sys.stdlib_module_names)
LONGEST_FILE = 400
LONGEST_TEST_FILE = 500
LONGEST_FUNCTION = 50

# Which library may be named where: a seam is narrow only while one module knows what lies behind it.
HOMES_OF_LIBRARIES = {
    "kuzu": {"graphmem/store/kuzu_engine.py", "graphmem/store/kuzu_loading.py"},
    "pyarrow": {"graphmem/store/kuzu_loading.py"},
    "networkx": {"inference/communities.py"},
    "community": {"inference/communities.py"},
    "numpy": {
        "inference/*",
        "graphmem/calibration.py",
        "graphmem/embedding/held.py",
        "graphmem/embedding/port.py",
        "graphmem/embedding/store.py",
        "graphmem/embedding/vector_file.py",
        "graphmem/ranking_model.py",
        "graphmem/recall/predictor.py",
    },
    "onnxruntime": {"graphmem/ranking_model.py"},
    "matplotlib": {"api/evaluation_picture.py"},
    "tree_sitter": {"graphmem/imports/syntax.py"},
    "tree_sitter_python": {"graphmem/imports/python_reader.py"},
    "tree_sitter_javascript": {"graphmem/imports/javascript_reader.py"},
    "tree_sitter_typescript": {"graphmem/imports/typescript_reader.py"},
    "rjieba": {"graphmem/text.py", "graphmem/concepts.py"},
    "platformdirs": {"graphmem/home.py"},
    "fcntl": {"graphmem/home.py", "graphmem/hook_program.py", "graphmem/spool.py"},
    "fastapi": {"api/*"},
    "starlette": {"api/*"},
    "uvicorn": {"api/*"},
    "click": {"api/*"},
    "rich": {"api/*"},
    "httpx": {"api/*"},
    "pydantic": {"api/*", "graphmem/capture/intake.py"},
    "pydantic_settings": {"api/*"},
}
# The only modules that read settings from the environment; everything else is told.
COMPOSITION_ROOTS = {
    "graphmem/home.py",
    "graphmem/embedding/filling.py",
    "graphmem/hook_program.py",
    "api/settings.py",
    "api/entry.py",
    "api/isolation.py",
}
# Loops that must outlive any single fault; they log it.
BOUNDARIES_INSIDE = {
    "graphmem/follower.py",
    "graphmem/curator.py",
    "graphmem/embedding/filling.py",
    "graphmem/hook_program.py",
    "graphmem/recorder.py",
}
NAMES_THAT_SAY_NOTHING = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "base"}
NO_SUCH_TEXT = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|NotImplementedError|\bpickle\b")
SKIPPED_FOLDERS = re.compile(r"^(\.(?!ci$|github$).*|__pycache__|build|dist|htmlcov|.*\.egg-info)$")


def files_of_the_tree() -> Iterator[Path]:
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(name for name in folders if not SKIPPED_FOLDERS.match(name))
        for name in sorted(names):
            if not name.startswith(".coverage"):
                yield Path(folder, name)


def modules(*packages: str) -> list[Path]:
    return [path for package in packages for path in sorted((ROOT / package).rglob("*.py"))]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


@cache
def imports_of(path: Path) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found += ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.append((node.lineno, "." * node.level + (node.module or "")))
    return found


def top(name: str) -> str:
    return name.split(".")[0]


def test_the_rules_look_at_every_module() -> None:
    assert len(modules(*PACKAGES)) >= 3
    assert all((ROOT / package / "__init__.py").is_file() for package in PACKAGES)


def test_inference_imports_only_the_standard_library_arrays_graphs_and_itself() -> None:
    allowed = STANDARD | {"inference", "numpy", "networkx", "community"}
    strangers = [
        f"{name_of(path)}:{line} imports {name}"
        for path in modules("inference")
        for line, name in imports_of(path)
        if top(name) not in allowed
    ]
    assert strangers == []


def test_inference_reaches_no_clock_no_file_and_no_database() -> None:
    barred = {"sqlite3", "subprocess", "socket", "os", "io", "pathlib", "shutil", "time", "datetime"}
    strangers = [
        f"{name_of(path)}:{line} imports {name}"
        for path in modules("inference")
        for line, name in imports_of(path)
        if top(name) in barred
    ]
    assert strangers == []


def test_graphmem_imports_nothing_of_the_ways_in() -> None:
    strangers = [
        f"{name_of(path)}:{line} imports {name}"
        for path in modules("graphmem")
        for line, name in imports_of(path)
        if top(name) == "api"
    ]
    assert strangers == []


def test_each_library_is_named_only_where_it_belongs() -> None:
    strangers = []
    for path in modules(*PACKAGES):
        for line, name in imports_of(path):
            allowed = HOMES_OF_LIBRARIES.get(top(name))
            if allowed is None or name_of(path) in allowed:
                continue
            if f"{name_of(path).split('/')[0]}/*" not in allowed:
                strangers.append(f"{name_of(path)}:{line} imports {name}")
    assert strangers == []


def test_every_library_that_is_imported_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    # A report's picture is drawn only where its extra is installed.
    declared = [*project["dependencies"], *project["optional-dependencies"]["report"]]
    known = {re.split(r"[^A-Za-z0-9-]", item)[0].replace("-", "_").lower() for item in declared}
    # FastAPI is built on Starlette and re-exports most of it; Pydantic's core comes with Pydantic.
    # python-louvain is imported as `community`.
    known |= {"starlette", "pydantic_core", "community", *PACKAGES}
    strangers = {
        f"{name_of(path)}:{line} imports {name}"
        for path in modules(*PACKAGES)
        for line, name in imports_of(path)
        if top(name) not in STANDARD and top(name) not in known
    }
    assert strangers == set()


def test_no_import_is_relative() -> None:
    relative = [
        f"{name_of(path)}:{line}"
        for path in modules(*PACKAGES, "tests")
        for line, name in imports_of(path)
        if name.startswith(".")
    ]
    assert relative == []


def reads_of_the_environment(path: Path) -> Iterator[int]:
    """Lines that read a setting; handing the whole environment on to a child process is none."""
    tree = tree_of(path)
    handed_on = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            handed_on |= {id(value) for key, value in zip(node.keys, node.values, strict=True) if key is None}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
            handed_on |= {id(argument) for argument in node.args}
        elif isinstance(node, ast.Attribute) and node.attr in {"items", "copy"}:
            handed_on.add(id(node.value))
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr="environ" | "environb") if id(node) not in handed_on:
                yield node.lineno
            case ast.Attribute(attr="getenv"):
                yield node.lineno
            case ast.ImportFrom(module="os", names=names) if {"environ", "getenv"} & {n.name for n in names}:
                yield node.lineno


def test_only_the_composition_roots_read_the_environment() -> None:
    readers = [
        f"{name_of(path)}:{line}"
        for path in modules(*PACKAGES)
        if name_of(path) not in COMPOSITION_ROOTS
        for line in reads_of_the_environment(path)
    ]
    assert readers == []


@pytest.mark.parametrize("path", modules(*PACKAGES, "tests", "bench"), ids=name_of)
def test_a_file_fits_the_size(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    limit = LONGEST_TEST_FILE if path.is_relative_to(ROOT / "tests") else LONGEST_FILE
    assert text.count("\n") <= limit


@pytest.mark.parametrize("path", modules(*PACKAGES), ids=name_of)
def test_a_module_says_what_it_owns(path: Path) -> None:
    assert ast.get_docstring(tree_of(path))


def length_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of the body without the docstring."""
    body = function.body[1:] if ast.get_docstring(function) and len(function.body) > 1 else function.body
    return (body[-1].end_lineno or body[-1].lineno) - body[0].lineno + 1


def test_a_function_fits_a_screen() -> None:
    long = [
        f"{name_of(path)}:{node.lineno} {node.name} is {length_of(node)} lines"
        for path in modules(*PACKAGES, "tests", "bench")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and length_of(node) > LONGEST_FUNCTION
    ]
    assert long == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    empty = [
        name_of(path) for path in modules(*PACKAGES, "tests", "bench") if path.stem in NAMES_THAT_SAY_NOTHING
    ]
    assert empty == []


def test_nothing_is_left_for_later() -> None:
    left = [
        f"{name_of(path)}:{number} {line.strip()}"
        for path in modules(*PACKAGES)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if NO_SUCH_TEXT.search(line)
    ]
    assert left == []


def swallows_everything(handler: ast.ExceptHandler) -> bool:
    named = "BaseException" if handler.type is None else ast.unparse(handler.type)
    passes_on = isinstance(handler.body[-1], ast.Raise) and handler.body[-1].exc is None
    return named in {"Exception", "BaseException"} and not passes_on


def test_an_exception_of_any_kind_is_caught_only_at_a_boundary() -> None:
    caught = [
        f"{name_of(path)}:{node.lineno}"
        for path in modules("inference", "graphmem")
        if name_of(path) not in BOUNDARIES_INSIDE
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ExceptHandler) and swallows_everything(node)
    ]
    assert caught == []


def test_tests_wait_on_conditions_and_are_not_left_out() -> None:
    faults = []
    for path in modules("tests"):
        for node in ast.walk(tree_of(path)):
            match node:
                case ast.Attribute(value=ast.Name(id="time"), attr="sleep"):
                    faults.append(f"{name_of(path)}:{node.lineno} sleeps")
                case ast.Attribute(value=ast.Attribute(attr="mark"), attr="skip" | "xfail"):
                    faults.append(f"{name_of(path)}:{node.lineno} is left out without a condition")
    assert faults == []


def test_test_files_have_names_of_their_own_and_mirror_the_packages() -> None:
    names = [path.name for path in modules("tests") if path.name != "conftest.py"]
    assert sorted(names) == sorted(set(names))
    assert not list((ROOT / "tests").rglob("__init__.py"))


def test_setuptools_knows_every_package_and_its_data() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    folders = settings.get("package-dir", {})
    declared = {folders.get(name, name.replace(".", "/")) for name in settings["packages"]}
    present = {name_of(path.parent) for path in modules(*PACKAGES) if path.name == "__init__.py"}
    mapped = set(folders.values())
    assert declared == present | mapped
    for package in PACKAGES:
        shipped = settings["package-data"].items()
        covered = [pattern for name, patterns in shipped if top(name) == package for pattern in patterns]
        for path in (ROOT / package).rglob("*"):
            inner = path.relative_to(ROOT / package)
            if path.is_file() and path.suffix not in {".py", ".pyc"}:
                assert any(path.match(pattern) for pattern in covered), f"{inner} of {package} is not shipped"


def test_nothing_in_the_tree_names_a_maintainers_machine_or_a_package_host() -> None:
    folders = "|".join(("work", "root", "farm", "home/\\w+/\\.pyenv"))
    hosts = "|".join(("pypi", "npmjs", "pythonhosted", "debian"))
    barred = re.compile(rf"(?<![\w.])/(?:{folders})/|https?://\S*(?:{hosts})\.")
    found = []
    for path in files_of_the_tree():
        if path.stat().st_size > 2_000_000:
            found.append(f"{name_of(path)} is larger than a source file should be")
            continue
        match = barred.search(path.read_text(encoding="utf-8", errors="replace"))
        if match:
            found.append(f"{name_of(path)} holds {match.group(0)!r}")
    assert found == []


def test_the_root_holds_only_what_builds_runs_or_explains_the_project() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    documents = {"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE"}
    folders = {*PACKAGES, "notebooks", "tests", "fixtures", "bench", "docs", ".ci"}
    modules_of_their_own = {f"{name}.py" for name in settings.get("py-modules", [])}
    expected = documents | folders | modules_of_their_own | {"Makefile", "pyproject.toml"}
    present = {path.name for path in ROOT.iterdir() if not SKIPPED_FOLDERS.match(path.name)}
    assert present <= expected
