"""The paths of an event are joined with the folder they were said in."""

from __future__ import annotations

import pytest

from graphmem.events import Event, EventKind, FileChange, FileEdit
from graphmem.turns.event_paths import steps_of


def event(*reads: str, edits: tuple[FileEdit, ...] = (), cwd: str | None = None) -> Event:
    return Event(EventKind.COMMAND_RUN, "plain", "s", 0.0, cwd=cwd, reads=reads, edits=edits)


@pytest.mark.parametrize(
    ("cwd", "path", "placed"),
    [
        ("/home/dev/shop", "src/a.py", "/home/dev/shop/src/a.py"),
        ("/home/dev/shop/src", "./b/../a.py", "/home/dev/shop/src/a.py"),
        ("/home/dev/shop/src", "../a.py", "/home/dev/shop/a.py"),
        ("/home/dev/shop", "/home/dev/shop/./a.py", "/home/dev/shop/./a.py"),
        ("/home/dev/shop", "~/a.py", "~/a.py"),
        ("/home/dev/shop", "~a.py", "/home/dev/shop/~a.py"),
        ("/home/dev/shop", "file:///home/dev/a.py", "file:///home/dev/a.py"),
        ("/home/dev/shop", "C:\\dev\\a.py", "C:\\dev\\a.py"),
        ("/home/dev/shop", "odd: name", "/home/dev/shop/odd: name"),
        ("/home/dev/shop", "多/文.py", "/home/dev/shop/多/文.py"),
        ("C:\\dev\\shop", "src\\a.py", "C:\\dev\\shop\\src\\a.py"),
        ("c:/dev/shop", "src/../a.py", "c:\\dev\\shop\\a.py"),
        ("\\\\server\\share\\shop", "a.py", "\\\\server\\share\\shop\\a.py"),
        ("C:\\dev\\shop", "/dev/a.py", "/dev/a.py"),
    ],
)
def test_a_relative_path_is_joined_and_an_absolute_one_left_alone(cwd: str, path: str, placed: str) -> None:
    assert steps_of(event(path, cwd=cwd), "/elsewhere") == [placed]
    assert steps_of(event(path), cwd) == [placed]


def test_without_any_folder_a_path_stays_relative() -> None:
    assert steps_of(event("src/a.py"), "") == ["src/a.py"]


def test_edits_come_before_reads_with_both_names_joined() -> None:
    edits = (FileEdit("b", FileChange.MOVED, "a"), FileEdit("/c"))
    assert steps_of(event("r", edits=edits, cwd="/home"), "") == [
        FileEdit("/home/b", FileChange.MOVED, "/home/a"),
        FileEdit("/c"),
        "/home/r",
    ]


@pytest.mark.parametrize("path", ["", "a\0b", "x" * 5_000])
def test_a_name_no_file_can_have_is_passed_over(path: str) -> None:
    edits = (
        FileEdit(path, FileChange.ADDED),
        FileEdit(path, FileChange.MOVED, "/a"),
        FileEdit("/b", FileChange.MOVED, path),
    )
    assert steps_of(event(path, edits=edits, cwd="/home"), "") == [
        FileEdit("/a", FileChange.DELETED),
        FileEdit("/b", FileChange.ADDED),
    ]
