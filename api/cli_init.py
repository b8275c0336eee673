"""Owns `graphmem init` and `graphmem uninstall`: what is to be written is shown, asked about, and done.

It is not what is written (`api.installation`, `api.plugin_folder`, `api.agents_block`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from api.invocation import Invocation, common_options, pass_invocation

if TYPE_CHECKING:
    from api.client_settings import Scope
    from api.setting_up import Setup

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
CLIENT_NAMES = ("claude-code", "codex", "cursor")


def _client_and_scope(command: Decorated) -> Decorated:
    """Add the options that say which clients' settings are meant, and whose."""
    options = (
        click.option(
            "--client",
            "clients",
            type=click.Choice(CLIENT_NAMES),
            multiple=True,
            help="Only this client, present or not; repeatable.",
        ),
        click.option("--user-scope", is_flag=True, help="Your own settings, for all projects."),
        click.option("--project-scope", is_flag=True, help="The settings of this project."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command(
    "init",
    short_help="Let the agents here record and ask.",
    epilog="Example: graphmem init --client claude-code --yes",
)
@_client_and_scope
@click.option("--yes", is_flag=True, help="Do not ask; without a terminal nothing is asked either.")
@click.option("--plugin", type=click.Path(), metavar="FOLDER", help="Write a Claude Code plugin instead.")
@click.option("--agents-md", is_flag=True, help="Put a short block about GraphMem into AGENTS.md.")
@click.option("--no-import", is_flag=True, help="Leave the git history out.")
@click.option("--http", is_flag=True, help="Claude Code asks the service itself; needs --user-scope.")
@common_options
@pass_invocation
def init_command(
    invocation: Invocation,
    clients: tuple[str, ...],
    user_scope: bool,
    project_scope: bool,
    yes: bool,
    plugin: str | None,
    agents_md: bool,
    no_import: bool,
    http: bool,
) -> int:
    """Write GraphMem's hooks into the settings of the agents found here, and import the git history.

    What will be written is shown first. On a terminal you are asked; without one, with --json or with --yes
    it goes on. Entries of others stay as they are, the former file is kept beside as *.graphmem-backup, and
    `graphmem uninstall` puts it back. A second run changes nothing. The settings are the project's unless
    --user-scope is given.

    With --http Claude Code asks the running service by HTTP, without starting a program for each event. The
    entries then hold the service's token, so they are written into your own settings only; and while the
    service is down Claude Code shows a line about the failed hook.
    """
    from api.setting_up import Wishes, complete, prepare

    if http and not user_scope:
        raise click.UsageError(
            "--http writes the service's token, and a project's settings are shared: give --user-scope, too."
        )
    scope = _one_scope(user_scope, project_scope)
    wishes = Wishes(
        clients=clients,
        scope=scope,
        plugin=None if plugin is None else Path(os.path.abspath(os.path.expanduser(plugin))),
        agents_md=agents_md,
        with_history=not no_import,
        http=http,
    )
    setup = prepare(invocation, wishes)
    if not invocation.as_json:
        _announce(setup)
    if setup.writes and not yes and not invocation.as_json and sys.stdin.isatty():
        click.confirm("Write this?", default=True, abort=True, err=True)
    return complete(invocation, setup)


@click.command(
    "uninstall",
    short_help="Take GraphMem out of the agents' settings.",
    epilog="Example: graphmem uninstall --client claude-code",
)
@_client_and_scope
@common_options
@pass_invocation
def uninstall_command(
    invocation: Invocation, clients: tuple[str, ...], user_scope: bool, project_scope: bool
) -> None:
    """Take GraphMem out of the agents' settings again, byte for byte; what is recorded stays.

    Files nobody changed since come back as they were. From others only GraphMem's entries go. Without a
    scope both the project's and your own settings are looked at, with the plugin folders and the block in
    AGENTS.md.
    """
    from api.client_settings import Scope
    from api.taking_out import take_out

    scopes = (_one_scope(user_scope, project_scope),) if user_scope or project_scope else tuple(Scope)
    take_out(invocation, clients, scopes)


def _one_scope(user: bool, project: bool) -> Scope:
    from api.client_settings import Scope

    if user and project:
        raise click.UsageError("--user-scope and --project-scope exclude each other: give one of them.")
    return Scope.USER if user else Scope.PROJECT


def _announce(setup: Setup) -> None:
    from api.screen import Screen
    from api.setting_up import show_plan

    show_plan(Screen(), setup)
    sys.stdout.flush()
