"""Owns the form in which git is asked for its history, and the reading of the answer.

It is not the running of git (`graphmem.capture.git_stream`) nor what a commit means as an observation
(`graphmem.capture.git_commit`). Everything stays bytes here, as git has no encoding for names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

RENAME_LIMIT = 2_000

_FIELDS = ("%H", "%P", "%an", "%ae", "%aN", "%at", "%ct", "%B")
_GITLINK = b"160000"

# Whatever a user or a repository has set that could change the answer is overruled here.
_FORM = (
    *("--date-order", "--reverse", "--root", "--raw", "-z", "--no-abbrev", "--encoding=UTF-8"),
    *("--no-color", "--no-decorate", "--no-notes", "--no-show-signature", "--no-ext-diff", "--no-textconv"),
    *("--no-relative", "--ignore-submodules=none", "-O/dev/null", f"-l{RENAME_LIMIT}"),
    f"--format=tformat:{'%x00'.join(_FIELDS)}",
)


def log_arguments(
    tips: Sequence[str],
    known: Sequence[str] = (),
    *,
    exact_renames: bool = False,
    mailmap: str | None = None,
) -> list[str]:
    """Return git's arguments for the commits of `tips` that `known` commits don't reach, oldest first.

    Merges are in the answer, without changes: they carry the ancestry. `exact_renames` asks for renames of
    unchanged content only, which needs no content at all. `mailmap` names the blob that joins authors' names.
    """
    renames = "-M100%" if exact_renames else "-M50%"
    excluded = ["--not", *known] if known else []
    settings = ["-c", f"mailmap.blob={mailmap}"] if mailmap else []
    return [*settings, "log", *_FORM, renames, *tips, *excluded, "--"]


class PathChange(NamedTuple):
    """One changed path: `status` is git's letter (A, C, D, M, R, T), `old` the former name of R and C."""

    status: str
    path: bytes
    old: bytes | None = None


@dataclass(slots=True)
class LoggedCommit:
    """One commit as git told it; times are git's own digits, `actor` the author's name by mailmap.

    `gitlinks` counts the entries that were submodules on both sides or are so now; they are no changes.
    """

    sha: str
    parents: tuple[str, ...]
    author: bytes
    email: bytes
    actor: bytes
    author_time: bytes
    commit_time: bytes
    message: bytes
    changes: list[PathChange] = field(default_factory=list)
    gitlinks: int = 0


class LogParser:
    """Turns the answer to `log_arguments` into commits, however it is cut into chunks."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._header: list[bytes] = []
        self._commit: LoggedCommit | None = None
        self._meta = b""
        self._old: bytes | None = None

    def feed(self, chunk: bytes) -> list[LoggedCommit]:
        """Return the commits that are complete now; a commit is so once the next one begins."""
        tokens = chunk.split(b"\0")
        if len(tokens) == 1:
            self._rest.append(chunk)
            return []
        tokens[0] = b"".join((*self._rest, tokens[0]))
        self._rest = [tokens.pop()]
        done: list[LoggedCommit] = []
        for token in tokens:
            if self._meta:
                self._path(token)
            elif self._commit is None or self._header:
                self._header.append(token)
                if len(self._header) == len(_FIELDS):
                    self._commit = _commit(self._header)
                    self._header = []
            elif token.startswith((b":", b"\n:")):
                self._meta = token
            else:
                done.append(self._commit)
                self._header = [token]
        return done

    def finish(self) -> list[LoggedCommit]:
        """Return the last commit, once git has ended by itself.

        Git prints a commit when all its changes are known, so the last one is whole even where git gave up
        on the next; where it was killed, nobody knows.
        """
        cut = self._header or self._meta or any(self._rest)
        return [] if self._commit is None or cut else [self._commit]

    def _path(self, token: bytes) -> None:
        old_mode, new_mode, *_, letter = self._meta.lstrip(b"\n:").split(b" ")
        status = letter[:1].decode("ascii")
        if status in "RC" and self._old is None:
            self._old = token
            return
        assert self._commit is not None
        change: PathChange | None = PathChange(status, token, self._old)
        if _GITLINK in (old_mode, new_mode):
            self._commit.gitlinks += 1
            change = _beside_gitlink(status, token, old_mode, new_mode)
        if change is not None:
            self._commit.changes.append(change)
        self._meta, self._old = b"", None


def _beside_gitlink(status: str, path: bytes, old_mode: bytes, new_mode: bytes) -> PathChange | None:
    """Return what a change to or from a submodule means for the files: nothing, but where one gave way."""
    if status != "T":
        return None
    return PathChange("A" if old_mode == _GITLINK else "D", path) if old_mode != new_mode else None


def _commit(header: Sequence[bytes]) -> LoggedCommit:
    sha, parents, author, email, actor, author_time, commit_time, message = header
    return LoggedCommit(
        sha=sha.strip().decode("ascii"),
        parents=tuple(parents.decode("ascii").split()),
        author=author,
        email=email,
        actor=actor,
        author_time=author_time,
        commit_time=commit_time,
        message=message,
    )
