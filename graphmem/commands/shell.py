"""Owns what a shell command says about files: which it reads, and which it writes, moves or removes.

It is not the grammar (`shell_words`) nor the programs one by one (`shell_programs`).
Nothing is run or looked up on the disk, so what cannot be told from the text is left out: variables, globs,
folders, commands inside `$(...)`, and relative paths after a `cd` to a place that is not known.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from graphmem.commands.shell_arguments import arguments, joined, paths
from graphmem.commands.shell_programs import below, work_of
from graphmem.commands.shell_words import Command, Scope, Word, commands
from graphmem.events import FileEdit
from graphmem.spelling import absolute

_LONGEST_COMMAND = 65_536
_DEEPEST = 4
_MOST_LEFT = 32
_LONGEST_FOLDER = 1_024
_KEYWORDS = frozenset(["then", "do", "else", "elif", "if", "while", "until", "!", "{"])
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=", re.ASCII)
_SHELLS = frozenset(("bash", "sh", "zsh", "dash"))
_VERSION = re.compile(r"(python|perl|ruby|node|php)[\d.]+")
# Programs that run the rest of their words, each with the letters of its options that take a value.
_WRAPPERS = {
    "sudo": "ugChpRrTtU",
    "doas": "uC",
    "env": "uSC",
    "nohup": "",
    "time": "fo",
    "nice": "n",
    "ionice": "cnp",
    "timeout": "ks",
    "stdbuf": "ioe",
    "command": "",
    "builtin": "",
    "exec": "a",
    "xargs": "InPLdEsa",
    "npx": "p",
    "bunx": "",
    "uvx": "",
}
_LAUNCHERS = {
    **dict.fromkeys(("poetry", "uv", "pipenv", "hatch", "pdm", "rye"), ("run",)),
    **dict.fromkeys(("pnpm", "yarn"), ("exec", "dlx", "run")),
    "npm": ("exec", "x"),
    "bun": ("x",),
    "bundle": ("exec",),
}


class ShellReading(NamedTuple):
    """The files of one command line, each once, in order; relative paths are relative to where it started."""

    reads: tuple[str, ...] = ()
    edits: tuple[FileEdit, ...] = ()


def read_command(command: str, cwd: str | None, *, is_over: bool = False) -> ShellReading:
    """Return which files `command` reads and changes, its relative paths led on from each `cd` in it.

    With `is_over` the command has run in a shell that stays where a `cd` led it, and `cwd` may be that place:
    if `cwd` ends with the folder that the command went to, paths are relative to it. A command that does two
    things to a file, such as `touch a.py; rm a.py`, tells both. The target of a redirection counts as
    modified. Never fails; what follows the first 64 KiB is not looked at.
    """
    walk = _Walk()
    ended = walk.follow(command[:_LONGEST_COMMAND], "")
    reading = ShellReading(tuple(walk.reads), tuple(walk.edits))
    here = (cwd or "").replace("\\", "/").rstrip("/")
    if is_over and ended and here.endswith(f"/{ended}"):
        return ShellReading(
            tuple(_from(ended, path) for path in reading.reads),
            tuple(
                FileEdit(_from(ended, edit.path), edit.change, edit.former and _from(ended, edit.former))
                for edit in reading.edits
            ),
        )
    return reading


def _from(folder: str, path: str) -> str:
    return path if absolute(path) is not None else posixpath.relpath(path, folder)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a (sub)shell stands: the folder, None if that is not known, and those left by `pushd`."""

    folder: str | None
    left: tuple[str | None, ...] = ()


class _Walk:
    """What was found so far on the way through a command line; dicts keep the order and each once."""

    def __init__(self) -> None:
        self.reads: dict[str, None] = {}
        self.edits: dict[FileEdit, None] = {}

    def follow(self, text: str, folder: str | None, depth: int = 0) -> str | None:
        """Read `text` from `folder` on; return the folder it ends in, None if that is not known."""
        place, outer = _Place(folder), list[_Place]()
        for part in commands(text):
            if part is Scope.OPEN:
                outer.append(place)
            elif part is Scope.CLOSE:
                place = outer.pop() if outer else place
            elif isinstance(part, Command):
                place = self._run(part, place, depth)
        return place.folder

    def _run(self, command: Command, place: _Place, depth: int) -> _Place:
        for target in paths(command.written):
            self._take(place.folder, FileEdit(target))
        words = command.words[_program_at(command.words) :]
        if not words or not words[0].is_plain:
            return place
        name = _name(words[0].text)
        if name in ("cd", "pushd", "popd"):
            return _moved_on(name, words[1:], place)
        if name in _SHELLS and depth < _DEEPEST:
            given = arguments(words[1:], "c")
            scripts = (
                [given.options["-c"]] if "-c" in given.options else [] if given.operands else command.bodies
            )
            for script in scripts:
                self.follow(script, place.folder, depth + 1)
        for done in work_of(name, words[1:], command):
            self._take(place.folder, done)
        return place

    def _take(self, folder: str | None, done: str | FileEdit) -> None:
        names = (done,) if isinstance(done, str) else (done.path, done.former or done.path)
        if folder is None and any(absolute(name) is None for name in names):
            return
        spelled = below(folder or "", done)
        if isinstance(spelled, str):
            self.reads[_plain(spelled)] = None
        else:
            former = None if spelled.former is None else _plain(spelled.former)
            self.edits[FileEdit(_plain(spelled.path), spelled.change, former)] = None


def _plain(path: str) -> str:
    return path if "\\" in path else posixpath.normpath(path)


def _name(text: str) -> str:
    name = re.split(r"[\\/]", text)[-1].removesuffix(".exe")
    found = _VERSION.fullmatch(name)
    return found[1] if found else name


def _program_at(words: Sequence[Word]) -> int:
    """Return the place of the program's name: after keywords, assignments, and programs that run others."""
    at = 0
    while at < len(words):
        text = words[at].text
        name = _name(text)
        if text in _KEYWORDS or _ASSIGNMENT.match(text):
            at += 1
        elif name in _WRAPPERS:
            at = _after_options(words, at + 1, _WRAPPERS[name]) + (name == "timeout")
        elif name in _LAUNCHERS and at + 1 < len(words) and words[at + 1].text in _LAUNCHERS[name]:
            at = _after_options(words, at + 2, "")
        elif name == "python" and at + 2 < len(words) and words[at + 1].text == "-m":
            return at + 2
        else:
            break
    return at


def _after_options(words: Sequence[Word], at: int, valued: str) -> int:
    while at < len(words) and words[at].text.startswith("-"):
        text = words[at].text
        at += 2 if len(text) == 2 and text[1] in valued else 1
        if text == "--":
            break
    return at


def _moved_on(name: str, words: Sequence[Word], place: _Place) -> _Place:
    """Return where `cd`, `pushd` or `popd` leads; home, `-` and what the shell would expand are not known."""
    if name == "popd":
        return _Place(place.left[-1], place.left[:-1]) if place.left else _Place(None)
    left = (*place.left[1 - _MOST_LEFT :], place.folder) if name == "pushd" else place.left
    operands = arguments(words).operands
    if len(operands) != 1 or not operands[0].is_plain or operands[0].text in ("", "-"):
        return _Place(None, left)
    target = operands[0].text
    if absolute(target) is not None:
        return _Place(_plain(target), left)
    if place.folder is None:
        return _Place(None, left)
    folder = _plain(joined(place.folder, target))
    if len(folder) > _LONGEST_FOLDER:
        return _Place(None, left)
    return _Place("" if folder == "." else folder, left)
