"""Owns `graphmem impact`: what else changes when these files change.

It is not the look of the answer (`api.impact_view`).
"""

from __future__ import annotations

import click

from api.backend import ImpactQuestion
from api.backend_graph import edges_by_id
from api.invocation import Invocation, common_options, pass_invocation
from api.option_types import INSTANT, TEXT, limit_option
from api.screen import Screen


@click.command(
    "impact",
    short_help="Tell what usually changes along with files.",
    epilog='Example: graphmem impact src/auth/token.ts --intent "shorten the session"',
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--intent", type=TEXT, metavar="TEXT", help="The task, in the user's words.")
@click.option("--session", type=TEXT, metavar="ID", help="Your own session, left out of what is active.")
@click.option("--actor", type=TEXT, metavar="NAME", help="You: what you had in hand lately is likelier.")
@click.option("--as-of", type=INSTANT, metavar="TIME", help="Answer from what was known then (ISO 8601).")
@limit_option(10)
@common_options
@pass_invocation
def impact_command(
    invocation: Invocation,
    paths: tuple[str, ...],
    intent: str | None,
    session: str | None,
    actor: str | None,
    as_of: str | None,
    limit: int,
) -> None:
    """Tell what usually changes along with PATH, with the evidence; several paths count as one change."""
    with invocation.backend() as backend:
        project = invocation.choose(backend)
        question = ImpactQuestion(
            paths=tuple(dict.fromkeys(project.path(path) for path in paths)),
            intent=intent,
            session=session,
            actor=actor,
            as_of=as_of,
            limit=limit,
        )
        found = backend.impact(project.slug, question)
        related = [item["edge_id"] for item in found["affected"] if item["relation"]]
        edges = {} if invocation.as_json else edges_by_id(backend.graph, project.slug, related, as_of)

    def show(screen: Screen) -> None:
        from api.impact_view import show_impact

        show_impact(screen, found, project.slug, edges)

    invocation.answer(found, show)
