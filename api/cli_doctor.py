"""Owns `graphmem doctor`: the list of checks with their remedies.

It is not the checks (`api.doctor`, `api.client_check`).
"""

from __future__ import annotations

from dataclasses import asdict

import click
from rich.text import Text

from api.invocation import Invocation, common_options, pass_invocation
from api.screen import Screen, counted, worded
from api.terminal_text import clean


@click.command(
    "doctor", short_help="Check what GraphMem stands on.", epilog="Example: graphmem doctor --json"
)
@common_options
@pass_invocation
def doctor_command(invocation: Invocation) -> int:
    """Check what GraphMem stands on, and that the agents' hooks work; every problem comes with its remedy.

    A test event goes through each agent's settings as the agent would send it. It is never recorded.
    """
    from api.client_check import examine_clients
    from api.doctor import Check, Outcome, examine
    from api.setting_up import place_of
    from graphmem.home import Home

    settings = invocation.settings()
    settings.apply()
    home = Home(settings.home)
    checks = [*examine(home), *examine_clients(home, place_of(invocation).root)]
    problems = sum(check.outcome is Outcome.PROBLEM for check in checks)
    warnings = sum(check.outcome is Outcome.WARNING for check in checks)

    def row(check: Check) -> tuple[Text, Text, Text]:
        finding = Text(clean(check.finding))
        if check.remedy:
            finding.append(f"\n{clean(check.remedy)}", "bold")
        return worded(check.outcome), Text(clean(check.name)), finding

    def show(screen: Screen) -> None:
        screen.grid([row(check) for check in checks], right=0)
        screen.gap()
        if problems or warnings:
            screen.line(f"{counted(problems, 'problem')}, {counted(warnings, 'warning')}.")
        else:
            screen.line("Everything is in order.")

    invocation.answer({"ok": not problems, "checks": [asdict(check) for check in checks]}, show)
    return 1 if problems else 0
