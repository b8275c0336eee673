"""Owns `graphmem evaluate`: how good the alerts would have been on a history, beside the baselines.

It is not the replay (`graphmem.evaluation`, `inference.replay`) and stores nothing but the report asked for.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

import click

from api.invocation import Decorated, Invocation, common_options, pass_invocation
from api.progress import ProgressBar

if TYPE_CHECKING:
    from graphmem.evaluation import Stage


def evaluation_options(command: Decorated) -> Decorated:
    """Add what both sources share."""
    options = (
        click.option("--all", "everything", is_flag=True, help="Ask every question, however long it takes."),
        click.option(
            "--report",
            type=click.Path(dir_okay=False),
            metavar="FILE",
            help="Write the figures as a page (.html) or a picture (.png), too.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.group(
    "evaluate", short_help="Measure the alerts on a history.", epilog="Example: graphmem evaluate git ."
)
@common_options
def evaluate_command() -> None:
    """Replay a history, ask before each change what else changes, and count the right answers."""


@evaluate_command.command("git", epilog="Example: graphmem evaluate git . --report alerts.html")
@click.argument("source", default=".")
@evaluation_options
@common_options
@pass_invocation
def evaluate_git(invocation: Invocation, source: str, everything: bool, report: str | None) -> None:
    """Replay the repository at SOURCE (default: the current folder)."""
    _evaluate(invocation, "git", source, everything, report)


@evaluate_command.command(
    "jsonl",
    short_help="Replay a file of observations or history lines.",
    epilog="Example: graphmem evaluate jsonl turns.jsonl",
)
@click.argument("source")
@evaluation_options
@common_options
@pass_invocation
def evaluate_jsonl(invocation: Invocation, source: str, everything: bool, report: str | None) -> None:
    """Replay the file SOURCE: observations or history lines, one JSON object a line."""
    _evaluate(invocation, "jsonl", source, everything, report)


class Stages:
    """A progress bar for each stage of an evaluation, one after the other."""

    def __init__(self) -> None:
        self._stage: Stage | None = None
        self._bar: ProgressBar | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.__exit__(kind, error, trace)

    def __call__(self, stage: Stage, done: int, total: int | None) -> None:
        """Show how far a stage is."""
        if self._bar is None or stage is not self._stage:
            self.__exit__(None, None, None)
            self._stage, self._bar = stage, ProgressBar(stage.value, in_percent=True)
        self._bar(done, total)


def _evaluate(
    invocation: Invocation,
    kind: Literal["git", "jsonl"],
    source: str,
    everything: bool,
    report: str | None,
) -> None:
    from api.evaluation_report import writer_of
    from api.evaluation_view import show_evaluation
    from api.evaluation_words import plain
    from graphmem.evaluation import BUDGET, evaluate

    invocation.settings().apply()
    location = os.path.abspath(os.path.expanduser(source))
    write = None if report is None else writer_of(Path(os.path.expanduser(report)))
    with Stages() as stages:
        evaluation = evaluate(kind, location, budget=None if everything else BUDGET, progress=stages)
    if write is not None:
        write(evaluation, location)
    shape = {"source": kind, "location": location, "report": report, **plain(evaluation)}
    invocation.answer(shape, lambda screen: show_evaluation(screen, evaluation, location=location))
