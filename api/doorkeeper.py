"""Owns what a caller is known by: the token, and what is derived from it (cookie, one-time codes, proof).

It is not the refusal of strangers (that is `api.guard`). It loads no web framework: whoever only wants to
know whether a listener is ours needs nothing else.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable, Iterable
from http.cookies import CookieError, SimpleCookie

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
COOKIE_SECONDS = 30 * 86_400
CODE_SECONDS = 120
_MOST_CODES = 64


class Doorkeeper:
    """Knows the token and what is derived from it: the cookie, one-time codes, and the proof of identity.

    Args:
        token: content of `<home>/token`.
        port: the port listened on, as part of Host, Origin and the cookie's name.
        clock: epoch seconds, for the life of cookies and codes.
    """

    def __init__(self, token: str, port: int, clock: Callable[[], float] = time.time) -> None:
        self._token = token.encode()
        self._clock = clock
        self._codes: dict[str, float] = {}
        self._lock = threading.Lock()
        self.port = port
        # Browsers share cookies between ports of one host: the name keeps two services apart.
        self.cookie_name = f"graphmem-{port}"
        self.hosts = frozenset(_hosts(port))
        self.origins = frozenset(b"http://" + host for host in self.hosts)

    def knows_bearer(self, authorization: bytes) -> bool:
        """Return whether an Authorization header holds the token."""
        scheme, _, credentials = authorization.partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(credentials.strip(), self._token)

    def cookie_value(self) -> str:
        """Return a cookie that is good for 30 days, or until the token changes."""
        expires = str(int(self._clock()) + COOKIE_SECONDS)
        return f"{expires}.{self._signature('cookie', expires)}"

    def knows_cookie(self, header: bytes) -> bool:
        """Return whether a Cookie header holds a cookie this service gave out and that is still good."""
        try:
            morsel = SimpleCookie(header.decode("latin-1")).get(self.cookie_name)
        except CookieError:
            return False
        if morsel is None:
            return False
        expires, _, signature = morsel.value.partition(".")
        if not hmac.compare_digest(signature.encode(), self._signature("cookie", expires).encode()):
            return False
        return int(expires) > self._clock()

    def new_code(self) -> tuple[str, float]:
        """Return a one-time code and the time until which it is good; the oldest go when there are many."""
        code, expires = secrets.token_urlsafe(24), self._clock() + CODE_SECONDS
        with self._lock:
            while len(self._codes) >= _MOST_CODES:
                del self._codes[next(iter(self._codes))]
            self._codes[_digest(code)] = expires
        return code, expires

    def take_code(self, code: str) -> bool:
        """Return whether `code` was given out, is still good and was never used; it is used now."""
        # Looked up by digest, so the time taken tells nothing about the codes themselves.
        with self._lock:
            expires = self._codes.pop(_digest(code), None)
        return expires is not None and expires > self._clock()

    def proof(self, nonce: str) -> str:
        """Return what only a holder of the token can answer to `nonce`."""
        return self._signature("service", nonce)

    def _signature(self, purpose: str, text: str) -> str:
        message = f"graphmem {purpose}: {text}".encode("utf-8", "surrogatepass")
        return hmac.new(self._token, message, hashlib.sha256).hexdigest()


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()


def _hosts(port: int) -> Iterable[bytes]:
    for name in LOOPBACK_NAMES:
        yield f"{name}:{port}".encode()
        if port == 80:
            yield name.encode()
