"""Whatever goes wrong, the program says one sentence with the remedy and ends with a status that tells."""

from __future__ import annotations

import os
import resource
import signal
import socket
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory


def test_a_reader_that_has_seen_enough_is_no_fault(shop: Any) -> None:
    running = subprocess.Popen(
        shop.program.command("observations", "--limit", "200", "--json"),
        cwd=shop.path,
        env=shop.program.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="platform: needs /dev/full")
@pytest.mark.parametrize("arguments", [("projects", "--json"), ("projects",), ("--help",), ("doctor",)])
def test_an_answer_that_cant_be_written_is_a_sentence(graphmem: Any, arguments: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            graphmem.command(*arguments),
            env=graphmem.environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 1
    assert "disk is full" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_disk_that_is_full_while_importing_loses_nothing_stored(graphmem: Any, shop: Any) -> None:
    def little_room() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))

    done = subprocess.run(
        graphmem.command("import", "git", shop.path),
        # The measuring of coverage would find no room either, and say so.
        env=graphmem.environment(COVERAGE_PROCESS_CONFIG=None),
        capture_output=True,
        text=True,
        preexec_fn=little_room,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "full" in done.stderr.lower()
    graphmem.good("import", "git", shop.path)
    assert graphmem.good("stats", "--json", cwd=shop.path).shape["observations"] == 22


@pytest.mark.parametrize(
    "question", [("projects",), ("stats",), ("import", "git", "."), ("serve",), ("demo", "--keep")]
)
def test_a_home_that_is_a_file_is_a_sentence(
    graphmem: Any, shop: Any, tmp_path: Path, question: tuple[str, ...]
) -> None:
    taken = tmp_path / "taken"
    taken.write_text("mine", encoding="utf-8")
    outcome = graphmem(*question, "--home", taken, cwd=shop.path)
    assert (outcome.status, outcome.out, outcome.err.count("\n")) == (1, "", 1)
    assert str(taken) in outcome.err
    assert "--home" in outcome.err
    assert taken.read_text(encoding="utf-8") == "mine"


@pytest.mark.skipif(os.geteuid() == 0, reason="platform: the superuser may write anywhere")
def test_a_home_that_cant_be_written_is_a_sentence(graphmem: Any, shop: Any, tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(mode=0o500)
    outcome = graphmem("import", "git", "--home", tmp_path / "locked" / "home", cwd=shop.path)
    assert (outcome.status, outcome.err.count("\n")) == (1, 1)


def test_a_home_in_use_by_another_process_names_it(graphmem: Any) -> None:
    with Memory(graphmem.home, purpose="test"):
        outcome = graphmem("projects")
    assert (outcome.status, outcome.out) == (1, "")
    assert str(os.getpid()) in outcome.err


def test_a_current_folder_that_is_gone_is_a_sentence(graphmem: Any, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    done = subprocess.run(
        ["sh", "-c", 'rmdir "$PWD"; exec "$0" stats', graphmem.installation.script],
        cwd=gone,
        env=graphmem.environment(),
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "no longer exists" in done.stderr


def test_a_journal_of_a_newer_version_is_left_alone(
    graphmem: Any, shop: Any, git_repository: Callable[..., Any]
) -> None:

    repository = git_repository("newer")
    repository.touch("Begin", "a.py")
    graphmem.good("import", "git", cwd=repository.path)
    (journal,) = (graphmem.home / "projects").glob("*/journal.db")
    connection = sqlite3.connect(journal)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    outcome = graphmem("stats", cwd=repository.path)
    assert (outcome.status, outcome.out) == (1, "")
    assert "newer" in outcome.err
    examined = graphmem("doctor", "--json")
    assert examined.status == 1
    assert [check["name"] for check in examined.shape["checks"] if check["outcome"] == "problem"] == [
        "project newer"
    ]


def test_a_configuration_that_is_no_toml_is_a_sentence(graphmem: Any) -> None:
    graphmem.home.mkdir()
    (graphmem.home / "config.toml").write_text("port = = 3", encoding="utf-8")
    outcome = graphmem("projects")
    assert (outcome.status, outcome.out) == (1, "")
    assert "config.toml" in outcome.err


def test_a_port_in_the_environment_that_is_none_is_a_sentence(graphmem: Any) -> None:
    outcome = graphmem("status", environment={"GRAPHMEM_PORT": "eighty"})
    assert (outcome.status, outcome.out, outcome.err.count("\n")) == (1, "", 1)
    assert "GRAPHMEM_PORT" in outcome.err


def test_a_taken_port_is_a_sentence(graphmem: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for detach in ((), ("--detach",)):
            outcome = graphmem("serve", *detach, "--port", str(taken.getsockname()[1]))
            assert (outcome.status, outcome.out, outcome.err.count("\n")) == (1, "", 1)
            assert str(taken.getsockname()[1]) in outcome.err


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_screen_that_knows_few_letters_gets_the_rest_escaped(
    graphmem: Any, shop: Any, encoding: str
) -> None:
    done = subprocess.run(
        shop.program.command("impact", "src/token.py"),
        cwd=shop.path,
        env=shop.program.environment(PYTHONIOENCODING=encoding, COLUMNS="80"),
        capture_output=True,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert ("模块" if encoding == "utf-8" else "\\u6a21\\u5757") in done.stdout.decode(encoding)
