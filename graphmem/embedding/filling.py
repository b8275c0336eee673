"""Owns filling in vectors: what of one project is missing, and the one thread of a memory that sees to it.

It is not the models, not the files (`graphmem.embedding.store`), and not which passages there are
(`graphmem.embedding.passages`). Nobody waits for it: captures and imports are done before their vectors are.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from graphmem.embedding.passages import Passage, passages, texts
from graphmem.embedding.port import Embedder, EmbedderError, Space, Tongue, Vectors
from graphmem.embedding.store import Placed, Similar, VectorStore, nothing
from graphmem.errors import GraphMemError, StorageError
from graphmem.figures import VectorStats
from graphmem.follower import Follower
from graphmem.journal import Journal
from graphmem.recall.tongue import is_english
from graphmem.traffic import Traffic

BATCH = 16
"""Texts between two looks whether somebody is being served."""
_SHARE_SECONDS = 2.0
_SOON = 0.2
_NEXT_TRY = 60.0
_FOLLOW_SECONDS = 1.0
_REST_EVERY = 60.0

log = logging.getLogger(__name__)


class Models(Protocol):
    """The models of a memory, each None where there is none; `degraded` says why."""

    @property
    def english(self) -> Embedder | None:
        """Return the model for texts in English."""

    @property
    def many(self) -> Embedder | None:
        """Return the model for texts in many languages."""

    @property
    def degraded(self) -> str | None:
        """Return what is missing and why."""


class ProjectVectors:
    """The vectors of one open project; made by `Filling.add`."""

    def __init__(self, folder: Path, journal: Journal, follower: Follower, filling: Filling) -> None:
        self._journal = journal
        self._follower = follower
        self._filling = filling
        self._lock = threading.Lock()
        self._closed = False
        self._needless: dict[tuple[str, Passage], bool] = {}
        self._missing = 0
        self.fault: str | None = None
        self.noticed = 1
        self.done = 0
        there = filling.models() or (folder / "vectors.db").exists()
        self._folder = folder
        self.store = self._opened() if there else None

    def _opened(self) -> VectorStore | None:
        try:
            return VectorStore(self._folder, self._journal.identity())
        except StorageError as fault:  # a projection that is away takes no question away
            log.warning("there are no vectors: %s", fault)
            self.fault = str(fault)
            return None

    # ---- filling --------------------------------------------------------------------------------

    def fill(self) -> bool:
        """Fill for about two seconds; return whether nothing is missing now.

        Raises:
            GraphMemError: a model, the disk or the history is away.
        """
        target, until = self.noticed, time.monotonic() + _SHARE_SECONDS
        if not self._follower.wait(_FOLLOW_SECONDS, lambda: self._closed or self._filling.stopping):
            return False
        if self._follower.behind() is not None or self.store is None:
            return self.store is None
        left = 0
        for model in self._filling.models():
            missing = self._plan(self.store, model)
            left += len(missing)
            self._missing = left
            for start in range(0, len(missing), BATCH):
                if self._closed or self._filling.gives_way() or time.monotonic() > until:
                    return False
                left -= self._batch(self.store, model, missing[start : start + BATCH])
                self._missing = left
            with self._lock:
                if not self._closed:
                    self.store.finish(model.space)
        self.fault, self._missing, self.done = None, 0, target
        return True

    def _plan(self, store: VectorStore, model: Embedder) -> list[Passage]:
        """Take out what is no passage any more, or of an earlier telling; return what has no vector yet."""
        with self._lock:
            if self._closed:
                return []
            with self._follower.view(patience=0.0) as view:
                wanted = passages(view)
            space = model.space
            store.want(space, model.tongue)
            present = {Passage(*key, told) for key, (told, _) in store.told(space).items()}
            stale = present.difference(wanted)
            if stale:
                store.drop(space, [(passage.seq, passage.ord) for passage in stale])
            kept = set(wanted)
            self._needless = {key: True for key in self._needless if key[1] in kept}
            return [p for p in wanted if p not in present and (space.key, p) not in self._needless]

    def _batch(self, store: VectorStore, model: Embedder, chosen: Sequence[Passage]) -> int:
        # Under the lock to the end: what is forgotten meanwhile must not come back.
        with self._lock:
            if self._closed:
                return 0
            with self._follower.view(patience=0.0) as view:
                found = texts(view, self._journal, chosen)
            placed, words = [], []
            for passage, text in found.items():
                english = text is not None and is_english(text)
                if text is None or (model.tongue is Tongue.ENGLISH and not english):
                    self._needless[model.space.key, passage] = True
                    continue
                placed.append(Placed(*passage, english))
                words.append(text)
            if words:
                store.put(model.space, placed, self._filling.encode(model, words))
        return len(chosen)

    def notice(self) -> None:
        """Say that something was stored."""
        self.noticed += 1
        self._filling.wake(self)

    def wait(self, timeout: float) -> bool:
        """Wait until all that can be asked now has its vectors; False when that takes longer (seconds)."""
        if not self._filling.models():
            return False
        self.notice()
        return self._filling.await_done(self, self.noticed, timeout)

    # ---- questions ------------------------------------------------------------------------------

    def similar(self, text: str) -> Similar:
        """Return the cosines of a question with all passages; none where no model answers.

        English questions meet English passages among English, all other pairs meet among many languages.
        """
        question: dict[Space, Vectors] = {}
        english = is_english(text)
        for model in self._filling.models():
            if english or model.tongue is Tongue.MANY:
                try:
                    question[model.space] = self._filling.encode(model, [text])[0]
                except EmbedderError as fault:
                    self.fault = str(fault)
        return nothing() if self.store is None else self.store.similarities(question)

    def behind(self) -> str | None:
        """Return what answers lack of vectors, as part of a sentence; None when they lack nothing."""
        if self._filling.degraded is not None or self.fault is not None:
            return self._filling.degraded or self.fault
        if self._missing:
            return f"vectors are {self._missing:,} passages behind"
        # Opening a project is the first notice, and tells of nothing new.
        is_new = self._filling.models() and self.noticed > max(self.done, 1)
        return "vectors of what was stored last are being made" if is_new else None

    def stats(self) -> VectorStats:
        """Return counts and sizes as of the last look."""
        count, size = (0, 0) if self.store is None else (self.store.count(), self.store.size_bytes())
        return VectorStats(count, size, self._missing, self._filling.degraded or self.fault)

    # ---- forgetting and closing -----------------------------------------------------------------

    def wipe(self) -> None:
        """Leave nothing of what was forgotten: zeros on the disk when this returns."""
        with self._lock:
            if self.store is not None:
                self.store.forget({removal.seq for removal in self._journal.removals_after(0)})
                return
            for path in self._folder.glob("vectors*"):
                path.unlink()

    def close(self) -> None:
        """Stop being filled and close the files."""
        self._closed = True
        self._filling.remove(self)
        with self._lock:
            if self.store is not None:
                self.store.close()


class Filling:
    """The thread that fills the open projects of one memory; it starts with the first that needs it."""

    def __init__(self, models: Models | None, traffic: Traffic) -> None:
        self._models = models
        self._traffic = traffic
        self._state = threading.Condition()
        self._encoding = threading.Lock()
        self._due: dict[ProjectVectors, float] = {}
        self._open: set[ProjectVectors] = set()
        self._thread: threading.Thread | None = None
        self.stopping = False

    def models(self) -> list[Embedder]:
        """Return the models there are."""
        if self._models is None:
            return []
        return [model for model in (self._models.english, self._models.many) if model is not None]

    @property
    def degraded(self) -> str | None:
        """What is missing of models, and why."""
        return None if self._models is None else self._models.degraded

    def encode(self, model: Embedder, words: Sequence[str]) -> Vectors:
        """Return the vectors of texts; a model is asked by one at a time."""
        with self._encoding:
            return model.encode(words)

    def add(self, folder: Path, journal: Journal, follower: Follower) -> ProjectVectors:
        """Return the vectors of a project that was opened, which are filled from now on.

        Raises:
            StorageError: the disk is full or not writable.
        """
        project = ProjectVectors(folder, journal, follower, self)
        if self.models():
            with self._state:
                self._open.add(project)
                if self._thread is None:
                    self._thread = threading.Thread(target=self._run, name="fill vectors", daemon=True)
                    self._thread.start()
            self.wake(project)
        return project

    def wake(self, project: ProjectVectors) -> None:
        """See to a project soon."""
        with self._state:
            if project in self._open:
                self._due[project] = time.monotonic() + _SOON
                self._state.notify_all()

    def remove(self, project: ProjectVectors) -> None:
        """See to a project no more."""
        with self._state:
            self._open.discard(project)
            self._due.pop(project, None)
            self._state.notify_all()

    def gives_way(self) -> bool:
        """Wait while somebody is being served; return whether it is time to end."""
        if self._traffic.is_quiet():
            return self.stopping
        return self._traffic.gives_way(self._pause)

    def _pause(self, seconds: float) -> bool:
        with self._state:
            return self._state.wait_for(lambda: self.stopping, seconds)

    def await_done(self, project: ProjectVectors, target: int, timeout: float) -> bool:
        """Wait until a project is filled up to that notice; False when it takes longer or can't be."""
        with self._state:
            self._state.wait_for(
                lambda: project.done >= target or project.fault is not None or project not in self._open,
                timeout,
            )
            return project.done >= target

    def _run(self) -> None:
        for project in self._next():
            pause: float | None = _SOON
            try:
                if project.fill():
                    pause = None
            except GraphMemError as fault:
                pause = self._failed(project, str(fault))
            except (
                Exception
            ) as fault:  # the thread must outlive a fault of ours, or no vector is made any more
                log.exception("vectors could not be filled in")
                pause = self._failed(project, f"vectors can't be filled in ({type(fault).__name__}: {fault})")
            with self._state:
                if project in self._open and pause is not None:
                    self._due.setdefault(project, time.monotonic() + pause)
                self._state.notify_all()

    def _failed(self, project: ProjectVectors, cause: str) -> float:
        if project.fault != cause:
            log.warning("vectors wait: %s", cause)
        project.fault = cause
        return _NEXT_TRY

    def _next(self) -> Iterator[ProjectVectors]:
        while True:
            with self._state:
                now = time.monotonic()
                ready = [project for project, due in self._due.items() if due <= now]
                if self.stopping:
                    return
                if ready:
                    self._due.pop(ready[0])
                    project = ready[0]
                else:
                    self._state.wait(min([_REST_EVERY, *(due - now for due in self._due.values())]))
                    idle = list(self._open)
            if ready:
                yield project
                continue
            for each in idle:
                if each.store is not None:
                    each.store.rest()

    def close(self) -> None:
        """End the thread."""
        with self._state:
            self.stopping = True
            self._state.notify_all()
        if self._thread is not None:
            self._thread.join()
