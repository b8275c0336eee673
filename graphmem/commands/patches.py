"""Owns which files a patch touches: the agents' `*** Begin Patch` form, and unified and git diffs.

It is not what a patch does to a file's lines, and it looks at no disk. Of a patch only its header lines are
needed, so one that was reduced to them reads the same as the whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from graphmem.events import FileChange, FileEdit
from graphmem.spelling import unquoted

_BEGIN = "*** Begin Patch"
_HEADER = re.compile(r"\*\*\* (Add File|Update File|Delete File|Move to): *(.+)")
_ESCAPED_BREAK = re.compile(r"\\r?\\n|\\n")
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_STAMP = re.compile(r"\t.*$")
_PLAIN_PAIR = re.compile(r"a/(?P<name>.+) b/(?P=name)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_CHANGES = {
    "Add File": FileChange.ADDED,
    "Update File": FileChange.MODIFIED,
    "Delete File": FileChange.DELETED,
}
_LONGEST_NAME = 1_024
_NOTHING = "/dev/null"


def read_patch(text: str) -> tuple[FileEdit, ...]:
    r"""Return the files that a patch changes, each once, in order of first mention; paths as it writes them.

    `text` may hold more than the patch, such as the script that applies it; a patch that stands in a string
    with its line breaks written as `\n` is understood as well. A move is told as one whether or not lines
    change too. In git's form the prefixes `a/` and `b/` are taken off, a diff that has none is read as it is.
    Text that is no patch gives nothing.
    """
    if _BEGIN + "\\" in text:
        text = _ESCAPED_BREAK.sub("\n", text)
    lines = text.splitlines()
    found = [*_agent_patch(lines)] or [*_diff(lines)]
    return tuple(dict.fromkeys(found))


def _agent_patch(lines: list[str]) -> Iterator[FileEdit]:
    updated: str | None = None
    for line in lines:
        found = _HEADER.match(line)
        if found is None:
            continue
        kind, path = found[1], found[2].strip()
        if not _can_be_a_name(path):
            continue
        if kind == "Move to":
            if updated is not None and path != updated:
                yield FileEdit(path, FileChange.MOVED, updated)
                updated = None
            continue
        if updated is not None:
            yield FileEdit(updated)
        updated = path if kind == "Update File" else None
        if updated is None:
            yield FileEdit(path, _CHANGES[kind])
    if updated is not None:
        yield FileEdit(updated)


@dataclass(slots=True)
class _Section:
    """What the header lines of one file's part of a diff have said so far."""

    old: str | None = None
    new: str | None = None
    is_added: bool = False
    is_deleted: bool = False
    is_copy: bool = False

    def edit(self) -> FileEdit | None:
        old = None if self.old == _NOTHING else self.old
        new = None if self.new == _NOTHING else self.new
        if new is None or self.is_deleted:
            gone = old or new
            return None if gone is None else FileEdit(gone, FileChange.DELETED)
        if old is None or self.is_added or self.is_copy:
            return FileEdit(new, FileChange.ADDED)
        return FileEdit(new) if old == new else FileEdit(new, FileChange.MOVED, old)


def _diff(lines: list[str]) -> Iterator[FileEdit]:
    """Read a unified diff; the lines of a hunk are passed over by count, as they may look like headers."""
    section = _Section()
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        hunk = _HUNK.match(line)
        if hunk is not None:
            at = _after_hunk(lines, at, int(hunk[1] or 1), int(hunk[2] or 1))
        elif line.startswith("diff --git "):
            yield from _told(section)
            pair = _PLAIN_PAIR.fullmatch(line.removeprefix("diff --git "))
            section = _Section(pair["name"], pair["name"]) if pair else _Section()
        elif line.startswith("--- ") and at < len(lines) and lines[at].startswith("+++ "):
            section.old, section.new = _pair(line[4:], lines[at][4:])
            at += 1
            yield from _told(section)
            section = _Section()
        else:
            _note(section, line)
    yield from _told(section)


def _after_hunk(lines: list[str], at: int, old: int, new: int) -> int:
    """Return where the lines of a hunk end, or `at` where they were left out."""
    while at < len(lines) and (old > 0 or new > 0):
        first = lines[at][:1]
        if first not in ("", " ", "+", "-", "\\"):
            break
        old -= first in ("", " ", "-")
        new -= first in ("", " ", "+")
        at += 1
    return at


def _pair(before: str, after: str) -> tuple[str, str]:
    old, new = (unquoted(_STAMP.sub("", name).strip()) for name in (before, after))
    if old.startswith(("a/", "/dev/null")) and new.startswith(("b/", "/dev/null")):
        old = old if old == _NOTHING else old[2:]
        new = new if new == _NOTHING else new[2:]
    return old, new


def _note(section: _Section, line: str) -> None:
    if line.startswith("new file mode "):
        section.is_added = True
    elif line.startswith("deleted file mode "):
        section.is_deleted = True
    elif line.startswith(("rename from ", "copy from ")):
        section.old = unquoted(line.split(" from ", 1)[1].strip())
        section.is_copy = line.startswith("copy")
    elif line.startswith(("rename to ", "copy to ")):
        section.new = unquoted(line.split(" to ", 1)[1].strip())


def _told(section: _Section) -> Iterator[FileEdit]:
    edit = section.edit()
    if edit is not None and all(_can_be_a_name(name) for name in (edit.path, edit.former or edit.path)):
        yield edit


def _can_be_a_name(path: str) -> bool:
    return 0 < len(path) <= _LONGEST_NAME and _CONTROL.search(path) is None and not path.endswith("/")
