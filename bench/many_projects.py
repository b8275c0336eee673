"""Whether one service can hold many projects: memory while the graphs of all are asked in turn.

    python -m bench.many_projects [--projects 200] [--rounds 2]

Each project is given the story of the demo; then each is asked in turn what depends on a file, what is in
its first module, and for its overview, which opens its graph and closes the one asked longest ago. Prints
what an answer takes from a graph that has to be opened, and how much memory the service holds.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from bench.served import Served, percentile, served

_STORY = Path(__file__).resolve().parents[1] / "fixtures" / "story" / "observations.jsonl"
_FILE = "src/auth/token.ts"


def main() -> None:
    """Run and print memory and times."""
    parser = argparse.ArgumentParser(description="Serve many projects in turn and watch the memory.")
    parser.add_argument("--projects", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    with served() as service:
        began = time.perf_counter()
        projects = []
        for number in range(arguments.projects):
            projects.append(service.project(f"shop-{number:03}"))
            service.import_jsonl(projects[-1], _STORY)
        seconds = time.perf_counter() - began
        print(f"{len(projects)} projects imported in {seconds:.0f} s, {_resident(service)} MB resident")
        for number in range(arguments.rounds):
            times = [_ask(service, project) for project in projects]
            p50, p99 = percentile(times, 0.5), percentile(times, 0.99)
            took = f"p50 {p50:.0f} ms, p99 {p99:.0f} ms a project"
            print(f"round {number + 1}: {took}, {_resident(service)} MB resident", flush=True)


def _ask(service: Served, project: str) -> float:
    """Ask what opens the project's graph; return the milliseconds that the first answer took."""
    start = time.perf_counter()
    found = service.ask("GET", f"{project}/dependents", node=_FILE)
    taken = 1_000 * (time.perf_counter() - start)
    if found["degraded"] is not None or not found["likely"] + found["possible"]:
        raise SystemExit(f"{project}: {found}")
    modules = service.ask("GET", f"{project}/modules")["items"]
    if not service.ask("GET", f"{project}/modules/{modules[0]['id']}")["members"]:
        raise SystemExit(f"{project}: a module without members")
    service.ask("GET", f"{project}/overview")
    return taken


def _resident(service: Served) -> str:
    return f"{service.resident_bytes() / 1e6:.0f}"


if __name__ == "__main__":
    main()
