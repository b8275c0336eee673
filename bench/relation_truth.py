"""Owns what is held against a proposed relation: whether one file of a source tree speaks of another one.

It is not the figures (`bench.relations`). It reads the files' text, which `inference.relations` never does.
"""

from __future__ import annotations

import json
import posixpath
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from inference.relations import Name, family, name_of

MOST_BYTES = 500_000
LEAST_LETTERS = 4
DEFINED_BY = 2
HEAD = 4_000
SHARE = 0.5
_DEFINED = re.compile(
    r"\b(?:class|def|function\*?|func|fn|struct|enum|trait|interface|type|object|fun|module|defmodule|const"
    r"|let|var|#define|macro_rules!)\s+(?:\([^)]*\)\s*)?(?:self\.)?([A-Za-z_$][\w.$]*)"
)
_C_FUNCTION = re.compile(r"^[A-Za-z_][\w *]*?\b([A-Za-z_]\w*)\s*\(", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_PYTHON_IMPORT = re.compile(
    r"^\s*(?:from\s+([.\w]+)\s+import\s+(\([^)]*\)|[^\n#]+)|import\s+([.\w, ]+))", re.MULTILINE
)
_QUOTED = re.compile(r"""["'`]([^"'`\n]{2,200})["'`]""")
_INCLUDED = re.compile(r"""#\s*include\s*["<]([^">]+)[">]""")
_TITLE = re.compile(r"""\b(?:it|test|describe)(?:\.\w+)?\(\s*["'`]([^"'`\n]{4,})["'`]|def (test_\w+)""")


class Tree:
    """The files of one source tree, their texts read once each.

    Args:
        root: its folder.
        most: how many files at most, the first ones by path.
    """

    def __init__(self, root: Path, most: int) -> None:
        self.root = root
        found = sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
        self.paths = [path for path in found if not _is_foreign(path)][:most]
        self._texts: dict[str, str] = {}
        self._words: dict[str, frozenset[str]] = {}
        self._defined: dict[str, frozenset[str]] = {}
        self._definers: Counter[str] | None = None

    def text(self, path: str) -> str:
        """Return the text of a file, cut; "" for what is no text."""
        found = self._texts.get(path)
        if found is None:
            with (self.root / path).open("rb") as stream:
                content = stream.read(MOST_BYTES)
            found = "" if b"\0" in content else content.decode("utf-8", "replace")
            self._texts[path] = found
        return found

    def words(self, path: str) -> frozenset[str]:
        """Return the words of a file that could be names of code."""
        if path not in self._words:
            self._words[path] = frozenset(_WORD.findall(self.text(path)))
        return self._words[path]

    def defined(self, path: str) -> frozenset[str]:
        """Return the names a file of code defines."""
        if path not in self._defined:
            kind = family(name_of(path))
            names = _DEFINED.findall(self.text(path)) if kind else []
            if kind == "c":
                names += _C_FUNCTION.findall(self.text(path))
            tails = {name.rpartition(".")[2] for name in names}
            self._defined[path] = frozenset(name for name in tails if len(name) >= LEAST_LETTERS)
        return self._defined[path]

    def own(self, path: str) -> frozenset[str]:
        """Return the names that a file defines and hardly another one does."""
        if self._definers is None:
            code = (one for one in self.paths if family(name_of(one)))
            self._definers = Counter(name for one in code for name in self.defined(one))
        return frozenset(name for name in self.defined(path) if self._definers[name] <= DEFINED_BY)

    # ---- what one file says of another --------------------------------------------------------------

    def refers(self, one: str, other: str) -> bool:
        """Return whether `one` imports `other`, names its file, or uses a name that is its own."""
        return (
            self.imports(one, other)
            or bool((self.own(other) - self.defined(one)) & self.words(one))
            or self.names_file(one, other)
        )

    def names_file(self, one: str, other: str) -> bool:
        """Return whether the text of `one` holds the name of the file `other`."""
        return re.search(rf"(?<![\w-]){re.escape(name_of(other).file)}(?!\w)", self.text(one)) is not None

    def tells_of(self, page: str, module: str) -> bool:
        """Return whether a page names a module: with its package, in code, or as a word with a joint."""
        stem = name_of(module).stem
        if len(stem) < LEAST_LETTERS:
            return False
        dotted = ".".join((*name_of(module).folders[-1:], stem))
        if dotted in self.text(page):
            return True
        word = rf"(?<![\w-]){re.escape(stem)}(?![\w-])"
        joined = "-" in stem or "_" in stem
        return re.search(word if joined else rf"`[^`\n]*{word}[^`\n]*`", self.text(page)) is not None

    def leaning(self, one: str, other: str) -> tuple[bool, int]:
        """Return how much `one` speaks of `other`: whether it imports it, and how many of its own names."""
        return self.imports(one, other), len((self.own(other) - self.defined(one)) & self.words(one))

    def imports(self, one: str, other: str) -> bool:
        """Return whether `one` imports or includes `other`, as far as its text alone tells."""
        text, name = self.text(one), name_of(other)
        match family(name_of(one)):
            case "py":
                return _has_module(text, other)
            case "js":
                folder = posixpath.dirname(one)
                named = (given for given in _QUOTED.findall(text) if given.startswith("."))
                return any(_is_same(posixpath.normpath(f"{folder}/{given}"), other) for given in named)
            case "c":
                return any(posixpath.basename(given) == name.file for given in _INCLUDED.findall(text))
            case "rs":
                stem = name.folders[-1] if name.file == "mod.rs" else name.file.rpartition(".")[0]
                return re.search(rf"\bmod\s+{re.escape(stem)}\b", text) is not None
        return False

    def snapshot(self, snapshot: str, test: str) -> bool:
        """Return whether a snapshot holds a title of the test."""
        titles = [title or name for title, name in _TITLE.findall(self.text(test))]
        return any(title in self.text(snapshot) for title in titles)

    def locks(self, lock: str, manifest: str) -> bool:
        """Return whether a lock file names half of what the manifest asks for."""
        wanted = _wanted(name_of(manifest), self.text(manifest))
        text = self.text(lock).casefold()
        return bool(wanted) and sum(name.casefold() in text for name in wanted) >= SHARE * len(wanted)

    def made(self, made: str, origin: str) -> bool:
        """Return whether a file says that it was made from the other, or holds half of its long words."""
        if name_of(origin).file in self.text(made)[:HEAD]:
            return True
        words = {word for word in self.words(origin) if len(word) > LEAST_LETTERS}
        return bool(words) and len(words & self.words(made)) >= SHARE * len(words)

    def implements(self, source: str, stub: str) -> bool:
        """Return whether a source defines half of what a stub or header names, or includes it."""
        names = self.defined(stub)
        held = len(names & self.words(source))
        return self.imports(source, stub) or (bool(names) and held >= SHARE * len(names))

    def translated(self, one: str, other: str) -> bool:
        """Return whether two pages share half of their quoted code and links."""
        marks = [set(re.findall(r"\]\(([^)]+)\)|`([^`\n]+)`", self.text(path))) for path in (one, other)]
        return bool(marks[1]) and len(marks[0] & marks[1]) >= SHARE * len(marks[1])


def _is_foreign(path: str) -> bool:
    parts = path.split("/")
    return not {"node_modules", "vendor", ".git", "third_party", "deps"}.isdisjoint(parts)


def _is_same(given: str, path: str) -> bool:
    whole = path.rpartition(".")[0]
    return given in (path, whole, whole.removesuffix("/index")) or given.rpartition(".")[0] == whole


def _has_module(text: str, path: str) -> bool:
    parts = path.rpartition(".")[0].split("/")
    if parts[-1] == "__init__":
        parts.pop()
    if not parts:
        return False
    for origin, names, plain in _PYTHON_IMPORT.findall(text):
        full: Iterable[str] = re.split(r"[,\s]+", plain.strip()) if plain else _joined(origin, names)
        for dotted in full:
            tail: Sequence[str] = [part for part in dotted.split(".") if part]
            if tail and tail[-1] == parts[-1] and (len(tail) < 2 or tail[-2:] == parts[-2:]):
                return True
    return False


def _joined(origin: str, names: str) -> list[str]:
    given = re.findall(r"\w+", names)
    return [origin, *(f"{origin}.{name}" for name in given)]


def _wanted_toml(text: str) -> list[str]:
    try:
        read = tomllib.loads(text)
    except ValueError:
        return []
    project, poetry = read.get("project", {}), read.get("tool", {}).get("poetry", {})
    groups = [project.get("dependencies", []), *project.get("optional-dependencies", {}).values()]
    groups += read.get("dependency-groups", {}).values()
    listed = [str(wanted) for group in groups for wanted in group if isinstance(wanted, str)]
    keyed = [*read.get("dependencies", {}), *poetry.get("dependencies", {})]
    named = [re.split(r"[^\w.-]", wanted, maxsplit=1)[0] for wanted in listed] + keyed
    return [name for name in named if name != "python"]


def _wanted(manifest: Name, text: str) -> list[str]:
    match manifest.ending:
        case "json":
            try:
                read = json.loads(text)
            except ValueError:
                return []
            kinds = ("dependencies", "devDependencies", "require", "require-dev")
            wanted = (read.get(kind, {}) for kind in kinds) if isinstance(read, dict) else ()
            return [name for names in wanted for name in names if name != "php"]
        case "toml":
            return _wanted_toml(text)
        case "mod":
            return re.findall(r"^\s*(?:require\s+)?([\w.-]+\.[a-z]+/\S+)\s+v", text, re.M)
        case "exs":
            return re.findall(r"\{:(\w+),", text)
    return re.findall(r"gem\s+[\"']([\w-]+)", text)
