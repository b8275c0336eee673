"""Owns the commands about edges: the review queue, one edge with its why, and the verdicts on them.

It is not the look of an edge (`api.edge_view`), nor the questions that walk edges (`api.cli_graph`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import click

from api.backend import Backend, Shape
from api.backend_graph import EdgeQuestion
from api.cli_lists import cursor_option
from api.invocation import ChosenProject, Invocation, common_options, pass_invocation
from api.option_types import INSTANT, TEXT, limit_option
from api.screen import Screen
from graphmem.errors import NotFoundError
from graphmem.graph import (
    Decision,
    Declaration,
    Direction,
    EdgeKind,
    EdgeOrder,
    EdgeStatus,
    Relation,
    VerdictKind,
)

_ID_LETTERS = 16
_RELATION = click.Choice(Relation, case_sensitive=False)
as_of_option = click.option(
    "--as-of", type=INSTANT, metavar="TIME", help="Answer from what was known then (ISO 8601)."
)
note_option = click.option(
    "--note", type=TEXT, default="", metavar="TEXT", help="Why, for whoever looks later."
)
by_option = click.option("--by", type=TEXT, metavar="NAME", help="Who says so; default: your login name.")


@click.command(
    "edges",
    short_help="List the suggested edges, as questions to answer.",
    epilog="Example: graphmem edges --node src/auth/token.ts",
)
@click.option(
    "--status",
    "statuses",
    type=click.Choice(EdgeStatus, case_sensitive=False),
    multiple=True,
    help="Only edges that stand so; repeatable; default: candidate.",
)
@click.option(
    "--kind",
    "kinds",
    type=click.Choice(EdgeKind, case_sensitive=False),
    multiple=True,
    help="Only edges of this kind; repeatable.",
)
@click.option("--node", metavar="NODE", help="Only edges of this file, or of such as concept:auth.")
@click.option(
    "--order",
    type=click.Choice(EdgeOrder, case_sensitive=False),
    default=EdgeOrder.VALUE,
    help="First what an answer is worth most for (default), the likeliest, the most seen, or the newest.",
)
@as_of_option
@limit_option(10)
@cursor_option
@common_options
@pass_invocation
def edges_command(
    invocation: Invocation,
    /,
    statuses: tuple[EdgeStatus, ...],
    kinds: tuple[EdgeKind, ...],
    node: str | None,
    **more: Any,
) -> None:
    """List the edges that were suggested and not yet judged, each as one question with its why."""
    with invocation.backend() as backend:
        project = invocation.choose(backend)
        question = EdgeQuestion(
            statuses=statuses or (EdgeStatus.CANDIDATE,),
            kinds=kinds,
            node=None if node is None else project.node(node),
            **more,
        )
        page = backend.graph.edges(project.slug, question)

    def show(screen: Screen) -> None:
        from api.edge_view import show_edges

        show_edges(screen, page, _nothing(project, question))

    invocation.answer(page, show)


def _nothing(project: ChosenProject, question: EdgeQuestion) -> str:
    """Return what to say of an empty list, with what would fill it."""
    if not project.observations:
        return "Nothing is stored yet: run `graphmem import git .` inside the repository."
    if question.statuses != (EdgeStatus.CANDIDATE,):
        return f"No edge is {' or '.join(question.statuses)}; `graphmem edges` lists those to judge."
    if question.node or question.kinds or question.as_of:
        return "No question of that kind is open; `graphmem edges` lists all there are."
    return "No question is open: an edge is suggested once two sessions speak for it."


@click.command(
    "why", short_help="Tell why an edge is there.", epilog="Example: graphmem why 8c1f0a2b3d4e5f60"
)
@click.argument("edge", type=TEXT, metavar="EDGE")
@as_of_option
@common_options
@pass_invocation
def why_command(invocation: Invocation, edge: str, as_of: str | None) -> None:
    """Tell why an edge is there: what was done on both ends, the signals, and what people decided."""
    with invocation.backend() as backend:
        project = invocation.choose(backend)
        found = backend.graph.edge(project.slug, _edge_id(backend, project.slug, edge), as_of)
        titles = {} if invocation.as_json else _titles(backend, project.slug, found)

    def show(screen: Screen) -> None:
        from api.edge_view import show_edge

        show_edge(screen, found, titles)

    invocation.answer(found, show)


def _edge_id(backend: Backend, project: str, given: str) -> str:
    """Return an edge's id; its first letters will do where only one edge begins with them.

    Raises:
        NotFoundError: no edge begins so, or several do; it names the nearest.
    """
    if len(given) >= _ID_LETTERS:
        return given
    try:
        return str(backend.graph.edge(project, given)["id"])
    except NotFoundError as error:
        fitting = [id for id in error.candidates if id.startswith(given)]
        if len(fitting) != 1:
            raise
        return fitting[0]


def _titles(backend: Backend, project: str, edge: Shape) -> dict[str, tuple[str, str]]:
    """Return time and title of the observations an edge cites; one that was forgotten is left out."""
    found = {}
    for id in edge["evidence"]["observations"]:
        try:
            item = backend.observation(project, id)
        except NotFoundError:
            continue
        found[id] = item["at"], item["title"] or item["intent"] or "(no title)"
    return found


def _verdict_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add what every verdict takes: the edges, a note, who says so, and the shared options."""
    decorated = note_option(by_option(common_options(pass_invocation(command))))
    return click.argument("edges", type=TEXT, nargs=-1, required=True, metavar="EDGE...")(decorated)


@click.command(
    "confirm",
    short_help="Say that suggested edges are right.",
    epilog="Example: graphmem confirm 8c1f0a2b3d4e5f60 --relation depends_on",
)
@click.option(
    "--relation", type=_RELATION, help="What the first end is to the second; only then the edge is walked."
)
@click.option(
    "--direction",
    type=click.Choice(Direction, case_sensitive=False),
    help="forward: the first end to the second (default); backward: the second to the first; or both.",
)
@click.option("--as-proposed", is_flag=True, help="Take the relation and direction that are proposed.")
@_verdict_options
def confirm_command(
    invocation: Invocation,
    edges: tuple[str, ...],
    relation: Relation | None,
    direction: Direction | None,
    as_proposed: bool,
    note: str,
    by: str | None,
) -> None:
    """Say that edges are right; of several, either all are confirmed or none."""
    if direction is not None and relation is None and not as_proposed:
        raise click.UsageError("--direction needs a --relation, such as --relation depends_on.")
    said = Decision("", VerdictKind.CONFIRM, relation, direction, as_proposed=as_proposed)
    _judge(invocation, edges, said, note, by)


@click.command(
    "reject",
    short_help="Say that suggested edges are wrong.",
    epilog="Example: graphmem reject 8c1f0a2b3d4e5f60 --note 'only named alike'",
)
@_verdict_options
def reject_command(invocation: Invocation, edges: tuple[str, ...], note: str, by: str | None) -> None:
    """Say that edges are wrong; one returns only after its evidence has doubled, and then says so."""
    _judge(invocation, edges, Decision("", VerdictKind.REJECT), note, by)


@click.command(
    "undo",
    short_help="Take the last verdict on edges back.",
    epilog="Example: graphmem undo 8c1f0a2b3d4e5f60",
)
@_verdict_options
def undo_command(invocation: Invocation, edges: tuple[str, ...], note: str, by: str | None) -> None:
    """Take back the last verdict on edges that still counts; again, the one before."""
    _judge(invocation, edges, Decision("", VerdictKind.UNDO), note, by)


@click.command(
    "retire",
    short_help="Say that edges no longer hold.",
    epilog="Example: graphmem retire 8c1f0a2b3d4e5f60 --note 'checkout has its own token now'",
)
@_verdict_options
def retire_command(invocation: Invocation, edges: tuple[str, ...], note: str, by: str | None) -> None:
    """Say that edges held once and no longer do; only undo brings one back."""
    _judge(invocation, edges, Decision("", VerdictKind.RETIRE), note, by)


def _judge(invocation: Invocation, edges: tuple[str, ...], said: Decision, note: str, by: str | None) -> None:
    name = invocation.user() if by is None else by
    with invocation.backend() as backend:
        slug = invocation.choose(backend).slug
        ids = dict.fromkeys(_edge_id(backend, slug, edge) for edge in edges)
        decisions = [replace(said, edge=id, note=note, by=name) for id in ids]
        found = backend.graph.judge(slug, decisions)
    _answer_judged(invocation, found)


@click.command(
    "declare",
    short_help="Say that one node depends on another.",
    epilog="Example: graphmem declare src/checkout/session.ts src/auth/token.ts --relation depends_on",
)
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@click.option("--relation", type=_RELATION, required=True, help="What FROM is to TO.")
@note_option
@by_option
@common_options
@pass_invocation
def declare_command(
    invocation: Invocation, source: str, target: str, relation: Relation, note: str, by: str | None
) -> None:
    """Say that FROM depends on TO (or tests it, documents it, ...), whatever the history shows."""
    name = invocation.user() if by is None else by
    with invocation.backend() as backend:
        project = invocation.choose(backend)
        declared = Declaration(project.node(source), project.node(target), relation, note, name)
        found = backend.graph.declare(project.slug, [declared])
    _answer_judged(invocation, found)


def _answer_judged(invocation: Invocation, found: Shape) -> None:
    def show(screen: Screen) -> None:
        from api.edge_view import show_judged

        show_judged(screen, found["items"])

    invocation.answer(found, show)
