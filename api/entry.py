"""Owns the start of the program: first the isolation check, then the command line.

It is not a command itself, and imports only the standard library until the check has passed.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run `graphmem` with the process's arguments and end the process with its exit status."""
    from api.isolation import ensure_own_packages

    ensure_own_packages()
    from api.cli import run

    sys.exit(run(sys.argv[1:]))
