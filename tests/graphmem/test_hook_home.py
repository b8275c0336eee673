"""The hook program and its home: switched off, where it is, what it makes there, what can't be written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphmem import hook_program
from graphmem.home import default_home

PROGRAM = hook_program.__file__
CLIENTS = {"claude-code": "", "codex": "", "cursor": "{}"}
PROMPT = {
    "session_id": "s-1",
    "cwd": "/home/dev/shop",
    "hook_event_name": "UserPromptSubmit",
    "prompt_id": "p-1",
    "prompt": "Shorten the access token",
}


# ---- switched off, homes -----------------------------------------------------------------------


@pytest.mark.parametrize("value", ["1", "true", "TRUE", "yes"])
@pytest.mark.parametrize(("name", "empty"), CLIENTS.items())
def test_switched_off_it_says_nothing_and_leaves_nothing(
    client: Any, value: str, name: str, empty: str
) -> None:
    client.environment["GRAPHMEM_DISABLED"] = value
    assert client.fires(PROMPT, name) == (0, empty, "")
    assert not client.home.exists()


@pytest.mark.parametrize("value", ["", "0", "false"])
def test_other_values_do_not_switch_it_off(client: Any, value: str) -> None:
    client.environment["GRAPHMEM_DISABLED"] = value
    client.fires(PROMPT)
    assert len(client.spooled()) == 1


@pytest.mark.parametrize(
    "settings",
    [
        {"XDG_DATA_HOME": "/srv/data"},
        {"XDG_DATA_HOME": ""},
        {"XDG_DATA_HOME": "relative/place"},
        {"XDG_DATA_HOME": " /srv/padded "},
        {"HOME": "/home/somebody"},
    ],
)
def test_the_default_home_is_the_one_the_service_has(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, str]
) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert os.path.expanduser(hook_program._default_home()) == str(default_home())


def test_the_home_of_the_environment_counts_where_none_is_named(client: Any) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", PROGRAM, "codex"],
        input=json.dumps(PROMPT).encode(),
        capture_output=True,
        env=os.environ | {"GRAPHMEM_HOME": str(client.home)},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert [entry["client"] for entry in client.spooled()] == ["codex"]


def test_what_it_makes_is_readable_by_the_owner_only(client: Any) -> None:
    client.fires(PROMPT)
    client.fires(b"no event")
    modes = {
        str(path.relative_to(client.home)): oct(path.stat().st_mode & 0o777)
        for path in client.home.rglob("*")
    }
    assert modes == {
        "logs": "0o700",
        "logs/hook.log": "0o600",
        "spool": "0o700",
        "spool/events.jsonl": "0o600",
    }


def file_in_the_way(home: Path) -> Path:
    home.write_text("a file")
    return home


def folder_without_rights(home: Path) -> Path:
    home.mkdir(0o500)
    return Path("/proc/graphmem") if os.getuid() == 0 else home  # nothing forbids root to write


@pytest.mark.parametrize("make", [file_in_the_way, folder_without_rights])
@pytest.mark.parametrize(("name", "empty"), CLIENTS.items())
def test_a_home_that_can_not_be_written_to_is_no_reason_to_speak(
    client: Any, make: Callable[[Path], Path], name: str, empty: str
) -> None:
    client.home = make(client.home)
    for event in (PROMPT, PROMPT | {"hook_event_name": "SessionStart"}, b"no event"):
        assert client.fires(event, name) == (0, empty, "")


def test_a_full_disk_is_no_reason_to_speak(client: Any) -> None:
    assert client.fires(PROMPT, "cursor", shell="ulimit -f 0") == (0, "{}", "")
    assert client.spooled() == []


def test_the_log_is_bounded(client: Any) -> None:
    client.fires(b"no event")
    log = client.home / "logs" / "hook.log"
    log.write_bytes(b"x" * (1 << 20))
    client.fires(b"no event")
    assert log.with_name("hook.log.1").stat().st_size > 1 << 20
    client.fires(b"no event")
    assert len(client.logged()) == 1


@pytest.mark.parametrize(("name", "empty"), CLIENTS.items())
def test_a_current_folder_that_is_gone_is_no_reason_to_be_mute(
    client: Any, tmp_path: Path, name: str, empty: str
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    leave = f"cd '{gone}'; rmdir '{gone}'"
    assert client.fires(PROMPT, name, shell=leave) == (0, empty, "")
    assert len(client.spooled()) == 1
    gone.mkdir()
    assert client.fires(PROMPT, name, "--home", "relative/home", shell=leave) == (0, empty, "")
    assert len(client.spooled()) == 1
