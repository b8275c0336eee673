"""Owns the import of a git repository: its commits as observations, oldest first, only what is new.

It is not the storage of them. The repository is only read, by `git log` as one stream; nothing is written
into it, no lock taken, no network reached. One commit that is no merge is one observation: title and body,
author as actor, a sitting of two hours as session, the commit time as time.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Generator, Sequence

from graphmem.capture.git_cursor import GitCursor
from graphmem.capture.git_origin import open_origin
from graphmem.capture.git_reading import GitReading, WiderReading
from graphmem.capture.source import Batch


class GitImporter:
    """Reads one repository; see `graphmem.capture.source.Importer` for the contract.

    Args:
        location: a folder in a worktree, or a bare repository.
        ref: the branch, tag or commit whose history is read.
        include: patterns of paths to take although a rule leaves them out (`graphmem.noise.left_out`).
            They stay in force for later runs; a new one also brings in what earlier runs left out.
        clock: the present moment in epoch seconds, for commit times in the future.
    """

    source = "git"

    def __init__(
        self,
        location: str | os.PathLike[str],
        *,
        ref: str = "HEAD",
        include: Sequence[str] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.location = os.path.abspath(location)
        self._ref = ref
        self._include = tuple(include)
        self._clock = clock

    def batches(
        self, cursor: str | None = None, stop: threading.Event | None = None
    ) -> Generator[Batch, None, None]:
        """Yield the commits that `cursor` doesn't know; at least one batch, which may be empty.

        Raises:
            SourceError: not a repository, no commits, no such ref, or git failed on the way.
        """
        origin = open_origin(self.location, self._ref)
        state = GitCursor.parse(cursor)
        if not frozenset(state.shallow) <= frozenset(origin.shallow):
            # The clone was deepened: what lies beneath the old boundary is readable now.
            state.tips.clear()
        state.tips = dict.fromkeys(origin.existing(state.tips))
        state.shallow = origin.shallow
        include = tuple(dict.fromkeys((*state.include, *self._include)))
        reading = GitReading(origin, state, include, self._clock())
        if state.tips and include != state.include:
            wider = WiderReading(origin, state, include, self._clock())
            yield from wider.batches(origin.log(list(state.tips)), stop)
            if wider.stopped:
                return
            reading.done = wider.done
        state.include = include
        reading.say_facts()
        known = list(state.tips)
        if origin.tip in state.tips:
            yield reading.batch()
        else:
            yield from reading.batches(origin.log([origin.tip], known), stop, origin.count(known))
