"""Owns how an impact answer looks to a person: the agent's alert in a frame, the files with their evidence.

It is not the answer (`api.schemas.ImpactOut`); it takes that shape as plain data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from api.screen import Screen, counted, day, evidence_words, minute, percent, worded

Shape = Mapping[str, Any]
_SHOWN = 5
_INDENT = 21


def show_impact(screen: Screen, answer: Shape, project: str) -> None:
    """Print the whole answer."""
    paths = [answer["path"]] if answer["path"] else list(answer["paths"])
    for path in paths:
        screen.line(
            screen.path(path, screen.width - 30, "bold"), "  ", worded(answer["status"]), _dim(f"  {project}")
        )
    if answer["status"] != "known":
        screen.line(answer["reason"] or "No reason was given.")
    screen.gap()
    show_alert(screen, answer)
    show_affected(screen, answer["affected"])
    _show_next(screen, answer["next"])
    _show_active(screen, answer["active"])
    _show_recent(screen, answer["recent"])
    _show_contracts(screen, answer["contracts"])


def show_alert(screen: Screen, answer: Shape) -> None:
    """Print exactly what an agent is told, or why it is told nothing."""
    if answer["warning"]:
        screen.panel("What an agent is told before this edit", answer["warning"])
    elif answer["status"] == "known":
        screen.line(
            _dim("An agent is told nothing here: no other file is likely enough to need a change too.")
        )
    else:
        screen.line(_dim(f"An agent is told nothing here: {answer['status']} is not the same as safe."))


def show_affected(screen: Screen, affected: Sequence[Shape]) -> None:
    """Print the affected files, the likeliest first."""
    if not affected:
        return
    screen.heading("Files that may need a change too")
    screen.grid([_affected_row(screen, item) for item in affected])


def _affected_row(screen: Screen, item: Shape) -> tuple[Text, Text, Text]:
    body = screen.path(item["path"], screen.width - _INDENT)
    why = evidence_words(item["evidence"], item["signals"])
    if item["relation"]:
        why = f"{item['relation']} ({item['direction']}); {why}"
    if item["noise"]:
        why += f"; {item['noise']}"
    return Text(percent(item["probability"])), worded(item["tier"]), body.append(f"\n{why}", "dim")


def _show_next(screen: Screen, files: Sequence[Shape]) -> None:
    if not files:
        return
    screen.heading("What usually comes next")
    screen.grid(
        (Text(percent(item["probability"])), screen.path(item["path"], screen.width - 12))
        for item in files[:_SHOWN]
    )


def _show_active(screen: Screen, active: Sequence[Shape]) -> None:
    if not active:
        return
    screen.heading("In somebody's hands right now")
    for item in active[:_SHOWN]:
        who = item["actor"] or "somebody"
        screen.line(
            f"{who}, {item['path']}", _dim(f"  {minute(item['at'])}, session {item['session']}"), indent=2
        )


def _show_recent(screen: Screen, recent: Shape) -> None:
    if not recent["sessions"]:
        return
    remark = f"{recent['window_days']} days, {counted(recent['sessions'], 'session')}"
    screen.heading("Lately this was about", remark)
    for item in recent["domains"][:_SHOWN]:
        sessions = counted(item["sessions"], "session")
        screen.line(item["concept"], _dim(f"  {sessions}, last {day(item['last_seen'])}"), indent=2)
    for item in recent["observations"][:3]:
        screen.line(_dim(f"{day(item['at'])}  "), item["title"], indent=2)


def _show_contracts(screen: Screen, contracts: Sequence[Shape]) -> None:
    if not contracts:
        return
    screen.heading("Contracts at stake")
    for item in contracts:
        newer = f"  superseded by {item['superseded_by']}" if item["superseded_by"] else ""
        used = f"  used by {', '.join(item['used_by'])}" if item["used_by"] else ""
        screen.line(item["name"], (newer, "yellow"), _dim(f"{used}  last {day(item['last_seen'])}"), indent=2)


def _dim(words: str) -> tuple[str, str]:
    return words, "dim"
