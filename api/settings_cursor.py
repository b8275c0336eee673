"""Owns what Cursor wants in its hooks file, and what it takes as a hook's answer.

It is not what its hook calls mean (`graphmem.clients`). Cursor reads an answer that is no JSON before a tool
call as a refusal, so a hook must always print an object, be it empty.
"""

from __future__ import annotations

from api.client_settings import Client

_ANSWER_KEYS = frozenset({"additional_context", "permission", "user_message", "agent_message", "continue"})
_CHANGING = "Write|Edit|StrReplace|EditNotebook|Delete|Shell"


def _probe(session: str, folder: str, file: str) -> dict[str, object]:
    return {
        "conversation_id": session,
        "session_id": session,
        "generation_id": session,
        "hook_event_name": "preToolUse",
        "workspace_roots": [folder],
        "cwd": folder,
        "tool_name": "Read",
        "tool_input": {"file_path": f"{folder}/{file}"},
        "tool_use_id": session,
    }


CURSOR = Client(
    name="cursor",
    title="Cursor",
    program="cursor",
    folder=".cursor",
    file="hooks.json",
    matchers={
        "sessionStart": None,
        "beforeSubmitPrompt": None,
        "preToolUse": _CHANGING,
        "postToolUse": f"Read|{_CHANGING}|Grep|Glob|SemanticSearch",
        "afterAgentResponse": None,
        "stop": None,
        "sessionEnd": None,
    },
    is_nested=False,
    frame={"version": 1},
    answer_keys=_ANSWER_KEYS,
    needs_answer=True,
    probe=_probe,
)
