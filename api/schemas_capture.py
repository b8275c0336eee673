"""Owns the JSON shape that says whether agents' work is recorded; it is not the recording."""

from __future__ import annotations

from api.schemas import Shape


class CaptureOut(Shape):
    """Whether work is recorded: the project's, and that session's where one was named."""

    enabled: bool
    session: str | None = None
