"""Owns the kinds of option values that commands share: texts, times, ports, limits.

It is not the options every command has (`api.invocation`), nor HTTP's parameters (`api.parameters`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

from graphmem.instant import from_iso, to_iso

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
MOST = 200


def text_argument(argument: str) -> str:
    """Return an argument as text: bytes that are not UTF-8 become backslash escapes, as in stored paths."""
    return os.fsencode(argument).decode("utf-8", "backslashreplace")


class TextType(click.ParamType[str]):
    """Any text; what the shell passes on need not be UTF-8."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text, in a form that can be stored and sent."""
        return text_argument(value)


class InstantType(click.ParamType[str]):
    """An ISO 8601 time, such as 2026-05-01 or 2026-05-01T12:00:00Z; without an offset it is UTC."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the time in the one form the HTTP routes use, or fail as wrong use."""
        try:
            at = from_iso(value)
            if at < 0:
                raise ValueError("before 1970")
            return to_iso(at)
        except (ValueError, OverflowError, OSError):
            self.fail(f"{value!r} is no time since 1970: write 2026-05-01 or 2026-05-01T12:00Z.", param, ctx)


class PortType(click.ParamType[int]):
    """A port of this machine; 0 takes any free one."""

    name = "port"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number, or fail as wrong use."""
        if str(value).isdecimal() and int(value) < 65_536:
            return int(value)
        self.fail(f"{value!r} is no port: give a number from 0 to 65535.", param, ctx)


INSTANT = InstantType()
PORT = PortType()
TEXT = TextType()


def limit_option(usual: int) -> Callable[[Decorated], Decorated]:
    """Add `--limit`, at most 200 as over HTTP."""
    return click.option(
        "--limit",
        type=click.IntRange(1, MOST),
        default=usual,
        show_default=True,
        metavar="NUMBER",
        help=f"How many to show, at most {MOST}.",
    )
