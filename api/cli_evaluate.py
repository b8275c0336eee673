"""Owns `graphmem evaluate`: how good the alerts would have been on a history, beside the baselines.

It is not the replay (`graphmem.evaluation`, `inference.replay`) and stores nothing.
"""

from __future__ import annotations

import os
from typing import Literal

import click

from api.invocation import Invocation, common_options, pass_invocation
from api.progress import ProgressBar

intent_option = click.option(
    "--intent", is_flag=True, help="Tell the predictors the task's words (the title)."
)


@click.group(
    "evaluate", short_help="Measure the alerts on a history.", epilog="Example: graphmem evaluate git ."
)
@common_options
def evaluate_command() -> None:
    """Replay a history, ask before each change what else changes, and count the right answers."""


@evaluate_command.command("git", epilog="Example: graphmem evaluate git . --intent")
@click.argument("source", default=".")
@intent_option
@common_options
@pass_invocation
def evaluate_git(invocation: Invocation, source: str, intent: bool) -> None:
    """Replay the repository at SOURCE (default: the current folder)."""
    _evaluate(invocation, "git", source, intent)


@evaluate_command.command(
    "jsonl",
    short_help="Replay a file of observations or history lines.",
    epilog="Example: graphmem evaluate jsonl turns.jsonl",
)
@click.argument("source")
@intent_option
@common_options
@pass_invocation
def evaluate_jsonl(invocation: Invocation, source: str, intent: bool) -> None:
    """Replay the file SOURCE: observations or history lines, one JSON object a line."""
    _evaluate(invocation, "jsonl", source, intent)


def _evaluate(invocation: Invocation, kind: Literal["git", "jsonl"], source: str, intent: bool) -> None:
    from api.evaluation_view import plain, show_evaluation
    from graphmem.evaluation import evaluate

    location = os.path.abspath(os.path.expanduser(source))
    with ProgressBar("Replaying") as progress:
        outcomes = evaluate(kind, location, intent=intent, progress=progress)
    shape = {"source": kind, "location": location, "intent": intent, "predictors": plain(outcomes)}
    invocation.answer(
        shape, lambda screen: show_evaluation(screen, outcomes, location=location, intent=intent)
    )
