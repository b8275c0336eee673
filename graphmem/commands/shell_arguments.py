"""Owns how a program's arguments are told apart: options, their values, operands; and what can be a path.

It is not what a program does with them (that is `graphmem.commands.shell_programs`).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from graphmem.commands.shell_words import Word
from graphmem.spelling import absolute

_LONGEST_PATH = 1_024
_SUFFIX = re.compile(r".*\.[\w+-]*[^\W\d][\w+-]{0,11}", re.DOTALL)
_NO_PATH = re.compile(r"[\x00-\x1f\x7f*?<>|\"]|://|^[A-Za-z]:(?![\\/])")
_DEVICES = ("/dev/", "/proc/", "/sys/")
# Files that are commonly named without a suffix.
_KNOWN_NAMES = frozenset(
    """
    authors brewfile caddyfile changelog codeowners containerfile contributing copying dockerfile gemfile
    gnumakefile jenkinsfile justfile license licence makefile pipfile podfile procfile rakefile readme
    snakefile tiltfile vagrantfile
    """.split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Arguments:
    """Options by name ("-n", "--lines") with their value, "" where they have none, and the operands."""

    options: dict[str, str]
    operands: tuple[Word, ...]

    def has(self, *names: str) -> bool:
        """Whether one of these options is given."""
        return any(name in self.options for name in names)


def arguments(
    words: Sequence[Word], valued: str = "", long: Collection[str] = (), attached: str = ""
) -> Arguments:
    """Tell apart a program's arguments.

    `valued` are the letters whose value is the rest of the word, or else the next one; `attached` those whose
    value can only be the rest of the word; `long` the names, without `--`, whose value may be the next word.
    """
    options: dict[str, str] = {}
    operands: list[Word] = []
    at = 0
    while at < len(words):
        text = words[at].text
        at += 1
        if text == "--":
            operands += words[at:]
            break
        if text.startswith("--"):
            name, is_joined, value = text.partition("=")
            if not is_joined and name[2:] in long and at < len(words):
                value = words[at].text
                at += 1
            options[name] = value
        elif text.startswith("-") and len(text) > 1:
            at += _letters(text[1:], words[at].text if at < len(words) else "", valued, attached, options)
        else:
            operands.append(words[at - 1])
    return Arguments(options, tuple(operands))


def _letters(cluster: str, following: str, valued: str, attached: str, options: dict[str, str]) -> int:
    """Take a cluster such as `-rni` apart; return how many of the following words it took as a value."""
    for place, letter in enumerate(cluster):
        rest = cluster[place + 1 :]
        options["-" + letter] = ""
        if letter in attached:
            options["-" + letter] = rest
            return 0
        if letter in valued:
            options["-" + letter] = rest or following
            return 0 if rest else 1
    return 0


def is_path(text: str) -> bool:
    """Whether `text` can be the path of a file, where a file is what must stand there."""
    last = text.rpartition("/")[2]
    return (
        last not in ("", ".", "..", "-", "!")
        and len(text) <= _LONGEST_PATH
        and not text.startswith(_DEVICES)
        and not text.startswith("~")
        and _NO_PATH.search(text) is None
        and ("\\" not in text or (absolute(text) is not None and not text.startswith("/")))
    )


def is_file_name(text: str) -> bool:
    """Whether `text` looks like a file's path where a folder, or something else, could stand as well.

    Without the disk this is decided by its last part: a suffix with a letter in it, a name that begins with a
    dot, or one of the names that files commonly have without a suffix.
    """
    last = re.split(r"[\\/]", text)[-1]
    return is_path(text) and (_SUFFIX.fullmatch(last) is not None or last.lower() in _KNOWN_NAMES)


def joined(folder: str, path: str) -> str:
    """Return `path` as led on from `folder`; an absolute one stays as it is."""
    return path if absolute(path) is not None else posixpath.join(folder, path)


def stem(text: str) -> str:
    """Return the last part of a path without its first suffix."""
    return re.split(r"[\\/]", text)[-1].partition(".")[0]


def paths(words: Sequence[Word]) -> list[str]:
    """Return the operands that must be files, without what the shell would expand."""
    return [word.text for word in words if word.is_plain and is_path(word.text)]


def file_names(words: Sequence[Word]) -> list[str]:
    """Return the operands that look like files."""
    return [word.text for word in words if word.is_plain and is_file_name(word.text)]
