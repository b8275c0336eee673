"""Owns the steps of `graphmem uninstall`: what is found of ours, taken out, and told.

It is not the command's options (`api.cli_init`), nor how one file is changed (`api.installation`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from api import agents_block, plugin_folder
from api.backend import Shape
from api.client_settings import Scope
from api.installation import CLIENTS, Change, settings_of, sweep, undo, undoing
from api.installation_record import Record
from api.invocation import Invocation
from api.screen import Screen, counted
from api.setting_up import near, place_of, shape_of
from api.settings_claude_code import CLAUDE_CODE
from api.settings_file import SettingsFile
from graphmem.errors import InvalidInputError
from graphmem.home import Home


@dataclass(slots=True)
class Outcome:
    """What was taken out; `kept` are files of a plugin that somebody has changed."""

    changes: list[Change] = field(default_factory=list)
    plugins: list[Path] = field(default_factory=list)
    kept: list[Path] = field(default_factory=list)
    agents: Path | None = None


def take_out(invocation: Invocation, names: tuple[str, ...], scopes: tuple[Scope, ...]) -> None:
    """Take our entries, blocks and plugin folders out, and say from where; all is read before any is written.

    `names` empty means all clients; AGENTS.md goes with all clients of the project, plugin folders with
    Claude Code's own settings.

    Raises:
        InvalidInputError: a file can't be changed; the sentence says why and what to do.
    """
    home = Home(invocation.settings().home)
    record = Record.load(home)
    root = place_of(invocation).root
    clients = [client for client in CLIENTS.values() if not names or client.name in names]
    pairs = [(client, scope, settings_of(client, scope, root)) for client in clients for scope in scopes]
    planned = {file.path: undoing(client, scope, file, record) for client, scope, file in pairs}
    agents = SettingsFile(root / agents_block.FILE_NAME)
    with_agents = Scope.PROJECT in scopes and not names
    rest = _without_block(agents, record) if with_agents else None
    outcome = Outcome()
    for _, _, file in pairs:
        change = planned[file.path]
        if change is not None:
            undo(change, record)
            outcome.changes.append(change)
        elif str(file.path) in record.files:
            sweep(file, record)
    if rest is not None:
        _write_rest(agents, rest, record)
        outcome.agents = agents.path
    if CLAUDE_CODE in clients and Scope.USER in scopes:
        for name in list(record.plugins):
            outcome.kept += [Path(name, file) for file in plugin_folder.remove(Path(name), record)]
            outcome.plugins.append(Path(name))
    invocation.answer(_shape(outcome), lambda screen: _show(screen, outcome))


def _without_block(file: SettingsFile, record: Record) -> bytes | None:
    """Return what AGENTS.md holds beside our block; None if we are not in it."""
    content = file.read()
    if content is None:
        return None
    text = file.text(content)
    try:
        rest = agents_block.without_block(text).encode()
    except agents_block.HalfBlockError as error:
        raise InvalidInputError(
            f"{file.path} can't be changed because {error}: mend that and run the command again."
        ) from error
    if rest == content:
        return None
    file.refuse_read_only()
    return rest


def _write_rest(file: SettingsFile, rest: bytes, record: Record) -> None:
    known = record.files.get(str(file.path))
    if not rest and known is not None and known.made:
        file.remove()
    else:
        file.write(rest)
    sweep(file, record)


def _shape(outcome: Outcome) -> Shape:
    return {
        "files": [shape_of(change) for change in outcome.changes],
        "plugins": [str(folder) for folder in outcome.plugins],
        "agents_md": None if outcome.agents is None else str(outcome.agents),
        "kept": [str(path) for path in outcome.kept],
    }


def _show(screen: Screen, outcome: Outcome) -> None:
    if not (outcome.changes or outcome.plugins or outcome.agents):
        screen.line("Nothing of GraphMem stands in the agents' settings here.")
        return
    for change in outcome.changes:
        screen.line((near(change.file.path), "bold"), f": {change.action}")
    for folder in outcome.plugins:
        screen.line((near(folder), "bold"), ": plugin removed")
    if outcome.agents is not None:
        screen.line(
            (near(outcome.agents), "bold"), ": block taken out" if outcome.agents.exists() else ": removed"
        )
    if outcome.kept:
        screen.line(f"{counted(len(outcome.kept), 'file')} of a plugin stay, as somebody changed them:")
        for path in outcome.kept:
            screen.line(near(path), indent=2)
    screen.line(("What was recorded stays; sessions that run now keep their hooks until they end.", "dim"))
