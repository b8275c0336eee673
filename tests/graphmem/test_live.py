"""Live capture as a whole, in one process: what agents are told and when, what is kept, what comes back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory, Project
from graphmem.clients.roster import ADAPTERS
from graphmem.errors import NotFoundError
from graphmem.graph import Declaration, Relation
from graphmem.live import Live

TOKEN, SESSION, README = "src/token.py", "src/session.py", "README.md"
CLIENT = "claude-code"


@dataclass(slots=True)
class Agent:
    """An agent of one session that works in the project; every call is named anew."""

    live: Live
    root: Path
    session: str = "s1"
    prompt: str = "p1"
    calls: int = 0
    extra: dict[str, Any] = field(default_factory=dict)

    def says(self, name: str, **fields: Any) -> str | None:
        """Send one event and return the text the agent is told."""
        answer = self.answered(name, **fields)
        output = answer.get("hookSpecificOutput", {})
        assert isinstance(output, dict)
        return output.get("additionalContext")

    def answered(self, name: str, **fields: Any) -> dict[str, Any]:
        self.calls += 1
        event = {"session_id": self.session, "cwd": str(self.root), "prompt_id": self.prompt}
        event |= {"hook_event_name": name, **self.extra, **fields}
        return self.live.receive(CLIENT, event, f"{self.session}-{self.calls}")

    def uses(self, tool: str, path: str, name: str = "PostToolUse", call: str | None = None) -> str | None:
        given = {"file_path": str(self.root / path)}
        id = call or f"{self.session}-{self.prompt}-{tool}-{path}"
        return self.says(name, tool_name=tool, tool_input=given, tool_use_id=id)


@pytest.fixture
def project(memory: Memory, git_repository: Callable[..., Any], tell: Callable[..., Any]) -> Project:
    made, _ = memory.register(git_repository("app").path)
    tell(
        made,
        *(
            {"session": f"{a}{month}", "title": "work", "files_modified": [a, b], "at": f"2025-{month:02}-01"}
            for month in range(1, 13)
            for a, b in ((TOKEN, SESSION), (README, "docs/guide.md"))
        ),
    )
    return made


@pytest.fixture
def live(memory: Memory, clock: Callable[[], float]) -> Iterator[Live]:
    with closing(Live(memory, ADAPTERS, clock=clock)) as opened:
        yield opened


@pytest.fixture
def agent(live: Live, project: Project) -> Agent:
    return Agent(live, Path(project.info.root))


def kept(live: Live, project: Project) -> list[Any]:
    """Return what agents' work became, oldest first, once all of it is there."""
    assert live.wait_recorded(20)
    assert project.wait_visible()
    return [item for item in reversed(project.observations(limit=200).items) if item.source == CLIENT]


# ---- what is told -------------------------------------------------------------------------------


def test_a_read_is_told_what_changes_along_once_a_session(agent: Agent) -> None:
    first = agent.uses("Read", TOKEN, "PreToolUse")
    assert first is not None
    assert SESSION in first
    assert agent.uses("Read", TOKEN) is None
    assert agent.uses("Edit", TOKEN, "PreToolUse") is None
    other = Agent(agent.live, agent.root, session="s2")
    assert other.uses("Edit", TOKEN, "PreToolUse") is not None


def test_a_file_of_no_strong_link_is_told_nothing(agent: Agent) -> None:
    for path in ("src/new.py", "docs/none.md"):
        assert agent.uses("Read", path, "PreToolUse") is None
        assert agent.uses("Write", path, "PreToolUse") is None


def test_what_the_session_has_read_already_is_not_named(agent: Agent) -> None:
    assert agent.uses("Read", SESSION, "PreToolUse") is not None
    assert agent.uses("Read", TOKEN, "PreToolUse") is None


def test_while_the_history_is_read_anew_a_hook_is_answered_at_once_with_nothing(
    agent: Agent, project: Project
) -> None:
    with project._access.use() as files, ThreadPoolExecutor(1) as hook:
        with files.follower.file() as derived, derived.write():
            files.follower.rebuild()  # it can't get on while somebody writes
            told = [hook.submit(agent.uses, "Read", TOKEN, "PreToolUse", call).result(5) for call in "ab"]
        assert told == [None, None]
        assert files.follower.wait(20)
    assert agent.uses("Read", TOKEN, "PreToolUse", "c") is not None


def test_what_was_read_before_a_clear_is_named_again(agent: Agent) -> None:
    assert agent.uses("Read", SESSION, "PreToolUse") is not None
    assert agent.uses("Read", TOKEN, "PreToolUse") is None
    agent.says("SessionStart", source="clear")
    told = agent.uses("Read", TOKEN, "PreToolUse", "again")
    assert told is not None
    assert SESSION in told


def test_a_sub_agent_is_not_told_what_its_parent_was(agent: Agent) -> None:
    assert agent.uses("Read", TOKEN, "PreToolUse") is not None
    agent.extra["agent_id"] = "sub"
    assert agent.uses("Edit", TOKEN, "PreToolUse") is None


def test_a_change_by_the_shell_is_told_of_like_an_edit(agent: Agent) -> None:
    told = agent.says(
        "PreToolUse",
        tool_name="Bash",
        tool_input={"command": f"sed -i s/1/2/ {TOKEN}"},
        tool_use_id="shell",
    )
    assert told is not None
    assert SESSION in told


def test_a_failed_call_is_told_nothing_and_kept_as_nothing(agent: Agent, project: Project) -> None:
    assert agent.uses("Edit", TOKEN, "PostToolUseFailure") is None
    agent.says("Stop", last_assistant_message="It failed.")
    assert kept(agent.live, project) == []


def test_a_restart_repeats_nothing(
    open_memory: Callable[..., Memory], clock: Callable[[], float], git_repository: Callable[..., Any]
) -> None:
    root = git_repository("app").path
    for number in range(2):
        memory = open_memory()
        project, _ = memory.register(root)
        if number == 0:
            project.observe(
                [
                    {"session": str(n), "files_modified": [TOKEN, SESSION], "at": f"2025-{n:02}-01"}
                    for n in range(1, 13)
                ]
            )
            project.wait_visible()
        with closing(Live(memory, ADAPTERS, clock=clock)) as live:
            told = Agent(live, root).uses("Read", TOKEN, "PreToolUse", call=f"call-{number}")
        memory.close()
        assert (told is None) == (number == 1)


def test_a_very_strong_note_holds_an_edit_once_where_that_is_wanted(
    memory: Memory, project: Project, clock: Callable[[], float]
) -> None:
    project.graph.declare([Declaration(f"file:{SESSION}", f"file:{TOKEN}", Relation.DEPENDS_ON)])
    with closing(Live(memory, ADAPTERS, hold=True, clock=clock)) as live:
        agent = Agent(live, Path(project.info.root))
        given = {"tool_name": "Edit", "tool_input": {"file_path": str(agent.root / TOKEN)}}
        held = agent.answered("PreToolUse", **given, tool_use_id="first")["hookSpecificOutput"]
        assert held["permissionDecision"] == "deny"
        assert SESSION in held["permissionDecisionReason"]
        assert agent.answered("PreToolUse", **given, tool_use_id="second") == {}


# ---- what is kept -------------------------------------------------------------------------------


def test_a_turn_becomes_one_observation_of_its_prompt(agent: Agent, project: Project) -> None:
    agent.says("SessionStart", source="startup")
    agent.says("UserPromptSubmit", prompt="Shorten the token's life")
    agent.uses("Read", README)
    agent.uses("Edit", TOKEN)
    agent.uses("Write", "src/new.py")
    agent.says("Stop", last_assistant_message="Tokens live 900 seconds now.")
    (found,) = kept(agent.live, project)
    assert (found.session, found.intent) == ("s1", "Shorten the token's life")
    assert (found.files_read, found.files_modified) == ((README,), (TOKEN, "src/new.py"))
    assert not found.provisional


def test_the_same_delivery_counts_once(agent: Agent, project: Project) -> None:
    agent.says("UserPromptSubmit", prompt="Shorten the token's life")
    edit = {"tool_name": "Edit", "tool_input": {"file_path": str(agent.root / TOKEN)}}
    event = {"session_id": "s1", "cwd": str(agent.root), "hook_event_name": "PostToolUse", **edit}
    for _ in range(3):
        agent.live.receive(CLIENT, event, "the-same")
    agent.says("Stop", last_assistant_message="Done.")
    assert len(kept(agent.live, project)) == 1


def test_calls_of_another_session_that_come_again_in_a_fork_count_once(
    agent: Agent, project: Project
) -> None:
    agent.says("SessionStart", source="startup")
    agent.says("UserPromptSubmit", prompt="Shorten the token's life")
    agent.uses("Edit", TOKEN, call="toolu_1")
    agent.says("Stop", last_assistant_message="Done.")
    fork = Agent(agent.live, agent.root, session="s2")
    fork.says("SessionStart", source="fork")
    fork.says("UserPromptSubmit", prompt="Shorten the token's life")
    fork.uses("Edit", TOKEN, call="toolu_1")
    fork.uses("Edit", SESSION, call="toolu_2")
    fork.says("Stop", last_assistant_message="Done too.")
    found = kept(agent.live, project)
    assert sorted((item.session, item.files_modified) for item in found) == [
        ("s1", (TOKEN,)),
        ("s2", (SESSION,)),
    ]


def test_sessions_that_begin_afresh_keep_calls_of_the_same_name_apart(agent: Agent, project: Project) -> None:
    other = Agent(agent.live, agent.root, session="s2", prompt="p2")
    for each in (agent, other):
        each.says("SessionStart", source="startup")
        each.says("UserPromptSubmit", prompt="Work")
        each.uses("Edit", TOKEN, call="toolu_0001_0")
        each.says("Stop", last_assistant_message="Done.")
    assert sorted(item.session for item in kept(agent.live, project)) == ["s1", "s2"]


def test_a_file_of_another_project_goes_there_without_the_words(
    agent: Agent, project: Project, memory: Memory, git_repository: Callable[..., Any]
) -> None:
    other, _ = memory.register(git_repository("other").path)
    agent.says("UserPromptSubmit", prompt="A secret plan for the first project")
    agent.uses("Edit", TOKEN)
    agent.uses("Edit", f"{other.info.root}/lib.py")
    agent.says("Stop", last_assistant_message="A secret answer.")
    (here,) = kept(agent.live, project)
    (there,) = kept(agent.live, other)
    assert (here.files_modified, there.files_modified) == ((TOKEN,), ("lib.py",))
    assert "secret" in here.intent + here.narrative
    assert "secret" not in there.intent + there.narrative + there.title


@pytest.mark.parametrize("session", [None, "s1"])
def test_what_is_switched_off_is_neither_kept_nor_told(
    agent: Agent, project: Project, session: str | None
) -> None:
    project.set_capturing(False, session)
    assert agent.uses("Read", TOKEN, "PreToolUse") is None
    agent.says("UserPromptSubmit", prompt="Quiet work")
    agent.uses("Edit", TOKEN)
    agent.says("Stop", last_assistant_message="Quiet.")
    assert kept(agent.live, project) == []
    project.set_capturing(True, session)
    assert agent.uses("Read", TOKEN, "PreToolUse", call="later") is not None


def test_a_drill_is_answered_and_never_kept(agent: Agent, project: Project) -> None:
    drill = Agent(agent.live, agent.root, session="graphmem-doctor")
    assert drill.uses("Read", TOKEN, "PreToolUse") is not None
    drill.uses("Edit", TOKEN)
    drill.says("Stop", last_assistant_message="Drilled.")
    assert kept(agent.live, project) == []
    assert project.stats().alerts_given == 0


def test_an_unknown_client_is_refused_by_name(live: Live) -> None:
    with pytest.raises(NotFoundError, match="claude-code"):
        live.receive("emacs", {}, "x")


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"hook_event_name": "PreToolUse"},
        {"hook_event_name": 7, "session_id": [], "cwd": {}},
        {"hook_event_name": "Unheard", "session_id": "s", "cwd": "/"},
        {"hook_event_name": "PostToolUse", "session_id": "s", "cwd": "/nowhere", "tool_name": "Edit"},
        {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": None, "prompt": 5},
    ],
    ids=str,
)
def test_odd_events_are_answered_with_nothing(live: Live, event: dict[str, Any]) -> None:
    assert live.receive(CLIENT, event, "x") == {}


# ---- what became of notes -----------------------------------------------------------------------


def test_a_note_whose_file_is_changed_later_in_the_turn_has_helped(agent: Agent, project: Project) -> None:
    agent.says("UserPromptSubmit", prompt="Work")
    agent.uses("Read", TOKEN, "PreToolUse")
    agent.uses("Read", SESSION)
    agent.uses("Edit", SESSION)
    agent.says("Stop", last_assistant_message="Done.")
    kept(agent.live, project)
    stats = project.stats()
    assert (stats.alerts_given, stats.notes.opened, stats.notes.changed, stats.notes.helped) == (1, 1, 1, 1)
    assert stats.notes.missed == 0
    assert stats.tokens_injected > 0


def test_a_turn_that_changes_what_no_note_named_is_counted(agent: Agent, project: Project) -> None:
    agent.says("UserPromptSubmit", prompt="Work")
    agent.uses("Read", TOKEN, "PreToolUse")
    agent.uses("Edit", "src/other.py")
    agent.says("Stop", last_assistant_message="Done.")
    kept(agent.live, project)
    assert (project.stats().notes.helped, project.stats().notes.missed) == (0, 1)


def test_a_file_that_is_made_or_moved_in_the_turn_was_no_miss(agent: Agent, project: Project) -> None:
    agent.says("UserPromptSubmit", prompt="Work")
    agent.uses("Read", TOKEN, "PreToolUse")
    made = {"tool_name": "Write", "tool_use_id": "w", "tool_response": {"type": "create"}}
    agent.says("PostToolUse", tool_input={"file_path": str(agent.root / "src/fresh.py")}, **made)
    agent.uses("Edit", "src/fresh.py")
    moved = {"tool_name": "Bash", "tool_use_id": "m", "tool_input": {"command": f"mv {SESSION} src/s.py"}}
    agent.says("PostToolUse", **moved)
    agent.uses("Edit", "src/s.py")
    agent.says("Stop", last_assistant_message="Done.")
    kept(agent.live, project)
    notes = project.stats().notes
    assert (notes.given, notes.changed, notes.helped, notes.missed) == (1, 1, 1, 0)


# ---- what must not hold up others ---------------------------------------------------------------


def test_what_a_call_cannot_carry_is_told_at_the_next_that_can(agent: Agent) -> None:
    read = {"conversation_id": "c1", "generation_id": "g1", "workspace_roots": [str(agent.root)]}
    path = str(agent.root / TOKEN)
    before = {**read, "hook_event_name": "beforeReadFile", "file_path": path, "content": "x"}
    assert agent.live.receive("cursor", before, "c-1") == {}
    after = {
        **read,
        "hook_event_name": "postToolUse",
        "tool_name": "Read",
        "tool_input": {"file_path": path},
        "tool_use_id": "t1",
    }
    assert SESSION in str(agent.live.receive("cursor", after, "c-2").get("additional_context"))


def test_what_is_moved_from_one_project_to_another_is_gone_here_and_new_there(
    agent: Agent, project: Project, memory: Memory, git_repository: Callable[..., Any]
) -> None:
    other, _ = memory.register(git_repository("other").path)
    agent.says("UserPromptSubmit", prompt="Move it")
    command = f"mv {TOKEN} {other.info.root}/token.py"
    for name in ("PreToolUse", "PostToolUse"):
        agent.says(name, tool_name="Bash", tool_input={"command": command}, tool_use_id="mv")
    agent.says("Stop", last_assistant_message="Moved.")
    (here,) = kept(agent.live, project)
    (there,) = kept(agent.live, other)
    assert (here.files_deleted, here.files_modified) == ((TOKEN,), ())
    assert (there.files_added, there.files_deleted, there.renames) == (("token.py",), (), ())


# ---- what is told of no file --------------------------------------------------------------------


def test_a_prompt_is_told_what_was_said_before_and_has_to_do_with_it(agent: Agent, project: Project) -> None:
    agent.says("SessionStart", source="startup")
    agent.says("UserPromptSubmit", prompt="Always back up the database before a schema change. Rename users.")
    agent.uses("Edit", "db/schema.sql")
    agent.says("Stop", last_assistant_message="Renamed.")
    agent.says("SessionEnd", reason="other")
    kept(agent.live, project)
    other = Agent(agent.live, agent.root, session="s2", prompt="p2")
    told = other.says("UserPromptSubmit", prompt="Change the schema of the database: add a column to orders")
    assert told is not None
    assert "back up the database" in told
    assert other.says("UserPromptSubmit", prompt="Fix the typo in the heading") is None
    # What a session heard once stays in the agent's sight.
    assert other.says("UserPromptSubmit", prompt="Change the schema of the database once more") is None


def test_a_session_hears_at_its_start_what_the_last_one_left_open(agent: Agent, project: Project) -> None:
    agent.says("SessionStart", source="startup")
    agent.says("UserPromptSubmit", prompt="Rotate the refresh tokens")
    agent.uses("Edit", TOKEN)
    agent.says("Stop", last_assistant_message="Rotated. TODO: revoke the old tokens of logged-out users.")
    agent.says("SessionEnd", reason="other")
    kept(agent.live, project)
    told = Agent(agent.live, agent.root, session="s2").says("SessionStart", source="startup")
    assert told is not None
    assert "revoke the old tokens" in told


def test_the_start_of_a_project_nobody_knows_is_told_nothing(
    live: Live, memory: Memory, git_repository: Callable[..., Any]
) -> None:
    agent = Agent(live, git_repository("empty").path)
    assert agent.says("SessionStart", source="startup") is None
    assert agent.says("UserPromptSubmit", prompt="Begin") is None


def test_work_that_was_forgotten_while_it_went_on_is_not_told_anew(
    agent: Agent, project: Project, clock: Any
) -> None:
    agent.says("UserPromptSubmit", prompt="A thing to forget")
    agent.uses("Edit", TOKEN)
    (found,) = kept(agent.live, project)
    assert found.provisional
    project.forget(found.id)
    agent.uses("Edit", SESSION)
    agent.says("Stop", last_assistant_message="Done.")
    clock.passes(60)
    (later,) = kept(agent.live, project)
    assert (later.intent, later.files_modified, later.narrative) == ("", (SESSION,), "Done.")


def test_what_was_on_its_way_when_work_was_forgotten_does_not_come_back(
    agent: Agent, project: Project, clock: Any
) -> None:
    agent.says("UserPromptSubmit", prompt="A thing to forget")
    agent.uses("Edit", TOKEN)
    (found,) = kept(agent.live, project)
    with project.capture.forgetting(found.id), project._access.use() as files:
        agent.uses("Edit", SESSION)  # the reader of the spool has to wait with it
        assert not agent.live.wait_recorded(0.1)
        files.journal.forget(found.id, clock())
    clock.passes(60)
    assert [(item.intent, item.files_modified) for item in kept(agent.live, project)] == [("", (SESSION,))]


def test_another_session_that_changed_the_file_and_goes_on_is_told_of(
    agent: Agent, project: Project, clock: Any
) -> None:
    other = Agent(agent.live, agent.root, session="s2", prompt="p2")
    other.says("UserPromptSubmit", prompt="Rework")
    other.uses("Read", "src/lonely.py")
    kept(agent.live, project)
    # Reading alone is no news, a change is, and none any more when its session has ended.
    assert agent.uses("Read", "src/lonely.py", "PreToolUse", call="c1") is None
    other.uses("Edit", "src/lonely.py")
    kept(agent.live, project)
    told = agent.uses("Read", "src/lonely.py", "PreToolUse", call="c2")
    assert told is not None
    assert "s2" in told
    other.says("SessionEnd", reason="other")
    kept(agent.live, project)
    third = Agent(agent.live, agent.root, session="s3", prompt="p3")
    assert third.uses("Read", "src/lonely.py", "PreToolUse") is None
    other.says("SessionStart", source="resume")
    kept(agent.live, project)
    assert third.uses("Read", "src/lonely.py", "PreToolUse", call="c4") is not None


def test_a_client_that_runs_the_hooks_of_another_too_is_heard_once(agent: Agent, project: Project) -> None:
    agent.says("SessionStart", source="startup")
    agent.says("UserPromptSubmit", prompt="Shorten the token's life")
    edit = {"tool_name": "Edit", "tool_input": {"file_path": str(agent.root / TOKEN)}, "tool_use_id": "t1"}
    event = {"session_id": "s1", "cwd": str(agent.root), "prompt_id": "p1", "hook_event_name": "PostToolUse"}
    for number, client in enumerate((CLIENT, "codex")):
        agent.live.receive(client, {**event, **edit}, f"edit-{number}")
    agent.says("Stop", last_assistant_message="Done.")
    assert [item.files_modified for item in kept(agent.live, project)] == [(TOKEN,)]
