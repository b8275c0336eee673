"""The hook program as clients run it: a file of its own, a real socket, a home whose lock is really held."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from graphmem import hook_program
from graphmem.home import Home, ServiceRecord

PROGRAM = hook_program.__file__
CLIENTS = {"claude-code": "", "codex": "", "cursor": "{}"}
PROMPT = {
    "session_id": "s-1",
    "cwd": "/home/dev/shop",
    "hook_event_name": "UserPromptSubmit",
    "prompt_id": "p-1",
    "prompt": "Shorten the access token",
}
ANSWER = b'{"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "a note"}}'
Behaviour = Callable[[socket.socket, bytes], None]


@dataclass(slots=True)
class Service:
    """What stands outside the program: a listener on a real port that treats every request alike."""

    port: int
    requests: list[bytes]
    connections: list[object]

    def headers(self) -> dict[str, str]:
        (request,) = self.requests
        lines = request.partition(b"\r\n\r\n")[0].decode().split("\r\n")
        return {"": lines[0]} | dict(line.split(": ", 1) for line in lines[1:])

    def body(self) -> bytes:
        return self.requests[0].partition(b"\r\n\r\n")[2]


def answers(body: bytes, status: str = "200 OK") -> Behaviour:
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return lambda link, _: link.sendall(head.encode() + body)


def whole_request(link: socket.socket) -> bytes:
    received = b""
    while chunk := link.recv(65_536):
        received += chunk
        head, ended, body = received.partition(b"\r\n\r\n")
        length = re.search(rb"Content-Length: (\d+)", head)
        if ended and length is not None and len(body) >= int(length[1]):
            break
    return received


@pytest.fixture
def over() -> Iterator[threading.Event]:
    """Set when the test is over, so that a listener that hangs by intent goes away."""
    ended = threading.Event()
    yield ended
    ended.set()


@pytest.fixture
def listening(over: threading.Event) -> Iterator[Callable[[Behaviour], Service]]:
    """A starter of listeners with a behaviour; nothing of them is left after the test."""
    with ExitStack() as opened:

        def start(behaviour: Behaviour) -> Service:
            listener = opened.enter_context(socket.create_server(("127.0.0.1", 0)))
            service = Service(listener.getsockname()[1], [], [])

            def serve() -> None:
                while True:
                    try:
                        link, peer = listener.accept()
                    except OSError:
                        return
                    with link:
                        if over.is_set():
                            return
                        service.connections.append(peer)
                        try:
                            service.requests.append(whole_request(link))
                            behaviour(link, service.requests[-1])
                        except OSError:
                            continue

            thread = threading.Thread(target=serve)
            thread.start()

            def end() -> None:
                over.set()
                with socket.create_connection(("127.0.0.1", service.port)):
                    thread.join()

            opened.callback(end)
            return service

        yield start


@pytest.fixture
def serving(
    client: Any, listening: Callable[[Behaviour], Service]
) -> Iterator[Callable[[Behaviour], Service]]:
    """A listener that holds the client's home as the service does."""
    with ExitStack() as opened:

        def start(behaviour: Behaviour) -> Service:
            service, home = listening(behaviour), Home(client.home)
            opened.enter_context(home.lock("serve"))
            home.token()
            home.write_service(ServiceRecord(os.getpid(), service.port, time.time()))
            return service

        yield start


# ---- the service answers -----------------------------------------------------------------------


@pytest.mark.parametrize("name", CLIENTS)
def test_the_services_answer_is_printed_as_it_came_and_nothing_is_spooled(
    client: Any, serving: Callable[[Behaviour], Service], name: str
) -> None:
    serving(answers(ANSWER))
    assert client.fires(PROMPT, name) == (0, ANSWER.decode(), "")
    assert client.spooled() == []
    assert client.logged() == []


@pytest.mark.parametrize("body", [b"{}", b" { } "])
@pytest.mark.parametrize(("name", "empty"), CLIENTS.items())
def test_an_answer_that_says_nothing_becomes_the_clients_own_way_to_say_nothing(
    client: Any, serving: Callable[[Behaviour], Service], name: str, empty: str, body: bytes
) -> None:
    serving(answers(body))
    assert client.fires(PROMPT, name) == (0, empty, "")
    assert client.spooled() == []


def test_the_event_is_sent_as_it_came_with_the_token_an_id_and_the_time(
    client: Any, serving: Callable[[Behaviour], Service]
) -> None:
    service, before = serving(answers(ANSWER)), time.time()
    raw = b' {"hook_event_name":"PreToolUse", "tool_input": {"content": "kept"} }\n'
    client.fires(raw)
    headers = service.headers()
    assert headers[""] == "POST /hooks/claude-code HTTP/1.1"
    assert headers["Host"] == f"127.0.0.1:{service.port}"
    assert headers["Authorization"] == f"Bearer {Home(client.home).token()}"
    assert headers["Connection"] == "close"
    assert re.fullmatch("[0-9a-f]{32}", headers["X-GraphMem-Event"])
    assert before - 1 <= float(headers["X-GraphMem-At"]) <= time.time() + 1
    assert "X-GraphMem-Reduced" not in headers
    assert service.body() == raw


def test_a_large_event_is_reduced_before_it_is_sent(
    client: Any, serving: Callable[[Behaviour], Service]
) -> None:
    service = serving(answers(ANSWER))
    done = client.fires(PROMPT | {"tool_input": {"file_path": "/a.py", "content": "x" * 300_000}})
    assert done == (0, ANSWER.decode(), "")
    assert service.headers()["X-GraphMem-Reduced"] == "1"
    assert json.loads(service.headers()["X-GraphMem-Redacted"]) == {}
    assert json.loads(service.body()) == PROMPT | {"tool_input": {"file_path": "/a.py"}}


# ---- the service is no help --------------------------------------------------------------------


def drip(over: threading.Event) -> Behaviour:
    def behave(link: socket.socket, _: bytes) -> None:
        for byte in b"HTTP/1.1 200 OK\r\ncontent-length: 3000\r\n\r\n" + b" " * 3000:
            link.sendall(bytes([byte]))
            if over.wait(0.01):
                return

    return behave


BEHAVIOURS: dict[str, Callable[[threading.Event], Behaviour]] = {
    "mute": lambda over: lambda link, _: over.wait(20) and None,
    "dripping": drip,
    "closes at once": lambda _: lambda link, _: link.close(),
    "500": lambda _: answers(ANSWER, "500 Internal Server Error"),
    "401": lambda _: answers(b"{}", "401 Unauthorized"),
    "no http": lambda _: lambda link, _: link.sendall(b"220 mail.example.com ESMTP\r\n"),
    "no json": lambda _: answers(b"<html>hello</html>"),
    "half an object": lambda _: answers(ANSWER[:-2]),
    "a list": lambda _: answers(b"[1, 2]"),
    "less than promised": lambda _: (
        lambda link, _: link.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n" + ANSWER)
    ),
    "in chunks": lambda _: (
        lambda link, _: link.sendall(
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n"
            % (len(ANSWER), ANSWER)
        )
    ),
    "huge": lambda _: answers(b'{"a": "' + b"x" * 5_000_000 + b'"}'),
    "not text": lambda _: answers(b'{"a": "\xff\xfe"}'),
}


@pytest.mark.parametrize("name", ["claude-code", "cursor"])
@pytest.mark.parametrize("kind", BEHAVIOURS)
def test_a_service_that_is_no_help_costs_the_client_nothing_and_the_event_is_spooled(
    client: Any,
    serving: Callable[[Behaviour], Service],
    over: threading.Event,
    kind: str,
    name: str,
) -> None:
    service = serving(BEHAVIOURS[kind](over))
    # On a machine that is too busy the time may be over first; the deadline goes before the event then.
    for _ in range(9):
        service.requests.clear()
        assert client.fires(PROMPT, name) == (0, CLIENTS[name], "")
        if client.spooled():
            break
    (entry,) = client.spooled()
    assert entry["client"] == name
    assert entry["event"] == PROMPT
    assert entry["id"] == service.headers()["X-GraphMem-Event"]
    assert entry["at"] == float(service.headers()["X-GraphMem-At"])
    assert client.logged()
    assert PROMPT["prompt"] not in "".join(client.logged())


def test_a_port_where_nobody_listens_is_no_service(
    client: Any, serving: Callable[[Behaviour], Service]
) -> None:
    serving(answers(ANSWER))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    Home(client.home).write_service(ServiceRecord(os.getpid(), port, time.time()))
    assert client.fires(PROMPT, "cursor") == (0, "{}", "")
    assert [entry["event"] for entry in client.spooled()] == [PROMPT]


@pytest.mark.parametrize("held", ["by nobody", "by another process than the record's"])
def test_a_stranger_on_the_port_is_sent_nothing(
    client: Any, listening: Callable[[Behaviour], Service], held: str
) -> None:
    stranger, home = listening(answers(ANSWER)), Home(client.home)
    home.token()
    home.write_service(ServiceRecord(os.getpid() + 1, stranger.port, time.time()))
    lock = home.lock("import")
    if held == "by nobody":
        lock.release()
    with lock:
        assert client.fires(PROMPT) == (0, "", "")
    assert stranger.connections == []
    assert [entry["event"] for entry in client.spooled()] == [PROMPT]


@pytest.mark.parametrize("record", [b"", b"{", b"[]", b'{"pid": "x", "port": []}', b'{"port": 99999999999}'])
def test_a_record_that_is_none_means_that_the_service_is_away(client: Any, record: bytes) -> None:
    home = Home(client.home)
    home.token()
    home.service_file.write_bytes(record)
    with home.lock("serve"):
        assert client.fires(PROMPT) == (0, "", "")
    assert len(client.spooled()) == 1


# ---- what the client sends is no help ----------------------------------------------------------


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"  \n",
        b"not json",
        json.dumps(PROMPT).encode()[:-9],
        b"[1, 2]",
        b'"text"',
        b"{} {}",
        b"\xff\xfe{}",
        b'{"a":' * 100_000,
        b"[" * 100_000,
        b'{"session_id": "' + b"x" * 30_000_000 + b'"}',
    ],
    ids=["empty", "blank", "words", "cut", "list", "text", "two", "bytes", "deep", "deeper", "30 MB"],
)
@pytest.mark.parametrize(("name", "empty"), CLIENTS.items())
def test_what_is_no_event_is_left_out_with_one_line_in_the_log(
    client: Any, raw: bytes, name: str, empty: str
) -> None:
    assert client.fires(raw, name) == (0, empty, "")
    assert client.spooled() == []
    assert len(client.logged()) == 1


def test_values_of_wrong_types_are_dropped_and_the_rest_is_kept(client: Any) -> None:
    event = {
        "session_id": 5,
        "cwd": ["a"],
        "hook_event_name": "NoSuchEvent",
        "prompt": {"a": 1},
        "prompt_id": "p-1",
        "tool_input": "text",
        "tool_response": [None],
        "workspace_roots": {"a": "b"},
        "ok": "yes",
    }
    assert client.fires(event) == (0, "", "")
    (entry,) = client.spooled()
    assert entry["event"]["hook_event_name"] == "NoSuchEvent"
    assert entry["event"]["prompt_id"] == "p-1"
    assert not {"session_id", "prompt", "tool_input", "ok", "tool_response"} & set(entry["event"])


@pytest.mark.parametrize("name", ["", "no-such-client", "../claude-code", "Claude-Code\r\nX: y"])
def test_an_unknown_client_gets_nothing(client: Any, name: str) -> None:
    assert client.fires(PROMPT, name) == (0, "", "")
    assert client.spooled() == []
    (logged,) = client.logged()
    assert "client" in logged


def test_without_arguments_nothing_happens(client: Any) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", PROGRAM],
        input=b"{}",
        capture_output=True,
        env=os.environ | {"GRAPHMEM_HOME": str(client.home)},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize(
    ("sent", "spooled"), [(b'{"session_id": "s', []), (json.dumps(PROMPT).encode(), [PROMPT])]
)
def test_an_input_that_is_never_closed_ends_too(
    client: Any, sent: bytes, spooled: list[dict[str, Any]]
) -> None:
    with subprocess.Popen(
        client.command("cursor"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        process.stdin.write(sent)
        process.stdin.flush()
        assert process.wait(20) == 0
        assert process.stdout.read() == b"{}"
        assert process.stderr.read() == b""
    assert [entry["event"] for entry in client.spooled()] == spooled
    assert len(client.logged()) == 1 - len(spooled)


@pytest.mark.parametrize(
    ("closed", "printed", "kept"), [("<&-", "{}", 0), (">&-", "", 1), ("2>&-", "{}", 1), (">&- 2>&-", "", 1)]
)
def test_a_stream_that_is_closed_from_the_start_spoils_no_file(
    client: Any, closed: str, printed: str, kept: int
) -> None:
    assert client.fires(PROMPT, "cursor", shell=f"exec {closed}") == (0, printed, "")
    assert [entry["event"] for entry in client.spooled()] == [PROMPT] * kept
    assert all(text.endswith("is left out") for text in client.logged())


def test_an_input_that_does_not_wait_is_waited_for(client: Any) -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    with subprocess.Popen(client.command("cursor"), stdin=reading, stdout=subprocess.PIPE) as process:
        os.close(reading)
        os.write(writing, json.dumps(PROMPT).encode())
        os.close(writing)
        assert process.communicate(timeout=20)[0] == b"{}"
    assert [entry["event"] for entry in client.spooled()] == [PROMPT]


def test_a_byte_order_mark_before_the_event_does_no_harm(client: Any) -> None:
    client.fires(b"\xef\xbb\xbf" + json.dumps(PROMPT).encode())
    assert [entry["event"] for entry in client.spooled()] == [PROMPT]
