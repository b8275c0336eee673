"""Owns the rules of a pruning as they are configured: limits of age by kind, and a size.

It is not what they come to (`graphmem.retention`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from graphmem.errors import InvalidInputError
from graphmem.question import PieceKind

LIMITED = tuple(kind for kind in PieceKind if kind is not PieceKind.DECISION)
"""The kinds that may have a limit of age; of tasks it is for those that are done."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What may go: `days` by kind, and the most bytes a project's files may take; nothing by default."""

    days: Mapping[PieceKind, float] = field(default_factory=dict)
    max_bytes: int | None = None

    def checked(self) -> Rules:
        """Return the rules as they are.

        Raises:
            InvalidInputError: a kind that has no limit, or a limit below one.
        """
        for kind, days in self.days.items():
            if kind not in LIMITED:
                raise InvalidInputError(
                    f"The kind {kind!r} has no limit of age; give one of {', '.join(LIMITED)}.", "days"
                )
            if not 1 <= days <= 100_000:
                raise InvalidInputError(
                    f"The limit of {days} days for {kind} is out of range; take 1 to 100000.", "days"
                )
        if self.max_bytes is not None and self.max_bytes < 1:
            raise InvalidInputError(
                f"The size {self.max_bytes} is out of range; take 1 byte or more.", "max_bytes"
            )
        return self
