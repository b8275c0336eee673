"""Owns how a part of a turn is told as an observation: its id, its title, and how its texts fit.

It is not the door (that is `graphmem.capture.intake`), which the item passes like one from outside, nor the
decision when a part is at its end (`graphmem.turns.assembly`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from graphmem.speech.facts import LONGEST
from graphmem.turns.open_turn import OpenTurn, Part, Saying, Turn
from graphmem.turns.titles import shortened, title_of, title_of_files

MOST_TEXT = 5_000
"""Intent, facts and narrative of one part have so many characters at most."""

_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Draft:
    """An observation to be: `item` as one comes from outside, the rest as `Observation` has it."""

    item: Mapping[str, object]
    turn: str
    provisional: bool


def draft(session: OpenTurn, turn: Turn, part: Part, *, provisional: bool) -> Draft:
    """Return the part as an observation from outside; its facts are those that fit (see `fitting`)."""
    files = part.files
    room = MOST_TEXT - len(turn.intent) - sum(len(fact.text) for fact in part.facts)
    item: dict[str, object] = {
        "id": f"turn-{_digest(session, turn.key, str(part.number))}",
        "session": session.session[:_LONGEST_NAME],
        "source": session.client[:_LONGEST_NAME],
        "actor": session.client[:_LONGEST_NAME],
        "type": "change" if files.has_changes else "reading",
        "title": turn.title or title(turn, part),
        "intent": turn.intent,
        "narrative": shortened(part.answer, room),
        "facts": [
            {"text": fact.text, "kind": fact.kind, "state": fact.state, "scope": fact.scope}
            for fact in part.facts
        ],
        "files_read": list(files.read),
        "files_modified": files.modified,
        "files_added": files.added,
        "files_deleted": list(files.gone),
        "renames": [{"from": old, "to": new} for old, new in files.moved],
        "at": part.at,
    }
    if part.cwd:
        item["cwd"] = part.cwd
    if part.branch:
        item["branch"] = part.branch[:_LONGEST_NAME]
    return Draft(item, f"prompt-{_digest(session, turn.key)}", provisional)


def title(turn: Turn, part: Part) -> str:
    """Return a title from the prompt, else the answer, else the files, else the first fact."""
    files = part.files
    changed = [file.path for file in files.standing] + list(files.gone)
    return (
        title_of(turn.intent)
        or title_of(part.answer)
        or title_of_files("Change", changed)
        or title_of_files("Read", files.read)
        or (shortened(part.facts[0].text) if part.facts else "Nothing changed in the end")
    )


def fitting(intent: str, part: Part) -> tuple[tuple[Saying, ...], tuple[Saying, ...]]:
    """Divide a part's facts into those that fit beside intent and answer, and the rest.

    They take what the answer leaves, but at least half of the room; the answer is cut then.
    """
    left = MOST_TEXT - len(intent)
    room = max(LONGEST, left - min(len(part.answer), left // 2))
    for index, fact in enumerate(part.facts):
        room -= len(fact.text)
        if room < 0:
            return part.facts[:index], part.facts[index:]
    return part.facts, ()


def _digest(session: OpenTurn, *names: str) -> str:
    text = "\0".join((session.client, session.session, *names))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
