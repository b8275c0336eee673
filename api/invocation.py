"""Owns what every command shares: the options that may stand before or after its name, and where answers go.

It is not the choice between service and files (`api.backend`), nor how an answer looks (`api.screen`).
Importing it loads nothing but click: `graphmem --help` must come at once.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from api.option_types import PORT, text_argument
from api.terminal_text import clean_json

if TYPE_CHECKING:
    from api.backend import Backend, Shape
    from api.screen import Screen
    from api.settings import Settings

_DRIVE = re.compile(r"^[A-Za-z]:[\\/]")
_TYPED = re.compile(r"(file|concept|contract|feature|module):", re.IGNORECASE)
Decorated = TypeVar("Decorated", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class ChosenProject:
    """The project a command is about; `named` says that `--project` was given."""

    slug: str
    roots: tuple[str, ...]
    named: bool
    observations: int

    def path(self, argument: str) -> str:
        """Return a file argument as an absolute path, read from the current folder.

        With `--project` and the current folder outside all its roots, a relative path is left to be read
        from the project's root. So is one that names a file there and none here, as notes name files.
        """
        text = text_argument(argument)
        if os.path.isabs(text) or _DRIVE.match(text):
            return text
        here = text_argument(os.getcwd())
        if self.named and not any(_is_inside(here, root) for root in self.roots):
            return text
        path = os.path.normpath(os.path.join(here, text))
        around = max((root for root in self.roots if _is_inside(here, root)), key=len, default=None)
        if around is not None and not os.path.lexists(path):
            from_root = os.path.normpath(os.path.join(around, text))
            return from_root if os.path.lexists(from_root) else path
        return path

    def node(self, argument: str) -> str:
        """Return a node argument as a reference: typed ones stay, anything else is a file as in `path`.

        A file inside the project is named from its root, so that a refusal speaks of the same words.
        """
        text = text_argument(argument)
        if _TYPED.match(text) or not text.strip():
            return text
        path = self.path(argument)
        around = max((root for root in self.roots if _is_inside(path, root)), key=len, default=None)
        return path if around is None else os.path.relpath(path, around)


@dataclass(slots=True)
class Invocation:
    """One run of the program; the options are filled in while click reads the command line."""

    project: str | None = None
    home: str | None = None
    port: int | None = None
    as_json: bool = False

    def settings(self) -> Settings:
        """Return home and port, from the options, the environment and the configuration file."""
        from api.settings import Settings

        return Settings.load(self.home, self.port)

    def user(self) -> str:
        """Return who gives a verdict when nobody is named."""
        from api.settings import user_name

        return user_name()

    def backend(self) -> Backend:
        """Return the running service, or the opened files when none runs."""
        from api.connection import connect

        settings = self.settings()
        settings.apply()
        return connect(settings.home, settings.ignore, settings.retention.rules())

    def choose(self, backend: Backend) -> ChosenProject:
        """Return the project that `--project` names, or the one around the current folder.

        Raises:
            NotFoundError: no such project is known; the sentence says how to make it known.
        """
        if self.project is not None:
            shape = backend.project(_as_reference(self.project))
        else:
            shape = self._around(backend, os.getcwd())
        return ChosenProject(
            shape["slug"], tuple(shape["roots"]), self.project is not None, shape["observations"]
        )

    def _around(self, backend: Backend, folder: str) -> Shape:
        from graphmem.errors import NotFoundError
        from graphmem.repository import locate

        try:
            return backend.project(folder)
        except NotFoundError as error:
            if locate(folder) is None:
                raise NotFoundError(
                    f"{folder} is in no repository and no known project: go into one, or name one with "
                    "--project (`graphmem projects` lists them)."
                ) from error
            raise NotFoundError(
                f"GraphMem knows nothing of the repository around {folder} yet: "
                "run `graphmem import git .` first."
            ) from error

    def answer(self, shape: object, show: Callable[[Screen], None]) -> None:
        """Print the answer: as JSON on standard output, or by `show` for a person."""
        if self.as_json:
            click.echo(clean_json(json.dumps(shape, ensure_ascii=False, indent=2)))
        else:
            from api.screen import Screen

            show(Screen())


pass_invocation = click.make_pass_decorator(Invocation, ensure=True)


def common_options(command: Decorated) -> Decorated:
    """Add the options every command takes; after the command's name they win over those before it."""
    options = (
        click.option(
            "--project",
            metavar="SLUG|PATH",
            callback=_keep,
            expose_value=False,
            help="The project; default: the repository around the current folder.",
        ),
        click.option(
            "--home",
            metavar="FOLDER",
            callback=_keep,
            expose_value=False,
            help="Where GraphMem keeps its files (or GRAPHMEM_HOME).",
        ),
        click.option(
            "--port",
            type=PORT,
            metavar="NUMBER",
            callback=_keep,
            expose_value=False,
            help="The service's port (or GRAPHMEM_PORT; else 7832).",
        ),
        click.option(
            "--json",
            "as_json",
            is_flag=True,
            callback=_keep,
            expose_value=False,
            help="Print the HTTP answer's JSON.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _keep(context: click.Context, parameter: click.Parameter, value: object) -> None:
    """Put an option that was given into the run's one Invocation."""
    name = str(parameter.name)
    if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
        setattr(context.ensure_object(Invocation), name, value)


def _as_reference(project: str) -> str:
    """Return a slug as it is, anything that looks like a path as an absolute one."""
    if os.sep in project or project in {os.curdir, os.pardir}:
        return os.path.abspath(os.path.expanduser(project))
    return project


def _is_inside(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")
