"""The home folder: made privately, owned by one process, with one token and the service's record."""

from __future__ import annotations

import json
import os
import resource
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import HomeError
from graphmem.home import Home, HomeLock, LockHolder, ServiceRecord, default_home

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


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


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


def wait_until(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)


# ---- the folder ----------------------------------------------------------------------------------


def test_the_default_home_is_the_users_data_folder_and_not_the_current_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    found = default_home()
    assert found.is_absolute() and found.name == "graphmem"
    assert tmp_path in found.parents and found.parent != tmp_path


def test_a_relative_home_is_made_absolute_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    home = Home("memory")
    monkeypatch.chdir("/")
    assert home.path == tmp_path / "memory"
    assert home.project_folder("p1") == tmp_path / "memory/projects/p1"


def test_folders_are_made_for_their_owner_only_whatever_the_umask(home: Home) -> None:
    before = os.umask(0)
    try:
        home.prepare()
    finally:
        os.umask(before)
    assert [mode(folder) for folder in (home.path, home.projects_folder, home.logs_folder)] == [0o700] * 3


def test_a_folder_that_was_there_keeps_its_mode_and_its_content(home: Home) -> None:
    home.path.mkdir(mode=0o755)
    home.path.chmod(0o755)
    (home.path / "mine.txt").write_text("x")
    home.prepare()
    home.prepare()
    assert mode(home.path) == 0o755
    assert sorted(os.listdir(home.path)) == ["logs", "mine.txt", "projects"]


def test_preparing_leaves_nothing_behind(home: Home) -> None:
    home.prepare()
    assert sorted(os.listdir(home.path)) == ["logs", "projects"]


@pytest.mark.parametrize(
    ("place", "cause"),
    [
        ("file", "not a folder"),
        ("file/below", "not a folder"),
        ("file/far/below", "not a folder"),
        ("dangling", "not a folder"),
        ("n" * 300, "too long"),
        ("/proc/no-such-home", "can't be written to"),
        ("projects-is-a-file", "not a folder"),
    ],
)
def test_a_home_that_cannot_be_made_is_one_sentence_with_a_remedy(
    tmp_path: Path, place: str, cause: str
) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere/at/all")
    (tmp_path / "projects-is-a-file").mkdir()
    (tmp_path / "projects-is-a-file/projects").write_text("x")
    home = Home(tmp_path / place)
    for use in (home.prepare, home.token, lambda: home.lock("serve")):
        with pytest.raises(HomeError, match=cause) as refusal:
            use()
        assert str(home.path) in str(refusal.value)
        assert "; " in str(refusal.value) and str(refusal.value).endswith(".")
        assert str(refusal.value).count(". ") == 0


def test_a_home_without_the_right_to_write_is_refused(tmp_path: Path) -> None:
    """As root the right is always there, so the home is prepared by a child that is nobody."""
    program = (
        "import os, sys\n"
        "from graphmem.errors import HomeError\n"
        "from graphmem.home import Home\n"
        "if os.geteuid() == 0:\n"
        "    os.setgid(65534); os.setuid(65534)\n"
        "for home in sys.argv[1:]:\n"
        "    try:\n"
        "        Home(home).prepare()\n"
        "    except HomeError as refusal:\n"
        "        print(refusal)\n"
    )
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    made = subprocess.run(
        [sys.executable, "-c", program, str(locked), str(locked / "home")],
        capture_output=True,
        text=True,
        check=True,
    )
    sentences = made.stdout.splitlines()
    assert len(sentences) == 2
    assert all("permissions" in sentence and "--home" in sentence for sentence in sentences)


def test_a_full_disk_is_said(home: Home) -> None:
    """A limit on the size of files stands for the full disk: the write itself fails, as it would there."""
    home.prepare()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
        try:
            with pytest.raises(HomeError, match="disk is full; free some space"):
                home.prepare()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
    finally:
        signal.signal(signal.SIGXFSZ, old)


# ---- the lock ------------------------------------------------------------------------------------


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


# ---- the token -----------------------------------------------------------------------------------


def test_the_token_is_made_once_and_for_the_owner_only(home: Home) -> None:
    token = home.token()
    assert len(token) >= 40 and token.isascii() and token == token.strip()
    assert Home(home.path).token() == token == home.token_file.read_text()
    assert mode(home.token_file) == 0o600


def test_two_homes_have_two_tokens(tmp_path: Path) -> None:
    assert Home(tmp_path / "a").token() != Home(tmp_path / "b").token()


def test_processes_that_ask_at_once_get_the_same_token(home: Home) -> None:
    program = "import sys; from graphmem.home import Home; print(Home(sys.argv[1]).token())"
    children = [
        subprocess.Popen([sys.executable, "-c", program, str(home.path)], stdout=subprocess.PIPE, text=True)
        for _ in range(5)
    ]
    tokens = {child.communicate()[0].strip() for child in children}
    assert tokens == {home.token()}


def test_a_token_that_others_can_read_is_closed_to_them(home: Home) -> None:
    token = home.token()
    home.token_file.chmod(0o644)
    assert home.token() == token
    assert mode(home.token_file) == 0o600


def test_an_empty_token_file_is_filled(home: Home) -> None:
    home.prepare()
    home.token_file.write_text("\n")
    assert home.token() == home.token()


def test_a_token_with_a_line_end_from_an_editor_is_the_same(home: Home) -> None:
    token = home.token()
    home.token_file.write_text(token + "\r\n")
    assert home.token() == token


@pytest.mark.parametrize(
    "text", [b"short", b"with a space in the middle", "模块模块模块模块模块".encode(), b"\xff" * 40]
)
def test_what_cannot_be_a_token_is_refused(home: Home, text: bytes) -> None:
    home.prepare()
    home.token_file.write_bytes(text)
    with pytest.raises(HomeError, match="delete it"):
        home.token()


# ---- the service's record ------------------------------------------------------------------------


def test_the_service_record_comes_back(home: Home) -> None:
    assert home.read_service() is None
    record = ServiceRecord(os.getpid(), 7832, 1_767_225_600.5)
    home.write_service(record)
    assert home.read_service() == record
    assert mode(home.service_file) == 0o600
    home.write_service(ServiceRecord(1, 2, 3))
    assert home.read_service() == ServiceRecord(1, 2, 3.0)
    assert sorted(os.listdir(home.path)) == ["logs", "projects", "service.json"]


def test_only_the_own_record_is_taken_away(home: Home) -> None:
    home.write_service(ServiceRecord(17, 7832, 0.0))
    home.remove_service(pid=18)
    assert home.read_service() is not None
    home.remove_service(pid=17)
    home.remove_service(pid=17)
    assert home.read_service() is None
    home.service_file.write_text("rubbish")
    home.remove_service()
    assert not home.service_file.exists()


@given(
    st.one_of(
        st.binary(max_size=60),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.sampled_from(["pid", "port", "started_at", "x"]), inner, max_size=4)
            ),
        ).map(lambda value: json.dumps(value).encode()),
    )
)
def test_any_rubbish_in_the_record_is_no_service_or_a_proper_one(
    tmp_path_factory: pytest.TempPathFactory, raw: bytes
) -> None:
    home = Home(tmp_path_factory.getbasetemp())
    home.service_file.write_bytes(raw)
    record = home.read_service()
    if record is not None:
        assert record.pid > 0 and 0 < record.port < 65_536 and isinstance(record.started_at, float)
        assert type(record.pid) is int and type(record.port) is int
