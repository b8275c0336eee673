"""Owns the service as a process: who runs on a home, starting it, ending it, saying how it stands.

It is not the service (that is `api.service`). Whether a listener is ours is decided by a handshake that
only a holder of the home's token can answer, so the token is never sent to a stranger; every wait has an end.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO

from api.doorkeeper import Doorkeeper
from graphmem.errors import ConflictError, UnavailableError
from graphmem.home import Home, ServiceRecord

LOOPBACK = "127.0.0.1"
LOG_NAME = "service.log"
_HANDSHAKE_SECONDS = 1.0
_START_SECONDS = 20.0
_STOP_SECONDS = 15.0
_POLL_SECONDS = 0.05
_MOST_ANSWER_BYTES = 64 * 1024


class ServiceState(StrEnum):
    """How the service of a home stands."""

    RUNNING = "running"
    STOPPED = "stopped"
    BUSY = "home in use"


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    """How the service stands; `record` only while it runs, `sentence` for a person."""

    state: ServiceState
    sentence: str
    record: ServiceRecord | None = None

    @property
    def url(self) -> str | None:
        """The address of the running service."""
        return None if self.record is None else service_url(self.record.port)


def service_url(port: int) -> str:
    """Return the address of a service on this port."""
    return f"http://{LOOPBACK}:{port}"


def find_service(home: Home, deadline: float = _HANDSHAKE_SECONDS) -> ServiceRecord | None:
    """Return the record of the service that runs on `home`, proven by a handshake within `deadline` seconds.

    A stale record, a dead process, a foreign program or a mute listener on the port all give None.
    """
    record = home.read_service()
    if record is None or not home.token_file.exists():
        return None
    nonce = secrets.token_hex(16)
    answer = _healthz(record.port, nonce, time.monotonic() + deadline)
    expected = Doorkeeper(home.token(), record.port).proof(nonce)
    match answer:
        case {"service": "graphmem", "pid": int(pid), "proof": str(proof)}:
            ours = secrets.compare_digest(proof.encode(), expected.encode()) and pid == record.pid
            return record if ours else None
    return None


def _healthz(port: int, nonce: str, until: float) -> object:
    """Return what `/healthz` on that port says as plain data; None if there is no such answer in time."""
    request = f"GET /healthz?nonce={nonce} HTTP/1.1\r\nHost: {LOOPBACK}:{port}\r\nConnection: close\r\n\r\n"
    received = b""
    try:
        with socket.create_connection((LOOPBACK, port), max(until - time.monotonic(), 0.01)) as connection:
            connection.sendall(request.encode())
            # One deadline for the whole answer: a limit for each read would let a slow talker go on.
            while len(received) < _MOST_ANSWER_BYTES and (left := until - time.monotonic()) > 0:
                connection.settimeout(left)
                chunk = connection.recv(8_192)
                if not chunk:
                    break
                received += chunk
        head, _, body = received.partition(b"\r\n\r\n")
        return json.loads(body) if head.startswith(b"HTTP/1.1 200 ") else None
    except (OSError, ValueError, RecursionError):
        return None


def status(home: Home) -> ServiceStatus:
    """Return how the service of `home` stands, within about a second."""
    record = find_service(home)
    if record is not None:
        sentence = f"GraphMem runs at {service_url(record.port)} (process {record.pid}) on {home.path}."
        return ServiceStatus(ServiceState.RUNNING, sentence, record)
    holder = home.holder()
    if holder is not None:
        who = f"process {holder.pid}" + (f" ({holder.purpose})" if holder.purpose else "")
        return ServiceStatus(
            ServiceState.BUSY,
            f"No service answers, but {who} holds {home.path}: it may be starting or stopping, try again.",
        )
    return ServiceStatus(
        ServiceState.STOPPED, f"No GraphMem service runs on {home.path}: start one with `graphmem serve`."
    )


def stop(home: Home, deadline: float = _STOP_SECONDS) -> ServiceStatus:
    """End the service of `home` and return how it stood before; nothing to end is no fault.

    Raises:
        UnavailableError: it did not end within `deadline` seconds.
    """
    before = status(home)
    pid = _service_process(home, before)
    if pid is None:
        return before
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    if not _becomes(lambda: not _lives(home, pid), deadline):
        raise UnavailableError(
            f"The service (process {pid}) did not end within {deadline:.0f} s: look into "
            f"{home.logs_folder / LOG_NAME}, then end the process by hand."
        )
    return before


def _service_process(home: Home, before: ServiceStatus) -> int | None:
    if before.record is not None:
        return before.record.pid
    # A service too busy to answer is known by the lock: only the process that wrote both names holds it.
    record, holder = home.read_service(), home.holder()
    if record is not None and holder is not None and holder.pid == record.pid:
        return record.pid
    return None


def _lives(home: Home, pid: int) -> bool:
    """Whether the process `pid` still holds the home; its number alone may belong to another one by now."""
    holder = home.holder()
    return holder is not None and holder.pid in {0, pid}


def _becomes(condition: Callable[[], bool], seconds: float) -> bool:
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= until:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def start_detached(home: Home, port: int, deadline: float = _START_SECONDS) -> ServiceRecord:
    """Start a service that outlives this process; return its record once it answers.

    Raises:
        ConflictError: one runs already on this home.
        UnavailableError: it ended at once (its own sentence is passed on), or does not answer in time.
    """
    home.prepare()
    refuse_second(home)
    home.token()
    package_root = Path(__file__).resolve().parent.parent
    environment = dict(os.environ, GRAPHMEM_HOME=str(home.path), GRAPHMEM_PORT=str(port))
    inherited = environment.get("PYTHONPATH")
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(package_root), inherited)))
    # A file of its own: with several starting at once, each passes on its own child's words.
    with tempfile.TemporaryFile(dir=home.logs_folder) as output:
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", "api.service"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=home.path,
            env=environment,
            start_new_session=True,
        )
        return _await_start(home, child, output, deadline)


def _await_start(
    home: Home, child: subprocess.Popen[bytes], output: IO[bytes], deadline: float
) -> ServiceRecord:
    found: list[ServiceRecord] = []

    def settled() -> bool:
        record = home.read_service()
        if record is not None and record.pid == child.pid and find_service(home) is not None:
            found.append(record)
        return bool(found) or child.poll() is not None

    _becomes(settled, deadline)
    if found:
        # It outlives this process by design; a code keeps Popen from warning about that.
        child.returncode = 0
        return found[0]
    if child.poll() is not None:
        raise UnavailableError(_last_words(home, output))
    child.kill()
    child.wait()
    raise UnavailableError(
        f"The service did not answer within {deadline:.0f} s and was ended: look into "
        f"{home.logs_folder / LOG_NAME}."
    )


def _last_words(home: Home, output: IO[bytes]) -> str:
    """Return the sentence with which a service ended that could not start."""
    output.seek(0)
    words = output.read().decode("utf-8", "replace").strip().splitlines()
    return words[-1] if words else f"The service ended at once: look into {home.logs_folder / LOG_NAME}."


def refuse_second(home: Home) -> None:
    """Refuse to start a service on a home that has one.

    Raises:
        ConflictError: one runs already.
    """
    running = find_service(home)
    if running is not None:
        raise ConflictError(
            f"A GraphMem service already runs on {home.path} (process {running.pid}, port {running.port}): "
            "use it, or end it with `graphmem stop`."
        )


def listen(port: int) -> socket.socket:
    """Return a listening socket on the loopback; port 0 takes any free one.

    Raises:
        ConflictError: the port is taken or not allowed.
    """
    # Named in full: asyncio sends small answers at once (TCP_NODELAY) only where the protocol is stated, and
    # without that each answer waits 40 ms for the client's delayed acknowledgement.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, port))
        listener.listen(512)
    except OSError as error:
        listener.close()
        cause = "is taken by another program"
        if error.errno != errno.EADDRINUSE:
            cause = f"can't be listened on ({os.strerror(error.errno or 0)})"
        raise ConflictError(
            f"Port {port} {cause}: choose another one with --port or GRAPHMEM_PORT."
        ) from error
    listener.set_inheritable(False)
    return listener
