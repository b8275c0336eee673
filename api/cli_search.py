"""Owns `graphmem search`: what is asked in words, in English and Chinese.

It is not the question about a change (`api.cli_impact`), lists nothing without a text (`api.cli_lists`), and
is not the look of the answer (`api.search_view`).
"""

from __future__ import annotations

from typing import Any

import click

from api.backend import SearchQuestion
from api.invocation import Invocation, common_options, pass_invocation
from api.option_types import INSTANT, TEXT, limit_option
from api.screen import Screen
from graphmem.question import MOST_WIDTH, PieceKind
from graphmem.store.port import MAX_DEPTH

_KINDS = ("observation", "file", "concept", "contract", "module", *(kind.value for kind in PieceKind))


@click.command(
    "search",
    short_help="Ask in words what was done, stated and decided.",
    epilog='Example: graphmem search "session expires" --since 2026-01-01',
)
@click.argument("text", type=TEXT, nargs=-1, required=True, metavar="TEXT")
@click.option("--since", type=INSTANT, metavar="TIME", help="Only from this time on (ISO 8601).")
@click.option("--until", type=INSTANT, metavar="TIME", help="Only before this time (ISO 8601).")
@click.option(
    "--type", "types", type=TEXT, multiple=True, metavar="WORD", help="Only work of this type; repeatable."
)
@click.option(
    "--kind",
    "kinds",
    type=click.Choice(_KINDS),
    multiple=True,
    help="Only results of this kind; repeatable.",
)
@click.option("--file", type=TEXT, metavar="PATH", help="Only work that touched this file.")
@click.option("--concept", type=TEXT, metavar="NAME", help="Only work on this concept.")
@click.option("--source", type=TEXT, metavar="WORD", help="Only what came from here, such as git.")
@click.option("--in-session", type=TEXT, metavar="ID", help="Only work of this session.")
@click.option("--session", type=TEXT, metavar="ID", help="Your own session: what `it` and `that` mean.")
@click.option("--as-of", type=INSTANT, metavar="TIME", help="Answer from what was known then (ISO 8601).")
@click.option(
    "--budget",
    "budget_tokens",
    type=click.IntRange(0, 1_000_000),
    default=1_000,
    show_default=True,
    metavar="TOKENS",
    help="How large the packed context may be.",
)
@click.option(
    "--context-window",
    type=click.IntRange(0, 100_000_000),
    metavar="TOKENS",
    help="Your window: what the graph adds takes at most 15 % of it.",
)
@click.option("--depth", type=click.IntRange(0, MAX_DEPTH), help="Levels of graph expansion; 0 for none.")
@click.option("--width", type=click.IntRange(0, MOST_WIDTH), help="Nodes a level of graph expansion.")
@click.option("--context", "packed", is_flag=True, help="Print the context as an agent would get it.")
@click.option("--explain", is_flag=True, help="Show every part of a score, and what was missing.")
@limit_option(20)
@common_options
@pass_invocation
def search_command(
    invocation: Invocation, /, text: tuple[str, ...], packed: bool, file: str | None, **asked: Any
) -> None:
    """Ask in words what was done, stated and decided, best first."""
    words = " ".join(text)
    with invocation.backend() as backend:
        project = invocation.choose(backend)
        path = None if file is None else project.path(file)
        found = backend.search(project.slug, SearchQuestion(words, file=path, **asked))

    def show(screen: Screen) -> None:
        from api.edge_view import show_lack
        from api.search_view import show_context, show_search

        if packed:
            show_context(screen, found)
        else:
            show_search(screen, found, f"Nothing stored speaks of {words!r}.")
        if asked["explain"] or not (packed or found["results"]):
            show_lack(screen, found["degraded"])

    invocation.answer(found, show)
