"""Owns the Claude Code plugin as a folder: its fixed files from the package, its hooks for this machine.

It is not the hooks in the client's own settings (`api.installation`): a plugin's hooks take their place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from api.client_settings import HOOKS, Entry
from api.installation_record import Record, Written, digest, remove_empty
from api.settings_file import replace
from graphmem.errors import InvalidInputError

SOURCE = Path(__file__).resolve().parent / "claude_plugin"
MANIFEST = ".claude-plugin/plugin.json"
HOOKS_FILE = "hooks/hooks.json"
_NAME = "graphmem"


def plugin_files(entries: Mapping[str, Entry]) -> dict[str, bytes]:
    """Return the plugin's files by their place in its folder; `entries` are the hooks by event."""
    found = {
        path.relative_to(SOURCE).as_posix(): path.read_bytes()
        for path in sorted(SOURCE.rglob("*"))
        if path.is_file()
    }
    hooks = {HOOKS: {event: [entry] for event, entry in entries.items()}}
    found[HOOKS_FILE] = json.dumps(hooks, indent=2, ensure_ascii=False).encode() + b"\n"
    return found


def outdated(folder: Path, files: Mapping[str, bytes]) -> list[str]:
    """Return which of the plugin's files are missing or different in `folder`; nothing is written.

    Raises:
        InvalidInputError: the folder is a file, or holds something that is not this plugin.
    """
    if folder.exists() and not folder.is_dir():
        raise InvalidInputError(f"{folder} is not a folder: name another one for the plugin.")
    if folder.is_dir() and any(folder.iterdir()) and not _is_ours(folder):
        raise InvalidInputError(
            f"{folder} holds something else than GraphMem's plugin: name a new or an empty folder."
        )
    return [name for name, content in files.items() if _content(folder / name) != content]


def write(folder: Path, files: Mapping[str, bytes], names: list[str], record: Record) -> None:
    """Write these of the plugin's files, and note them all."""
    written = dict(record.plugins.get(str(folder), {}))
    for name in names:
        place = folder / name
        missing = [parent for parent in place.parents if not parent.exists()]
        place.parent.mkdir(parents=True, exist_ok=True)
        known = written.get(name)
        folders = tuple(str(parent) for parent in missing) or (known.folders if known else ())
        written[name] = Written(digest(files[name]), True, folders)
        replace(place, files[name], 0o644)
    record.plugins[str(folder)] = written
    record.save()


def remove(folder: Path, record: Record) -> list[str]:
    """Take the plugin's files away, and return those that stay because somebody changed them."""
    kept = []
    folders: set[str] = set()
    for name, known in record.plugins.pop(str(folder), {}).items():
        content = _content(folder / name)
        if content is not None and digest(content) != known.sha256:
            kept.append(name)
        else:
            (folder / name).unlink(missing_ok=True)
        folders.update(known.folders)
    remove_empty(folders)
    record.save()
    return kept


def _content(place: Path) -> bytes | None:
    try:
        return place.read_bytes()
    except OSError:
        return None


def _is_ours(folder: Path) -> bool:
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(manifest, dict) and manifest.get("name") == _NAME
