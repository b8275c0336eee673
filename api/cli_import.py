"""Owns `graphmem import`: a history goes in, and what was taken and left out is said.

It is not the reading of histories (`graphmem.capture`).
"""

from __future__ import annotations

import os

import click

from api.backend import Backend, HistorySource, Shape
from api.invocation import Invocation, common_options, pass_invocation
from api.option_types import TEXT
from api.progress import ProgressBar
from api.screen import Screen, counted
from api.terminal_text import clean

_NAMED_PROBLEMS = 10


@click.group("import", epilog="Example: graphmem import git .")
@common_options
def import_command() -> None:
    """Take in a history; a second run takes only what is new."""


@import_command.command(
    "git",
    short_help="Import the commits of a repository.",
    epilog="Example: graphmem import git . --include 'vendor/ours/**'",
)
@click.argument("source", default=".")
@click.option("--ref", type=TEXT, metavar="NAME", help="The branch, tag or commit to read; default: HEAD.")
@click.option(
    "--include",
    type=TEXT,
    multiple=True,
    metavar="GLOB",
    help="Take in files a rule leaves out; repeatable.",
)
@common_options
@pass_invocation
def import_git(invocation: Invocation, source: str, ref: str | None, include: tuple[str, ...]) -> int:
    """Import the commits of the repository at SOURCE (default: the current folder), known or new."""
    return _import(invocation, HistorySource("git", _located(source), ref, include))


@import_command.command(
    "jsonl",
    short_help="Import observations, one JSON object a line.",
    epilog="Example: graphmem import jsonl turns.jsonl --project shop",
)
@click.argument("source")
@common_options
@pass_invocation
def import_jsonl(invocation: Invocation, source: str) -> int:
    """Import observations from the file SOURCE, one JSON object a line."""
    return _import(invocation, HistorySource("jsonl", _located(source)))


def _located(source: str) -> str:
    return os.path.abspath(os.path.expanduser(source))


def _import(invocation: Invocation, source: HistorySource) -> int:
    with invocation.backend() as backend, ProgressBar("Importing") as progress:
        slug = _target(invocation, backend, source)
        report = backend.import_history(slug, source, progress)
    invocation.answer(report, lambda screen: show_report(screen, report, slug))
    refused = report["rejected"]
    for problem in report["problems"][:_NAMED_PROBLEMS]:
        click.echo(clean(problem), err=True)
    if refused > _NAMED_PROBLEMS:
        click.echo(f"and {refused - _NAMED_PROBLEMS:,} more", err=True)
    if refused:
        things = counted(refused, "line" if source.kind == "jsonl" else "commit")
        click.echo(f"{things} could not be taken; everything else is stored.", err=True)
    if report["stopped"]:
        raise KeyboardInterrupt
    return 1 if refused else 0


def _target(invocation: Invocation, backend: Backend, source: HistorySource) -> str:
    """Return the slug of the project to import into; a repository that is new is made known."""
    from graphmem.errors import SourceError
    from graphmem.repository import locate

    if source.kind == "git" and locate(source.location) is None:
        raise SourceError(
            f"{source.location} is no git repository: name the folder of one, or make one with `git init`."
        )
    if invocation.project is not None:
        return invocation.choose(backend).slug
    root = source.location if source.kind == "git" else os.getcwd()
    slug: str = backend.register(root)["slug"]
    return slug


def show_report(screen: Screen, report: Shape, slug: str) -> None:
    """Print what an import took and left out."""
    things = "commit" if report["source"] == "git" else "observation"
    taken = counted(report["accepted"], f"new {things}")
    screen.line(
        (f"{taken} imported", "bold"), f" into {slug}", (f"  {report['took_ms'] / 1000:.1f} s", "dim")
    )
    if report["duplicates"]:
        screen.line(f"{report['duplicates']:,} already known", indent=2)
    for item in report["left_out"]:
        screen.line(f"{counted(item['count'], 'file')} left out: {item['reason']}", indent=2)
    for remark in report["remarks"]:
        screen.line(remark, indent=2)
    if report["accepted"] or report["duplicates"]:
        screen.gap()
        screen.line(("Ask next: graphmem impact <file>", "dim"))
