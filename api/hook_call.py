"""Owns one call of a hook as a client makes it: the command, the event on standard input, the time it took.

It is not the hook program (`graphmem.hook_program`), which runs as a process of its own here as everywhere.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_PATIENCE = 5.0


@dataclass(frozen=True, slots=True)
class HookCall:
    """What came of a call; `status` None: it did not end in time. `took` in milliseconds."""

    status: int | None
    answer: str
    errors: str
    took: float


def call_hook(command: str | Sequence[str], event: Mapping[str, object] | bytes, folder: str) -> HookCall:
    """Run a hook in `folder` and return what came of it; a text is a command line for the shell.

    Raises:
        OSError: the program can't be started.
    """
    content = event if isinstance(event, bytes) else json.dumps(event).encode()
    begun = time.perf_counter()
    try:
        done = subprocess.run(
            command,
            shell=isinstance(command, str),
            input=content,
            capture_output=True,
            cwd=folder,
            timeout=_PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return HookCall(None, "", "", (time.perf_counter() - begun) * 1000)
    took = (time.perf_counter() - begun) * 1000
    answer, errors = (stream.decode("utf-8", "replace") for stream in (done.stdout, done.stderr))
    return HookCall(done.returncode, answer, errors, took)
