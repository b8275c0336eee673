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
    TEST_PATH = "test named after folder and file"
    PAGE = "page in a mirrored folder"
    HEADER = "source of a header"
    LOCK = "lock file of a manifest"
    SNAPSHOT = "snapshot of a test"
    GENERATED = "generated from another file"
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
        direction: `forward` where the first depends on the second, else `backward`.
        because: the cue in words, such as "test_token.py is named after token.py".
    """

    relation: str
    direction: str
    because: str


class Rule(NamedTuple):
    """One cue: `holds(a, b)` tells whether it speaks for `a` depending on `b`; `words` name both files."""

    cue: Cue
    relation: str
    words: str
    holds: Callable[[Name, Name], bool]


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
_EXAMPLES = ("example", "examples", "demo", "demos", "docs", "doc", "fixtures", "testdata")
_TOOLS = ("bench", "benches", "benchmark", "benchmarks", "scripts", "tasks", "tools", "integration")
_ASIDE = frozenset((*_EXAMPLES, *_TOOLS))
_ROOT_FOLDERS = (("src",), ("lib",), ("app",), ("source",))
_FOLDER_NAMES = frozenset(("init", "index", "conftest", "main", "mod", "lib"))
_DOCS = frozenset(("docs", "doc", "documentation"))
_PAGES = frozenset(("md", "rst", "adoc", "mdx"))
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


def may_test(test: Name, subject: Name) -> bool:
    """Return whether one is a test in the other's language, and the other neither a test nor an example."""
    return (
        test.is_test
        and not subject.is_test
        and _ASIDE.isdisjoint(subject.folders)
        and family(test) == family(subject) != ""
    )


def is_named_after(test: Name, subject: Name) -> bool:
    """Return whether one may test the other and, its marks aside, has its name, which is no folder's."""
    return test.plain == subject.plain != "" and test.plain not in _FOLDER_NAMES and may_test(test, subject)


def _beside(test: Name, subject: Name) -> bool:
    own = tuple(part for part in test.folders if part not in _TEST_FOLDERS)
    return is_named_after(test, subject) and own == subject.folders


def _mirrored(test: Name, subject: Name) -> bool:
    one, other = place(test), place(subject)
    shared = min(len(one), len(other))
    mirrored = shared > 0 and one[-shared:] == other[-shared:]
    # A test inside a source folder is not that of a copy built from it somewhere else.
    inside = test.folders[:1] in _ROOT_FOLDERS and test.folders[:1] != subject.folders[:1]
    return mirrored and not inside and _may_lie_apart(test) and is_named_after(test, subject)


def _flat(test: Name, subject: Name) -> bool:
    flat = not place(test) and len(place(subject)) <= 1
    return flat and _may_lie_apart(test) and is_named_after(test, subject)


def _test_path(test: Name, subject: Name) -> bool:
    folders = place(subject)
    return (
        bool(folders)
        and test.plain == _JOINTS.sub("", folders[-1]) + subject.plain
        and place(test) in ((), folders[:-1])
        and may_test(test, subject)
    )


def _may_lie_apart(test: Name) -> bool:
    return test.ending != "go"  # its tools take a test for one only beside its package


def _page(page: Name, module: Name) -> bool:
    return (
        page.ending in _PAGES
        and page.plain == module.plain
        and page.folders[-1:] == module.folders[-1:] != ()
        and not _DOCS.isdisjoint(page.folders[:-1])
        and _ASIDE.isdisjoint(module.folders)
        and not module.is_test
        and family(module) != ""
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


def _snapshot(snapshot: Name, test: Name) -> bool:
    return (
        snapshot.file in (f"{test.file}.snap", f"{_bare(test.file)}.ambr")
        and snapshot.folders == (*test.folders, "__snapshots__")
        and test.is_test
    )


def _generated(made: Name, origin: Name) -> bool:
    base = _bare(origin.file)
    if made.folders[-1:] != origin.folders[-1:] or not base:
        return False
    if made.file in (f"{base}.min.{origin.ending}", f"{origin.file}.map"):
        return made.folders == origin.folders
    return made.file in (base + ending for ending in _GENERATED.get(origin.ending, ()))


def _module(root: Name, module: Name) -> bool:
    if (
        root.file not in _ROOTS
        or module.ending != "rs"
        or root.is_test
        or not _ASIDE.isdisjoint(root.folders)
    ):
        return False
    deeper = module.file == "mod.rs" and module.folders[:-1] == root.folders
    beside = module.folders == root.folders and module.file not in (*_ROOTS, "build.rs")
    return (deeper or beside) and root.folders[-1:] != ("bin",)


def _bare(file: str) -> str:
    return file.rpartition(".")[0]


_ROOTS = ("lib.rs", "main.rs", "mod.rs")
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
    "scss": (".css",),
    "sass": (".css",),
    "less": (".css",),
}
_AFTER = "{0} is named after {1}"
RULES: tuple[Rule, ...] = (
    Rule(Cue.TEST_BESIDE, TESTS, _AFTER, _beside),
    Rule(Cue.TEST_MIRRORED, TESTS, _AFTER, _mirrored),
    Rule(Cue.TEST_FLAT, TESTS, _AFTER, _flat),
    Rule(Cue.TEST_PATH, TESTS, "{0} is named after the folder and the name of {1}", _test_path),
    Rule(Cue.PAGE, DOCUMENTS, _AFTER, _page),
    Rule(Cue.HEADER, IMPLEMENTS, "{0} is the source of the header {1}", _header),
    Rule(Cue.LOCK, DEPENDS_ON, "{0} is generated from {1}", _lock),
    Rule(Cue.SNAPSHOT, DEPENDS_ON, "{0} is a snapshot of {1}", _snapshot),
    Rule(Cue.GENERATED, DEPENDS_ON, "{0} is generated from {1}", _generated),
    Rule(Cue.MODULE, DEPENDS_ON, "{0} is the root or parent of the module {1}", _module),
)


def proposal(one: str, other: str) -> Proposal | None:
    """Return what two paths tell of how `one` is related to `other`; None if nothing.

    With the ends swapped only the direction is swapped. The first rule counts that holds one way round only.
    """
    names = name_of(one), name_of(other)
    for rule in RULES:
        forward, backward = rule.holds(*names), rule.holds(*names[::-1])
        if forward != backward:
            files = [name.file for name in (names if forward else names[::-1])]
            return Proposal(rule.relation, FORWARD if forward else BACKWARD, rule.words.format(*files))
    return None
