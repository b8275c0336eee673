"""Owns `graphmem demo` as a command: which histories are shown, and what to type next.

It is not the showing (`api.demo`).
"""

from __future__ import annotations

from pathlib import Path

import click

from api.invocation import Invocation, common_options, pass_invocation
from api.screen import Screen

_NEXT = (
    ("graphmem import git .", "take in the repository you stand in"),
    ("graphmem init", "let your agent record its work and be told"),
    ("graphmem impact FILE", "what else changes with it, and why"),
    ("graphmem evaluate git .", "how good the alerts are on your own history"),
    ("graphmem serve --detach", "answer agents and editors over HTTP"),
)


@click.command(
    "demo",
    short_help="Show it on a story and on a real history.",
    epilog="Example: graphmem demo --repo .",
)
@click.argument("repository", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--repo",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="PATH",
    help="The repository to show after the story; default: the one around the current folder.",
)
@click.option("--keep", is_flag=True, help="Keep what was imported, in the home folder, and ask on.")
@common_options
@pass_invocation
def demo_command(invocation: Invocation, repository: Path | None, repo: Path | None, keep: bool) -> None:
    """Show what GraphMem does, on a story and on a real history; nothing is kept."""
    from api.demo import demo_home, parts, plain, repository_around
    from api.demo_view import show_part
    from graphmem.errors import SourceError

    named = repo or repository
    chosen = repository_around(named or Path.cwd())
    if named and chosen is None:
        raise SourceError(f"{named} is in no git repository: name the folder of one.")
    home = invocation.settings().home if keep else None
    shapes = {}
    with demo_home(home) as place:
        screen = None if invocation.as_json else _opened(home)
        for part in parts(place, chosen, insist=named is not None):
            shapes[part.name] = plain(part)
            if screen is not None:
                show_part(screen, part)
    if screen is not None:
        _say_what_next(screen)
    else:
        invocation.answer(shapes, lambda _: None)


def _opened(home: Path | None) -> Screen:
    screen = Screen()
    screen.line(("What GraphMem tells a coding agent before it edits a file", "bold"))
    kept = f"It is kept in {home}." if home else "Nothing of this is kept."
    screen.line((f"learnt from what changed together, again and again. {kept}", "dim"))
    return screen


def _say_what_next(screen: Screen) -> None:
    screen.heading("What to type next")
    for command, purpose in _NEXT:
        screen.line((f"{command:<26}", "bold"), (purpose, "dim"), indent=2)
