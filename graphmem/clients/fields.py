"""Owns how a client's JSON is read when any field may be missing or of another type than it should be.

It is not what the fields mean: each client's own module knows that. Nothing here raises.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from graphmem.events import Phase

_EXIT_CODE = re.compile(r"(?:Exit code:?|Process exited with code|\{\"exitCode\":) ?-?(\d{1,9})")
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


def has_failed(raw: Mapping[str, object]) -> bool:
    """Whether a tool call that has come back tells that it failed.

    A reduced event does so in the field `ok`; a whole one in itself or in its response by the flags and codes
    that clients use, the same that the reduction looks at.
    """
    if raw.get("ok") is False:
        return True
    answer = raw.get("tool_response", raw.get("tool_output"))
    code = _EXIT_CODE.match(answer) if isinstance(answer, str) else None
    if code is not None:
        return int(code[1]) != 0
    return any(_tells_failure(facts) for facts in (raw, answer) if isinstance(facts, dict))


def _tells_failure(facts: Mapping[str, object]) -> bool:
    return (
        facts.get("success") is False
        or any(facts.get(name) is True for name in ("is_error", "isError", "interrupted"))
        or any(facts.get(name) not in (None, 0, "") for name in ("exit_code", "exitCode", "error"))
    )


def has_created(raw: Mapping[str, object]) -> bool:
    """Whether a tool call made a file that was not there before."""
    answer = mapping(raw, "tool_response")
    is_new = "filePath" in answer and answer.get("originalFile", "") is None
    return raw.get("created") is True or answer.get("type") == "create" or is_new


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
