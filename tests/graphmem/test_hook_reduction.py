"""What may leave of a hook event: names, paths, texts cut to size; no output, no content, nothing private."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.hook_program import line, reduced

RECORDINGS = Path(__file__).resolve().parents[1] / "recordings"
COMMON = {"session_id": "s-1", "cwd": "/home/dev/shop", "hook_event_name": "PostToolUse"}
SECRET = "ghp_" + "a1B2c3D4e5" * 4
PATCH = """*** Begin Patch
*** Update File: src/auth/token.py
*** Move to: src/auth/renewal.py
@@ def issue
-ACCESS_TTL = 3600
+ACCESS_TTL = 900
*** Add File: src/auth/rotation.py
+ROTATE = True
*** Delete File: src/checkout/session.py
*** End Patch"""
HEADERS = """*** Begin Patch
*** Update File: src/auth/token.py
*** Move to: src/auth/renewal.py
*** Add File: src/auth/rotation.py
*** Delete File: src/checkout/session.py
*** End Patch"""


def recorded() -> list[Any]:
    return [
        pytest.param(json.loads(text)["event"], id=f"{path.stem}-{number}")
        for path in sorted(RECORDINGS.glob("*.jsonl"))
        for number, text in enumerate(path.read_text(encoding="utf-8").splitlines())
    ]


def bare(command: str) -> Any:
    """Return what is left of a command."""
    return reduced(COMMON | {"tool_input": {"command": command}})["tool_input"]["command"]


# ---- the allow-list ----------------------------------------------------------------------------


@pytest.mark.parametrize("event", recorded())
def test_of_a_real_event_names_and_paths_stay_and_no_content_does(event: dict[str, Any]) -> None:
    left = reduced(event)
    for name in ("session_id", "cwd", "hook_event_name", "prompt_id", "turn_id", "tool_name", "tool_use_id"):
        assert left.get(name) == event.get(name)
    for name in ("prompt", "last_assistant_message", "source", "reason", "agent_id"):
        assert left.get(name) == event.get(name)
    for name in ("file_path", "notebook_path"):
        assert left.get("tool_input", {}).get(name) == event.get("tool_input", {}).get(name)
    told = json.dumps(left)
    for content in ("ACCESS_TTL", "ROTATE = True", "originalFile", "old_string", "stdout", "x=2", "3600\\n"):
        assert content not in told or content in event.get("tool_input", {}).get("command", "")
    assert "ACCESS_TTL" not in told


@pytest.mark.parametrize("event", recorded())
def test_what_is_reduced_already_comes_out_as_it_is(event: dict[str, Any]) -> None:
    left = reduced(event)
    assert reduced(left) == left


def test_of_an_editors_event_its_roots_files_and_ids_stay() -> None:
    event = {
        "conversation_id": "c-1",
        "generation_id": "g-1",
        "parent_conversation_id": "c-0",
        "hook_event_name": "afterFileEdit",
        "workspace_roots": ["/home/dev/shop", 5],
        "user_email": "dev@example.com",
        "file_path": "/home/dev/shop/a.py",
        "edits": [{"old_string": "old words", "new_string": "new words"}],
        "modified_files": ["/home/dev/shop/a.py", "/home/dev/shop/.env"],
        "attachments": [{"content": "whole file"}],
        "content": "whole file",
    }
    assert reduced(event) == {
        "conversation_id": "c-1",
        "generation_id": "g-1",
        "parent_conversation_id": "c-0",
        "hook_event_name": "afterFileEdit",
        "workspace_roots": ["/home/dev/shop"],
        "file_path": "/home/dev/shop/a.py",
        "modified_files": ["/home/dev/shop/a.py"],
    }


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
NAMES = st.sampled_from(
    ["session_id", "cwd", "workspace_roots", "prompt", "command", "file_path", "ok", "tool_name", "other"]
)
INSIDE = st.sampled_from(["file_path", "paths", "command", "pattern", "patch", "content"])


@given(
    st.dictionaries(NAMES, JSON_VALUES, max_size=6),
    st.dictionaries(INSIDE, JSON_VALUES, max_size=4) | JSON_VALUES,
    st.fixed_dictionaries({}, optional={"filenames": JSON_VALUES, "error": JSON_VALUES}) | JSON_VALUES,
)
def test_whatever_the_types_it_reduces_to_plain_json_once_and_for_all(
    event: dict[str, Any], inside: Any, response: Any
) -> None:
    left = reduced(event | {"tool_input": inside, "tool_response": response})
    assert reduced(left) == left
    before, told, after = line("codex", left, "0" * 32, 1.5, {}).split(b"\n")
    assert before == after == b""
    assert told.isascii()
    assert json.loads(told)["event"] == left
    assert "other" not in left
    assert "content" not in left.get("tool_input", {})


# ---- texts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "size"), [("a" * 4096, 4096), ("a" * 4097, 4096), ("限" * 2000, 4095), ("x" * 9_000_000, 4096)]
)
def test_texts_are_cut_at_four_kibibytes_on_a_character(text: str, size: int) -> None:
    left = reduced(COMMON | {"prompt": text})["prompt"]
    assert isinstance(left, str)
    assert text.startswith(left)
    assert len(left.encode()) == size


@pytest.mark.parametrize("letter", ["a", "限", "😀", "\x01", '"'])
def test_an_event_is_bounded_as_a_whole_and_reduced_once_for_all(letter: str) -> None:
    long = [letter * 4096] * 50
    raw = COMMON | dict.fromkeys(("workspace_roots", "modified_files", "prompt", "task"), long)
    left = reduced(raw | {"tool_input": dict.fromkeys(("paths", "description", "old_path"), long)})
    assert reduced(left) == left
    assert left["session_id"] == COMMON["session_id"]
    assert len(line("codex", left, "0" * 32, 1.5, {})) < 256 * 1024


def test_half_characters_do_not_leave() -> None:
    raw = json.loads('{"prompt": "a\\ud800b", "cwd": "/\\udfff"}')
    assert reduced(raw) == {"prompt": "a?b", "cwd": "/?"}


@pytest.mark.parametrize("name", ["session_id", "conversation_id", "prompt_id", "tool_use_id", "reason"])
def test_names_keep_no_secret_and_stay_apart(name: str) -> None:
    counts: dict[str, int] = {}
    told = [f"key {SECRET}", f"key {SECRET[::-1]}ghp_{SECRET}", f"password={SECRET}"]
    left = [str(reduced({name: each}, counts)[name]) for each in told]
    assert SECRET not in "".join(left)
    assert len(set(left)) == 3
    assert sum(counts.values()) >= 3
    assert [reduced({name: each})[name] for each in left] == left
    assert left[0] == reduced({name: told[0]})[name]


@pytest.mark.parametrize("place", ["prompt", "last_assistant_message", "command"])
def test_secrets_in_texts_are_replaced_and_counted(place: str) -> None:
    counts: dict[str, int] = {}
    left = reduced({place: f"use {SECRET} here", "prompt_id": "p"}, counts)
    assert SECRET not in json.dumps(left)
    assert str(left[place]).startswith("use [redacted:")
    assert sum(counts.values()) == 1


@pytest.mark.parametrize("start", [4080, 16_370, 16_384])
def test_a_secret_where_a_text_is_cut_does_not_leave_by_half(start: int) -> None:
    left = reduced({"prompt": "word " * (start // 5) + SECRET})["prompt"]
    assert "ghp_" not in str(left)


def test_secrets_in_a_private_block_that_is_long_do_not_bring_half_ones_in() -> None:
    text = "<private>" + "x" * 16_300 + "</private> " + "y" * 50 + SECRET * 3
    assert "ghp_" not in str(reduced({"prompt": text}).get("prompt"))


def test_paths_are_no_texts() -> None:
    path = f"/home/dev/{SECRET}/a.py"
    event = COMMON | {"file_path": path, "tool_input": {"file_path": path}}
    assert reduced(event) == event


# ---- commands and patches ----------------------------------------------------------------------


def test_a_patch_keeps_the_lines_that_name_files() -> None:
    assert bare(PATCH + "\n") == HEADERS + "\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("cd x && apply_patch <<'EOF'\n", "\nEOF\ngit status"),
        ("apply_patch '", "'\nls"),
        ('["bash", "-lc", "apply_patch <<EOF\n', "\nEOF\n"),
    ],
)
def test_a_patch_within_a_script_does_so_too(before: str, after: str) -> None:
    assert bare(before + PATCH + after) == before + HEADERS + after


def test_a_patch_quoted_in_another_language_does_so_too() -> None:
    script = 'await tools.apply_patch("' + PATCH.replace("\n", "\\n") + '\\n");'
    left = str(bare(script)).split("\n")
    assert [text for text in left if text.startswith("*** ")] == HEADERS.split("\n")[1:]
    assert "ACCESS_TTL" not in "".join(left)


def test_a_patch_of_any_length_keeps_all_its_files_that_fit() -> None:
    body = "\n".join("+line" for _ in range(50_000))
    script = f"*** Begin Patch\n*** Add File: a.py\n{body}\n*** Add File: b.py\n{body}\n*** End Patch"
    assert bare(script) == "*** Begin Patch\n*** Add File: a.py\n*** Add File: b.py\n*** End Patch"


@pytest.mark.parametrize("name", ["patch", "input"])
def test_of_other_inputs_only_a_patch_is_kept(name: str) -> None:
    assert reduced(COMMON | {"tool_input": {name: f"let x = 1;\n{PATCH}\nlet y"}})["tool_input"] == {
        name: HEADERS
    }
    assert "tool_input" not in reduced(COMMON | {"tool_input": {name: "let x = 1"}})


@pytest.mark.parametrize(
    ("script", "left"),
    [
        ("cat > a.py <<EOF\nbody\nEOF\nrm b.py", "cat > a.py <<EOF\nEOF\nrm b.py"),
        ("cat <<'EOF' > a.py\nbody\n EOF\nEOF\nls", "cat <<'EOF' > a.py\nEOF\nls"),
        ('cat > a <<-"END"\n\tbody\n\tEND\nls', 'cat > a <<-"END"\n\tEND\nls'),
        ("cat <<A <<B\none\nA\ntwo\nB\nls", "cat <<A <<B\nA\nB\nls"),
        ("cat > a <<EOF\nbody without an end", "cat > a <<EOF"),
        (
            "git commit -m \"$(cat <<'EOF'\nwords\nEOF\n)\" && ls",
            "git commit -m \"$(cat <<'EOF'\nEOF\n)\" && ls",
        ),
        ("bash -c 'cat > a <<EOF\nbody\nEOF'\nls", "bash -c 'cat > a <<EOF\nEOF'\nls"),
        ("cat <<EOF\r\nbody\r\nEOF\r\nls", "cat <<EOF\r\nEOF\r\nls"),
        ("grep a <<< word\nls", "grep a <<< word\nls"),
        ("echo $((1 << 4))\nls", "echo $((1 << 4))\nls"),
        ("sed -i s/a/b/ a.py && git mv a.py b.py", "sed -i s/a/b/ a.py && git mv a.py b.py"),
    ],
)
def test_the_bodies_of_here_documents_do_not_leave(script: str, left: str) -> None:
    assert bare(script) == left


def test_a_command_given_as_words_keeps_them() -> None:
    event = COMMON | {"tool_input": {"command": ["bash", "-lc", "cat a.py", 5]}}
    assert reduced(event)["tool_input"] == {"command": ["bash", "-lc", "cat a.py"]}


# ---- private paths -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "inside",
    [
        {"file_path": "/home/dev/shop/.env"},
        {"path": "config/.env.local", "pattern": "KEY", "description": "look"},
        {"command": "*** Begin Patch\n*** Update File: .env\n+A=1\n*** End Patch", "description": "x"},
    ],
)
def test_of_a_call_about_a_private_file_nothing_names_it(inside: dict[str, str]) -> None:
    told = json.dumps(reduced(COMMON | {"tool_use_id": "t-1", "tool_input": inside}))
    assert ".env" not in told
    assert "KEY" not in told
    assert "t-1" in told


def test_a_private_file_among_others_is_left_out(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".graphmemignore").write_text("drafts/\n", encoding="utf-8")
    event = COMMON | {
        "cwd": str(tmp_path),
        "tool_input": {"command": "cp drafts/a.md src/b.md; cat .env>c.md", "path": "src"},
        "tool_response": {"filenames": ["drafts/a.md", "src/a.md", ".env"]},
    }
    left = reduced(event)
    assert left["tool_input"] == {"path": "src", "command": "cp [private] src/b.md; cat [private]>c.md"}
    assert left["found"] == ["src/a.md"]


@pytest.mark.parametrize("command", ["cat id_rsa", "scp -i ~/.ssh/id_ed25519 a b", "source '.env'", "f=.env"])
def test_a_private_file_in_a_command_has_no_name(command: str) -> None:
    left = bare(command)
    assert "[private]" in left
    assert not any(name in left for name in ("id_", ".ssh", ".env"))


# ---- how a call ended --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "event",
    [
        {"hook_event_name": "PostToolUseFailure", "error": "Exit code 2\nls: no such file"},
        {"hook_event_name": "postToolUseFailure", "error_message": "timed out"},
        {"tool_response": "Exit code: 1\nWall time: 0 seconds"},
        {"tool_response": "Process exited with code 127\nOutput:"},
        {"tool_output": '{"exitCode":2,"stdout":"no"}'},
        {"tool_response": {"is_error": True}},
        {"tool_response": {"isError": True}},
        {"tool_response": {"success": False}},
        {"tool_response": {"interrupted": True, "stdout": ""}},
        {"tool_response": {"error": "no such cell"}},
        {"exit_code": 1},
    ],
)
def test_a_call_that_failed_says_so_and_not_how(event: dict[str, Any]) -> None:
    left = reduced({"tool_use_id": "t-1"} | event)
    assert left.pop("ok") is False
    assert set(left) <= {"tool_use_id", "hook_event_name"}


@pytest.mark.parametrize(
    "event",
    [
        {"hook_event_name": "PostToolUse", "tool_response": {"stdout": "Exit code: 1", "interrupted": False}},
        {"tool_response": "Exit code: 0\nWall time: 0 seconds"},
        {"tool_response": "ACCESS_TTL = 3600\nExit code: 1"},
        {"tool_output": '{"exitCode":0,"stdout":"1"}'},
        {"tool_response": {"error": "", "is_error": False, "success": True, "exit_code": 0}},
        {"hook_event_name": "PreToolUse"},
    ],
)
def test_any_other_call_says_nothing_of_it(event: dict[str, Any]) -> None:
    assert set(reduced(event)) <= {"hook_event_name"}


@pytest.mark.parametrize(
    ("response", "created"),
    [
        ({"type": "create", "filePath": "/a.py", "content": "x"}, True),
        ({"filePath": "/a.py", "originalFile": None}, True),
        ({"type": "update", "filePath": "/a.py", "originalFile": "x"}, None),
        ({"filePath": "/a.py"}, None),
        ("created", None),
    ],
)
def test_a_file_that_was_made_is_said_to_be(response: object, created: bool | None) -> None:
    assert reduced(COMMON | {"tool_response": response}).get("created") is created


def test_a_search_tells_fifty_of_its_files_at_most() -> None:
    names = [f"src/{number}.py" for number in range(80)]
    assert reduced(COMMON | {"tool_response": {"filenames": names}})["found"] == names[:50]
