"""What agents would have been told: real sessions replayed as hook events, with what became of each note.

    python -m bench.session_notes [PREFIX ...] [--sessions N]

A session's reads and edits are given to the adapter of a client, in the order of time of all sessions, beside
the commits of the project as they became known; every answer is made before anything later is told. A note is
taken up when a file it names is opened or changed later in the same session. Printed beside it is what
naming as many of the most edited files, or of the same folder's, would have hit at the same moments.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from bench.served import DATA_VARIABLE
from graphmem import Memory
from graphmem.captured import NoteState
from graphmem.clients.roster import ADAPTERS
from graphmem.live import Live

_CLIENT = "claude-code"


@dataclass(slots=True)
class Replay:
    """One project's replay: the moment it stands at, and what happened in each session, in order."""

    root: str
    now: float = 0.0
    steps: dict[str, list[tuple[float, str, bool]]] = field(default_factory=lambda: defaultdict(list))
    edited: Counter[str] = field(default_factory=Counter)
    rivals: dict[tuple[str, float], dict[str, tuple[str, ...]]] = field(default_factory=dict)

    def clock(self) -> float:
        """Return the present moment of the replay."""
        return self.now


def main() -> None:
    """Replay and print."""
    parser = argparse.ArgumentParser(description="Replay agent sessions and see how notes turn out.")
    parser.add_argument("prefix", nargs="*", help="PREFIX.events.jsonl.gz and PREFIX.commits.jsonl.gz")
    parser.add_argument("--sessions", type=int, help="only so many sessions, the first by time")
    arguments = parser.parse_args()
    for prefix in arguments.prefix or _public():
        _replay(prefix, arguments.sessions)


def _public() -> list[str]:
    data = os.environ.get(DATA_VARIABLE)
    if not data:
        sys.exit(f"Name a prefix, or set {DATA_VARIABLE} to the public data's folder.")
    return [str(Path(data) / "agent-sessions" / "entireio")]


def _lines(file: str) -> list[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _replay(prefix: str, at_most: int | None) -> None:
    events = sorted(_lines(f"{prefix}.events.jsonl.gz"), key=lambda event: _at(event["ts"]))
    if at_most is not None:
        wanted = set(list(dict.fromkeys(event["s"] for event in events))[:at_most])
        events = [event for event in events if event["s"] in wanted]
    commits = sorted(_lines(f"{prefix}.commits.jsonl.gz"), key=lambda commit: max(commit["at"], commit["ct"]))
    with tempfile.TemporaryDirectory(prefix="graphmem-bench-") as folder:
        root = Path(folder) / "project"
        subprocess.run(["git", "init", "--quiet", str(root)], check=True)
        replay = Replay(str(root))
        with Memory(Path(folder) / "home", clock=replay.clock) as memory:
            project, _ = memory.register(root)
            live = Live(memory, ADAPTERS, clock=replay.clock)
            try:
                _run(replay, live, project, events, commits)
                live.wait_recorded(60)
                notes = [note for session in replay.steps for note in project.capture.notes(session)]
            finally:
                live.close()
    _print(Path(prefix).name, replay, [note for note in notes if note.note.path])


def _run(
    replay: Replay,
    live: Live,
    project: Any,
    events: Sequence[dict[str, Any]],
    commits: Sequence[dict[str, Any]],
) -> None:
    waiting = iter(commits)
    commit = next(waiting, None)
    started: set[str] = set()
    last = {event["s"]: number for number, event in enumerate(events)}
    for number, event in enumerate(events):
        at = _at(event["ts"])
        batch = []
        while commit is not None and max(commit["at"], commit["ct"]) <= at:
            batch.append(commit)
            commit = next(waiting, None)
        replay.now = max(replay.now, at)
        if batch:
            project.observe([_observed(one) for one in batch])
        session = f"s-{event['s']}"
        if session not in started:
            started.add(session)
            _send(replay, live, session, number, hook_event_name="SessionStart", source="startup")
        for call in _calls(replay, event, session, number):
            live.wait_recorded(60)
            project.wait_visible()
            _send(replay, live, session, number, **call)
        if last[event["s"]] == number:
            _send(replay, live, session, number, hook_event_name="SessionEnd", reason="other")
        changed = event["op"] != "read"
        replay.steps[session].append((replay.now, event["p"], changed))
        replay.edited.update([event["p"]] if changed else [])


def _calls(replay: Replay, event: dict[str, Any], session: str, number: int) -> Iterator[dict[str, Any]]:
    tool = {"read": "Read", "edit": "Edit", "create": "Write"}[event["op"]]
    common = {
        "tool_name": tool,
        "tool_input": {"file_path": f"{replay.root}/{event['p']}"},
        "tool_use_id": f"call-{number}",
        "prompt_id": f"{session}-{event['turn']}",
    }
    if event["sub"]:
        common["agent_id"] = "sub"
    replay.rivals[session, replay.now] = _rivals(replay, event["p"], session)
    if event["op"] != "read":
        yield {"hook_event_name": "PreToolUse", **common}
    response = {"type": "create"} if event["op"] == "create" else {}
    yield {"hook_event_name": "PostToolUse", "tool_response": response, **common}


def _rivals(replay: Replay, path: str, session: str) -> dict[str, tuple[str, ...]]:
    """Return what the two baselines would name now: the most edited files, here or in the same folder."""
    had = {file for _, file, _ in replay.steps[session]} | {path}
    popular = [file for file, _ in replay.edited.most_common(60) if file not in had]
    beside = [file for file, _ in replay.edited.most_common() if Path(file).parent == Path(path).parent]
    return {
        "most edited files": tuple(popular[:3]),
        "same folder": tuple(file for file in beside if file not in had)[:3],
    }


def _send(replay: Replay, live: Live, session: str, number: int, **event: Any) -> None:
    raw = {"session_id": session, "cwd": replay.root, **event}
    live.receive(_CLIENT, raw, f"{number}-{event['hook_event_name']}", replay.now)


def _observed(commit: dict[str, Any]) -> dict[str, Any]:
    at = max(commit["at"], commit["ct"])
    return {
        "id": f"commit-{commit['h']}",
        "source": "git",
        "reference": commit["h"],
        "session": f"history@{int(at // 3_600)}",
        "title": f"commit {commit['h']}",
        "files_modified": commit["f"],
        "at": at,
    }


def _at(text: str) -> float:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


# ---- what became of it --------------------------------------------------------------------------


def _print(name: str, replay: Replay, notes: Sequence[NoteState]) -> None:
    edits = sum(changed for steps in replay.steps.values() for _, _, changed in steps)
    reads = sum(not changed for steps in replay.steps.values() for _, _, changed in steps)
    moments = Counter(note.note.moment.value for note in notes)
    naming = [note for note in notes if note.note.named]
    print(f"{name}: {len(replay.steps)} sessions, {reads} reads, {edits} edits")
    said = ", ".join(f"{count} at {moment}" for moment, count in sorted(moments.items()))
    print(f"notes given {len(notes)} ({said}), {100 * len(notes) / max(edits, 1):.1f} per 100 edits")
    print(f"of these {len(naming)} name files that change along, the others tell of another session only")
    print(f"{'':34} {'notes':>6} {'taken up':>9} {'changed':>8} {'of the named files changed':>27}")
    followed = [note for note in naming if _follows(replay, note, (note.note.path,), is_change=True)]
    for what, chosen in (("all that name files", naming), ("whose file was changed afterwards", followed)):
        print(what)
        _row("  notes", [(note, note.note.named) for note in chosen], replay)
        for rival in ("most edited files", "same folder"):
            named = [(note, _rival(replay, note, rival)) for note in chosen]
            _row(f"  {rival}", named, replay)


def _rival(replay: Replay, note: NoteState, rival: str) -> tuple[str, ...]:
    names = replay.rivals.get((note.note.session, note.note.at), {}).get(rival, ())
    return names[: len(note.note.named)]


def _follows(replay: Replay, note: NoteState, names: Sequence[str], *, is_change: bool) -> set[str]:
    """Return which of these files were changed, or at least opened, later in the note's session."""
    steps = replay.steps[note.note.session]
    return {path for at, path, was in steps if at > note.note.at and path in names and (was or not is_change)}


def _row(name: str, given: Sequence[tuple[NoteState, tuple[str, ...]]], replay: Replay) -> None:
    taken = changed = named = hits = 0
    for note, names in given:
        taken += bool(_follows(replay, note, names, is_change=False))
        edited = _follows(replay, note, names, is_change=True)
        changed += bool(edited)
        hits += len(edited)
        named += len(names)
    total = max(len(given), 1)
    share = f"{hits}/{named} = {hits / max(named, 1):.2f}"
    print(f"{name:34} {len(given):6} {taken / total:9.2f} {changed / total:8.2f} {share:>27}")


if __name__ == "__main__":
    main()
