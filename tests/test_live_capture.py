"""Sessions of real clients, call by call through the hook program and the service: what is kept and told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from graphmem import hook_program

RECORDINGS = Path(__file__).parent / "recordings"
RECORDED_ROOT = "/home/dev/shop"
TOKEN, REFRESH, SESSION = "src/auth/token.py", "src/auth/refresh.py", "src/checkout/session.py"


@dataclass(frozen=True, slots=True)
class Shop:
    """A repository that agents work in, registered with the service under test."""

    service: Any
    root: Path
    route: str

    def hook(self, client: str, event: Any, **environment: str) -> Any:
        """Run the hook program once, as the client does, and return what it printed; nothing as None."""
        text = event if isinstance(event, bytes) else json.dumps(event).encode()
        done = subprocess.run(
            [sys.executable, "-I", "-S", hook_program.__file__, client, "--home", str(self.service.home)],
            input=text,
            capture_output=True,
            cwd=self.root,
            env={**os.environ, **environment},
        )
        assert (done.returncode, done.stderr) == (0, b"")
        return json.loads(done.stdout) if done.stdout else None

    def replay(self, client: str, name: str) -> list[tuple[str, Any]]:
        """Send a recording; return each event's name and tool with what was printed."""
        said = []
        for line in (RECORDINGS / name).read_text(encoding="utf-8").splitlines():
            event = json.loads(line.replace(RECORDED_ROOT, str(self.root)))["event"]
            label = f"{event['hook_event_name']} {event.get('tool_name', '')}".strip()
            said.append((label, self.hook(client, event)))
        return said

    def observations(self, **where: str) -> list[dict[str, Any]]:
        """Return the observations of agents, oldest first."""
        items = self.service.client.get(f"{self.route}/observations", params=where).json()["items"]
        return [item for item in reversed(items) if item["source"] in {"claude-code", "codex", "cursor"}]

    def finished(self, count: int) -> list[dict[str, Any]] | None:
        """Return so many observations once they are there and none is provisional."""
        found = self.observations()
        is_whole = len(found) == count and not any(item["provisional"] for item in found)
        return found if is_whole else None


@pytest.fixture
def shop(service: Any, tmp_path: Path, git_repository: Callable[..., Any]) -> Iterator[Shop]:
    root = git_repository("shop").path
    route = service.project(root)
    history = [
        {
            "session": f"{topic} {month}",
            "title": f"{topic} {month}",
            "files_modified": files,
            "at": f"2026-{month:02}-01",
        }
        for month in range(1, 12)
        for topic, files in (("Rotate tokens", [TOKEN, SESSION]), ("Describe", ["README.md", REFRESH]))
    ]
    stored = service.client.post(f"{route}/observations?wait=visible", json=history)
    assert stored.json()["accepted"] == len(history)
    yield Shop(service, root, route)


def kept(item: dict[str, Any]) -> dict[str, Any]:
    renames = [(rename["from"], rename["to"]) for rename in item["renames"]]
    found = {
        "read": item["files_read"],
        "modified": item["files_modified"],
        "added": item["files_added"],
        "deleted": item["files_deleted"],
        "renames": renames,
    }
    return {name: value for name, value in found.items() if value}


ROTATION, RENEWAL, TOUR = "src/auth/rotation.py", "src/auth/renewal.py", "notebooks/tour.ipynb"
EXPECTED: dict[tuple[str, str], list[dict[str, Any]]] = {
    ("claude-code", "claude_edit_without_read.jsonl"): [{"modified": [TOKEN]}],
    ("claude-code", "claude_notebook.jsonl"): [{"modified": [TOUR]}],
    ("claude-code", "claude_read_edit_write.jsonl"): [
        {"modified": [TOKEN, ROTATION, REFRESH], "added": [ROTATION]}
    ],
    ("claude-code", "claude_resumed.jsonl"): [{"read": [TOKEN]}, {"modified": [TOKEN]}],
    ("claude-code", "claude_same_message.jsonl"): [{"modified": [TOKEN]}],
    ("claude-code", "claude_shell_moves.jsonl"): [
        {"modified": [TOKEN], "deleted": [SESSION], "renames": [(REFRESH, RENEWAL)]}
    ],
    ("claude-code", "claude_subagent.jsonl"): [{"read": [TOKEN], "modified": [SESSION]}],
    ("codex", "codex_code_mode.jsonl"): [{"modified": [TOKEN]}],
    ("codex", "codex_patch.jsonl"): [
        {
            "modified": [TOKEN, ROTATION],
            "added": [ROTATION],
            "deleted": [SESSION],
            "renames": [(REFRESH, RENEWAL)],
        }
    ],
}


@pytest.mark.parametrize(("client", "recording"), EXPECTED, ids=[name for _, name in EXPECTED])
def test_a_recorded_session_becomes_one_observation_a_prompt(
    shop: Shop, eventually: Callable[..., Any], client: str, recording: str
) -> None:
    shop.replay(client, recording)

    found = eventually(lambda: shop.finished(len(EXPECTED[client, recording])))
    assert sorted(map(normal, map(kept, found))) == sorted(map(normal, EXPECTED[client, recording]))
    assert {item["source"] for item in found} == {client}
    assert all(item["intent"] and item["title"] for item in found)


def normal(files: dict[str, Any]) -> str:
    return json.dumps({name: sorted(value) for name, value in files.items()}, sort_keys=True)


@pytest.mark.parametrize(("client", "recording"), EXPECTED, ids=[name for _, name in EXPECTED])
def test_a_session_told_twice_changes_nothing(
    shop: Shop, eventually: Callable[..., Any], client: str, recording: str
) -> None:
    shop.replay(client, recording)
    count = len(EXPECTED[client, recording])
    first = eventually(lambda: shop.finished(count))
    shop.replay(client, recording)
    # The spool is read in order: when this is there, all before it was taken.
    last: dict[str, Any] = {
        "session_id": "last",
        "cwd": str(shop.root),
        "prompt_id": "p",
        "tool_name": "Edit",
    }
    last |= {"tool_input": {"file_path": str(shop.root / "last.py")}, "tool_use_id": "last"}
    shop.hook("claude-code", {**last, "hook_event_name": "PostToolUse"})
    shop.hook("claude-code", {**last, "hook_event_name": "Stop", "last_assistant_message": "That is all."})
    *again, end = eventually(lambda: shop.finished(count + 1))
    assert end["session"] == "last"
    assert [(item["id"], kept(item)) for item in again] == [(item["id"], kept(item)) for item in first]


def test_the_note_is_given_when_the_file_is_read_and_once_only(shop: Shop) -> None:
    said = shop.replay("claude-code", "claude_read_edit_write.jsonl")
    told = [(label, answer) for label, answer in said if answer is not None and "Tool" in label]
    # Of the two files that are read and then changed, each at its first read.
    assert [label for label, _ in told] == ["PreToolUse Read", "PreToolUse Read"]
    output = told[0][1]["hookSpecificOutput"]
    assert output["hookEventName"] == "PreToolUse"
    assert SESSION in output["additionalContext"]
    assert len(output["additionalContext"].encode()) <= 600
    assert "permissionDecision" not in output


def test_an_edit_without_a_read_is_told_beside_the_edit(shop: Shop) -> None:
    said = shop.replay("claude-code", "claude_edit_without_read.jsonl")
    told = [label for label, answer in said if answer is not None and "Tool" in label]
    assert told == ["PreToolUse Edit"]


def test_a_codex_patch_is_told_of_with_no_other_key(shop: Shop) -> None:
    said = shop.replay("codex", "codex_patch.jsonl")
    told = [answer for label, answer in said if answer is not None and "Tool" in label]
    assert len(told) >= 1
    for answer in told:
        assert set(answer) == {"hookSpecificOutput"}
        assert set(answer["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}


def test_an_edit_shows_within_a_second_as_provisional(shop: Shop, eventually: Callable[..., Any]) -> None:
    def event(name: str, **fields: Any) -> dict[str, Any]:
        return {
            "session_id": "open",
            "cwd": str(shop.root),
            "prompt_id": "p1",
            "hook_event_name": name,
            **fields,
        }

    shop.hook("claude-code", event("SessionStart", source="startup"))
    shop.hook("claude-code", event("UserPromptSubmit", prompt="Shorten the token's life"))
    edit = {"tool_name": "Edit", "tool_input": {"file_path": str(shop.root / TOKEN)}, "tool_use_id": "t1"}
    shop.hook("claude-code", event("PostToolUse", **edit))
    found = eventually(lambda: shop.observations(session="open"), 5.0)
    assert (found[0]["provisional"], found[0]["files_modified"]) == (True, [TOKEN])
    again = {**edit, "tool_input": {"file_path": str(shop.root / REFRESH)}, "tool_use_id": "t2"}
    shop.hook("claude-code", event("PostToolUse", **again))
    shop.hook("claude-code", event("Stop", last_assistant_message="Tokens live 900 seconds now."))
    final = eventually(
        lambda: [item for item in shop.observations(session="open") if not item["provisional"]], 5.0
    )
    assert [item["id"] for item in final] == [found[0]["id"]]
    assert final[0]["files_modified"] == [TOKEN, REFRESH]
    assert "900 seconds" in final[0]["narrative"]


@pytest.mark.parametrize(
    "body", [b"", b"{", b"7", b"[1]", b"\xff\xfe", b"[" * 100_000, b'{"a": "\\ud800"}'], ids=repr
)
def test_a_hook_call_that_says_nothing_is_answered_with_nothing(service: Any, body: bytes) -> None:
    for client in ("claude-code", "codex", "cursor"):
        answer = service.client.post(f"/hooks/{client}", content=body)
        assert (answer.status_code, answer.json()) == (200, {})


def test_what_a_hook_took_out_before_it_sent_an_event_is_counted(
    shop: Shop, eventually: Callable[..., Any]
) -> None:
    event = {"session_id": "r", "cwd": str(shop.root), "hook_event_name": "UserPromptSubmit", "prompt": "x"}
    for counts in ('{"aws-key-id": 2, "odd": "x"}', "no json", "[]"):
        header = {"X-GraphMem-Redacted": counts}
        assert shop.service.client.post("/hooks/claude-code", json=event, headers=header).json() == {}
    stats = eventually(
        lambda: (found := shop.service.client.get(f"{shop.route}/stats").json())["redacted"] and found
    )
    assert stats["redacted"] == {"aws-key-id": 2}
