"""On a terminal: colours unless unwanted, a progress bar for what takes long; nothing of it elsewhere."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import struct
import subprocess
import termios
from collections.abc import Callable, Mapping
from fcntl import ioctl
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

COLOUR = re.compile("\x1b\\[[0-9;]*m")


def on_a_terminal(
    command: list[Any], cwd: Path, environment: Mapping[str, str], columns: int = 80
) -> tuple[int, str]:
    """Run a command on a terminal of that width and return its status and all that was shown."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    running = subprocess.Popen(command, cwd=cwd, env=environment, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    while select.select([ours], [], [], 60)[0]:
        try:
            chunk = os.read(ours, 65_536)
        except OSError:  # how Linux says that the other end has closed
            break
        if not chunk:
            break
        shown += chunk
    os.close(ours)
    return running.wait(60), shown.decode()


def environment_of(program: Any, **changes: str | None) -> dict[str, str]:
    found: dict[str, str] = program.environment(**{"NO_COLOR": None, "TERM": "xterm-256color", **changes})
    return found


def test_colours_are_for_terminals_and_say_nothing_alone(shop: Any) -> None:
    command = shop.program.command("impact", "src/token.py")
    status, shown = on_a_terminal(command, shop.path, environment_of(shop.program))
    assert status == 0
    assert COLOUR.search(shown)
    plain = COLOUR.sub("", shown).replace("\r\n", "\n")
    assert plain == shop("impact", "src/token.py", environment={"COLUMNS": "80"}).out
    for word in ("known", "likely"):
        assert word in plain


def test_no_color_is_honoured(shop: Any) -> None:
    command = shop.program.command("impact", "src/token.py")
    _, shown = on_a_terminal(command, shop.path, environment_of(shop.program, NO_COLOR="1"))
    assert not re.search("\x1b\\[[0-9;]*3[0-9]", shown)


@pytest.mark.parametrize("columns", [60, 80, 132])
def test_the_terminals_width_is_kept(shop: Any, columns: int) -> None:
    command = shop.program.command("impact", "src/token.py")
    _, shown = on_a_terminal(command, shop.path, environment_of(shop.program), columns)
    assert max(cell_len(COLOUR.sub("", line)) for line in shown.splitlines()) <= columns


@pytest.mark.slow
def test_a_long_import_shows_a_bar_on_a_terminal_only(
    graphmem: Any, make_history: Callable[..., Path], tmp_path: Path
) -> None:
    commits = [(f"Change {number}", [f"f{number % 97}.py", f"g{number % 89}.py"]) for number in range(12_000)]
    path = make_history(tmp_path / "long", commits)
    command = graphmem.command("import", "git", path)
    status, shown = on_a_terminal(command, tmp_path, environment_of(graphmem))
    assert status == 0
    assert "Importing" in shown
    assert "12,000 new commits imported" in COLOUR.sub("", shown)


def test_a_program_that_only_says_how_it_is_used_loads_next_to_nothing(graphmem: Any) -> None:
    done = subprocess.run(
        [graphmem.installation.python, "-X", "importtime", "-m", "api", "--help"],
        cwd=graphmem.home.parent,
        env=graphmem.environment(),
        capture_output=True,
        text=True,
    )
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert done.returncode == 0
    assert "click" in loaded
    assert loaded & {"fastapi", "httpx", "pydantic", "uvicorn", "rjieba", "graphmem.memory"} == set()


STEERING = "\x1b[31m\x07\x9b2J\u202e"


@pytest.mark.parametrize(
    "arguments",
    [
        ("--project", f"shop{STEERING}", "impact", "a.py"),
        ("import", "git", f"gone{STEERING}"),
        ("observations", f"id{STEERING}"),
        ("impact", "--limit", f"1{STEERING}", "a.py"),
    ],
)
def test_a_fault_that_repeats_what_was_given_steers_no_terminal(
    shop: Any, arguments: tuple[str, ...]
) -> None:
    command = shop.program.command(*arguments)
    status, shown = on_a_terminal(command, shop.path, environment_of(shop.program, NO_COLOR="1"))
    assert status in {1, 2}
    assert "x1b" in shown, "the character is shown, not sent"
    assert not set(STEERING) & set(shown) - set("[31m2J")


def test_json_on_a_terminal_holds_the_same_data_and_steers_nothing(graphmem: Any, tmp_path: Path) -> None:
    line = {"id": "odd", "title": f"Title {STEERING}", "files_modified": ["a.py"]}
    (tmp_path / "turns.jsonl").write_text(json.dumps(line) + "\n")
    graphmem.good("import", "jsonl", tmp_path / "turns.jsonl")
    command = graphmem.command("observations", "--json")
    status, shown = on_a_terminal(command, tmp_path, environment_of(graphmem))
    assert status == 0
    assert not set(STEERING) & set(shown) - set("[31m2J")
    assert json.loads(shown)["items"][0]["title"] == line["title"]
