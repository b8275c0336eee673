"""What an agent waits for its note before an edit, beside an empty route of the same service.

    python -m bench.pre_edit [HISTORY] [--questions 300]

A history of at least 10,000 commits is imported into a real service and promoted. Then, in turn, the route
that says the service lives is asked, which does nothing, and the hook of an edit of a file of the history,
each in a session of its own so that nothing was told before. The event is in the spool before the answer
comes. Printed are both times and their ratio, and how many of the answers were notes.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

from bench.served import DATA_VARIABLE, Served, history_lines, percentile, served


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description="Time the answer before an edit beside an empty route.")
    parser.add_argument("history", nargs="?", help="default: laravel of the public data")
    parser.add_argument("--questions", type=int, default=300)
    arguments = parser.parse_args()
    history = Path(arguments.history or _public())
    with served() as service:
        root = service.folder / "roots" / "shop"
        root.mkdir(parents=True)
        subprocess.run(["git", "init", "--quiet", str(root)], check=True)
        project = service.project("shop")
        report = service.import_jsonl(project, history)
        service.ask("POST", f"{project}/infer", {})
        paths = [file["path"] for line in history_lines(history)[-2_000:] for file in line["files"]]
        asked = random.Random(1).choices(paths, k=arguments.questions + 20)
        empty, hooks, notes = _times(service, root, asked)
        print(f"{report['accepted']} observations, {len(hooks)} edits asked about, {notes} notes")
        for name, times in (("empty route", empty), ("answer before an edit", hooks)):
            p50, p99 = (1_000 * percentile(times, share) for share in (0.5, 0.99))
            print(f"{name:22} p50 {p50:6.2f} ms   p99 {p99:6.2f} ms")
        print(f"p50 {percentile(hooks, 0.5) / percentile(empty, 0.5):.1f} times the empty route")


def _public() -> str:
    data = os.environ.get(DATA_VARIABLE)
    if not data:
        sys.exit(f"Name a history file, or set {DATA_VARIABLE} to the public data's folder.")
    return str(Path(data) / "histories" / "laravel.jsonl.gz")


def _times(service: Served, root: Path, asked: list[str]) -> tuple[list[float], list[float], int]:
    """Return the seconds of both routes, asked in turn after some that warm up, and the notes given."""
    empty, hooks, notes = [], [], 0
    for number, path in enumerate(asked):
        event = {
            "session_id": f"session-{number}",
            "cwd": str(root),
            "hook_event_name": "PreToolUse",
            "tool_name": "Edit",
            "tool_input": {"file_path": f"{root}/{path}"},
            "tool_use_id": f"call-{number}",
        }
        begun = time.perf_counter()
        service.raw("GET", "/healthz")
        between = time.perf_counter()
        _, answer = service.raw("POST", "/hooks/claude-code", event)
        ended = time.perf_counter()
        if number >= 20:
            empty.append(between - begun)
            hooks.append(ended - between)
            notes += bool(json.loads(answer))
    return empty, hooks, notes


if __name__ == "__main__":
    main()
