"""Owns the paths of one event as the files of a turn take them: edits first, relative ones made absolute.

It is not path identity (that is `graphmem.identity`), which needs the disk; here only a name is joined with
the folder it was said in, as an observation has one folder and a turn may have many.
"""

from __future__ import annotations

import ntpath
import posixpath
import re

from graphmem.events import Event, FileChange, FileEdit
from graphmem.turns.turn_files import Step

_LONGEST_PATH = 4_096
_ABSOLUTE = re.compile(r"[\\/]|[A-Za-z]:(?:[\\/]|$)|~(?:[\\/]|$)|[A-Za-z][A-Za-z0-9+.-]+://")
_WINDOWS = re.compile(r"[A-Za-z]:(?:[\\/]|$)|\\\\")


def steps_of(event: Event, folder: str) -> list[Step]:
    """Return what an event did to files; `folder` is the session's, for an event that names none.

    Edits come first: what a command wrote and then read is new, not a file that was there.
    """
    cwd = event.cwd or folder
    steps: list[Step] = []
    for edit in event.edits:
        path, former = _placed(edit.path, cwd), _placed(edit.former or "", cwd)
        if path:
            is_move = edit.change is not FileChange.MOVED or former
            steps.append(FileEdit(path, edit.change if is_move else FileChange.ADDED, former or None))
        elif former:
            steps.append(FileEdit(former, FileChange.DELETED))
    steps += [path for read in event.reads if (path := _placed(read, cwd))]
    return steps


def _placed(path: str, cwd: str) -> str:
    """Return the path, joined with `cwd` if it is relative; empty if no file can have it."""
    if path and cwd and not _ABSOLUTE.match(path):
        style = ntpath if _WINDOWS.match(cwd) else posixpath
        path = style.normpath(style.join(cwd, path))
    return path if len(path) <= _LONGEST_PATH and "\0" not in path else ""
