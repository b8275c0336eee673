"""What is under way shows itself on a terminal, once it takes long; nowhere else and no sooner."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any

import pytest

from api.progress import Waiting


class Terminal(io.StringIO):
    """A terminal nobody sits at."""

    def isatty(self) -> bool:
        return True


def test_what_takes_long_shows_itself_and_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, eventually: Callable[..., Any]
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr("api.progress.PATIENCE", 0.0)
    with Waiting("Looking for edges"):
        eventually(lambda: "Looking for edges" in terminal.getvalue())
    ended = terminal.getvalue()
    assert ended.endswith("\x1b[2K"), "its line is wiped"


@pytest.mark.parametrize(("stream", "patience"), [(Terminal, 60.0), (io.StringIO, 0.0)])
def test_what_is_done_soon_or_goes_into_a_file_shows_nothing(
    monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO], patience: float
) -> None:
    written = stream()
    monkeypatch.setattr(sys, "stderr", written)
    monkeypatch.setattr("api.progress.PATIENCE", patience)
    with Waiting("Looking for edges"):
        pass
    assert written.getvalue() == ""


def test_a_fault_passes_through_what_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.raises(ValueError, match="broken"), Waiting("Looking for edges"):
        raise ValueError("broken")
