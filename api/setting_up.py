"""Owns the steps of `graphmem init`: what is found, planned, shown, written, and the history's import.

It is not the command's options (`api.cli_init`), nor how one file is changed (`api.installation`).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from api import agents_block, plugin_folder
from api.backend import Backend, HistorySource, ObservationQuestion, Shape
from api.cli_import import show_report
from api.client_settings import Client, Entry, Scope, command_entries
from api.installation import (
    CLIENTS,
    Action,
    Change,
    carry_out,
    hook_command,
    is_installed,
    is_present,
    planned,
    settings_of,
)
from api.installation_record import Record, Written, digest
from api.invocation import Invocation
from api.lifecycle import find_service, service_url
from api.progress import ProgressBar
from api.screen import Screen, counted
from api.settings_claude_code import CLAUDE_CODE, http_entries
from api.settings_codex import CODEX
from api.settings_file import SettingsFile
from graphmem.errors import InvalidInputError, NotFoundError, SourceError
from graphmem.home import Home
from graphmem.repository import locate

_RECENT = 200


@dataclass(frozen=True, slots=True)
class Wishes:
    """What was asked for; `clients` empty means those that are found."""

    clients: tuple[str, ...]
    scope: Scope
    plugin: Path | None
    agents_md: bool
    with_history: bool
    http: bool


@dataclass(frozen=True, slots=True)
class Place:
    """The project that is meant; `in_git` says that a repository's checkout has this root."""

    root: Path
    in_git: bool


@dataclass(slots=True)
class Setup:
    """Everything `init` is going to do; nothing of it has been done."""

    wishes: Wishes
    home: Home
    place: Place
    changes: list[Change]
    commands: dict[str, str]
    plugin_files: dict[str, bytes] = field(default_factory=dict)
    plugin_news: list[str] = field(default_factory=list)
    agents: tuple[bytes | None, bytes] | None = None
    remarks: list[str] = field(default_factory=list)

    @property
    def writes(self) -> bool:
        """Whether any file is to be written."""
        changed = any(change.action is not Action.UNCHANGED for change in self.changes)
        return changed or bool(self.plugin_news) or self.writes_agents

    @property
    def writes_agents(self) -> bool:
        """Whether AGENTS.md is to be written."""
        return self.agents is not None and self.agents[0] != self.agents[1]

    @property
    def agents_file(self) -> SettingsFile:
        """The project's AGENTS.md."""
        return SettingsFile(self.place.root / agents_block.FILE_NAME)


def place_of(invocation: Invocation) -> Place:
    """Return the project the command is about: the one named, or the checkout around the current folder.

    Outside a repository it is the current folder itself.
    """
    named = invocation.project
    folder = os.getcwd()
    if named is not None:
        if not os.path.isdir(named):
            with invocation.backend() as backend:
                named = invocation.choose(backend).roots[0]
        folder = os.path.abspath(named)
    checkout = locate(folder)
    root = checkout.root if checkout is not None and checkout.root is not None else None
    return Place(Path(root or folder), root is not None)


def prepare(invocation: Invocation, wishes: Wishes) -> Setup:
    """Return what is to be done, with everything read and nothing written.

    Raises:
        NotFoundError: no client is here and none was named.
        InvalidInputError: a file can't be changed, or the scope does not fit the folder.
    """
    home = Home(invocation.settings().home)
    place = place_of(invocation)
    _refuse_home_as_project(wishes.scope, place)
    chosen = _chosen(wishes, place)
    commands = {client.name: hook_command(client, home) for client in chosen}
    setup = Setup(wishes, home, place, [], commands)
    for client in chosen:
        entries = command_entries(client, commands[client.name])
        file = settings_of(client, wishes.scope, place.root)
        if client is CLAUDE_CODE and wishes.plugin is not None:
            setup.plugin_files = plugin_folder.plugin_files(entries)
            setup.plugin_news = plugin_folder.outdated(wishes.plugin, setup.plugin_files)
            continue
        secret = client is CLAUDE_CODE and wishes.http
        if secret:
            entries = _http(invocation, home, commands[client.name])
        setup.changes.append(planned(client, wishes.scope, file, entries, secret=secret))
    if wishes.agents_md:
        setup.agents = _agents(setup.agents_file)
    return setup


def _refuse_home_as_project(scope: Scope, place: Place) -> None:
    if scope is Scope.PROJECT and place.root.resolve() == Path.home().resolve():
        raise InvalidInputError(
            f"{place.root} is your home folder, where a project's settings would be yours for all projects: "
            "go into a project, or give --user-scope."
        )


def _chosen(wishes: Wishes, place: Place) -> list[Client]:
    """Return the clients that are meant, in the order they are known."""
    if wishes.clients:
        chosen = [client for client in CLIENTS.values() if client.name in wishes.clients]
    else:
        chosen = [client for client in CLIENTS.values() if is_present(client, place.root)]
    if wishes.plugin is not None and CLAUDE_CODE not in chosen:
        chosen.insert(0, CLAUDE_CODE)
    if not chosen and not wishes.agents_md:
        raise NotFoundError(
            "No agent client was found, neither its folder nor its program: name one with "
            f"--client ({', '.join(CLIENTS)})."
        )
    return chosen


def _http(invocation: Invocation, home: Home, command: str) -> dict[str, Entry]:
    record = find_service(home)
    port = record.port if record is not None else invocation.settings().port
    if port == 0:
        raise InvalidInputError(
            "--http needs a port that stays: give one by --port or GRAPHMEM_PORT.", "port"
        )
    return http_entries(command, service_url(port), home.token())


def _agents(file: SettingsFile) -> tuple[bytes | None, bytes]:
    before = file.read()
    try:
        after = agents_block.with_block("" if before is None else file.text(before)).encode()
    except agents_block.HalfBlockError as error:
        raise InvalidInputError(
            f"{file.path} can't be changed because {error}: mend that and run the command again."
        ) from error
    if after != before:
        file.refuse_read_only()
    return before, after


# ---- showing -----------------------------------------------------------------------------------------


def show_plan(screen: Screen, setup: Setup) -> None:
    """Print which files are to be written, and what into them."""
    if not setup.writes:
        return
    rows: list[tuple[str, str, str, str]] = []
    for change in setup.changes:
        events = ", ".join(change.events)
        sign = "" if change.action is Action.UNCHANGED else "+ "
        rows.append((change.client.title, near(change.file.path), change.action, f"{sign}{events}"))
    if setup.wishes.plugin is not None:
        names = ", ".join(setup.plugin_news)
        state = "plugin" if names else Action.UNCHANGED
        rows.append((CLAUDE_CODE.title, near(setup.wishes.plugin), state, f"+ {names}" if names else ""))
    if setup.agents is not None:
        state = Action.MADE if setup.agents[0] is None else Action.ADDED
        block = "+ a block between markers" if setup.writes_agents else ""
        state = state if setup.writes_agents else Action.UNCHANGED
        rows.append(("", near(setup.agents_file.path), state, block))
    screen.line(("This will be written:", "bold"))
    screen.gap()
    for title, place, state, news in rows:
        screen.line((f"{title}  " if title else "", "bold"), f"{place}  {state}", indent=2)
        if news:
            screen.line((news, "dim"), indent=4)
    if setup.commands:
        screen.gap()
        screen.line("Each event runs, for at most two seconds:")
        for command in setup.commands.values():
            screen.line((command, "dim"), indent=2)
    screen.gap()


def near(path: Path) -> str:
    """Return a path as a person near it would name it."""
    for folder, sign in ((Path.cwd(), ""), (Path.home(), "~/")):
        if path.is_relative_to(folder):
            return sign + str(path.relative_to(folder))
    return str(path)


# ---- doing -------------------------------------------------------------------------------------------


def complete(invocation: Invocation, setup: Setup) -> int:
    """Write everything, make the project known, import its history, and say what was done."""
    setup.home.prepare()
    record = Record.load(setup.home)
    for change in setup.changes:
        carry_out(change, record, secret=setup.wishes.http and change.client is CLAUDE_CODE)
    if setup.wishes.plugin is not None:
        plugin_folder.write(setup.wishes.plugin, setup.plugin_files, setup.plugin_news, record)
    if setup.writes_agents:
        _write_agents(setup, record)
    slug, report = _history(invocation, setup)
    _remark_on_clients(setup)
    shape = _shape(setup, slug, report)
    invocation.answer(shape, lambda screen: _show(screen, setup, slug, report))
    if report is not None and report["stopped"]:
        raise KeyboardInterrupt
    return 0


def _write_agents(setup: Setup, record: Record) -> None:
    assert setup.agents is not None
    before, after = setup.agents
    file = setup.agents_file
    known = record.files.get(str(file.path))
    made = before is None or (known is not None and known.made)
    record.files[str(file.path)] = Written(digest(after), made)
    record.save()
    file.write(after)


def _history(invocation: Invocation, setup: Setup) -> tuple[str | None, Shape | None]:
    """Make the project known, import its history if none of it is known; return slug and report."""
    place = setup.place
    if not place.in_git:
        setup.remarks.append(f"No history is imported: {place.root} is in no git repository.")
        if setup.wishes.scope is Scope.USER:
            return None, None
    with invocation.backend() as backend:
        slug: str = backend.register(str(place.root))["slug"]
        if not place.in_git or not setup.wishes.with_history or _knows_commits(backend, slug):
            return slug, None
        try:
            with ProgressBar("Importing") as progress:
                source = HistorySource("git", str(place.root))
                return slug, backend.import_history(slug, source, progress)
        except SourceError as error:
            setup.remarks.append(str(error))
            return slug, None


def _knows_commits(backend: Backend, slug: str) -> bool:
    page = backend.observations(slug, ObservationQuestion(limit=_RECENT))
    return any(item["source"] == "git" for item in page["items"])


def _remark_on_clients(setup: Setup) -> None:
    """Add what a user must know or do for the clients that were set up."""
    changed = [change for change in setup.changes if change.action is not Action.UNCHANGED]
    if any(change.client is CODEX for change in changed):
        setup.remarks.append(
            "Codex runs new hooks only after you have trusted them: start it and look at `/hooks`."
        )
    if setup.wishes.plugin is None:
        return
    setup.remarks.append(f"Try the plugin with `claude --plugin-dir {setup.wishes.plugin}`.")
    for scope in Scope:
        file = settings_of(CLAUDE_CODE, scope, setup.place.root)
        if is_installed(CLAUDE_CODE, file):
            setup.remarks.append(
                f"{file.path} holds GraphMem's hooks, too, so each would run twice: take them out with "
                f"`graphmem uninstall --client {CLAUDE_CODE.name} --{scope}-scope`."
            )


def _shape(setup: Setup, slug: str | None, report: Shape | None) -> Shape:
    plugin = None
    if setup.wishes.plugin is not None:
        plugin = {"path": str(setup.wishes.plugin), "written": setup.plugin_news}
    agents = None
    if setup.agents is not None:
        agents = {"path": str(setup.agents_file.path), "written": setup.writes_agents}
    return {
        "home": str(setup.home.path),
        "project": slug,
        "root": str(setup.place.root),
        "files": [shape_of(change) for change in setup.changes],
        "plugin": plugin,
        "agents_md": agents,
        "commands": setup.commands,
        "import": report,
        "remarks": setup.remarks,
    }


def shape_of(change: Change) -> Shape:
    """Return what became of a file as plain data."""
    backup = change.file.backup
    return {
        "client": change.client.name,
        "scope": change.scope,
        "path": str(change.file.path),
        "action": change.action,
        "events": list(change.events),
        "backup": str(backup) if backup.exists() else None,
    }


def _show(screen: Screen, setup: Setup, slug: str | None, report: Shape | None) -> None:
    if setup.writes:
        files = sum(change.action is not Action.UNCHANGED for change in setup.changes)
        files += len(setup.plugin_news) + setup.writes_agents
        screen.line((f"{counted(files, 'file')} written.", "bold"), " `graphmem uninstall` undoes it.")
    else:
        screen.line(("Nothing to do: everything is set up.", "bold"))
    for change in setup.changes:
        if change.action is Action.UNCHANGED:
            screen.line(f"{near(change.file.path)} is up to date.", indent=2)
        elif change.file.backup.exists():
            screen.line(f"{near(change.file.backup)} keeps the former file.", indent=2)
    for sentence in setup.remarks:
        screen.line(sentence, indent=2)
    if report is not None and slug is not None:
        show_report(screen, report, slug)
    screen.line(("Check it with: graphmem doctor", "dim"))
