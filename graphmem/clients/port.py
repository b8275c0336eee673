"""Owns the seam to agent clients: a client's raw hook JSON becomes events, advice becomes that client's JSON.

It is not transport (that is `graphmem.hook_program` and `api.routes_hooks`) nor what events lead to. It lies
below `api`, as transcripts are read with the same knowledge of a client's tools.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from graphmem.events import Advice, Event


class ClientAdapter(Protocol):
    """One agent client.

    Unknown events, tools and fields, and values of a wrong type, are passed over: they give no event, never
    an error. Both calls see the event as `graphmem.hook_program.reduced` left it, or whole.
    """

    @property
    def name(self) -> str:
        """The name in `/hooks/{client}` and as an observation's source, such as "claude-code"."""
        ...

    def events(self, raw: Mapping[str, object], at: float) -> list[Event]:
        """Return what one hook call tells, in order; `at` is when it was made, epoch seconds."""
        ...

    def answer(self, raw: Mapping[str, object], advice: Advice | None) -> dict[str, object]:
        """Return the JSON to print in answer to the hook call; empty where this event can carry nothing."""
        ...
