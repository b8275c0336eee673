"""How long one impact answer takes in the service, beside an empty route of the same service.

    python -m bench.http_impact [HISTORY.jsonl.gz ...] [--questions 1000]

Imports each history, waits until all of it is in the answers and its edges are promoted, then asks about the
files of its last commits (as often as they were changed), and between the questions `/healthz`, on one kept
connection. Prints milliseconds and the ratio of the medians.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from urllib.parse import quote

from bench.served import Served, histories, history_lines, percentile, served

_WARM_UP = 50


def main() -> None:
    """Run and print one line a history."""
    parser = argparse.ArgumentParser(description="Time impact answers over HTTP beside an empty route.")
    parser.add_argument("histories", nargs="*", help="history files; default: the eight of GRAPHMEM_DATA")
    parser.add_argument("--questions", type=int, default=1_000)
    arguments = parser.parse_args()
    files = histories(arguments.histories)
    print(
        f"{'history':12} {'commits':>8} {'ready s':>9} {'p50 ms':>7} {'p99 ms':>7} "
        f"{'empty p50':>10} {'ratio':>6}"
    )
    every: list[float] = []
    empty_all: list[float] = []
    began = time.perf_counter()
    imported = 0.0
    with served() as service:
        for file in files:
            taken, report_line, impact, empty = _measure(service, file, arguments.questions)
            imported += taken
            every += impact
            empty_all += empty
            print(report_line, flush=True)
        print(_line("all", "", imported, every, empty_all))
        seconds = time.perf_counter() - began
        print(f"service: {service.resident_bytes() / 1e6:.0f} MB resident after {seconds:.0f} s")


def _measure(service: Served, file: Path, questions: int) -> tuple[float, str, list[float], list[float]]:
    lines = history_lines(file)
    name = file.name.partition(".")[0]
    project = service.project(name)
    began = time.perf_counter()
    report = service.import_jsonl(project, file)
    service.ask("POST", f"{project}/infer")
    taken = time.perf_counter() - began
    paths = [entry["path"] for line in reversed(lines) for entry in line["files"] if entry["status"] != "D"]
    paths = paths[: questions // 2] + paths[:: max(1, len(paths) // (questions // 2))][: questions // 2]
    impact: list[float] = []
    empty: list[float] = []
    warm_up = paths[:_WARM_UP]
    for number, path in enumerate(warm_up + paths):
        for route, times in ((f"{project}/impact?path={quote(path, safe='')}", impact), ("/healthz", empty)):
            start = time.perf_counter()
            status, _ = service.raw("GET", route)
            if status != 200:
                raise SystemExit(f"{route}: {status}")
            if number >= len(warm_up):
                times.append(1_000 * (time.perf_counter() - start))
    return taken, _line(name, str(report["accepted"]), taken, impact, empty), impact, empty


def _line(name: str, commits: str, taken: float, impact: list[float], empty: list[float]) -> str:
    p50, p99, none = percentile(impact, 0.5), percentile(impact, 0.99), percentile(empty, 0.5)
    return f"{name:12} {commits:>8} {taken:9.1f} {p50:7.2f} {p99:7.2f} {none:10.2f} {p50 / none:5.1f}x"


if __name__ == "__main__":
    main()
