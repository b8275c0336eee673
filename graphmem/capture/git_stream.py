"""Owns a running `git`: its output as chunks, its complaints aside, its end under every circumstance.

It is not the meaning of the output (`graphmem.capture.git_log`), and not git's short answers
(`graphmem.repository.git_output`).
"""

from __future__ import annotations

import os
import selectors
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Self

from graphmem.errors import SourceError
from graphmem.repository import git_environment

_CHUNK = 1 << 18
_TICK = 0.1
_PATIENCE = 5.0
_COMPLAINT = 300
_COMPLAINTS = 1 << 20


class GitStream:
    """One git process that only reads; a context manager that leaves no process behind.

    It asks nothing, opens no pager, takes no optional lock, and reaches no network: a partial clone would
    otherwise fetch what it lacks, blob by blob.

    Raises:
        SourceError: git can't be started.
    """

    def __init__(self, location: str, arguments: Sequence[str]) -> None:
        # Complaints go into a file, as a pipe nobody empties would stop git once it is full.
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `close`)
        try:
            self._process = subprocess.Popen(
                ["git", "--no-pager", "--literal-pathspecs", "-C", location, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=self._complaints,
                env=git_environment() | {"GIT_ALLOW_PROTOCOL": "none"},
                # Ctrl-C is for us: git in our group would die of it and look like a broken repository.
                start_new_session=True,
            )
        except OSError as fault:
            self._complaints.close()
            raise SourceError(
                f"git could not be started ({fault.strerror}); install it, or check the PATH."
            ) from fault

    def chunks(self, stop: threading.Event | None = None) -> Iterator[bytes]:
        """Yield the output until git closes it; an empty chunk means that nothing came for a tenth second.

        Ends early, with git still running, when `stop` is set.
        """
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            while not (stop is not None and stop.is_set()):
                if not selector.select(_TICK):
                    yield b""
                    continue
                chunk = os.read(descriptor, _CHUNK)
                if not chunk:
                    return
                yield chunk

    def number(self) -> int | None:
        """Return the number that git printed, or None while it counts and when it failed."""
        if self._process.poll() != 0 or self._process.stdout is None:
            return None
        return int(self._process.stdout.read())

    def wait(self) -> int:
        """Return git's exit status once it has closed its output."""
        return self._process.wait()

    def complaint(self) -> str:
        """Return git's first and last line that say `error` or `fatal`, else its last line, shortened."""
        self._complaints.seek(0)
        lines = self._complaints.read(_COMPLAINTS).decode("utf-8", "backslashreplace").strip().splitlines()
        grave = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines[-1:]
        told = "; ".join(dict.fromkeys((*grave[:1], *grave[-1:])))
        return told[:_COMPLAINT] or "it gave no reason"

    def close(self) -> None:
        """End git and free what it held."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._complaints.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
