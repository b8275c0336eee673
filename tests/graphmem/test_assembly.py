"""One prompt's turn becomes one observation, cut where it grows or rests."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

import pytest

from graphmem.capture.intake import Intake
from graphmem.events import Event, EventKind, FileChange, FileEdit, Origin, Phase
from graphmem.turns.assembly import Draft, OpenTurn, current, decode, due, encode, fed

SHOP = "/home/dev/shop"
PREFERENCE = "Always run the migrations twice."


@dataclass
class Talk:
    """A session told event by event; `at` moves on by a second an event."""

    client: str = "plain"
    session: str = "s1"
    at: float = 1_000_000.0
    cwd: str | None = SHOP
    turn: str = ""
    state: OpenTurn | None = None
    drafts: list[Draft] = field(default_factory=list)

    def tell(self, kind: EventKind, *, after: float = 1.0, **details: Any) -> Talk:
        self.at += after
        details = {"cwd": self.cwd, "turn": self.turn, **details}
        self.state, drafts = fed(self.state, Event(kind, self.client, self.session, self.at, **details))
        self.drafts += drafts
        if self.state is not None:
            self.state = decode(encode(self.state))
        return self

    def prompt(self, text: str, **details: Any) -> Talk:
        return self.tell(EventKind.PROMPT, text=text, **details)

    def read(self, *paths: str, **details: Any) -> Talk:
        return self.tell(EventKind.READ, reads=paths, **details)

    def edit(self, *paths: str, **details: Any) -> Talk:
        return self.edits(*(FileEdit(path) for path in paths), **details)

    def edits(self, *edits: FileEdit, **details: Any) -> Talk:
        return self.tell(EventKind.EDITED, edits=edits, **details)

    def end(self, text: str = "", **details: Any) -> Talk:
        return self.tell(EventKind.TURN_ENDED, text=text, **details)

    def start(self, origin: Origin, **details: Any) -> Talk:
        return self.tell(EventKind.SESSION_STARTED, origin=origin, **details)

    def leave(self, **details: Any) -> Talk:
        return self.tell(EventKind.SESSION_ENDED, **details)

    def wait(self, seconds: float) -> Talk:
        assert self.state is not None
        self.state, drafts = due(self.state, self.at + seconds)
        self.drafts += drafts
        return self

    def shown(self) -> dict[str, Any] | None:
        found = current(self.state) if self.state else None
        assert found is None or found.provisional
        return dict(found.item) if found else None

    @property
    def items(self) -> list[dict[str, Any]]:
        assert not any(draft.provisional for draft in self.drafts)
        return [dict(draft.item) for draft in self.drafts]

    @property
    def last(self) -> dict[str, Any]:
        return self.items[-1]


def files(item: dict[str, Any]) -> dict[str, list[str]]:
    names = ("files_read", "files_modified", "files_added", "files_deleted", "renames")
    return {name: item[name] for name in names if item[name]}


def under(*names: str) -> list[str]:
    return [f"{SHOP}/{name}" for name in names]


def texts(item: dict[str, Any]) -> list[str]:
    return [fact["text"] for fact in item["facts"]]


# ---- what a turn becomes -------------------------------------------------------------------------


def test_a_turn_is_one_observation_with_prompt_answer_and_files() -> None:
    talk = Talk(client="some-client", turn="p1").start(Origin.STARTUP)
    talk.prompt("Shorten the access token. It lives too long.").read("src/token.py", "src/user.py")
    talk.edit("src/token.py").end("It lives 900 seconds now.")
    (draft,) = talk.drafts
    assert not draft.provisional
    assert draft.item == {
        "id": "turn-" + hashlib.sha256(b"some-client\0s1\0p1\0" + b"0").hexdigest()[:16],
        "session": "s1",
        "source": "some-client",
        "actor": "some-client",
        "type": "change",
        "title": "Shorten the access token",
        "intent": "Shorten the access token. It lives too long.",
        "narrative": "It lives 900 seconds now.",
        "facts": draft.item["facts"],
        "files_read": under("src/user.py"),
        "files_modified": under("src/token.py"),
        "files_added": [],
        "files_deleted": [],
        "renames": [],
        "at": 1_000_005.0,
        "cwd": SHOP,
    }


def test_an_observation_of_a_turn_passes_the_door() -> None:
    talk = Talk().prompt(PREFERENCE).read("r").edits(FileEdit("n", FileChange.ADDED), FileEdit("m"))
    talk.edits(FileEdit("b", FileChange.MOVED, "a"), FileEdit("d", FileChange.DELETED)).end("Done so.")
    intake = Intake(lambda path, cwd: path.removeprefix(f"{SHOP}/"), talk.at)
    observation = intake.accept(talk.last)
    assert observation.notes == ()
    assert observation.files_modified == ("n", "m") and observation.files_added == ("n",)
    assert observation.files_read == ("r",) and observation.files_deleted == ("d",)
    assert [(rename.old, rename.new) for rename in observation.renames] == [("a", "b")]


def test_only_what_was_done_counts() -> None:
    talk = Talk().prompt("Look around the shop")
    talk.edit("ahead.py", phase=Phase.AHEAD).read("ahead.py", phase=Phase.AHEAD)
    talk.edit("failed.py", phase=Phase.FAILED)
    talk.tell(EventKind.SEARCHED, reads=("found.py",))
    talk.tell(EventKind.COMMAND_RUN, command="cat x", reads=("x",), edits=(FileEdit("y"),)).end("Seen.")
    assert files(talk.last) == {"files_read": under("x"), "files_modified": under("y")}


def test_what_a_command_wrote_and_then_read_is_new() -> None:
    talk = Talk().prompt("Write the notes down")
    talk.tell(EventKind.COMMAND_RUN, reads=("n.txt",), edits=(FileEdit("n.txt", FileChange.ADDED),)).end("Ok")
    assert files(talk.last) == {"files_modified": under("n.txt"), "files_added": under("n.txt")}


def test_moves_and_edits_collapse_over_the_events_of_a_turn() -> None:
    talk = Talk().prompt("Tidy up the folders").edits(FileEdit("b", FileChange.MOVED, "a")).edit("b")
    talk.edits(FileEdit("c", FileChange.MOVED, "b")).edits(FileEdit("t", FileChange.ADDED))
    talk.edits(FileEdit("t", FileChange.DELETED)).end("Tidy.")
    assert files(talk.last) == {
        "renames": [{"from": f"{SHOP}/a", "to": f"{SHOP}/c"}],
        "files_modified": under("c"),
    }


def test_a_turn_that_only_read_is_a_reading() -> None:
    talk = Talk().prompt("Where are tokens made?").read("src/token.py").end("In token.py.")
    assert talk.last["type"] == "reading"
    assert files(talk.last) == {"files_read": under("src/token.py")}
    assert talk.shown() is None


def test_a_turn_without_files_and_facts_gives_nothing() -> None:
    talk = Talk().prompt("hello there").end("Hello! What can I do?").prompt("bye").leave()
    assert talk.drafts == []


def test_a_turn_that_only_stated_a_preference_is_kept() -> None:
    talk = Talk().prompt(PREFERENCE).end("Understood.")
    assert talk.last["type"] == "reading" and files(talk.last) == {}
    assert texts(talk.last) == [PREFERENCE]
    assert talk.last["facts"][0]["kind"] in {"preference", "convention"}
    assert set(talk.last["facts"][0]) == {"text", "kind", "state", "scope"}


def test_a_fact_said_in_prompt_and_answer_is_told_once() -> None:
    talk = Talk().prompt(PREFERENCE).edit("a").end(PREFERENCE)
    assert texts(talk.last) == [PREFERENCE]


def test_a_pasted_plan_is_cut_to_its_start() -> None:
    plan = "# Plan: move the token\n" + "计划内容 and more words\n" * 1_500
    talk = Talk().prompt(plan).edit("a").end("Moved " + "x" * 30_000)
    assert plan.startswith(talk.last["intent"]) and 4_090 <= len(talk.last["intent"].encode()) <= 4_096
    assert talk.last["title"] == "Plan: move the token"
    assert talk.last["narrative"].startswith("Moved xxx") and talk.last["narrative"].endswith("…")


@pytest.mark.parametrize("prompt", ["continue", "yes", "ok", "继续", "好的", ""])
def test_a_poor_prompt_is_titled_by_the_answer_or_the_files(prompt: str) -> None:
    talk = (
        Talk().prompt(prompt).edit("src/a.ts", "b.ts", "c", "d", "e").end("Done. The cart keeps its items.")
    )
    assert talk.last["title"] == "The cart keeps its items" and talk.last["intent"] == prompt
    talk = Talk().prompt(prompt).edit("src/a.ts", "b.ts", "c", "d", "e").leave()
    assert talk.last["title"] == "Change a.ts, b.ts and 3 more"
    assert Talk().prompt(prompt).read("src/a.ts").leave().last["title"] == "Read a.ts"


# ---- prompts, turns and sessions -----------------------------------------------------------------


def test_a_prompt_ends_the_turn_before_it() -> None:
    talk = Talk().prompt("First thing to do").edit("a").prompt("Second thing to do").edit("b").leave()
    assert [(item["title"], item["files_modified"]) for item in talk.items] == [
        ("First thing to do", under("a")),
        ("Second thing to do", under("b")),
    ]
    assert len({draft.turn for draft in talk.drafts}) == 2


def test_prompts_without_a_name_are_numbered_across_a_resumed_session() -> None:
    talk = Talk().prompt("First thing to do").edit("a").end("A.").leave().start(Origin.RESUME)
    talk.prompt("Second thing to do").edit("b").end("B.").leave()
    keys = [hashlib.sha256(f"plain\0s1\0#{number}\x000".encode()).hexdigest()[:16] for number in (1, 2)]
    assert [item["id"] for item in talk.items] == [f"turn-{key}" for key in keys]


@pytest.mark.parametrize("turn", ["p7", ""])
def test_work_without_a_prompt_belongs_to_the_turn_named_or_to_none(turn: str) -> None:
    talk = Talk(turn=turn).start(Origin.RESUME).edit("a").end("The cart works again.")
    key = hashlib.sha256(f"plain\0s1\0{turn or '#0'}\x000".encode()).hexdigest()[:16]
    assert talk.last["id"] == f"turn-{key}"
    assert talk.last["title"] == "The cart works again" and talk.last["intent"] == ""


def test_work_after_a_resume_is_no_longer_that_of_the_last_prompt() -> None:
    talk = Talk().prompt("First thing to do").edit("a").start(Origin.RESUME).edit("b").leave()
    talk.start(Origin.RESUME).edit("c").leave()
    assert [item["intent"] for item in talk.items] == ["First thing to do", "", ""]
    assert len({item["id"] for item in talk.items}) == 3
    assert talk.drafts[1].turn == talk.drafts[2].turn != talk.drafts[0].turn


def test_a_compaction_in_the_midst_cuts_the_turn_and_goes_on_with_it() -> None:
    talk = Talk().prompt("First thing to do").edit("a").start(Origin.COMPACT).edit("b").end("Both done.")
    assert [item["intent"] for item in talk.items] == ["First thing to do"] * 2
    assert [item["files_modified"] for item in talk.items] == [under("a"), under("b")]
    assert [item["narrative"] for item in talk.items] == ["", "Both done."]


@pytest.mark.parametrize("origin", [Origin.RESUME, Origin.CLEAR, Origin.FORK, Origin.STARTUP, None])
def test_a_session_that_starts_ends_what_was_open(origin: Origin) -> None:
    talk = Talk().prompt("First thing to do").edit("a").start(origin)
    assert [item["files_modified"] for item in talk.items] == [under("a")]
    assert talk.shown() is None


def test_a_sub_agent_works_for_the_turn_of_its_parent() -> None:
    talk = Talk(turn="p1").prompt("Fix the session path").read("a")
    talk.prompt("look and fix", agent="sub").edit("b", agent="sub").end("moved to v2", agent="sub")
    talk.start(Origin.STARTUP, agent="sub").edit("c", agent="sub", turn="own").leave(agent="sub")
    assert talk.drafts == []
    talk.end("Fixed.")
    assert files(talk.last) == {"files_read": under("a"), "files_modified": under("b", "c")}
    assert talk.last["intent"] == "Fix the session path" and talk.last["narrative"] == "Fixed."


def test_the_same_stream_gives_the_same_drafts_and_another_session_other_ids() -> None:
    def told(session: str) -> list[Draft]:
        return Talk(session=session).prompt("One thing to do").edit("a").end("Did it").drafts

    assert told("s1") == told("s1")
    assert told("s1")[0].item["id"] != told("s2")[0].item["id"]
    assert told("s1")[0].turn != told("s2")[0].turn


def test_late_work_of_a_turn_that_is_over_joins_the_open_one() -> None:
    talk = Talk().prompt("First thing to do", turn="p1").edit("a", turn="p1")
    talk.prompt("Second thing to do", turn="p2").edit("b", turn="p2").edit("late", turn="p1").leave()
    assert [item["files_modified"] for item in talk.items] == [under("a"), under("b", "late")]


def test_work_of_an_unknown_turn_ends_the_open_one() -> None:
    talk = Talk().prompt("First thing to do", turn="p1").edit("a", turn="p1").edit("b", turn="p2").leave()
    assert [(item["intent"], item["files_modified"]) for item in talk.items] == [
        ("First thing to do", under("a")),
        ("", under("b")),
    ]


def test_a_late_prompt_names_the_work_that_is_already_open() -> None:
    talk = Talk(turn="p1").edit("a").prompt("First thing to do").edit("b").end()
    assert [(item["intent"], item["files_modified"]) for item in talk.items] == [
        ("First thing to do", under("a", "b"))
    ]


def test_a_second_prompt_under_one_name_goes_on_with_the_numbers() -> None:
    talk = Talk(turn="p1").prompt("First thing to do").edit("a").prompt("No, differently please").edit("b")
    talk.end("Both.")
    assert [item["title"] for item in talk.items] == ["First thing to do", "No, differently please"]
    assert len({item["id"] for item in talk.items}) == 2
    assert talk.drafts[0].turn == talk.drafts[1].turn


def test_a_late_answer_completes_the_turn_before() -> None:
    talk = Talk().prompt("First thing to do", turn="p1").edit("a", turn="p1")
    talk.prompt("Second thing to do", turn="p2").end("The first is done.", turn="p1").edit("b", turn="p2")
    talk.end("The second too.", turn="p2")
    first, again, second = talk.items
    assert first["id"] == again["id"] != second["id"]
    assert again == {**first, "narrative": "The first is done.", "facts": again["facts"], "at": again["at"]}
    assert second["narrative"] == "The second too." and second["files_modified"] == under("b")


def test_work_after_the_end_is_a_further_part_of_the_turn() -> None:
    talk = Talk(turn="p1").prompt("First thing to do").edit("a").end("One.").leave()
    talk.edit("b", agent="sub").leave()
    assert [item["files_modified"] for item in talk.items] == [under("a"), under("b")]
    assert talk.items[0]["id"] != talk.items[1]["id"] and talk.drafts[0].turn == talk.drafts[1].turn


# ---- provisional ---------------------------------------------------------------------------------


def test_a_part_shows_as_provisional_from_its_first_edit_on() -> None:
    talk = Talk().prompt("First thing to do").read("r")
    assert talk.shown() is None
    shown = talk.edit("a").shown()
    assert shown is not None and files(shown) == {"files_read": under("r"), "files_modified": under("a")}
    talk.tell(EventKind.READ, phase=Phase.AHEAD, reads=("x",))
    assert talk.shown() == shown
    talk.end("Done with it.")
    assert talk.shown() is None
    assert talk.last == {**shown, "narrative": "Done with it.", "at": talk.last["at"]}


def test_what_was_shown_is_told_to_its_end_though_nothing_is_left_of_it() -> None:
    talk = Talk().prompt("First thing to do").edits(FileEdit("t", FileChange.ADDED))
    shown = talk.shown()
    assert shown is not None
    talk.edits(FileEdit("t", FileChange.DELETED))
    assert talk.shown() == {
        **shown,
        "type": "reading",
        "files_modified": [],
        "files_added": [],
        "at": talk.at,
    }
    talk.end()
    assert talk.last["id"] == shown["id"] and files(talk.last) == {}


# ---- cuts ----------------------------------------------------------------------------------------


def modified(talk: Talk) -> list[list[str]]:
    return [[path.removeprefix(f"{SHOP}/") for path in item["files_modified"]] for item in talk.items]


def ids(talk: Talk) -> list[str]:
    return [item["id"] for item in talk.items]


def parts(*numbers: int) -> list[str]:
    keys = (f"plain\0s1\0#1\0{number}".encode() for number in numbers)
    return [f"turn-{hashlib.sha256(key).hexdigest()[:16]}" for key in keys]


def test_thirty_seconds_of_silence_cut_a_part() -> None:
    talk = (
        Talk().prompt("First thing to do").edit("a").edit("b", after=29.9).edit("c", after=30.0).end("All.")
    )
    assert modified(talk) == [["a", "b"], ["c"]] and ids(talk) == parts(0, 1)
    assert talk.items[0]["at"] == 1_000_000 + 1 + 1 + 29.9
    assert [item["title"] for item in talk.items] == ["First thing to do"] * 2
    assert {draft.turn for draft in talk.drafts} == {talk.drafts[0].turn}


def test_silence_cuts_also_when_no_event_comes() -> None:
    talk = Talk().prompt("First thing to do").edit("a").wait(29.9)
    assert talk.drafts == [] and talk.shown() is not None
    talk.wait(30.0)
    assert ids(talk) == parts(0) and talk.shown() is None
    talk.wait(60.0).edit("b", after=70).leave()
    assert modified(talk) == [["a"], ["b"]] and ids(talk) == parts(0, 1)


def test_an_answer_after_a_silence_completes_the_part_that_was_told() -> None:
    talk = Talk().prompt("continue").edit("a").wait(30.0).end("The cart works. Always use tabs.", after=45)
    assert ids(talk) == parts(0, 0)
    first, last = talk.items
    assert first["narrative"] == "" and first["title"] == "Change a"
    assert last["narrative"] == "The cart works. Always use tabs." and last["title"] == "The cart works"
    assert "Always use tabs." in texts(last) and last["files_modified"] == under("a")
    talk.end("The cart works. Always use tabs.").end("").leave()
    assert len(talk.drafts) == 2


def test_an_answer_after_a_long_thought_gives_one_observation_without_a_question_in_between() -> None:
    talk = Talk().prompt("First thing to do").edit("a").end("It is done.", after=50)
    assert ids(talk) == parts(0) and talk.last["narrative"] == "It is done."


def test_the_last_answer_of_a_turn_counts() -> None:
    talk = (
        Talk(turn="p1").prompt("First thing to do").edit("a").end("Halfway there.").end("All of it is done.")
    )
    assert len(set(ids(talk))) == 1 and talk.last["narrative"] == "All of it is done."


def test_a_title_stays_the_same_once_a_part_was_told_under_it() -> None:
    talk = Talk().prompt("continue").edit("a").edit("b", after=40).end("The cart works now.")
    assert [item["title"] for item in talk.items] == ["Change a", "Change a"]


def test_a_turn_taken_up_again_is_titled_by_its_answer_whether_a_silence_was_seen_or_not() -> None:
    def told(talk: Talk) -> dict[str, Any]:
        return talk.end("The cart works now.", after=60).last

    def again() -> Talk:
        return Talk(turn="p1").edit("a").prompt("Other thing to do", turn="p2").start(Origin.RESUME).edit("b")

    assert told(again()) == told(again().wait(40)) and told(again())["title"] == "The cart works now"


def test_thinking_before_the_first_file_cuts_nothing() -> None:
    talk = Talk().prompt(PREFERENCE).read("r", after=100).edit("a").wait(29).leave()
    assert ids(talk) == parts(0) and texts(talk.last) == [PREFERENCE]


def test_a_part_lasts_fifteen_minutes_from_its_first_event() -> None:
    talk = Talk().prompt("First thing to do", after=0)
    for number in range(1, 95):
        talk.edit(f"f{number % 3}", after=20)
    talk.leave()
    assert ids(talk) == parts(0, 1, 2)
    assert [item["at"] - 1_000_000 for item in talk.items] == [880, 1_780, 1_880]


def test_a_part_with_signs_of_life_but_no_work_ends_after_fifteen_minutes() -> None:
    talk = Talk().prompt("First thing to do").edit("a")
    for _ in range(50):
        talk.tell(EventKind.SEARCHED, after=20)
    assert ids(talk) == parts(0) and talk.last["at"] == 1_000_002
    talk = Talk().prompt("First thing to do").edit("a").tell(EventKind.SEARCHED, after=20).wait(880)
    assert ids(talk) == parts(0)


def test_a_stated_preference_is_told_after_fifteen_minutes_at_the_latest() -> None:
    talk = Talk().prompt(PREFERENCE).wait(899)
    assert talk.drafts == []
    talk.wait(900)
    assert texts(talk.last) == [PREFERENCE]
    talk.edit("a", after=1_000).leave()
    assert [texts(item) for item in talk.items] == [[PREFERENCE], []]


def test_twenty_files_fill_a_part() -> None:
    talk = Talk().prompt("First thing to do")
    for number in range(45):
        talk.edit(f"f{number}").edit("f0" if number < 20 else f"f{number}")
    talk.leave()
    assert [len(item["files_modified"]) for item in talk.items] == [20, 20, 5] and ids(talk) == parts(0, 1, 2)


def test_a_change_of_many_files_at_once_is_divided_and_a_smaller_one_kept_together() -> None:
    talk = Talk().prompt("First thing to do").edit("a").edit(*(f"b{number}" for number in range(20)))
    talk.edit(*(f"c{number}" for number in range(41))).leave()
    assert [len(found) for found in modified(talk)] == [1, 20, 20, 20, 1]
    assert ids(talk) == parts(0, 1, 2, 3, 4)


def test_no_part_has_more_than_five_thousand_characters_and_facts_go_on_in_further_ones() -> None:
    def rules(word: str) -> str:
        return "\n".join(f"Never use the {word}{number} {'module ' * 30}here." for number in range(19))

    talk = Talk().prompt(rules("old")).edit("a").end(rules("new"))
    for item in talk.items:
        assert len(item["intent"]) + len(item["narrative"]) + sum(map(len, texts(item))) <= 5_000
    told = [text for item in talk.items for text in texts(item)]
    assert len(set(told)) == len(told) >= 20 and len(talk.items) > 2
    assert modified(talk) == [["a"], *([] for _ in talk.items[1:])]
    assert ids(talk) == parts(*range(len(talk.items))) and talk.items[0]["narrative"]
