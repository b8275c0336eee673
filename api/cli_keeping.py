"""Owns the commands about keeping and letting go: `graphmem keep`, `forget` and `prune`.

It is not the rules of what may go (`graphmem.retention`).
"""

from __future__ import annotations

import click

from api.cli_edges import by_option, note_option
from api.invocation import Invocation, common_options, pass_invocation
from api.option_types import TEXT
from api.screen import Screen, minute
from graphmem.confirmations import Judgement, Saying


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
