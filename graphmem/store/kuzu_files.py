"""Owns the files of a graph on the disk: what belongs to it, and whether it can be trusted.

It is not what is in them, nor where they lie (`graphmem.store.files`). The engine can be brought down, not
only misled, by a damaged file or log (measured: a crash in four of forty kinds of damage), so no file is
opened whose seal does not match: the seal is written after each change and names size and time of the file
and of its log.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from graphmem.store.kuzu_schema import FORMAT
from graphmem.store.port import GraphFault, GraphFull

_COMPANIONS = (".wal", ".shadow", ".tmp")


def loading_beside(path: Path) -> Path:
    """Return where a load is written before it takes the file's place."""
    return path.with_name(path.name + ".loading")


def remove(path: Path) -> None:
    """Remove the file and what belongs to it; what is not there is no fault."""
    for part in (path, *(path.with_name(path.name + suffix) for suffix in _COMPANIONS), _seal_file(path)):
        _remove(part)


def put_in_place(beside: Path, path: Path) -> None:
    """Let the closed file `beside` take the place of `path`.

    Raises:
        GraphFull: the folder can't be written.
    """
    try:
        # Without its seal the old file can't be taken for whole, should this end between the two steps.
        remove(path)
        beside.rename(path)
        remove(beside)
    except OSError as fault:
        raise _unwritable(path, fault) from fault


def write_seal(path: Path, engine: str, loaded: int) -> None:
    """Note that the file is as `engine` left it after a change that is whole; `loaded` bytes it had at first.

    Raises:
        GraphFull: the disk is full or the folder not writable.
    """
    try:
        _seal_file(path).write_text(_seal(path, engine, loaded), encoding="ascii")
    except OSError as fault:
        raise _unwritable(path, fault) from fault


def check_seal(path: Path, engine: str) -> int:
    """See that the file is the one that was sealed, and return the bytes it had when it was loaded.

    Raises:
        GraphFault: it was changed from outside, not left in order, or written by another version.
    """
    try:
        found = _seal_file(path).read_text(encoding="ascii")
        form, version, loaded, *_ = found.split(" ")
        bytes_loaded = int(loaded)
    except (OSError, ValueError):
        raise GraphFault(f"The graph {path} was not left in order; it must be built anew.") from None
    if (form, version) != (str(FORMAT), engine):
        raise GraphFault(f"The graph {path} was written by another version; it must be built anew.")
    if not path.is_file() or found != _seal(path, engine, bytes_loaded):
        raise GraphFault(f"The graph {path} was changed from outside; it must be built anew.")
    return bytes_loaded


def _seal_file(path: Path) -> Path:
    return path.with_suffix(".seal")


def _seal(path: Path, engine: str, loaded: int) -> str:
    return f"{FORMAT} {engine} {loaded} {_state(path)} {_state(path.with_name(path.name + '.wal'))}"


def _state(path: Path) -> str:
    try:
        status = os.stat(path)
    except OSError:
        return "-"
    return f"{status.st_size}:{status.st_mtime_ns}"


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _unwritable(path: Path, fault: OSError) -> GraphFull:
    return GraphFull(
        f"The folder of the graph {path} can't be written ({fault.strerror}); "
        "check permissions and free space."
    )
