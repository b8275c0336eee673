"""Owns the public history line, one commit as JSON, and what it means as an observation.

Shape: `{id, ts, ats?, author?, session?, title?, files: [{path, status A|M|D|R|C|T, old_path?}]}`. `ts` is
the commit time and becomes `at`; `ats`, the author time, is not used, as it tells too early. It is not the
observation line, which the intake judges.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import unicodedata
from collections.abc import Mapping
from typing import Any

from graphmem.capture.changed_files import ChangedFiles
from graphmem.capture.git_commit import commit_type
from graphmem.capture.intake import MAX_NAME, MAX_PATH, bounded_text
from graphmem.errors import InvalidInputError
from graphmem.instant import DAY, HOUR, from_iso
from graphmem.model import Observation

SOURCE = "history"

_STATUSES = frozenset("AMDRCT")


def is_history_line(record: Mapping[str, Any]) -> bool:
    """Return whether the record is a history line rather than an observation: it lists `files`."""
    return "files" in record


def content_id(record: Mapping[str, Any]) -> str:
    """Return an id made of the record's content alone, so that a second import finds it again.

    Two equal records are one.
    """
    text = json.dumps(record, sort_keys=True, separators=(",", ":"))
    return f"jsonl:{hashlib.blake2b(text.encode(), digest_size=16).hexdigest()}"


def history_observation(record: Mapping[str, Any], now: float) -> Observation:
    """Return the observation of a history line; `now` in epoch seconds bounds its time.

    Raises:
        InvalidInputError: a wrong type, a time outside 1970 to `now` + 24 h, a path outside the root.
    """
    files = record["files"]
    if not isinstance(files, list):
        raise InvalidInputError("must be a list of {path, status}; correct it", "files")
    at = _moment(record, now)
    notes: list[str] = []
    changes = ChangedFiles()
    for index, entry in enumerate(files):
        _put(changes, entry, f"files.{index}")
    author = _name(record, "author")
    title = bounded_text("title", _text(record, "title"), notes).strip()
    if not changes and not title:
        raise InvalidInputError("one of title or files is required; give one", "title")
    id = _name(record, "id") or content_id(record)
    return Observation(
        id=id,
        session=_name(record, "session") or f"{author or 'unknown'}@{int(at // HOUR)}",
        at=at,
        source=SOURCE,
        actor=author,
        type=commit_type(title),
        title=title,
        files_modified=changes.modified,
        files_added=changes.added,
        files_deleted=changes.deleted,
        renames=changes.renames,
        reference=id,
        notes=tuple(notes),
    )


def _put(changes: ChangedFiles, entry: object, field: str) -> None:
    if not isinstance(entry, dict):
        raise InvalidInputError("must be an object {path, status}; correct it", field)
    status, old = entry.get("status"), entry.get("old_path")
    if not isinstance(status, str) or status[:1] not in _STATUSES or not status:
        raise InvalidInputError("must be one of A, M, D, R, C, T; correct it", f"{field}.status")
    path = _path(entry.get("path"), f"{field}.path")
    former = _path(old, f"{field}.old_path") if status[0] == "R" else None
    changes.put(status[0], path, former)


def _path(value: object, field: str) -> str:
    if not isinstance(value, str) or not value or len(value) > MAX_PATH:
        raise InvalidInputError(f"must be a path of 1 to {MAX_PATH} characters; correct it", field)
    path = posixpath.normpath(unicodedata.normalize("NFC", bounded_text(field, value, [])))
    if path.startswith("/") or path.split("/")[0] in ("..", "."):
        raise InvalidInputError("lies outside the root or is the root; name a file beneath it", field)
    return path


def _moment(record: Mapping[str, Any], now: float) -> float:
    told = record.get("ts")
    if not isinstance(told, str):
        raise InvalidInputError("must be an ISO 8601 time such as 2026-05-01T12:00:00Z", "ts")
    try:
        at = from_iso(told)
    except (ValueError, OverflowError):
        raise InvalidInputError("must be an ISO 8601 time such as 2026-05-01T12:00:00Z", "ts") from None
    if not 0 <= at <= now + DAY:
        raise InvalidInputError("must lie between 1970 and a day from now; correct it", "ts")
    return at


def _text(record: Mapping[str, Any], name: str) -> str:
    value = record.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidInputError("must be a text; correct it", name)
    return value


def _name(record: Mapping[str, Any], name: str) -> str:
    value = bounded_text(name, _text(record, name), [])
    if len(value) > MAX_NAME:
        raise InvalidInputError(f"must have at most {MAX_NAME} characters; shorten it", name)
    return value
