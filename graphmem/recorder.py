"""Owns the thread that carries hook events from the spool into the projects' memories, once and in order.

It is not what an event means to a project (that is `graphmem.project_capture`). A line is cleared away only
when what was made of it is stored; whoever is killed in between starts with the same lines, and they are
known.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from graphmem.captured import NoteRow
from graphmem.clients.port import ClientAdapter
from graphmem.errors import GraphMemError, NotFoundError, StorageError
from graphmem.events import DRILL, Event, EventKind, FileEdit, Moment, sane
from graphmem.memory import Memory, Project
from graphmem.places import Places
from graphmem.project_capture import Arrival
from graphmem.spool import Spool, Spooled

TICK = 0.25
"""Seconds between two looks at open turns, and at what others have spooled."""
_MOMENTS = frozenset(Moment)
_LATELY = 300.0
IDLE = 1.0
"""Seconds between two such looks while no turn is open anywhere."""
GATHER = 0.1
"""Seconds an event waits for others before it is stored."""
_PAUSES = (0.2, 0.5, 2.0)
_LAST = 5.0
_SESSIONS = 1_000
_OF_A_SESSION = frozenset(
    {EventKind.SESSION_STARTED, EventKind.PROMPT, EventKind.TURN_ENDED, EventKind.SESSION_ENDED}
)

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Load:
    """What one batch brings to one project."""

    project: Project
    arrivals: list[Arrival] = field(default_factory=list)
    notes: list[NoteRow] = field(default_factory=list)
    lines: list[Spooled] = field(default_factory=list)


class Recorder:
    """The reader of one memory's spool.

    Args:
        memory: whose projects the events belong to.
        spool: where they wait.
        places: which project a folder belongs to.
        adapters: the clients by name.
        clock: the present moment in epoch seconds.
        started: told of each session that began in the last minutes, once its start is stored.
    """

    def __init__(
        self,
        memory: Memory,
        spool: Spool,
        places: Places,
        adapters: Mapping[str, ClientAdapter],
        clock: Callable[[], float] = time.time,
        started: Callable[[Event], None] = lambda event: None,
    ) -> None:
        self._memory = memory
        self._started = started
        self._spool = spool
        self._places = places
        self._adapters = adapters
        self._clock = clock
        self._state = threading.Condition()
        self._news = self._hurried = True
        self._stopping, self._until = False, math.inf
        self._rounds = self._drained = 0
        # The projects a session works in beside the one around its folder, and those with open turns.
        self._elsewhere: OrderedDict[str, set[str]] = OrderedDict()
        self._active = set(spool.active())
        # How often in a row each project's memory could not be written.
        self._refused: dict[str, int] = {}
        spool.take_back()
        self._thread = threading.Thread(target=self._run, name="record", daemon=True)
        self._thread.start()

    def notify(self) -> None:
        """Say that a line was put into the spool."""
        with self._state:
            self._news = True
            self._state.notify_all()

    def wait_drained(self, seconds: float) -> bool:
        """Wait until all that is in the spool now is stored; False when that takes longer."""
        with self._state:
            target = self._rounds + 1  # the round under way may have looked before the last line came
            self._news = self._hurried = True
            self._state.notify_all()
            return self._state.wait_for(lambda: self._drained >= target or self._stopping, seconds)

    def close(self, patience: float = _LAST) -> None:
        """Store what is there, as far as it is done in `patience` (seconds), and end.

        The rest waits in the spool for the next start, as what comes later does.
        """
        with self._state:
            self._stopping, self._until = True, time.monotonic() + patience
            self._state.notify_all()
        self._thread.join()

    # ---- the thread -----------------------------------------------------------------------------

    def _run(self) -> None:
        failures = 0
        while True:
            with self._state:
                if not self._news and not self._stopping:
                    self._state.wait(TICK if self._active else IDLE)
                if self._news:  # answers come first, and what comes close together is stored together
                    self._state.wait_for(lambda: self._hurried or self._stopping, GATHER)
                self._news = self._hurried = False
                last = self._stopping
                self._rounds += 1
            try:
                self._drain()
                failures = 0
            except GraphMemError as fault:
                log.error("events wait in the spool: %s", fault)
                failures += 1
            except Exception:  # the thread must outlive a fault of ours, or nothing is recorded any more
                log.exception("events wait in the spool")
                failures += 1
            if last:
                return
            if failures:
                self._spool.rewind()
                self._pause(failures)

    def _pause(self, failures: int) -> None:
        with self._state:
            self._news = True
            self._state.wait_for(lambda: self._stopping, _PAUSES[min(failures, len(_PAUSES)) - 1])

    def _drain(self) -> None:
        """Take all lines there are, then look at what is open."""
        active = set(self._active)
        while lines := self._spool.read():
            self._take(lines)
            self._spool.make_room()
            if time.monotonic() > self._until:
                return
        now = self._clock()
        self._active = {id for id in self._active if self._has_open_turns(id, now)}
        if self._active != active:
            self._spool.set_active(sorted(self._active))
        if self._spool.clear():
            with self._state:
                self._drained = self._rounds
                self._state.notify_all()
        else:
            self.notify()

    def _has_open_turns(self, id: str, now: float) -> bool:
        """Look at a project's open turns; whatever keeps it from that must not hold up the others."""
        try:
            return self._memory.project_of_id(id).capture.tick(now)
        except NotFoundError:
            return False
        except StorageError as fault:
            if not self._refused.get(id):
                log.error("the open turns of %s wait: %s", id, fault)
            self._refused[id] = self._refused.get(id, 0) + 1
            return True
        except Exception:  # told again by its next event
            log.exception("the open turns of %s were passed over", id)
            return False

    def _take(self, lines: Sequence[Spooled]) -> None:
        """Store lines; what can't be written now is raised, one we can't cope with is passed over."""
        try:
            self._store(lines)
        except StorageError:
            raise
        except Exception as fault:
            if len(lines) > 1:  # all but that one are to be stored
                middle = len(lines) // 2
                self._take(lines[:middle])
                self._take(lines[middle:])
                return
            unforeseen = None if isinstance(fault, GraphMemError) else fault
            log.error(
                "a line of %s was passed over: %s", lines[0].client[:60] or "ours", fault, exc_info=unforeseen
            )

    def _store(self, lines: Sequence[Spooled]) -> None:
        loads: dict[str, _Load] = {}
        for line in lines:
            for project, arrival, note in self._sorted(line):
                load = loads.setdefault(project.id, _Load(project))
                if arrival is not None:
                    load.arrivals.append(arrival)
                if note is not None:
                    load.notes.append(note)
                if not load.lines or load.lines[-1] is not line:
                    load.lines.append(line)
        for load in loads.values():
            self._settle(load)

    def _settle(self, load: _Load) -> None:
        """Store what a batch brings to one project; one that takes nothing must not hold up the others."""
        id = load.project.id
        try:
            load.project.capture.take(load.arrivals, load.notes)
        except StorageError as fault:
            self._refused[id] = self._refused.get(id, 0) + 1
            if self._refused[id] <= len(_PAUSES):
                raise
            log.error("events of %s are set aside until the next start: %s", id, fault)
            self._spool.set_aside(load.lines)
            return
        self._refused.pop(id, None)
        self._active.add(id)

    # ---- whose is it ----------------------------------------------------------------------------

    def _sorted(self, line: Spooled) -> Iterator[tuple[Project, Arrival | None, NoteRow | None]]:
        """Yield what a line tells each project."""
        if line.note is not None:
            note, slug = _note(line), line.note.get("project")
            if note is not None and isinstance(slug, str):
                yield self._memory.project_of_id(slug), None, note
            return
        adapter = self._adapters.get(line.client)
        if adapter is None:
            log.warning("an event of the unknown client %r was passed over", line.client[:60])
            return
        at = sane(line.at, self._clock())
        for place, event in enumerate(adapter.events(line.event, at)):
            if event.session == DRILL:
                continue
            if event.kind is EventKind.SESSION_STARTED and self._clock() - at < _LATELY:
                self._started(event)
            for number, (project, part) in enumerate(self._parts(event)):
                redacted = line.redacted if place == number == 0 else {}
                yield project, Arrival(f"{line.id}:{place}", part, redacted), None

    def _parts(self, event: Event) -> Iterator[tuple[Project, Event]]:
        """Yield the event as each project sees it: its own files; the words only where the session is."""
        home = self._places.of_folder(event.cwd)
        reads: dict[str, list[str]] = {}
        edits: dict[str, list[FileEdit]] = {}
        projects: dict[str, Project] = {} if home is None else {home.id: home}
        for path in event.reads:
            if (owner := self._places.of_file(path, event.cwd)) is not None:
                projects[owner.id] = owner
                reads.setdefault(owner.id, []).append(path)
        for edit in event.edits:
            ends = [path for path in (edit.path, edit.former) if path is not None]
            for owner in {o.id: o for p in ends if (o := self._places.of_file(p, event.cwd))}.values():
                projects[owner.id] = owner
                edits.setdefault(owner.id, []).append(edit)
        for id in self._also_in(event, projects):
            with suppress(NotFoundError):
                projects.setdefault(id, self._memory.project_of_id(id))
        for id, project in projects.items():
            words = home is not None and id == home.id
            yield (
                project,
                replace(
                    event,
                    reads=tuple(reads.get(id, ())),
                    edits=tuple(edits.get(id, ())),
                    text=event.text if words else "",
                    command=event.command if words else "",
                ),
            )

    def _also_in(self, event: Event, projects: Mapping[str, Project]) -> list[str]:
        """Return the other projects of the session that must hear of its prompts and ends."""
        known = self._elsewhere.setdefault(event.session, set())
        self._elsewhere.move_to_end(event.session)
        while len(self._elsewhere) > _SESSIONS:
            self._elsewhere.popitem(last=False)
        known.update(projects)
        return sorted(known - projects.keys()) if event.kind in _OF_A_SESSION else []


def _note(line: Spooled) -> NoteRow | None:
    match line.note:
        case {
            "session": str(session),
            "turn": str(turn),
            "moment": str(moment),
            "path": str(path),
            "named": list(named),
            "size": int(size),
        } if moment in _MOMENTS:
            names = tuple(name for name in named if isinstance(name, str))
            return NoteRow(line.id, line.at, session, turn, Moment(moment), path, names, size)
    return None
