"""Owns one pass over a part of a repository's history: from git's stream to batches with their cursors.

It is not the choice of what to read (`graphmem.capture.git`) nor the meaning of one commit
(`graphmem.capture.git_commit`).
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from graphmem.capture.changed_files import ChangedFiles
from graphmem.capture.git_commit import (
    CommitFiles,
    change_digest,
    commit_actor,
    commit_files,
    commit_observation,
    commit_time,
    run_key,
)
from graphmem.capture.git_cursor import GitCursor, digest
from graphmem.capture.git_log import LoggedCommit, LogParser
from graphmem.capture.git_origin import GitOrigin
from graphmem.capture.git_paths import GitNames
from graphmem.capture.git_stream import GitStream
from graphmem.capture.source import Batch, Remark
from graphmem.errors import SourceError
from graphmem.model import Observation
from graphmem.noise import NoiseRule
from graphmem.repository import git_output

BATCH_COMMITS = 500
BATCH_PATHS = 20_000
BATCH_SECONDS = 2.0

_ABSURD = (
    "1 commit has a time outside 1970 to tomorrow and was moved to the nearest bound.",
    "{count} commits have a time outside 1970 to tomorrow and were moved to the nearest bound.",
)
_GITLINKS = (
    "1 change of a submodule left out; a submodule is a project of its own.",
    "{count} changes of submodules left out; a submodule is a project of its own.",
)
_NOTHING_LEFT = (
    "1 commit skipped, as it touches only paths that are left out.",
    "{count} commits skipped, as they touch only paths that are left out.",
)
_SAYS_NOTHING = (
    "1 commit skipped, as it has neither a message nor files.",
    "{count} commits skipped, as they have neither a message nor files.",
)
_SHALLOW = (
    "Shallow, 1 commit: what came before is unknown; `git fetch --unshallow` brings it.",
    "Shallow, {count} commits: what came before is unknown; `git fetch --unshallow` brings it.",
)
_PARTIAL = (
    "Partial clone: a rename is seen only where the content stayed the same.",
    "Partial clone: a rename is seen only where the content stayed the same.",
)


class GitReading:
    """One pass over a part of the history: what has been read and not yet been handed on."""

    def __init__(self, origin: GitOrigin, state: GitCursor, include: tuple[str, ...], now: float) -> None:
        self.done = 0
        self.stopped = False
        self._origin = origin
        self._state = state
        self._include = include
        self._now = now
        self._names = GitNames(origin.held, origin.tip)
        self._boundary = frozenset(origin.shallow)
        self._base = 0
        self._total: int | None = None
        self._counted: set[int] = set()
        self._begin()

    def _begin(self) -> None:
        self._items: list[Observation] = []
        self._seen = 0
        self._paths = 0
        self._left_out: Counter[str] = Counter()
        self._remarks: Counter[tuple[str, str]] = Counter()
        self._begun = time.monotonic()

    def say_facts(self) -> None:
        """Put what is to be said of the clone itself into the next batch."""
        if self._origin.shallow:
            counted = git_output(self._origin.location, self._origin.count())
            self._remarks[_SHALLOW] += int(counted)
        if self._origin.partial:
            self._remarks[_PARTIAL] += 1

    def batches(
        self, log: Sequence[str], stop: threading.Event | None, count: Sequence[str] | None = None
    ) -> Iterator[Batch]:
        """Run git and yield batches; counts the commits beside it when `count` says how."""
        self._base = self.done
        counter = None if count is None else GitStream(self._origin.location, count)
        try:
            with GitStream(self._origin.location, log) as stream:
                yield from self._read(stream, counter, stop)
        finally:
            if counter is not None:
                counter.close()

    def _read(
        self, stream: GitStream, counter: GitStream | None, stop: threading.Event | None
    ) -> Iterator[Batch]:
        parser = LogParser()
        for chunk in stream.chunks(stop):
            for commit in parser.feed(chunk):
                self.take(commit)
                if self._full():
                    yield self.batch(counter)
            if self._seen and time.monotonic() - self._begun > BATCH_SECONDS:
                yield self.batch(counter)
        self.stopped = stop is not None and stop.is_set()
        status = 0 if self.stopped else stream.wait()
        if status >= 0 and not self.stopped:
            for commit in parser.finish():
                self.take(commit)
        yield self.batch(counter)
        if status:
            raise SourceError(
                f"git could not read on in {self._origin.location} ({stream.complaint()}); run `git fsck`,"
                f" mend the repository and import it again: the {self.done:,} commits read so far are kept."
            )

    def _full(self) -> bool:
        return self._seen >= BATCH_COMMITS or self._paths >= BATCH_PATHS

    def take(self, commit: LoggedCommit) -> None:
        """Add a commit to the next batch."""
        state = self._state
        boundary = commit.sha in self._boundary
        if len(commit.parents) > 1:
            state.numbers.pass_on(commit.sha, commit.parents)
            state.advance(commit.sha, commit.parents)
            return
        self._seen += 1
        self._paths += len(commit.changes)
        when = commit_time(commit, self._now)
        actor = commit_actor(commit)
        session = state.sittings.name(actor, when.at)
        change = change_digest(commit, boundary=boundary)
        number = state.numbers.number(commit.sha, commit.parents, run_key(commit), change)
        state.advance(commit.sha, commit.parents)
        self._remarks[_ABSURD] += when.absurd
        self._remarks[_GITLINKS] += commit.gitlinks
        id = f"git:{change}-{number + 1}" if number else f"git:{change}"
        files = self._files(commit)
        self._count(files.left_out)
        observation = commit_observation(
            commit,
            files.taken,
            id=self._id(id, files.taken),
            actor=actor,
            session=session,
            at=when.at,
            boundary=boundary,
            left_out=len(files.left_out),
        )
        if self._says(observation, files):
            self._items.append(observation)

    def _files(self, commit: LoggedCommit) -> CommitFiles:
        return commit_files(commit, self._names.of(commit), self._include)

    def _id(self, id: str, files: ChangedFiles) -> str:
        return id

    def _says(self, observation: Observation, files: CommitFiles) -> bool:
        """Return whether there is anything in it; count why not."""
        if files.taken or (observation.title and not files.left_out):
            return True
        self._remarks[_NOTHING_LEFT if files.left_out else _SAYS_NOTHING] += 1
        return False

    def _count(self, left_out: Mapping[str, NoiseRule]) -> None:
        """Count each path that is left out once, by its rule; a hash stands for it to save memory."""
        for path, rule in left_out.items():
            mark = hash(path)
            if mark not in self._counted:
                self._counted.add(mark)
                self._left_out[rule.label] += 1

    def batch(self, counter: GitStream | None = None) -> Batch:
        """Return what has been read since the last batch."""
        if counter is not None and self._total is None:
            told = counter.number()
            self._total = None if told is None else self._base + told
        self.done += self._seen
        batch = Batch(
            items=tuple(self._items),
            cursor=self._cursor(),
            done=self.done,
            total=self._total,
            seen=self._seen,
            left_out=tuple(self._left_out.items()),
            remarks=tuple(Remark(*said, count=count) for said, count in self._remarks.items() if count),
        )
        self._begin()
        return batch

    def _cursor(self) -> str:
        return self._state.text()


class WiderReading(GitReading):
    """The pass over commits already imported, for the paths that only now are taken."""

    def __init__(self, origin: GitOrigin, state: GitCursor, include: tuple[str, ...], now: float) -> None:
        super().__init__(origin, GitCursor(), include, now)
        self._before = state.include
        self._unchanged = state.text()

    def _files(self, commit: LoggedCommit) -> CommitFiles:
        earlier = commit_files(commit, self._names.of(commit), self._before)
        return CommitFiles(super()._files(commit).taken.only(earlier.left_out), {})

    def _id(self, id: str, files: ChangedFiles) -> str:
        # The commit's own id is taken; the same pattern given again must find this part again.
        return f"{id}+{digest(*(path.encode() for path in files.paths()), size=4)}"

    def _says(self, observation: Observation, files: CommitFiles) -> bool:
        return bool(files.taken)

    def _cursor(self) -> str:
        return self._unchanged
