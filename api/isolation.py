"""Owns the check that Python finds GraphMem's own packages, and the restart that mends the search path.

The packages have common names, so a folder with its own `api/` or `inference/` may come first on the search
path. It is not the command line, and it imports nothing but the standard library: it runs before anything of
ours may be trusted, at times loaded by its place instead of its name.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

OWN_PACKAGES = ("api", "inference", "graphmem")


class Cause(StrEnum):
    """What put the foreign folder before ours on the search path."""

    START_FOLDER = "the folder Python was started in"
    PYTHONPATH = "PYTHONPATH"
    ENVIRONMENT = "the Python environment"


@dataclass(frozen=True, slots=True)
class Shadow:
    """A package of ours that Python would take from somewhere else; `found` is None if it finds none."""

    package: str
    found: str | None
    cause: Cause


def own_root() -> str:
    """Return the folder that holds the running program's three packages."""
    return os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def shadows(root: str | None = None) -> list[Shadow]:
    """Return every package of ours that Python would not take from `root`, the running program's place."""
    root = root or own_root()
    result = []
    for package in OWN_PACKAGES:
        found = _place_of(package)
        if found is None or os.path.realpath(found) != os.path.join(root, package):
            result.append(Shadow(package, found, _cause_of(found)))
    return result


def explanation(found: Sequence[Shadow]) -> str:
    """Return one sentence: what shadows which package, and what to do about it."""
    names = _listed([f"'{shadow.package}'" for shadow in found])
    places = _listed([shadow.found or "nothing" for shadow in found])
    causes = [shadow.cause for shadow in found]
    cause = Cause.PYTHONPATH if Cause.PYTHONPATH in causes else causes[0]
    remedy = "install it in isolation with `pipx install graphmem` or `uv tool install graphmem`"
    if cause is Cause.PYTHONPATH:
        remedy = f"take that folder out of PYTHONPATH (`env -u PYTHONPATH graphmem ...`), or {remedy}"
    return (
        f"GraphMem can't start because {names} would be somebody else's: "
        f"Python finds {places} through {cause}; {remedy}."
    )


def ensure_own_packages() -> None:
    """Return when all packages are ours; else start again without the start folder, or end with status 1."""
    found = shadows()
    if not found:
        return
    if not sys.flags.safe_path and sys.executable and all(s.cause is Cause.START_FOLDER for s in found):
        _start_again()
    sys.stderr.write(explanation(found) + "\n")
    sys.exit(1)


def _start_again() -> None:
    """Replace this process by the same command with `-P`, which leaves the start folder out."""
    command = [sys.executable, "-P", *sys.orig_argv[1:]]
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "nt":  # there exec returns to the shell before the program has ended
        sys.exit(subprocess.call(command))
    os.execv(sys.executable, command)


def _place_of(package: str) -> str | None:
    """Return the folder or file Python takes `package` from, without importing it."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    if spec is None:
        return None
    folders = list(spec.submodule_search_locations or ())
    return folders[0] if folders else spec.origin


def _cause_of(found: str | None) -> Cause:
    if found is None:
        return Cause.ENVIRONMENT
    parent = os.path.realpath(os.path.dirname(found))
    if not sys.flags.safe_path and sys.path and os.path.realpath(sys.path[0]) == parent:
        return Cause.START_FOLDER
    named = os.environ.get("PYTHONPATH", "")
    if named and not sys.flags.ignore_environment:
        entries = (os.path.realpath(entry) for entry in named.split(os.pathsep))
        if parent in entries:
            return Cause.PYTHONPATH
    return Cause.ENVIRONMENT


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]
