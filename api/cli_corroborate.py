"""Owns `graphmem corroborate`: the project's code is read, and its imports are held beside the edges.

It is not the look of the answer (`api.corroboration_view`).
"""

from __future__ import annotations

import click

from api.invocation import Invocation, common_options, pass_invocation
from api.option_types import limit_option
from api.progress import ProgressBar
from api.screen import Screen


@click.command(
    "corroborate",
    short_help="Tell which edges are imports in the code, which are hidden.",
    epilog="Example: graphmem corroborate src/auth --limit 5",
)
@click.argument("path", required=False)
@click.option("--last", is_flag=True, help="Answer from the last reading, without reading anew.")
@limit_option(20)
@common_options
@pass_invocation
def corroborate_command(invocation: Invocation, path: str | None, last: bool, limit: int) -> None:
    """Read the imports in the project's code, and tell which files change together without any.

    With PATH only of pairs of which one file is that file, or lies in that folder.
    """
    with invocation.backend() as backend:
        project = invocation.choose(backend)
        place = None if path is None else project.path(path)
        if last:
            found = backend.graph.corroboration(project.slug, place, limit)
        else:
            with ProgressBar("Reading imports") as progress:
                found = backend.graph.corroborate(project.slug, place, limit, progress)

    def show(screen: Screen) -> None:
        from api.corroboration_view import show_corroboration

        show_corroboration(screen, found)

    invocation.answer(found, show)
