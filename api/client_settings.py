"""Owns what GraphMem puts into the settings of agent clients, and takes out again: entries in a text of JSON.

It is not the files (`api.settings_file`), nor what one client wants (`api.settings_claude_code` and its
siblings), nor the decision which files are written (`api.installation`). Entries of others are not touched.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from api.json_text import (
    MARK,
    BrokenJsonError,
    Edit,
    Manner,
    Node,
    appending,
    applied,
    manner,
    read,
    removing,
    replacing,
    written,
)

HOOKS = "hooks"
TIMEOUT_SECONDS = 2

Entry = Mapping[str, object]


class Scope(StrEnum):
    """Whose settings: one project's, shared with whoever works on it, or the user's, for all projects."""

    PROJECT = "project"
    USER = "user"


@dataclass(frozen=True, slots=True)
class Client:
    """What must be known of a client to install into it.

    `matchers` names the events that are used, each with the tools it is about (None: the event has no tools).
    `is_nested` says that an event's entries are groups with a list of handlers of their own. `frame` is what
    the file must hold beside the hooks. `answer_keys` are all that it takes in an answer, `needs_answer` says
    that it reads anything but an object as a refusal. `probe` is a hook call of that session, in that folder,
    about a read of that file. `mute` is the setting that turns all hooks off.
    """

    name: str
    title: str
    program: str
    folder: str
    file: str
    matchers: Mapping[str, str | None]
    is_nested: bool
    answer_keys: frozenset[str]
    probe: Callable[[str, str, str], dict[str, object]]
    folder_variable: str | None = None
    frame: Entry = field(default_factory=dict)
    mute: str | None = None
    needs_answer: bool = False

    def complaint(self, answer: str) -> str | None:
        """Say what the client would mind in what a hook printed, None if nothing."""
        if not (answer.strip() or self.needs_answer):
            return None
        meaning = f", which {self.title} reads as a refusal" if self.needs_answer else ""
        try:
            found = json.loads(answer)
        except (ValueError, RecursionError):
            return f"it is not JSON{meaning}"
        if not isinstance(found, dict):
            return f"it is not an object{meaning}"
        strange = sorted(found.keys() - self.answer_keys)
        return f"it holds {', '.join(strange)}" if strange else None


class WrongShapeError(ValueError):
    """The text is JSON, but not settings of this client; `str()` says what is wrong."""


@dataclass(frozen=True, slots=True)
class Installed:
    """One of our handlers as it stands in settings; `group` and `place` are its positions, from 0."""

    event: str
    group: int
    place: int
    handler: Entry


def command_line(interpreter: str, program: str, client: str, home: str | None) -> str:
    """Return the one command string of all events.

    It is one string and not a program with `args`: Cursor reads Claude Code's settings too and drops `args`,
    which would leave an interpreter that runs what comes in as a script; and Codex trusts a hook by the hash
    of its entry, so that nothing in it may vary from event to event. The quoting is a POSIX shell's.
    """
    place = ["--home", home] if home is not None else []
    return shlex.join([interpreter, "-I", "-S", program, client, *place])


def command_entries(client: Client, command: str) -> dict[str, Entry]:
    """Return the entry of each event that runs `command`."""
    handler: dict[str, object] = {"command": command, "timeout": TIMEOUT_SECONDS}
    if client.is_nested:
        handler = {"type": "command", **handler}
    return {event: entry_of(client, event, handler) for event in client.matchers}


def entry_of(client: Client, event: str, handler: Entry) -> Entry:
    """Return the entry of an event with this one handler in it."""
    matcher = client.matchers[event]
    about: dict[str, object] = {} if matcher is None else {"matcher": matcher}
    return about | {HOOKS: [handler]} if client.is_nested else {**handler, **about}


def is_ours(client: str, handler: object) -> bool:
    """Whether a handler runs our hook program for this client, or asks our service."""
    match handler:
        case {"command": str(command)}:
            return (
                re.search(rf"hook_program\.py['\"]?\s+['\"]?{re.escape(client)}(?![\w-])", command)
                is not None
            )
        case {"url": str(url)}:
            return re.fullmatch(rf"http://127\.0\.0\.1:\d+/hooks/{re.escape(client)}", url) is not None
    return False


# ---- looking -----------------------------------------------------------------------------------------


def is_blank(text: str) -> bool:
    """Whether a file of this text holds nothing at all."""
    return not text.strip(MARK + " \t\r\n")


def settings_of(text: str) -> Node:
    """Return the settings in a text.

    Raises:
        BrokenJsonError: it is not JSON.
        WrongShapeError: it is not an object whose hooks are lists of entries by event.
    """
    root = read(text)
    if not root.is_object:
        raise WrongShapeError("it is not an object")
    for key, hooks in zip(root.keys, root.items, strict=True):
        if key == HOOKS:
            if not hooks.is_object:
                raise WrongShapeError("its `hooks` is not an object")
            for event, entries in zip(hooks.keys, hooks.items, strict=True):
                if not entries.is_array:
                    raise WrongShapeError(f"its hooks of {event!r} are not a list")
    return root


def installed(client: Client, text: str) -> list[Installed]:
    """Return our handlers in the settings, in the order they stand there; none in a blank text."""
    return [] if is_blank(text) else _ours(client, settings_of(text))


def is_muted(client: Client, text: str) -> bool:
    """Whether the settings turn all hooks off."""
    found = settings_of(text).member(client.mute) if client.mute is not None else None
    return found is not None and found.plain() is True


def _ours(client: Client, root: Node) -> list[Installed]:
    hooks = root.member(HOOKS)
    if hooks is None:
        return []
    return [
        Installed(event, index, place, handler.plain())
        for event, entries in _events(hooks)
        for index, entry in enumerate(entries.items)
        for place, handler in enumerate(_handlers(client, entry))
        if is_ours(client.name, handler.plain())
    ]


def _events(hooks: Node) -> Iterator[tuple[str, Node]]:
    """Yield each event with the entries that count: of a key that is there twice the last."""
    for event in dict.fromkeys(hooks.keys):
        entries = hooks.member(event)
        if entries is not None:
            yield event, entries


def _handlers(client: Client, entry: Node) -> list[Node]:
    if not client.is_nested:
        return [entry]
    inner = entry.member(HOOKS) if entry.is_object else None
    return inner.items if inner is not None and inner.is_array else []


# ---- putting in --------------------------------------------------------------------------------------


def merged(client: Client, text: str, entries: Mapping[str, Entry]) -> str:
    """Return the text with our entries in it, one an event; text that has them already comes back as it is.

    Entries of ours that are outdated are brought up to date in their place, so that those of others keep
    theirs; ours for an event that is no longer used go.

    Raises:
        BrokenJsonError, WrongShapeError: the text is not settings of this client.
    """
    if is_blank(text):
        how = manner(text)
        whole = {**client.frame, HOOKS: {event: [entry] for event, entry in entries.items()}}
        return (MARK if text.startswith(MARK) else "") + written(whole, how) + how.line_end
    root, how = settings_of(text), manner(text)
    superfluous = _superfluous(client, root, entries)
    if superfluous:
        text = _without(client, text, root, superfluous, None)
        root = settings_of(text)
    hooks = root.member(HOOKS)
    added: list[tuple[str, object]] = [
        (key, value) for key, value in client.frame.items() if root.member(key) is None
    ]
    edits: list[Edit] = []
    if hooks is None:
        added.append((HOOKS, {event: [entry] for event, entry in entries.items()}))
    else:
        missing = [(event, [entry]) for event, entry in entries.items() if hooks.member(event) is None]
        edits += appending(text, hooks, missing, how)
        for event, present in _events(hooks):
            if event in entries:
                edits += _brought_up(client, text, present, entries[event], how)
    edits += appending(text, root, added, how)
    return applied(text, edits)


def _superfluous(client: Client, root: Node, entries: Mapping[str, Entry]) -> set[tuple[str, int, int]]:
    """Return which of our handlers must go: of events that are not wanted, and all but an event's first."""
    seen: set[str] = set()
    found = set()
    for ours in _ours(client, root):
        if ours.event not in entries or ours.event in seen:
            found.add((ours.event, ours.group, ours.place))
        seen.add(ours.event)
    return found


def _brought_up(client: Client, text: str, present: Node, entry: Entry, how: Manner) -> list[Edit]:
    """Return the edits that make an event's entries hold `entry`, where they do not yet."""
    for group in present.items:
        handlers = _handlers(client, group)
        ours = [handler for handler in handlers if is_ours(client.name, handler.plain())]
        if ours and len(ours) == len(handlers):
            return [] if group.plain() == entry else [replacing(text, group, entry, how)]
        if ours:
            # Somebody has put our handler into a group of their own: the group stays theirs.
            wanted = _only_handler(entry)
            return [] if ours[0].plain() == wanted else [replacing(text, ours[0], wanted, how)]
    return appending(text, present, [("", entry)], how)


def _only_handler(entry: Entry) -> object:
    match entry:
        case {"hooks": [handler]}:
            return handler
    return entry


# ---- taking out --------------------------------------------------------------------------------------


def removed(client: Client, text: str, former: str | None) -> str:
    """Return the text without our entries, everything else as it stands.

    `former` is the text before we came, where it is known: what it held stays although it is empty now.

    Raises:
        BrokenJsonError, WrongShapeError: the text is not settings of this client.
    """
    if is_blank(text):
        return text
    root = settings_of(text)
    ours = {(one.event, one.group, one.place) for one in _ours(client, root)}
    return _without(client, text, root, ours, former)


def _without(
    client: Client, text: str, root: Node, ours: set[tuple[str, int, int]], former: str | None
) -> str:
    hooks = root.member(HOOKS)
    if hooks is None or not ours:
        return text
    known = _former_names(former)
    edits: list[Edit] = []
    emptied: set[int] = set()
    for event, entries in _events(hooks):
        gone, inner = _groups_without(client, text, event, entries, ours)
        edits += inner
        if len(gone) == len(entries.items) and gone and event not in known:
            emptied.add(max(index for index, key in enumerate(hooks.keys) if key == event))
        else:
            edits += removing(text, entries, gone)
    places = set()
    if {key for index, key in enumerate(hooks.keys) if index not in emptied} <= known:
        frame = {key for key in client.frame if former is not None and key not in known}
        places = {index for index, key in enumerate(root.keys) if key in frame}
    if len(emptied) == len(hooks.keys) and HOOKS not in known:
        places.add(max(index for index, key in enumerate(root.keys) if key == HOOKS))
    else:
        edits += removing(text, hooks, emptied)
    return applied(text, edits + removing(text, root, places))


def _groups_without(
    client: Client, text: str, event: str, entries: Node, ours: set[tuple[str, int, int]]
) -> tuple[set[int], list[Edit]]:
    """Return which of an event's entries go whole, and the edits inside those that stay."""
    gone: set[int] = set()
    edits: list[Edit] = []
    for index, group in enumerate(entries.items):
        places = {place for known, number, place in ours if known == event and number == index}
        if places and len(places) == len(_handlers(client, group)):
            gone.add(index)
        elif places:
            inner = group.member(HOOKS)
            assert inner is not None
            edits += removing(text, inner, places)
    return gone, edits


def _former_names(former: str | None) -> set[str]:
    """Return the events and members that were there before us; none if that can't be known."""
    if former is None or is_blank(former):
        return set()
    try:
        root = settings_of(former)
    except (BrokenJsonError, WrongShapeError):
        return set()
    hooks = root.member(HOOKS)
    return {*root.keys, *(hooks.keys if hooks is not None else ())}


def is_bare(client: Client, text: str) -> bool:
    """Whether the settings hold nothing but the frame they need."""
    rest = settings_of(text).plain()
    return {key: value for key, value in rest.items() if client.frame.get(key) != value and value != {}} == {}
