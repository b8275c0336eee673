"""Owns the console script's first step, under a name of its own: the isolation check, found by its place.

With a foreign `api/` on the search path the script could not even import `api.entry`, and would run the other
package's code. It is not the program; that begins in `api.entry`.
"""

from __future__ import annotations

import importlib.util
import os
import sys


def main() -> None:
    """Check that `api`, `inference` and `graphmem` are GraphMem's own, then run the command line."""
    place = os.path.join(os.path.dirname(os.path.realpath(__file__)), "api", "isolation.py")
    spec = importlib.util.spec_from_file_location("graphmem_isolation", place)
    if spec is None or spec.loader is None:
        sys.exit(f"GraphMem is not installed completely, as {place} is missing: install it again.")
    isolation = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = isolation
    spec.loader.exec_module(isolation)
    isolation.ensure_own_packages()
    from api.entry import main as enter

    enter()
