"""Owns the commands that look at a project from above: its modules and the digest.

It is not the look of the answers (`api.module_view`).
"""

from __future__ import annotations

import click

from api.cli_lists import cursor_option
from api.invocation import ChosenProject, Invocation, common_options, pass_invocation
from api.option_types import TEXT, limit_option
from api.screen import Screen


@click.command(
    "modules",
    short_help="List the modules that emerged from the work.",
    epilog="Example: graphmem modules --limit 5",
)
@click.argument("id", type=TEXT, required=False)
@click.option(
    "--level",
    type=click.IntRange(0, 10),
    default=0,
    show_default=True,
    metavar="NUMBER",
    help="0: the modules; 1: the parts of large ones.",
)
@limit_option(20)
@cursor_option
@common_options
@pass_invocation
def modules_command(
    invocation: Invocation, id: str | None, level: int, limit: int, cursor: str | None
) -> None:
    """List the modules (files and concepts that belong together), the largest first; with ID show one."""
    with invocation.backend() as backend:
        project = invocation.choose(backend)
        if id is not None:
            found = backend.graph.module(project.slug, id.removeprefix("module:"))
        else:
            found = backend.graph.modules(project.slug, level, limit, cursor)

    def show(screen: Screen) -> None:
        from api.module_view import show_module, show_modules

        if id is not None:
            show_module(screen, found, project.slug)
        else:
            show_modules(screen, found, _nothing(project, level))

    invocation.answer(found, show)


def _nothing(project: ChosenProject, level: int) -> str:
    """Return what to say of an empty list, with what would fill it."""
    if not project.observations:
        return "Nothing is stored yet: run `graphmem import git .` inside the repository."
    if level:
        return f"There is nothing on level {level}: no module is that large; `graphmem modules` lists them."
    return "No module has emerged yet: too few files belong together; `graphmem edges` shows which do."


@click.command(
    "overview",
    short_help="Sum the project up in a few lines.",
    epilog="Example: graphmem overview --budget 400",
)
@click.option(
    "--budget",
    type=click.IntRange(50, 4_000),
    default=200,
    show_default=True,
    metavar="TOKENS",
    help="How long it may be, 50 to 4000.",
)
@common_options
@pass_invocation
def overview_command(invocation: Invocation, budget: int) -> None:
    """Sum the project up: its modules, what changed last, what is open, what is in hand."""
    with invocation.backend() as backend:
        project = invocation.choose(backend)
        found = backend.graph.overview(project.slug, budget)

    def show(screen: Screen) -> None:
        from api.module_view import show_overview

        show_overview(screen, found, project.slug)

    invocation.answer(found, show)
