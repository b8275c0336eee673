"""Owns the note, in the home, of what `graphmem init` wrote and made: how `uninstall` knows it again.

It is not needed to take our entries out of a file; it tells an untouched file from one that others changed
since, and folders we made from folders that were there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from api.settings_file import replace
from graphmem.home import Home

RECORD_NAME = "installation.json"


def digest(content: bytes) -> str:
    """Return what a content is known by."""
    return hashlib.sha256(content).hexdigest()


@dataclass(frozen=True, slots=True)
class Written:
    """One file as we left it; `made` if there was none before, `folders` are those made for it."""

    sha256: str
    made: bool = False
    folders: tuple[str, ...] = ()


@dataclass(slots=True)
class Record:
    """What was written, by absolute path: settings and other files, and the files of plugin folders."""

    file: Path
    files: dict[str, Written] = field(default_factory=dict)
    plugins: dict[str, dict[str, Written]] = field(default_factory=dict)

    @classmethod
    def load(cls, home: Home) -> Self:
        """Return the record of a home; one that is not there, or not readable, is empty."""
        record = cls(home.path / RECORD_NAME)
        try:
            raw = json.loads(record.file.read_bytes())
        except (OSError, ValueError, RecursionError):
            return record
        if isinstance(raw, dict):
            record.files = _many(raw.get("files"))
            plugins = raw.get("plugins")
            if isinstance(plugins, dict):
                record.plugins = {str(folder): _many(files) for folder, files in plugins.items()}
        return record

    def save(self) -> None:
        """Write the record; an empty one is no file."""
        if not self.files and not self.plugins:
            self.file.unlink(missing_ok=True)
            return
        shape = {
            "files": {path: asdict(one) for path, one in self.files.items()},
            "plugins": {
                folder: {name: asdict(one) for name, one in files.items()}
                for folder, files in self.plugins.items()
            },
        }
        replace(self.file, json.dumps(shape, indent=1).encode() + b"\n", 0o600)


def remove_empty(folders: Iterable[str]) -> None:
    """Remove these folders, the innermost first, as far as they are empty."""
    for folder in sorted(folders, key=len, reverse=True):
        try:
            Path(folder).rmdir()
        except OSError:  # it is gone, or holds something: then it stays
            continue


def _many(raw: Any) -> dict[str, Written]:
    found = {}
    for name, item in raw.items() if isinstance(raw, dict) else ():
        match item:
            case {"sha256": str(sha256), "made": bool(made), "folders": [*folders]}:
                found[str(name)] = Written(sha256, made, tuple(map(str, folders)))
    return found
