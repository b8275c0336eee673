"""Owns what the configuration of a JavaScript or TypeScript project says of specifiers.

It is the simple part of it: `baseUrl`, `paths` with one star, `extends` of files in the project, and the
names of the project's own packages. It is not which file a specifier means in the end (`script_modules`).
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)
_CONFIG = re.compile(r"(?:ts|js)config(?:\.[\w-]+)*\.json")
_DEEPEST = 5
_ENTRIES = ("source", "types", "module", "main")


def is_config(path: str) -> bool:
    """Return whether the file of that path says something of specifiers."""
    name = path.rpartition("/")[2]
    return name == "package.json" or _CONFIG.fullmatch(name) is not None


class ScriptConfigs:
    """The configurations of one project; `texts` are those files' texts by path, relative to the root."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._values = {path: value for path, text in texts.items() if (value := _parsed(text))}
        self._packages = {
            name: posixpath.dirname(path)
            for path, value in sorted(self._values.items(), reverse=True)
            if path.rpartition("/")[2] == "package.json" and (name := value.get("name"))
            if isinstance(name, str)
        }
        self._by_folder: dict[str, list[str]] = {}
        for path in sorted(self._values, key=lambda path: (len(path), path)):
            if path.rpartition("/")[2] != "package.json":
                self._by_folder.setdefault(posixpath.dirname(path), []).append(path)
        self._aliases = lru_cache(maxsize=4096)(self._read_aliases)

    def places(self, importer: str, specifier: str) -> Iterator[str]:
        """Yield the places a bare specifier may mean, relative to the root, the likeliest first."""
        for pattern, target in self._aliases(posixpath.dirname(importer)):
            before, star, after = pattern.partition("*")
            if not star:
                if specifier == pattern:
                    yield target
            elif specifier.startswith(before) and specifier.endswith(after):
                middle = specifier[len(before) : len(specifier) - len(after)]
                yield target.replace("*", middle, 1)
        yield from self._of_packages(specifier)

    def _of_packages(self, specifier: str) -> Iterator[str]:
        parts = specifier.split("/")
        name = "/".join(parts[: 2 if specifier.startswith("@") else 1])
        folder = self._packages.get(name)
        if folder is None:
            return
        rest = specifier[len(name) + 1 :]
        if rest:
            yield posixpath.join(folder, rest)
            yield posixpath.join(folder, "src", rest)
            return
        value = self._values[posixpath.join(folder, "package.json")]
        for entry in _ENTRIES:
            if isinstance(value.get(entry), str):
                yield _joined(folder, value[entry])
        yield posixpath.join(folder, "src/index")
        yield posixpath.join(folder, "index")

    def _read_aliases(self, folder: str) -> tuple[tuple[str, str], ...]:
        """Return (pattern, target) of the nearest configuration around `folder`, long patterns first."""
        while folder not in self._by_folder:
            if not folder:
                return ()
            folder = posixpath.dirname(folder)
        found = dict[str, str]()
        bases = list[str]()
        for path in self._by_folder[folder]:
            for pattern, target in self._of_config(path, _DEEPEST):
                if pattern == "*":
                    bases.append(target)
                else:
                    found.setdefault(f"{pattern}\0{target}", target)
        ordered = sorted(found.items(), key=lambda item: -len(item[0].partition("\0")[0]))
        named = [(key.partition("\0")[0], target) for key, target in ordered]
        return (*named, *(("*", target) for target in dict.fromkeys(bases)))

    def _of_config(self, path: str, depth: int) -> Iterator[tuple[str, str]]:
        value = self._values.get(path)
        if value is None or not depth:
            return
        folder = posixpath.dirname(path)
        options = value.get("compilerOptions")
        options = options if isinstance(options, dict) else {}
        base = options.get("baseUrl")
        paths = options.get("paths")
        start = _joined(folder, base) if isinstance(base, str) else folder
        for pattern, targets in paths.items() if isinstance(paths, dict) else ():
            for target in targets if isinstance(targets, list) else ():
                if isinstance(target, str):
                    yield pattern, _joined(start, target)
        if isinstance(base, str):
            yield "*", posixpath.join(start, "*")
        extended = value.get("extends")
        for parent in extended if isinstance(extended, list) else [extended]:
            if isinstance(parent, str) and parent.startswith("."):
                place = _joined(folder, parent)
                yield from self._of_config(place if place.endswith(".json") else f"{place}.json", depth - 1)


def _joined(folder: str, path: str) -> str:
    """Return a path relative to the root; what climbs out of it begins with dots and so names no file."""
    joined = posixpath.normpath(posixpath.join(folder, path))
    return "" if joined == "." else joined


def _parsed(text: str) -> dict[str, Any] | None:
    """Return a configuration, comments and trailing commas allowed; None for what is none."""
    try:
        value = json.loads(_TOKEN.sub(lambda match: match[0] if match[0][0] == '"' else "", text))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
