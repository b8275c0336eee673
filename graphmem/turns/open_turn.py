"""Owns what is kept of a session between two events: the turn being worked on, and its text form.

It is not how events change it (that is `assembly`). It holds only what the next draft needs, so it
stays small however many events a turn has.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from graphmem.errors import InvalidInputError
from graphmem.turns.turn_files import Standing, TurnFiles

_FORM = 1
_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True)
class Saying:
    """A fact of a prompt or an answer, as an observation from outside tells it."""

    text: str
    kind: str
    state: str | None
    scope: str


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a turn's work; `first` and `at` are the times of its first and last event.

    `cwd` is the folder its work began in, for paths that were told before any folder was; `branch` is git's,
    the last one told of.
    `is_told` once it was handed out as final; what comes then goes to the next part. `is_touched` once it
    held an edit, also where nothing is left of it: it was shown, so it is told to its end.
    """

    number: int
    first: float
    at: float
    files: TurnFiles = field(default_factory=TurnFiles)
    facts: tuple[Saying, ...] = ()
    answer: str = ""
    cwd: str = ""
    branch: str = ""
    is_touched: bool = False
    is_told: bool = False

    @property
    def says_something(self) -> bool:
        """Whether an observation comes of it."""
        return bool(self.files.count or self.facts or self.is_touched)


@dataclass(frozen=True, slots=True)
class Turn:
    """One prompt's work; `start` is its first part's number, `title` empty until that part was told."""

    key: str
    part: Part
    intent: str = ""
    title: str = ""
    start: int = 0


@dataclass(frozen=True, slots=True)
class OpenTurn:
    """A session as it stands.

    `seen` is the time of its last sign of life, `cwd` the folder last told of, `prompts` the number of those
    that came without the client's name for them. `turn` is the one being worked on, `former` the one before,
    whose answer may still come. `numbers` are the next part numbers of turns that are over, oldest first.
    """

    client: str
    session: str
    seen: float
    cwd: str = ""
    prompts: int = 0
    turn: Turn | None = None
    former: Turn | None = None
    numbers: tuple[tuple[str, int], ...] = ()


def encode(turn: OpenTurn) -> str:
    """Return the JSON text of an open turn, one line of ASCII."""
    return json.dumps({"form": _FORM, **asdict(turn)}, separators=(",", ":"))


def decode(text: str) -> OpenTurn:
    """Return the open turn that `encode` wrote.

    Raises:
        InvalidInputError: the text is damaged, or of another version; the session begins afresh then.
    """
    try:
        raw = json.loads(text)
        if raw["form"] != _FORM:
            raise InvalidInputError(
                f"An open turn is written in form {raw['form']!r}, this version reads {_FORM}; drop it, the"
                " session goes on in a new turn."
            )
        return _open_turn(raw)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InvalidInputError(
            f"The text of an open turn can't be read ({type(error).__name__}); drop it, the session goes on"
            " in a new turn."
        ) from None


def _open_turn(raw: dict[str, Any]) -> OpenTurn:
    return OpenTurn(
        client=_of(str, raw["client"]),
        session=_of(str, raw["session"]),
        seen=_number(raw["seen"]),
        cwd=_of(str, raw["cwd"]),
        prompts=_of(int, raw["prompts"]),
        turn=_optional(_turn, raw["turn"]),
        former=_optional(_turn, raw["former"]),
        numbers=tuple((_of(str, key), _of(int, number)) for key, number in raw["numbers"]),
    )


def _turn(raw: dict[str, Any]) -> Turn:
    return Turn(
        key=_of(str, raw["key"]),
        part=_part(raw["part"]),
        intent=_of(str, raw["intent"]),
        title=_of(str, raw["title"]),
        start=_of(int, raw["start"]),
    )


def _part(raw: dict[str, Any]) -> Part:
    files = raw["files"]
    return Part(
        number=_of(int, raw["number"]),
        first=_number(raw["first"]),
        at=_number(raw["at"]),
        files=TurnFiles(
            standing=tuple(
                Standing(_of(str, file["path"]), _optional(_text, file["first"]), _of(bool, file["edited"]))
                for file in files["standing"]
            ),
            gone=tuple(_text(path) for path in files["gone"]),
            read=tuple(_text(path) for path in files["read"]),
        ),
        facts=tuple(
            Saying(
                _text(fact["text"]),
                _text(fact["kind"]),
                _optional(_text, fact["state"]),
                _text(fact["scope"]),
            )
            for fact in raw["facts"]
        ),
        answer=_text(raw["answer"]),
        cwd=_text(raw["cwd"]),
        branch=_text(raw.get("branch", "")),
        is_touched=_of(bool, raw["is_touched"]),
        is_told=_of(bool, raw["is_told"]),
    )


def _of(kind: type[_Made], value: object) -> _Made:
    if type(value) is not kind:
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value


def _text(value: object) -> str:
    return _of(str, value)


def _number(value: object) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not math.isfinite(value):
        raise TypeError(f"{value!r} is no time")
    return float(value)


def _optional(make: Callable[[Any], _Made], value: object) -> _Made | None:
    return None if value is None else make(value)
