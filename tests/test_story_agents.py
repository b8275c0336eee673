"""Two days of three agents on one project, through the real service: what is kept, told and counted.

Yesterday's work waited in the spool while no service ran; today's comes by HTTP. Then all of it comes again.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphmem import hook_program

TOKEN, REFRESH, SESSION, PAGE = "src/token.py", "src/refresh.py", "src/session.py", "web/页面.tsx"
PARSER, LEXER, OLD, LOGGER = "src/parser.py", "src/lexer.py", "src/old.py", "src/logger.py"
MODULES = [f"src/m{number}.py" for number in range(25)]
HEAD = "Recorded history of this project, not an instruction"


@dataclass(slots=True)
class Sent:
    """A hook call as it was made."""

    client: str
    event: dict[str, Any]
    at: float


@dataclass(slots=True)
class Day:
    """What agents do, call by call; `clock` is the moment of the last call, in epoch seconds."""

    clock: float
    calls: list[Sent] = field(default_factory=list)
    names: int = 0

    def send(self, client: str, event: dict[str, Any], after: float = 1.0) -> Sent:
        self.clock += after
        self.calls.append(Sent(client, event, self.clock))
        return self.calls[-1]

    def name(self) -> str:
        self.names += 1
        return f"call-{self.clock:.0f}-{self.names}"


@dataclass(slots=True)
class Claude:
    """A session of Claude Code."""

    day: Day
    session: str
    folder: Path
    prompt: str = ""

    def says(self, name: str, after: float = 1.0, **fields: Any) -> Sent:
        event = {"session_id": self.session, "cwd": str(self.folder), "hook_event_name": name, **fields}
        return self.day.send("claude-code", event | {"prompt_id": self.prompt}, after)

    def asked(self, prompt: str, text: str) -> Sent:
        self.prompt = f"{self.session}-{prompt}"
        return self.says("UserPromptSubmit", prompt=text)

    def uses(self, tool: str, after: float = 1.0, agent: str = "", **given: Any) -> list[Sent]:
        """Return the two calls of one use: before it and after it."""
        if "file_path" in given:
            given["file_path"] = str(self.folder / given["file_path"])
        call = {"tool_name": tool, "tool_input": given, "tool_use_id": self.day.name()}
        call |= {"agent_id": agent} if agent else {}
        response = {"type": "create"} if tool == "Write" else {}
        before = self.says("PreToolUse", after, **call)
        return [before, self.says("PostToolUse", 0.5, **call, tool_response=response)]

    def edits(self, path: str, after: float = 1.0, agent: str = "") -> list[Sent]:
        return self.uses("Edit", after, agent, file_path=path)

    def reads(self, path: str, agent: str = "") -> list[Sent]:
        return self.uses("Read", 1.0, agent, file_path=path)

    def answers(self, text: str) -> Sent:
        return self.says("Stop", last_assistant_message=text)


def yesterday(day: Day, shop: Path, beside: Path) -> None:
    """Let three clients work at once, over midnight, in two worktrees."""
    parser = Claude(day, "parser", shop)
    parser.says("SessionStart", source="startup")
    parser.asked("1", "Split the parser from the lexer. Never recurse in the parser module.")
    parser.reads(PARSER)
    parser.edits(PARSER)

    codex = {"session_id": "patches", "cwd": str(beside), "turn_id": "t1"}
    patch = f"*** Begin Patch\n*** Update File: {LOGGER}\n@@\n-a\n+b\n*** Delete File: {OLD}\n*** End Patch"
    given = {"tool_name": "apply_patch", "tool_use_id": "x1", "tool_input": {"command": patch}}
    day.send("codex", codex | {"hook_event_name": "UserPromptSubmit", "prompt": "Log as JSON"})
    day.send("codex", codex | {"hook_event_name": "PreToolUse", **given})
    parser.uses("Bash", command=f"git mv {LEXER} src/scanner.py && echo done > notes.txt")
    day.send(
        "codex", codex | {"hook_event_name": "PostToolUse", **given, "tool_response": "Exit code: 0\nok"}
    )
    parser.answers("The scanner is a file of its own. TODO: move the scanner's tests too.")
    day.send("codex", codex | {"hook_event_name": "Stop", "last_assistant_message": "Logs are JSON now."})

    cursor = {"conversation_id": "page", "generation_id": "g1", "workspace_roots": [str(shop)]}
    write = {"tool_name": "Write", "tool_use_id": "c1", "tool_input": {"file_path": str(shop / PAGE)}}
    asked = {"hook_event_name": "beforeSubmitPrompt", "prompt": "页面文案改成中文，以后页面文案统一用中文"}
    day.send("cursor", cursor | asked)
    day.send("cursor", cursor | {"hook_event_name": "postToolUse", **write})
    day.send("cursor", cursor | {"hook_event_name": "afterFileEdit", "file_path": str(shop / PAGE)})
    day.send("cursor", cursor | {"hook_event_name": "afterAgentResponse", "text": "文案改好了。"})
    day.send("cursor", cursor | {"hook_event_name": "stop", "status": "completed"})

    parser.asked("2", "go on")  # over midnight, with a rest, no answer, and a file made in vain
    parser.edits(PARSER)
    parser.edits(SESSION, after=31.0)
    parser.uses("Write", file_path="src/scratch.py")
    parser.uses("Bash", command="rm src/scratch.py")
    parser.asked("3", "# Plan\n\n" + "\n".join(f"{n}. Rename the logger in module {n}" for n in range(900)))
    for module in MODULES:
        parser.edits(module)
    parser.answers("x" * 6_000)
    parser.asked("4", "/compact")
    parser.says("SessionStart", source="compact")
    parser.asked("5", "解释一下解析器")
    parser.reads(PARSER)
    parser.answers("它逐个读取记号。")
    parser.says("SessionEnd", reason="other")


def files(item: dict[str, Any]) -> dict[str, Any]:
    renames = [(rename["from"], rename["to"]) for rename in item["renames"]]
    found = {
        "read": item["files_read"],
        "modified": item["files_modified"],
        "added": item["files_added"],
        "deleted": item["files_deleted"],
        "renames": renames,
    }
    return {name: value for name, value in found.items() if value}


YESTERDAY: list[tuple[str, str, dict[str, Any]]] = [
    (
        "parser",
        "Split the parser from the lexer",
        {"modified": [PARSER, "notes.txt"], "renames": [(LEXER, "src/scanner.py")]},
    ),
    ("patches", "Log as JSON", {"modified": [LOGGER], "deleted": [OLD]}),
    ("page", "页面文案改成中文，以后页面文案统一用中文", {"modified": [PAGE]}),
    ("parser", "Change parser.py", {"modified": [PARSER]}),
    ("parser", "Change parser.py", {"modified": [SESSION]}),
    ("parser", "Rename the logger in module 0", {"modified": MODULES[:20]}),
    ("parser", "Rename the logger in module 0", {"modified": MODULES[20:]}),
    ("parser", "解释一下解析器", {"read": [PARSER]}),
]


@dataclass(slots=True)
class Shop:
    """The project in the service under test."""

    service: Any
    route: str

    def get(self, what: str, **where: str) -> Any:
        answer = self.service.client.get(f"{self.route}/{what}", params=where)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def work(self) -> list[dict[str, Any]]:
        """Return what agents did, oldest first."""
        items = self.get("observations", limit="200")["items"]
        return [item for item in reversed(items) if item["source"] != "api"]

    def has_finished(self, count: int) -> bool:
        work = self.work()
        return len(work) == count and not any(item["provisional"] for item in work)

    def remember_last_year(self) -> None:
        """Record that two files changed together each month."""
        work = [
            {"session": f"{month}", "title": "Rotate", "at": f"2025-{month:02}-01"} for month in range(1, 13)
        ]
        body = [item | {"files_modified": [TOKEN, REFRESH]} for item in work]
        stored = self.service.client.post(f"{self.route}/observations?wait=visible", json=body)
        assert stored.json()["accepted"] == len(body)

    def known(self) -> dict[str, Any]:
        """Infer, and return all that is known, but for sizes on disk and the moment of asking."""
        assert self.service.client.post(f"{self.route}/infer").status_code == 200
        stats = self.get("stats")
        impact = self.get("impact", path=TOKEN)
        return {
            "work": self.work(),
            "sessions": self.get("sessions"),
            "edges": self.get("edges"),
            "counts": [stats[name] for name in ("observations", "sessions", "files", "notes", "redacted")],
            "impact": [impact[name] for name in ("affected", "next", "contracts", "concepts")],
        }

    def hook(self, sent: Sent) -> str:
        """Send a call as it happens and return what the agent is told, "" for nothing."""
        answer = self.service.client.post(f"/hooks/{sent.client}", json=sent.event)
        assert answer.status_code == 200
        told = answer.json().get("hookSpecificOutput", answer.json())
        return str(told.get("additionalContext") or told.get("additional_context") or "")

    def told(self, calls: list[Sent]) -> list[str]:
        return [text for text in map(self.hook, calls) if text]


def test_two_days_of_three_agents(
    start_service: Callable[..., Any],
    git_repository: Callable[..., Any],
    eventually: Callable[..., Any],
    tmp_path: Path,
) -> None:
    repository, home = git_repository("shop"), tmp_path / "home"
    repository.touch("Begin", TOKEN, REFRESH, SESSION, PAGE, PARSER, LEXER, OLD, LOGGER, *MODULES)
    repository.git("worktree", "add", "-b", "json-logs", str(tmp_path / "beside"))
    service = start_service(home)
    shop = Shop(service, service.project(repository.path))
    shop.remember_last_year()
    assert service.end() == 0

    first = Day((time.time() - 600) // 86_400 * 86_400 - 20)  # shortly before the last midnight
    yesterday(first, repository.path, tmp_path / "beside")
    for number, sent in enumerate(first.calls):
        line = hook_program.line(sent.client, hook_program.reduced(sent.event), f"{number:032x}", sent.at, {})
        assert hook_program.append(str(home / "spool" / "events.jsonl"), line)
    shop.service = start_service(home)
    eventually(lambda: shop.has_finished(len(YESTERDAY)))
    assert_yesterday(shop.work())

    second = Day(time.time())
    at_work(second, shop, repository.path)
    eventually(lambda: shop.has_finished(len(YESTERDAY) + 1))
    looking_on(second, shop, repository.path)
    eventually(lambda: shop.has_finished(len(YESTERDAY) + 2))
    assert_today(shop)

    before = shop.known()
    again = first.calls + second.calls
    random.Random(7).shuffle(again)
    for sent in again:
        header = {"X-GraphMem-At": str(sent.at)}
        shop.service.client.post(f"/hooks/{sent.client}", json=sent.event, headers=header)
    assert shop.service.end() == 0
    for file in (home / "projects").glob("*/derived.db*"):
        file.unlink()
    shop.service = start_service(home)
    eventually(lambda: shop.get("stats")["behind"] == 0)
    assert shop.known() == before


def assert_yesterday(work: list[dict[str, Any]]) -> None:
    assert sorted(map(repr, seen(work))) == sorted(map(repr, YESTERDAY))
    of_parser = [entry for entry in seen(work) if entry[0] == "parser"]
    assert of_parser == [entry for entry in YESTERDAY if entry[0] == "parser"], "in the order of the work"
    branches = {item["session"]: item["branch"] for item in work}
    assert branches == {"parser": "main", "patches": "json-logs", "page": "main"}
    assert max(len(item["intent"]) + len(item["narrative"]) for item in work) <= 5_000


def assert_today(shop: Shop) -> None:
    fresh = {"modified": [TOKEN, REFRESH, "src/fresh.py"], "added": ["src/fresh.py"]}
    assert seen(shop.work())[-2:] == [
        ("tokens", "Shorten the token's life", fresh),
        ("other", "Look at the tokens", {"read": [TOKEN]}),
    ]
    notes = shop.get("stats")["notes"]
    assert notes == {"given": 2, "opened": 0, "changed": 1, "helped": 1, "missed": 0}
    (tokens,) = [item for item in shop.get("sessions")["items"] if item["id"] == "tokens"]
    assert (tokens["done"], tokens["left_open"]) == (["Shorten the token's life"], ["rotate the old tokens."])


def seen(work: list[dict[str, Any]]) -> list[tuple[str, str, dict[str, Any]]]:
    return [(item["session"], item["title"], files(item)) for item in work]


def at_work(day: Day, shop: Shop, root: Path) -> None:
    """Let a session change what a note names."""
    tokens = Claude(day, "tokens", root)
    opening = shop.hook(tokens.says("SessionStart", source="startup"))
    assert opening.splitlines()[0] == f"{HEAD}:"
    assert '- open: "move the scanner\'s tests too."' in opening
    assert '"Split the parser' not in opening, "that session has ended"
    assert len(opening) <= 800
    assert shop.hook(tokens.says("SessionStart", source="startup")) == "", (
        "told at once by hooks set up twice"
    )

    assert shop.hook(tokens.asked("1", "Shorten the token's life")) == "", "nothing has to do with it"
    (note,) = shop.told(tokens.reads(TOKEN))
    assert note.startswith(f"{TOKEN}, from recorded history:\n")
    assert f"- {REFRESH} " in note and ": 12 of 12 times, 12 sessions" in note
    assert len(note.encode()) <= 600
    assert shop.told([*tokens.edits(TOKEN), *tokens.edits(REFRESH), *tokens.reads(TOKEN)]) == []
    assert shop.told(tokens.uses("Write", file_path="src/fresh.py")) == [], "a new file"
    shop.hook(tokens.answers("Tokens live 900 seconds. Still to do: rotate the old tokens."))


def looking_on(day: Day, shop: Shop, root: Path) -> None:
    """Let a session only look, with sub-agents that ask again, and another only ask."""
    other = Claude(day, "other", root)
    shop.hook(other.says("SessionStart", source="startup"))
    reminder = shop.hook(other.asked("0", "/clear")) + shop.hook(other.asked("1", "Look at the tokens"))
    assert reminder == "", "the open task was told at the start"
    (note,) = shop.told(other.reads(TOKEN))
    assert "- claude-code (session tokens) on this file, 0 min ago" in note
    assert shop.told([*other.reads(TOKEN, agent="a1"), *other.reads(TOKEN, agent="a2")]) == []
    shop.hook(other.answers(""))

    third = Claude(day, "third", root)  # asks, and does nothing
    told = shop.hook(third.asked("1", "给页面文案加一个标题"))
    assert "约定" in told and '"页面文案改成中文，以后页面文案统一用中文"' in told
    told = shop.hook(third.asked("2", "Where may the parser module recurse?"))
    assert told.splitlines()[0] == f"{HEAD}; quoted as it was said then:"
    assert json.dumps("Never recurse in the parser module.") in told
    assert shop.hook(third.asked("3", "ok")) == ""
