"""Owns the stored form of an observation: compact JSON without defaults, and back.

It is not the outside shape (that is `api.schemas`) and validates nothing: only records that passed the
intake are stored.
"""

from __future__ import annotations

import json
import re
from typing import Any

from graphmem.model import Fact, FactKind, Observation, Rename, Scope, TaskState

_BROKEN = re.compile("[\x00\ud800-\udfff]")
_TEXTS = ("source", "actor", "branch", "type", "title", "intent", "narrative", "reference", "turn")
_LISTS = ("concepts", "files_read", "files_modified", "files_added", "files_deleted", "notes")
_DEFAULTS: dict[str, Any] = {
    name: Observation.__dataclass_fields__[name].default for name in (*_TEXTS, *_LISTS)
}


def storable(text: str) -> str:
    """Return a text as it is stored: NUL and lone surrogates become U+FFFD."""
    return _BROKEN.sub("\ufffd", text)


def encode(observation: Observation) -> str:
    """Return the observation as JSON; `id` and `at` are columns of their own and are not in it."""
    body: dict[str, Any] = {"session": observation.session}
    for name in (*_TEXTS, *_LISTS):
        value = getattr(observation, name)
        if value != _DEFAULTS[name]:
            body[name] = value
    if observation.provisional:
        body["provisional"] = True
    if observation.facts:
        body["facts"] = [_fact_row(fact) for fact in observation.facts]
    if observation.renames:
        body["renames"] = [(rename.old, rename.new) for rename in observation.renames]
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def _fact_row(fact: Fact) -> list[str | None]:
    row = [fact.text, fact.kind.value, fact.state.value if fact.state else None, fact.scope.value]
    return list(row)


def decode(id: str, at: float, body: str) -> Observation:
    """Return the observation that `encode` stored."""
    data: dict[str, Any] = json.loads(body)
    values: dict[str, Any] = {name: data[name] for name in _TEXTS if name in data}
    values.update({name: tuple(data[name]) for name in _LISTS if name in data})
    facts = tuple(
        Fact(text, FactKind(kind), TaskState(state) if state else None, Scope(scope))
        for text, kind, state, scope in data.get("facts", ())
    )
    renames = tuple(Rename(old, new) for old, new in data.get("renames", ()))
    values["provisional"] = data.get("provisional", False)
    return Observation(id=id, session=data["session"], at=at, facts=facts, renames=renames, **values)
