"""The hold on a home: one living process has it, and others are told which."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from graphmem.errors import HomeError
from graphmem.home import Home, HomeLock, LockHolder

HOLD = """
import sys
from graphmem.home import Home
lock = Home(sys.argv[1]).lock(sys.argv[2])
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def start_holder(home: Home, purpose: str) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(home.path), purpose],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    return child


def end(child: subprocess.Popen[str]) -> None:
    child.kill()
    child.communicate()


def test_a_second_process_is_told_who_holds_the_home(home: Home) -> None:
    child = start_holder(home, "serve")
    try:
        with pytest.raises(HomeError) as refusal:
            home.lock("import")
        assert f"process {child.pid} (serve)" in str(refusal.value)
        assert "graphmem stop" in str(refusal.value)
        assert home.holder() == LockHolder(child.pid, "serve")
    finally:
        end(child)


def test_the_lock_of_a_killed_process_is_free(home: Home) -> None:
    child = start_holder(home, "serve")
    end(child)
    assert home.holder() is None
    with home.lock("serve") as lock:
        assert lock.held
        assert home.holder() == LockHolder(os.getpid(), "serve")


def test_one_process_cannot_hold_a_home_twice(home: Home) -> None:
    with home.lock("serve"), pytest.raises(HomeError, match="this process itself"):
        Home(home.path).lock("import")


def test_a_released_home_can_be_taken_again(home: Home) -> None:
    lock = home.lock("first")
    lock.release()
    lock.release()
    assert not lock.held and home.holder() is None
    home.lock("second").release()


def test_waiting_ends_when_the_holder_leaves(home: Home) -> None:
    child = start_holder(home, "import")
    taken: list[HomeLock] = []
    waiter = threading.Thread(target=lambda: taken.append(home.lock("serve", wait=30)))
    waiter.start()
    try:
        assert child.stdin is not None
        assert not taken
        child.stdin.close()
        waiter.join(30)
        assert len(taken) == 1
        taken[0].release()
    finally:
        child.wait()
        assert child.stdout is not None
        child.stdout.close()


def test_a_child_made_by_fork_does_not_keep_the_home(home: Home) -> None:
    lock = home.lock("serve")
    reader, writer = os.pipe()
    # A fork by a separate, single-threaded process would not have the lock, so the test forks itself.
    child = os.fork()
    if child == 0:
        os.close(writer)
        os.read(reader, 1)
        os._exit(0 if not lock.held else 1)
    try:
        assert lock.held
        lock.release()
        home.lock("again").release()
    finally:
        os.close(writer)
        os.close(reader)
        _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_a_started_program_does_not_keep_the_home(home: Home) -> None:
    with home.lock("serve"):
        child = subprocess.Popen(
            [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE, close_fds=False
        )
    try:
        home.lock("again").release()
        assert child.poll() is None
    finally:
        child.kill()
        child.communicate()


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"pid": "x"}', b"\xff\xfe", b"9" * 5000])
def test_a_lock_file_full_of_rubbish_is_no_hindrance(home: Home, text: bytes) -> None:
    home.prepare()
    home.lock_file.write_bytes(text)
    assert home.holder() is None
    with home.lock("serve"):
        home.lock_file.write_bytes(text)
        with pytest.raises(HomeError, match="another process"):
            home.lock("import")


def test_a_look_at_the_lock_never_keeps_anybody_out(home: Home) -> None:
    home.prepare()
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            home.holder()

    lookers = [threading.Thread(target=look) for _ in range(2)]
    for looker in lookers:
        looker.start()
    try:
        for _ in range(50):
            home.lock("serve").release()
    finally:
        done.set()
        for looker in lookers:
            looker.join()
    assert home.holder() is None


def test_of_many_processes_one_gets_the_home(home: Home) -> None:
    program = (
        "import sys\n"
        "from graphmem.errors import HomeError\n"
        "from graphmem.home import Home\n"
        "sys.stdin.readline()\n"
        "try:\n"
        "    lock = Home(sys.argv[1]).lock('race')\n"
        "    print('held', flush=True)\n"
        "except HomeError:\n"
        "    print('refused', flush=True)\n"
        "sys.stdin.read()\n"
    )
    children = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(home.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(5)
    ]
    answers = []
    try:
        for child in children:
            assert child.stdin is not None
            child.stdin.write("go\n")
            child.stdin.flush()
        for child in children:
            assert child.stdout is not None
            answers.append(child.stdout.readline().strip())
    finally:
        for child in children:
            child.communicate()
    assert sorted(answers) == ["held"] + ["refused"] * 4


def test_locking_and_looking_leave_no_descriptor_open(home: Home) -> None:
    home.lock("warm-up").release()
    before = set(os.listdir("/dev/fd"))
    for _ in range(20):
        with home.lock("serve"):
            home.holder()
        home.token()
        home.read_service()
    assert len(os.listdir("/dev/fd")) == len(before)
