"""Owns the cursors of lists: opaque text that names the last row shown; new rows don't shift the pages."""

from __future__ import annotations

import base64
import binascii
import json
from typing import TypeVar

from graphmem.errors import InvalidInputError

Key = TypeVar("Key", str, int)


def encode_cursor(at: float, key: str | int) -> str:
    """Return the cursor after a row that sorts by `(at, key)`."""
    return base64.urlsafe_b64encode(json.dumps([at, key]).encode()).decode().rstrip("=")


def decode_cursor(cursor: str, kind: type[Key]) -> tuple[float, Key]:
    """Return the row a cursor names; `kind` is the type of the list's keys.

    Raises:
        InvalidInputError: it was not made by `encode_cursor` for such a list.
    """
    refused = InvalidInputError("The cursor is not one this list gave; start without one.", "cursor")
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        value = json.loads(base64.urlsafe_b64decode(padded.encode("ascii")))
    except (ValueError, binascii.Error, UnicodeError, RecursionError):
        raise refused from None
    match value:
        case [int() | float() as at, key] if (
            type(at) is not bool and type(key) is kind and abs(at) < 1e15 and _usable(key)
        ):
            return float(at), key
        case _:
            raise refused


def _usable(key: str | int) -> bool:
    if isinstance(key, int):
        return 0 <= key < 2**62
    return key.isprintable() or key.encode("utf-8", "replace").decode() == key
