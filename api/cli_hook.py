"""Owns `graphmem hook`: one hook call to try out, through the real hook program.

It is not what clients run: their settings start the hook program itself.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from api.cli_init import CLIENT_NAMES
from api.invocation import Invocation, common_options, pass_invocation
from api.option_types import TEXT
from api.terminal_text import clean

if TYPE_CHECKING:
    from api.client_settings import Client


@click.command(
    "hook",
    short_help="Try a hook out.",
    epilog="Example: graphmem hook claude-code PreToolUse </dev/null",
)
@click.argument("client", type=click.Choice(CLIENT_NAMES))
@click.argument("event", type=TEXT)
@common_options
@pass_invocation
def hook_command(invocation: Invocation, client: str, event: str) -> int:
    """Pass EVENT to the hook program as CLIENT would, and print its answer; nothing printed is nothing said.

    The event's JSON is read from standard input. Without any a made-up one is sent, of a session that is
    never recorded.
    """
    from api.client_settings import command_line
    from api.hook_call import call_hook
    from api.installation import CLIENTS, HOOK_PROGRAM
    from graphmem.home import Home

    home = Home(invocation.settings().home)
    given = b"" if sys.stdin.isatty() else sys.stdin.buffer.read()
    content = given if given.strip() else json.dumps(_made_up(CLIENTS[client], event)).encode()
    command = command_line(sys.executable, str(HOOK_PROGRAM), client, str(home.path))
    call = call_hook(command, content, os.getcwd())
    complaint = CLIENTS[client].complaint(call.answer)
    if invocation.as_json:
        shape = {
            "client": client,
            "event": event,
            "status": call.status,
            "answer": call.answer,
            "errors": call.errors,
            "complaint": complaint,
            "took_ms": round(call.took, 1),
        }
        invocation.answer(shape, lambda screen: None)
    else:
        click.echo(clean(call.answer))
        click.echo(f"{call.took:.0f} ms, status {call.status}", err=True)
        if call.errors or complaint:
            click.echo(clean(call.errors or f"{client} would not take this answer: {complaint}"), err=True)
    return 0 if call.status == 0 and not call.errors and complaint is None else 1


def _made_up(client: Client, event: str) -> dict[str, Any]:
    """Return a hook call of that event in a session that is never recorded."""
    from graphmem.events import DRILL

    made = client.probe(DRILL, os.getcwd(), DRILL) | {"hook_event_name": event}
    if "Tool" not in event:
        for name in ("tool_name", "tool_input", "tool_use_id"):
            made.pop(name, None)
        made |= {"prompt": DRILL, "source": "startup", "reason": "other", "last_assistant_message": DRILL}
    return made
