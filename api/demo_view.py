"""Owns how the demo looks: each part on about one screen of 80 columns.

It is not the choice of what is shown (`api.demo`).
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from api.backend import Shape
from api.demo import Part, Showing
from api.edge_view import both_names, name_of, statement, why_words
from api.impact_view import affected_row
from api.screen import Screen, counted, percent
from api.terminal_text import one_line

_NEAREST = 3


def show_part(screen: Screen, part: Part) -> None:
    """Print one part of the demo."""
    screen.heading(part.title)
    found = part.showing
    if found is None:
        screen.line(part.sentence, indent=2)
        return
    report = found.report
    taken = counted(report["accepted"], "commit" if report["source"] == "git" else "observation")
    known = f"{counted(found.sessions, 'session')}, {counted(found.files, 'file')}"
    screen.line(f"{taken}, {known}", (f"  in {report['took_ms'] / 1000:.1f} s", "dim"), indent=2)
    for item in report["left_out"]:
        screen.line((f"{counted(item['count'], 'file')} left out: {item['reason']}", "dim"), indent=2)
    for remark in report["remarks"]:
        screen.line((remark, "dim"), indent=2)
    screen.gap()
    if found.answer is None:
        screen.line("Little history yet: no two files have changed together often enough.", indent=2)
        return
    _show_alert(screen, found.answer)
    _show_edges(screen, found)
    _show_use(screen, found)
    _show_modules(screen, found.modules)
    if found.overview:
        screen.gap()
        screen.line("The project, as a new session is told", indent=2)
        screen.panel("", found.overview["text"], indent=2)


def _show_alert(screen: Screen, answer: Shape) -> None:
    file = screen.path(answer["path"], screen.width - 40, "bold")
    if answer["warning"]:
        screen.line("Before an edit of ", file, " an agent is told:", indent=2)
        screen.panel("", answer["warning"], indent=2)
        return
    screen.line("Before an edit of ", file, " an agent is told nothing:", indent=2)
    likely = any(item["tier"] != "possible" for item in answer["affected"][:_NEAREST])
    reason = "what is likely was seen in one session only" if likely else "no file is linked strongly enough"
    screen.line(f"{reason}. The nearest ones:", indent=2)
    screen.grid([affected_row(screen, item) for item in answer["affected"][:_NEAREST]])


def _show_edges(screen: Screen, found: Showing) -> None:
    screen.gap()
    if not found.edges:
        few = "this history is one session" if found.sessions == 1 else "no two files have that yet"
        screen.line(f"It asks nothing yet: a question needs two sessions, and {few}.", indent=2)
        return
    screen.line("It asks: do these belong together?", indent=2)
    room = screen.width - 9
    screen.grid(
        (
            Text(percent(edge["probability"])),
            both_names(screen, edge, room).append(f"\n{why_words(edge['evidence'], edge['kind'])}", "dim"),
        )
        for edge in found.edges
    )


def _show_use(screen: Screen, found: Showing) -> None:
    """Print the edge that was confirmed, and the answer that is exact since."""
    if found.confirmed is None or found.dependents is None:
        return
    first, second = (one_line(name_of(found.confirmed[end])) for end in ("from", "to"))
    screen.gap()
    screen.line("Somebody says yes: ", (statement(found.confirmed, first, second), "bold"), indent=2)
    node = screen.path(name_of(found.dependents["node"]), screen.width - 40, "bold")
    screen.line("What depends on ", node, ", from then on:", indent=2)
    rows = [("confirmed", item["node"]) for item in found.dependents["confirmed"]]
    guessed = [*found.dependents["likely"], *found.dependents["possible"]]
    rows += [(percent(item["probability"]), item["node"]) for item in guessed]
    screen.grid([(Text(how), screen.path(name_of(item), screen.width - 15)) for how, item in rows[:_NEAREST]])


def _show_modules(screen: Screen, modules: Sequence[Shape]) -> None:
    if not modules:
        return
    screen.gap()
    screen.line("Modules that emerged from the work", indent=2)
    room = screen.width - 2 - max(cell_len(one_line(module["label"])) for module in modules) - 18
    screen.grid(
        (
            (
                Text(one_line(module["label"]), "bold"),
                Text(counted(module["size"], "member")),
                screen.path((module["key_files"] or [""])[0], max(room, 20), "dim"),
            )
            for module in modules
        ),
        right=0,
    )
