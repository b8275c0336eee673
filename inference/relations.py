"""Owns what two paths alone tell of how their files are related: a test and its subject, and others.

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
    SNAPSHOT = "snapshot of a test"
    HEADER = "source of a header"
    LOCK = "lock file of a manifest"
    GENERATED = "generated from a definition"
    COMPILED = "made from its twin"
    MODULE = "crate root with its module"


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
        direction: `forward` where the first depends on the second, `backward`, or None for no direction.
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
_ALONE = frozenset(
    ("go", "rs", "rb", "php", "cs", "swift", "dart", "lua", "jl", "hs", "ml", "clj", "erl", "sh", "pl")
)
_TEST_FOLDERS = frozenset(("test", "tests", "__tests__", "spec", "specs", "unittests"))
_PLAIN_FOLDERS = frozenset(
    ("src", "lib", "main", "java", "kotlin", "scala", "python", "js", "app", "source", "include", "unit")
)
_SAYING_NOTHING = _TEST_FOLDERS | _PLAIN_FOLDERS
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
    return tuple(part for part in name.folders if part not in _SAYING_NOTHING)


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


def _snapshot(snapshot: Name, test: Name) -> bool:
    return (
        snapshot.file in (f"{test.file}.snap", f"{_bare(test.file)}.ambr")
        and snapshot.folders == (*test.folders, "__snapshots__")
        and test.is_test
    )


def _header(source: Name, header: Name) -> bool:
    return (
        source.ending in _SOURCES
        and header.ending in _HEADERS
        and _bare(source.file) == _bare(header.file)
        and place(source) == place(header)
    )


def _lock(lock: Name, manifest: Name) -> bool:
    return manifest.file in _LOCKS.get(lock.file, ()) and lock.folders == manifest.folders


def _generated(made: Name, definition: Name) -> bool:
    marks = _GENERATED.get(definition.ending, ())
    stems = (_bare(definition.file) + mark for mark in marks)
    return made.file in stems and made.folders[-1:] == definition.folders[-1:]


def _compiled(made: Name, origin: Name) -> bool:
    if made.folders != origin.folders:
        return False
    if made.file == f"{_bare(origin.file)}.min.{origin.ending}" or made.file == f"{origin.file}.map":
        return True
    return made.ending in _COMPILED.get(origin.ending, ()) and _bare(made.file) == _bare(origin.file)


def _module(root: Name, module: Name) -> bool:
    if root.file not in ("lib.rs", "main.rs", "mod.rs") or module.ending != "rs":
        return False
    deeper = module.file == "mod.rs" and module.folders[:-1] == root.folders
    beside = module.folders == root.folders and module.file not in ("lib.rs", "main.rs", "mod.rs", "build.rs")
    return (deeper or beside) and root.folders[-1:] not in (("tests",), ("examples",), ("benches",), ("bin",))


def _bare(file: str) -> str:
    return file.rpartition(".")[0]


_SOURCES = frozenset(("c", "cc", "cpp", "cxx", "m", "mm"))
_HEADERS = frozenset(("h", "hh", "hpp", "hxx"))
_LOCKS = {
    "package-lock.json": ("package.json",),
    "npm-shrinkwrap.json": ("package.json",),
    "yarn.lock": ("package.json",),
    "pnpm-lock.yaml": ("package.json",),
    "bun.lock": ("package.json",),
    "bun.lockb": ("package.json",),
    "poetry.lock": ("pyproject.toml",),
    "uv.lock": ("pyproject.toml",),
    "pdm.lock": ("pyproject.toml",),
    "Pipfile.lock": ("Pipfile",),
    "Cargo.lock": ("Cargo.toml",),
    "go.sum": ("go.mod",),
    "Gemfile.lock": ("Gemfile",),
    "composer.lock": ("composer.json",),
    "mix.lock": ("mix.exs",),
}
_GENERATED = {
    "proto": ("_pb2.py", "_pb2.pyi", "_pb2_grpc.py", ".pb.go", "_grpc.pb.go", ".pb.gw.go", ".pb.cc", ".pb.h"),
    "pyx": (".c", ".cpp"),
    "y": (".c", ".tab.c", ".tab.h", ".go"),
    "l": (".c", ".yy.c"),
    "in": ("",),
}
_COMPILED = {"scss": ("css",), "sass": ("css",), "less": ("css",)}
_AFTER = "{0} is named after {1}"
RULES: tuple[Rule, ...] = (
    Rule(Cue.TEST_BESIDE, TESTS, _AFTER, _beside),
    Rule(Cue.TEST_MIRRORED, TESTS, _AFTER, _mirrored),
    Rule(Cue.TEST_FLAT, TESTS, _AFTER, _flat),
    Rule(Cue.SNAPSHOT, DEPENDS_ON, "{0} is a snapshot of {1}", _snapshot),
    Rule(Cue.HEADER, IMPLEMENTS, "{0} is the source of the header {1}", _header),
    Rule(Cue.LOCK, DEPENDS_ON, "{0} is generated from {1}", _lock),
    Rule(Cue.GENERATED, DEPENDS_ON, "{0} is generated from {1}", _generated),
    Rule(Cue.COMPILED, DEPENDS_ON, "{0} is generated from {1}", _compiled),
    Rule(Cue.MODULE, DEPENDS_ON, "{0} declares the module {1}", _module),
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
