"""What real clients told their hooks becomes the observations a reader of the recording would write down."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from graphmem.clients.roster import ADAPTERS
from graphmem.hook_program import reduced
from graphmem.turns.assembly import OpenTurn, current, decode, encode, fed

RECORDINGS = Path(__file__).resolve().parents[1] / "recordings"
START = 1_780_000_000.0
SHOP = "/home/dev/shop/"
ANSWER = (
    "Access tokens now live 900 seconds; POST /api/v1/auth/refresh rotates the refresh token. "
    "Decision: keep JWT for now."
)
DECISION = ("Decision: keep JWT for now.", "decision")
TTL = {"title": "Set the token TTL to 900", "intent": "Set the token TTL to 900."}
TOKEN = "src/auth/token.py"
PATCHED: dict[str, Any] = {
    "title": "Shorten the access token",
    "intent": "Shorten the access token",
    "narrative": "done",
}
EXPECTED: dict[str, list[dict[str, Any]]] = {
    "claude_edit_without_read": [
        {**TTL, "narrative": ANSWER, "facts": [DECISION], "files_modified": [TOKEN], "at": 0.355}
    ],
    "claude_notebook": [
        {
            "title": "change the notebook",
            "intent": "change the notebook",
            "narrative": ANSWER,
            "facts": [DECISION],
            "files_modified": ["notebooks/tour.ipynb"],
            "at": 0.504,
        }
    ],
    "claude_read_edit_write": [
        {
            "title": "Users are logged out after an hour",
            "intent": "Users are logged out after an hour. Always back up before a schema change."
            " Shorten the access token and rotate refresh tokens.",
            "narrative": ANSWER,
            "facts": [("Always back up before a schema change.", "convention"), DECISION],
            "files_modified": [TOKEN, "src/auth/rotation.py", "src/auth/refresh.py"],
            "files_added": ["src/auth/rotation.py"],
            "at": 1.131,
        }
    ],
    "claude_resumed": [
        {**TTL, "type": "reading", "narrative": "read it", "files_read": [TOKEN], "at": 0.358},
        {**TTL, "narrative": ANSWER, "facts": [DECISION], "files_modified": [TOKEN], "at": 1.051},
    ],
    "claude_same_message": [
        {**TTL, "narrative": ANSWER, "facts": [DECISION], "files_modified": [TOKEN], "at": 0.496}
    ],
    "claude_shell_moves": [
        {
            "title": "Rename rotation helper and drop the old session file",
            "intent": "Rename rotation helper and drop the old session file",
            "narrative": ANSWER,
            "facts": [DECISION],
            "files_modified": [TOKEN],
            "files_deleted": ["src/checkout/session.py"],
            "renames": [("src/auth/refresh.py", "src/auth/renewal.py")],
            "at": 0.837,
        }
    ],
    "claude_subagent": [
        {
            "title": "Look at checkout and fix the session path",
            "intent": "Look at checkout and fix the session path",
            "narrative": ANSWER,
            "facts": [DECISION],
            "files_read": [TOKEN],
            "files_modified": ["src/checkout/session.py"],
            "at": 0.959,
        }
    ],
    "codex_code_mode": [{**PATCHED, "files_modified": [TOKEN], "at": 0.429}],
    "codex_patch": [
        {
            **PATCHED,
            "files_modified": [TOKEN, "src/auth/rotation.py"],
            "files_added": ["src/auth/rotation.py"],
            "files_deleted": ["src/checkout/session.py"],
            "renames": [("src/auth/refresh.py", "src/auth/renewal.py")],
            "at": 0.446,
        }
    ],
}
CLIENTS = {"claude": "claude-code", "codex": "codex"}


def recorded(name: str) -> list[dict[str, Any]]:
    lines = (RECORDINGS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def played(name: str, *, whole: bool = False) -> tuple[list[dict[str, Any]], list[str], OpenTurn | None]:
    """Return the final items, the ids shown as provisional, and what is left of the session."""
    adapter = ADAPTERS[CLIENTS[name.split("_")[0]]]
    state: OpenTurn | None = None
    items: list[dict[str, Any]] = []
    shown: list[str] = []
    for line in recorded(name):
        raw = line["event"] if whole else reduced(line["event"])
        for event in adapter.events(raw, START + line["t"]):
            state, drafts = fed(decode(encode(state)) if state else None, event)
            items += [dict(draft.item) for draft in drafts]
            provisional = current(state) if state else None
            shown += [str(provisional.item["id"])] if provisional else []
    return items, shown, state


def brief(item: dict[str, Any]) -> dict[str, Any]:
    """An item as the table writes it: without what is empty or the same in all, paths below the shop."""
    constant = ("id", "session", "source", "actor", "cwd")
    told = {name: value for name, value in item.items() if value and name not in constant}
    for name in ("files_read", "files_modified", "files_added", "files_deleted"):
        if name in told:
            told[name] = [path.removeprefix(SHOP) for path in told[name]]
    if "renames" in told:
        told["renames"] = [
            (move["from"].removeprefix(SHOP), move["to"].removeprefix(SHOP)) for move in told["renames"]
        ]
    if "facts" in told:
        told["facts"] = [(fact["text"], fact["kind"]) for fact in told["facts"]]
    return {**told, "at": round(item["at"] - START, 3)}


def test_every_recording_has_its_expected_observations() -> None:
    names = {path.stem for path in RECORDINGS.glob("*.jsonl")}
    assert {name for name in names if name.split("_")[0] in CLIENTS} == EXPECTED.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_a_recording_gives_the_observations_written_by_hand(name: str) -> None:
    items, shown, state = played(name)
    assert [brief(item) for item in items] == [{"type": "change", **item} for item in EXPECTED[name]]
    edited = [item["id"] for item in items if item["type"] == "change"]
    assert list(dict.fromkeys(shown)) == edited
    assert state is not None and current(state) is None


@pytest.mark.parametrize("name", EXPECTED)
def test_a_recording_gives_the_same_whole_and_reduced(name: str) -> None:
    assert played(name, whole=True) == played(name)


@pytest.mark.parametrize("name", EXPECTED)
def test_the_ids_are_those_of_client_session_and_prompt(name: str) -> None:
    events = [line["event"] for line in recorded(name)]
    client = CLIENTS[name.split("_")[0]]
    names = "prompt_id" if client == "claude-code" else "turn_id"
    prompts = [event[names] for event in events if event["hook_event_name"] == "UserPromptSubmit"]
    session = events[0]["session_id"]
    keys = (f"{client}\0{session}\0{prompt}\0{0}".encode() for prompt in prompts)
    items, _, _ = played(name)
    assert [item["id"] for item in items] == [f"turn-{hashlib.sha256(key).hexdigest()[:16]}" for key in keys]
    assert {item["session"] for item in items} == {session} and {item["source"] for item in items} == {client}
