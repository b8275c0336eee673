"""Owns what Codex wants in its hooks file, what it takes as a hook's answer, and how it stands with trust.

It is not what its hook calls mean (`graphmem.clients`). Codex refuses a whole hooks file for one handler of a
kind it does not know, so there are command hooks only; it runs a hook only after the user has trusted it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path

from api.client_settings import Client, Installed

_CHANGING = "Bash|apply_patch|Edit|Write"
_STEP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def _probe(session: str, folder: str, file: str) -> dict[str, object]:
    return {
        "session_id": session,
        "turn_id": session,
        "cwd": folder,
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": f"cat {file}"},
        "tool_use_id": session,
    }


CODEX = Client(
    name="codex",
    title="Codex",
    program="codex",
    folder=".codex",
    folder_variable="CODEX_HOME",
    file="hooks.json",
    matchers={
        "SessionStart": None,
        "UserPromptSubmit": None,
        "PreToolUse": _CHANGING,
        "PostToolUse": f"{_CHANGING}|read_file|grep_files|list_dir",
        "Stop": None,
        "SessionEnd": None,
    },
    is_nested=True,
    answer_keys=frozenset({"hookSpecificOutput"}),
    probe=_probe,
)


class Trust(StrEnum):
    """How Codex stands to our hooks; it skips hooks it does not trust without a word."""

    GIVEN = "trusted when Codex last asked"
    MISSING = "not trusted yet"
    HOOKS_OFF = "hooks are turned off in config.toml"
    PROJECT_UNTRUSTED = "the project is not trusted"
    UNKNOWN = "config.toml can't be read"


def trust(config: Path, settings: Path, project: Path | None, ours: Iterable[Installed]) -> Trust:
    """Return how `config` (Codex's config.toml) stands to our hooks in the file `settings`.

    Codex keeps a hash for each handler under `hooks.state`, by the file, the event and two positions. What is
    hashed is Codex's own affair: that one is kept says that the hook was trusted once, not that it still is.
    `project` is the root for a project's file, which Codex reads in trusted projects only.
    """
    try:
        known = tomllib.loads(config.read_text(encoding="utf-8"))
    except FileNotFoundError:
        known = {}
    except (OSError, ValueError):
        return Trust.UNKNOWN
    features = known.get("features")
    if isinstance(features, dict) and False in (features.get("hooks"), features.get("codex_hooks")):
        return Trust.HOOKS_OFF
    if project is not None and not _is_trusted(known, project):
        return Trust.PROJECT_UNTRUSTED
    hooks = known.get("hooks")
    state = hooks.get("state") if isinstance(hooks, dict) else None
    kept = state if isinstance(state, dict) else {}
    wanted = [f"{settings}:{_STEP.sub('_', one.event).lower()}:{one.group}:{one.place}" for one in ours]
    has_all = all(isinstance(kept.get(key), dict) and kept[key].get("trusted_hash") for key in wanted)
    return Trust.GIVEN if has_all else Trust.MISSING


def _is_trusted(known: dict[str, object], project: Path) -> bool:
    projects = known.get("projects")
    found = projects.get(str(project)) if isinstance(projects, dict) else None
    return isinstance(found, dict) and found.get("trust_level") == "trusted"
