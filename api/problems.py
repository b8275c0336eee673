"""Owns the problem documents (RFC 9457): what goes wrong, by kind, with its status and its sentence.

It is not the HTTP handlers that send them (those are in `api.faults`) nor the guard that refuses strangers;
the command line uses the same kinds to say what happened. `type` is a URN that names the kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus

from pydantic import Field

from api.schemas import FieldErrorOut, Shape
from graphmem.errors import (
    ConflictError,
    GraphMemError,
    HomeError,
    InvalidInputError,
    NotFoundError,
    SourceError,
    StorageError,
    UnavailableError,
    UnknownNameError,
)
from graphmem.model import FieldProblem

MEDIA_TYPE = "application/problem+json"
_URN = "urn:graphmem:problem:"


class ProblemKind(StrEnum):
    """The kinds of problem; the value is the last part of the document's `type`."""

    BAD_REQUEST = "bad-request"
    NOT_HONOURED = "parameter-not-honoured"
    UNKNOWN_NAME = "unknown-name"
    SIGNED_OUT = "not-signed-in"
    FOREIGN = "foreign-host-or-origin"
    NOT_FOUND = "not-found"
    METHOD = "method-not-allowed"
    CONFLICT = "conflict"
    TOO_LARGE = "too-large"
    MEDIA_TYPE = "unsupported-media-type"
    INVALID = "invalid-input"
    SOURCE = "source-not-readable"
    FAULT = "internal-fault"
    HOME = "home-not-usable"
    UNAVAILABLE = "unavailable"
    STORAGE = "storage"
    OTHER = "other"

    @property
    def status(self) -> int:
        """The HTTP status of this kind."""
        return _STATUS[self].value

    @property
    def heading(self) -> str:
        """The kind in a few words, the same each time."""
        return _TITLE.get(self, _STATUS[self].phrase)


_STATUS: Mapping[ProblemKind, HTTPStatus] = {
    ProblemKind.BAD_REQUEST: HTTPStatus.BAD_REQUEST,
    ProblemKind.NOT_HONOURED: HTTPStatus.BAD_REQUEST,
    ProblemKind.UNKNOWN_NAME: HTTPStatus.BAD_REQUEST,
    ProblemKind.SIGNED_OUT: HTTPStatus.UNAUTHORIZED,
    ProblemKind.FOREIGN: HTTPStatus.FORBIDDEN,
    ProblemKind.NOT_FOUND: HTTPStatus.NOT_FOUND,
    ProblemKind.METHOD: HTTPStatus.METHOD_NOT_ALLOWED,
    ProblemKind.CONFLICT: HTTPStatus.CONFLICT,
    ProblemKind.TOO_LARGE: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    ProblemKind.MEDIA_TYPE: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    ProblemKind.INVALID: HTTPStatus.UNPROCESSABLE_ENTITY,
    ProblemKind.SOURCE: HTTPStatus.UNPROCESSABLE_ENTITY,
    ProblemKind.FAULT: HTTPStatus.INTERNAL_SERVER_ERROR,
    ProblemKind.HOME: HTTPStatus.INTERNAL_SERVER_ERROR,
    ProblemKind.OTHER: HTTPStatus.INTERNAL_SERVER_ERROR,
    ProblemKind.UNAVAILABLE: HTTPStatus.SERVICE_UNAVAILABLE,
    ProblemKind.STORAGE: HTTPStatus.INSUFFICIENT_STORAGE,
}

_TITLE: Mapping[ProblemKind, str] = {
    ProblemKind.NOT_HONOURED: "A parameter this route does not honour",
    ProblemKind.UNKNOWN_NAME: "A bare name that is no known file",
    ProblemKind.SIGNED_OUT: "Not signed in",
    ProblemKind.FOREIGN: "Asked under a foreign host or from a foreign page",
    ProblemKind.INVALID: "Input refused",
    ProblemKind.SOURCE: "The source can't be read",
    ProblemKind.FAULT: "A fault inside GraphMem",
    ProblemKind.HOME: "The home folder can't be used",
    ProblemKind.STORAGE: "The memory's files can't be read or written",
    ProblemKind.TOO_LARGE: "Request too large",
}

_BY_ERROR: Mapping[type[GraphMemError], ProblemKind] = {
    NotFoundError: ProblemKind.NOT_FOUND,
    ConflictError: ProblemKind.CONFLICT,
    InvalidInputError: ProblemKind.INVALID,
    UnknownNameError: ProblemKind.UNKNOWN_NAME,
    SourceError: ProblemKind.SOURCE,
    HomeError: ProblemKind.HOME,
    StorageError: ProblemKind.STORAGE,
    UnavailableError: ProblemKind.UNAVAILABLE,
}

_BY_STATUS: Mapping[int, ProblemKind] = {
    400: ProblemKind.BAD_REQUEST,
    401: ProblemKind.SIGNED_OUT,
    403: ProblemKind.FOREIGN,
    404: ProblemKind.NOT_FOUND,
    405: ProblemKind.METHOD,
    413: ProblemKind.TOO_LARGE,
    415: ProblemKind.MEDIA_TYPE,
    422: ProblemKind.INVALID,
    503: ProblemKind.UNAVAILABLE,
}


class ProblemOut(Shape):
    """A problem document; `errors` names refused fields, `candidates` the nearest names that exist."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[FieldErrorOut] = Field(default_factory=list)
    candidates: list[str] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem on its way out: its kind, the sentence, the refused fields, and the status if it differs.

    `candidates` are the nearest names there are, where a name was not found.
    """

    kind: ProblemKind
    detail: str
    errors: tuple[FieldProblem, ...] = ()
    other_status: int | None = None
    candidates: tuple[str, ...] = ()

    @property
    def status(self) -> int:
        """The HTTP status to answer with."""
        return self.other_status or self.kind.status

    def document(self) -> ProblemOut:
        """Return the problem document."""
        return ProblemOut(
            type=_URN + self.kind,
            title=self.kind.heading if self.other_status is None else HTTPStatus(self.other_status).phrase,
            status=self.status,
            detail=self.detail,
            errors=[FieldErrorOut.of(error) for error in self.errors],
            candidates=list(self.candidates),
        )


class RefusedError(Exception):
    """A request is refused by the way in itself, before the memory is asked; carries its problem."""

    def __init__(self, kind: ProblemKind, detail: str, errors: Iterable[FieldProblem] = ()) -> None:
        super().__init__(detail)
        self.problem = Problem(kind, detail, tuple(errors))


def problem_of(error: GraphMemError) -> Problem:
    """Return the problem that tells of `error`; a class without an own kind is an internal fault."""
    kind = next((_BY_ERROR[cls] for cls in type(error).__mro__ if cls in _BY_ERROR), ProblemKind.FAULT)
    errors: tuple[FieldProblem, ...] = ()
    if isinstance(error, InvalidInputError) and error.field:
        errors = (FieldProblem(error.field, str(error)),)
    candidates = error.candidates if isinstance(error, NotFoundError | InvalidInputError) else ()
    return Problem(kind, str(error), errors, candidates=candidates)


def problem_of_status(status: int, detail: str) -> Problem:
    """Return the problem for a bare HTTP status, such as the framework's own 404 and 405."""
    kind = _BY_STATUS.get(status)
    if kind is not None:
        return Problem(kind, detail)
    return Problem(ProblemKind.OTHER, detail, other_status=status)
