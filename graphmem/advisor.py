"""Owns what an agent is told, and when: at a start, at a prompt, before a file is changed; each once.

It is not the wording (that is `graphmem.recall`) nor the client's JSON (that is `graphmem.clients`). The
notes of a session are kept in its project's journal, so that a restart repeats none; lines of reminders are
known only as long as the process lives.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from graphmem.captured import NoteRow
from graphmem.events import Advice, Event, EventKind, Moment, Origin, Phase
from graphmem.memory import Project
from graphmem.places import Places
from graphmem.task_words import task_words

VERY_STRONG = 0.9
"""The probability from which an edit is held, where the user wants that."""
_SESSIONS = 500
_FILES = 20
_CALLS = 200
_TELLING = 2


@dataclass(frozen=True, slots=True)
class Told:
    """What is told, and what is remembered of it; `project` is the id of the project it is about."""

    advice: Advice
    project: str
    note: NoteRow


@dataclass(slots=True)
class _Session:
    """What one session of one project was told and has in hand, and the calls that were looked at ahead.

    `task` are the words of its last prompt that told a task.
    """

    lock: threading.Lock = field(default_factory=threading.Lock)
    told: set[str] = field(default_factory=set)
    seen: set[str] = field(default_factory=set)
    ahead: set[str] = field(default_factory=set)
    reminded: set[str] = field(default_factory=set)
    task: tuple[str, ...] = ()
    opening: str = ""
    is_greeted: bool = False
    owes_opening: bool = False
    is_loaded: bool = False


class Advisor:
    """Decides what is told; safe to share between threads.

    Args:
        places: which project a folder belongs to.
        hold: whether a very strong note may hold an edit once.
    """

    def __init__(self, places: Places, hold: bool = False) -> None:
        self._places = places
        self._hold = hold
        self._lock = threading.Lock()
        self._sessions: OrderedDict[tuple[str, str], _Session] = OrderedDict()

    def advise(self, event: Event, delivery: str, carries: bool = True) -> Told | None:
        """Return what the agent is told in answer to one event, or None.

        `delivery` names what is remembered of it; `carries` is whether the answer can carry a text at all.
        """
        match event.kind:
            case EventKind.SESSION_STARTED if carries:
                return self._at_start(event, delivery)
            case EventKind.PROMPT if carries and not event.agent:
                return self._at_prompt(event, delivery)
            case EventKind.READ | EventKind.EDITED | EventKind.COMMAND_RUN if event.phase is not Phase.FAILED:
                return self._at_files(event, delivery, carries)
        return None

    def hears_start(self, event: Event) -> None:
        """Take note that a session's start is being answered."""
        project = self._places.of_folder(event.cwd)
        if project is not None:
            self._session(project, event.session).is_greeted = True

    def missed_start(self, event: Event) -> None:
        """Take note of a start that was only read from the spool: what it would have been told is owed.

        The first session on a machine starts the service itself, and is not answered yet.
        """
        project = self._places.of_folder(event.cwd)
        if project is not None:
            session = self._session(project, event.session)
            if not session.is_greeted:
                session.is_greeted = session.owes_opening = True

    def _at_start(self, event: Event, delivery: str) -> Told | None:
        project = self._places.of_folder(event.cwd)
        if project is None:
            return None
        if event.origin is Origin.CLEAR:  # what was told and read is out of the agent's sight
            session = self._session(project, event.session)
            with session.lock:
                for known in (session.told, session.seen, session.reminded):
                    known.clear()
                session.opening = ""
                session.task = ()
                session.is_loaded = True
        text = project.advice.opening(event.session, event.origin)
        if text is not None:
            session = self._session(project, event.session)
            with session.lock:
                if text == session.opening and event.origin is not Origin.COMPACT:
                    return None  # hooks that are set up twice tell of each start twice
                session.opening = text
                _unheard(text, session.reminded)
        return None if text is None else _told(project, event, delivery, Moment.SESSION_START, text)

    def _at_prompt(self, event: Event, delivery: str) -> Told | None:
        project = self._places.of_folder(event.cwd)
        if project is None:
            return None
        session = self._session(project, event.session)
        blocks = [project.advice.remind(event.text, event.client)]
        words = task_words(event.text)
        with session.lock:
            # "go on" says nothing of the task, which stays what it was.
            session.task = words if len(words) >= _TELLING else session.task
            if session.owes_opening:
                session.owes_opening = False
                blocks.insert(0, project.advice.opening(event.session, Origin.STARTUP))
            fresh = [_unheard(block, session.reminded) for block in blocks if block is not None]
        text = "\n".join(block for block in fresh if block is not None)
        return _told(project, event, delivery, Moment.PROMPT, text) if text else None

    # ---- files ----------------------------------------------------------------------------------

    def _at_files(self, event: Event, delivery: str, carries: bool) -> Told | None:
        """Tell of the files that are changed, else of those that are read; of one project, each file once."""
        changed = [edit.former or edit.path for edit in event.edits]
        moment = Moment.EDIT if changed else Moment.READ
        for project, paths in self._by_project(changed or event.reads, event.cwd):
            session = self._session(project, event.session)
            with session.lock:
                tells = carries and self._is_loaded(project, event.session, session)
                names = project.advice.named(paths, event.cwd)
                told = None
                if tells and event.call not in session.ahead:
                    told = self._alert(event, project, session, names, moment, delivery)
                session.ahead.discard(event.call)
                if tells and event.phase is Phase.AHEAD and event.call:
                    # Of calls that failed or were refused nothing more comes.
                    if len(session.ahead) >= _CALLS:
                        session.ahead.clear()
                    session.ahead.add(event.call)
                session.seen.update(names)
            if told is not None:
                return told
        return None

    def _by_project(self, paths: Sequence[str], cwd: str | None) -> list[tuple[Project, list[str]]]:
        found: dict[str, tuple[Project, list[str]]] = {}
        for path in paths[:_FILES]:
            project = self._places.of_file(path, cwd)
            if project is not None:
                found.setdefault(project.id, (project, []))[1].append(path)
        return list(found.values())

    def _alert(
        self,
        event: Event,
        project: Project,
        session: _Session,
        names: Sequence[str],
        moment: Moment,
        delivery: str,
    ) -> Told | None:
        untold = [name for name in names if name not in session.told]
        if not untold:
            return None
        alert = project.advice.alert(
            untold, session=event.session, actor=event.client, seen=session.seen, task=session.task
        )
        if alert is None:
            return None
        session.told.update(untold)
        very_strong = alert.is_confirmed or alert.strongest >= VERY_STRONG
        hold = self._hold and very_strong and moment is Moment.EDIT and event.phase is Phase.AHEAD
        note = NoteRow(
            delivery,
            event.at,
            event.session,
            event.turn,
            moment,
            alert.path,
            alert.named,
            len(alert.text.encode()),
        )
        return Told(Advice(moment, alert.text, hold), project.id, note)

    # ---- what a session knows -------------------------------------------------------------------

    def _session(self, project: Project, name: str) -> _Session:
        key = (project.id, name)
        with self._lock:
            session = self._sessions.setdefault(key, _Session())
            self._sessions.move_to_end(key)
            while len(self._sessions) > _SESSIONS:
                self._sessions.popitem(last=False)
        return session

    def _is_loaded(self, project: Project, name: str, session: _Session) -> bool:
        """Return whether it is known what was told before this process began; read at the first need."""
        if not session.is_loaded:
            touched = project.advice.touched(name)
            if touched is None:
                return False
            session.told.update(state.note.path for state in project.capture.notes(name))
            session.seen.update(touched)
            session.is_loaded = True
        return True


def _told(project: Project, event: Event, delivery: str, moment: Moment, text: str) -> Told:
    """Return what is told of no file; it is remembered for its size."""
    note = NoteRow(delivery, event.at, event.session, event.turn, moment, "", (), len(text.encode()))
    return Told(Advice(moment, text), project.id, note)


def _unheard(text: str, heard: set[str]) -> str | None:
    """Return a block without the lines that the session heard before, None when nothing but its head is left.

    What a client was told once stays in all its later requests; what was said counts, not how it is headed.
    """
    head, *lines = text.split("\n")
    fresh = [line for line in lines if _said(line) not in heard]
    heard.update(map(_said, fresh))
    return "\n".join([head, *fresh]) if fresh else None


def _said(line: str) -> str:
    """Return what a line quotes; a line that quotes nothing is what it says."""
    return line[line.find('"') : line.rfind('"') + 1] or line
