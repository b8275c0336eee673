"""Recording is switched by project and session, on the command line and over HTTP; init asks on terminals."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from api.backend import Backend
from api.connection import connect


@pytest.fixture(params=["files", "service"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    home = tmp_path / "home" if request.param == "files" else request.getfixturevalue("service").home
    with connect(home) as found:
        yield found


def test_both_ways_to_a_memory_say_and_set_the_same(backend: Backend, tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    slug = backend.register(str(tmp_path / "shop"))["slug"]
    assert backend.captures(slug, None) == {"enabled": True, "session": None}
    assert backend.set_capturing(slug, False, "s-1") == {"enabled": False, "session": "s-1"}
    assert backend.captures(slug, None)["enabled"]
    assert backend.captures(slug, "s-2")["enabled"]
    assert not backend.set_capturing(slug, False, None)["enabled"]
    assert not backend.captures(slug, "s-2")["enabled"]
    assert not backend.set_capturing(slug, True, "s-1")["enabled"], "the project is off all the same"
    assert backend.set_capturing(slug, True, None)["enabled"]
    assert backend.captures(slug, "s-1")["enabled"]


def test_a_switch_outlives_the_program(desk: Any) -> None:
    desk.good("init", "--client", "codex", "--no-import")
    assert desk.good("capture", "off") == {"enabled": False, "session": None}
    assert desk.good("capture") == {"enabled": False, "session": None}
    assert "agents' work is not recorded, `graphmem capture on`" in " ".join(desk("doctor")[1].split())
    assert "is not recorded" in desk("capture")[1]
    assert desk.good("capture", "on") == {"enabled": True, "session": None}
    assert "capture on" not in desk("doctor")[1]
    assert desk.good("capture", "off", "--session", "会话 1") == {"enabled": False, "session": "会话 1"}
    assert desk.good("capture")["enabled"]


@pytest.mark.parametrize("arguments", [("maybe",), ("on", "off"), ("on", "--session", "")])
def test_another_switch_is_wrong_use(desk: Any, arguments: tuple[str, ...]) -> None:
    status, _, err = desk("capture", *arguments)
    assert (status, err.count("\n")) == (2, 1)


def test_a_project_nobody_knows_is_said(desk: Any) -> None:
    status, _, err = desk("capture", "off")
    assert (status, "graphmem import git" in err) == (1, True)


# ---- over HTTP ---------------------------------------------------------------------------------------


def test_http_says_and_sets_it(service: Any, tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    route = f"{service.project(tmp_path / 'shop')}/capture"
    assert service.client.get(route).json() == {"enabled": True, "session": None}
    put = service.client.put(route, json={"enabled": False, "session": "s-1"})
    assert (put.status_code, put.json()) == (200, {"enabled": False, "session": "s-1"})
    assert service.client.get(route, params={"session": "s-1"}).json()["enabled"] is False
    assert service.client.get(route).json()["enabled"] is True


@pytest.mark.parametrize(
    "body",
    [{}, {"enabled": "no"}, {"enabled": 1}, {"enabled": None}, {"enabled": True, "session": ""}, [], "x"],
)
def test_a_body_that_is_no_switch_is_refused(service: Any, tmp_path: Path, body: Any) -> None:
    (tmp_path / "shop").mkdir()
    answer = service.client.put(f"{service.project(tmp_path / 'shop')}/capture", json=body)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"


def test_other_faults_are_problem_documents(service: Any, tmp_path: Path) -> None:
    assert service.client.put("/v1/projects/nowhere/capture", json={"enabled": True}).status_code == 404
    (tmp_path / "shop").mkdir()
    route = f"{service.project(tmp_path / 'shop')}/capture"
    assert service.client.put(route, content=b"{").status_code == 400
    assert service.client.get(f"{route}?as_of=2026-01-01").status_code == 400
    assert service.client.get(f"{route}?session=").status_code == 422
    assert service.client.post(route, json={"enabled": True}).status_code == 405


# ---- on a terminal -----------------------------------------------------------------------------------


def at_a_terminal(program: Any, cwd: Path, typed: bytes, *arguments: str) -> tuple[int, str, str]:
    """Run the program with a terminal as its standard input, on which `typed` is typed."""
    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        program.command(*arguments),
        cwd=cwd,
        env=program.environment(),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    os.close(theirs)
    os.write(ours, typed)
    out, err = running.communicate(timeout=60)
    os.close(ours)
    return running.returncode, out, err


def test_init_asks_on_a_terminal_and_a_no_writes_nothing(
    graphmem: Any, git_repository: Callable[..., Any]
) -> None:
    shop = git_repository("shop").path
    command = ("init", "--client", "codex")
    status, out, err = at_a_terminal(graphmem, shop, b"n\n", *command)
    assert status == 130
    assert "This will be written:" in out
    assert ".codex/hooks.json" in out
    assert "Write this?" in err
    assert not (shop / ".codex").exists()
    assert not graphmem.home.exists()
    status, out, err = at_a_terminal(graphmem, shop, b"\n", *command)
    assert (status, "Write this?" in err) == (0, True)
    assert "1 file written." in out
    assert (shop / ".codex" / "hooks.json").exists()


def test_with_yes_or_json_or_without_a_terminal_it_goes_on(
    graphmem: Any, git_repository: Callable[..., Any]
) -> None:
    shop = git_repository("shop").path
    status, out, err = at_a_terminal(graphmem, shop, b"n\n", "init", "--client", "codex", "--yes")
    assert (status, "Write this?" in err) == (0, False)
    status, out, err = at_a_terminal(graphmem, shop, b"n\n", "init", "--client", "cursor", "--json")
    assert json.loads(out)["files"][0]["action"] == "new file"
    assert graphmem.good("init", "--client", "claude-code", cwd=shop).err == ""
