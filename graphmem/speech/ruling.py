"""Owns what the rules of both languages say of a sentence: its kind, and the part of it worth keeping."""

from __future__ import annotations

from typing import NamedTuple

from graphmem.model import FactKind, Scope, TaskState


class Ruling(NamedTuple):
    """The kind of a statement; `text` is the sentence without its label, empty where it had none."""

    kind: FactKind
    state: TaskState | None = None
    scope: Scope = Scope.PROJECT
    text: str = ""
