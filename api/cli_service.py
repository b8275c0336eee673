"""Owns the commands about the service as a process: serve, stop, status, open.

It is not the service (`api.service`) nor its life cycle (`api.lifecycle`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from api.invocation import Invocation, common_options, pass_invocation
from api.terminal_text import clean

if TYPE_CHECKING:
    from api.lifecycle import ServiceStatus
    from graphmem.home import Home


@click.command(
    "serve", short_help="Run the service, on this machine only.", epilog="Example: graphmem serve --detach"
)
@click.option("--detach", is_flag=True, help="Start it behind and return once it answers.")
@common_options
@pass_invocation
def serve_command(invocation: Invocation, detach: bool) -> None:
    """Run the service: HTTP on this machine only, until Ctrl-C or `graphmem stop`."""
    settings = invocation.settings()
    if detach:
        from api.lifecycle import start_detached, status

        home = _home(invocation)
        start_detached(home, settings.port)
        _answer(invocation, home, status(home))
    else:
        from api.service import serve

        serve(settings, lambda sentence: click.echo(clean(sentence), err=invocation.as_json))


@click.command("stop", short_help="End the running service.", epilog="Example: graphmem stop")
@common_options
@pass_invocation
def stop_command(invocation: Invocation) -> int:
    """End the running service; what it was asked is finished first."""
    from api.lifecycle import ServiceState, stop

    home = _home(invocation)
    before = stop(home)
    if before.record is None:
        _answer(invocation, home, before)
        return 1 if before.state is ServiceState.BUSY else 0
    shape = {"state": ServiceState.STOPPED, "pid": before.record.pid, "home": str(home.path)}
    invocation.answer(shape, lambda screen: screen.line(f"The service (process {shape['pid']}) has ended."))
    return 0


@click.command("status", epilog="Example: graphmem status --json")
@common_options
@pass_invocation
def status_command(invocation: Invocation) -> None:
    """Say whether the service runs, and where."""
    from api.lifecycle import status

    home = _home(invocation)
    _answer(invocation, home, status(home))


@click.command("open", epilog="Example: graphmem open --no-browser")
@click.option("--no-browser", is_flag=True, help="Only print the link.")
@common_options
@pass_invocation
def open_command(invocation: Invocation, no_browser: bool) -> None:
    """Print a link that signs a browser in, once, and open it."""
    from api.backend_remote import RemoteBackend
    from api.lifecycle import find_service
    from graphmem.errors import UnavailableError

    home = _home(invocation)
    record = find_service(home)
    if record is None:
        raise UnavailableError(
            f"No service runs on {home.path}: start one with `graphmem serve --detach` and ask again."
        )
    with RemoteBackend(record.port, home.token()) as service:
        link = service.sign_in_link()
    # Not by way of the screen: a link must come in one piece, however narrow the terminal.
    if invocation.as_json:
        invocation.answer(link, lambda screen: None)
    else:
        click.echo(link["url"])
    if not no_browser and click.launch(link["url"]) != 0:
        click.echo("No browser could be opened: open the link by hand within two minutes.", err=True)


def _home(invocation: Invocation) -> Home:
    from graphmem.home import Home

    return Home(invocation.settings().home)


def _answer(invocation: Invocation, home: Home, found: ServiceStatus) -> None:
    """Print how the service stands."""
    from graphmem.instant import to_iso

    record = found.record
    shape = {
        "state": found.state,
        "url": found.url,
        "pid": record.pid if record else None,
        "port": record.port if record else None,
        "started_at": to_iso(record.started_at) if record else None,
        "home": str(home.path),
    }
    invocation.answer(shape, lambda screen: screen.line(found.sentence))
