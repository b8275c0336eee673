"""Owns the errors a user of GraphMem can meet: one sentence with the thing, the cause and the remedy.

It is not the mapping to HTTP statuses or exit codes; `api` does that by class.
"""

from __future__ import annotations


class GraphMemError(Exception):
    """A fault the user can act on; `str()` is one sentence that ends with the remedy."""


class NotFoundError(GraphMemError):
    """What was named does not exist; `candidates` are the nearest names that do."""

    def __init__(self, message: str, *, candidates: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.candidates = candidates


class ConflictError(GraphMemError):
    """The request contradicts what is stored, such as a slug that belongs to another root."""


class InvalidInputError(GraphMemError):
    """A value from outside is refused; `field` names it, `candidates` are the nearest usable values."""

    def __init__(self, message: str, field: str | None = None, *, candidates: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.field = field
        self.candidates = candidates


class UnknownNameError(InvalidInputError):
    """A bare name, without a node's type before it, that is no known file's path."""


class SourceError(GraphMemError):
    """An import source can't be read: not a repository, no commits, a corrupt object, a missing file."""


class HomeError(GraphMemError):
    """The home folder can't be used: not writable, or owned by another running process."""


class StorageError(GraphMemError):
    """A file of the memory can't be read or written: disk full, newer version, damage without remedy."""


class UnavailableError(GraphMemError):
    """The service is starting, stopping or away."""
