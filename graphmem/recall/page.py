"""Owns the cursors of lists: opaque text that names the last row shown; new rows don't shift the pages."""

from __future__ import annotations

import base64
import binascii
import json

from graphmem.errors import InvalidInputError


def encode_cursor(at: float, key: str | int) -> str:
    """Return the cursor after a row that sorts by `(at, key)`."""
    return base64.urlsafe_b64encode(json.dumps([at, key]).encode()).decode().rstrip("=")


def decode_cursor(cursor: str) -> tuple[float, str | int]:
    """Return the row a cursor names.

    Raises:
        InvalidInputError: it was not made by `encode_cursor`.
    """
    refused = InvalidInputError("The cursor is not one this list gave; start without one.", "cursor")
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        value = json.loads(base64.urlsafe_b64decode(padded.encode("ascii")))
    except (ValueError, binascii.Error, UnicodeError, RecursionError):
        raise refused from None
    match value:
        case [bool(), _] | [_, bool()]:
            raise refused
        case [int() | float() as at, str() | int() as key] if abs(at) < 1e15 and not _too_big(key):
            return float(at), key
        case _:
            raise refused


def _too_big(key: str | int) -> bool:
    return isinstance(key, int) and not 0 <= key < 2**62
