"""Owns the commands that walk the graph: what depends on what, how two nodes are linked, what ails it.

It is not the look of the answers (`api.graph_view`), nor the review of edges (`api.cli_edges`).
"""

from __future__ import annotations

import click

from api.backend_graph import WalkQuestion, edges_by_id
from api.cli_edges import as_of_option
from api.invocation import Invocation, common_options, pass_invocation
from api.option_types import limit_option
from api.screen import Screen
from graphmem.store.port import MAX_DEPTH


@click.command(
    "depends",
    short_help="Tell what depends on a file, concept or contract.",
    epilog="Example: graphmem depends src/auth/token.ts",
)
@click.argument("node", metavar="NODE")
@click.option("--reverse", is_flag=True, help="The other way: what NODE depends on.")
@click.option(
    "--depth",
    type=click.IntRange(1, MAX_DEPTH),
    default=MAX_DEPTH,
    show_default=True,
    metavar="NUMBER",
    help="How many confirmed steps to follow.",
)
@as_of_option
@limit_option(20)
@common_options
@pass_invocation
def depends_command(
    invocation: Invocation, node: str, reverse: bool, depth: int, as_of: str | None, limit: int
) -> None:
    """Tell what depends on NODE: exactly where edges are confirmed, and what is likely beside that."""
    with invocation.backend() as backend:
        project = invocation.choose(backend)
        question = WalkQuestion(project.node(node), reverse, depth, limit, as_of)
        found = backend.graph.depends(project.slug, question)
        steps = [id for item in found["confirmed"] for id in item["via"]]
        edges = {} if invocation.as_json else edges_by_id(backend.graph, project.slug, steps, as_of)

    def show(screen: Screen) -> None:
        from api.graph_view import show_dependents

        show_dependents(screen, found, edges, reverse=reverse)

    invocation.answer(found, show)


@click.command(
    "path",
    short_help="Tell why two nodes are linked.",
    epilog="Example: graphmem path src/checkout/session.ts src/auth/token.ts",
)
@click.argument("source", metavar="A")
@click.argument("target", metavar="B")
@common_options
@pass_invocation
def path_command(invocation: Invocation, source: str, target: str) -> None:
    """Tell why A and B are linked: up to three ways over edges, each step with its why."""
    with invocation.backend() as backend:
        project = invocation.choose(backend)
        found = backend.graph.path(project.slug, project.node(source), project.node(target))

    def show(screen: Screen) -> None:
        from api.graph_view import show_paths

        show_paths(screen, found)

    invocation.answer(found, show)


@click.command(
    "infer",
    short_help="Suggest edges and form modules now.",
    epilog="Example: graphmem infer",
)
@common_options
@pass_invocation
def infer_command(invocation: Invocation) -> None:
    """Suggest edges and form modules from all that is stored, now; it also happens by itself."""
    from api.progress import Waiting

    with invocation.backend() as backend:
        project = invocation.choose(backend)
        with Waiting("Looking for edges"):
            found = backend.graph.infer(project.slug)

    def show(screen: Screen) -> None:
        from api.graph_view import show_inferred

        show_inferred(screen, found)

    invocation.answer(found, show)


@click.command(
    "health",
    short_help="Tell what ails the graph: lost files, cycles, stale edges.",
    epilog="Example: graphmem health --limit 5",
)
@limit_option(20)
@common_options
@pass_invocation
def health_command(invocation: Invocation, limit: int) -> None:
    """Tell what ails the graph: lost files, cycles of dependencies, files without edges, stale edges."""
    with invocation.backend() as backend:
        project = invocation.choose(backend)
        found = backend.graph.health(project.slug, limit)

    def show(screen: Screen) -> None:
        from api.graph_view import show_health

        show_health(screen, found)

    invocation.answer(found, show)
