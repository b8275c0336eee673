"""Owns what a project's digest is about: its modules and how alive they are, work in progress, open tasks.

It is not the wording (that is `digest`). Moments count from the newest observation, not from today: a project
that rests for a month is as it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from graphmem.errors import InvalidInputError
from graphmem.graph import ModuleState, Overview
from graphmem.instant import DAY
from graphmem.journal import Journal
from graphmem.model import Observation, TaskState
from graphmem.nodes import NodeTable, number_of
from graphmem.postings import View
from graphmem.recall.digest import LEAST_TOKENS, Extent, digest, in_progress
from graphmem.recall.edges import Edges
from graphmem.recall.health import health_counts
from graphmem.recall.listing import task_key
from graphmem.recall.packing import packed_tokens
from graphmem.store.port import GraphStore

_ACTIVE_DAYS = 14
_MODULES = 20
_SESSIONS = 5
_SESSIONS_LOOKED_AT = 100
_TASKS = 20
_LOOKED_AT = 2_000
_FILES = 20


class _Task(NamedTuple):
    """An open task and the module that the work it came from was in."""

    text: str
    module: str | None


def overview(
    edges: Edges,
    journal: Journal,
    store: GraphStore | None,
    budget_tokens: int = 200,
    now: float | None = None,
) -> Overview:
    """Return the digest of the project in at most `budget_tokens` tokens.

    Args:
        edges: the present ones.
        journal: where sessions' aims and tasks are read from.
        store: the graph; without one cycles and orphans are not counted.
        budget_tokens: see `graphmem.recall.packing`.
        now: the present moment (epoch seconds), if work that rests for a day by it is in progress no more.

    Raises:
        InvalidInputError: the budget does not hold the first line.
        GraphFault: the graph can't be asked.
    """
    if budget_tokens < LEAST_TOKENS:
        raise InvalidInputError(
            f"A budget of {budget_tokens} tokens holds nothing; give {LEAST_TOKENS} or more.", "budget_tokens"
        )
    extent = _extent(edges.view)
    if extent is None:
        text = "Nothing is recorded in this project yet."
        return Overview(text, packed_tokens(text))
    tasks = _open_tasks(edges.view, journal)
    modules = _modules(edges.view, extent, tasks)
    named = {module.id for module in modules}
    homeless = [task.text for task in tasks if task.module not in named]
    rests = now is not None and extent.newest < now - DAY
    progress = [] if rests else _in_progress(edges.view, journal, extent)
    troubles = health_counts(edges, store)
    text = digest(extent, modules, progress, homeless, troubles, budget_tokens)
    return Overview(text, packed_tokens(text), tuple(modules), tuple(progress), troubles)


def _extent(view: View) -> Extent | None:
    row = view.connection.execute(
        "SELECT (SELECT COUNT(*) FROM observation), (SELECT COUNT(*) FROM session),"
        " (SELECT COUNT(*) FROM file WHERE alive = 1), (SELECT MIN(at) FROM observation),"
        " (SELECT MAX(at) FROM observation)"
    ).fetchone()
    return Extent(*row) if row[0] else None


# ---- modules ------------------------------------------------------------------------------------


def _modules(view: View, extent: Extent, tasks: Sequence[_Task]) -> list[ModuleState]:
    """Return the largest modules with their states; those that rest come last."""
    rows = view.connection.execute(
        "SELECT module.id, label, COUNT(*) AS size, MAX(file.heat_at) FROM member"
        " JOIN module ON module.id = member.module AND module.level = 0"
        " LEFT JOIN file ON node % 4 = ? AND file.id = node / 4"
        " WHERE member.level = 0 GROUP BY module.id ORDER BY size DESC, module.id LIMIT ?",
        (NodeTable.FILE, _MODULES),
    ).fetchall()
    modules = []
    for id, label, size, changed in rows:
        last = changed or None
        state = _state(view, id, extent, last)
        own = tuple(task.text for task in tasks if task.module == id)
        modules.append(ModuleState(id, label, size, last, state, own))
    return sorted(modules, key=lambda module: module.state == "quiet")


def _state(view: View, module: str, extent: Extent, last: float | None) -> str:
    """Return whether a module was changed lately, came up lately, or rests."""
    since = extent.newest - _ACTIVE_DAYS * DAY
    if last is None or last < since:
        return "quiet"
    first = view.connection.execute(
        "SELECT MIN((SELECT MIN(at) FROM state WHERE state.file = node / 4)) FROM member"
        " WHERE module = ? AND node % 4 = ?",
        (module, NodeTable.FILE),
    ).fetchone()[0]
    return "new" if first is not None and first >= since > extent.first else "active"


# ---- sessions and tasks -------------------------------------------------------------------------


def _in_progress(view: View, journal: Journal, extent: Extent) -> list[str]:
    """Return what the sessions of the last day are at that have not ended, the latest first."""
    rows = view.connection.execute(
        "SELECT session.name, actor.name, (SELECT seq FROM observation AS first"
        " WHERE first.session = session.id ORDER BY at, seq LIMIT 1), MAX(at) AS latest"
        " FROM observation JOIN session ON session.id = session JOIN actor ON actor.id = actor"
        " WHERE at >= ? GROUP BY session.id ORDER BY latest DESC, session.name LIMIT ?",
        (extent.newest - DAY, _SESSIONS_LOOKED_AT),
    ).fetchall()
    ended = journal.captured.ended([row[0] for row in rows])
    rows = [row for row in rows if row[0] not in ended][:_SESSIONS]
    firsts = journal.numbered(row[2] for row in rows)
    found = []
    for name, actor, seq, _ in rows:
        first = firsts.get(seq)
        found.append(in_progress("" if first is None else first.intent or first.title, actor, name))
    return found


def _open_tasks(view: View, journal: Journal) -> list[_Task]:
    """Return the tasks that nothing said later has closed, the newest first."""
    rows = view.connection.execute(
        "SELECT text, state, seq FROM fact WHERE kind = 'task' ORDER BY at DESC, seq DESC, ord DESC LIMIT ?",
        (_LOOKED_AT,),
    )
    latest: dict[str, tuple[str, str | None, int]] = {}
    for text, state, seq in rows:
        latest.setdefault(task_key(text), (text, state, seq))
    opened = [(text, seq) for text, state, seq in latest.values() if state != TaskState.DONE][:_TASKS]
    told_in = journal.numbered(seq for _, seq in opened)
    return [_Task(text, _module_of(view, told_in[seq])) for text, seq in opened if seq in told_in]


def _module_of(view: View, observation: Observation) -> str | None:
    """Return the module that most of an observation's files are in."""
    paths = (*observation.files_modified, *(rename.new for rename in observation.renames))
    files = (view.file(path) for path in (paths or observation.files_read)[:_FILES])
    nodes = [number_of(NodeTable.FILE, file.id) for file in files if file is not None]
    rows = view.connection.execute(
        f"SELECT module FROM member WHERE level = 0 AND node IN ({','.join('?' * len(nodes))})", nodes
    )
    counted = Counter(row[0] for row in rows)
    return min(counted, key=lambda module: (-counted[module], module), default=None)
