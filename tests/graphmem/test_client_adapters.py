"""One contract for every client: the same story, told in each one's JSON, gives the same neutral events."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.clients.claude_code import ClaudeCode
from graphmem.clients.codex import Codex
from graphmem.clients.cursor import Cursor
from graphmem.clients.plain import Plain
from graphmem.clients.port import ClientAdapter
from graphmem.clients.roster import ADAPTERS
from graphmem.events import Advice, Event, EventKind, FileChange, FileEdit, Moment, Origin, Phase
from graphmem.hook_program import reduced

FOLDER, SESSION, TURN, AT = "/home/dev/shop", "session-1", "turn-1", 1_780_000_000.5
ADDED, DELETED, MOVED = FileChange.ADDED, FileChange.DELETED, FileChange.MOVED
PATCH = "*** Begin Patch\n{}\n@@\n-a\n+b\n*** End Patch\n"
Raw = dict[str, Any]


class Teller:
    """Tells the steps of a session as the hooks with `hookSpecificOutput` do."""

    adapter: ClientAdapter = ClaudeCode()
    turn = "prompt_id"
    failure = "PostToolUseFailure"

    def step(self, event: str, **fields: Any) -> Raw:
        return {
            "session_id": SESSION,
            "transcript_path": "/home/dev/t.jsonl",
            "cwd": FOLDER,
            "hook_event_name": event,
            self.turn: TURN,
            **fields,
        }

    def started(self) -> Raw:
        return self.step("SessionStart", source="startup", model="m")

    def prompt(self, text: str) -> Raw:
        return self.step("UserPromptSubmit", prompt=text)

    def ended(self, text: str) -> list[Raw]:
        return [self.step("Stop", stop_hook_active=False, last_assistant_message=text)]

    def over(self) -> Raw:
        return self.step("SessionEnd", reason="other")

    def strange(self) -> Raw:
        return self.step("SomethingNew", prompt="x")

    def tool(self, call: str, phase: Phase, name: str, response: Any = "", **given: Any) -> Raw:
        event = {Phase.AHEAD: "PreToolUse", Phase.DONE: "PostToolUse", Phase.FAILED: self.failure}[phase]
        more = {} if phase is Phase.AHEAD else {"tool_response": response}
        return self.step(event, tool_name=name, tool_input=given, tool_use_id=call, **more)

    def read(self, call: str, phase: Phase, path: str) -> Raw:
        return self.tool(call, phase, "Read", {"type": "text"}, file_path=path, limit=20)

    def edit(self, call: str, phase: Phase, path: str) -> Raw:
        return self.tool(call, phase, "Edit", {"filePath": path}, file_path=path, old_string="a")

    def create(self, call: str, phase: Phase, path: str) -> Raw:
        response = {"type": "create", "filePath": path, "originalFile": None}
        return self.tool(call, phase, "Write", response, file_path=path, content="x")

    def search(self, call: str, phase: Phase) -> Raw:
        return self.tool(call, phase, "Grep", {"filenames": ["a.py"]}, pattern="issue", path="src")

    def run(self, call: str, phase: Phase, command: str) -> Raw:
        return self.tool(call, phase, "Bash", {"stdout": "x", "stderr": ""}, command=command)


class CodexTeller(Teller):
    adapter = Codex()
    turn = "turn_id"
    failure = "PostToolUse"

    def tool(self, call: str, phase: Phase, name: str, response: Any = "", **given: Any) -> Raw:
        code = 1 if phase is Phase.FAILED else 0
        told = f"Exit code: {code}\nWall time: 0 seconds\nOutput:\nx"
        return super().tool(call, phase, name, told, **given)

    def read(self, call: str, phase: Phase, path: str) -> Raw:
        return self.run(call, phase, f"sed -n '1,20p' {path}")

    def edit(self, call: str, phase: Phase, path: str) -> Raw:
        return self.tool(call, phase, "apply_patch", command=PATCH.format(f"*** Update File: {path}"))

    def create(self, call: str, phase: Phase, path: str) -> Raw:
        return self.tool(call, phase, "apply_patch", command=PATCH.format(f"*** Add File: {path}"))

    def search(self, call: str, phase: Phase) -> Raw:
        return self.tool(call, phase, "grep_files", pattern="issue")


class CursorTeller(Teller):
    adapter = Cursor()

    def step(self, event: str, **fields: Any) -> Raw:
        return {
            "conversation_id": SESSION,
            "generation_id": TURN,
            "hook_event_name": event[0].lower() + event[1:],
            "workspace_roots": [FOLDER],
            "cursor_version": "3.1.0",
            **fields,
        }

    def started(self) -> Raw:
        return self.step("sessionStart", session_id=SESSION, composer_mode="agent")

    def prompt(self, text: str) -> Raw:
        return self.step("beforeSubmitPrompt", prompt=text, attachments=[])

    def ended(self, text: str) -> list[Raw]:
        return [self.step("afterAgentResponse", text=text), self.step("stop", status="completed")]

    def over(self) -> Raw:
        return self.step("sessionEnd", reason="completed")

    def edit(self, call: str, phase: Phase, path: str) -> Raw:
        return self.tool(call, phase, "Write", file_path=path, content="x")

    def run(self, call: str, phase: Phase, command: str) -> Raw:
        return self.tool(call, phase, "Shell", '{"output": "x"}', command=command)


class PlainTeller(Teller):
    adapter = Plain()

    def say(self, event: EventKind, **fields: Any) -> Raw:
        return {"event": event.value, "session": SESSION, "turn": TURN, "cwd": FOLDER, **fields}

    def started(self) -> Raw:
        return self.say(EventKind.SESSION_STARTED, origin="startup")

    def prompt(self, text: str) -> Raw:
        return self.say(EventKind.PROMPT, text=text, key=f"prompt:{TURN}")

    def ended(self, text: str) -> list[Raw]:
        return [self.say(EventKind.TURN_ENDED, text=text, key=f"turn-ended:{TURN}:{text}")]

    def over(self) -> Raw:
        return self.say(EventKind.SESSION_ENDED)

    def strange(self) -> Raw:
        return {"event": "something new", "session": SESSION}

    def read(self, call: str, phase: Phase, path: str) -> Raw:
        return self.say(EventKind.READ, call=call, phase=phase.value, reads=[path])

    def edit(self, call: str, phase: Phase, path: str) -> Raw:
        return self.say(EventKind.EDITED, call=call, phase=phase.value, edits=[path])

    def create(self, call: str, phase: Phase, path: str) -> Raw:
        edit = {"path": path, "change": "modified" if phase is Phase.AHEAD else "added"}
        return self.say(EventKind.EDITED, call=call, phase=phase.value, edits=[edit])

    def search(self, call: str, phase: Phase) -> Raw:
        return self.say(EventKind.SEARCHED, call=call, phase=phase.value)

    def run(self, call: str, phase: Phase, command: str) -> Raw:
        return self.say(EventKind.COMMAND_RUN, call=call, phase=phase.value, command=command)


TELLERS = {teller.adapter.name: teller for teller in (Teller(), CodexTeller(), CursorTeller(), PlainTeller())}


@pytest.fixture(params=sorted(TELLERS))
def teller(request: pytest.FixtureRequest) -> Teller:
    return TELLERS[request.param]


def story(teller: Teller) -> list[Raw]:
    """A session of one turn: read, search, edit, create, move by shell, a failure, an answer."""
    token, rotation = f"{FOLDER}/src/token.py", f"{FOLDER}/src/rotation.py"
    return [
        teller.started(),
        teller.prompt("Shorten the access token"),
        teller.read("c1", Phase.AHEAD, token),
        teller.read("c1", Phase.DONE, token),
        teller.search("c2", Phase.DONE),
        teller.edit("c3", Phase.AHEAD, token),
        teller.edit("c3", Phase.DONE, token),
        teller.create("c4", Phase.DONE, rotation),
        teller.run("c5", Phase.DONE, "cd src && git mv a.py b.py && rm old.py"),
        teller.run("c6", Phase.FAILED, "cat nowhere.py"),
        teller.strange(),
        *teller.ended("Done: it lives 900 seconds."),
        teller.over(),
    ]


def told(teller: Teller, raws: list[Raw]) -> list[Event]:
    return [event for raw in raws for event in teller.adapter.events(raw, AT)]


def test_the_same_story_is_the_same_work_in_every_client(teller: Teller) -> None:
    events = told(teller, story(teller))
    work = [
        (event.phase, event.reads, event.edits)
        for event in events
        if event.call and (event.reads or event.edits)
    ]
    token = f"{FOLDER}/src/token.py"
    assert work == [
        (Phase.AHEAD, (token,), ()),
        (Phase.DONE, (token,), ()),
        (Phase.AHEAD, (), (FileEdit(token),)),
        (Phase.DONE, (), (FileEdit(token),)),
        (Phase.DONE, (), (FileEdit(f"{FOLDER}/src/rotation.py", ADDED),)),
        (Phase.DONE, (), (FileEdit("src/b.py", MOVED, "src/a.py"), FileEdit("src/old.py", DELETED))),
        (Phase.FAILED, ("nowhere.py",), ()),
    ]
    kinds = [event.kind for event in events]
    assert kinds[:2] == [EventKind.SESSION_STARTED, EventKind.PROMPT]
    assert kinds.count(EventKind.PROMPT) == kinds.count(EventKind.SEARCHED) == 1
    assert kinds[-1] is EventKind.SESSION_ENDED
    assert events[0].origin is Origin.STARTUP
    assert [event.text for event in events if event.text] == [
        "Shorten the access token",
        "Done: it lives 900 seconds.",
    ]
    assert EventKind.TURN_ENDED in kinds[-3:]


def test_every_event_says_whose_it_is_and_where(teller: Teller) -> None:
    for event in told(teller, story(teller)):
        assert (event.client, event.session, event.at) == (teller.adapter.name, SESSION, AT)
        assert (event.cwd, event.turn, event.agent) == (FOLDER, TURN, "")


def test_each_phase_of_a_call_has_a_key_of_its_own_that_no_session_is_in(teller: Teller) -> None:
    keys = [event.key for event in told(teller, story(teller)) if event.kind is not EventKind.SESSION_STARTED]
    assert keys.pop() == ""  # the session's end
    assert all(keys)
    assert len(set(keys)) == len(keys)
    assert not any(SESSION in key for key in keys)
    assert {"call:c3:ahead", "call:c3:done", "call:c6:failed", f"prompt:{TURN}"} <= set(keys)


def test_the_same_call_told_again_has_the_same_key(teller: Teller) -> None:
    first, again = (told(teller, story(teller)) for _ in range(2))
    assert first == again


def test_what_is_not_known_gives_no_event_and_no_answer(teller: Teller) -> None:
    assert teller.adapter.events(teller.strange(), AT) == []
    assert teller.adapter.events({}, AT) == []
    assert teller.adapter.answer({}, None) == {}
    unheard = teller.read("c1", Phase.DONE, "a.py") | {"tool_name": "TimeTravel", "event": "read minds"}
    assert teller.adapter.events(unheard, AT) == []
    for raw in story(teller):
        assert teller.adapter.events(raw | {"new_field": {"a": 1}}, AT) == teller.adapter.events(raw, AT)


@pytest.mark.parametrize("name", sorted(ADAPTERS))
def test_a_reduced_event_tells_what_the_whole_one_does(name: str) -> None:
    teller = TELLERS[name]
    for raw in story(teller):
        assert teller.adapter.events(reduced(raw), AT) == teller.adapter.events(raw, AT)
        advice = Advice(Moment.EDIT, "x", hold=True)
        assert teller.adapter.answer(reduced(raw), advice) == teller.adapter.answer(raw, advice)


@pytest.mark.parametrize("name", sorted(ADAPTERS))
@pytest.mark.parametrize(
    "response",
    [
        {"is_error": True},
        {"success": False},
        {"error": "no such cell"},
        {"exitCode": 2},
        {"interrupted": True},
        {"error": ""},
        {"exit_code": 0},
        "Exit code: 0\nOutput:",
        "Exit code: 1\nOutput:",
        "Process exited with code 127",
        '{"exitCode":3,"output":""}',
        "fine",
        None,
        7,
    ],
)
def test_a_failure_is_heard_as_the_reduction_hears_it(name: str, response: object) -> None:
    raw = TELLERS[name].run("c1", Phase.DONE, "rm a.py") | {"tool_response": response}
    (event,) = TELLERS[name].adapter.events(raw, AT)
    assert [event] == TELLERS[name].adapter.events(reduced(raw), AT)
    assert (event.phase is Phase.FAILED) == (reduced(raw).get("ok") is False)


# ---- any input ------------------------------------------------------------------------------------

WRONG: list[Any] = [None, 7, True, 1.5, "", "x\x00\ud800", [], [1, None, "a"], {}, {"path": [{}]}, [[[]]]]


def damaged(raw: Raw) -> Iterator[Raw]:
    """Every field of an event, on its own, missing or of each wrong type."""
    for name in raw:
        yield {key: value for key, value in raw.items() if key != name}
        for value in WRONG:
            yield raw | {name: value}
        if isinstance(raw[name], dict):
            for inner in damaged(raw[name]):
                yield raw | {name: inner}


def test_missing_fields_and_wrong_types_never_raise(teller: Teller) -> None:
    advice = Advice(Moment.EDIT, "note", hold=True)
    for raw in story(teller):
        for broken in damaged(raw):
            untouched = copy.deepcopy(broken)
            for event in teller.adapter.events(broken, AT):
                assert isinstance(event.session, str) and event.session
                assert all(isinstance(path, str) and path for path in event.reads)
            assert isinstance(teller.adapter.answer(broken, advice), dict)
            assert broken == untouched


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
NAMES = sorted({key for teller in TELLERS.values() for raw in story(teller) for key in raw})
WORDS = sorted(
    {
        value
        for teller in TELLERS.values()
        for raw in story(teller)
        for value in raw.values()
        if isinstance(value, str)
    }
)
INPUTS = st.dictionaries(
    st.sampled_from(["file_path", "command", "input", "path", "cmd"]), JSON | st.sampled_from(WORDS)
)


@pytest.mark.parametrize("name", sorted(TELLERS))
@given(
    raw=st.dictionaries(st.sampled_from(NAMES), JSON | st.sampled_from(WORDS) | INPUTS)
    | st.dictionaries(st.text(), JSON)
)
def test_any_json_object_gives_a_list_and_an_answer(name: str, raw: Raw) -> None:
    adapter = TELLERS[name].adapter
    assert all(isinstance(event, Event) for event in adapter.events(raw, AT))
    json.dumps(adapter.answer(raw, Advice(Moment.READ, "note")))


# ---- answers --------------------------------------------------------------------------------------

ADVICE = Advice(Moment.EDIT, "src/rotation.py changed along in 4 of 5 edits")


def answers(teller: Teller, advice: Advice | None) -> list[dict[str, Any]]:
    return [teller.adapter.answer(raw, advice) for raw in story(teller)]


def test_where_nothing_is_to_be_told_the_answer_is_empty(teller: Teller) -> None:
    assert set(map(str, answers(teller, None))) == {"{}"}
    assert set(map(str, answers(teller, replace(ADVICE, text="")))) == {"{}"}


@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_context_goes_back_under_the_events_own_name_and_no_other_key(name: str) -> None:
    teller = TELLERS[name]
    for raw, answer in zip(story(teller), answers(teller, ADVICE), strict=True):
        event = raw["hook_event_name"]
        if event in {"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"}:
            told = {"hookEventName": event, "additionalContext": ADVICE.text}
            assert answer == {"hookSpecificOutput": told}
        else:
            assert answer == {}


@pytest.mark.parametrize("name", ["claude-code", "codex"])
@pytest.mark.parametrize(
    "event", ["Stop", "SubagentStop", "SessionEnd", "PostToolBatch", "PostToolUseFailure"]
)
def test_an_event_that_carries_no_text_is_never_answered(name: str, event: str) -> None:
    raw = TELLERS[name].step(event)
    assert TELLERS[name].adapter.answer(raw, replace(ADVICE, hold=True)) == {}


def test_a_call_that_is_held_is_refused_before_it_runs_and_only_then() -> None:
    held = replace(ADVICE, hold=True)
    for teller in (TELLERS["claude-code"], TELLERS["codex"]):
        assert teller.adapter.answer(teller.edit("c", Phase.AHEAD, "a.py"), held) == {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": ADVICE.text,
            }
        }
        assert "permissionDecision" not in str(
            [
                teller.adapter.answer(raw, held)
                for raw in story(teller)
                if raw["hook_event_name"] != "PreToolUse"
            ]
        )
    cursor = TELLERS["cursor"]
    refusal = cursor.adapter.answer(cursor.edit("c", Phase.AHEAD, "a.py"), held)
    assert refusal == {"permission": "deny", "agent_message": ADVICE.text, "user_message": ADVICE.text}
    plain = TELLERS["plain"]
    assert plain.adapter.answer(plain.edit("c", Phase.AHEAD, "a.py"), held)["hold"] is True


def test_cursor_takes_context_on_four_events_only() -> None:
    teller = TELLERS["cursor"]
    for raw, answer in zip(story(teller), answers(teller, ADVICE), strict=True):
        carries = raw["hook_event_name"] in {
            "sessionStart",
            "beforeSubmitPrompt",
            "preToolUse",
            "postToolUse",
        }
        assert answer == ({"additional_context": ADVICE.text} if carries else {})


def test_nothing_ever_grants_a_permission(teller: Teller) -> None:
    for advice in (None, ADVICE, replace(ADVICE, hold=True)):
        assert "allow" not in json.dumps(answers(teller, advice))


@pytest.mark.parametrize("name", sorted(ADAPTERS))
def test_at_most_ten_thousand_characters_are_told(name: str) -> None:
    teller = TELLERS[name]
    for hold in (False, True):
        answer = teller.adapter.answer(
            teller.edit("c", Phase.AHEAD, "a.py"), Advice(Moment.EDIT, "长" * 20_000, hold)
        )
        longest = max(json.dumps(answer, ensure_ascii=False).split('"'), key=len)
        assert len(longest) == 10_000


def test_the_roster_knows_each_client_by_its_name() -> None:
    assert {name: type(adapter) for name, adapter in ADAPTERS.items()} == {
        "claude-code": ClaudeCode,
        "codex": Codex,
        "cursor": Cursor,
    }
