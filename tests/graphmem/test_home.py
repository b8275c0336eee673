"""The home folder: made privately, with one token and the service's record."""

from __future__ import annotations

import json
import os
import resource
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import HomeError
from graphmem.home import Home, ServiceRecord, default_home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


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


def test_a_user_without_a_home_folder_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    program = (
        "import os\n"
        "from graphmem.errors import HomeError\n"
        "from graphmem.home import default_home\n"
        "if os.geteuid() == 0:\n"
        "    os.setgid(54321); os.setuid(54321)\n"
        "    del os.environ['HOME']\n"
        "else:\n"
        "    os.environ['HOME'] = 'nowhere'\n"
        "try:\n"
        "    print(default_home())\n"
        "except HomeError as refusal:\n"
        "    print('refused:', refusal)\n"
    )
    child = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert child.stdout.startswith("refused:") and "--home" in child.stdout


def test_an_empty_home_is_not_the_current_folder() -> None:
    with pytest.raises(HomeError, match="empty"):
        Home("")
