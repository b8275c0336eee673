"""Owns the JSON shapes in which the service speaks of itself: that it lives, is ready, signs a browser in.

It is not what it knows of projects (that is `api.schemas`).
"""

from __future__ import annotations

from typing import Literal

from api.schemas import Instant, Shape


class ServiceOut(Shape):
    """What `/healthz` says: who listens here. `proof` is there when a `nonce` was sent."""

    status: Literal["ok"] = "ok"
    service: Literal["graphmem"] = "graphmem"
    version: str
    pid: int
    started_at: Instant
    proof: str | None = None


class ReadyOut(Shape):
    """What `/readyz` says: questions are taken."""

    status: Literal["ready", "stopping"]


class SignInLinkOut(Shape):
    """A one-time link that signs the browser in; good until `expires_at`, once."""

    url: str
    expires_at: Instant
