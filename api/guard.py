"""Owns who may ask: Host and Origin checks on every route, the token or the signed-in cookie on nearly all.

Pure ASGI, so that nothing of a stranger's request is read before it is refused. It is not TLS and not roles:
the service listens on the loopback only, and one token opens everything.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from api.doorkeeper import Doorkeeper
from api.faults import problem_response
from api.problems import Problem, ProblemKind

OPEN_TO_ALL = frozenset({"/healthz", "/readyz"})
OPEN_BY_CODE = "/open"
_SAME_SITE_FETCHES = (b"same-origin", b"none")

Headers = dict[bytes, bytes]


class Guard:
    """The middleware that refuses strangers with a problem document before anything else happens."""

    def __init__(self, app: ASGIApp, doorkeeper: Doorkeeper) -> None:
        self._app = app
        self._doorkeeper = doorkeeper

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with the refusal."""
        match scope["type"]:
            case "lifespan":
                await self._app(scope, receive, send)
            case "http":
                problem = self._refusal(scope)
                if problem is None:
                    await self._app(scope, receive, send)
                else:
                    await problem_response(problem)(scope, receive, send)
            case _:
                # There are no web sockets here: refuse the handshake.
                await send({"type": "websocket.close", "code": 1008, "reason": "no web sockets here"})

    def _refusal(self, scope: Scope) -> Problem | None:
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        origins = [value for name, value in scope["headers"] if name == b"origin"]
        headers: Headers = dict(scope["headers"])
        keeper = self._doorkeeper
        if len(hosts) != 1 or hosts[0].lower() not in keeper.hosts:
            return Problem(
                ProblemKind.FOREIGN,
                f"This service answers only to 127.0.0.1:{keeper.port}, localhost:{keeper.port} and "
                f"[::1]:{keeper.port}: use one of them in the address.",
            )
        if not keeper.origins.issuperset(origin.lower() for origin in origins):
            return Problem(
                ProblemKind.FOREIGN,
                "A page of another origin may not ask this service: use the service's own pages.",
            )
        path = scope["path"]
        if path in OPEN_TO_ALL or path == OPEN_BY_CODE or self._is_signed_in(headers):
            return None
        return Problem(
            ProblemKind.SIGNED_OUT,
            "This route needs `Authorization: Bearer <content of the home's file token>`, "
            "or a browser signed in by `graphmem open`.",
        )

    def _is_signed_in(self, headers: Headers) -> bool:
        authorization = headers.get(b"authorization")
        if authorization is not None:
            return self._doorkeeper.knows_bearer(authorization)
        cookie = headers.get(b"cookie")
        if cookie is None:
            return False
        # A page on another port of this host counts as the same site, so a strict cookie comes along with
        # its requests; browsers say so in this header.
        if headers.get(b"sec-fetch-site", b"none") not in _SAME_SITE_FETCHES:
            return False
        return self._doorkeeper.knows_cookie(cookie)
