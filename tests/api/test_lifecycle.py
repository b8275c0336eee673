"""The service as a process: started once, found by proof, ended cleanly, never waited for without an end."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from api import lifecycle
from api.lifecycle import ServiceState, find_service, start_detached, status, stop
from api.settings import Settings
from graphmem import Memory
from graphmem.errors import ConflictError, InvalidInputError, UnavailableError
from graphmem.home import Home, ServiceRecord

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    found = Home(tmp_path / "home")
    found.prepare()
    return found


@pytest.fixture
def detached(home: Home) -> Iterator[Callable[[], ServiceRecord]]:
    """A starter of a detached service that ends it again."""
    yield lambda: start_detached(home, 0)
    stop(home)


class Listener:
    """A program on a port that is not ours: it answers every connection with `answer`, or with silence."""

    def __init__(self, answer: bytes | None, drip: float = 0.0) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._answer, self._drip = answer, drip
        self._open: list[socket.socket] = []
        self._ended = threading.Event()
        self.received: list[bytes] = []
        self.port: int = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self._open.append(connection)
            if self._answer is not None:
                self.received.append(connection.recv(4_096))
                threading.Thread(target=self._speak, args=(connection,), daemon=True).start()

    def _speak(self, connection: socket.socket) -> None:
        assert self._answer is not None
        try:
            if not self._drip:
                connection.sendall(self._answer)
                connection.close()
            while self._drip and not self._ended.wait(self._drip):
                connection.sendall(b"x")
        except OSError:
            return

    def close(self) -> None:
        self._ended.set()
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for connection in self._open:
            connection.close()
        self._thread.join(5)


@pytest.fixture
def listener() -> Iterator[Callable[..., Listener]]:
    started: list[Listener] = []

    def start(answer: bytes | None = None, drip: float = 0.0) -> Listener:
        started.append(Listener(answer, drip))
        return started[-1]

    yield start
    for each in started:
        each.close()


def run_service(home: Path, port: int = 0) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "api.service"],
        env=dict(os.environ, GRAPHMEM_HOME=str(home), GRAPHMEM_PORT=str(port), PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
        timeout=60,
    )


def is_one_sentence(text: str) -> bool:
    return text.count("\n") == 1 and text.endswith(".\n") and "Traceback" not in text


def test_a_detached_service_answers_and_is_ended(home: Home, detached: Callable[[], ServiceRecord]) -> None:
    record = detached()
    assert find_service(home) == record
    found = status(home)
    assert (found.state, found.url) == (ServiceState.RUNNING, f"http://127.0.0.1:{record.port}")
    assert str(record.pid) in found.sentence
    assert stop(home).record == record
    assert status(home).state is ServiceState.STOPPED
    assert not home.service_file.exists()
    assert home.holder() is None
    with Memory(home.path):
        assert home.holder() is not None


def test_a_detached_service_does_not_hang_on_its_starter(home: Home, tmp_path: Path) -> None:
    code = (
        "from api.lifecycle import start_detached; from graphmem.home import Home; import sys;"
        "print(start_detached(Home(sys.argv[1]), 0).pid)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, str(home.path)],
        env=dict(os.environ, PYTHONPATH=str(ROOT)),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    try:
        assert done.returncode == 0, done.stderr
        assert find_service(home, 5) is not None
        assert os.getsid(int(done.stdout)) == int(done.stdout)
    finally:
        stop(home)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_status_0_and_leaves_nothing_open(
    start_service: Any, tmp_path: Path, number: signal.Signals
) -> None:
    service = start_service()
    project = service.project(tmp_path / "left")
    service.client.post(f"{project}/observations", json={"id": "kept", "title": "kept"})
    service.process.send_signal(number)
    assert service.process.wait(20) == 0
    assert not (service.home / "service.json").exists()
    assert not list(service.home.rglob("*-wal")), "a journal was not closed"
    assert "Traceback" not in (service.home / "output.txt").read_text()
    with Memory(service.home) as memory:
        assert memory.project(project.rpartition("/")[2]).observation("kept").title == "kept"


def test_what_was_acknowledged_survives_a_kill(start_service: Any, tmp_path: Path) -> None:
    service = start_service()
    project = service.project(tmp_path / "killed")
    for number in range(20):
        assert service.client.post(
            f"{project}/observations", json={"id": f"k{number}", "title": "x"}
        ).is_success
    service.process.kill()
    service.process.wait(20)
    assert (service.home / "service.json").exists()
    again = start_service(service.home)
    for number in range(20):
        assert again.client.get(f"{project}/observations/k{number}").status_code == 200


def test_open_connections_and_half_sent_requests_do_not_hold_up_the_end(start_service: Any) -> None:
    service = start_service()
    address = ("127.0.0.1", service.port)
    half = (
        f"POST /v1/projects HTTP/1.1\r\nHost: 127.0.0.1:{service.port}\r\n"
        f"Authorization: Bearer {service.token}\r\n"
        "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    )
    with socket.create_connection(address) as mute, socket.create_connection(address) as slow:
        slow.sendall(half.encode())
        assert service.client.get("/healthz").is_success
        began = time.monotonic()
        assert service.end() == 0
        assert time.monotonic() - began < 15
        mute.settimeout(5)
        assert mute.recv(1) == b""


def test_a_second_service_on_the_same_home_says_who_has_it(service: Any) -> None:
    done = run_service(service.home)
    assert done.returncode == 1
    assert is_one_sentence(done.stderr)
    assert str(service.process.pid) in done.stderr
    assert "graphmem stop" in done.stderr
    assert service.client.get("/healthz").is_success
    with pytest.raises(ConflictError, match="already runs"):
        start_detached(Home(service.home), 0)


def test_a_home_held_by_another_process_is_named(home: Home) -> None:
    with Memory(home.path, purpose="import"):
        done = run_service(home.path)
        assert done.returncode == 1
        assert is_one_sentence(done.stderr)
        assert f"{os.getpid()} (import)" in done.stderr
        found = status(home)
        assert found.state is ServiceState.BUSY
        assert str(os.getpid()) in found.sentence
        assert stop(home).state is ServiceState.BUSY
        with pytest.raises(UnavailableError, match="in use"):
            start_detached(home, 0)


def test_a_taken_port_is_a_clear_sentence(home: Home, listener: Callable[..., Listener]) -> None:
    taken = listener()
    done = run_service(home.path, taken.port)
    assert done.returncode == 1
    assert is_one_sentence(done.stderr)
    assert f"Port {taken.port} is taken" in done.stderr
    assert "--port" in done.stderr
    assert not home.service_file.exists()
    assert home.holder() is None
    with pytest.raises(UnavailableError, match="is taken"):
        start_detached(home, taken.port)


def test_five_started_at_once_are_one_service(home: Home) -> None:
    outcomes: list[ServiceRecord | Exception] = []

    def start() -> None:
        try:
            outcomes.append(start_detached(home, 0))
        except (ConflictError, UnavailableError) as error:
            outcomes.append(error)

    threads = [threading.Thread(target=start) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    try:
        records = [outcome for outcome in outcomes if isinstance(outcome, ServiceRecord)]
        assert len(outcomes) == 5
        assert len(records) == 1
        assert find_service(home, 5) == records[0]
    finally:
        stop(home)


FOREIGN_ANSWERS = [
    b"",
    b"HTTP/1.1 200 OK\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n\r\n{}",
    b"HTTP/1.1 200 OK\r\n\r\n" + b"[" * 60_000,
    b'HTTP/1.1 200 OK\r\n\r\n{"service": "graphmem", "pid": %d, "proof": "00"}',
    b'HTTP/1.1 200 OK\r\n\r\n{"service": "graphmem", "pid": %d, "proof": "\xc3\xa9"}',
    b'HTTP/1.1 200 OK\r\n\r\n{"service": "graphmem", "pid": %d, "proof": null}',
    b"SSH-2.0-OpenSSH_9.6\r\n",
    b"x" * 200_000,
]


@pytest.mark.parametrize("answer", FOREIGN_ANSWERS)
def test_another_program_on_the_port_is_not_taken_for_ours(
    home: Home, listener: Callable[..., Listener], answer: bytes
) -> None:
    other = listener(answer.replace(b"%d", str(os.getpid()).encode()))
    token = home.token()
    home.write_service(ServiceRecord(pid=os.getpid(), port=other.port, started_at=time.time()))
    assert find_service(home) is None
    assert status(home).state is ServiceState.STOPPED
    assert stop(home).state is ServiceState.STOPPED
    assert other.received
    assert all(token.encode() not in request for request in other.received)


@pytest.mark.parametrize("drip", [0.0, 0.05])
def test_a_mute_or_dripping_listener_holds_nobody_up(
    home: Home, listener: Callable[..., Listener], drip: float
) -> None:
    other = listener(b"x" if drip else None, drip)
    home.token()
    home.write_service(ServiceRecord(pid=os.getpid(), port=other.port, started_at=time.time()))
    for question in (find_service, status, stop):
        began = time.monotonic()
        question(home)
        assert time.monotonic() - began < 4


def test_a_stale_record_of_a_dead_process_is_no_service_and_no_hindrance(
    home: Home, start_service: Any
) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    home.token()
    home.write_service(ServiceRecord(pid=dead.pid, port=9, started_at=1.0))
    assert find_service(home) is None
    assert stop(home).state is ServiceState.STOPPED
    service = start_service(home.path)
    found = find_service(home, 5)
    assert found is not None
    assert found.pid == service.process.pid


def test_a_record_whose_process_number_went_to_somebody_else_kills_nobody(home: Home, service: Any) -> None:
    bystander = subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE
    )
    try:
        home.token()
        home.write_service(ServiceRecord(pid=bystander.pid, port=service.port, started_at=1.0))
        assert find_service(home) is None
        assert stop(home).state is ServiceState.STOPPED
        assert bystander.poll() is None
    finally:
        bystander.communicate(b"")


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "null", '{"pid": 1}', '{"pid": "x", "port": 1, "started_at": 0}', "\x00" * 50]
)
def test_a_damaged_record_is_no_service_and_no_hindrance(home: Home, content: str) -> None:
    home.token()
    home.service_file.write_text(content)
    assert find_service(home) is None
    assert status(home).state is ServiceState.STOPPED


def test_the_service_of_another_home_is_not_ours(home: Home, service: Any) -> None:
    home.token()
    home.write_service(ServiceRecord(pid=service.process.pid, port=service.port, started_at=1.0))
    assert find_service(home) is None


def test_a_stopped_process_is_given_up_on_in_time(start_service: Any) -> None:
    service = start_service()
    home = Home(service.home)
    service.process.send_signal(signal.SIGSTOP)
    try:
        began = time.monotonic()
        assert status(home).state is ServiceState.BUSY
        with pytest.raises(UnavailableError, match=str(service.process.pid)):
            stop(home, deadline=0.5)
        assert time.monotonic() - began < 6
    finally:
        service.process.send_signal(signal.SIGCONT)
    assert service.process.wait(20) == 0


def test_questions_are_no_longer_taken_while_it_ends(start_service: Any) -> None:
    service = start_service()
    assert service.client.get("/readyz").json() == {"status": "ready"}
    service.process.terminate()
    service.process.wait(20)
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", service.port)) != 0


def test_the_log_is_kept_in_the_home_and_holds_no_token(start_service: Any) -> None:
    service = start_service()
    service.client.get("/v1/projects")
    service.end()
    log = (service.home / "logs" / "service.log").read_text()
    assert str(service.port) in log
    assert "stopped" in log
    assert service.token not in log


def test_the_home_can_be_anywhere_with_any_name(start_service: Any, tmp_path: Path) -> None:
    service = start_service(tmp_path / "Größe 用户 'x' %20")
    assert service.client.get("/v1/projects").status_code == 200


def test_an_argument_beats_the_environment_and_that_the_file(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Settings.load(home.path).port == 7832
    home.config_file.write_text('port = 9001\nsomething_else = "kept"\n')
    assert Settings.load(home.path).port == 9001
    monkeypatch.setenv("GRAPHMEM_PORT", "9002")
    assert Settings.load(home.path).port == 9002
    assert Settings.load(home.path, 9003).port == 9003
    monkeypatch.setenv("GRAPHMEM_HOME", str(home.path))
    assert Settings.load().home == home.path
    assert Settings.load(home.path / "other").home == home.path / "other"


@pytest.mark.parametrize(
    "content", ["port = 'x'", "port = 70000", "port = -1", "port = ", "\x00", "port = []"]
)
def test_a_setting_that_cannot_be_used_is_named(home: Home, content: str) -> None:
    home.config_file.write_text(content)
    with pytest.raises(InvalidInputError, match=r"config\.toml"):
        Settings.load(home.path)
    done = run_service_without_port(home.path)
    assert done.returncode == 1
    assert is_one_sentence(done.stderr)


def run_service_without_port(home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "api.service"],
        env=dict(os.environ, GRAPHMEM_HOME=str(home), PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_healthz_says_who_it_is(service: Any) -> None:
    found = service.client.get("/healthz", params={"nonce": "n"}).json()
    record = json.loads((service.home / "service.json").read_text())
    assert (found["status"], found["service"]) == ("ok", "graphmem")
    assert found["pid"] == record["pid"] == service.process.pid
    assert len(found["proof"]) == 64
    assert service.client.get("/healthz", params={"nonce": "m"}).json()["proof"] != found["proof"]
    assert service.client.get("/healthz").json()["proof"] is None
    assert service.client.get("/healthz", params={"nonce": "n" * 201}).status_code == 422


def test_small_answers_do_not_wait_for_the_client_to_acknowledge() -> None:
    with lifecycle.listen(0) as listener, socket.create_connection(listener.getsockname()) as client:
        accepted, _ = listener.accept()
        with accepted:
            # What asyncio goes by when it switches the delay off; without it an answer takes 40 ms.
            assert accepted.proto == socket.IPPROTO_TCP
            assert client.proto in {0, socket.IPPROTO_TCP}
