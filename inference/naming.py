"""Owns likeness of file names: the stem a file shares with its test or its twin, its folder, its kind.

It is not path normalisation: names arrive relative to the root and `/`-separated.
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

_CAMEL_TEST = re.compile(r"(?<=[a-z0-9])(?:Tests?|Spec)$")
_TEST = re.compile(r"^(?:tests?|spec)[_-]|[_-](?:tests?|spec)$")
_TEST_PATH = re.compile(
    r"(?:^|/)(?:tests?|testing|__tests__|spec|testdata|playground)/|(?:^|/)(?:test|spec)_"
    r"|[_.](?:test|spec)\.[a-z]+$|(?<=[a-z0-9])tests?\.[a-z]+$"
)
_DOCUMENT_PATH = re.compile(r"(?:^|/)(?:docs?|docs_src|changelogs?|news)/|\.(?:md|mdx|rst|txt|adoc)$")
_SOURCE_PATH = re.compile(
    r"\.(?:py|pyi|ts|tsx|js|jsx|mjs|cjs|go|rs|vue|svelte|c|h|cc|cpp|hpp|java|kt|rb|php|ex|exs|cs|swift|scala)$"
)


class FileKind(IntEnum):
    """What a file is by its name; the numbers are columns of the shipped model: never renumber."""

    SOURCE = 0
    TEST = 1
    DOCUMENT = 2
    OTHER = 3


class Name(NamedTuple):
    """A path taken apart; `folders` are the names of its folders from the root on."""

    base: str
    stem: str
    folder: str
    folders: tuple[str, ...]
    extension: str
    kind: FileKind


@lru_cache(maxsize=65_536)
def stem(path: str) -> str:
    """Return the file's name up to its first dot, in lower case, without what marks it as a test.

    `src/token.ts`, `test/token.test.ts`, `tests/test_token.py` and `TokenTest.java` are all `token`.
    """
    name = path.rpartition("/")[2]
    base = name if name.startswith(".") else name.partition(".")[0]
    plain = _CAMEL_TEST.sub("", base).lower()
    return _TEST.sub("", plain) or plain


def folder(path: str) -> str:
    """Return the path of the folder the file lies in, "" for the root."""
    return path.rpartition("/")[0]


def kind(path: str) -> FileKind:
    """Return what a file is by its path alone."""
    lower = path.lower()
    if _TEST_PATH.search(lower):
        return FileKind.TEST
    if _DOCUMENT_PATH.search(lower):
        return FileKind.DOCUMENT
    return FileKind.SOURCE if _SOURCE_PATH.search(lower) else FileKind.OTHER


@lru_cache(maxsize=65_536)
def named(path: str) -> Name:
    """Return a path taken apart."""
    above, _, base = path.rpartition("/")
    return Name(
        base=base.lower(),
        stem=stem(path),
        folder=above,
        folders=tuple(above.split("/")) if above else (),
        extension=base.rpartition(".")[2].lower() if "." in base else "",
        kind=kind(path),
    )


def shared_depth(a: Name, b: Name) -> int:
    """Return how many folders from the root on two files have in common."""
    depth = 0
    for one, other in zip(a.folders, b.folders, strict=False):
        if one != other:
            break
        depth += 1
    return depth
