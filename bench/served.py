"""Owns what the benchmarks over HTTP share: a real service on a home of its own, and a lean client.

It is not a benchmark. The client is the standard library's, on one kept connection: what is measured is the
service, not a client.
"""

from __future__ import annotations

import gzip
import http.client
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from api.lifecycle import LOOPBACK, start_detached, stop
from graphmem.home import Home

DATA_VARIABLE = "GRAPHMEM_DATA"
THE_EIGHT = ("flask", "httpx", "claude-mem", "graphiti", "scrapy", "caddy", "ripgrep", "fastapi")


@dataclass(slots=True)
class Served:
    """A running service: its process and a connection that carries the token."""

    pid: int
    folder: Path
    connection: http.client.HTTPConnection
    headers: dict[str, str]

    def raw(self, method: str, route: str, body: object = None) -> tuple[int, bytes]:
        """Ask, and return status and body."""
        content = None if body is None else json.dumps(body).encode()
        self.connection.request(method, route, content, self.headers)
        answer = self.connection.getresponse()
        return answer.status, answer.read()

    def ask(self, method: str, route: str, body: object = None, **parameters: Any) -> Any:
        """Ask, and return the JSON of a good answer; anything else ends the benchmark."""
        given = {name: value for name, value in parameters.items() if value is not None}
        status, content = self.raw(method, f"{route}?{urlencode(given)}" if given else route, body)
        if status >= 400:
            sys.exit(f"{method} {route}: {status} {content[:500]!r}")
        return json.loads(content)

    def project(self, name: str) -> str:
        """Register an empty folder of that name and return the project's path."""
        root = self.folder / "roots" / name
        root.mkdir(parents=True, exist_ok=True)
        return f"/v1/projects/{self.ask('POST', '/v1/projects', {'root': str(root)})['slug']}"

    def import_jsonl(self, project: str, file: Path) -> Mapping[str, Any]:
        """Import a history through the service and return the report once questions see all of it."""
        status, content = self.raw(
            "POST", f"{project}/imports", {"source": "jsonl", "location": str(file.absolute())}
        )
        last = json.loads(content.splitlines()[-1])
        if status >= 400 or "report" not in last:
            sys.exit(f"{file}: {last}")
        while self.ask("GET", f"{project}/stats")["behind"]:
            self.ask("POST", f"{project}/observations?wait=visible", [])
        report: Mapping[str, Any] = last["report"]
        return report

    def resident_bytes(self) -> int:
        """Return the service's resident memory (0 where the system does not tell)."""
        try:
            pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        except OSError:
            return 0
        return pages * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def served() -> Iterator[Served]:
    """Start a service on a temporary home and end it afterwards."""
    with tempfile.TemporaryDirectory(prefix="graphmem-bench-") as folder:
        home = Home(Path(folder) / "home")
        record = start_detached(home, 0)
        connection = http.client.HTTPConnection(LOOPBACK, record.port, timeout=600)
        headers = {"Authorization": f"Bearer {home.token()}", "Content-Type": "application/json"}
        try:
            yield Served(record.pid, Path(folder), connection, headers)
        finally:
            connection.close()
            stop(home)


def histories(named: list[str]) -> list[Path]:
    """Return the named history files, or the eight of the public data."""
    if named:
        return [Path(name) for name in named]
    data = os.environ.get(DATA_VARIABLE)
    if not data:
        sys.exit(f"Name history files, or set {DATA_VARIABLE} to the public data's folder.")
    return [Path(data) / "histories" / f"{name}.jsonl.gz" for name in THE_EIGHT]


def history_lines(file: Path) -> list[dict[str, Any]]:
    """Return the lines of a history, plain or gzip."""
    content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    return [json.loads(line) for line in content.splitlines()]


def percentile(values: list[float], share: float) -> float:
    """Return the smallest value that `share` of all values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
