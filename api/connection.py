"""Owns the choice of who answers: the running service, or else the files opened by this process.

It is neither of the two. Every wait ends: a mute listener on the service's port costs a third of a second, a
home that one process holds three seconds, and a queue of short-lived holders half a minute.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from api.backend import Backend
from graphmem.errors import HomeError
from graphmem.home import Home, LockHolder
from graphmem.retention_rules import Rules

HANDSHAKE_SECONDS = 0.3
# With one holder. While holders change, others are served: many commands at once must not fail each other.
PATIENCE_SECONDS = 3.0
QUEUE_SECONDS = 30.0
_POLL_SECONDS = 0.05


def connect(home: str | os.PathLike[str], ignore: Sequence[str] = (), rules: Rules | None = None) -> Backend:
    """Return the service of `home` if one runs, else the home's files, once a short-lived holder has left.

    `ignore` are globs of files that get no edges, `rules` what a pruning takes; a service has its own.

    Raises:
        HomeError: another process holds the home and is no service, or the home can't be used.
    """
    place = Home(home)
    now = time.monotonic()
    until, end = now + PATIENCE_SECONDS, now + QUEUE_SECONDS
    seen: LockHolder | None = None
    while True:
        service = _service(place)
        if service is not None:
            return service
        now, holder = time.monotonic(), place.holder()
        if holder != seen:
            seen, until = holder, min(now + PATIENCE_SECONDS, end)
        impatient = now >= until
        if impatient or holder is None:
            try:
                return _files(place, ignore, rules)
            except HomeError:
                if impatient or place.holder() is None:
                    raise
        time.sleep(_POLL_SECONDS)


def _service(home: Home) -> Backend | None:
    if home.read_service() is None:
        return None
    from api.lifecycle import find_service

    record = find_service(home, HANDSHAKE_SECONDS)
    if record is None:
        return None
    from api.backend_remote import RemoteBackend

    return RemoteBackend(record.port, home.token())


def _files(home: Home, ignore: Sequence[str], rules: Rules | None) -> Backend:
    from api.backend_local import LocalBackend
    from graphmem import Memory

    memory = Memory(home.path, purpose="command line", ignore=ignore, rules=rules or Rules())
    return LocalBackend(memory)
