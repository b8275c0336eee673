"""Owns one settings file on the disk: reading it as it is, writing it at once or not at all, its backup.

It is not what stands in it (`api.client_settings`). Links are written through and stay links.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path

from graphmem.errors import InvalidInputError

BACKUP_SUFFIX = ".graphmem-backup"
MOST_BYTES = 16 * 1024 * 1024
_USUAL_MODE = 0o644


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A settings file by the name its client knows it by."""

    path: Path

    @property
    def backup(self) -> Path:
        """Where the bytes from before our first change are kept, beside the file."""
        return self.path.with_name(self.path.name + BACKUP_SUFFIX)

    def read(self) -> bytes | None:
        """Return the bytes; None if there is no file.

        Raises:
            InvalidInputError: it is no plain file, or too large to be settings.
        """
        try:
            found = self.path.stat()
            if not stat.S_ISREG(found.st_mode):
                raise InvalidInputError(f"{self.path} is not a file: move it away and run the command again.")
            if found.st_size > MOST_BYTES:
                raise InvalidInputError(
                    f"{self.path} is over {MOST_BYTES // 1024**2} MiB, which no settings are: look into it."
                )
            return self.path.read_bytes()
        except FileNotFoundError:
            return None
        except NotADirectoryError as error:
            raise InvalidInputError(
                f"{self.path.parent} is not a folder: move it away and run the command again."
            ) from error

    def text(self, content: bytes) -> str:
        """Return the content as text.

        Raises:
            InvalidInputError: it is not UTF-8.
        """
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InvalidInputError(
                f"{self.path} is not UTF-8 (byte {error.start:,}): save it as UTF-8 and run the command "
                "again; nothing was written."
            ) from error

    def refuse_read_only(self) -> None:
        """Refuse to change a file whose owner has taken away the right to write.

        Raises:
            InvalidInputError: it is so. Its folder would let us replace it all the same, but it was meant.
        """
        with contextlib.suppress(FileNotFoundError):
            if not self.path.stat().st_mode & 0o222:
                raise InvalidInputError(
                    f"{self.path} is read-only: allow writing with `chmod u+w` and run the command again; "
                    "nothing was written."
                )

    def is_open_to_others(self) -> bool:
        """Whether others on this machine may read the file; a file that does not exist is not."""
        try:
            return bool(self.path.stat().st_mode & 0o077)
        except FileNotFoundError:
            return False

    def missing_folders(self) -> list[Path]:
        """Return the folders that writing would make, the outermost first."""
        missing = []
        folder = self.path.parent
        while not folder.exists():
            missing.append(folder)
            folder = folder.parent
        return missing[::-1]

    def write(self, content: bytes, *, mode: int = _USUAL_MODE) -> None:
        """Write the content in the file's place; `mode` is for a new one, an old one keeps its own."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        replace(Path(os.path.realpath(self.path)), content, mode)

    def keep_backup(self, content: bytes) -> None:
        """Keep the content as what was before us, readable by whoever may read the file itself."""
        mode = stat.S_IMODE(self.path.stat().st_mode) if self.path.exists() else _USUAL_MODE
        replace(self.backup, content, mode | stat.S_IWUSR, keep_mode=False)

    def read_backup(self) -> bytes | None:
        """Return what was before us, None if that is not kept."""
        try:
            return self.backup.read_bytes()
        except OSError:
            return None

    def drop_backup(self) -> None:
        """Take the backup away, if there is one."""
        self.backup.unlink(missing_ok=True)

    def remove(self) -> None:
        """Take the file away; of a link its target, as before us the link led nowhere."""
        Path(os.path.realpath(self.path)).unlink(missing_ok=True)


def replace(target: Path, content: bytes, mode: int, *, keep_mode: bool = True) -> None:
    """Write a file at once or not at all; an old one keeps its mode if `keep_mode`."""
    fresh = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        found = target.stat() if keep_mode else None
    except FileNotFoundError:
        found = None
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            os.fchmod(file.fileno(), mode if found is None else stat.S_IMODE(found.st_mode))
            if found is not None and (found.st_uid, found.st_gid) != (os.getuid(), os.getgid()):
                with contextlib.suppress(PermissionError):
                    os.fchown(file.fileno(), found.st_uid, found.st_gid)
        fresh.replace(target)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise
