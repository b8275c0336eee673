"""Owns live capture as a whole: a hook's event is spooled, answered, and on its way into memory.

It is the composition of spool, recorder and advisor for one memory; it is not HTTP (that is
`api.routes_hooks`) and reads no configuration.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping

from graphmem import hook_program
from graphmem.advisor import Advisor, Told
from graphmem.clients.port import ClientAdapter
from graphmem.errors import NotFoundError, StorageError
from graphmem.events import DRILL, Advice, Event, EventKind, Moment, sane
from graphmem.memory import Memory
from graphmem.places import Places
from graphmem.recorder import Recorder
from graphmem.spool import Spool
from graphmem.text import tokens

_START_SECONDS = 0.1
# Its dictionary takes longer to load than a hook waits.
_FIRST_WORD = "预热"
_TRIAL = Advice(Moment.READ, "?")

log = logging.getLogger(__name__)


class Live:
    """The live capture of one memory, safe to share between threads; close it before the memory.

    Args:
        memory: where events go.
        adapters: the clients by name.
        hold: whether a very strong note may hold an edit once.
        clock: the present moment in epoch seconds.
    """

    def __init__(
        self,
        memory: Memory,
        adapters: Mapping[str, ClientAdapter],
        *,
        hold: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._adapters = adapters
        self._clock = clock
        self._places = Places(memory)
        self._spool = Spool(memory.home.spool_folder)
        self._advisor = Advisor(self._places, hold)
        threading.Thread(target=tokens, args=(_FIRST_WORD,), name="warm up", daemon=True).start()
        # What hooks left while no service ran is stored before the first answer, where that is quickly done.
        behind = self._spool.waiting()
        self._recorder = Recorder(
            memory, self._spool, self._places, adapters, clock, self._advisor.missed_start
        )
        if behind:
            self._recorder.wait_drained(_START_SECONDS)

    def close(self) -> None:
        """Store what is there and end."""
        self._recorder.close()

    def wait_recorded(self, seconds: float) -> bool:
        """Wait until every event so far is stored; False when that takes longer."""
        return self._recorder.wait_drained(seconds)

    def receive(
        self,
        client: str,
        raw: Mapping[str, object],
        delivery: str,
        at: float | None = None,
        kept_out: Mapping[str, int] | None = None,
    ) -> dict[str, object]:
        """Take one hook call and return the client's JSON to answer it with.

        Args:
            client: its name.
            raw: the hook's JSON, whole or reduced.
            delivery: names this call, so that it counts once however often it comes.
            at: when it was made, epoch seconds; now where it is not told.
            kept_out: counts by kind of what was taken out before it came here.

        Raises:
            NotFoundError: a client nobody knows.
        """
        adapter = self._adapters.get(client)
        if adapter is None:
            raise NotFoundError(
                f"There is no client {client[:60]!r}; known are {', '.join(sorted(self._adapters))}.",
                candidates=tuple(sorted(self._adapters)),
            )
        now = self._clock()
        at = now if at is None else sane(at, now)
        redacted = dict(kept_out or {})
        reduced = hook_program.reduced(dict(raw), redacted)
        line = hook_program.line(client, reduced, delivery, at, redacted)
        try:
            events = [event for event in adapter.events(reduced, at) if self._concerns_us(event)]
        except StorageError:
            self._put(line, client)  # a project that can't be opened now may be when the line is read
            raise
        if not events:
            return adapter.answer(reduced, None)
        for event in events:
            if event.kind is EventKind.SESSION_STARTED:
                self._advisor.hears_start(event)
        is_drill = all(event.session == DRILL for event in events)
        if not is_drill:
            self._put(line, client)
        # What can't be said in answer to this call is not spent on it, but said at the next that can.
        carries = bool(adapter.answer(reduced, _TRIAL))
        told = next(filter(None, (self._advisor.advise(event, delivery, carries) for event in events)), None)
        if told is None:
            return adapter.answer(reduced, None)
        if not is_drill:
            self._remember(told)
        return adapter.answer(reduced, told.advice)

    def _concerns_us(self, event: Event) -> bool:
        """Return whether the event belongs to a project that is recorded."""
        project = self._places.of_folder(event.cwd)
        if project is not None:
            return project.captures(event.session)
        paths = (*event.reads, *(edit.path for edit in event.edits))
        return any(self._places.of_file(path, event.cwd) is not None for path in paths)

    def _put(self, line: bytes, client: str) -> None:
        if not self._spool.put(line):
            log.error("an event of %s can't be kept: the spool is full or can't be written", client)
        self._recorder.notify()

    def _remember(self, told: Told) -> None:
        note = told.note
        row = {
            "project": told.project,
            "session": note.session,
            "turn": note.turn,
            "moment": note.moment.value,
            "path": note.path,
            "named": list(note.named),
            "size": note.size,
        }
        text = json.dumps({"id": note.id, "at": note.at, "note": row}, ensure_ascii=True)
        self._spool.put(b"\n" + text.encode() + b"\n")
        self._recorder.notify()
