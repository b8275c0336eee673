"""Whatever a session tells: no file lost, none twice, the same ids each time, small and within the limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from graphmem.capture.intake import Intake
from graphmem.events import Event, EventKind, FileChange, FileEdit, Origin, Phase
from graphmem.turns.assembly import Draft, OpenTurn, current, decode, due, encode, fed
from graphmem.turns.drafts import MOST_TEXT

START = 1_780_000_000.0
PATHS = st.sampled_from([f"f{number}" for number in range(30)])
TEXTS = st.sampled_from(
    [
        "",
        "ok",
        "Fix the login page.",
        "Always use tabs. Never touch the schema.",
        "还没写测试。必须统一用 v2。",
        "Never do this " + "again and " * 40 + "ever. " + "x" * 6_000,
    ]
)
EDITS = st.builds(FileEdit, PATHS, st.sampled_from([FileChange.MODIFIED, FileChange.ADDED]))
MANY = st.lists(EDITS, min_size=15, max_size=45)
TURNS = st.sampled_from(["", "p1", "p2", "p3"])
GAPS = st.sampled_from([0.0, 1.0, 5.0, 29.0, 31.0, 400.0, 1_000.0, -50.0, -5_000.0])

EVENTS = st.builds(
    Event,
    st.sampled_from(EventKind),
    st.just("plain"),
    st.just("s"),
    GAPS,
    cwd=st.sampled_from([None, "/home/dev/shop", "/home/dev/shop/src"]),
    turn=TURNS,
    agent=st.sampled_from(["", "", "", "sub"]),
    phase=st.sampled_from([Phase.DONE, Phase.DONE, Phase.DONE, Phase.AHEAD, Phase.FAILED]),
    reads=st.lists(PATHS, max_size=3).map(tuple),
    edits=st.one_of(st.just(()), st.lists(EDITS, max_size=3).map(tuple), MANY.map(tuple)),
    text=TEXTS,
    origin=st.one_of(st.none(), st.sampled_from(Origin)),
)
WORK = {EventKind.READ, EventKind.EDITED, EventKind.COMMAND_RUN}
STREAMS = st.lists(EVENTS, max_size=40)


def timed(events: Sequence[Event]) -> list[Event]:
    """Make times of the gaps the events hold."""
    at = START
    return [replace(event, at=(at := at + event.at)) for event in events]


def through(turn: OpenTurn | None) -> OpenTurn | None:
    return None if turn is None else decode(encode(turn))


def play(
    events: Sequence[Event],
    keep: Callable[[int, OpenTurn | None], OpenTurn | None] = lambda index, turn: turn,
    ask: bool = False,
) -> tuple[OpenTurn | None, list[Draft]]:
    state: OpenTurn | None = None
    drafts: list[Draft] = []
    for index, event in enumerate(events):
        if ask and state is not None:
            state, more = due(state, event.at)
            drafts += more
        state, more = fed(keep(index, state), event)
        drafts += more
    return state, drafts


def closed(events: Sequence[Event]) -> list[Event]:
    """The stream with its session's end."""
    at = events[-1].at if events else START
    return [*events, Event(EventKind.SESSION_ENDED, "plain", "s", at)]


def final(drafts: Sequence[Draft]) -> dict[str, dict[str, Any]]:
    """What the journal holds in the end: the last telling under each id."""
    return {str(draft.item["id"]): dict(draft.item) for draft in drafts}


def named(item: dict[str, Any]) -> set[str]:
    moves = {rename[end] for rename in item["renames"] for end in ("from", "to")}
    return {*item["files_read"], *item["files_modified"], *item["files_deleted"], *moves}


def ends(paths: set[str]) -> set[str]:
    return {path.rsplit("/", 1)[-1] for path in paths}


@given(STREAMS)
def test_no_file_that_was_read_or_edited_is_lost(events: list[Event]) -> None:
    _, drafts = play(closed(timed(events)))
    told: set[str] = set().union(*(named(item) for item in final(drafts).values()))
    done = [event for event in events if event.kind in WORK and event.phase is Phase.DONE]
    changed = {edit.path for event in done for edit in event.edits}
    assert ends(told) == changed | {path for event in done for path in event.reads}
    modified = {path for item in final(drafts).values() for path in item["files_modified"]}
    assert ends(modified) == changed


@given(STREAMS)
def test_ids_are_unique_but_for_parts_that_are_completed(events: list[Event]) -> None:
    _, drafts = play(closed(timed(events)))
    known: dict[str, dict[str, Any]] = {}
    for draft in drafts:
        item = dict(draft.item)
        before = known.setdefault(str(item["id"]), item)
        same = (
            "files_read",
            "files_modified",
            "files_added",
            "files_deleted",
            "renames",
            "intent",
            "session",
        )
        assert all(item[name] == before[name] for name in same)
    turns = {(draft.turn, draft.item["id"]) for draft in drafts}
    assert len(turns) == len(known)


@given(STREAMS)
def test_a_stream_told_again_gives_the_same_and_so_it_does_from_its_text(events: list[Event]) -> None:
    stream = timed(events)
    plain = play(stream)
    assert play(stream) == plain
    assert play(stream, keep=lambda index, turn: through(turn)) == plain


@given(STREAMS, st.integers(0, 40))
def test_a_stream_may_be_interrupted_anywhere(events: list[Event], where: int) -> None:
    stream = timed(events)
    assert play(stream, keep=lambda index, turn: through(turn) if index == where else turn) == play(stream)


@given(st.lists(EVENTS.map(lambda event: replace(event, at=abs(event.at))), max_size=40))
def test_asking_what_is_due_changes_nothing_of_the_outcome(events: list[Event]) -> None:
    short = [replace(event, text=event.text[:60]) for event in events]
    stream = closed(timed(short))
    assert final(play(stream, ask=True)[1]) == final(play(stream)[1])


@given(STREAMS)
def test_every_part_keeps_to_the_limits_and_passes_the_door(events: list[Event]) -> None:
    stream = timed(events)
    _, drafts = play(closed(stream))
    intake = Intake(lambda path, cwd: path.removeprefix("/home/dev/shop/"), max(e.at for e in closed(stream)))
    for draft in drafts:
        item: dict[str, Any] = dict(draft.item)
        text = item["intent"] + item["narrative"] + "".join(fact["text"] for fact in item["facts"])
        assert len(text) <= MOST_TEXT
        assert 0 < len(named(item)) <= 20 or not named(item)
        assert not set(item["files_read"]) & set(item["files_modified"])
        assert item["title"] and len(item["title"]) <= 80
        assert intake.accept(item).id == item["id"]
        assert not draft.provisional


@given(STREAMS)
def test_what_is_shown_as_provisional_is_told_as_final_under_the_same_id(events: list[Event]) -> None:
    state: OpenTurn | None = None
    drafts: list[Draft] = []
    shown: set[str] = set()
    for event in closed(timed(events)):
        state, more = fed(state, event)
        drafts += more
        found = current(state) if state is not None else None
        if found is not None:
            assert found.provisional and found.item["id"] not in final(drafts)
            shown.add(str(found.item["id"]))
    assert shown <= final(drafts).keys()


def test_a_turn_of_ten_thousand_events_stays_small() -> None:
    state: OpenTurn | None = None
    longest = parts = 0
    for number in range(10_000):
        path = f"/home/dev/shop/src/some/folder/file_{number * 7_919 % 5_003}.py"
        event = Event(EventKind.EDITED, "plain", "s", START + number, edits=(FileEdit(path),), turn="p")
        state, drafts = fed(state, event)
        parts += len(drafts)
        assert state is not None
        if number % 500 == 0:
            longest = max(longest, len(encode(state)))
    assert longest < 4_000 and parts == 499
