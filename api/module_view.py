"""Owns how modules and the digest look to a person.

It is not the answers (`api.schemas_graph`); it takes those shapes as plain data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from api.edge_view import name_of, show_lack
from api.screen import Screen, counted, percent
from api.terminal_text import one_line

Shape = Mapping[str, Any]
_KEY_FILES = 2
_MEMBERS = 40
_LABEL = 28
_ID = 16
_NUMBERS = 3 + len("size") + 3 + len("cohesion") + 3


def show_modules(screen: Screen, page: Shape, nothing: str) -> None:
    """Print a page of modules as a table; `nothing` is said of an empty one."""
    show_lack(screen, page["degraded"])
    if not page["items"]:
        if not page["degraded"]:
            screen.line(nothing)
        return
    module_table(screen, page["items"], ids=True)
    screen.gap()
    if page["unattached"]:
        screen.line((f"{counted(page['unattached'], 'file')} belong to none of them.", "dim"))
    screen.line(("One in full: ", "dim"), "graphmem modules ID")
    if page["next_cursor"]:
        screen.line((f"There is more: add --cursor {page['next_cursor']}", "dim"))


def module_table(screen: Screen, modules: Sequence[Shape], *, ids: bool) -> None:
    """Print modules: label, size, cohesion, the files that stand for them; with `ids` also their ids."""
    labels = [one_line(module["label"]) for module in modules]
    if not screen.whole:
        labels = [
            label if cell_len(label) <= _LABEL else set_cell_size(label, _LABEL - 1) + "…" for label in labels
        ]
    room = screen.width - max(_ID if ids else len("module"), *map(cell_len, labels)) - _NUMBERS
    rows = []
    for module, words in zip(modules, labels, strict=True):
        label = Text(words, "bold")
        if ids:
            label.append(f"\n{module['id']}", "dim not bold")
        files = Text("\n").join(screen.path(path, room) for path in module["key_files"][:_KEY_FILES])
        rows.append((label, f"{module['size']:,}", percent(module["cohesion"]), files))
    screen.table(("module", ">size", ">cohesion", "key files"), rows)


def show_module(screen: Screen, module: Shape, project: str) -> None:
    """Print one module whole."""
    screen.line((one_line(module["label"]), "bold"), (f"  {project}", "dim"))
    inside = f"{percent(module['cohesion'])} of its links stay inside"
    screen.line((f"{counted(module['size'], 'member')}, {inside}", "dim"))
    if module["summary"]:
        screen.gap()
        screen.line(module["summary"])
    key = dict.fromkeys(module["key_files"])
    files = [name_of(node) for node in module["members"] if node["type"] == "file"]
    others = [node for node in module["members"] if node["type"] != "file"]
    _names(screen, "Files", [*key, *(name for name in files if name not in key)])
    _names(screen, "Contracts", module["contracts"])
    if others:
        screen.heading("About")
        screen.line(", ".join(one_line(node["name"]) for node in others), indent=2)
    _names(screen, "Lately", module["recent"])
    screen.gap()
    if module["drift"]:
        changed = f"{percent(module['drift'])} of its members changed since it was summed up"
        screen.line((changed, "dim"))
    part_of = f", part of {module['parent']}" if module["parent"] else ""
    came = f", came from {', '.join(module['lineage'])}" if module["lineage"] else ""
    screen.line((f"id {module['id']}, level {module['level']}{part_of}{came}", "dim"))


def _names(screen: Screen, title: str, names: Sequence[str]) -> None:
    if not names:
        return
    screen.heading(title, f"{len(names):,}" if len(names) > _KEY_FILES else "")
    for name in names[:_MEMBERS]:
        screen.line(one_line(name), indent=2)
    if len(names) > _MEMBERS:
        screen.line((f"and {len(names) - _MEMBERS:,} more", "dim"), indent=2)


def show_overview(screen: Screen, found: Shape, project: str) -> None:
    """Print the digest as an agent gets it, and how many tokens it takes."""
    show_lack(screen, found["degraded"])
    screen.panel(project, found["text"])
    screen.line((f"{counted(found['tokens'], 'token')}, as an agent reads it", "dim"))
