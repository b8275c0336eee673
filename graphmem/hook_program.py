"""Owns the program that agent clients run at each hook: ask the service, print its answer, or spool.

It is not capture: what an event means is decided by the service. It is started as a file of its own with
`python -I -S`, so it uses the standard library only and imports as little as it can; the service loads this
module for the same reduction, secrets and spool lines. It always ends with status 0.
"""

from __future__ import annotations

# ---- secrets and private paths ---------------------------------------------------------------------


def redact(text: str) -> tuple[str, dict[str, int]]:
    """Return the text with secrets as typed placeholders, and how many of each kind there were."""
    return text, {}


def is_private(path: str, folder: str | None) -> bool:
    """Whether nothing may be told of this path; one that is not absolute lies in `folder`."""
    return False


# ---- delivery: reduction, spool, service, start ----------------------------------------------------
