"""Owns what the rules of both languages say of a sentence: its kind, and the part of it worth keeping."""

from __future__ import annotations

import re
from typing import NamedTuple

from graphmem.model import FactKind, Scope, TaskState


class Ruling(NamedTuple):
    """The kind of a statement; `text` is the sentence without its label, empty where it had none."""

    kind: FactKind
    state: TaskState | None = None
    scope: Scope = Scope.PROJECT
    text: str = ""


def any_of(*patterns: str) -> re.Pattern[str]:
    """Return a pattern that finds what any of these finds, in either case."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)
