"""Owns reading the imports of a checkout: which file of it imports which, as far as its text says.

It is not what is done with them: they are facts about the code as it is, and no evidence of how it changes.
Nothing is run, nothing outside the root is read, and no single file can end a reading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from graphmem.imports.python_modules import PythonModules
from graphmem.imports.readers import Readers, language_of
from graphmem.imports.reference import ImportGraph, Language, Reference, UnparsableError, Unread, Written
from graphmem.imports.script_configs import ScriptConfigs, is_config
from graphmem.imports.script_modules import ScriptModules
from graphmem.imports.source_files import SourceFiles
from graphmem.noise import included, noise_of

Progress = Callable[[int, int], None]
_NEWS_EVERY = 50


class Modules(Protocol):
    """Which files of the project a reference means."""

    def learn(self, path: str, written: Written) -> None:
        """Take notice of what a file says, before any reference is resolved."""

    def targets(self, importer: str, reference: Reference) -> tuple[str, ...]:
        """Return the files that a reference in `importer` means, none for what is elsewhere."""


def never() -> bool:
    """Return that the time is not over."""
    return False


def read_imports(
    root: Path,
    paths: Iterable[str],
    *,
    ignore: Sequence[str] = (),
    over: Callable[[], bool] = never,
    progress: Progress | None = None,
) -> ImportGraph:
    """Read the imports of a project's files and return which file imports which.

    Args:
        root: the checkout.
        paths: the files of the project, relative to the root and `/`-separated; only these are read, and only
            these can be imported. Vendored, generated and ignored ones are left out.
        ignore: patterns of files to leave out, as for edges.
        over: asked before each file; once it says so, the rest is counted as unread.
        progress: told (files done, files in all) now and then, and at the end.

    Raises:
        UnavailableError: a grammar that is needed is not installed.
    """
    reading = _Reading(SourceFiles(root), sorted(set(paths)), tuple(ignore))
    reading.run(over, progress)
    return ImportGraph(
        frozenset(reading.pairs), reading.read, reading.unread, elsewhere=len(reading.elsewhere)
    )


class _Reading:
    """One reading while it goes on."""

    def __init__(self, files: SourceFiles, paths: Sequence[str], ignore: tuple[str, ...]) -> None:
        self.pairs: set[tuple[str, str]] = set()
        self.read: dict[str, Language] = {}
        self.unread: dict[str, Unread] = {}
        self.elsewhere: set[tuple[str, str]] = set()
        self._files = files
        self._written: dict[str, tuple[Reference, ...]] = {}
        self._readers = Readers()
        present = [path for path in paths if self._is_present(path, ignore)]
        self._sources = [path for path in present if language_of(path) is not None]
        known = frozenset(present)
        scripts = ScriptModules(known, ScriptConfigs(dict(self._configs(present))))
        self._modules: Mapping[Language, Modules] = {
            Language.PYTHON: PythonModules(known),
            Language.JAVASCRIPT: scripts,
            Language.TYPESCRIPT: scripts,
        }

    def _is_present(self, path: str, ignore: tuple[str, ...]) -> bool:
        if noise_of(path) is not None or (ignore and included(path, ignore)):
            trouble: Unread | None = Unread.LEFT_OUT
        else:
            trouble = self._files.lies(path)
        if trouble is not None and language_of(path) is not None:
            self.unread[path] = trouble
        return trouble is None

    def _configs(self, present: Sequence[str]) -> Iterator[tuple[str, str]]:
        for path in filter(is_config, present):
            source = self._files.read(path)
            if isinstance(source, bytes):
                yield path, source.decode()

    def run(self, over: Callable[[], bool], progress: Progress | None) -> None:
        """Read file after file until all are read or the time is over."""
        done, late = 0, False
        for done, path in enumerate(self._sources, 1):
            late = late or over()
            if late:
                self.unread[path] = Unread.LATE
                continue
            self._take(path)
            if progress is not None and done % _NEWS_EVERY == 0:
                progress(done, len(self._sources))
        self._resolve()
        if progress is not None:
            progress(done, len(self._sources))

    def _take(self, path: str) -> None:
        language = language_of(path)
        source = self._files.read(path)
        if language is None:
            return
        if isinstance(source, Unread):
            self.unread[path] = source
            return
        try:
            written = self._readers.of(path).read(source)
        except UnparsableError:
            self.unread[path] = Unread.UNPARSABLE
            return
        self.read[path] = language
        self._written[path] = written.references
        self._modules[language].learn(path, written)

    def _resolve(self) -> None:
        for path, references in self._written.items():
            modules = self._modules[self.read[path]]
            for reference in references:
                targets = modules.targets(path, reference)
                self.pairs.update((path, target) for target in targets if target != path)
                if not targets:
                    self.elsewhere.add((path, f"{'.' * reference.level}{reference.module}"))
