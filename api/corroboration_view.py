"""Owns how corroboration looks to a person: what was read of the code, hidden coupling, silent imports.

It is not the answer (`api.schemas_code`); it takes that shape as plain data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from api.edge_view import both_names, chance, show_lack, why_words
from api.screen import Screen, counted, minute
from api.terminal_text import clean

Shape = Mapping[str, Any]
_INDENT = 8
_COMMIT = 10
_NAMES = {"python": "Python", "javascript": "JavaScript", "typescript": "TypeScript"}


def show_corroboration(screen: Screen, found: Shape) -> None:
    """Print what was read, then the pairs nobody wrote down, then the imports that never change together."""
    show_lack(screen, found["degraded"])
    counts = found["counts"]
    if found["reading"] is None:
        pairs = counted(counts["unknown"], "pair of files changes", "pairs of files change")
        screen.line(f"Nobody has read the code yet, and {pairs} together: run `graphmem corroborate`.")
        return
    _show_reading(screen, found["reading"])
    _show_counts(screen, counts)
    remark = "change together, and neither file imports the other"
    _show_pairs(screen, ("Hidden", remark), found["hidden"], counts["hidden"])
    remark = "the same, where one file is a test"
    _show_pairs(screen, ("Hidden with tests", remark), found["hidden_tests"], counts["hidden_tests"])
    _show_silent(screen, found["silent"], counts["silent"])
    screen.gap()
    screen.line(("What the code says is no evidence: it changes no probability and makes no edge.", "dim"))


def _show_reading(screen: Screen, reading: Shape) -> None:
    files = (counted(count, f"{_NAMES.get(name, name)} file") for name, count in reading["read"].items())
    read = " and ".join(files) or "no file"
    at = f" at {clean(reading['commit'][:_COMMIT])}" if reading["commit"] else ""
    screen.line((f"{counted(reading['imports'], 'import')}", "bold"), f" in {read}")
    screen.line((f"read {minute(reading['at'])}{at}, {reading['took_ms'] / 1000:.1f} s", "dim"), indent=2)
    if reading["unread"]:
        why = ", ".join(f"{count:,} {clean(reason)}" for reason, count in reading["unread"].items())
        screen.line((f"not read: {why}", "dim"), indent=2)
    if reading["stale"]:
        screen.line((f"Stale: {clean(reading['stale'])}. `graphmem corroborate` reads it anew.", "yellow"))


def _show_counts(screen: Screen, counts: Shape) -> None:
    screen.gap()
    screen.facts(
        [
            ("seen in the code", f"{counts['seen']:,}", "one file imports the other"),
            ("hidden", f"{counts['hidden'] + counts['hidden_tests']:,}", "no import between them"),
            ("unknown", f"{counts['unknown']:,}", "of a language that is not read"),
            *([("noise", f"{counts['noise']:,}", "lock or generated files")] if counts["noise"] else []),
        ]
    )


def _show_pairs(screen: Screen, title: tuple[str, str], edges: Sequence[Shape], count: int) -> None:
    if not count:
        return
    screen.heading(*title)
    screen.grid([(Text(chance(edge)), _pair(screen, edge)) for edge in edges])
    _show_rest(screen, len(edges), count)


def _pair(screen: Screen, edge: Shape) -> Text:
    text = both_names(screen, edge, screen.width - _INDENT)
    return text.append(f"\n{why_words(edge['evidence'], edge['kind'])}\n{clean(edge['id'])}", "dim")


def _show_silent(screen: Screen, imports: Sequence[Shape], count: int) -> None:
    if not count:
        return
    screen.heading("Silent imports", "never changed together")
    rows = []
    for item in imports:
        ends = [screen.path(item[end], screen.width - _INDENT) for end in ("importer", "imported")]
        changes = f"changed {counted(item['importer_changes'], 'time')} and {item['imported_changes']:,}"
        rows.append(("", Text.assemble(ends[0], ("\nimports ", "dim"), ends[1], (f"\n{changes}", "dim"))))
    screen.grid(rows, right=0)
    _show_rest(screen, len(imports), count)


def _show_rest(screen: Screen, shown: int, count: int) -> None:
    if shown < count:
        screen.line((f"and {count - shown:,} more", "dim"), indent=2)
