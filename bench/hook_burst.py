"""Whether live capture keeps up, and keeps everything: a burst of hook calls, and a service that is killed.

    python -m bench.hook_burst [HISTORY] [--events 1000] [--sessions 20] [--seconds 5]
    python -m bench.hook_burst --events 10000 --kills 5

Without `--kills` the calls go to a real service over HTTP, all sessions at once, on a project with a history
behind it; printed is what an agent waits before an edit meanwhile. A session rests between two calls, as an
agent does while its model thinks, so that the burst takes about `--seconds`; with 0 every session sends as
fast as it is answered, which is the most the service can do. With `--kills` every call is a run of the
real hook program, the service is killed so often in between and started anew. Either way what is recorded is
compared with what was sent, turn by turn: lost are changed files that are in no observation of their turn,
doubled are observations of one turn that there are two of.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from api.lifecycle import LOOPBACK, find_service, start_detached
from bench.hook_stream import Stream, streams
from bench.served import Served, history_lines, percentile, served
from graphmem import hook_program
from graphmem.errors import ConflictError, UnavailableError
from graphmem.home import Home

_CLIENT = "claude-code"
_SETTLED_SECONDS = 60.0
_WORKERS = 6


def main() -> None:
    """Run, print, and end with a status that says whether anything was lost or doubled."""
    parser = argparse.ArgumentParser(description="Send a burst of hook calls and account for every one.")
    parser.add_argument("history", nargs="?", help="a history file, so that there is something to tell")
    parser.add_argument("--events", type=int, default=1_000)
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--kills", type=int, default=0)
    arguments = parser.parse_args()
    with served() as service:
        root = service.folder / "roots" / "shop"
        root.mkdir(parents=True)
        subprocess.run(["git", "init", "--quiet", str(root)], check=True)
        project = service.project("shop")
        shared: tuple[str, ...] = ()
        if arguments.history:
            service.import_jsonl(project, Path(arguments.history))
            service.ask("POST", f"{project}/infer", {})
            shared = _busiest(Path(arguments.history))
        made = streams(str(root), arguments.sessions, arguments.events, shared)
        count = sum(len(stream.calls) for stream in made)
        began = time.perf_counter()
        waits = (
            _send(service, made, arguments.seconds)
            if not arguments.kills
            else _send_and_kill(service, made, arguments.kills)
        )
        seconds = time.perf_counter() - began
        print(f"{count} events of {len(made)} sessions in {seconds:.1f} s ({count / seconds:.0f} a second)")
        if waits:
            p50, p99 = (1_000 * percentile(waits, share) for share in (0.5, 0.99))
            print(f"answer before an edit: p50 {p50:.1f} ms, p99 {p99:.1f} ms ({len(waits)} of them)")
        service.connection.close()  # it rested for longer than the service keeps one
        lost, doubled = _account(service, project, made)
        print(f"lost {lost}, doubled {doubled}")
    sys.exit(1 if lost or doubled else 0)


def _busiest(history: Path) -> tuple[str, ...]:
    counted = Counter(file["path"] for line in history_lines(history) for file in line["files"])
    return tuple(path for path, _ in counted.most_common(50))


# ---- a burst ------------------------------------------------------------------------------------


def _send(service: Served, made: Sequence[Stream], seconds: float) -> list[float]:
    """Send all sessions at once, each in its order; return the seconds each answer before an edit took."""
    rest = threading.Event()
    waits: list[float] = []
    port = service.connection.port

    def run(stream: Stream) -> None:
        connection = http.client.HTTPConnection(LOOPBACK, port, timeout=60)
        pause = random.Random(stream.session)
        for call in stream.calls:
            rest.wait(pause.uniform(0.0, 2.0) * seconds / len(stream.calls))  # agents do not march in step
            body = json.dumps(call.event)
            start = time.perf_counter()
            connection.request("POST", f"/hooks/{_CLIENT}", body, service.headers)
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                raise SystemExit(f"{call.event['hook_event_name']}: {answer.status}")
            if call.is_pre_edit:
                waits.append(time.perf_counter() - start)
        connection.close()

    with ThreadPoolExecutor(len(made)) as pool:
        list(pool.map(run, made))
    return waits


# ---- a service that dies ------------------------------------------------------------------------


def _send_and_kill(service: Served, made: Sequence[Stream], kills: int) -> list[float]:
    """Send each call by the hook program, killing the service evenly in between; return no times."""
    home = Home(service.folder / "home")
    program = [sys.executable, "-I", "-S", hook_program.__file__, _CLIENT, "--home", str(home.path)]
    total = sum(len(stream.calls) for stream in made)
    sent = 0
    lock = threading.Lock()
    revivals: list[threading.Thread] = []
    marks = {total * (number + 1) // (kills + 1) for number in range(kills)}

    def run(stream: Stream) -> None:
        nonlocal sent
        for call in stream.calls:
            done = subprocess.run(program, input=json.dumps(call.event).encode(), capture_output=True)
            if done.returncode or done.stderr:
                raise SystemExit(f"the hook program ended with {done.returncode}: {done.stderr!r}")
            with lock:
                sent += 1
                kill = sent in marks
            if kill:
                revivals.append(_kill(home))

    with ThreadPoolExecutor(_WORKERS) as pool:
        list(pool.map(run, made))
    for revival in revivals:
        revival.join()
    record = find_service(home, 5.0) or start_detached(home, 0)
    service.pid = record.pid
    service.connection.close()
    service.connection = http.client.HTTPConnection(LOOPBACK, record.port, timeout=600)
    return []


def _kill(home: Home) -> threading.Thread:
    """Kill the service, if one runs; return the thread that starts it anew."""
    record = home.read_service()
    if record is not None:
        os.kill(record.pid, signal.SIGKILL)
        print(f"killed process {record.pid}", flush=True)
    # What comes meanwhile waits in the spool; a new session's first hook would start it just so.
    revival = threading.Thread(target=_revive, args=(home,), daemon=True)
    revival.start()
    return revival


def _revive(home: Home) -> None:
    threading.Event().wait(1.0)
    with suppress(ConflictError, UnavailableError):  # a session's first hook was quicker
        start_detached(home, 0)


# ---- the account --------------------------------------------------------------------------------


def _account(service: Served, project: str, made: Sequence[Stream]) -> tuple[int, int]:
    """Return how many changed files are missing, and how many observations are there too often."""
    until = time.monotonic() + _SETTLED_SECONDS
    while True:
        lost, doubled = _compare(service, project, made)
        if not lost or time.monotonic() > until:
            return lost, doubled
        threading.Event().wait(0.5)


def _compare(service: Served, project: str, made: Sequence[Stream]) -> tuple[int, int]:
    lost = doubled = 0
    for stream in made:
        found: dict[str, list[set[str]]] = {}
        cursor = None
        while True:
            page = service.ask(
                "GET", f"{project}/observations", session=stream.session, limit=200, cursor=cursor
            )
            for item in page["items"]:
                found.setdefault(item["title"], []).append(set(item["files_modified"]))
            cursor = page["next_cursor"]
            if cursor is None:
                break
        for title, files in stream.turns.items():
            kept = found.get(title, [])
            changed = [path for one in kept for path in one]
            lost += len(files - set(changed))
            doubled += len(changed) - len(set(changed))
    return lost, doubled


if __name__ == "__main__":
    main()
