"""Owns the wording of the digest: one line a module, a session, a task, as many as fit a budget of tokens.

It is not what the lines are about (that is `overview`) and asks no database. Labels, titles and tasks are
data from outside and quoted as file names are in a note (see `graphmem.recall.note`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from graphmem.graph import HealthCounts, ModuleState
from graphmem.recall.activity import day
from graphmem.recall.note import quoted
from graphmem.recall.packing import packed_tokens
from graphmem.recall.statements import in_quotes

LEAST_TOKENS = 20
"""A smaller budget does not hold the first line."""
_LONGEST = 80
_TASKS_OF_A_MODULE = 3


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is recorded, and when the first and the newest observation happened (epoch seconds)."""

    observations: int
    sessions: int
    files: int
    first: float
    newest: float


def digest(
    extent: Extent,
    modules: Sequence[ModuleState],
    progress: Sequence[str],
    tasks: Sequence[str],
    troubles: HealthCounts,
    budget_tokens: int,
) -> str:
    """Return the digest in at most `budget_tokens` tokens (at least `LEAST_TOKENS`).

    Args:
        extent: the first line, which is always there.
        modules: the most telling first.
        progress: what sessions are at, the latest first, worded by `in_progress`.
        tasks: open ones of no module above, the newest first.
        troubles: kinds that there are none of are left out.
        budget_tokens: see `graphmem.recall.packing`.
    """
    sections: list[list[tuple[str, ...]]] = [
        [_first_line(extent)],
        [_module(module) for module in modules],
        [(f"- in progress: {entry}",) for entry in progress],
        [(f"- open: {_said(task)}",) for task in tasks],
        [(line,) for line in _troubles(troubles)],
    ]
    chosen: list[dict[int, str]] = [{} for _ in sections]
    for section, place in _in_turn([len(lines) for lines in sections]):
        for wording in sections[section][place]:
            chosen[section][place] = wording
            if packed_tokens(_joined(chosen)) <= budget_tokens:
                break
            del chosen[section][place]
    return _joined(chosen)


def in_progress(set_out: str, actor: str, session: str) -> str:
    """Return what one session is at, in words."""
    who = ", ".join([*([_words(actor)] if actor else []), f"session {_words(session)}"])
    return f"{_said(set_out)} ({who})" if set_out else who


def _in_turn(lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield section and place of each line in the order in which they are given room.

    The first line and the troubles come before anything is listed; then two modules a session and a task.
    """
    head, modules, progress, tasks, troubles = (
        [(at, n) for n in range(size)] for at, size in enumerate(lengths)
    )
    yield from head
    yield from modules[:1]
    yield from troubles
    rest = (iter(modules[1:]), 2), (iter(progress), 1), (iter(tasks), 1)
    for _ in range(sum(lengths)):
        for more, share in rest:
            yield from islice(more, share)


def _joined(chosen: Sequence[dict[int, str]]) -> str:
    return "\n".join(lines[place] for lines in chosen for place in sorted(lines))


def _first_line(extent: Extent) -> tuple[str, ...]:
    """Return the first line, and a shorter one that always fits."""
    span = f"{day(extent.first)} to {day(extent.newest)}"
    seen = _counted(extent.observations, "observation")
    whole = f"{seen} in {_counted(extent.sessions, 'session')} of {_counted(extent.files, 'file')}, {span}."
    return whole, f"{seen}, {span}."


def _module(module: ModuleState) -> tuple[str, ...]:
    """Return a module's line, and one without its tasks."""
    changed = "" if module.last_change is None else f", last change {day(module.last_change)}"
    line = f"- {_words(module.label)}: {_counted(module.size, 'member')}, {module.state}{changed}"
    if not module.open_tasks:
        return (line,)
    tasks = ", ".join(map(_said, module.open_tasks[:_TASKS_OF_A_MODULE]))
    more = len(module.open_tasks) - _TASKS_OF_A_MODULE
    return f"{line}; open: {tasks}{f' and {more} more' if more > 0 else ''}", line


def _troubles(counts: HealthCounts) -> Iterator[str]:
    # Orphans are no trouble: files that always changed alone have none to be linked with.
    numbers = (
        (counts.dead_files, "dead file"),
        (counts.cycles, "dependency cycle"),
        (counts.oversized_modules, "oversized module"),
        (counts.stale_edges, "stale edge"),
    )
    found = [_counted(number, what) for number, what in numbers if number]
    if found:
        yield f"Health: {', '.join(found)}."


def _words(text: str) -> str:
    """Return a name from outside as one harmless piece of a line."""
    return quoted(_cut(text))


def _said(text: str) -> str:
    """Return what somebody said, always in quotation marks: without blanks, as in Chinese, too."""
    return in_quotes(_cut(text))


def _cut(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST else f"{flat[: _LONGEST - 1].rstrip()}…"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
