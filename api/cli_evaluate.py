"""Owns `graphmem evaluate`: how good alerts would have been on a history, and how good recall is on a set.

It is not the replay (`graphmem.evaluation`, `inference.replay`), nor how questions are asked
(`graphmem.recall_evaluation`), and stores nothing but the report asked for.
"""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

import click

from api.invocation import Decorated, Invocation, common_options, pass_invocation
from api.progress import ProgressBar

if TYPE_CHECKING:
    from graphmem.recall_set import Part


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
    "evaluate",
    short_help="Measure alerts on a history, or recall on questions.",
    epilog="Example: graphmem evaluate git .",
)
@common_options
def evaluate_command() -> None:
    """Replay a history, ask before each change what else changes, and count the right answers.

    `recall` asks a set of questions whose answers are known.
    """


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


@evaluate_command.command(
    "recall",
    short_help="Ask a set of questions with known answers.",
    epilog="Example: graphmem evaluate recall --controls",
)
@click.argument("file", required=False, metavar="[FILE]")
@click.option(
    "--part",
    type=click.Choice(("report", "choose", "all")),
    default="report",
    show_default=True,
    help="Which questions: those to report figures of, those to choose parameters on, or all.",
)
@click.option(
    "--controls", is_flag=True, help="Ask again with supersession off, and all projects in one memory."
)
@click.option("--ablation", is_flag=True, help="Ask again without the graph's expansion.")
@click.option("--verbose", is_flag=True, help="Show each question that failed, with what it was told.")
@common_options
@pass_invocation
def evaluate_recall_set(
    invocation: Invocation, file: str | None, part: str, controls: bool, ablation: bool, verbose: bool
) -> None:
    """Ask the questions of FILE (default: the set that comes with GraphMem) in a memory of their own."""
    from api.recall_view import plain, show_recall
    from api.shipped import shipped
    from graphmem.recall_evaluation import evaluate_recall
    from graphmem.recall_set import read_set

    invocation.settings().apply()
    if file is None:
        location = str(shipped("recall", "graphmem_questions", "questions.jsonl", "or name a set of yours."))
    else:
        location = os.path.abspath(os.path.expanduser(file))
    with Stages() as stages:
        evaluation = evaluate_recall(
            read_set(location), part=_part(part), controls=controls, ablation=ablation, progress=stages
        )
    invocation.answer(plain(evaluation), lambda screen: show_recall(screen, evaluation, verbose=verbose))


def _part(name: str) -> Part | None:
    from graphmem.recall_set import Part

    return None if name == "all" else Part(name)


class Stages:
    """A progress bar for each stage of an evaluation, one after the other."""

    def __init__(self) -> None:
        self._stage: StrEnum | None = None
        self._bar: ProgressBar | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.__exit__(kind, error, trace)

    def __call__(self, stage: StrEnum, done: int, total: int | None) -> None:
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
