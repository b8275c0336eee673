"""Owns live capture into one project: events are taken once, become observations, and are stored in one go.

It is not the way events come in (`graphmem.recorder`) nor how they are put together (`turns.assembly`).
Only the recorder's thread takes events; what is asked may be asked from any thread.
"""

from __future__ import annotations

import logging
import math
import os
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from graphmem.access import Access
from graphmem.capture.intake import RefusedError
from graphmem.captured import Batch, Captured, HelpCounts, NoteRow, NoteState, Outcome
from graphmem.errors import InvalidInputError
from graphmem.events import Event, EventKind, FileChange, FileEdit, Origin, Phase
from graphmem.helpfulness import judged
from graphmem.identity import PathResolver
from graphmem.model import Observation
from graphmem.opened import Opened
from graphmem.repository import locate
from graphmem.turns.assembly import Draft, OpenTurn, current, decode, due, encode, fed, is_open, without_work

PROVISIONAL_EVERY = 0.8
"""Seconds between two tellings of a turn that is still being worked on; each edit shows within a second."""
_NOTES_OF_A_SESSION = 200
_SESSIONS = 200
_SWEEP_EVERY = 3_600.0
_AFRESH = frozenset({Origin.STARTUP, Origin.CLEAR})
_MADE = frozenset({FileChange.ADDED, FileChange.MOVED})

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Arrival:
    """An event on its way in: `delivery` names the hook call and the event's place in it."""

    delivery: str
    event: Event
    redacted: Mapping[str, int]


class ProjectCapture:
    """The capture of one project; get it from `Project.capture`."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._turns: dict[str, OpenTurn] | None = None
        self._told_at: dict[str, float] = {}
        self._untold: set[str] = set()
        # Held by whoever changes what is open.
        self._lock = threading.Lock()
        self._swept_at = 0.0
        # When each file of an open session was first read or changed.
        self._seen: dict[str, dict[str, float]] = {}

    # ---- questions ------------------------------------------------------------------------------

    def notes(self, session: str) -> list[NoteState]:
        """Return the notes given in a session, the latest first."""
        with self._access.use() as files:
            return files.journal.captured.notes(session, _NOTES_OF_A_SESSION)

    def help_counts(self) -> HelpCounts:
        """Return how many notes were given and how they turned out."""
        with self._access.use() as files:
            return files.journal.captured.help_counts()

    def redactions(self) -> dict[str, int]:
        """Return how often something was kept out, by kind."""
        with self._access.use() as files:
            return files.journal.captured.redactions()

    @contextmanager
    def forgetting(self, ids: Collection[str]) -> Iterator[None]:
        """Let nothing be taken while observations are erased: none must come back with what is on its way.

        If one is the part being worked on, that begins anew, as the next part.
        """
        with self._lock, self._access.use() as files:
            gone = [(name, turn) for name, turn in self._opened(files).items() if _is_told_as(turn, ids)]
            try:
                yield
            finally:
                self._turns = None
            if gone:
                turns = {session: encode(without_work(turn)) for session, turn in gone}
                files.journal.captured.settle(Batch(turns=turns), self._access.clock())

    # ---- taking ---------------------------------------------------------------------------------

    def take(self, arrivals: Sequence[Arrival], notes: Sequence[NoteRow] = ()) -> None:
        """Store what these events and notes lead to; what was taken before changes nothing.

        Raises:
            StorageError: the disk is full or not writable; nothing of it is stored then.
        """
        with self._lock, self._access.use() as files, files.workspace.reading() as resolver:
            try:
                taking = self._taking(files, resolver)
                for arrival in arrivals:
                    taking.take(arrival, notes)
                self._store(files, taking, notes)
            except BaseException:
                self._turns = None  # what is stored counts, not what was on its way
                raise

    def tick(self, now: float) -> bool:
        """Close what is due at `now` (epoch seconds), tell anew what is still open; return whether any is."""
        with self._lock:
            sweeps = now - self._swept_at >= _SWEEP_EVERY
            if self._turns is not None and not (sweeps or self._untold or self._is_busy()):
                return False
            with self._access.use() as files, files.workspace.reading() as resolver:
                taking = self._taking(files, resolver)
                for session, turn in self._opened(files).items():
                    if sweeps or is_open(turn):
                        taking.advance(session, due(turn, now))
                if taking.changed or self._untold:
                    self._store(files, taking, ())
            if sweeps:
                self._swept_at = now
            return self._is_busy()

    def _is_busy(self) -> bool:
        """Return whether a turn is being worked on; the others are only remembered."""
        return any(map(is_open, (self._turns or {}).values()))

    def _taking(self, files: Opened, resolver: PathResolver) -> _Taking:
        opened = self._opened(files)
        while len(self._seen) > _SESSIONS:
            del self._seen[next(iter(self._seen))]
        root = self._access.registry.project(self._access.id).root
        return _Taking(files, resolver, dict(opened), self._seen, root, self._access.clock())

    def _opened(self, files: Opened) -> dict[str, OpenTurn]:
        if self._turns is None:
            self._turns = {}
            for session, text in files.journal.captured.turns().items():
                try:
                    self._turns[session] = decode(text)
                except InvalidInputError as fault:
                    log.warning("an open turn of session %s can't be gone on with: %s", session, fault)
        return self._turns

    def _store(self, files: Opened, taking: _Taking, notes: Sequence[NoteRow]) -> None:
        """Write everything in one transaction, and remember what is open now."""
        pending = (taking.changed | self._untold) & taking.turns.keys()
        ready = {session for session in pending if self._may_tell(session)}
        drafts = {session: current(taking.turns[session]) for session in sorted(ready)}
        shown = {session: draft for session, draft in drafts.items() if draft is not None}
        observations = taking.observations([*taking.drafts, *shown.values()])
        now = self._access.clock()
        seen, elsewhere = files.workspace.sightings(observations, now)
        files.journal.captured.settle(
            Batch(
                keys=tuple(taking.keys),
                observations=tuple(observations),
                turns={session: _encoded(taking.turns.get(session)) for session in sorted(taking.changed)},
                notes=tuple(notes),
                outcomes=tuple(taking.outcomes),
                redacted=taking.redacted,
                begun=tuple(taking.begun),
                ended=taking.ended,
            ),
            now,
            sighted=seen,
            unsighted=elsewhere,
        )
        self._turns = taking.turns
        self._untold = pending - ready
        for session in shown:
            self._told_at[session] = time.monotonic()
        for session in self._told_at.keys() - taking.turns.keys():
            del self._told_at[session]
        if observations:
            files.follower.notify()
            files.curator.notice()
            files.vectors.notice()

    def _may_tell(self, session: str) -> bool:
        return time.monotonic() - self._told_at.get(session, float("-inf")) >= PROVISIONAL_EVERY


def _is_told_as(turn: OpenTurn, ids: Collection[str]) -> bool:
    draft = current(turn)
    return draft is not None and draft.item["id"] in ids


def _encoded(turn: OpenTurn | None) -> str | None:
    return None if turn is None else encode(turn)


class _Taking:
    """One batch on its way into the journal."""

    def __init__(
        self,
        files: Opened,
        resolver: PathResolver,
        turns: dict[str, OpenTurn],
        seen: dict[str, dict[str, float]],
        root: str,
        now: float,
    ) -> None:
        self._files = files
        self._resolver = resolver
        self._root = root
        self._now = now
        self._afresh: dict[str, bool] = {}
        self._notes: dict[str, list[NoteState]] = {}
        self._seen = seen
        self._branches: dict[str, str] = {}
        self.turns = turns
        self.changed: set[str] = set()
        self.keys: dict[str, None] = {}
        self.drafts: list[Draft] = []
        self.outcomes: list[Outcome] = []
        self.redacted: dict[str, int] = {}
        self.begun: list[str] = []
        self.ended: dict[str, bool] = {}

    @property
    def _captured(self) -> Captured:
        return self._files.journal.captured

    def take(self, arrival: Arrival, notes: Sequence[NoteRow]) -> None:
        event = arrival.event
        if event.kind is EventKind.SESSION_STARTED and event.origin in _AFRESH:
            self._afresh[event.session] = True
            self.begun.append(event.session)
        checked, kept = self._keys_of(arrival)
        if any(key in self.keys for key in checked) or self._captured.known(checked):
            return
        self.keys.update(dict.fromkeys(kept))
        for kind, count in arrival.redacted.items():
            self.redacted[kind] = self.redacted.get(kind, 0) + count
        if not self._captured.captures(event.session):
            return
        match event.kind:
            case EventKind.SESSION_ENDED:
                self.ended[event.session] = True
            case EventKind.SESSION_STARTED | EventKind.PROMPT:
                self.ended[event.session] = False
        event = self._resolved(event)
        if event.phase is Phase.DONE:
            self._follow_up(event, notes)
        self.advance(event.session, fed(self.turns.get(event.session), event))

    def _keys_of(self, arrival: Arrival) -> tuple[list[str], list[str]]:
        """Return the keys by which an event may be known already, and those it is known by from now on.

        Of a session that began afresh every call is new, whatever its name; one that goes on may bring calls
        of another session in again. What the client gives no name is known by its delivery.
        """
        event = arrival.event
        if not event.key:
            delivery = f"delivery:{arrival.delivery}"
            return [delivery], [delivery]
        # A client may run the hooks of another's settings too: within a session a call is one by its name.
        own, anywhere = f"{event.session}:{event.key}", f"{event.client}::{event.key}"
        if event.session not in self._afresh:
            self._afresh[event.session] = self._captured.began_afresh(event.session)
        return [own] if self._afresh[event.session] else [own, anywhere], [own, anywhere]

    def _resolved(self, event: Event) -> Event:
        """Return the event with the project's own names; what lies outside is left out."""
        reads = (self._name(path, event.cwd) for path in event.reads)
        edits = [self._edit(edit, event.cwd) for edit in event.edits]
        return replace(
            event,
            reads=tuple(path for path in reads if path is not None),
            edits=tuple(edit for edit in edits if edit is not None),
            branch=self._branch(event),
            cwd=self._root,
        )

    def _branch(self, event: Event) -> str:
        """Return the branch that is checked out where the event's files lie, else where the agent is."""
        paths = (*(edit.path for edit in event.edits), *event.reads)
        if not (paths or event.text):
            return ""
        folder = next((os.path.dirname(path) for path in paths if os.path.isabs(path)), event.cwd or "")
        if folder not in self._branches:
            checkout = locate(folder) if os.path.isabs(folder) and "\0" not in folder else None
            self._branches[folder] = (checkout.branch or "") if checkout is not None else ""
        return self._branches[folder]

    def _name(self, path: str, cwd: str | None) -> str | None:
        try:
            name = self._resolver.resolve(path, cwd)
        except InvalidInputError:
            return None
        return None if name is None or name.split("/", 1)[0] == ".git" else name

    def _edit(self, edit: FileEdit, cwd: str | None) -> FileEdit | None:
        path = self._name(edit.path, cwd)
        former = None if edit.former is None else self._name(edit.former, cwd)
        if path is None:  # what is moved out of the project is gone from it
            return None if former is None else FileEdit(former, FileChange.DELETED)
        return replace(edit, path=path, former=former)

    def advance(self, session: str, step: tuple[OpenTurn | None, list[Draft]]) -> None:
        """Take over what assembly made of one event, or of the time that passed."""
        turn, drafts = step
        before = self.turns.get(session)
        self.drafts.extend(drafts)
        if turn is None:
            self.turns.pop(session, None)
        else:
            self.turns[session] = turn
        if turn != before or drafts:
            self.changed.add(session)

    # ---- did it help ----------------------------------------------------------------------------

    def _follow_up(self, event: Event, given: Sequence[NoteRow]) -> None:
        """Note which files that a note named, or failed to name, were opened or changed after it."""
        session = event.session
        opened = event.reads
        changed = tuple(edit.former or edit.path for edit in event.edits)
        seen = self._seen.setdefault(session, {})
        for edit in event.edits:
            if edit.change in _MADE:  # no note can name what is not there yet
                seen.setdefault(edit.path, -math.inf)
        if opened or changed:
            if session not in self._notes:
                self._notes[session] = self._captured.notes(session, _NOTES_OF_A_SESSION)
            notes = [state.note for state in self._notes[session]]
            notes += [note for note in given if note.session == session]
            for note in notes:
                if note.path and note.turn == event.turn and note.at <= event.at:
                    before = {path for path, at in seen.items() if at < note.at}
                    before.update(path for other in notes if other is not note for path in other.named)
                    found = judged(note.named, note.path, opened, changed, before)
                    if any(found):
                        self.outcomes.append(Outcome(note.id, *found, at=event.at))
        for path in (*opened, *changed):
            seen.setdefault(path, event.at)

    # ---- observations ---------------------------------------------------------------------------

    def observations(self, drafts: Iterable[Draft]) -> list[Observation]:
        """Return the drafts as they are stored; of two with one id the later."""
        found: dict[str, Observation] = {}
        for draft in drafts:
            taken, rejected = self._files.judge([draft.item], self._now)
            if rejected:
                log.warning("a turn's work was refused: %s", RefusedError(rejected[0].errors))
                continue
            found[taken[0].id] = replace(taken[0], turn=draft.turn, provisional=draft.provisional)
        return list(found.values())
