"""Owns having a project's edges brought up before a question about them is answered, within a set time.

It is not the bringing up itself (`graphmem.curator`).
"""

from __future__ import annotations

import time

from graphmem.database import DamageError
from graphmem.errors import UnavailableError
from graphmem.follower import PATIENCE
from graphmem.opened import Opened
from graphmem.recall.impact import unfinished

_TRIES = 3


def deadline(patience: float = PATIENCE) -> float:
    """Return until when a question may wait that has `patience` (seconds), on the monotonic clock."""
    return time.monotonic() + patience


def left(until: float) -> float:
    """Return the seconds left until then, at least 0."""
    return max(0.0, until - time.monotonic())


def refreshed(files: Opened, until: float) -> str | None:
    """Have the edges brought up; return what they lack when that takes too long."""
    for _ in range(_TRIES):
        files.follower.await_start(left(until))
        try:
            files.curator.refresh(left(until))
        except UnavailableError as fault:
            return str(fault)
        except DamageError:
            continue  # the file is built anew by now
        break
    behind = files.follower.behind()
    return None if behind is None else unfinished(*behind)
