"""Owns the service: its composition from guard, routes and memory, and its run in the foreground.

This is a composition root, with `api.lifecycle` for the process around it: it reads the settings,
nothing below does. It is not the command line.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from logging.handlers import RotatingFileHandler
from typing import Any

import uvicorn
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from api import (
    faults,
    routes_capture,
    routes_corpora,
    routes_corroboration,
    routes_edges,
    routes_graph,
    routes_hooks,
    routes_impact,
    routes_imports,
    routes_modules,
    routes_observations,
    routes_projects,
    routes_query,
    routes_retention,
    routes_service,
    routes_sessions,
)
from api.answers import component_schemas, problems
from api.bodies import CaptureIn, ImpactIn, ImportIn, ProjectIn, QueryIn
from api.bodies_corpora import CorpusFilterIn, CorpusIn
from api.bodies_graph import DeclarationIn, VerdictIn, VerdictOnIn
from api.bodies_retention import ObservationVerdictIn, RetentionIn
from api.doorkeeper import Doorkeeper
from api.guard import OPEN_BY_CODE, OPEN_TO_ALL, Guard
from api.imports import Imports
from api.lifecycle import LOG_NAME, listen, refuse_second, service_url
from api.metrics import Counters, Meter
from api.problems import ProblemKind, ProblemOut
from api.settings import Settings
from api.version import running_version
from graphmem import Memory
from graphmem.capture.intake import ObservationIn
from graphmem.clients.roster import ADAPTERS
from graphmem.errors import GraphMemError
from graphmem.home import Home, ServiceRecord
from graphmem.live import Live
from graphmem.ranking_model import RankingModel
from graphmem.redaction import DiscreetFormatter

_DESCRIPTION = (
    "What else changes with this file? Everything but /healthz and /readyz needs the bearer token in the "
    "home's file `token`, or the cookie of `graphmem open`. Errors are problem documents (RFC 9457)."
)
logger = logging.getLogger("graphmem.service")

# Bodies are read by hand, so that the framework doesn't know their shapes.
_INCOMING = (
    ObservationIn,
    ProjectIn,
    CaptureIn,
    ImpactIn,
    QueryIn,
    ImportIn,
    VerdictIn,
    VerdictOnIn,
    DeclarationIn,
    ObservationVerdictIn,
    RetentionIn,
    CorpusIn,
    CorpusFilterIn,
)
_ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM)
# An address may hold a whole task's text: 64 KiB, three times that when it is escaped.
_HEAD_BYTES = 256 * 1024
_GRACEFUL_SECONDS = 4
_GARBAGE = (20_000, 20, 50)
_SWITCH_SECONDS = 0.0005
_IMPORT_SECONDS = 10.0
_LOG_BYTES = 4 * 1024 * 1024


def create_app(
    memory: Memory,
    settings: Settings,
    clock: Callable[[], float] = time.time,
    live: Live | None = None,
) -> FastAPI:
    """Return the application that serves `memory`; `settings.port` is the port really listened on.

    `live` takes the calls of agent clients' hooks; without it they are answered with nothing.
    """
    app = FastAPI(
        title="GraphMem",
        version=running_version(),
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
    )
    started_at = clock()
    counters = Counters(app.version, started_at)
    app.state.memory = memory
    app.state.doorkeeper = Doorkeeper(memory.home.token(), settings.port, clock)
    app.state.counters = counters
    app.state.imports = Imports()
    app.state.live = live
    app.state.hooks_in_turn = asyncio.Lock()
    app.state.started_at = started_at
    app.state.stopping = threading.Event()
    for routes in (
        routes_service,
        routes_projects,
        routes_capture,
        routes_observations,
        routes_sessions,
        routes_impact,
        routes_query,
        routes_corpora,
        routes_retention,
        routes_imports,
        routes_edges,
        routes_graph,
        routes_modules,
        routes_corroboration,
        routes_hooks,
    ):
        app.include_router(routes.router)
    faults.install(app)
    app.add_middleware(Guard, doorkeeper=app.state.doorkeeper)
    app.add_middleware(faults.Boundary)
    app.add_middleware(Meter, counters=counters)
    _describe(app)
    return app


def _describe(app: FastAPI) -> None:
    """Give the OpenAPI document what the framework can't know: bodies read by hand, problems, the guard."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            made = get_openapi(
                title=app.title, version=app.version, description=app.description, routes=app.routes
            )
            components = made.setdefault("components", {})
            schemas = components.setdefault("schemas", {})
            schemas.update(component_schemas(_INCOMING))
            schemas.update(component_schemas([ProblemOut]))
            components["securitySchemes"] = {
                "token": {"type": "http", "scheme": "bearer"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": app.state.doorkeeper.cookie_name},
            }
            made["security"] = [{"token": []}, {"cookie": []}]
            for path in (*OPEN_TO_ALL, OPEN_BY_CODE):
                made["paths"][path]["get"]["security"] = []
            for methods in made["paths"].values():
                for operation in methods.values():
                    _name_problems(operation)
            app.openapi_schema = made
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]


def _name_problems(operation: dict[str, Any]) -> None:
    """Replace the framework's own shape of a refused parameter by the one really sent."""
    refused = operation["responses"].get("422", {})
    if "application/json" in refused.get("content", {}):
        operation["responses"]["422"] = problems(ProblemKind.INVALID, always=())[422]


class Server(uvicorn.Server):
    """The HTTP server; it tells when it takes questions, and passes on at once that it shall end."""

    def __init__(
        self, config: uvicorn.Config, on_started: Callable[[], None], on_ending: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._on_started = on_started
        self._on_ending = on_ending

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to take questions."""
        await super().startup(sockets)
        if self.started:
            self._on_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more questions and finish those that were taken."""
        self._on_ending()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Let SIGTERM and SIGINT end the server, and swallow them: the caller still has to tidy up."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in _ENDING_SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _http(app: FastAPI) -> uvicorn.Config:
    """Return how `app` is spoken to: plain HTTP/1.1, nothing told of the server, logs our own."""
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        http="h11",
        loop="asyncio",
        server_header=False,
        h11_max_incomplete_event_size=_HEAD_BYTES,
        timeout_graceful_shutdown=_GRACEFUL_SECONDS,
    )


def serve(settings: Settings, announce: Callable[[str], None] = lambda sentence: None) -> None:
    """Serve `settings.home` in the foreground until SIGTERM or SIGINT, then leave everything tidy.

    `announce` is told the address once questions are taken.

    Raises:
        ConflictError: a service runs on this home already, or the port is taken.
        HomeError: the home can't be used, or another process holds it.
        StorageError: a file of the memory can't be opened.
    """
    home = Home(settings.home)
    home.prepare()
    refuse_second(home)
    settings.apply()
    # A question lets go of the interpreter at each look into a file; beside work in the background it would
    # wait for it 5 ms, the usual interval, each time again.
    sys.setswitchinterval(_SWITCH_SECONDS)
    with (
        Memory(
            settings.home,
            purpose="serve",
            ignore=settings.ignore,
            max_open=settings.open_graphs,
            rules=settings.retention.rules(),
        ) as memory,
        closing(listen(settings.port)) as listener,
        _log_file(home),
        _live(memory, settings) as live,
    ):
        port: int = listener.getsockname()[1]
        app = create_app(memory, settings.model_copy(update={"port": port}), live=live)
        record = ServiceRecord(pid=os.getpid(), port=port, started_at=app.state.started_at)

        # Beside the first questions it would hold them up for a tenth of a second.
        RankingModel.load()

        def started() -> None:
            # What is loaded by now stays: left out, it no longer makes a collection of garbage take 50 ms.
            gc.collect()
            gc.freeze()
            # The work in memory is large and holds no garbage: it is looked through seldom.
            gc.set_threshold(*_GARBAGE)
            home.write_service(record)
            logger.info("serving %s on port %d", home.path, port)
            announce(f"GraphMem serves {home.path} at {service_url(port)} (Ctrl-C ends it).")

        def ending() -> None:
            app.state.stopping.set()
            app.state.imports.stop()

        try:
            Server(_http(app), started, ending).run(sockets=[listener])
        finally:
            app.state.imports.join(_IMPORT_SECONDS)
            home.remove_service(record.pid)
            logger.info("stopped")


@contextmanager
def _live(memory: Memory, settings: Settings) -> Iterator[Live | None]:
    """Take hook events while the service runs, unless that is switched off."""
    if settings.disabled:
        yield None
        return
    with closing(Live(memory, ADAPTERS, hold=settings.hold)) as live:
        yield live


@contextmanager
def _log_file(home: Home) -> Iterator[None]:
    """Send what the service and its server log into the home's folder while the service runs."""
    handler = RotatingFileHandler(
        home.logs_folder / LOG_NAME, maxBytes=_LOG_BYTES, backupCount=3, encoding="utf-8", delay=True
    )
    handler.setFormatter(DiscreetFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    loggers = [logging.getLogger(name) for name in ("graphmem", "uvicorn")]
    for each in loggers:
        each.addHandler(handler)
        each.setLevel(logging.INFO)
    try:
        yield
    finally:
        for each in loggers:
            each.removeHandler(handler)
        handler.close()


def main() -> int:
    """Run the service of the environment's home, as `graphmem serve --detach` starts it."""
    try:
        serve(Settings.load())
    except GraphMemError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:  # before the server has taken over the signals
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
