"""Owns the hook dialect that several clients share: its events' names and fields, and its answers.

It is not the tools, which each client's own module knows. No key but those made here is ever in an answer:
one client takes an unknown key for an error, in another a permission that is granted skips the user's say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from graphmem.clients.fields import call_key, has_failed, text, turn_end_key
from graphmem.events import Advice, Event, EventKind, Origin, Phase

LONGEST_CONTEXT = 10_000
"""Characters; of a longer text the model would get a file's name only."""

_PHASES = {"PreToolUse": Phase.AHEAD, "PostToolUse": Phase.DONE, "PostToolUseFailure": Phase.FAILED}
_ORIGINS = {origin.value: origin for origin in Origin}
_CARRIES_CONTEXT = frozenset(("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"))


def events(
    raw: Mapping[str, object],
    told: Event,
    tool_call: Callable[[Mapping[str, object], Event], Event | None],
    prompt: Callable[[str], str],
) -> list[Event]:
    """Return what one hook call tells: one event or none.

    `told` has what all events of the client have, see `heading`; `tool_call` completes the event of a tool
    call, `prompt` leaves of a prompt what the user meant. Of a sub-agent only its tool calls are told: its
    end is not the turn's.
    """
    name = text(raw, "hook_event_name")
    if not told.session:
        return []
    if name in _PHASES:
        phase = Phase.FAILED if _PHASES[name] is Phase.DONE and has_failed(raw) else _PHASES[name]
        call = text(raw, "tool_use_id")
        event = tool_call(raw, replace(told, call=call, phase=phase, key=call_key(call, phase)))
    else:
        event = None if told.agent else _step(name, raw, told, prompt)
    return [] if event is None else [event]


def heading(raw: Mapping[str, object], client: str, turn: str, at: float) -> Event:
    """Return an event with what all have in common; `turn` is the name of the field that names the turn."""
    return Event(
        EventKind.SESSION_STARTED,
        client,
        text(raw, "session_id"),
        at,
        cwd=text(raw, "cwd") or None,
        turn=text(raw, turn),
        agent=text(raw, "agent_id"),
    )


def _step(name: str, raw: Mapping[str, object], told: Event, prompt: Callable[[str], str]) -> Event | None:
    match name:
        case "SessionStart":
            return replace(told, origin=_ORIGINS.get(text(raw, "source")))
        case "UserPromptSubmit":
            said = "" if raw.get("isMeta") is True else prompt(text(raw, "prompt")).strip()
            key = f"prompt:{told.turn}" if told.turn else ""
            return replace(told, kind=EventKind.PROMPT, text=said, key=key) if said else None
        case "Stop":
            said = text(raw, "last_assistant_message")
            key = turn_end_key(told.turn, said, is_again=raw.get("stop_hook_active") is True)
            return replace(told, kind=EventKind.TURN_ENDED, text=said, key=key)
        case "SessionEnd":
            return replace(told, kind=EventKind.SESSION_ENDED)
        case _:
            return None


def answer(raw: Mapping[str, object], advice: Advice | None) -> dict[str, object]:
    """Return context for the model or, for a call that is held, its refusal with the reason.

    Empty where nothing is to be told or the event carries no text. The end of a turn is never answered: the
    agent would go on.
    """
    name = text(raw, "hook_event_name")
    if advice is None or not advice.text or name not in _CARRIES_CONTEXT:
        return {}
    said = advice.text[:LONGEST_CONTEXT]
    if advice.hold and name == "PreToolUse":
        refusal = {"permissionDecision": "deny", "permissionDecisionReason": said}
        return {"hookSpecificOutput": {"hookEventName": name, **refusal}}
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": said}}
