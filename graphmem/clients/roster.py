"""Owns which clients are known, by the name in `/hooks/{client}`.

It is not how any of them speaks. Another client is added here and in a module of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from graphmem.clients.claude_code import ClaudeCode
from graphmem.clients.codex import Codex
from graphmem.clients.cursor import Cursor
from graphmem.clients.port import ClientAdapter

_ALL: tuple[ClientAdapter, ...] = (ClaudeCode(), Codex(), Cursor())

ADAPTERS: Mapping[str, ClientAdapter] = MappingProxyType({adapter.name: adapter for adapter in _ALL})
"""The adapter of each client that can be heard from outside, by the client's name."""
