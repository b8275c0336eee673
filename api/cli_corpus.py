"""Owns `graphmem corpus`: naming a filter, reading what it says, asking within it.

It is not the filtering (`graphmem.recall`), nor searching everything (`api.cli_search`).
"""

from __future__ import annotations

from typing import Any

import click

from api.backend import Shape
from api.backend_corpora import CorpusFilter, CorpusQuestion
from api.cli_lists import cursor_option
from api.edge_view import show_lack
from api.invocation import Invocation, common_options, pass_invocation
from api.option_types import INSTANT, TEXT, limit_option
from api.screen import Screen, counted, day, minute
from api.terminal_text import one_line
from graphmem.question import PieceKind

_MOST_TOKENS = 100_000


@click.group(
    "corpus",
    short_help="Name a part of what is known, read it, ask in it.",
    epilog="Example: graphmem corpus create auth --concept auth",
)
@common_options
def corpus_command() -> None:
    """Name a filter: what is known under it is a body of knowledge, always as it is now."""


@corpus_command.command(
    "create",
    short_help="Give a filter a name.",
    epilog="Example: graphmem corpus create rules --kind convention --kind preference",
)
@click.argument("name", type=TEXT)
@click.option("--file", type=click.Path(), metavar="PATH", help="Only what touched this file.")
@click.option("--concept", type=TEXT, metavar="WORD", help="Only what is about this concept.")
@click.option("--session", type=TEXT, metavar="ID", help="Only of this session.")
@click.option("--source", type=TEXT, metavar="WORD", help="Only from this source, such as git.")
@click.option(
    "--type", "types", type=TEXT, multiple=True, metavar="WORD", help="Only of this type; repeatable."
)
@click.option(
    "--kind",
    "kinds",
    type=click.Choice(PieceKind, case_sensitive=False),
    multiple=True,
    help="Only statements of this kind; repeatable.",
)
@click.option("--since", type=INSTANT, metavar="TIME", help="Only from this time on (ISO 8601).")
@click.option("--until", type=INSTANT, metavar="TIME", help="Only before this time (ISO 8601).")
@common_options
@pass_invocation
def create(invocation: Invocation, /, name: str, file: str | None, **given: Any) -> None:
    """Give a filter the NAME (letters, digits, '.', '_', '-'); without options it is all that is known."""
    given["kinds"] = tuple(kind.value for kind in given["kinds"])
    with invocation.backend() as backend:
        project = invocation.choose(backend)
        chosen = CorpusFilter(file=project.path(file) if file else None, **given)
        found = backend.corpora.create(project.slug, name, chosen)
    invocation.answer(found, lambda screen: _show_made(screen, found))


def _show_made(screen: Screen, found: Shape) -> None:
    words = counted(found["pieces"], "piece")
    screen.line(f"{found['name']}: {_filter_words(found['filter'])}; {words} just now.")
    screen.line((f"`graphmem corpus show {found['name']}` reads it.", "dim"))


@corpus_command.command(
    "list", short_help="List the corpora by name.", epilog="Example: graphmem corpus list --limit 5"
)
@limit_option(20)
@cursor_option
@common_options
@pass_invocation
def list_corpora(invocation: Invocation, limit: int, cursor: str | None) -> None:
    """List the corpora by name, with how many pieces match each just now."""
    with invocation.backend() as backend:
        page = backend.corpora.listed(invocation.choose(backend).slug, limit, cursor)

    def show(screen: Screen) -> None:
        if not page["items"]:
            screen.line("No filter has a name yet; `graphmem corpus create NAME --concept WORD` gives one.")
        for item in page["items"]:
            words = f"{_filter_words(item['filter'])}; {counted(item['pieces'], 'piece')}"
            screen.entry(day(item["created_at"]), item["name"], words)
        if page["next_cursor"]:
            screen.line((f"More with --cursor {page['next_cursor']}", "dim"))

    invocation.answer(page, show)


@corpus_command.command(
    "show",
    short_help="Say what a corpus says, within a budget.",
    epilog="Example: graphmem corpus show auth --budget 1000",
)
@click.argument("name", type=TEXT)
@click.option(
    "--budget",
    type=click.IntRange(0, _MOST_TOKENS),
    default=2_000,
    show_default=True,
    metavar="TOKENS",
    help="How long it may be.",
)
@common_options
@pass_invocation
def show_corpus(invocation: Invocation, name: str, budget: int) -> None:
    """Say what is known under the corpus' filter, as a text to give to an agent."""
    with invocation.backend() as backend:
        found = backend.corpora.text(invocation.choose(backend).slug, name, budget)

    def show(screen: Screen) -> None:
        for line in found["text"].splitlines():
            screen.line(line)
        counts = f"{found['told']} of {counted(found['pieces'], 'piece')} told, {found['left_out']} left out"
        screen.line((f"{counts}; {found['tokens']} tokens; as of {minute(found['built_at'])} UTC", "dim"))
        show_lack(screen, found["degraded"])

    invocation.answer(found, show)


@corpus_command.command(
    "ask",
    short_help="Ask a question within a corpus.",
    epilog='Example: graphmem corpus ask auth "how long does a token live"',
)
@click.argument("name", type=TEXT)
@click.argument("text", type=TEXT, nargs=-1, required=True, metavar="TEXT")
@limit_option(20)
@common_options
@pass_invocation
def ask(invocation: Invocation, name: str, text: tuple[str, ...], limit: int) -> None:
    """Answer as `graphmem search` does, from what passes the corpus' filter only."""
    words = " ".join(text)
    with invocation.backend() as backend:
        slug = invocation.choose(backend).slug
        found = backend.corpora.ask(slug, CorpusQuestion(name, words, limit))

    def show(screen: Screen) -> None:
        from api.search_view import show_search

        show_search(screen, found, f"Nothing in {name} speaks of {words!r}.")

    invocation.answer(found, show)


@corpus_command.command(
    "remove",
    short_help="Take a corpus out; what was recorded stays.",
    epilog="Example: graphmem corpus remove auth",
)
@click.argument("name", type=TEXT)
@common_options
@pass_invocation
def remove(invocation: Invocation, name: str) -> None:
    """Take the NAME and its filter out; what was recorded stays."""
    with invocation.backend() as backend:
        backend.corpora.remove(invocation.choose(backend).slug, name)
    invocation.answer({"removed": name}, lambda screen: screen.line(f"Removed: {name}."))


def _filter_words(chosen: Shape) -> str:
    """Return a filter in words, such as `concept auth, since 2026-05-01`."""
    parts = [f"{name} {chosen[name]}" for name in ("file", "concept", "session", "source") if chosen[name]]
    parts += [f"{name[:-1]} {' or '.join(chosen[name])}" for name in ("types", "kinds") if chosen[name]]
    parts += [f"{name} {minute(chosen[name])}" for name in ("since", "until") if chosen[name]]
    return one_line(", ".join(parts)) or "all that is known"
