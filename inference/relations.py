"""Owns what two paths alone tell of how their files are related: a test and its subject, a page and its module.

It is not which files belong together (that is `inference.promotion`), nor what somebody decided; a proposal
is a guess to confirm. It reads no file: only names, which may use either separator and any script. Which cues
are here, and with a direction, is measured on source trees and histories (`python -m bench.relations`): each
is right in at least three of four cases.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

TESTS = "tests"
DOCUMENTS = "documents"
IMPLEMENTS = "implements"
DEPENDS_ON = "depends_on"
FORWARD = "forward"
BACKWARD = "backward"


class Cue(StrEnum):
    """What it is about two names that tells a relation; the value names it in figures."""

    TEST_BESIDE = "test beside its subject"
    TEST_MIRRORED = "test in a mirrored folder"
    TEST_FLAT = "test of a flat package"


class Name(NamedTuple):
    """A path taken apart.

    Attributes:
        folders: from the root down, case folded.
        file: the last part as it is written.
        stem: the last part without its ending and the marks of a test, still as it is written.
        plain: the stem case folded, without `-`, `_` and `.`.
        ending: what follows the last dot, case folded; "" without one.
        is_test: whether the name is marked as a test's, or lies in a folder of tests.
    """

    folders: tuple[str, ...]
    file: str
    stem: str
    plain: str
    ending: str
    is_test: bool


class Proposal(NamedTuple):
    """A relation to confirm, between the first and the second of two paths.

    Attributes:
        relation: a value of `graphmem.graph.Relation`.
        direction: `forward` where the first depends on the second, `backward`, or None where none is proposed.
        because: the cue in words, such as "test_token.py is named after token.py".
    """

    relation: str
    direction: str | None
    because: str


class Rule(NamedTuple):
    """One cue: `holds(a, b)` tells whether it speaks for `a` depending on `b`; `words` name both files."""

    cue: Cue
    relation: str
    words: str
    holds: Callable[[Name, Name], bool]
    directed: bool = True


_FAMILIES = {
    "py": "py pyi pyx",
    "js": "js jsx ts tsx mjs cjs mts cts vue svelte",
    "jvm": "java kt kts scala groovy",
    "c": "c cc cpp cxx h hh hpp hxx m mm",
    "ex": "ex exs",
}
_FAMILY = {ending: family for family, endings in _FAMILIES.items() for ending in endings.split()}
_ALONE = frozenset("go rs rb php cs swift dart lua jl hs ml clj erl sh pl".split())
_TEST_FOLDERS = frozenset("test tests __tests__ spec specs unittests".split())
_PLAIN_FOLDERS = frozenset("src lib main java kotlin scala python js app source include unit".split())
_MARKED = (
    re.compile(r"(?i:tests?|spec)[-_](?P<of>.+)"),
    re.compile(r"(?P<of>.+)[-_.](?i:tests?|specs?)"),
    re.compile(r"(?P<of>.*[a-z0-9])(?:Tests?|Specs?|TestCase)"),
    re.compile(r"Test(?P<of>[A-Z].*)"),
)
_JOINTS = re.compile(r"[-_.]")


@lru_cache(maxsize=65_536)
def name_of(path: str) -> Name:
    """Return a path taken apart; a backslash separates too."""
    *folders, file = unicodedata.normalize("NFC", path).replace("\\", "/").split("/")
    lowered = tuple(part.casefold() for part in folders if part not in ("", "."))
    base, dot, ending = file.rpartition(".")
    stem, ending = (base, ending.casefold()) if dot and base else (file, "")
    of = next((match["of"] for mark in _MARKED if (match := mark.fullmatch(stem))), None)
    is_test = of is not None or not _TEST_FOLDERS.isdisjoint(lowered)
    stem = of or stem
    return Name(lowered, file, stem, _JOINTS.sub("", stem).casefold(), ending, is_test)


def family(name: Name) -> str:
    """Return what files of one language have in common, "" for what is no code."""
    return _FAMILY.get(name.ending, name.ending if name.ending in _ALONE else "")


def place(name: Name) -> tuple[str, ...]:
    """Return the folders without those that say no more than "tests" or "sources"."""
    return tuple(part for part in name.folders if part not in _TEST_FOLDERS | _PLAIN_FOLDERS)


def is_named_after(test: Name, subject: Name) -> bool:
    """Return whether one is a test in the other's language and, its marks aside, has the other's name."""
    return (
        test.is_test
        and not subject.is_test
        and test.plain == subject.plain != ""
        and family(test) == family(subject) != ""
    )


def _beside(test: Name, subject: Name) -> bool:
    own = tuple(part for part in test.folders if part not in _TEST_FOLDERS)
    return is_named_after(test, subject) and own == subject.folders


def _mirrored(test: Name, subject: Name) -> bool:
    one, other = place(test), place(subject)
    shared = min(len(one), len(other))
    return is_named_after(test, subject) and shared > 0 and one[-shared:] == other[-shared:]


def _flat(test: Name, subject: Name) -> bool:
    return is_named_after(test, subject) and not place(test) and len(place(subject)) <= 1


_AFTER = "{0} is named after {1}"
RULES: tuple[Rule, ...] = (
    Rule(Cue.TEST_BESIDE, TESTS, _AFTER, _beside),
    Rule(Cue.TEST_MIRRORED, TESTS, _AFTER, _mirrored),
    Rule(Cue.TEST_FLAT, TESTS, _AFTER, _flat),
)


def proposal(one: str, other: str, rules: tuple[Rule, ...] = RULES) -> Proposal | None:
    """Return what two paths tell of how `one` is related to `other`; None if nothing.

    With the ends swapped only the direction is swapped. The first rule that holds counts.
    """
    found = match(name_of(one), name_of(other), rules)
    if found is None:
        return None
    rule, forward = found
    ends = (one, other) if forward else (other, one)
    words = rule.words.format(*(name_of(end).file for end in ends))
    direction = (FORWARD if forward else BACKWARD) if rule.directed else None
    return Proposal(rule.relation, direction, words)


def match(one: Name, other: Name, rules: tuple[Rule, ...] = RULES) -> tuple[Rule, bool] | None:
    """Return the first rule that holds between two names, and whether the first depends on the second."""
    for rule in rules:
        ways = rule.holds(one, other), rule.holds(other, one)
        if ways[0] != ways[1]:
            return rule, ways[0]
    return None
