"""Owns which settings files are written for which clients, and how that is undone, byte for byte.

It is not the entries themselves (`api.client_settings`), nor the talk about it (`api.cli_init`). Everything
is planned before anything is written: one file that can't be changed leaves all of them as they are.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import graphmem
from api.client_settings import (
    Client,
    Entry,
    Scope,
    WrongShapeError,
    command_line,
    installed,
    is_bare,
    is_blank,
    merged,
    removed,
)
from api.installation_record import Record, Written, digest, remove_empty
from api.json_text import BrokenJsonError
from api.settings import client_folder
from api.settings_claude_code import CLAUDE_CODE
from api.settings_codex import CODEX
from api.settings_cursor import CURSOR
from api.settings_file import SettingsFile
from graphmem.errors import InvalidInputError
from graphmem.home import Home, default_home

CLIENTS: Mapping[str, Client] = {client.name: client for client in (CLAUDE_CODE, CODEX, CURSOR)}
HOOK_PROGRAM = Path(os.path.abspath(graphmem.__file__)).parent / "hook_program.py"
_PRIVATE_MODE = 0o600


class Action(StrEnum):
    """What becomes of a file."""

    MADE = "new file"
    ADDED = "entries added"
    UPDATED = "entries updated"
    UNCHANGED = "unchanged"
    RESTORED = "restored"
    TAKEN_OUT = "entries taken out"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Change:
    """What one file is to become; `after` None: it goes. `events` are those with an entry of ours."""

    client: Client
    scope: Scope
    file: SettingsFile
    action: Action
    before: bytes | None
    after: bytes | None
    events: tuple[str, ...]


def hook_command(client: Client, home: Home) -> str:
    """Return the command that all hooks of this client run; only a home that is not the usual one is named.

    Raises:
        InvalidInputError: a path in it is not UTF-8, which settings can't hold.
    """
    named = None if _is_usual(home.path) else str(home.path)
    command = command_line(os.path.abspath(sys.executable), str(HOOK_PROGRAM), client.name, named)
    try:
        command.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidInputError(
            f"The hooks' command can't be written down because a path in it is not UTF-8: {command!r}; "
            "install GraphMem, or choose a --home, under another name."
        ) from error
    return command


def _is_usual(home: Path) -> bool:
    """Whether the hook program finds this home by itself, also where a client was started from a desktop.

    There the variables of the user's shell are missing, so a default that comes from one must be named.
    """
    places = (Path.home() / ".local" / "share", Path.home() / "Library" / "Application Support")
    return home == default_home() and home.parent in places


def user_folder(client: Client) -> Path:
    """Return the folder of the client's settings for the user."""
    return client_folder(client.folder_variable, client.folder)


def settings_of(client: Client, scope: Scope, root: Path) -> SettingsFile:
    """Return the client's settings file for the project with that root, or for the user."""
    folder = root / client.folder if scope is Scope.PROJECT else user_folder(client)
    return SettingsFile(folder / client.file)


def is_present(client: Client, root: Path) -> bool:
    """Whether the client is on this machine or was used in this project."""
    folders = (user_folder(client), root / client.folder)
    return any(folder.is_dir() for folder in folders) or shutil.which(client.program) is not None


def is_installed(client: Client, file: SettingsFile) -> bool:
    """Whether our hooks stand in a settings file; one that can't be read has none."""
    try:
        content = file.read()
        return content is not None and bool(installed(client, file.text(content)))
    except (BrokenJsonError, WrongShapeError, InvalidInputError):
        return False


# ---- installing --------------------------------------------------------------------------------------


def planned(
    client: Client, scope: Scope, file: SettingsFile, entries: Mapping[str, Entry], *, secret: bool = False
) -> Change:
    """Return what a settings file is to become so that it holds `entries`; nothing is written.

    With `secret` the entries hold a token: then nobody else may be able to read the file.

    Raises:
        InvalidInputError: the file can't be changed; the sentence says why and what to do.
    """
    before = file.read()
    text = "" if before is None else file.text(before)
    try:
        ours = installed(client, text)
        after = merged(client, text, entries).encode("utf-8", "surrogatepass")
    except (BrokenJsonError, WrongShapeError) as error:
        raise _unusable(file, error) from error
    if secret and file.is_open_to_others():
        raise InvalidInputError(
            f"{file.path} may be read by others, so no token can be kept in it: run `chmod 600` on it first."
        )
    if after == before:
        return Change(client, scope, file, Action.UNCHANGED, before, after, tuple(entries))
    file.refuse_read_only()
    action = Action.MADE if before is None else Action.UPDATED if ours else Action.ADDED
    return Change(client, scope, file, action, before, after, tuple(entries))


def _unusable(file: SettingsFile, error: ValueError) -> InvalidInputError:
    cause = "it is not JSON: " if isinstance(error, BrokenJsonError) else ""
    return InvalidInputError(
        f"{file.path} can't be changed because {cause}{error}; correct it and run the command again, "
        "nothing was written."
    )


def carry_out(change: Change, record: Record, *, secret: bool = False) -> None:
    """Write a planned file, its backup first, and note it."""
    if change.action is Action.UNCHANGED or change.after is None:
        return
    file, path = change.file, str(change.file.path)
    known = record.files.get(path)
    made, folders = known.made if known else False, known.folders if known else ()
    if change.before is None:
        made, folders = True, tuple(dict.fromkeys([*folders, *map(str, file.missing_folders())]))
        file.drop_backup()
    elif known is None or known.sha256 != digest(change.before):
        # Others have written since, or it is our first time: this is what must come back, without us.
        is_new = change.action is Action.ADDED
        former = change.before if is_new else _rest(change.client, file, change.before)
        made = former is None
        if former is None:
            folders = folders or (str(file.path.parent),)
        else:
            file.keep_backup(former)
    record.files[path] = Written(digest(change.after), made, folders)
    record.save()
    file.write(change.after, **({"mode": _PRIVATE_MODE} if secret else {}))


def _rest(client: Client, file: SettingsFile, content: bytes) -> bytes | None:
    """Return what settings hold beside our entries; None where that is nothing: they are ours alone."""
    backup = file.read_backup()
    former = None if backup is None else backup.decode("utf-8", "replace")
    rest = removed(client, file.text(content), former)
    if backup is None and (is_blank(rest) or is_bare(client, rest)):
        return None
    return rest.encode("utf-8", "surrogatepass")


# ---- undoing -----------------------------------------------------------------------------------------


def undoing(client: Client, scope: Scope, file: SettingsFile, record: Record) -> Change | None:
    """Return what a settings file is to become without us; None if we are not in it. Nothing is written.

    Untouched since we wrote it, it comes back byte for byte. Changed by others since, only our entries go.

    Raises:
        InvalidInputError: the file can't be read as settings any more.
    """
    before = file.read()
    known = record.files.get(str(file.path))
    if before is None:
        return None
    backup = file.read_backup()
    if known is not None and known.sha256 == digest(before) and (known.made or backup is not None):
        action = Action.RESTORED if backup is not None else Action.REMOVED
        file.refuse_read_only()
        return Change(client, scope, file, action, before, backup, ())
    text = file.text(before)
    try:
        ours = installed(client, text)
        if not ours:
            return None
        after = _rest(client, file, before)
    except (BrokenJsonError, WrongShapeError) as error:
        raise _unusable(file, error) from error
    file.refuse_read_only()
    events = tuple(dict.fromkeys(one.event for one in ours))
    action = Action.REMOVED if after is None else Action.TAKEN_OUT
    return Change(client, scope, file, action, before, after, events)


def undo(change: Change, record: Record) -> None:
    """Carry out what `undoing` planned: the file, the folders made for it, the backup and the note go."""
    is_known = str(change.file.path) in record.files
    if change.after is None:
        change.file.remove()
    else:
        change.file.write(change.after)
    sweep(change.file, record)
    if change.after is None and not is_known:
        remove_empty([str(change.file.path.parent)])


def sweep(file: SettingsFile, record: Record) -> None:
    """Take away what is left beside a file of ours: its backup, its note, empty folders made for it."""
    file.drop_backup()
    known = record.files.pop(str(file.path), None)
    if known is not None:
        remove_empty(known.folders)
        record.save()
