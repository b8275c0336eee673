"""Owns how the answer to a question in words is shown: a list, or the packed context as it is.

It is not the command (`api.cli_search`). What no longer holds is never shown without what took its place.
"""

from __future__ import annotations

from rich.text import Text

from api.backend import Shape
from api.screen import Screen, day
from api.terminal_text import one_line


def show_context(screen: Screen, found: Shape) -> None:
    """Print the packed context, and nothing when nothing is told."""
    if found["context"]:
        screen.console.print(Text(found["context"]), soft_wrap=True)


def show_search(screen: Screen, found: Shape, nothing: str) -> None:
    """Print results, best first; `nothing` is said where there are none."""
    if not found["results"]:
        screen.line(nothing)
    for item in found["results"]:
        screen.entry(*_heading(item), *_details(item))


def _heading(item: Shape) -> tuple[str, str]:
    when = "" if item["at"] is None else day(item["at"])
    return when, item["title"] or "(no title)"


def _details(item: Shape) -> list[str | Text]:
    shown: list[str | Text] = []
    if item["text"] and item["text"] != item["title"]:
        shown.append(_standing(item["text"], item["status"], item["superseded_by"]))
    elif item["status"] != "current":
        shown.append(_standing("", item["status"], item["superseded_by"]))
    shown += [
        _standing(piece["text"], piece["status"], piece["superseded_by"]) for piece in item["pieces"][:3]
    ]
    if item["via"]:
        steps = " > ".join([item["via"][0]["from"], *(hop["to"] for hop in item["via"])])
        shown.append(f"by way of {steps}")
    source = "" if item["source"] is None else f", {item['source']}"
    flags = "".join(f", {flag}" for flag in item["flags"])
    shown.append(f"{item['kind']}{source}, id {item['id']}{flags}")
    if item["explain"]:
        parts = ", ".join(f"{name} {value:g}" for name, value in item["explain"].items())
        shown.append(f"score {item['score']:g}: {parts}")
    return shown


def _standing(text: str, status: str, successor: str | None) -> Text:
    """Return a statement with what is to be known of it, in words as well as in colour."""
    line = Text(one_line(text))
    match status:
        case "superseded":
            line.append(f"  (superseded by {successor})" if successor else "  (superseded)", "yellow")
            line.stylize("dim", 0, len(text))
        case "tentative":
            line.append("  (tentative)", "yellow")
    return line
