"""How long the hook program takes from start to exit, beside the bare interpreter.

    python -m bench.hook_speed [--rounds 200]

Every round runs each case once, so that a busy moment meets all alike: `python -I -S -c pass`; the program
with a service that answers with a note, and with nothing; with the service away, an event without texts and
a prompt, both spooled; and switched off. The service is a listener in this process that holds the home's lock
and answers at once: what is measured is the program. Prints medians, their ratios, and 99th percentiles.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.served import percentile
from graphmem import hook_program
from graphmem.home import Home, ServiceRecord

BARE = "python -I -S -c pass"
READ = {
    "session_id": "113a4ec3-8c0f-4d5b-8fd4-7cbfbece074a",
    "transcript_path": "/home/dev/.claude/projects/-home-dev-shop/113a4ec3.jsonl",
    "cwd": "/home/dev/shop",
    "prompt_id": "37fa59a3-69e7-4c9f-b7e1-7021438de33b",
    "hook_event_name": "PostToolUse",
    "tool_name": "Read",
    "tool_input": {"file_path": "/home/dev/shop/src/auth/token.py"},
    "tool_response": {"type": "text", "file": {"content": "ACCESS_TTL = 3600\n" * 300}},
    "tool_use_id": "toolu_0001_0",
}
PROMPT = {
    **{name: READ[name] for name in ("session_id", "transcript_path", "cwd", "prompt_id")},
    "hook_event_name": "UserPromptSubmit",
    "prompt": "Users are logged out after an hour. Shorten the access token and rotate refresh tokens. " * 4,
}
NOTE = json.dumps({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "n" * 600}})


@contextmanager
def served(home: Path, body: str) -> Iterator[None]:
    """Answer every request on a port of its own with `body`, as the service of `home`."""
    answer = f"HTTP/1.1 200 OK\r\ncontent-length: {len(body)}\r\n\r\n{body}".encode()
    owner = Home(home)
    with ExitStack() as opened:
        listener = opened.enter_context(socket.create_server(("127.0.0.1", 0)))
        opened.enter_context(owner.lock("serve"))
        owner.token()
        owner.write_service(ServiceRecord(os.getpid(), listener.getsockname()[1], time.time()))

        def serve() -> None:
            while True:
                with listener.accept()[0] as link:
                    if not link.recv(65_536):
                        return
                    link.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            socket.create_connection(listener.getsockname()).close()
            thread.join()


def took(command: list[str], event: bytes, settings: Mapping[str, str]) -> float:
    """Return the milliseconds from start to exit, and make sure that it went well."""
    begun = time.perf_counter()
    done = subprocess.run(command, input=event, capture_output=True, env=settings, close_fds=False)
    spent = (time.perf_counter() - begun) * 1000
    if done.returncode or done.stderr:
        sys.exit(f"{command}: {done.returncode} {done.stderr!r}")
    return spent


def main() -> None:
    """Run and print one line a case."""
    parser = argparse.ArgumentParser(description="Time the hook program beside the bare interpreter.")
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    settings = {name: value for name, value in os.environ.items() if not name.startswith("GRAPHMEM_")}
    off = settings | {"GRAPHMEM_DISABLED": "1"}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as services:
        homes = {name: Path(folder, name) for name in ("note", "nothing", "away")}
        services.enter_context(served(homes["note"], NOTE))
        services.enter_context(served(homes["nothing"], "{}"))
        program = [sys.executable, "-I", "-S", hook_program.__file__, "claude-code", "--home"]
        cases = {
            BARE: ([sys.executable, "-I", "-S", "-c", "pass"], READ, settings),
            "the service answers with a note": ([*program, str(homes["note"])], READ, settings),
            "the service answers nothing": ([*program, str(homes["nothing"])], READ, settings),
            "away, a read is spooled": ([*program, str(homes["away"])], READ, settings),
            "away, a prompt is spooled": ([*program, str(homes["away"])], PROMPT, settings),
            "switched off": ([*program, str(homes["away"])], READ, off),
        }
        times: dict[str, list[float]] = {name: [] for name in cases}
        for number in range(rounds + 5):
            for name, (command, event, environment) in cases.items():
                spent = took(command, json.dumps(event).encode(), environment)
                if number >= 5:  # the first ones read files from the disk and compile what lies beside
                    times[name].append(spent)
        spooled = (homes["away"] / "spool" / "events.jsonl").read_bytes().count(b'{"id"')
        unwanted = [name for name in ("note", "nothing") if (homes[name] / "spool").exists()]
    if spooled != 2 * (rounds + 5) or unwanted:
        sys.exit(f"{spooled} events were spooled, and at {unwanted} some that the service should have taken.")
    print(f"{'case':34} {'p50 ms':>7} {'p99 ms':>7} {'ratio':>6}")
    bare = percentile(times[BARE], 0.5)
    for name, spent in times.items():
        middle = percentile(spent, 0.5)
        print(f"{name:34} {middle:7.1f} {percentile(spent, 0.99):7.1f} {middle / bare:6.2f}")


if __name__ == "__main__":
    main()
