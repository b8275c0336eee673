"""Owns the look at everything GraphMem stands on: Python, isolation, git, SQLite, home, service, projects.

It mends nothing; each finding names the remedy. The look of the list is `api.cli_doctor`'s.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from api.backend import Backend, Shape
from api.connection import connect
from api.isolation import OWN_PACKAGES, explanation, own_root, shadows
from api.screen import size
from graphmem.errors import GraphMemError, HomeError
from graphmem.home import Home
from graphmem.store.files import GraphFiles

OLDEST_PYTHON = (3, 11)
_LITTLE_SPACE = 200_000_000
_MANY_BEHIND = 1_000


class Outcome(StrEnum):
    """How a check ended; only a problem makes the command fail."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at; `remedy` is empty where nothing needs to be done."""

    name: str
    outcome: Outcome
    finding: str
    remedy: str = ""


def examine(home: Home) -> Iterator[Check]:
    """Look at everything, one check after the other; nothing is changed, no service is started."""
    yield _python()
    yield _isolation()
    yield _git()
    yield _sqlite()
    yield _ranker()
    writable = _home(home)
    yield writable
    if home.path.is_dir():
        yield _space(home)
        yield _token(home)
        yield _service(home)
    if home.registry_file.exists() and writable.outcome is not Outcome.PROBLEM:
        yield from _projects(home)


def _python() -> Check:
    version = platform.python_version()
    if sys.version_info < OLDEST_PYTHON:
        return Check("python", Outcome.PROBLEM, version, "Install Python 3.11 or newer.")
    return Check("python", Outcome.OK, f"{version} at {sys.executable}")


def _isolation() -> Check:
    found = shadows()
    if found:
        return Check("isolation", Outcome.PROBLEM, explanation(found), "Install GraphMem in isolation.")
    owners = importlib.metadata.packages_distributions()
    others = {name for package in OWN_PACKAGES for name in owners.get(package, ()) if name != "graphmem"}
    if others:
        return Check(
            "isolation",
            Outcome.WARNING,
            f"{', '.join(sorted(others))} puts modules into the same packages as GraphMem",
            "Install GraphMem by itself: `pipx install graphmem` or `uv tool install graphmem`.",
        )
    return Check("isolation", Outcome.OK, f"{', '.join(OWN_PACKAGES)} come from {own_root()}")


def _git() -> Check:
    place = shutil.which("git")
    if place is None:
        return Check("git", Outcome.PROBLEM, "not found", "Install git; `graphmem import git` needs it.")
    try:
        said = subprocess.run([place, "--version"], capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        return Check("git", Outcome.PROBLEM, f"{place} can't be run ({error})", "Install git anew.")
    return Check("git", Outcome.OK, f"{said.stdout.strip().removeprefix('git version ')} at {place}")


def _sqlite() -> Check:
    version = sqlite3.sqlite_version
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE probe USING fts5 (text)")
    except sqlite3.Error:
        remedy = "Use a Python whose SQLite has FTS5, such as the one from python.org or your system."
        return Check("sqlite", Outcome.PROBLEM, f"{version} without text search (FTS5)", remedy)
    finally:
        connection.close()
    return Check("sqlite", Outcome.OK, f"{version} with text search (FTS5)")


def _ranker() -> Check:
    from graphmem.ranking_model import RankingModel, is_wanted, why_absent

    model = RankingModel.load()
    if model is not None:
        card = model.card
        return Check("ranker", Outcome.OK, f"made on {card.made} from work up to {card.cutoff}")
    return Check("ranker", Outcome.WARNING if is_wanted() else Outcome.OK, why_absent() or "")


def _home(home: Home) -> Check:
    if not home.path.exists():
        above = next(folder for folder in home.path.parents if folder.exists())
        if not os.access(above, os.W_OK | os.X_OK):
            remedy = f"Get the right to write to {above}, or choose another home with --home."
            return Check("home", Outcome.PROBLEM, f"{home.path} can't be made", remedy)
        return Check("home", Outcome.OK, f"{home.path} will be made at first use")
    try:
        home.prepare()
    except HomeError as error:
        return Check("home", Outcome.PROBLEM, str(error), "Mend that, or choose another home with --home.")
    mode = stat.S_IMODE(home.path.stat().st_mode)
    if mode & 0o077:
        remedy = f"Keep it to yourself: chmod 700 {home.path}"
        return Check("home", Outcome.WARNING, f"{home.path} is open to others (mode {mode:03o})", remedy)
    return Check("home", Outcome.OK, str(home.path))


def _space(home: Home) -> Check:
    free = shutil.disk_usage(home.path).free
    finding = f"{free / 1e9:,.1f} GB free"
    if free < _LITTLE_SPACE:
        return Check("disk", Outcome.WARNING, finding, "Free some space before the next import.")
    return Check("disk", Outcome.OK, finding)


def _token(home: Home) -> Check:
    try:
        mode = stat.S_IMODE(home.token_file.stat().st_mode)
    except FileNotFoundError:
        return Check("token", Outcome.OK, "will be made when the service first starts")
    if mode & 0o077:
        remedy = f"chmod 600 {home.token_file}; if somebody may have read it, delete it: a new one is made."
        return Check("token", Outcome.PROBLEM, f"others may read it (mode {mode:03o})", remedy)
    return Check("token", Outcome.OK, f"only you may read it (mode {mode:03o})")


def _service(home: Home) -> Check:
    from api.lifecycle import ServiceState, status

    found = status(home)
    outcome = Outcome.WARNING if found.state is ServiceState.BUSY else Outcome.OK
    return Check("service", outcome, found.sentence)


def _projects(home: Home) -> Iterator[Check]:
    try:
        with connect(home.path) as backend:
            for project in backend.projects()["items"]:
                check = _project(backend, project)
                yield check
                if check.outcome is not Outcome.PROBLEM:
                    yield _graph(backend, project, home.project_folder(project["id"]))
                    yield _vectors(backend, project, home.project_folder(project["id"]))
    except GraphMemError as error:
        yield Check("projects", Outcome.PROBLEM, str(error))


def _project(backend: Backend, project: Shape) -> Check:
    name = f"project {project['slug']}"
    try:
        found = backend.stats(project["slug"])
        is_recorded = backend.captures(project["slug"], None)["enabled"]
    except GraphMemError as error:
        return Check(name, Outcome.PROBLEM, str(error))
    if found["behind"] > _MANY_BEHIND:
        remedy = "Wait a moment; if the number stays, restart the service and see its log."
        return Check(
            name, Outcome.WARNING, f"{found['behind']:,} observations not yet in the answers", remedy
        )
    if not any(Path(root).is_dir() for root in project["roots"]):
        remedy = "If it has moved, run `graphmem import git .` in its new place."
        return Check(name, Outcome.WARNING, f"its folder {project['root']} is gone", remedy)
    stored = f"{found['observations']:,} observations, {found['files']:,} files"
    off = "; agents' work is not recorded, `graphmem capture on` switches that on again"
    return Check(name, Outcome.OK, stored if is_recorded else stored + off)


def _vectors(backend: Backend, project: Shape, folder: Path) -> Check:
    name = f"vectors {project['slug']}"
    try:
        found = backend.stats(project["slug"])["vectors"]
    except GraphMemError as error:
        return Check(name, Outcome.PROBLEM, str(error))
    stored = f"{found['count']:,}, {size(found['bytes'])}"
    if found["fault"]:
        remedy = "Questions are answered by words meanwhile; it is tried again by itself."
        return Check(name, Outcome.WARNING, f"{stored}; {found['fault']}", remedy)
    behind = f"; {found['behind']:,} passages are still to be read" if found["behind"] else ""
    aside = any(True for _ in folder.glob("vectors*.damaged"))
    kept = "; a damaged file was set aside and is filled anew" if aside else ""
    return Check(name, Outcome.OK, stored + behind + kept)


def _graph(backend: Backend, project: Shape, folder: Path) -> Check:
    """Ask the graph, which brings it up; whatever ails it, it is a copy and made anew from the journal."""
    name = f"graph {project['slug']}"
    try:
        found = backend.graph.health(project["slug"], 1)
    except GraphMemError as error:
        return Check(name, Outcome.PROBLEM, str(error))
    files = GraphFiles(folder)
    room = size(files.size_bytes())
    if found["degraded"]:
        remedy = (
            "It is built anew by itself: look again in a moment; if this stays, free space or see the log."
        )
        return Check(name, Outcome.WARNING, f"{found['degraded']} ({room} on disk)", remedy)
    kept = "; a damaged one was set aside and built anew" if files.was_set_aside() else ""
    return Check(name, Outcome.OK, f"up to date, {room}{kept}")
