"""Owns how answers are printed for a person: width, colours, shortened paths, plain tables and lists.

It is not the answers themselves (HTTP's shapes, see `api.schemas`), nor any one command's layout. Colours
and shortening are for terminals; into a pipe or a file everything goes whole. No meaning lies in colours.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from api.terminal_text import clean, one_line

WIDEST = 100
_UNSHORTENED = 4_000
# Blanks at a line's end, among the codes that end a colour.
_TRAILING = re.compile(r" (?: |\x1b\[[0-9;]*m)*$")
_STYLES = {
    "confirmed": "bold green",
    "likely": "bold yellow",
    "possible": "dim",
    "known": "green",
    "unknown": "yellow",
    "gone": "magenta",
    "ok": "green",
    "warning": "yellow",
    "problem": "bold red",
}


class Screen:
    """Standard output for a person; `width` in columns."""

    def __init__(self) -> None:
        columns = shutil.get_terminal_size((0, 0)).columns
        self.whole = columns == 0
        self.width = min(columns or 80, WIDEST)
        self.console = Console(highlight=False, width=_UNSHORTENED if self.whole else self.width)

    def line(self, *parts: str | Text | tuple[str, str], indent: int = 0) -> None:
        """Print one paragraph made of texts and (text, style) pairs; wrapped lines keep the indent."""
        text = Text()
        for part in parts:
            match part:
                case (words, style):
                    text.append(clean(words), style)
                case Text():
                    text.append_text(part)
                case _:
                    text.append(clean(part))
        if indent:
            grid = Table.grid(padding=0)
            grid.add_column(width=indent)
            grid.add_column(overflow="fold")
            grid.add_row("", text)
            self._print(grid)
        else:
            self._print(text)

    def entry(self, when: str, title: str, *details: str | Text) -> None:
        """Print one thing of a list: its time, its title, and below the title a line for each detail."""
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        table.add_row(Text(when, "dim"), Text(one_line(title), "bold"))
        for detail in details:
            table.add_row("", Text(one_line(detail), "dim") if isinstance(detail, str) else detail)
        self._print(table)

    def gap(self) -> None:
        """Print an empty line."""
        self._print("")

    def heading(self, words: str, remark: str = "") -> None:
        """Print a section's title after an empty line."""
        self.gap()
        self.line((words, "bold"), (f"  {remark}" if remark else "", "dim"))

    def panel(self, title: str, body: str, *, indent: int = 0) -> None:
        """Print a text that is quoted exactly, in a frame."""
        frame = Panel(
            Text(clean(body)),
            title=Text(title) if title else None,
            title_align="left",
            border_style="yellow",
            width=self.width - indent,
        )
        self._print(Padding(frame, (0, 0, 0, indent), expand=False))

    def table(self, headings: Sequence[str], rows: Iterable[Sequence[str | Text]], *, fold: int = -1) -> None:
        """Print a table; `fold` is the column that gives way when the screen is narrow."""
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
        flexible = fold % len(headings)
        for index, heading in enumerate(headings):
            number = heading.startswith(">")
            table.add_column(
                heading.removeprefix(">"),
                justify="right" if number else "left",
                overflow="fold",
                no_wrap=index != flexible,
                min_width=12 if index == flexible else None,
            )
        for row in rows:
            table.add_row(*(Text(clean(cell)) if isinstance(cell, str) else cell for cell in row))
        self._print(table)

    def facts(self, rows: Iterable[Sequence[str | Text]]) -> None:
        """Print rows of a name, a value and a remark, without lines."""
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(width=0)
        table.add_column(no_wrap=True)
        table.add_column(justify="right", no_wrap=True)
        table.add_column(overflow="fold", style="dim")
        for row in rows:
            table.add_row("", *(Text(clean(cell)) if isinstance(cell, str) else cell for cell in row))
        self._print(table)

    def grid(self, rows: Iterable[Sequence[RenderableType]], *, right: int = 1) -> None:
        """Print rows without lines, indented; the first `right` columns are set right."""
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(width=0)
        width = None
        for row in rows:
            if width is None:
                width = len(row)
                for index in range(width):
                    last = index == width - 1
                    table.add_column(
                        justify="right" if index < right else "left", overflow="fold", no_wrap=not last
                    )
            table.add_row("", *row)
        self._print(table)

    def _print(self, what: RenderableType) -> None:
        with self.console.capture() as caught:
            self.console.print(what)
        lines = (_TRAILING.sub(_without_blanks, line) for line in caught.get().splitlines())
        self.console.file.write("".join(line + "\n" for line in lines) or "\n")

    def path(self, path: str, cells: int | None = None, style: str = "") -> Text:
        """Return a path that fits into `cells` columns, shortened in the middle where that is needed."""
        shown = one_line(path)
        return Text(shown if self.whole else shortened(shown, cells or self.width), style)


def _without_blanks(found: re.Match[str]) -> str:
    return found[0].replace(" ", "")


def shortened(path: str, cells: int) -> str:
    """Return `path` in at most `cells` columns; its first folder and its end stay readable."""
    if cell_len(path) <= cells:
        return path
    folders = path.split("/")
    for kept in range(len(folders) - 1, 0, -1):
        for head in ([folders[0], "…"], ["…"]):
            candidate = "/".join([*head, *folders[-kept:]])
            if kept < len(folders) - len(head) + 1 and cell_len(candidate) <= cells:
                return candidate
    left = set_cell_size(path, max(1, (cells - 1) // 3)).rstrip()
    tail = path
    while tail and cell_len(tail) > cells - 1 - cell_len(left):
        tail = tail[1:]
    return f"{left}…{tail}"


def worded(status: str) -> Text:
    """Return a status or tier word in its colour."""
    return Text(status, _STYLES.get(status, ""))


def percent(probability: float) -> str:
    """Return a probability as whole percent; nothing short of certain is shown as 100, nor a chance as 0."""
    return (
        f"{min(99, max(1, round(probability * 100))) if 0 < probability < 1 else round(probability * 100)} %"
    )


def counted(number: int, thing: str, things: str | None = None) -> str:
    """Return a number with its noun: `1 file`, `1,204 files`."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def day(instant: str | None) -> str:
    """Return the date of an ISO 8601 time, or `never`."""
    return instant[:10] if instant else "never"


def minute(instant: str | None) -> str:
    """Return date and time of an ISO 8601 time to the minute, in UTC, or `never`."""
    return instant[:16].replace("T", " ") if instant else "never"


def size(count: int) -> str:
    """Return a size in bytes for a person."""
    number = float(count)
    for unit in ("bytes", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "bytes" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"


def evidence_words(evidence: Mapping[str, Any], signals: Sequence[str] = ()) -> str:
    """Return why two files belong together, such as `7 of 9 times, 5 sessions, last 2026-05-01`.

    Of a file without any history nothing else could be told than what else speaks for the other one.
    """
    also = [words for signal, words in _ALSO.items() if signal in signals] or [
        words for signal, words in _AT_LEAST.items() if signal in signals and not evidence["together"]
    ]
    if not evidence["together"]:
        if also and not evidence["of"]:
            return ", ".join(also)
        return "never changed together" + (f"; but {', '.join(also)}" if also else "")
    words = (
        f"{evidence['together']} of {counted(evidence['of'], 'time')}, "
        f"{counted(evidence['sessions'], 'session')}, last {day(evidence['last_seen'])}"
    )
    return words + (f"; also {', '.join(also)}" if also else "")


_ALSO = {
    "read_for": "read before",
    "followed_by": "changed next",
    "about": "same subject",
    "task": "past work told in the task's words",
    "in_hand": "in hand lately",
    "named_alike": "named alike",
    "same_folder": "same folder",
}
_AT_LEAST = {"near_folder": "changed with that folder"}
