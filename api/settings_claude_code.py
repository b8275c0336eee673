"""Owns what Claude Code wants in its settings, and what it takes as a hook's answer.

It is not what its hook calls mean (`graphmem.clients`). The native HTTP hooks are opt-in: with the service
down an edit goes on, but a line about the failed hook shows on the screen.
"""

from __future__ import annotations

from api.client_settings import TIMEOUT_SECONDS, Client, Entry, command_entries, entry_of

# Claude Code does not send these two over HTTP: the first is skipped, the last prints an error line when
# the service is down.
_NEVER_HTTP = frozenset({"SessionStart", "SessionEnd"})
_ANSWER_KEYS = frozenset({"hookSpecificOutput", "continue", "suppressOutput", "systemMessage"})
_CHANGING = "Edit|MultiEdit|Write|NotebookEdit|Bash"


def _probe(session: str, folder: str, file: str) -> dict[str, object]:
    return {
        "session_id": session,
        "cwd": folder,
        "hook_event_name": "PreToolUse",
        "tool_name": "Read",
        "tool_input": {"file_path": f"{folder}/{file}"},
        "tool_use_id": session,
    }


CLAUDE_CODE = Client(
    name="claude-code",
    title="Claude Code",
    program="claude",
    folder=".claude",
    folder_variable="CLAUDE_CONFIG_DIR",
    file="settings.json",
    matchers={
        "SessionStart": None,
        "UserPromptSubmit": None,
        "PreToolUse": _CHANGING,
        "PostToolUse": f"Read|NotebookRead|{_CHANGING}|Grep|Glob",
        "PostToolUseFailure": _CHANGING,
        "Stop": None,
        "SessionEnd": None,
    },
    is_nested=True,
    answer_keys=_ANSWER_KEYS,
    probe=_probe,
    mute="disableAllHooks",
)


def http_entries(command: str, url: str, token: str) -> dict[str, Entry]:
    """Return the entries that ask the service at `url` itself, and run `command` for the two that can't."""
    handler = {
        "type": "http",
        "url": f"{url}/hooks/{CLAUDE_CODE.name}",
        "headers": {"Authorization": f"Bearer {token}"},
        "timeout": TIMEOUT_SECONDS,
    }
    by_command = command_entries(CLAUDE_CODE, command)
    return {
        event: by_command[event] if event in _NEVER_HTTP else entry_of(CLAUDE_CODE, event, handler)
        for event in CLAUDE_CODE.matchers
    }
