"""docs/cli.md and the program say the same: commands, options, examples."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from api.cli import program
from api.invocation import common_options

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "cli.md"
HEADING = re.compile(r"^#{2,3} (.+)$", re.MULTILINE)
FLAG = re.compile(r"`(--[a-z-]+)")


@click.command()
@common_options
def nothing() -> None:
    """Do nothing, with the shared options."""


SHARED = {flag for parameter in nothing.params for flag in parameter.opts}


def tree(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from tree(child, f"{path} {name}")


COMMANDS = dict(list(tree(program, "graphmem"))[1:])


def sections() -> dict[str, str]:
    text = DOCUMENT.read_text(encoding="utf-8")
    places = [*HEADING.finditer(text)]
    ends = [place.start() for place in places[1:]] + [len(text)]
    return {place[1]: text[place.end() : end] for place, end in zip(places, ends, strict=True)}


def own_flags(command: click.Command) -> set[str]:
    options = (parameter for parameter in command.params if isinstance(parameter, click.Option))
    return {flag for option in options for flag in option.opts} - SHARED


def test_every_command_has_a_section_and_no_other_has_one() -> None:
    assert set(sections()) - {"Everywhere"} == set(COMMANDS)


@pytest.mark.parametrize("path", COMMANDS)
def test_a_section_names_exactly_the_options_of_its_command(path: str) -> None:
    table = "\n".join(line for line in sections()[path].splitlines() if line.startswith("|"))
    assert set(FLAG.findall(table)) == own_flags(COMMANDS[path])


@pytest.mark.parametrize("path", COMMANDS)
def test_the_example_of_the_help_stands_in_the_section(path: str) -> None:
    epilog = COMMANDS[path].epilog or ""
    assert epilog.startswith(f"Example: {path}")
    assert epilog.removeprefix("Example: ") in sections()[path]


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_takes_the_shared_options_and_has_a_short_help_that_fits(path: str) -> None:
    command = COMMANDS[path]
    assert {flag for parameter in command.params for flag in parameter.opts} >= SHARED
    assert len(command.get_short_help_str(80)) <= 62


def test_the_shared_options_stand_in_their_own_section() -> None:
    assert set(FLAG.findall(sections()["Everywhere"])) >= SHARED | {"--help"}
    assert (program.epilog or "").removeprefix("Example: ") in sections()["Everywhere"]
