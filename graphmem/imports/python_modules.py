"""Owns which files of a project a Python import means: by the layout of its folders, nothing is run.

It is not the reading of the statements (`python_reader`). What lies outside the project means no file.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import lru_cache

from graphmem.imports.reference import Reference, Written

_ENDINGS = ("/__init__.py", ".py", "/__init__.pyi", ".pyi")
_SOURCE_FOLDERS = ("", "src", "lib", "python")
_DEEPEST = 4
_STANDARD = sys.stdlib_module_names


class PythonModules:
    """The modules among the files of one project.

    A dotted name is looked for where an interpreter would, as far as folders tell: beside the importer's
    topmost package, then in the folders around it and their `src`, `lib` and `python`, then wherever a
    package of that name begins. Names of the standard library mean that.
    """

    def __init__(self, files: Collection[str]) -> None:
        self._files = files
        self._packages = {path.rpartition("/")[0] for path in files if _is_init(path)}
        self._starts: dict[str, list[str]] = defaultdict(list)
        for folder in sorted(self._packages):
            above, _, name = folder.rpartition("/")
            if folder and above not in self._packages:
                self._starts[name].append(above)
        self._defined: dict[str, frozenset[str]] = {}
        self._passed_on: dict[str, dict[str, Reference]] = {}
        self._stars: dict[str, list[Reference]] = {}
        self._around = lru_cache(maxsize=4096)(self._listed_around)

    def learn(self, path: str, written: Written) -> None:
        """Note what a file defines, and what a package passes on: names that its `__init__` takes."""
        self._defined[path] = written.defined
        if _is_init(path):
            self._passed_on[path] = {
                name: reference._replace(names=(name,))
                for reference in written.references
                for name in reference.names
            }
            self._stars[path] = [reference for reference in written.references if "*" in reference.names]

    def targets(self, importer: str, reference: Reference) -> tuple[str, ...]:
        """Return the files that a reference in `importer` means: the module, or the submodules taken from it.

        A name that is taken from a package is the submodule where there is one, else the package itself and
        the file that the package has it from.
        """
        return tuple(dict.fromkeys(self._followed(importer, reference, _DEEPEST)))

    def _followed(self, importer: str, reference: Reference, depth: int) -> Iterator[str]:
        for path in self._direct(importer, reference):
            yield path
            for name in reference.names:
                yield from self._origins(path, name, depth)

    def _origins(self, package: str, name: str, depth: int) -> Iterator[str]:
        """Yield the files that a package has a name from, none where it defines the name itself."""
        passed_on = self._passed_on.get(package)
        if passed_on is None or not depth or name in self._defined[package]:
            return
        if name in passed_on:
            yield from self._followed(package, passed_on[name], depth - 1)
            return
        for star in self._stars[package]:
            for path in self._direct(package, star):
                if name in self._defined.get(path, ()):
                    yield path
                yield from self._origins(path, name, depth - 1)

    def _direct(self, importer: str, reference: Reference) -> tuple[str, ...]:
        for prefix in self._prefixes(importer, reference):
            found = self._under(prefix, reference)
            if found:
                return found
        return ()

    def _prefixes(self, importer: str, reference: Reference) -> Iterator[str]:
        """Yield the folders, as text that a dotted name is added to, in which to look."""
        folder = importer.rpartition("/")[0]
        if reference.level:
            above = folder.split("/") if folder else []
            if reference.level - 1 <= len(above):
                yield "/".join(above[: len(above) - (reference.level - 1)])
            return
        top = reference.module.partition(".")[0]
        if not top or top in _STANDARD:
            return
        yield from self._around(folder)
        yield from sorted(self._starts.get(top, ()), key=lambda start: (_apart(start, folder), start))

    def _listed_around(self, folder: str) -> tuple[str, ...]:
        """Return the folders in which the absolute imports of a file in `folder` may begin, nearest first."""
        while folder in self._packages and folder:
            folder = folder.rpartition("/")[0]
        found: list[str] = []
        while True:
            found += (_join(folder, source) for source in _SOURCE_FOLDERS)
            if not folder:
                return tuple(dict.fromkeys(found))
            folder = folder.rpartition("/")[0]

    def _under(self, prefix: str, reference: Reference) -> tuple[str, ...]:
        place = _join(prefix, reference.module.replace(".", "/"))
        own = self._module(place)
        if not reference.names:
            return () if own is None else (own,)
        # Only a package has submodules: beside `a.py` a folder `a` without `__init__` means nothing.
        holds = own is None or _is_init(own)
        taken = [
            self._module(_join(place, name)) if holds and name != "*" else None for name in reference.names
        ]
        found = (submodule if submodule is not None else own for submodule in taken)
        return tuple(dict.fromkeys(path for path in found if path is not None))

    def _module(self, place: str) -> str | None:
        """Return the file of the module at a place: a package before a plain file, a stub last."""
        if not place:
            endings: tuple[str, ...] = ("__init__.py", "__init__.pyi")
        else:
            endings = _ENDINGS
        return next((path for ending in endings if (path := place + ending) in self._files), None)


def _is_init(path: str) -> bool:
    return path.rpartition("/")[2] in {"__init__.py", "__init__.pyi"}


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder and name else folder or name


def _apart(one: str, other: str) -> int:
    """Return how many steps lie between two folders."""
    first, second = one.split("/"), other.split("/")
    shared = 0
    for left, right in zip(first, second, strict=False):
        if left != right:
            break
        shared += 1
    return len(first) + len(second) - 2 * shared
