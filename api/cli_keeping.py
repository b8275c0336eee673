"""Owns the commands about keeping and letting go: `graphmem keep`, `forget` and `prune`.

It is not the rules of what may go (`graphmem.retention`).
"""

from __future__ import annotations

from typing import Any

import click

from api.backend import Shape
from api.backend_keeping import PruneQuestion
from api.cli_edges import by_option, note_option
from api.invocation import Invocation, common_options, pass_invocation
from api.option_types import TEXT
from api.screen import Screen, counted, day, minute, size
from graphmem.confirmations import Judgement, Saying
from graphmem.question import PieceKind
from graphmem.retention_rules import LIMITED


@click.command(
    "keep",
    short_help="Say that what was recorded holds, and is to be kept.",
    epilog="Example: graphmem keep turn-1 --note 'agreed in the review'",
)
@click.argument("ids", type=TEXT, nargs=-1, required=True, metavar="ID...")
@click.option("--undo", is_flag=True, help="Take that back.")
@note_option
@by_option
@common_options
@pass_invocation
def keep_command(invocation: Invocation, ids: tuple[str, ...], undo: bool, note: str, by: str | None) -> None:
    """Say that these observations hold: they count as settled, and no pruning takes them."""
    verdict = Judgement.UNDO if undo else Judgement.CONFIRM
    name = invocation.user() if by is None else by
    with invocation.backend() as backend:
        slug = invocation.choose(backend).slug
        found = [backend.keeping.judge(slug, Saying(id, verdict, note, name)) for id in dict.fromkeys(ids)]

    def show(screen: Screen) -> None:
        for item in found:
            title = item["title"] or item["intent"] or "(no title)"
            screen.entry(minute(item["at"]), title, "kept" if item["confirmed"] else "not kept specially")

    invocation.answer({"items": found}, show)


@click.command(
    "forget",
    short_help="Forget observations everywhere.",
    epilog="Example: graphmem forget turn-1",
)
@click.argument("ids", type=TEXT, nargs=-1, required=True, metavar="ID...")
@common_options
@pass_invocation
def forget_command(invocation: Invocation, ids: tuple[str, ...]) -> None:
    """Forget observations everywhere, for good; only their ids stay, so that they don't come back."""
    names = list(dict.fromkeys(ids))
    with invocation.backend() as backend:
        slug = invocation.choose(backend).slug
        for id in names:
            backend.keeping.forget(slug, id)
    words = counted(len(names), "observation")
    invocation.answer({"forgotten": names}, lambda screen: screen.line(f"Forgotten: {words}."))


class _LimitType(click.ParamType[tuple[PieceKind, float]]):
    """A kind and its limit of age, such as history=730."""

    name = "kind=days"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[PieceKind, float]:
        """Return both parts, or fail as wrong use."""
        kind, _, days = str(value).partition("=")
        if kind not in LIMITED or not days.isdecimal() or not 1 <= int(days) <= 100_000:
            self.fail(
                f"{value!r} is no limit: write one of {', '.join(LIMITED)}, then = and days, as history=730.",
                param,
                ctx,
            )
        return PieceKind(kind), float(days)


@click.command(
    "prune",
    short_help="Let go of what is old, by kind and size; shows it first.",
    epilog="Example: graphmem prune --days history=730 --days task=180",
)
@click.option(
    "--days",
    "limits",
    type=_LimitType(),
    multiple=True,
    metavar="KIND=DAYS",
    help="Let go of this kind when it is older; repeatable; default: the configured ones.",
)
@click.option(
    "--max-bytes",
    type=click.IntRange(1),
    metavar="NUMBER",
    help="Let go of the oldest until the project's files take about so much.",
)
@click.option("--yes", is_flag=True, help="Do it; without this nothing is changed.")
@common_options
@pass_invocation
def prune_command(
    invocation: Invocation,
    limits: tuple[tuple[PieceKind, float], ...],
    max_bytes: int | None,
    yes: bool,
) -> None:
    """Show what the rules of age and size would let go; with --yes forget it and give its room back.

    Decisions, open tasks, what somebody keeps, and what speaks for a confirmed edge never go.
    """
    from api.progress import Waiting

    days = dict(limits) if limits or max_bytes is not None else None
    with invocation.backend() as backend:
        slug = invocation.choose(backend).slug
        with Waiting("Pruning" if yes else "Looking for what may go"):
            found = backend.keeping.prune(slug, PruneQuestion(days, max_bytes, dry_run=not yes))
    invocation.answer(found, lambda screen: _show_pruned(screen, found))


def _show_pruned(screen: Screen, found: Shape) -> None:
    if not found["days"] and found["max_bytes"] is None:
        screen.line("No rule is set, so nothing goes: give --days or --max-bytes, or set [retention].")
        return
    if found["kinds"]:
        rows = (
            (
                going["kind"],
                f"{going['observations']:,}",
                size(going["bytes"]),
                day(going["oldest"]),
                day(going["newest"]),
            )
            for going in found["kinds"]
        )
        screen.table(("kind", ">observations", ">about", "oldest", "newest"), rows)
        screen.gap()
    kept = [f"{count:,} {reason}" for reason, count in found["exempt"].items() if count]
    if kept:
        screen.line((f"Never go: {', '.join(kept)}.", "dim"))
    words = counted(found["observations"], "observation")
    if not found["observations"]:
        screen.line("Nothing is to go.")
    elif found["dry_run"]:
        screen.line(f"{words} would go, about {size(found['bytes'])}; `graphmem prune ... --yes` does it.")
    else:
        sizes = f"{size(found['size_before'])} before, {size(found['size_after'])} now"
        screen.line(f"Forgotten: {words}. The files took {sizes}.")
    if found["remark"]:
        screen.line((found["remark"], "yellow"))
