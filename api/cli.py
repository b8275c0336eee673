"""Owns the program `graphmem`: its commands, and the one place where a fault becomes a sentence and a status.

It is not the commands themselves (`api.cli_*`, by subject). Exit status: 0 good, 1 what was asked for failed,
2 wrong use, 130 stopped by the user.
"""

from __future__ import annotations

import errno
import importlib
import os
import re
import sqlite3
import sys
import traceback
from collections.abc import Sequence
from io import TextIOWrapper
from typing import Any

import click

from api.invocation import common_options
from api.terminal_text import clean
from graphmem.errors import GraphMemError

GOOD, FAILED, WRONG_USE, STOPPED = 0, 1, 2, 130

# In the order they are listed: what a new user needs first.
COMMANDS = {
    "demo": "cli_demo",
    "init": "cli_init",
    "uninstall": "cli_init",
    "import": "cli_import",
    "impact": "cli_impact",
    "search": "cli_search",
    "edges": "cli_edges",
    "why": "cli_edges",
    "confirm": "cli_edges",
    "reject": "cli_edges",
    "undo": "cli_edges",
    "retire": "cli_edges",
    "declare": "cli_edges",
    "depends": "cli_graph",
    "path": "cli_graph",
    "modules": "cli_modules",
    "overview": "cli_modules",
    "corroborate": "cli_corroborate",
    "health": "cli_graph",
    "infer": "cli_graph",
    "projects": "cli_lists",
    "observations": "cli_lists",
    "sessions": "cli_lists",
    "stats": "cli_lists",
    "corpus": "cli_corpus",
    "keep": "cli_keeping",
    "forget": "cli_keeping",
    "prune": "cli_keeping",
    "evaluate": "cli_evaluate",
    "serve": "cli_service",
    "stop": "cli_service",
    "status": "cli_service",
    "open": "cli_service",
    "doctor": "cli_doctor",
    "capture": "cli_capture",
    "hook": "cli_hook",
}


class ReaderGoneError(Exception):
    """Whoever read the answer has closed the pipe; click would take that for a failure."""


class LazyGroup(click.Group):
    """A group that loads a command's module when the command is named or listed."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a reader that has seen enough is told apart from other faults."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise ReaderGoneError from error

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands' names in the order of `COMMANDS`."""
        return list(COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is named; a name nearly right is refused with the right one."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=1)
            if near:
                ctx.fail(f"No such command '{args[0]}'. Did you mean '{near[0]}'?")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, or None."""
        module = COMMANDS.get(cmd_name)
        if module is None:
            return None
        found = getattr(importlib.import_module(f"api.{module}"), f"{cmd_name}_command")
        assert isinstance(found, click.Command)
        return found


def _say_version(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    """Print the version and end the program."""
    if wanted:
        from api.version import running_version

        click.echo(f"graphmem {running_version()}")
        context.exit()


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: graphmem import git . && graphmem impact src/app.py",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_say_version,
    help="Say which version runs.",
)
@common_options
def program() -> None:
    """Tell what else changes when a file changes, from the history of the work itself."""


def run(arguments: Sequence[str]) -> int:
    """Run the program and return its exit status; a fault is one sentence on standard error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        outcome = program.main(list(arguments), prog_name="graphmem", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return WRONG_USE
    except click.UsageError as error:
        return _said(_wrong_use(error), WRONG_USE)
    except click.ClickException as error:
        return _said(error.format_message(), FAILED)
    except (KeyboardInterrupt, click.Abort):
        return _said("stopped; run the same command again to go on", STOPPED)
    except (BrokenPipeError, ReaderGoneError):
        # Whoever read the answer has seen enough; a second failure at the interpreter's end is kept silent.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return GOOD
    except GraphMemError as error:
        return _said(str(error), FAILED)
    except OSError as error:
        return _said(_sentence(error), FAILED)
    except sqlite3.Error as error:
        return _said(f"GraphMem's files can't be used ({error}): run `graphmem doctor` to see which.", FAILED)
    except Exception as error:
        return _said(_unexpected(error), FAILED)
    return outcome if isinstance(outcome, int) else GOOD


def _said(sentence: str, status: int) -> int:
    click.echo(clean(sentence), err=True)
    return status


def _wrong_use(error: click.UsageError) -> str:
    """Return what was wrong with the command line and where the right use stands."""
    about = f" See `{error.ctx.command_path} --help`." if error.ctx else ""
    # What a missing choice may be comes as a list of lines.
    message = re.sub(r"\s*\n\s*", " ", error.format_message())
    return f"{message if message.endswith('?') else message.rstrip('.') + '.'}{about}"


def _sentence(error: OSError) -> str:
    """Return an operating system's fault with the file it is about and what to do."""
    about = f" ({os.fsdecode(error.filename)})" if isinstance(error.filename, str | bytes) else ""
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return (
                f"The disk is full{about}: free some space and run the same command again; nothing is lost."
            )
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return f"Access was refused{about}: check the owner and the rights, or name another --home."
        case errno.ENOENT if error.filename is None:
            return "The current folder no longer exists: go into another one and run the same command again."
    return f"{error.strerror or error}{about}: mend that and run the same command again."


def _unexpected(error: Exception) -> str:
    """Write the trace where it can be reported from, and return the sentence that says where."""
    from tempfile import NamedTemporaryFile

    with NamedTemporaryFile("w", prefix="graphmem-", suffix=".log", delete=False, encoding="utf-8") as log:
        log.write("".join(traceback.format_exception(error)))
    name = type(error).__name__
    return f"GraphMem met a fault of its own ({name}: {error}): please report it with {log.name}."
