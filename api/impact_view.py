"""Owns how an impact answer looks to a person: the agent's alert in a frame, the files with their evidence.

It is not the answer (`api.schemas.ImpactOut`); it takes that shape as plain data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from api.edge_view import name_of, relation_words, statement
from api.screen import Screen, counted, day, evidence_words, minute, percent, worded
from api.terminal_text import clean, one_line

Shape = Mapping[str, Any]
_WORTH_A_LINE = 0.05
_SHOWN = 5
_NEGLIGIBLE = 0.05
_INDENT = 19


def show_impact(screen: Screen, answer: Shape, project: str, edges: Mapping[str, Shape]) -> None:
    """Print the whole answer; `edges` holds those with a relation, by id, as only they tell its direction."""
    _show_asked(screen, answer, project)
    if answer["module"]:
        screen.line(("in the module ", "dim"), one_line(answer["module"]["label"]))
    if answer["reason"]:
        is_part = len(answer["paths"]) > 1 and answer["status"] == "known"
        lead = "Not all is known" if is_part else answer["status"].capitalize()
        screen.line(f"{lead}: {answer['reason'].rstrip('.')}.")
    screen.gap()
    _show_alert(screen, answer)
    _show_affected(screen, answer["affected"], edges, answer["status"])
    _show_next(screen, answer["next"])
    _show_active(screen, answer["active"])
    _show_recent(screen, answer["recent"])
    _show_contracts(screen, answer["contracts"])


def _show_asked(screen: Screen, answer: Shape, project: str) -> None:
    """Print the files asked about; the status of several is that of the set, so it stands beside none."""
    paths = [answer["path"]] if answer["path"] else answer["paths"]
    standing = ("  ", worded(answer["status"]), (f"  {project}", "dim"))
    for path in paths:
        named = screen.path(path, screen.width - 20, "bold")
        screen.line(named, *(standing if len(paths) == 1 else ()))
    if len(paths) > 1:
        screen.line("as one change", *standing)


def _show_alert(screen: Screen, answer: Shape) -> None:
    """Print exactly what an agent is told, or why it is told nothing."""
    if answer["warning"]:
        screen.panel("What an agent is told before this edit", answer["warning"])
    elif answer["status"] == "known":
        screen.line(("An agent is told nothing here: no other file is likely enough.", "dim"))
    else:
        screen.line((f"An agent is told nothing here; {answer['status']} is not the same as safe.", "dim"))


def _show_affected(
    screen: Screen, affected: Sequence[Shape], edges: Mapping[str, Shape], status: str
) -> None:
    """Print the affected files, the surest first; a tail of negligible ones is only counted."""
    if not affected:
        return
    worth = [item for item in affected if _is_worth_a_line(item)] or list(affected[:_SHOWN])
    is_new = not any(item["evidence"]["of"] for item in affected) and status == "unknown"
    screen.heading(
        "Files that may need a change too", "by name, folder and task, without a history" if is_new else ""
    )
    screen.grid([affected_row(screen, item, edges) for item in worth])
    if len(worth) < len(affected):
        rest = counted(len(affected) - len(worth), "more file")
        screen.line((f"and {rest} below {percent(_NEGLIGIBLE)}", "dim"), indent=2)


def _is_worth_a_line(item: Shape) -> bool:
    return bool(item["tier"] == "confirmed" or item["probability"] >= _NEGLIGIBLE)


def affected_row(
    screen: Screen, item: Shape, edges: Mapping[str, Shape] | None = None
) -> tuple[Text, Text, Text]:
    """Return one affected file as a row: probability, tier, and the path above what is known of it."""
    body = screen.path(item["path"], screen.width - _INDENT)
    edge = (edges or {}).get(item["edge_id"])
    if edge:
        first, second = (one_line(name_of(edge[end])) for end in ("from", "to"))
        body.append(f"\n{statement(edge, first, second)}")
    elif item["relation"]:
        body.append(f"\n{relation_words(item['relation'])}")
    why = evidence_words(item["evidence"], item["signals"])
    if item["noise"]:
        why += f"; {item['noise']}"
    if item["read"]:
        why += "; read already"
    return Text(percent(item["probability"])), worded(item["tier"]), body.append(f"\n{why}", "dim")


def _show_next(screen: Screen, files: Sequence[Shape]) -> None:
    likely = [item for item in files[:_SHOWN] if item["probability"] >= _WORTH_A_LINE]
    if not likely:
        return
    screen.heading("What usually comes next")
    screen.grid(
        [(Text(percent(item["probability"])), screen.path(item["path"], screen.width - 9)) for item in likely]
    )


def _show_active(screen: Screen, active: Sequence[Shape]) -> None:
    if not active:
        return
    screen.heading("In somebody's hands lately")
    rows = []
    for item in active[:_SHOWN]:
        who = f"{item['actor'] or 'somebody'}, {minute(item['at'])}, session {item['session']}"
        named = screen.path(item["path"], screen.width - 4)
        rows.append([named.append(f"\n{clean(who)}", "dim")])
    screen.grid(rows, right=0)


def _show_recent(screen: Screen, recent: Shape) -> None:
    if not recent["sessions"]:
        return
    remark = f"in the last {recent['window_days']} days, {counted(recent['sessions'], 'session')}"
    screen.heading("What this was about", remark)
    screen.grid(
        [
            (clean(item["concept"]), _seen(counted(item["sessions"], "session"), item["last_seen"]))
            for item in recent["domains"][:_SHOWN]
        ],
        right=0,
    )
    screen.grid(
        [
            (Text(day(item["at"]), "dim"), Text(one_line(item["title"])))
            for item in recent["observations"][:3]
        ],
        right=0,
    )


def _show_contracts(screen: Screen, contracts: Sequence[Shape]) -> None:
    if not contracts:
        return
    screen.heading("Contracts at stake")
    rows = []
    for item in contracts[:_SHOWN]:
        name = Text(clean(item["name"]))
        if item["superseded_by"]:
            name.append(f"  superseded by {clean(item['superseded_by'])}", "yellow")
        used = f"used by {', '.join(item['used_by'])}" if item["used_by"] else "used by nobody in particular"
        rows.append([name.append(f"\n{clean(used)}, last {day(item['last_seen'])}", "dim")])
    screen.grid(rows, right=0)


def _seen(sessions: str, last: str) -> Text:
    return Text(f"{sessions}, last {day(last)}", "dim")
