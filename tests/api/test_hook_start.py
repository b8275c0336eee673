"""The hook program with the real service: the first hooks of a session start it, and then it answers."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from api.lifecycle import find_service, stop
from graphmem import hook_program
from graphmem.home import Home

PATIENT = 30.0


def test_hooks_at_once_in_a_virtual_environment_start_one_service_that_works(
    installation: Any, tmp_path: Path
) -> None:
    home = Home(tmp_path / "home")
    command = [installation.python, "-I", "-S", hook_program.__file__, "claude-code", "--home", home.path]
    start = {
        "session_id": "s-1",
        "cwd": str(tmp_path),
        "hook_event_name": "SessionStart",
        "source": "startup",
    }

    def fire(_: int) -> tuple[int, bytes, bytes]:
        done = subprocess.run(
            command,
            input=json.dumps(start).encode(),
            capture_output=True,
            env=os.environ | {"GRAPHMEM_PORT": "0"},
        )
        return done.returncode, done.stdout, done.stderr

    try:
        with ThreadPoolExecutor(5) as pool:
            assert list(pool.map(fire, range(5))) == [(0, b"", b"")] * 5
        deadline, tick = time.monotonic() + PATIENT, threading.Event()
        while (service := find_service(home)) is None and time.monotonic() < deadline:
            tick.wait(0.05)
        assert service is not None
        holder = home.holder()
        assert holder is not None
        assert holder.pid == service.pid
        assert fire(5) == (0, b"", b"")
    finally:
        stop(home)
    assert home.holder() is None
