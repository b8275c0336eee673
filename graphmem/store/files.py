"""Owns where a project's graph lies: which engine opens it, and how a bad one is put out of the way.

It is not the store (that is the engine's module). The engine is loaded only when a graph is really opened.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from graphmem.store.port import GraphFault, GraphFull, GraphStore

_NAME = "graph.kuzu"
_PATTERN = "graph*"
_ASIDE = "damaged-graph"


class GraphFiles:
    """The graph's files in a project's folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self) -> GraphStore:
        """Open the graph, made anew where there is none.

        Raises:
            GraphFault: what lies there is not a graph of this version, or is damaged.
        """
        from graphmem.store.kuzu import KuzuStore

        return KuzuStore(self._folder / _NAME)

    def set_aside(self) -> None:
        """Move the files out of the way; one such copy is kept.

        Raises:
            GraphFull: the folder can't be written.
        """
        try:
            aside = self._folder / _ASIDE
            shutil.rmtree(aside, ignore_errors=True)
            found = list(self._folder.glob(_PATTERN))
            if found:
                aside.mkdir(mode=0o700, exist_ok=True)
            for path in found:
                path.rename(aside / path.name)
        except OSError as fault:
            raise GraphFull(
                f"The damaged graph in {self._folder} can't be moved ({fault.strerror}); check permissions."
            ) from fault

    def remove(self) -> None:
        """Delete the files, the copy set aside too.

        Raises:
            GraphFault: one of them can't be deleted.
        """
        for path in [*self._folder.glob(_PATTERN), self._folder / _ASIDE]:
            try:
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink(missing_ok=True)
            except OSError as fault:
                raise GraphFault(f"{path} can't be deleted ({fault.strerror}); check permissions.") from fault

    def size_bytes(self) -> int:
        """Return the size of the graph's files in bytes."""
        return sum(path.stat().st_size for path in self._folder.glob(_PATTERN) if path.is_file())

    def was_set_aside(self) -> bool:
        """Return whether a damaged copy is kept."""
        return (self._folder / _ASIDE).exists()
