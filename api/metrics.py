"""Owns the few counters of the service and their Prometheus text form.

It is not the statistics of a project (those are stored and asked at `/stats`): these begin with the process.
"""

from __future__ import annotations

import threading
import time
from collections import Counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})


class Counters:
    """What the service counts while it runs; safe to share between threads."""

    def __init__(self, version: str, started_at: float) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._seconds: Counter[str] = Counter()
        self._answers: Counter[str] = Counter()
        self._observations: Counter[str] = Counter()
        self._version = version
        self._started_at = started_at

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request by its route's template."""
        with self._lock:
            self._requests[method if method in _METHODS else "other", route, status] += 1
            self._answers[route] += 1
            self._seconds[route] += seconds  # type: ignore[assignment]

    def observations(self, accepted: int, duplicates: int, rejected: int) -> None:
        """Count what came in."""
        with self._lock:
            self._observations.update(accepted=accepted, duplicate=duplicates, rejected=rejected)

    def text(self, projects: int) -> str:
        """Return all counters in the text format Prometheus reads."""
        with self._lock:
            requests = sorted(self._requests.items())
            seconds, answers = dict(self._seconds), dict(self._answers)
            observations = sorted(self._observations.items())
        lines = [
            *_family("graphmem_info", "gauge", "The running version."),
            f'graphmem_info{{version="{_label(self._version)}"}} 1',
            *_family("graphmem_start_time_seconds", "gauge", "When the service started, in epoch seconds."),
            f"graphmem_start_time_seconds {self._started_at:.3f}",
            *_family("graphmem_projects", "gauge", "Registered projects."),
            f"graphmem_projects {projects}",
            *_family(
                "graphmem_observations_total", "counter", "Observations received, by what became of them."
            ),
            *(f'graphmem_observations_total{{result="{_label(name)}"}} {n}' for name, n in observations),
            *_family("graphmem_requests_total", "counter", "Answered requests."),
            *(
                f'graphmem_requests_total{{method="{method}",route="{_label(route)}",status="{status}"}} {n}'
                for (method, route, status), n in requests
            ),
            *_family("graphmem_request_seconds", "summary", "Time from request to the end of the answer."),
        ]
        for route in sorted(answers):
            name = _label(route)
            lines.append(f'graphmem_request_seconds_sum{{route="{name}"}} {seconds[route]:.6f}')
            lines.append(f'graphmem_request_seconds_count{{route="{name}"}} {answers[route]}')
        return "\n".join(lines) + "\n"


def _family(name: str, kind: str, help_text: str) -> tuple[str, str]:
    return f"# HELP {name} {help_text}", f"# TYPE {name} {kind}"


def _label(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


class Meter:
    """The middleware that counts every answer, refusals and faults included."""

    def __init__(self, app: ASGIApp, counters: Counters) -> None:
        self._app = app
        self._counters = counters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and count its answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        status = 0

        async def noted_send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noted_send)
        finally:
            route = getattr(scope.get("route"), "path", "none")
            self._counters.request(scope["method"], route, status, time.perf_counter() - began)
