"""Owns the commands that list what is stored: projects, observations, sessions, stats.

It is not the questions about a change (`api.cli_impact`) nor the text search (`api.cli_search`).
"""

from __future__ import annotations

from typing import Any

import click

from api.backend import ObservationQuestion, Shape
from api.invocation import Invocation, common_options, pass_invocation
from api.option_types import INSTANT, TEXT, limit_option
from api.screen import Screen, counted, day, minute, size
from api.terminal_text import one_line
from graphmem.model import SESSION_FILES
from graphmem.turns.titles import shortened

_LONGEST_AIM = 200

cursor_option = click.option(
    "--cursor", type=TEXT, metavar="TEXT", help="Go on where the last answer's next_cursor says."
)


@click.command("projects", epilog="Example: graphmem projects --json")
@common_options
@pass_invocation
def projects_command(invocation: Invocation) -> None:
    """List the projects GraphMem knows."""
    with invocation.backend() as backend:
        page = backend.projects()
    return invocation.answer(page, lambda screen: _list_projects(screen, page))


def _list_projects(screen: Screen, page: Shape) -> None:
    if not page["items"]:
        return screen.line("No project yet: run `graphmem import git .` inside a repository.")
    half = screen.width // 2
    rows = (
        (item["slug"], f"{item['observations']:,}", day(item["created_at"]), screen.path(item["root"], half))
        for item in page["items"]
    )
    return screen.table(("project", ">observations", "since", "root"), rows)


@click.command(
    "observations",
    short_help="List what was done, newest first.",
    epilog="Example: graphmem observations --file src/app.py --limit 5",
)
@click.argument("id", type=TEXT, required=False)
@click.option("--file", metavar="PATH", help="Only those that touched this file.")
@click.option("--concept", type=TEXT, metavar="WORD", help="Only those about this concept.")
@click.option("--session", type=TEXT, metavar="ID", help="Only those of this session.")
@click.option("--type", type=TEXT, metavar="WORD", help="Only those of this type.")
@click.option("--since", type=INSTANT, metavar="TIME", help="Only from this time on (ISO 8601).")
@click.option("--until", type=INSTANT, metavar="TIME", help="Only before this time (ISO 8601).")
@click.option("--as-of", type=INSTANT, metavar="TIME", help="Only what was known then (ISO 8601).")
@limit_option(20)
@cursor_option
@common_options
@pass_invocation
def observations_command(invocation: Invocation, /, id: str | None, **filters: Any) -> None:
    """List what was done, newest first; with ID show that one whole."""
    with invocation.backend() as backend:
        project = invocation.choose(backend)
        if id is not None:
            found = backend.observation(project.slug, id)
            return invocation.answer(found, lambda screen: _show_observation(screen, found))
        file = filters.pop("file")
        where = ObservationQuestion(file=project.path(file) if file else None, **filters)
        page = backend.observations(project.slug, where)
    return invocation.answer(page, lambda screen: _list_observations(screen, page))


def _list_observations(screen: Screen, page: Shape) -> None:
    if not page["items"]:
        screen.line("Nothing of that kind is stored.")
    for item in page["items"]:
        touched = [*item["files_modified"], *item["files_deleted"], *(move["to"] for move in item["renames"])]
        title = item["title"] or item["intent"] or "(no title)"
        files = f"{', '.join(touched[:2])}{f' and {len(touched) - 2:,} more' if len(touched) > 2 else ''}"
        did = f"{item['actor'] or 'somebody'}, {files or 'no file changed'}"
        screen.entry(minute(item["at"]), title, did, f"id {item['id']}")
    _show_cursor(screen, page)


def _show_observation(screen: Screen, item: Shape) -> None:
    screen.line((one_line(item["title"] or "(no title)"), "bold"))
    who = f"{item['actor'] or 'somebody'} by {item['source']}, {item['type']}, session {item['session']}"
    screen.line((f"{minute(item['at'])}  {who}", "dim"))
    for words in (item["intent"], item["narrative"]):
        if words:
            screen.gap()
            screen.line(words)
    if item["facts"]:
        screen.heading("Facts")
        for fact in item["facts"]:
            state = f" ({fact['state']})" if fact["state"] else ""
            screen.line((f"{fact['kind']}{state}  ", "dim"), fact["text"], indent=2)
    moves = [f"{move['from']} -> {move['to']}" for move in item["renames"]]
    changed = (("Changed", item["files_modified"]), ("Renamed", moves), ("Deleted", item["files_deleted"]))
    for title, files in (*changed, ("Read", item["files_read"])):
        if files:
            screen.heading(title)
            for file in files:
                screen.line(one_line(file), indent=2)
    if item["concepts"]:
        screen.heading("About")
        screen.line(", ".join(item["concepts"]), indent=2)
    if item["verdicts"]:
        screen.heading("Verdicts")
        for said in item["verdicts"]:
            words = "kept" if said["verdict"] == "confirm" else "taken back"
            screen.entry(minute(said["at"]), f"{words} by {said['by'] or 'somebody'}", one_line(said["note"]))
    screen.gap()
    screen.line((f"id {item['id']}", "dim"), ("  kept", "dim") if item["confirmed"] else "")


@click.command(
    "sessions",
    short_help="List the sessions, most recent first.",
    epilog="Example: graphmem sessions --limit 5",
)
@click.argument("id", type=TEXT, required=False)
@limit_option(20)
@cursor_option
@common_options
@pass_invocation
def sessions_command(invocation: Invocation, id: str | None, limit: int, cursor: str | None) -> None:
    """List the sessions, most recent first; with ID show what that one did and left open."""
    with invocation.backend() as backend:
        project = invocation.choose(backend)
        if id is not None:
            found = backend.session(project.slug, id)
            return invocation.answer(found, lambda screen: _show_session(screen, found))
        page = backend.sessions(project.slug, limit, cursor)
    return invocation.answer(page, lambda screen: _list_sessions(screen, page))


def _list_sessions(screen: Screen, page: Shape) -> None:
    if not page["items"]:
        screen.line("No session is stored.")
    for item in page["items"]:
        more = " or more" if len(item["files"]) >= SESSION_FILES else ""
        did = f"{counted(item['observations'], 'observation')}, {counted(len(item['files']), 'file')}{more}"
        who = f"{item['actor'] or 'somebody'}, {did}, session {item['id']}"
        screen.entry(minute(item["started_at"]), _aim(item), who)
    _show_cursor(screen, page)


def _aim(session: Shape) -> str:
    """Return what a session set out to do; a prompt may be a whole plan, of which the beginning will do."""
    aim: str = session["set_out"] or "(nothing said)"
    return aim if len(aim) <= _LONGEST_AIM else shortened(" ".join(aim.split()), _LONGEST_AIM)


def _show_session(screen: Screen, item: Shape) -> None:
    screen.line((one_line(item["set_out"] or "(nothing said)"), "bold"))
    who = f"{item['actor'] or 'somebody'} by {item['source']}, session {item['id']}"
    screen.line((f"{minute(item['started_at'])} to {minute(item['ended_at'])}  {who}", "dim"))
    for title, lines in (("Done", item["done"]), ("Left open", item["left_open"]), ("Files", item["files"])):
        if lines:
            screen.heading(title)
            for line in lines:
                screen.line(one_line(line), indent=2)


def _show_cursor(screen: Screen, page: Shape) -> None:
    if page["next_cursor"]:
        screen.gap()
        screen.line((f"There is more: add --cursor {page['next_cursor']}", "dim"))


@click.command("stats", epilog="Example: graphmem stats --project shop")
@common_options
@pass_invocation
def stats_command(invocation: Invocation) -> None:
    """Count what is stored of a project, and how large it is."""
    with invocation.backend() as backend:
        project = invocation.choose(backend)
        found = backend.stats(project.slug)
    return invocation.answer(found, lambda screen: _show_stats(screen, found, project.slug))


def _turned_out(notes: Shape) -> str:
    """Return what became of the notes, in words."""
    if not notes["given"]:
        return ""
    taken = f"{notes['helped']:,} taken up ({notes['opened']:,} opened, {notes['changed']:,} changed)"
    return f"{taken}; {counted(notes['missed'], 'turn')} changed a file none had named"


def _show_stats(screen: Screen, found: Shape, slug: str) -> None:
    between = (
        f"{day(found['first_at'])} to {day(found['last_at'])}" if found["last_at"] else "nothing stored yet"
    )
    screen.line((slug, "bold"), (f"  {between}", "dim"))
    gone, noise = f"{found['files_gone']:,} gone", f"{found['noise_files']:,} damped as noise"
    bulk = f"{found['bulk_observations']:,} too large to link files"
    rows = (
        ("observations", f"{found['observations']:,}", bulk if found["bulk_observations"] else ""),
        ("sessions", f"{found['sessions']:,}", ""),
        ("files", f"{found['files']:,}", f"{gone}, {noise}"),
        ("concepts", f"{found['concepts']:,}", ""),
        ("contracts", f"{found['contracts']:,}", ""),
        ("notes given", f"{found['alerts_given']:,}", _turned_out(found["notes"])),
        ("told unasked", f"{found['tokens_injected']:,} tokens", ""),
        ("kept out", f"{sum(found['redacted'].values()):,}", ", ".join(found["redacted"])),
        (
            "on disk",
            size(found["journal_bytes"] + found["derived_bytes"] + found["vectors"]["bytes"]),
            f"{size(found['journal_bytes'])} journal",
        ),
        ("behind", f"{found['behind']:,}", "observations not yet in the answers" if found["behind"] else ""),
    )
    screen.facts(rows)
