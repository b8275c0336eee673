"""Owns how walks over the graph look to a person: what depends on a node, how two are linked, what ails it.

It is not the answers (`api.schemas_graph`); it takes those shapes as plain data. How one edge looks is
`api.edge_view`'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from shlex import quote
from typing import Any

from rich.text import Text

from api.edge_view import both_names, chance, name_of, show_lack, statement, why_words
from api.screen import Screen, counted, day, percent, worded
from api.terminal_text import clean, one_line

Shape = Mapping[str, Any]
_INDENT = 10


def show_dependents(screen: Screen, found: Shape, edges: Mapping[str, Shape], *, reverse: bool) -> None:
    """Print what depends on a node, or with `reverse` what it depends on; `edges` are those of the ways."""
    named = screen.path(name_of(found["node"]), screen.width - 24, "bold")
    head: tuple[str | Text, ...] = ("What ", named, " depends on") if reverse else ("What depends on ", named)
    screen.line(*head)
    show_completeness(screen, found, "Complete: every relation somebody confirmed was followed.")
    if found["confirmed"]:
        screen.heading("Confirmed")
        screen.grid([_confirmed_row(screen, item, edges) for item in found["confirmed"]], right=0)
    remarks = {
        "linked": ("Linked", "confirmed, but nobody said which way"),
        "likely": ("Likely", "nobody has confirmed it yet"),
        "possible": ("Possible", ""),
    }
    for tier, (title, remark) in remarks.items():
        if found[tier]:
            screen.heading(title, remark)
            screen.grid([_neighbour_row(screen, item) for item in found[tier]])
    if found["likely"] or found["possible"]:
        screen.gap()
        command = f"graphmem edges --node {quote(found['node']['ref'])}"
        screen.line((f"`{one_line(command)}` asks about them.", "dim"))


def show_completeness(screen: Screen, found: Shape, complete: str) -> None:
    """Print whether the answer is complete, and the reason why not, such as a graph that is away."""
    if found["complete"]:
        screen.line((complete, "dim"))
    elif found["reason"]:
        screen.line((f"Not complete: {found['reason'].rstrip('.')}.", "yellow"))
    else:
        screen.line(("Not complete.", "yellow"))


def _confirmed_row(screen: Screen, item: Shape, edges: Mapping[str, Shape]) -> tuple[Text, Text]:
    body = screen.path(name_of(item["node"]), screen.width - _INDENT)
    via = [edges[id] for id in item["via"] if id in edges]
    for edge in via:
        first, second = (one_line(edge[end]["name"]) for end in ("from", "to"))
        body.append(f"\n{statement(edge, first, second)}", "dim")
    return Text(counted(item["hops"], "hop")), body


def _neighbour_row(screen: Screen, item: Shape) -> tuple[Text, Text]:
    body = screen.path(name_of(item["node"]), screen.width - _INDENT)
    why = why_words(item["evidence"], item["kind"])
    return Text(percent(item["probability"])), body.append(f"\n{why}", "dim")


def show_paths(screen: Screen, found: Shape) -> None:
    """Print the ways between two nodes, each step with its why."""
    ends = {"from": found["from"], "to": found["to"]}
    screen.line(both_names(screen, ends, screen.width))
    show_completeness(screen, found, "Complete: these are all ways of up to three steps.")
    for path in found["paths"]:
        strength = f"strength {percent(path['strength'])}" if path["strength"] else ""
        screen.heading(counted(len(path["steps"]), "step"), strength)
        for node, edge in zip(path["nodes"], path["steps"], strict=False):
            screen.line(screen.path(name_of(node), screen.width - 2, "bold"), indent=2)
            _show_step(screen, edge)
        screen.line(screen.path(name_of(path["nodes"][-1]), screen.width - 2, "bold"), indent=2)


def _show_step(screen: Screen, edge: Shape) -> None:
    lines = [why_words(edge["evidence"], edge["kind"])]
    if edge["relation"]:
        lines.insert(0, statement(edge, *(one_line(name_of(edge[end])) for end in ("from", "to"))))
    said = Text("\n".join(clean(line) for line in lines), "dim")
    screen.grid([("", Text(chance(edge), "dim"), said)], right=2)


def show_inferred(screen: Screen, found: Shape) -> None:
    """Print what one run of the inference changed."""
    edges = found["edges"]
    show_lack(screen, found["degraded"])
    screen.facts(
        [
            ("edges new", f"{edges['created']:,}", ""),
            ("edges changed", f"{edges['updated']:,}", ""),
            ("edges let go", f"{edges['retired']:,}", "their evidence has faded" if edges["retired"] else ""),
            ("modules", f"{found['modules']:,}", ""),
        ]
    )
    screen.line((f"in {found['took_ms'] / 1000:.1f} s", "dim"), indent=2)


_HEALTH = {
    "dead_files": (
        ("file is gone, but edges name it", "files are gone, but edges name them"),
        "retire those edges: `graphmem edges --node NODE --status confirmed` lists them",
    ),
    "cycles": (
        ("cycle of confirmed dependencies", "cycles of confirmed dependencies"),
        "break it, or take a verdict back: `graphmem undo EDGE`",
    ),
    "orphans": (
        ("file that no edge touches", "files that no edge touches"),
        "nothing is known to change along with them",
    ),
    "oversized_modules": (
        ("module too large to tell anything", "modules too large to tell anything"),
        "",
    ),
    "stale_edges": (
        (
            "confirmed edge that has lost its evidence or an end",
            "confirmed edges that have lost their evidence or an end",
        ),
        "confirm them again or retire them: `graphmem retire EDGE`",
    ),
    "changed_files": (
        ("file changed much since it was written about", "files changed much since they were written about"),
        "what is remembered of them may no longer hold",
    ),
    "lost_contracts": (
        ("contract that the code names no more", "contracts that the code names no more"),
        "",
    ),
    "outdated_consumers": (
        (
            "file was last seen on a contract that was replaced",
            "files were last seen on contracts that were replaced",
        ),
        "",
    ),
    "apart_edges": (
        (
            "confirmed edge whose ends change without each other",
            "confirmed edges whose ends change without each other",
        ),
        "retire them, or undo and confirm them anew",
    ),
    "off_branch": (
        ("file is not on the checked-out branch", "files are not on the checked-out branch"),
        "",
    ),
}


def show_health(screen: Screen, found: Shape) -> None:
    """Print what deserves a look, with what to do about it."""
    show_lack(screen, found["degraded"])
    drift = found["drift"] or {"counts": {}, "complete": True}
    counts = found["counts"] | drift["counts"]
    if not drift["complete"]:
        screen.line(("The working tree is too large to look for every contract in it.", "yellow"))
    if not any(counts.values()):
        screen.line(worded("ok"), "  Nothing ails the graph.")
        return
    shown = 0
    for part, ((one, more), remedy) in _HEALTH.items():
        if not counts.get(part):
            continue
        if shown:
            screen.gap()
        shown += 1
        screen.line((counted(counts[part], one, more), "bold"))
        if remedy:
            screen.line((remedy, "dim"), indent=2)
        lines = _trouble(screen, part, found[part] if part in found else drift[part])
        for line in lines:
            screen.line(line, indent=2)
        if len(lines) < counts[part]:
            screen.line((f"and {counts[part] - len(lines):,} more", "dim"), indent=2)


def _trouble(screen: Screen, part: str, items: Sequence[Any]) -> list[str | Text]:
    room = screen.width - 2
    match part:
        case "cycles":
            return [" -> ".join(one_line(name_of(node)) for node in (*cycle, cycle[0])) for cycle in items]
        case "oversized_modules":
            return [f"{one_line(item['label'])}  {item['id']}" for item in items]
        case "changed_files":
            return [
                screen.path(item["node"]["name"], room).append(
                    f"\n{counted(item['changes'], 'change')} since {day(item['since'])}", "dim"
                )
                for item in items
            ]
        case "lost_contracts":
            return [f"{one_line(item['name'])}  last named {day(item['last_seen'])}" for item in items]
        case "outdated_consumers":
            return [
                screen.path(item["node"]["name"], room).append(
                    f"\n{one_line(item['contract'])}, now {one_line(item['superseded_by'])}", "dim"
                )
                for item in items
            ]
        case "stale_edges" | "apart_edges":
            return [
                both_names(screen, edge, room).append(f"\n{clean(edge['reason'] or '')}  {edge['id']}", "dim")
                for edge in items
            ]
    return [screen.path(item["name"], room) for item in items]
