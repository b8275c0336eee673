"""What is particular to one client: its tools, what it takes for a prompt, how it tells things twice."""

from __future__ import annotations

import json
from typing import Any

import pytest

from graphmem.clients.claude_code import ClaudeCode
from graphmem.clients.codex import Codex
from graphmem.clients.cursor import Cursor
from graphmem.clients.plain import Plain
from graphmem.clients.port import ClientAdapter
from graphmem.events import Event, EventKind, FileChange, FileEdit, Origin, Phase
from graphmem.hook_program import reduced

CLAUDE, CODEX, CURSOR, PLAIN = ClaudeCode(), Codex(), Cursor(), Plain()
ADDED, DELETED, MOVED = FileChange.ADDED, FileChange.DELETED, FileChange.MOVED
SHOP = "/home/dev/shop"
PATCH = "*** Begin Patch\n*** Update File: src/a.py\n*** Move to: src/b.py\n@@\n-don't\n+do\n*** End Patch\n"
MOVE = (FileEdit("src/b.py", MOVED, "src/a.py"),)


def said(event: str, **fields: Any) -> dict[str, Any]:
    common = {
        "session_id": "s",
        "conversation_id": "s",
        "generation_id": "g",
        "turn_id": "t",
        "prompt_id": "t",
    }
    return {**common, "cwd": SHOP, "hook_event_name": event, **fields}


def only(adapter: ClientAdapter, raw: dict[str, Any]) -> Event:
    (event,) = adapter.events(raw, 1.0)
    return event


def call(adapter: ClientAdapter, tool: str, event: str = "PostToolUse", **given: Any) -> list[Event]:
    return adapter.events(said(event, tool_name=tool, tool_input=given, tool_use_id="c"), 1.0)


# ---- Claude Code ----------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["Edit", "MultiEdit", "Write"])
def test_claude_code_edits_by_each_of_its_tools(tool: str) -> None:
    (event,) = call(CLAUDE, tool, file_path="C:\\shop\\a.py", edits=[{"old_string": "x"}])
    assert (event.kind, event.edits) == (EventKind.EDITED, (FileEdit("C:\\shop\\a.py"),))


@pytest.mark.parametrize(
    ("response", "change"),
    [
        ({"type": "create"}, ADDED),
        ({"filePath": "/a.py", "originalFile": None}, ADDED),
        ({"filePath": "/a.py", "originalFile": "x"}, FileChange.MODIFIED),
        ({"filePath": "/a.py"}, FileChange.MODIFIED),
        ({"type": "update", "originalFile": None}, FileChange.MODIFIED),
        ("created", FileChange.MODIFIED),
    ],
)
def test_a_file_that_was_not_there_before_is_added(response: object, change: FileChange) -> None:
    raw = said("PostToolUse", tool_name="Write", tool_input={"file_path": "/a.py"}, tool_use_id="c")
    raw["tool_response"] = response
    assert only(CLAUDE, raw).edits == only(CLAUDE, reduced(raw)).edits == (FileEdit("/a.py", change),)


def test_claude_code_reads_and_edits_notebooks() -> None:
    assert call(CLAUDE, "NotebookRead", notebook_path="/a.ipynb")[0].reads == ("/a.ipynb",)
    assert call(CLAUDE, "NotebookEdit", notebook_path="/a.ipynb")[0].edits == (FileEdit("/a.ipynb"),)


@pytest.mark.parametrize("tool", ["Grep", "Glob", "LS"])
def test_what_a_search_finds_is_not_read(tool: str) -> None:
    raw = said("PostToolUse", tool_name=tool, tool_input={"pattern": "x", "path": "src"}, tool_use_id="c")
    whole = only(CLAUDE, raw | {"tool_response": {"filenames": ["src/a.py"]}})
    assert (whole.kind, whole.reads, whole.edits) == (EventKind.SEARCHED, (), ())
    assert only(CLAUDE, raw | {"found": ["src/a.py"]}) == whole


@pytest.mark.parametrize("tool", ["Agent", "Task", "WebFetch", "TodoWrite", "mcp__x__Edit"])
def test_other_tools_of_claude_code_tell_nothing(tool: str) -> None:
    assert call(CLAUDE, tool, file_path="/a.py", command="rm a.py", prompt="x") == []


def test_a_stop_in_a_sub_agent_ends_no_turn() -> None:
    assert CLAUDE.events(said("Stop", agent_id="a1", last_assistant_message="x"), 1.0) == []
    assert CLAUDE.events(said("SubagentStop", last_assistant_message="x"), 1.0) == []
    assert CLAUDE.events(said("UserPromptSubmit", agent_id="a1", prompt="x"), 1.0) == []


def test_ends_of_one_turn_are_told_apart_from_each_other_and_not_from_themselves() -> None:
    first = said("Stop", stop_hook_active=False, last_assistant_message="done")
    other = said("Stop", stop_hook_active=False, last_assistant_message="done, and tested")
    again = said("Stop", stop_hook_active=True, last_assistant_message="done")
    later = {**first, "prompt_id": "t2"}
    keys = [only(CLAUDE, raw).key for raw in (first, other, again, later)]
    assert len(set(keys)) == 4
    assert only(CLAUDE, first).key == keys[0]
    assert only(CLAUDE, {**first, "prompt_id": None}).key == ""


@pytest.mark.parametrize("source", list(Origin))
def test_a_session_says_how_it_began(source: Origin) -> None:
    assert only(CLAUDE, said("SessionStart", source=source.value)).origin is source
    assert only(CODEX, said("SessionStart", source=source.value)).origin is source


@pytest.mark.parametrize("source", ["teleport", "", None, 7])
def test_a_beginning_of_an_unknown_kind_is_one_all_the_same(source: object) -> None:
    event = only(CLAUDE, said("SessionStart", source=source))
    assert (event.kind, event.origin) == (EventKind.SESSION_STARTED, None)


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "   \n",
        "/clear",
        "/review src/auth",
        "/my-plugin:do it",
        "<command-name>/compact</command-name>\n<command-args></command-args>",
        "<command-message>init</command-message>",
        "<local-command-stdout>ok</local-command-stdout>",
        "<bash-input>ls</bash-input>",
        "[Request interrupted by user]",
        "[Request interrupted by user for tool use]",
        "<system-reminder>Your todo list is empty.</system-reminder>",
        "<system-reminder>cut in the mid",
        "Caveat: The messages below were generated by the user while running local commands.",
        "This session is being continued from a previous conversation that ran out of context.",
    ],
)
def test_what_the_user_did_not_ask_is_no_prompt(prompt: str) -> None:
    assert CLAUDE.events(said("UserPromptSubmit", prompt=prompt), 1.0) == []


def test_a_prompt_marked_as_the_clients_own_is_none() -> None:
    assert (
        CLAUDE.events(said("UserPromptSubmit", prompt="Base directory for this skill", isMeta=True), 1.0)
        == []
    )


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        (" fix it \n", "fix it"),
        ("/home/dev/shop/a.py fails", "/home/dev/shop/a.py fails"),
        ("/ is not served", "/ is not served"),
        ("what does <command-name> mean?", "what does <command-name> mean?"),
        ("<system-reminder>\nnote\n</system-reminder>\nfix it<system-reminder>x</system-reminder>", "fix it"),
        ("不要改 API", "不要改 API"),
    ],
)
def test_what_the_user_asked_is_the_prompt(prompt: str, text: str) -> None:
    event = only(CLAUDE, said("UserPromptSubmit", prompt=prompt))
    assert (event.kind, event.text, event.key) == (EventKind.PROMPT, text, "prompt:t")


def test_a_sed_in_place_is_known_before_it_runs() -> None:
    (event,) = call(CLAUDE, "Bash", "PreToolUse", command="sed -i s/a/b/ src/a.py")
    assert (event.kind, event.phase, event.edits) == (
        EventKind.COMMAND_RUN,
        Phase.AHEAD,
        (FileEdit("src/a.py"),),
    )


def test_a_shell_that_stayed_where_it_went_is_not_followed_twice() -> None:
    raw = said("PreToolUse", tool_name="Bash", tool_input={"command": "cd web && cat a.ts"}, tool_use_id="c")
    after = raw | {"hook_event_name": "PostToolUse", "cwd": f"{SHOP}/web"}
    assert only(CLAUDE, raw).reads == ("web/a.ts",)
    assert only(CLAUDE, after).reads == ("a.ts",)
    assert only(CLAUDE, after | {"agent_id": "a1"}).reads == ("web/a.ts",)


# ---- Codex ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["apply_patch", "Edit", "Write"])
@pytest.mark.parametrize("field", ["command", "input", "patch"])
def test_a_patch_of_codex_is_found_by_each_name(tool: str, field: str) -> None:
    (event,) = call(CODEX, tool, **{field: PATCH})
    assert (event.kind, event.edits) == (EventKind.EDITED, MOVE)


@pytest.mark.parametrize(
    "given",
    [
        {"command": f"apply_patch <<'EOF'\n{PATCH}EOF"},
        {"command": f"apply_patch '{PATCH.replace(chr(39), '')}'"},
        {"command": ["apply_patch", PATCH]},
        {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}EOF\n"]},
        {"command": f"python3 <<'PY'\nsubprocess.run(['apply_patch', '''{PATCH}'''])\nPY"},
        {"command": PATCH},
        {"cmd": f"apply_patch <<EOF\n{PATCH}EOF"},
    ],
    ids=["here-document", "argument", "words", "login shell", "script", "bare", "other field"],
)
def test_a_patch_wrapped_in_a_command_changes_the_same_files(given: dict[str, Any]) -> None:
    raw = said("PostToolUse", tool_name="shell", tool_input=given, tool_use_id="c")
    assert only(CODEX, raw).edits == MOVE
    if isinstance(given.get("command"), str):
        assert only(CODEX, reduced(raw)).edits == MOVE


def test_a_command_of_codex_runs_where_it_says() -> None:
    (event,) = call(CODEX, "exec_command", cmd="cat a.py", workdir="web")
    assert (event.cwd, event.reads) == (f"{SHOP}/web", ("a.py",))
    (event,) = call(CODEX, "shell", command=["cat", "a b.py"], workdir="/srv")
    assert (event.cwd, event.reads, event.command) == ("/srv", ("a b.py",), "cat 'a b.py'")


@pytest.mark.parametrize(
    ("response", "phase"), [("Exit code: 0\n", Phase.DONE), ("Exit code: 1\n", Phase.FAILED)]
)
def test_a_patch_that_codex_could_not_apply_has_failed(response: str, phase: Phase) -> None:
    raw = said("PostToolUse", tool_name="apply_patch", tool_input={"command": PATCH}, tool_use_id="c")
    assert only(CODEX, raw | {"tool_response": response}).phase is phase


def test_codex_reads_where_it_has_a_tool_for_it() -> None:
    assert call(CODEX, "read_file", file_path="/a.py")[0].reads == ("/a.py",)
    assert call(CODEX, "read_file") == []


@pytest.mark.parametrize("tool", ["update_plan", "web_search", "write_stdin", "view_image"])
def test_other_tools_of_codex_tell_nothing(tool: str) -> None:
    assert call(CODEX, tool, command="rm a.py", file_path="a.py", input=PATCH) == []


# ---- Cursor ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "given", "reads", "edits"),
    [
        ("Read", {"file_path": "c:\\shop\\a.py"}, ("c:\\shop\\a.py",), ()),
        ("Read", {"target_file": "a.py"}, ("a.py",), ()),
        ("Write", {"path": "a.py"}, (), (FileEdit("a.py"),)),
        ("Delete", {"path": "a.py"}, (), (FileEdit("a.py", DELETED),)),
        ("Shell", {"command": "mv a.py b.py"}, (), (FileEdit("b.py", MOVED, "a.py"),)),
        ("Grep", {"pattern": "x", "path": "a.py"}, (), ()),
    ],
)
def test_cursor_works_by_each_of_its_tools(
    tool: str, given: dict[str, str], reads: tuple[str, ...], edits: tuple[FileEdit, ...]
) -> None:
    for tool_input in (given, json.dumps(given)):
        raw = said("postToolUse", tool_name=tool, tool_input=tool_input, tool_use_id="c")
        event = only(CURSOR, raw)
        assert (event.reads, event.edits, event.phase) == (reads, edits, Phase.DONE)
    failed = only(CURSOR, raw | {"hook_event_name": "postToolUseFailure", "failure_type": "error"})
    assert failed.phase is Phase.FAILED


def test_cursor_is_where_the_call_says_or_else_in_its_first_workspace() -> None:
    raw = said("afterFileEdit", file_path="a.py", cwd=None, workspace_roots=["/one", "/two"])
    assert only(CURSOR, raw).cwd == "/one"
    assert only(CURSOR, raw | {"cwd": "/three"}).cwd == "/three"
    assert only(CURSOR, raw | {"workspace_roots": "odd"}).cwd is None
    shell = {"tool_name": "Shell", "tool_input": {"command": "ls", "working_directory": "/four"}}
    assert only(CURSOR, said("preToolUse", **shell)).cwd == "/four"


@pytest.mark.parametrize(
    ("raw", "kind", "phase"),
    [
        (said("beforeReadFile", file_path="a.py", content="x"), EventKind.READ, Phase.DONE),
        (said("afterFileEdit", file_path="a.py", edits=[{"old_string": "x"}]), EventKind.EDITED, Phase.DONE),
        (said("beforeShellExecution", command="cat a.py"), EventKind.COMMAND_RUN, Phase.AHEAD),
        (said("afterShellExecution", command="cat a.py", output="x"), EventKind.COMMAND_RUN, Phase.DONE),
    ],
)
def test_a_hook_of_cursor_for_one_kind_of_work_tells_it_once_a_turn(
    raw: dict[str, Any], kind: EventKind, phase: Phase
) -> None:
    event = only(CURSOR, raw)
    assert (event.kind, event.phase, event.call) == (kind, phase, "")
    assert "a.py" in (*event.reads, *(edit.path for edit in event.edits))
    assert event == only(CURSOR, raw | {"output": "other"})
    field = "file_path" if "file_path" in raw else "command"
    others = (raw | {"generation_id": "g2"}, raw | {field: "cat b.py"})
    assert len({event.key, *(only(CURSOR, other).key for other in others)}) == 3
    assert only(CURSOR, raw | {"generation_id": ""}).key == ""
    assert CURSOR.events(raw | {field: ""}, 1.0) == []


def test_an_edit_that_cursor_tells_by_two_hooks_is_the_same_file() -> None:
    by_tool = only(
        CURSOR, said("postToolUse", tool_name="Write", tool_input={"path": "a.py"}, tool_use_id="c")
    )
    by_kind = only(CURSOR, said("afterFileEdit", file_path="a.py"))
    assert (by_tool.edits, by_tool.turn) == (by_kind.edits, by_kind.turn)
    assert by_tool.key != by_kind.key


def test_an_empty_answer_of_cursor_is_told_apart_from_the_stop() -> None:
    keys = [only(CURSOR, said(event, text="")).key for event in ("afterAgentResponse", "stop")]
    assert len(set(keys)) == 2


@pytest.mark.parametrize(
    "event", ["afterAgentThought", "preCompact", "subagentStop", "afterTabFileEdit", "Stop"]
)
def test_other_hooks_of_cursor_tell_nothing(event: str) -> None:
    assert CURSOR.events(said(event, text="x", file_path="a.py", prompt="x"), 1.0) == []


# ---- the neutral JSON -----------------------------------------------------------------------------


def test_the_neutral_json_holds_everything_an_event_has() -> None:
    raw = {
        "event": "command run",
        "session": "s",
        "turn": "t",
        "call": "c",
        "phase": "failed",
        "key": "k",
        "agent": "a",
        "cwd": SHOP,
        "origin": "fork",
        "text": "x",
        "command": "rm z.py",
        "reads": ["a.py", "", 7],
        "edits": [
            "b.py",
            {"path": "d.py", "change": "moved", "former": "c.py"},
            {"path": "e.py", "change": "added"},
        ],
    }
    assert PLAIN.events(raw, 2.0) == [
        Event(
            EventKind.COMMAND_RUN,
            "plain",
            "s",
            2.0,
            cwd=SHOP,
            key="k",
            turn="t",
            agent="a",
            call="c",
            phase=Phase.FAILED,
            reads=("a.py",),
            edits=(FileEdit("b.py"), FileEdit("d.py", MOVED, "c.py"), FileEdit("e.py", ADDED)),
            text="x",
            command="rm z.py",
            origin=Origin.FORK,
        )
    ]


@pytest.mark.parametrize(
    "edit",
    [
        *("", 7, None, {}, {"path": ""}, {"path": "a", "change": "eaten"}),
        *({"path": "a", "change": "moved"}, {"path": "a", "former": "b"}),
    ],
)
def test_an_edit_that_is_not_to_be_understood_is_left_out(edit: object) -> None:
    (event,) = PLAIN.events({"event": "edited", "session": "s", "edits": [edit, "ok.py"]}, 2.0)
    assert event.edits == (FileEdit("ok.py"),)


@pytest.mark.parametrize("odd", [{"event": "x"}, {"session": ""}, {"session": 1}, {"phase": "soon"}])
def test_a_neutral_event_without_kind_session_or_phase_is_none(odd: dict[str, Any]) -> None:
    assert PLAIN.events({"event": "read", "session": "s", "reads": ["a.py"], **odd}, 2.0) == []
