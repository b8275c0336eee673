"""Owns the one answer to which version runs; it is not a check of the installation (`graphmem doctor` is)."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

DISTRIBUTION = "graphmem"
UNINSTALLED = "0+uninstalled"


def running_version() -> str:
    """Return the installed distribution's version; a bare checkout says so instead."""
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return UNINSTALLED
