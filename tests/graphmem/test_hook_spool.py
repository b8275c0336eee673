"""The spool under many writers, and the service that the first of many hooks starts."""

from __future__ import annotations

import fcntl
import json
import os
import runpy
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from graphmem import hook_program
from graphmem.home import Home
from graphmem.hook_program import append, line

PATIENT = 20.0
WRITER = """
import runpy, sys
program = runpy.run_path(sys.argv[1])
for number in range(100):
    event = {"session_id": sys.argv[3], "prompt": "x" * (number * 40)}
    line = program["line"]("codex", event, f"{number:032x}", 1.0, {})
    if not program["append"](sys.argv[2], line, 1e12):
        sys.exit("refused")
    print(number, flush=True)
"""
START = {"session_id": "s-1", "hook_event_name": "SessionStart", "source": "startup"}
CALLED_AS_PYTHON = """#!/bin/sh
echo "$* | $GRAPHMEM_HOME | $PYTHONPATH | $GRAPHMEM_PORT | $(pwd)" >> "$GRAPHMEM_HOME/started"
"""


def entry(number: int = 0) -> bytes:
    return line("codex", {"session_id": "s"}, f"{number:032x}", 1.0, {})


def numbers(spool: Path) -> list[int]:
    lines = spool.read_bytes().split(b"\n")
    return [int(json.loads(text)["id"], 16) for text in lines if text]


# ---- many writers ------------------------------------------------------------------------------


def test_eight_writers_of_which_one_is_killed_lose_the_line_being_written_at_most(tmp_path: Path) -> None:
    spool = tmp_path / "spool" / "events.jsonl"
    writers = [
        subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", WRITER, hook_program.__file__, str(spool), f"s-{number}"],
            stdout=subprocess.PIPE,
        )
        for number in range(8)
    ]
    victim = writers[3].stdout
    assert victim is not None
    acknowledged = [int(victim.readline()) for _ in range(30)]
    writers[3].kill()
    acknowledged += [int(text) for text in victim.read().splitlines()]
    others = [writer for writer in writers if writer is not writers[3]]
    assert [writer.communicate(timeout=PATIENT)[1] for writer in others] == [None] * 7
    assert [writer.returncode for writer in others] == [0] * 7
    assert writers[3].wait(PATIENT) != 1
    victim.close()
    found: dict[str, list[int]] = {}
    for text in spool.read_bytes().split(b"\n"):
        if text:
            item = json.loads(text)
            found.setdefault(item["event"]["session_id"], []).append(int(item["id"], 16))
            assert item["event"]["prompt"] == "x" * (int(item["id"], 16) * 40)
    of_victim = found.pop("s-3")
    assert found == {f"s-{number}": list(range(100)) for number in range(8) if number != 3}
    assert of_victim == list(range(len(of_victim)))
    assert len(acknowledged) <= len(of_victim) <= len(acknowledged) + 1


def test_a_line_after_a_torn_one_is_whole(tmp_path: Path) -> None:
    spool = tmp_path / "events.jsonl"
    spool.write_bytes(entry(1) + entry(2)[:-20])
    assert append(str(spool), entry(3))
    lines = [text for text in spool.read_bytes().split(b"\n") if text]
    assert lines[1] == entry(2)[1:-20]
    assert [json.loads(lines[place])["id"][-1] for place in (0, 2)] == ["1", "3"]


def test_nothing_is_appended_while_lines_are_taken_away(tmp_path: Path) -> None:
    spool = tmp_path / "events.jsonl"
    assert append(str(spool), entry(1))
    with spool.open("r+b") as reader:
        fcntl.flock(reader, fcntl.LOCK_EX)
        assert not append(str(spool), entry(2))
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(append, str(spool), entry(3), time.monotonic() + PATIENT)
            assert numbers(spool) == [1]
            reader.truncate(0)
            fcntl.flock(reader, fcntl.LOCK_UN)
            assert waiting.result(PATIENT)
    assert numbers(spool) == [3]


def test_a_spool_that_stays_locked_costs_an_event_and_a_line_in_the_log(client: Any) -> None:
    client.fires(START | {"hook_event_name": "Stop"})
    with (client.home / "spool" / "events.jsonl").open("r+b") as reader:
        fcntl.flock(reader, fcntl.LOCK_EX)
        assert client.fires(START | {"hook_event_name": "Stop"}, "cursor") == (0, "{}", "")
    assert len(client.spooled()) == len(client.logged()) == 1


def test_a_spool_over_sixteen_mebibytes_takes_no_more(client: Any) -> None:
    client.fires(START | {"hook_event_name": "Stop"})
    spool = client.home / "spool" / "events.jsonl"
    os.truncate(spool, (16 << 20) + 1)
    assert client.fires(START, "cursor") == (0, "{}", "")
    assert spool.stat().st_size == (16 << 20) + 1
    (logged,) = client.logged()
    assert "spool" in logged


def test_a_line_that_does_not_fit_on_the_disk_is_told_from_one_that_does(tmp_path: Path) -> None:
    program = runpy.run_path(hook_program.__file__)
    spool = tmp_path / "events.jsonl"
    spool.write_bytes(b"x" * 500)
    child = (
        "import runpy, sys\n"
        "program = runpy.run_path(sys.argv[1])\n"
        "print(program['append'](sys.argv[2], program['line']('codex', {'prompt': 'y' * 900}, 'i', 1.0, {})))"
    )
    done = subprocess.run(
        [
            "sh",
            "-c",
            'ulimit -f 1; exec "$@"',
            "sh",
            sys.executable,
            "-c",
            child,
            hook_program.__file__,
            spool,
        ],
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "False", done.stderr
    assert program["append"](str(spool), entry(7))
    assert json.loads(spool.read_bytes().splitlines()[-1])["id"] == f"{7:032x}"


def test_an_interpreter_without_the_parser_below_json_writes_and_reads_the_same() -> None:
    child = """
import runpy, sys
sys.modules.update(dict.fromkeys(sys.argv[2:]))
program = runpy.run_path(sys.argv[1])
event = program["_parsed"](b'\\xef\\xbb\\xbf {"prompt": "\\xe9\\x99\\x90", "ok": [true, null, 1.5]} ')
print(program["line"]("codex", event, "i", 1.0, {}))
for raw in (b"", b"{", b"[1]", b"{} {}"):
    try:
        program["_parsed"](raw)
    except program["_UNREADABLE"]:
        print("no event")
"""
    told = [
        subprocess.run(
            [sys.executable, "-c", child, hook_program.__file__, *missing], capture_output=True, text=True
        )
        for missing in ([], ["_json"])
    ]
    assert "u9650" in told[0].stdout
    assert told[0].stdout == told[1].stdout
    assert told[0].stdout.count("no event") == 4


def test_the_clock_going_back_changes_the_time_told_and_nothing_else(tmp_path: Path) -> None:
    spool = tmp_path / "events.jsonl"
    for at in (2_000_000_000.0, 1_000_000_000.1239, 0.0):
        assert append(str(spool), line("codex", {}, "0" * 32, at, {"token": 2}))
    told = [json.loads(text) for text in spool.read_bytes().split(b"\n") if text]
    assert [item["at"] for item in told] == [2_000_000_000.0, 1_000_000_000.124, 0.0]
    assert told[0] == {"id": "0" * 32, "at": 2e9, "client": "codex", "event": {}, "redacted": {"token": 2}}


# ---- the first of a session starts the service -------------------------------------------------


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """A program in the interpreter's place, which writes down how it was called."""
    path = tmp_path / "python"
    path.write_text(CALLED_AS_PYTHON, encoding="utf-8")
    path.chmod(0o755)
    return path


def started(client: Any, python: Path, at_least: int) -> list[str]:
    """Return how the service was started; who was started before has written by the time another one has."""
    record, deadline = client.home / "started", time.monotonic() + PATIENT
    while at_least and not record.exists() and time.monotonic() < deadline:
        threading.Event().wait(0.005)
    subprocess.run([python, "after"], env=os.environ | {"GRAPHMEM_HOME": str(client.home)}, check=True)
    lines = record.read_text(encoding="utf-8").splitlines()
    return [text for text in lines if not text.startswith("after")]


@pytest.mark.parametrize("name", ["SessionStart", "sessionStart", "session_start"])
def test_at_session_start_the_service_is_started_for_the_home(client: Any, python: Path, name: str) -> None:
    client.environment = {"GRAPHMEM_PORT": "0", "PYTHONPATH": "/elsewhere"}
    done = client.fires(START | {"hook_event_name": name}, "cursor", "--python", str(python))
    assert done == (0, "{}", "")
    root = Path(hook_program.__file__).resolve().parents[1]
    assert started(client, python, 1) == [
        f"-P -m api.service | {client.home} | {root}{os.pathsep}/elsewhere | 0 | {client.home}"
    ]
    assert len(client.spooled()) == 1


def test_five_hooks_at_once_start_one_service(client: Any, python: Path) -> None:
    with ThreadPoolExecutor(5) as pool:
        runs = [pool.submit(client.fires, START, "codex", "--python", str(python)) for _ in range(5)]
        assert [run.result() for run in runs] == [(0, "", "")] * 5
    assert len(started(client, python, 1)) == 1
    assert len(client.spooled()) == 5


@pytest.mark.parametrize("shift", [-30, 30])
def test_a_start_is_tried_again_later_and_after_a_jump_of_the_clock(
    client: Any, python: Path, shift: int
) -> None:
    stamp = client.home / "spool" / "starting"
    stamp.parent.mkdir(parents=True)
    stamp.write_bytes(b"1")
    client.fires(START, "codex", "--python", str(python))
    assert started(client, python, 0) == []
    (client.home / "started").unlink()
    moment = time.time() + shift
    os.utime(stamp, (moment, moment))
    client.fires(START, "codex", "--python", str(python))
    assert len(started(client, python, 1)) == 1


@pytest.mark.parametrize("name", ["UserPromptSubmit", "SessionEnd", "Stop", ""])
def test_no_other_event_starts_anything(client: Any, python: Path, name: str) -> None:
    client.fires(START | {"hook_event_name": name}, "codex", "--python", str(python))
    assert started(client, python, 0) == []
    assert not (client.home / "spool" / "starting").exists()


def test_a_home_that_somebody_holds_gets_no_service(client: Any, python: Path) -> None:
    with Home(client.home).lock("import"):
        assert client.fires(START, "codex", "--python", str(python)) == (0, "", "")
    assert started(client, python, 0) == []


def test_an_interpreter_that_is_not_there_is_a_line_in_the_log(client: Any, tmp_path: Path) -> None:
    done = client.fires(START, "cursor", "--python", str(tmp_path / "missing"))
    assert done == (0, "{}", "")
    assert len(client.spooled()) == len(client.logged()) == 1
