"""Our entries in a client's settings: put into the text as it stands, taken out without a trace."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.client_settings import (
    WrongShapeError,
    command_entries,
    command_line,
    installed,
    is_bare,
    is_ours,
    merged,
    removed,
)
from api.installation import CLIENTS
from api.json_text import BrokenJsonError, read
from api.settings_claude_code import CLAUDE_CODE, http_entries
from api.settings_codex import CODEX
from api.settings_cursor import CURSOR

PROGRAM = "/opt/graph mem/hook_program.py"
RUN = command_line("/opt/bin/python", PROGRAM, "claude-code", None)


def entries_of(client: Any, interpreter: str = "/opt/bin/python", home: str | None = None) -> Any:
    return command_entries(client, command_line(interpreter, PROGRAM, client.name, home))


keys = st.text(max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=12,
)
handlers = st.fixed_dictionaries({"type": st.just("command"), "command": st.text()})
groups = st.fixed_dictionaries({"hooks": st.lists(handlers, max_size=3)}, optional={"matcher": st.text()})
events = st.sampled_from([*CLAUDE_CODE.matchers, *CURSOR.matchers, "Notification", "其他"])
hooks = st.dictionaries(events, st.lists(groups | values, max_size=3), max_size=4)
objects = st.dictionaries(keys.filter(lambda key: key != "hooks"), values, max_size=4)
settings = st.one_of(objects, st.builds(lambda rest, ours: {**rest, "hooks": ours}, objects, hooks))
layouts = st.sampled_from(
    [
        {"indent": 2},
        {"indent": 4},
        {"indent": "\t"},
        {"indent": 1, "ensure_ascii": False},
        {},
        {"separators": (",", ":")},
    ]
)


clients = st.sampled_from(list(CLIENTS.values()))


@given(settings, layouts, clients, st.sampled_from(["", "\n", "\r\n", "\n\n"]))
def test_what_was_put_in_can_be_taken_out_byte_for_byte(
    plain: Any, layout: Any, client: Any, end: str
) -> None:
    text = json.dumps(plain, **layout) + end
    if end == "\r\n":
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    entries = entries_of(client)
    with_us = merged(client, text, entries)
    assert removed(client, with_us, text) == text
    assert merged(client, with_us, entries) == with_us
    found = json.loads(with_us)
    for event, entry in entries.items():
        assert found["hooks"][event][-1] == entry
    rest = removed(client, with_us, None)
    assert {k: v for k, v in json.loads(rest).items() if k not in {"hooks", "version"}} == {
        k: v for k, v in plain.items() if k not in {"hooks", "version"}
    }


@given(settings, layouts, clients)
def test_new_paths_replace_our_entries_and_no_others(plain: Any, layout: Any, client: Any) -> None:
    text = json.dumps(plain, **layout)
    old = merged(client, text, entries_of(client))
    new = merged(client, old, entries_of(client, "/elsewhere/python", "/new home"))
    assert len(installed(client, new)) == len(client.matchers)
    assert {one.handler["command"] for one in installed(client, new)} == {
        f"/elsewhere/python -I -S '{PROGRAM}' {client.name} --home '/new home'"
    }
    assert removed(client, new, text) == text


COMMENTED = """\ufeff{
\t// who answers
\t"model": "opus", /* never
\t   another */
\t"hooks": {
\t\t"Stop": [ // mine
\t\t\t{"hooks": [{"type": "command", "command": "say done"}]}, // twice
\t\t\t{"hooks": []},
\t\t],
\t\t"PreToolUse": [
\t\t\t// none yet
\t\t],
\t}, // the end
}
"""


@pytest.mark.parametrize("client", CLIENTS.values(), ids=list(CLIENTS))
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_comments_trailing_commas_tabs_and_marks_stay(client: Any, end: str) -> None:
    text = COMMENTED.replace("\n", end)
    with_us = merged(client, text, entries_of(client))
    assert removed(client, with_us, text) == text
    for remark in ("// who answers", "/* never", "// mine", "// twice", "// none yet", "// the end"):
        assert remark in with_us
    assert with_us.startswith("\ufeff{")
    assert ("\r\n" in with_us) == (end == "\r\n")
    assert "\n  " not in with_us, "what is added is indented by tabs, too"


def test_an_event_that_is_there_twice_is_changed_where_it_counts() -> None:
    text = '{"hooks": {"Stop": ["dead"], "Stop": []}, "a": 1, "a": 2}'
    with_us = merged(CLAUDE_CODE, text, entries_of(CLAUDE_CODE))
    assert json.loads(with_us)["hooks"]["Stop"] == [entries_of(CLAUDE_CODE)["Stop"]]
    assert '"Stop": ["dead"]' in with_us
    assert removed(CLAUDE_CODE, with_us, text) == text


@pytest.mark.parametrize("text", ["", " \n\t\n", "\ufeff", "\ufeff \r\n"])
def test_a_file_of_nothing_gets_just_our_entries(text: str) -> None:
    for client in CLIENTS.values():
        with_us = merged(client, text, entries_of(client))
        found = json.loads(with_us.removeprefix("\ufeff"))
        assert found.keys() == {"hooks", *client.frame}
        assert is_bare(client, removed(client, with_us, None))
        assert installed(client, text) == []


@pytest.mark.parametrize(
    "text",
    [
        "{",
        '{"a": 1',
        '{"a" 1}',
        "{'a': 1}",
        '{"a": 1,,}',
        '{"a": 01}',
        '{"a": NaN}',
        '{"a": "\n"}',
        '{"a": "\\x"}',
        '{"a": 1} x',
        "{} {}",
        "// nothing else",
        "/* {} ",
        "[" * 500 + "]" * 500,
        '{"a": ' + "9" * 5_000 + "}",
    ],
)
def test_what_is_not_json_is_refused_with_the_place(text: str) -> None:
    with pytest.raises(BrokenJsonError, match=r"^line \d+, column \d+: "):
        merged(CLAUDE_CODE, text, entries_of(CLAUDE_CODE))


@pytest.mark.parametrize(
    "text",
    ["[]", '"text"', "null", "7", '{"hooks": []}', '{"hooks": null}', '{"hooks": {"Stop": {}}}'],
)
def test_what_is_no_settings_is_refused(text: str) -> None:
    with pytest.raises(WrongShapeError):
        merged(CLAUDE_CODE, text, entries_of(CLAUDE_CODE))


def test_entries_of_others_for_the_same_event_stay_before_ours() -> None:
    other = {"matcher": "Write", "hooks": [{"type": "command", "command": "lint"}]}
    text = json.dumps({"hooks": {"PreToolUse": [other]}})
    with_us = json.loads(merged(CLAUDE_CODE, text, entries_of(CLAUDE_CODE)))
    assert with_us["hooks"]["PreToolUse"] == [other, entries_of(CLAUDE_CODE)["PreToolUse"]]


def test_our_handler_in_somebodys_group_is_brought_up_to_date_there_and_taken_out_alone() -> None:
    old = dict(entries_of(CLAUDE_CODE, "/old/python")["Stop"]["hooks"][0])
    theirs = {"type": "command", "command": "say done"}
    text = json.dumps({"hooks": {"Stop": [{"hooks": [theirs, old]}]}}, indent=2)
    with_us = json.loads(merged(CLAUDE_CODE, text, entries_of(CLAUDE_CODE)))
    assert with_us["hooks"]["Stop"] == [{"hooks": [theirs, entries_of(CLAUDE_CODE)["Stop"]["hooks"][0]]}]
    assert json.loads(removed(CLAUDE_CODE, text, None)) == {"hooks": {"Stop": [{"hooks": [theirs]}]}}


def test_our_entries_that_are_there_twice_or_for_events_no_longer_used_go() -> None:
    ours = entries_of(CLAUDE_CODE)["Stop"]
    text = json.dumps({"hooks": {"Stop": [ours, ours], "PreCompact": [ours]}})
    with_us = json.loads(merged(CLAUDE_CODE, text, entries_of(CLAUDE_CODE)))["hooks"]
    assert with_us["Stop"] == [ours]
    assert "PreCompact" not in with_us


def test_a_users_edits_after_us_stay_byte_for_byte() -> None:
    text = '{\n    "model": "opus"\n}\n'
    with_us = merged(CLAUDE_CODE, text, entries_of(CLAUDE_CODE))
    edited = with_us.replace('"model": "opus",', '"model": "haiku", // cheaper\n    "theme":   "dark",')
    assert removed(CLAUDE_CODE, edited, text) == (
        '{\n    "model": "haiku", // cheaper\n    "theme":   "dark"\n}\n'
    )


@pytest.mark.parametrize(
    ("client", "handler", "is_one"),
    [
        ("codex", {"command": "python -I -S /x/hook_program.py codex"}, True),
        ("codex", {"command": "'/a b/python' -I -S '/a b/hook_program.py' codex --home /h"}, True),
        ("codex", {"command": "python /x/hook_program.py codex-next"}, False),
        ("codex", {"command": "python /x/hook_program.py claude-code"}, False),
        ("codex", {"command": "python /x/other.py codex"}, False),
        ("claude-code", {"type": "http", "url": "http://127.0.0.1:7832/hooks/claude-code"}, True),
        ("claude-code", {"type": "http", "url": "http://example.org:7832/hooks/claude-code"}, False),
        ("claude-code", {"command": 7}, False),
        ("claude-code", "text", False),
        ("claude-code", None, False),
    ],
)
def test_our_handlers_are_known_by_what_they_run(client: str, handler: Any, is_one: bool) -> None:
    assert is_ours(client, handler) is is_one


def test_the_command_is_the_same_for_all_events_and_survives_blanks_and_quotes() -> None:
    import shlex

    command = command_line("/a b/py'thon", PROGRAM, "codex", "/home of/x")
    assert shlex.split(command) == ["/a b/py'thon", "-I", "-S", PROGRAM, "codex", "--home", "/home of/x"]
    for client in CLIENTS.values():
        commands = {
            one.handler["command"] for one in installed(client, merged(client, "", entries_of(client)))
        }
        assert len(commands) == 1


def test_http_is_for_the_events_claude_code_sends_that_way_only() -> None:
    entries = http_entries(RUN, "http://127.0.0.1:7832", "secret")
    kinds = {event: entry["hooks"][0]["type"] for event, entry in json.loads(json.dumps(entries)).items()}
    assert {event for event, kind in kinds.items() if kind == "command"} == {"SessionStart", "SessionEnd"}
    assert set(kinds.values()) == {"command", "http"}
    text = merged(CLAUDE_CODE, "{}", entries)
    assert len(installed(CLAUDE_CODE, text)) == len(CLAUDE_CODE.matchers)
    assert removed(CLAUDE_CODE, text, "{}") == "{}"


def test_switching_between_commands_and_http_leaves_one_entry_an_event() -> None:
    asking = merged(CLAUDE_CODE, "{}", http_entries(RUN, "http://127.0.0.1:7832", "secret"))
    running = merged(CLAUDE_CODE, asking, entries_of(CLAUDE_CODE))
    assert "secret" not in running
    assert running == merged(CLAUDE_CODE, "{}", entries_of(CLAUDE_CODE))


def test_codex_gets_command_hooks_only_and_no_member_it_refuses() -> None:
    text = merged(CODEX, "", entries_of(CODEX))
    assert json.loads(text).keys() == {"hooks"}
    assert {one.handler["type"] for one in installed(CODEX, text)} == {"command"}


@pytest.mark.parametrize(
    ("client", "answer", "is_taken"),
    [
        ("claude-code", "", True),
        ("claude-code", '{"hookSpecificOutput": {}}', True),
        ("claude-code", "{", False),
        ("claude-code", '{"decision": "block"}', False),
        ("codex", "", True),
        ("codex", '{"hookSpecificOutput": {}}', True),
        ("codex", '{"suppressOutput": true}', False),
        ("codex", "[]", False),
        ("cursor", "", False),
        ("cursor", "{}", True),
        ("cursor", '{"additional_context": "x"}', True),
        ("cursor", "null", False),
        ("cursor", '{"hookSpecificOutput": {}}', False),
    ],
)
def test_each_client_minds_what_it_would_not_take(client: str, answer: str, is_taken: bool) -> None:
    assert (CLIENTS[client].complaint(answer) is None) is is_taken


def test_a_text_is_read_with_the_places_of_its_parts() -> None:
    text = '{"a": [1, "b"], "c": {"d": null}}'
    root = read(text)
    assert root.plain() == json.loads(text)
    inner = root.member("a")
    assert inner is not None
    assert text[inner.start : inner.end] == '[1, "b"]'
