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
    from api.demo import demo_home, plain, repository_around, show, tell_history, tell_story
    from graphmem.errors import SourceError

    named = repo or repository
    chosen = repository_around(named or Path.cwd())
    if named and chosen is None:
        raise SourceError(f"{named} is in no git repository: name the folder of one.")
    shapes = {}
    screen = None if invocation.as_json else Screen()
    if screen is not None:
        screen.line(("What GraphMem tells a coding agent before it edits a file", "bold"))
        kept = f"Kept in {invocation.settings().home}." if keep else "Nothing of this is kept."
        screen.line((f"learnt from what was changed along, again and again. {kept}", "dim"))
    with demo_home(invocation.settings().home if keep else None) as home:
        story = tell_story(home)
        shapes["story"] = plain(story)
        if screen is not None:
            show(screen, "1. A story: people and agents build a web shop", story)
        if chosen is not None:
            history = tell_history(home, chosen)
            shapes["history"] = plain(history)
            if screen is not None:
                show(screen, f"2. A real history: {chosen.name}", history)
    if screen is None:
        return invocation.answer(shapes, lambda _: None)
    if chosen is None:
        screen.heading("2. A real history")
        screen.line("No repository is around the current folder: name one with --repo PATH.", indent=2)
    return _say_what_next(screen)


def _say_what_next(screen: Screen) -> None:
    screen.heading("What to type next")
    for command, purpose in _NEXT:
        screen.line((f"{command:<26}", "bold"), (purpose, "dim"), indent=2)
