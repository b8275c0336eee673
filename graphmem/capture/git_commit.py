"""Owns what a commit means as an observation: its identity, time, type, texts and files.

It is not the reading of git's answer (`graphmem.capture.git_log`) and asks git nothing.

The type comes from a conventional prefix of the title (`fix(scope)!: ...`); without one it is `commit`.
A commit whose parents a shallow clone lacks is a `snapshot`: its files exist, but were not changed together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from zlib import crc32

from graphmem.capture.changed_files import ChangedFiles
from graphmem.capture.git_cursor import digest
from graphmem.capture.git_log import LoggedCommit
from graphmem.capture.intake import MAX_NAME, bounded_text
from graphmem.instant import DAY
from graphmem.model import Observation
from graphmem.noise import NoiseRule, left_out_rule

SNAPSHOT = "snapshot"

_TYPES = {
    **dict.fromkeys(("fix", "bugfix", "hotfix"), "bugfix"),
    **dict.fromkeys(("feat", "feature"), "feature"),
    **dict.fromkeys(("chore", "build", "ci", "style"), "chore"),
    **{name: name for name in ("refactor", "docs", "test", "perf", "revert")},
    **{"doc": "docs", "tests": "test"},
}
_PREFIX = re.compile(r"([A-Za-z]+)(?:\([^()\n]*\))?!?:\s")
# What `git cherry-pick -x` adds says where a change came from, not what it is.
_PICKED = re.compile(rb"^\(cherry picked from commit [0-9a-f]+\)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CommitTime:
    """When the commit came to be, in epoch seconds; `absurd` when git's own value lies out of range."""

    at: float
    absurd: bool


def commit_time(commit: LoggedCommit, now: float) -> CommitTime:
    """Return the commit time, moved into 1970 .. `now` + 24 h; author time would tell too early."""
    try:
        told = float(int(commit.commit_time))
    except (ValueError, OverflowError):
        return CommitTime(0.0, absurd=True)
    at = min(max(told, 0.0), now + DAY)
    return CommitTime(at, absurd=at != told)


def change_digest(commit: LoggedCommit, *, boundary: bool = False) -> str:
    """Return the identity of the change: author, author time, message and all paths with their statuses.

    Neither the commit's hash nor its parents are in it, so a rebased or picked commit keeps it, nor what
    rules leave out, so it stays the same when they change.
    """
    paths = sorted(
        b"%s\0%s\0%s" % (change.status.encode(), change.path, change.old or b"") for change in commit.changes
    )
    message = _PICKED.sub(b"", commit.message).strip()
    kind = b"boundary" if boundary else b"change"
    return digest(kind, commit.author, commit.email, commit.author_time, message, b"\0".join(paths))


def run_key(commit: LoggedCommit) -> str:
    """Return what commits of the same author and second share (see `ChangeNumbers`)."""
    return f"{commit.author_time.decode('ascii', 'replace')}:{crc32(commit.author + commit.email):x}"


@dataclass(frozen=True, slots=True)
class CommitText:
    """The texts of a commit: `title` is the first paragraph, `narrative` the rest, trailers included."""

    title: str
    narrative: str
    notes: tuple[str, ...]


def commit_text(message: bytes) -> CommitText:
    """Return title and narrative; bytes that are not UTF-8 become U+FFFD, each part is cut at 64 KiB."""
    notes: list[str] = []
    text = message.decode("utf-8", "replace").replace("\r\n", "\n").strip()
    first, _, rest = text.partition("\n\n")
    before, begun, block = first.partition("-----BEGIN ")
    if begun and "\n" in block:
        # What is armoured has blank lines in it, and is known by its first line and by its line ends.
        first, rest = before, text[len(before) :]
    title = " ".join(line.strip() for line in first.splitlines())
    return CommitText(
        title=bounded_text("title", title, notes),
        narrative=bounded_text("narrative", rest.strip(), notes),
        notes=tuple(notes),
    )


def commit_type(title: str) -> str:
    """Return the observation's type by the title's conventional prefix."""
    prefix = _PREFIX.match(title)
    return _TYPES.get(prefix.group(1).lower(), "commit") if prefix else "commit"


@dataclass(frozen=True, slots=True)
class CommitFiles:
    """The files of a commit that are taken, and the rule for each path that is not."""

    taken: ChangedFiles
    left_out: dict[str, NoiseRule]


def commit_files(commit: LoggedCommit, names: Mapping[bytes, str], include: tuple[str, ...]) -> CommitFiles:
    """Return the files by what happened to them; a rename across the border of a rule is half a rename."""
    files, left_out = ChangedFiles(), dict[str, NoiseRule]()
    for change in commit.changes:
        path = names[change.path]
        status, old = change.status, None
        rule = left_out_rule(path, include)
        if change.old is not None and status == "R":
            old = names[change.old]
            old_rule = left_out_rule(old, include)
            if old_rule is not None:
                left_out[old] = old_rule
                status, old = "A", None
            elif rule is not None:
                left_out[path] = rule
                status, path, old, rule = "D", old, None, None
        if rule is not None:
            left_out[path] = rule
        else:
            files.put(status, path, old)
    return CommitFiles(files, left_out)


def commit_observation(
    commit: LoggedCommit,
    files: ChangedFiles,
    *,
    id: str,
    actor: str,
    session: str,
    at: float,
    boundary: bool,
    left_out: int,
) -> Observation:
    """Return the observation of a commit and those of its files that are taken."""
    text = commit_text(commit.message)
    noted = f"{left_out:,} vendored or generated {'path' if left_out == 1 else 'paths'} left out"
    return Observation(
        id=id,
        session=session,
        at=at,
        source="git",
        actor=actor,
        type=SNAPSHOT if boundary else commit_type(text.title),
        title=text.title,
        narrative=text.narrative,
        files_modified=files.modified,
        files_added=files.added,
        files_deleted=files.deleted,
        renames=files.renames,
        reference=commit.sha,
        notes=(*text.notes, noted) if left_out else text.notes,
    )


def commit_actor(commit: LoggedCommit) -> str:
    """Return the author's name by mailmap, the address where there is no name."""
    names = (raw.decode("utf-8", "replace").strip() for raw in (commit.actor, commit.email))
    return next((name[:MAX_NAME] for name in names if name), "unknown")
