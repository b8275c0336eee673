"""The doctor fires a test event through each agent's real settings; `graphmem hook` tries one out."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from api.client_check import examine_clients
from graphmem.events import DRILL
from graphmem.home import Home

EVERY = ("--client", "claude-code", "--client", "codex", "--client", "cursor", "--no-import")


def checks(desk: Any) -> dict[str, dict[str, str]]:
    """What the doctor says of agents, by name."""
    return {check.name: asdict(check) for check in examine_clients(Home(desk.memory), desk.shop)}


def test_a_test_event_goes_through_each_agents_settings_in_some_milliseconds(desk: Any) -> None:
    desk.good("init", *EVERY)
    _, out, err = desk("doctor", "--json")
    found = {check["name"]: check for check in json.loads(out)["checks"]}
    assert err == ""
    for name in ("claude-code project", "codex project", "cursor project"):
        assert re.fullmatch(r"a test event (went through in|took) \d+ ms", found[name]["finding"])
    assert "kB of events wait" in found["spool"]["finding"]
    spool = (desk.memory / "spool" / "events.jsonl").read_text()
    lines = [json.loads(line) for line in spool.splitlines() if line]
    sessions = {line["event"].get("session_id", line["event"].get("conversation_id")) for line in lines}
    assert sessions == {DRILL}, "the session that is never recorded"
    assert {line["client"] for line in lines} == {"claude-code", "codex", "cursor"}


def test_both_scopes_are_looked_at(desk: Any) -> None:
    desk.good("init", "--client", "cursor", "--no-import")
    desk.good("init", "--client", "cursor", "--no-import", "--user-scope")
    assert {"cursor project", "cursor user"} <= checks(desk).keys()


def test_an_agent_that_is_here_without_our_hooks_is_told_of_and_no_fault(desk: Any) -> None:
    (desk.user / ".cursor").mkdir()
    found = checks(desk)
    assert found.keys() == {"cursor"}
    assert found["cursor"]["outcome"] == "ok"
    assert "graphmem init --client cursor" in found["cursor"]["finding"]


SCRIPTS = {
    "an exit status": ("import sys; sys.exit(1)", "ended with status 1"),
    "words on the screen": ("import sys; sys.stderr.write('oh'); print('{}')", "standard error: oh"),
    "no JSON": ("print('{')", "it is not JSON"),
    "a stranger's answer": ('print(\'{"decision": "block"}\')', "it holds decision"),
}


@pytest.mark.parametrize("kind", SCRIPTS)
@pytest.mark.parametrize("client", ["claude-code", "codex", "cursor"])
def test_what_an_agent_would_mind_is_a_problem(desk: Any, tmp_path: Path, kind: str, client: str) -> None:
    script, words = SCRIPTS[kind]
    desk.good("init", "--client", client, "--no-import")
    replace_program(desk, client, tmp_path, script)
    check = checks(desk)[f"{client} project"]
    assert check["outcome"] == "problem"
    assert words in check["finding"]
    assert check["remedy"]


def replace_program(desk: Any, client: str, folder: Path, script: str) -> None:
    """Let the settings start another program of the same name."""
    other = folder / "hook_program.py"
    other.write_text(script)
    name = {"claude-code": ".claude/settings.json"}.get(client, f".{client}/hooks.json")
    path = desk.shop / name
    path.write_text(re.sub(r"[^\" ]*hook_program\.py", str(other), path.read_text()))


def test_an_answer_that_is_empty_is_a_problem_for_the_agent_that_reads_it_as_a_refusal(
    desk: Any, tmp_path: Path
) -> None:
    desk.good("init", *EVERY)
    for client in ("claude-code", "codex", "cursor"):
        replace_program(desk, client, tmp_path, "")
    found = checks(desk)
    minding = {name for name, check in found.items() if check["outcome"] == "problem"}
    assert minding == {"cursor project"}
    assert desk("doctor")[0] == 1


def test_a_program_or_an_interpreter_that_is_gone_is_a_problem(desk: Any) -> None:
    desk.good("init", *EVERY)
    path = desk.shop / ".claude" / "settings.json"
    path.write_text(path.read_text().replace("hook_program.py", "gone/hook_program.py"))
    path = desk.shop / ".cursor" / "hooks.json"
    path.write_text(path.read_text().replace(sys.executable, "/gone/python"))
    found = checks(desk)
    assert "hook_program.py is gone" in found["claude-code project"]["finding"]
    assert "/gone/python of the hook is gone" in found["cursor project"]["finding"]
    assert found["cursor project"]["remedy"] == "Run `graphmem init` again."


def test_missing_events_and_broken_files_are_warnings(desk: Any) -> None:
    desk.good("init", *EVERY)
    path = desk.shop / ".cursor" / "hooks.json"
    settings = json.loads(path.read_text())
    del settings["hooks"]["stop"]
    path.write_text(json.dumps(settings))
    (desk.shop / ".codex" / "hooks.json").write_text("{")
    said = [
        (check.name, check.outcome, check.finding)
        for check in examine_clients(Home(desk.memory), desk.shop)
        if check.remedy == "Run `graphmem init` again." or check.remedy == "Correct that file."
    ]
    assert [(name, str(outcome)) for name, outcome, _ in said] == [
        ("codex project", "warning"),
        ("cursor project", "warning"),
    ]
    assert "can't be read: line 1" in said[0][2]
    assert said[1][2].endswith("lacks the hooks of stop")


def test_settings_that_turn_all_hooks_off_are_a_warning(desk: Any) -> None:
    desk.put(".claude/settings.json", '{"disableAllHooks": true}')
    desk.good("init", "--client", "claude-code", "--no-import")
    found = list(examine_clients(Home(desk.memory), desk.shop))
    assert (found[0].outcome, found[0].remedy) == (
        "warning",
        "Take `disableAllHooks` out of it.",
    )


def test_how_codex_stands_with_trust_is_said(desk: Any) -> None:
    desk.good("init", "--client", "codex", "--no-import", "--user-scope")
    config, hooks = desk.user / ".codex" / "config.toml", desk.user / ".codex" / "hooks.json"

    def trust() -> tuple[str, str]:
        found = checks(desk)["codex user trust"]
        return found["outcome"], found["finding"]

    assert trust() == ("warning", "not trusted yet")
    events = ("session_start", "user_prompt_submit", "pre_tool_use", "post_tool_use", "stop", "session_end")
    entries = [f'[hooks.state."{hooks}:{event}:0:0"]\ntrusted_hash = "sha256:00"\n' for event in events]
    config.write_text("".join(entries))
    assert trust()[0] == "ok"
    config.write_text("".join(entries[1:]))
    assert trust() == ("warning", "not trusted yet")
    config.write_text("[features]\nhooks = false\n" + "".join(entries))
    assert trust() == ("warning", "hooks are turned off in config.toml")
    config.write_text("[")
    assert trust() == ("warning", "config.toml can't be read")


def test_hooks_of_a_project_need_that_codex_trusts_the_project(desk: Any) -> None:
    desk.good("init", "--client", "codex", "--no-import")
    assert checks(desk)["codex project trust"]["finding"] == "the project is not trusted"
    (desk.user / ".codex").mkdir()
    (desk.user / ".codex" / "config.toml").write_text(f'[projects."{desk.shop}"]\ntrust_level = "trusted"\n')
    assert checks(desk)["codex project trust"]["finding"] == "not trusted yet"


def test_hooks_by_http_are_asked_as_the_agent_asks_them(desk: Any) -> None:
    desk.good("init", "--http", "--user-scope", "--client", "claude-code", "--no-import", "--port", "9")
    found = [c.finding for c in examine_clients(Home(desk.memory), desk.shop) if c.name == "claude-code user"]
    assert len(found) == 2, "the two events that run a command, and those that ask"
    assert any("does not answer at http://127.0.0.1:9/hooks/claude-code" in words for words in found)


def test_with_the_service_running_both_ways_go_through_and_nothing_is_recorded(
    desk: Any, start_service: Callable[..., Any]
) -> None:
    service = start_service(desk.memory)
    desk.good("init", "--client", "cursor", "--no-import")
    found = desk.good("init", "--http", "--user-scope", "--client", "claude-code", "--no-import")
    assert f"http://127.0.0.1:{service.port}/hooks/claude-code" in Path(found["files"][0]["path"]).read_text()
    said = [check for check in examine_clients(Home(desk.memory), desk.shop) if " " in check.name]
    assert len(said) == 3, "cursor's command, Claude Code's command and its HTTP"
    assert all(re.search(r"(through in|took) \d+ ms$", check.finding) for check in said), said
    assert not (desk.memory / "spool" / "events.jsonl").exists() or spooled(desk) == set()
    assert desk.good("observations")["items"] == []


def spooled(desk: Any) -> set[str]:
    """The sessions of the events that wait, without the doctor's own."""
    lines = (desk.memory / "spool" / "events.jsonl").read_text().splitlines()
    events = [json.loads(line).get("event", {}) for line in lines if line]
    return {event.get("session_id", event.get("conversation_id")) for event in events} - {DRILL, None}


def test_the_hooks_log_ends_the_list(desk: Any) -> None:
    log = desk.memory / "logs" / "hook.log"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"x" * 9_000 + b"\n2026-05-01T00:00:00Z codex: the disk was full \xff\n")
    assert checks(desk)["hook log"]["finding"].startswith("last line: 2026-05-01T00:00:00Z codex: the disk")


# ---- graphmem hook -----------------------------------------------------------------------------------


@pytest.mark.parametrize("client", ["claude-code", "codex", "cursor"])
def test_a_hook_is_tried_out_through_the_real_program(
    desk: Any, client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = {"hook_event_name": "PreToolUse", "session_id": "s-1", "tool_name": "Read", "cwd": str(desk.shop)}
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(event).encode())))
    found = desk.good("hook", client, "PreToolUse")
    assert (found["status"], found["errors"], found["complaint"]) == (0, "", None)
    assert found["answer"] == ("{}" if client == "cursor" else "")
    (line,) = (desk.memory / "spool" / "events.jsonl").read_text().split("\n\n")
    assert json.loads(line)["event"]["session_id"] == "s-1"


@pytest.mark.parametrize("event", ["PostToolUse", "Stop", "UserPromptSubmit", "Nonsense"])
def test_without_an_event_one_is_made_up(desk: Any, event: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b" \n")))
    status, out, err = desk("hook", "claude-code", event)
    assert (status, out.strip()) == (0, "")
    assert re.fullmatch(r"\d+ ms, status 0\n", err)
    sent = json.loads((desk.memory / "spool" / "events.jsonl").read_text())["event"]
    assert (sent["hook_event_name"], sent["session_id"]) == (event, DRILL)


def test_garbage_is_passed_on_as_it_is_and_shows_nothing(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff{{{")))
    assert desk.good("hook", "codex", "PreToolUse")["answer"] == ""
    assert "codex: the event was empty, cut" in checks(desk)["hook log"]["finding"]


def test_an_unknown_client_is_wrong_use(desk: Any) -> None:
    assert desk("hook", "emacs", "PreToolUse")[0] == 2
