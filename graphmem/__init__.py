"""The memory: vocabulary, journal, capture, recall, and the one facade `Memory`.

`Memory` is loaded at first use, so that importing a single module of the package stays cheap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphmem.memory import Memory, Project

__all__ = ["Memory", "Project"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from graphmem import memory

        return getattr(memory, name)
    raise AttributeError(f"module 'graphmem' has no attribute {name!r}")
