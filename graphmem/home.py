"""Owns the home folder: where things lie, who holds it, the token, and the running service's record.

It is not what the files hold: the registry, the journals and the derived data have modules of their own.
`GRAPHMEM_HOME` and `--home` are read by the ways in, not here.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import secrets
import string
import tempfile
import time
import weakref
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType

import platformdirs

from graphmem.errors import HomeError

_PRIVATE_FOLDER = 0o700
_PRIVATE_FILE = 0o600
_TOKEN_BYTES = 32
_TOKEN_ALPHABET = frozenset(string.ascii_letters + string.digits + "-_.~+/=")
_TOKEN_AT_LEAST = 16
_GRACE = 0.25  # seconds: long enough for a look at the lock by `holder`, or for a holder that is just leaving
_POLL = 0.01
_FAR_FUTURE = 1e11


def default_home() -> Path:
    """Return the platform's user data folder for GraphMem, never one relative to the current folder.

    Raises:
        HomeError: the user has no home folder, as in some containers.
    """
    try:
        folder = Path(platformdirs.user_data_dir("graphmem", appauthor=False))
    except RuntimeError:
        folder = Path("~")
    if not folder.is_absolute():
        raise HomeError(
            "There is no home folder for this user; set HOME, or name a folder for GraphMem with --home."
        )
    return folder


@dataclass(frozen=True, slots=True)
class LockHolder:
    """The process that holds a home; `purpose` is what it does, such as "serve"; pid 0 if not yet known."""

    pid: int
    purpose: str


@dataclass(frozen=True, slots=True)
class ServiceRecord:
    """The service that last said it runs on a home; `started_at` in epoch seconds. It may be dead by now."""

    pid: int
    port: int
    started_at: float


class HomeLock:
    """The exclusive hold on a home by this process, until `release` or the process's end.

    A child made by fork does not share it: its copy of the descriptor is closed at once, or the lock
    would outlive its owner.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor
        _HELD.add(self)

    @property
    def held(self) -> bool:
        """Whether this process still holds the home."""
        return self._descriptor is not None

    def release(self) -> None:
        """Let go; a second call does nothing."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, 0)
            os.close(descriptor)

    def forget(self) -> None:
        """Close the descriptor without touching the lock, in a forked child."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def __enter__(self) -> HomeLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


_HELD: weakref.WeakSet[HomeLock] = weakref.WeakSet()


def _forget_in_child() -> None:
    for lock in list(_HELD):
        lock.forget()


os.register_at_fork(after_in_child=_forget_in_child)


class Home:
    """The folder that holds everything GraphMem keeps for one user.

    Args:
        path: the folder; made absolute at once, so that a later change of the current folder is harmless.

    Raises:
        HomeError: `path` is empty.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not os.fspath(path):
            raise HomeError("The home is an empty name; name a folder with --home or leave it out.")
        self.path = Path(os.path.abspath(os.path.expanduser(path)))
        self.projects_folder = self.path / "projects"
        self.logs_folder = self.path / "logs"
        self.spool_folder = self.path / "spool"
        self.models_folder = self.path / "models"
        self.registry_file = self.path / "registry.db"
        self.config_file = self.path / "config.toml"
        self.token_file = self.path / "token"
        self.service_file = self.path / "service.json"
        self.lock_file = self.path / "lock"

    def __repr__(self) -> str:
        return f"Home({str(self.path)!r})"

    def project_folder(self, project: str) -> Path:
        """Return the folder of the project with that id; it may not exist yet."""
        return self.projects_folder / project

    def prepare(self) -> None:
        """Make the folders, readable by their owner only, and see that they can be written to.

        A home that already exists keeps its mode: it may be a folder the user shares with other things.

        Raises:
            HomeError: a file is in the way, the folder can't be written to, or the disk is full.
        """
        try:
            for folder in (self.path, self.projects_folder, self.logs_folder):
                if not folder.is_dir():
                    folder.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
                    folder.chmod(_PRIVATE_FOLDER)
            with tempfile.TemporaryFile(dir=self.path, buffering=0) as probe:
                probe.write(b"graphmem")
        except OSError as fault:
            raise self._fault(fault) from fault

    # ---- the lock ------------------------------------------------------------------------------

    def lock(self, purpose: str, wait: float = 0.0) -> HomeLock:
        """Take the home for this process, waiting up to `wait` seconds for another one to leave.

        Raises:
            HomeError: another process holds it (its pid and purpose are named), or the home can't be used.
        """
        self.prepare()
        deadline = time.monotonic() + max(wait, _GRACE)
        while True:
            descriptor = self._try_lock(purpose)
            if descriptor is not None:
                return HomeLock(descriptor)
            if time.monotonic() >= deadline:
                raise self._occupied()
            time.sleep(_POLL)

    def holder(self) -> LockHolder | None:
        """Return who holds the home now, or None when nobody does."""
        try:
            descriptor = os.open(self.lock_file, os.O_RDONLY)
        except OSError:
            return None
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return _read_holder(descriptor)
            return None
        finally:
            os.close(descriptor)

    def _try_lock(self, purpose: str) -> int | None:
        try:
            descriptor = os.open(self.lock_file, os.O_RDWR | os.O_CREAT, _PRIVATE_FILE)
        except OSError as fault:
            raise self._fault(fault) from fault
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Somebody may have removed the file between opening and locking: such a lock guards nothing.
            if not os.path.samestat(os.fstat(descriptor), self.lock_file.stat()):
                os.close(descriptor)
                return None
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, json.dumps({"pid": os.getpid(), "purpose": purpose}).encode(), 0)
        except (BlockingIOError, FileNotFoundError):
            os.close(descriptor)
            return None
        except OSError as fault:
            os.close(descriptor)
            raise self._fault(fault) from fault
        return descriptor

    def _occupied(self) -> HomeError:
        holder = self.holder()
        who = "another process"
        if holder is not None and holder.pid:
            who = "this process itself" if holder.pid == os.getpid() else f"process {holder.pid}"
            who += f" ({holder.purpose})" if holder.purpose else ""
        return HomeError(
            f"The home {self.path} is in use by {who}; end it with `graphmem stop`, wait until it is done, "
            "or choose another home with --home."
        )

    # ---- the token -----------------------------------------------------------------------------

    def token(self) -> str:
        """Return the secret every request must carry, made at the first call and readable by the owner only.

        Processes that ask at the same moment get the same one: the file itself is the lock.

        Raises:
            HomeError: the file can't be written or read, or holds something that can't be a token.
        """
        self.prepare()
        try:
            descriptor = os.open(self.token_file, os.O_RDWR | os.O_CREAT, _PRIVATE_FILE)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                if os.fstat(descriptor).st_mode & 0o077:
                    os.fchmod(descriptor, _PRIVATE_FILE)
                text = os.read(descriptor, 4096).decode("ascii", "replace").strip()
                if not text:
                    text = secrets.token_urlsafe(_TOKEN_BYTES)
                    os.ftruncate(descriptor, 0)
                    os.pwrite(descriptor, text.encode(), 0)
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as fault:
            raise self._fault(fault, self.token_file) from fault
        if len(text) < _TOKEN_AT_LEAST or not _TOKEN_ALPHABET.issuperset(text):
            raise HomeError(f"{self.token_file} does not hold a token; delete it and a new one is made.")
        return text

    # ---- the service's record ------------------------------------------------------------------

    def write_service(self, record: ServiceRecord) -> None:
        """Say which service runs here, at once or not at all.

        Raises:
            HomeError: the file can't be written.
        """
        self.prepare()
        fresh = self.path / f".service-{os.getpid()}-{secrets.token_hex(4)}"
        try:
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE_FILE)
            try:
                with os.fdopen(descriptor, "w", encoding="ascii") as file:
                    json.dump(asdict(record), file)
                    file.flush()
                    os.fsync(file.fileno())
                fresh.replace(self.service_file)
            except OSError:
                fresh.unlink(missing_ok=True)
                raise
        except OSError as fault:
            raise self._fault(fault, self.service_file) from fault

    def read_service(self) -> ServiceRecord | None:
        """Return the service's record, or None when there is none or the file is not one."""
        try:
            raw = json.loads(self.service_file.read_bytes())
        except (OSError, ValueError, RecursionError):
            return None
        match raw:
            case {"pid": int(pid), "port": int(port), "started_at": int() | float() as at} if (
                type(pid) is type(port) is int and pid > 0 and 0 < port < 65_536 and 0 <= at < _FAR_FUTURE
            ):
                return ServiceRecord(pid, port, float(at))
        return None

    def remove_service(self, pid: int | None = None) -> None:
        """Take the record away; with `pid`, only if it is that process's own."""
        record = self.read_service()
        if pid is None or (record is not None and record.pid == pid):
            self.service_file.unlink(missing_ok=True)

    # ---- faults --------------------------------------------------------------------------------

    def _fault(self, fault: OSError, file: Path | None = None) -> HomeError:
        place = f"The home {self.path}" if file is None else f"The file {file} in the home"
        match fault.errno:
            case errno.EEXIST | errno.ENOTDIR:
                at_fault = fault.filename if isinstance(fault.filename, str) else str(self.path)
                cause, remedy = (
                    f"{at_fault} is not a folder",
                    "move it away or choose another home with --home",
                )
            case errno.EACCES | errno.EPERM:
                cause = "its permissions forbid it"
                remedy = "give your user the right to write there or choose another home with --home"
            case errno.EROFS:
                cause, remedy = "its disk is read-only", "choose another home with --home"
            case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
                cause, remedy = "its disk is full", "free some space and try again"
            case errno.ENAMETOOLONG:
                cause, remedy = "its name is too long", "choose a shorter home with --home"
            case _:
                cause = os.strerror(fault.errno) if fault.errno else str(fault)
                remedy = "mend that or choose another home with --home"
        return HomeError(f"{place} can't be written to because {cause}; {remedy}.")


def _read_holder(descriptor: int) -> LockHolder:
    try:
        raw = json.loads(os.pread(descriptor, 4096, 0))
    except (OSError, ValueError):
        return LockHolder(0, "")
    match raw:
        case {"pid": int(pid), "purpose": str(purpose)}:
            return LockHolder(pid, purpose)
    return LockHolder(0, "")
