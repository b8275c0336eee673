"""Owns the file of hook events on their way into memory: put by hooks and the service, taken by one reader.

It is not what an event means (that is `graphmem.recorder`), nor the writing of a line, which hooks do too
(that is `graphmem.hook_program`). A line stays until what was made of it is stored; what comes twice is
known by id.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from graphmem import hook_program
from graphmem.errors import StorageError

FILE_NAME = "events.jsonl"
_ACTIVE_NAME = "active.json"
_ASIDE_NAME = "set-aside.jsonl"
_MOST_BYTES = 1024 * 1024
_LONGEST_LINE = 256 * 1024
_MOST_WAITING = 64 * 1024 * 1024  # hooks stop earlier: where we put lines in, lines are taken away too
_LAST_MOMENT = 253_402_300_800.0  # the year 10000
_MOST_COUNT = 1_000_000

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Spooled:
    """One line: an event of a client's hook, or a note that was given.

    `id` names the delivery, `at` is its moment in epoch seconds, `redacted` counts by kind what was taken
    out.
    """

    id: str
    at: float
    client: str = ""
    event: Mapping[str, object] = field(default_factory=dict)
    redacted: Mapping[str, int] = field(default_factory=dict)
    note: Mapping[str, object] | None = None
    raw: bytes = b""


class Spool:
    """The spool in `folder`; one reader at a time, writers in any process.

    `read` goes on from where it stood; `clear` takes away what was read, once its outcome is stored, and
    `make_room` does so while there is more to read.
    """

    def __init__(self, folder: Path) -> None:
        self.file = folder / FILE_NAME
        self._active = folder / _ACTIVE_NAME
        self._aside = folder / _ASIDE_NAME
        self._offset = 0
        self._is_stuck = False

    def put(self, line: bytes) -> bool:
        """Append one line made by `hook_program.line`; False when it can't be kept."""
        try:
            return hook_program.append(str(self.file), line, most=_MOST_WAITING)
        except OSError as fault:
            log.error("%s can't be written: %s", self.file, fault.strerror)
            return False

    def waiting(self) -> bool:
        """Return whether there is something that was not read yet."""
        return self._size() > self._offset

    def _size(self) -> int:
        try:
            found = self.file.stat()
        except OSError:
            return 0
        return found.st_size if stat.S_ISREG(found.st_mode) else 0  # a pipe would hold its reader for ever

    def read(self) -> list[Spooled]:
        """Return the next whole lines, about a mebibyte at most; those that are none are passed over."""
        size = self._size()
        if size < self._offset:  # emptied by somebody else
            self._offset = 0
        if size <= self._offset:
            return []
        try:
            with self.file.open("rb") as file:
                file.seek(self._offset)
                data = file.read(_MOST_BYTES)
        except OSError:
            return []
        end = data.rfind(b"\n") + 1
        if not end and len(data) >= _LONGEST_LINE:
            end = len(data)  # no line of ours is so long
        self._offset += end
        lines = [line for line in data[:end].split(b"\n") if line.strip()]
        found = [_parsed(line) for line in lines]
        lost = found.count(None)
        if lost:
            log.warning("%d lines of %s are damaged and were passed over", lost, self.file)
        return [each for each in found if each is not None]

    def active(self) -> list[str]:
        """Return the projects that had open turns when the reader last stood still."""
        try:
            raw = json.loads(self._active.read_bytes())
        except (OSError, ValueError):
            return []
        return [id for id in raw if isinstance(id, str)] if isinstance(raw, list) else []

    def set_active(self, projects: Sequence[str]) -> None:
        """Keep which projects have open turns; not to know costs them only a late end."""
        try:
            self._active.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(self._active, "w", encoding="utf-8", opener=_private) as file:
                json.dump(list(projects), file)
        except OSError as fault:
            log.warning("%s can't be written: %s", self._active, fault.strerror)

    def set_aside(self, lines: Sequence[Spooled]) -> None:
        """Keep lines out of the way of the others until the next start; bounded as the spool itself.

        Raises:
            StorageError: the disk is full or not writable; the lines must stay where they are.
        """
        kept = 0
        try:
            for line in lines:
                kept += hook_program.append(str(self._aside), b"\n" + line.raw + b"\n")
        except OSError as fault:
            raise StorageError(
                f"{self._aside} can't be written ({fault.strerror}); free some space or check its folder."
            ) from fault
        if kept < len(lines):
            log.error("%s is full: %d lines are given up", self._aside, len(lines) - kept)

    def take_back(self) -> None:
        """Put what was set aside back, to be tried again; what comes twice is known by id."""
        try:
            lines = [line for line in self._aside.read_bytes().split(b"\n") if line.strip()]
        except OSError:
            return
        if all(self.put(b"\n" + line + b"\n") for line in lines):
            self._aside.unlink(missing_ok=True)

    def rewind(self) -> None:
        """Begin again with the first line that was not cleared away."""
        self._offset = 0

    def clear(self) -> bool:
        """Empty the file if all of it was read; False when more has come, or somebody writes now."""
        if not self._size():
            self._offset = 0
            return True
        try:
            descriptor = os.open(self.file, os.O_RDWR)
        except OSError as fault:
            return self._left(fault)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            size = os.fstat(descriptor).st_size
            rest = os.pread(descriptor, _LONGEST_LINE, self._offset)
            if b"\n" in rest or len(rest) >= _LONGEST_LINE:
                return False
            if size:
                os.ftruncate(descriptor, 0)
            self._offset = 0
            self._is_stuck = False
            return True
        except BlockingIOError:
            return False
        except OSError as fault:
            return self._left(fault)
        finally:
            os.close(descriptor)

    def make_room(self) -> None:
        """Take away what was read, once that is much; its outcome must be stored.

        What was not read moves to the front of the same file. Whoever is killed meanwhile leaves some lines
        twice and one torn, and loses none.
        """
        if self._offset < _MOST_BYTES // 2 or self._is_stuck:
            return
        try:
            with self.file.open("r+b", 0) as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                rest, here = os.fstat(file.fileno()).st_size - self._offset, 0
                read, self._offset = self._offset, 0  # whatever comes between, all of the rest is read anew
                while here < rest and (data := os.pread(file.fileno(), _MOST_BYTES, read + here)):
                    here += os.pwrite(file.fileno(), data, here)
                os.ftruncate(file.fileno(), here)
        except BlockingIOError:
            return
        except OSError as fault:
            self._left(fault)

    def _left(self, fault: OSError) -> bool:
        """Leave what was read where it is; it is not read again."""
        if not self._is_stuck:
            log.warning("%s can't be emptied: %s", self.file, fault.strerror)
        self._is_stuck = True
        return True


def _parsed(line: bytes) -> Spooled | None:
    try:
        raw = json.loads(line)
    except (ValueError, RecursionError):
        return None
    match raw:
        case {"id": str(id), "at": int() | float() as at} if abs(at) < _LAST_MOMENT:
            pass
        case _:
            return None
    match raw:
        case {"note": dict() as note}:
            return Spooled(id, float(at), note=note, raw=line)
        case {"client": str(client), "event": dict() as event}:
            return Spooled(id, float(at), client, event, counts(raw.get("redacted")), raw=line)
    return None


def counts(raw: object) -> dict[str, int]:
    """Return how often something was taken out, by kind, as told; what is no such count is left out."""
    if not isinstance(raw, dict):
        return {}
    return {kind[:60]: count for kind, count in raw.items() if type(count) is int and 0 < count < _MOST_COUNT}


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
