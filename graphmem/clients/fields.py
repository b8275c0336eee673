"""Owns how a client's JSON is read when any field may be missing or of another type than it should be.

It is not what the fields mean: each client's own module knows that. Nothing here raises.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from graphmem.events import Phase

_EXIT_CODE = re.compile(r"\s*Exit code:? (-?\d+)\b")
_NONE: Mapping[str, object] = {}


def text(raw: Mapping[str, object], *names: str) -> str:
    """Return the first of these fields that holds text, "" if none does."""
    for name in names:
        value = raw.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def mapping(raw: Mapping[str, object], name: str) -> Mapping[str, object]:
    """Return the object in a field, an empty one if it is none."""
    value = raw.get(name)
    return value if isinstance(value, dict) else _NONE


def texts(raw: Mapping[str, object], name: str) -> tuple[str, ...]:
    """Return the texts in a list, without anything else that stands in it."""
    value = raw.get(name)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def has_failed(raw: Mapping[str, object], response: str = "tool_response") -> bool:
    """Whether a tool call that has come back tells that it failed.

    It does so in the field `ok` of a reduced event; in a whole one in its response, by `is_error`, `success`,
    an `error` that is not empty, or a text that begins with an exit code other than 0.
    """
    if raw.get("ok") is False or raw.get("is_error") is True:
        return True
    answer = raw.get(response)
    if isinstance(answer, str):
        found = _EXIT_CODE.match(answer)
        return found is not None and int(found[1]) != 0
    told = mapping(raw, response)
    return told.get("is_error") is True or told.get("success") is False or text(told, "error") != ""


def has_created(raw: Mapping[str, object]) -> bool:
    """Whether a tool call made a file that was not there before."""
    return raw.get("created") is True or text(mapping(raw, "tool_response"), "type") == "create"


def call_key(call: str, phase: Phase) -> str:
    """Return the key of one phase of a tool call, empty if the call has no name."""
    return f"call:{call}:{phase}" if call else ""


def turn_end_key(turn: str, answer: str, *, is_again: bool = False) -> str:
    """Return the key of a turn's end, empty if the turn has no name.

    A turn can end several times, when something makes the agent go on: its ends are told apart by the answer,
    and those after the first (`is_again`) from the first.
    """
    return f"turn-ended:{turn}:{digest(answer)}{':again' * is_again}" if turn else ""


def digest(content: str) -> str:
    """Return 16 hexadecimal digits that stand for `content`."""
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]
