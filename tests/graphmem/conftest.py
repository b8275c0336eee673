"""Owns what the tests of the memory share: a path resolver over a history given as a set of names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from graphmem.identity import PathResolver


@pytest.fixture
def learned() -> list[str]:
    return []


@pytest.fixture
def resolver(learned: list[str]) -> Callable[..., PathResolver]:
    def build(
        root: str | Path, history: Iterable[str] = (), *more: str, common_dir: str | None = None
    ) -> PathCallable[..., PathResolver]:
        return PathResolver([str(root), *more], set(history).__contains__, common_dir, learned.append)

    return build
