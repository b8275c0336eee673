"""Owns `graphmem capture`: whether agents' work is recorded here, and switching that.

It is not the recording.
"""

from __future__ import annotations

import click

from api.invocation import Invocation, common_options, pass_invocation
from api.option_types import TEXT


@click.command(
    "capture",
    short_help="Say or set whether agents' work is recorded.",
    epilog="Example: graphmem capture off",
)
@click.argument("switch", type=click.Choice(("on", "off")), required=False)
@click.option("--session", type=TEXT, metavar="ID", help="Only this session.")
@common_options
@pass_invocation
def capture_command(invocation: Invocation, switch: str | None, session: str | None) -> None:
    """Say whether agents' work in this project is recorded, or switch that on or off.

    With --session only that session is switched. What is recorded already stays. A session is recorded if
    neither it nor the project is switched off.
    """
    if session == "":
        raise click.UsageError("--session names no session: give its id, as `graphmem sessions` prints it.")
    with invocation.backend() as backend:
        project = invocation.choose(backend)
        if switch is None:
            shape = backend.captures(project.slug, session)
        else:
            shape = backend.set_capturing(project.slug, switch == "on", session)
    about = project.slug if session is None else f"session {session} of {project.slug}"
    state = "recorded" if shape["enabled"] else "not recorded"
    invocation.answer(shape, lambda screen: screen.line(f"Agents' work in {about} is {state}."))
