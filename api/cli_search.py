"""Owns `graphmem search`: the text index, in English and Chinese.

It is not the question about a change (`api.cli_impact`), and lists nothing without a text (`api.cli_lists`).
"""

from __future__ import annotations

import click
from rich.text import Text

from api.backend import SearchQuestion, Shape
from api.invocation import Invocation, common_options, pass_invocation
from api.option_types import INSTANT, TEXT, limit_option
from api.screen import Screen, day
from api.terminal_text import one_line


@click.command("search", epilog='Example: graphmem search "session expires" --since 2026-01-01')
@click.argument("text", type=TEXT, nargs=-1, required=True, metavar="TEXT")
@click.option("--since", type=INSTANT, metavar="TIME", help="Only from this time on (ISO 8601).")
@click.option("--until", type=INSTANT, metavar="TIME", help="Only before this time (ISO 8601).")
@click.option(
    "--type",
    "types",
    type=TEXT,
    multiple=True,
    metavar="WORD",
    help="Only those of this type; repeatable.",
)
@limit_option(20)
@common_options
@pass_invocation
def search_command(
    invocation: Invocation,
    text: tuple[str, ...],
    since: str | None,
    until: str | None,
    types: tuple[str, ...],
    limit: int,
) -> None:
    """Search what was done and decided, best first."""
    words = " ".join(text)
    with invocation.backend() as backend:
        project = invocation.choose(backend)
        found = backend.search(project.slug, SearchQuestion(words, limit, since, until, types))
    invocation.answer(found, lambda screen: _show(screen, found, words))


def _show(screen: Screen, found: Shape, words: str) -> None:
    if not found["results"]:
        screen.line(f"Nothing stored speaks of {words!r}.")
    for item in found["results"]:
        text = item["text"] if item["text"] != item["title"] else ""
        where = f"{item['kind']}, {item['source']}, id {item['id']}"
        shown = [Text(one_line(text))] if text else []
        screen.entry(day(item["at"]), item["title"] or "(no title)", *shown, where)
